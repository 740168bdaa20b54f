//! What is mapped: every second page of a file that is in the page cache, or memory.
//!
//! Every second page, as in Felix von Leitner's mmapbench: pages that follow each other would become
//! one map.

use crate::shared::directory;
use crate::shared::shortage;
use engine::{
    Cell, Check, Defaults, Failure, Parameter, Probe, Scratch, Subject, SubjectInfo, Sweep, Values,
};
use rustix::fs::{FallocateFlags, fallocate};
use rustix::io::Errno;
use std::fs::File;
use std::io::{self, Read, Seek, Write};
use sys::map::{Behind, Map, page_bytes};
use sys::proc::setting;

/// The axis of a workload over maps.
pub(crate) const MAPS: Parameter = Parameter {
    name: "maps",
    about: "maps of one page each",
    values: Values::Between(1, 10_000_000),
    default: Defaults::always(&["25k"]),
    sweep: Some(Sweep::new("maps", &["5k"], &["25k"])),
};

/// What a subject maps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mapped {
    /// A page of a file, shared.
    File,
    /// The same, with `MAP_POPULATE`.
    Populated,
    /// A page of memory.
    Memory,
}

impl Mapped {
    /// The kind that a subject is.
    pub fn from_cell(cell: &Cell) -> Result<Mapped, Failure> {
        cell.find_subject(&MAPPED, |(name, ..)| name).map(|(.., kind)| *kind)
    }
}

const MAPPED: [(&str, &str, Mapped); 3] = [
    ("file", "a page of a file in the page cache, shared", Mapped::File),
    (
        "file-populate",
        "the same with MAP_POPULATE: the page is there when the call returns",
        Mapped::Populated,
    ),
    ("memory", "a page of memory, private", Mapped::Memory),
];

/// What can be mapped as subjects. A page of a file, that page with its fault taken in advance, and a new page of memory
/// are no alternatives to each other.
pub(crate) fn subjects(kinds: &[Mapped]) -> Vec<Subject> {
    let subject = |&(name, summary, kind): &(&'static str, &'static str, Mapped)| Subject {
        available: Check::needed(kind == Mapped::Memory, not_merged),
        ..Subject::new(SubjectInfo::separate(name), summary)
    };
    MAPPED.iter().filter(|(.., kind)| kinds.contains(kind)).map(subject).collect()
}

/// Whether neighbouring maps of memory stay apart.
fn not_merged() -> Result<(), String> {
    if setting("vm.overcommit_memory") == Some(2_u64) {
        return Err("vm.overcommit_memory is 2: maps of memory would become one".into());
    }
    Ok(())
}

/// Pages to map, as many as the disk has room for.
pub(crate) struct Pages {
    kind: Mapped,
    file: Option<File>,
    page_bytes: usize,
    /// How many maps there are pages for.
    pub count: u64,
    /// Why there are no more.
    pub shortage: Option<Failure>,
    /// The directory of the file, removed with this value.
    scratch: Option<Scratch>,
}

impl Pages {
    /// Pages for `maps` maps. A file is written and read once, so that it is in the page cache.
    pub fn new(cell: &Cell, probe: &mut Probe) -> Result<Pages, Failure> {
        let (kind, maps) = (Mapped::from_cell(cell)?, cell.number(MAPS.name)?);
        let page_bytes = page_bytes();
        let mut pages =
            Pages { kind, file: None, page_bytes, count: maps, shortage: None, scratch: None };
        if kind == Mapped::Memory {
            return Ok(pages);
        }
        let scratch = directory::make(cell, probe)?;
        let path = scratch.path().join("pages");
        let file = File::options().read(true).write(true).create_new(true).open(&path);
        let mut file = file.map_err(shortage::during("making a file"))?;
        // A process can't have more maps than this: pages for more would only fill the disk.
        let mapped = maps.min(setting(sys::limits::MAPS_MAX).unwrap_or(u64::MAX));
        pages.shortage = grow(&file, mapped * 2, page_bytes as u64).err();
        let bytes = file.metadata().map_err(shortage::during("looking at the file"))?.len();
        pages.count = maps.min(bytes / (2 * page_bytes as u64));
        read_all(&mut file).map_err(shortage::during("reading the file into the page cache"))?;
        pages.file = Some(file);
        pages.scratch = Some(scratch);
        Ok(pages)
    }

    /// The n-th map, counted from 1.
    #[inline]
    pub fn map(&self, n: u64) -> io::Result<Map> {
        debug_assert!((1..=self.count).contains(&n), "there are pages for map {n}");
        let offset = 2 * (n - 1) * self.page_bytes as u64;
        let behind = match (&self.file, self.kind) {
            (Some(file), Mapped::Populated) => Behind::Populated(file, offset),
            (Some(file), _) => Behind::File(file, offset),
            // Neighbours of the same kind would become one map.
            (None, _) if n.is_multiple_of(2) => Behind::MemoryUnreserved,
            (None, _) => Behind::Memory,
        };
        Map::new(behind, self.page_bytes)
    }

    /// All maps, and why there are no more.
    pub fn map_all(&self) -> (Vec<Map>, Option<Failure>) {
        let mut maps = Vec::with_capacity(self.count as usize);
        for n in 1..=self.count {
            match self.map(n) {
                Ok(map) => maps.push(map),
                Err(error) => {
                    let failure = no_more(&mut maps, &error);
                    return (maps, Some(failure));
                }
            }
        }
        (maps, self.shortage.clone())
    }

    /// Fails with the shortage if there are fewer pages than the cell wants.
    pub fn complete(&self) -> Result<(), Failure> {
        self.shortage.clone().map_or(Ok(()), Err)
    }
}

/// Why there are no more maps. Unmaps some first: at the limit on maps, the message itself needs memory that
/// would be one more.
pub(crate) fn no_more(maps: &mut Vec<Map>, error: &io::Error) -> Failure {
    maps.truncate(maps.len().saturating_sub(MAPS_RELEASED));
    shortage::failure("mmap", error)
}

/// Enough for an allocator.
const MAPS_RELEASED: usize = 64;

/// Makes a file `pages` long, with its blocks allocated on the disk.
fn grow(file: &File, pages: u64, page_bytes: u64) -> Result<(), Failure> {
    let mut at = 0;
    // In pieces: where the disk fills up, the pieces that fitted are kept.
    let piece = 1024 * page_bytes;
    let end = pages * page_bytes;
    while at < end {
        let length = piece.min(end - at);
        let grown = match fallocate(file, FallocateFlags::empty(), at, length) {
            Err(Errno::OPNOTSUPP) => {
                let mut file = file;
                file.write_all(&vec![0; length as usize])
            }
            result => result.map_err(io::Error::from),
        };
        grown.map_err(shortage::during("making a file to map"))?;
        at += length;
    }
    Ok(())
}

fn read_all(file: &mut File) -> io::Result<()> {
    file.rewind()?;
    let mut buffer = vec![0; 1 << 20];
    while file.read(&mut buffer)? > 0 {}
    Ok(())
}
