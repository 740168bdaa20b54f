//! Many small files, in a directory that is gone when the cell is over.

use crate::shared::directory;
use crate::shared::shortage;
use engine::{Cell, Defaults, Failure, Parameter, Probe, Scratch, Sweep, Values};
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

/// The axis of a workload over files.
pub(crate) const FILES: Parameter = Parameter {
    name: "files",
    about: "files that are opened and stay open",
    values: Values::AtLeast(1),
    default: Defaults::always(&["10k"]),
    sweep: Some(Sweep::new("open files", &["1k"], &["10k"])),
};

/// Bytes in each, about as in Felix von Leitner's manymapbench.
const FILE_BYTES: usize = 150;
/// Files in a directory where they are spread.
const FILES_PER_DIRECTORY: u64 = 100;

/// Where the files lie.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Layout {
    /// A hundred in a directory.
    Tree,
    /// All in one directory.
    Flat,
    /// One file, for all.
    Same,
}

/// Files, as many as there was room for.
pub(crate) struct Files {
    paths: Vec<PathBuf>,
    shortage: Option<Failure>,
    scratch: Scratch,
}

impl Files {
    /// Files for every place of the axis. Having just been written, all of them are in the caches.
    pub fn new(cell: &Cell, layout: Layout, probe: &mut Probe) -> Result<Files, Failure> {
        let scratch = directory::make(cell, probe)?;
        let mut files = Files { paths: Vec::new(), shortage: None, scratch };
        for n in 0..cell.number(FILES.name)? {
            match files.path(n, layout) {
                Ok(path) => files.paths.push(path),
                Err(error) => {
                    files.shortage = Some(shortage::failure("making small files", &error));
                    break;
                }
            }
        }
        Ok(files)
    }

    /// The file at place `n`, made if it is not there yet.
    fn path(&self, n: u64, layout: Layout) -> io::Result<PathBuf> {
        let root = self.scratch.path();
        let path = match layout {
            Layout::Tree => {
                let directory = root.join((n / FILES_PER_DIRECTORY).to_string());
                if n.is_multiple_of(FILES_PER_DIRECTORY) {
                    fs::create_dir(&directory)?;
                }
                directory.join((n % FILES_PER_DIRECTORY).to_string())
            }
            Layout::Flat => root.join(n.to_string()),
            Layout::Same => root.join("0"),
        };
        if layout != Layout::Same || n == 0 {
            fs::write(&path, [b'x'; FILE_BYTES])?;
        }
        Ok(path)
    }

    /// How many there are.
    pub fn count(&self) -> u64 {
        self.paths.len() as u64
    }

    /// The path of the n-th, counted from 1.
    pub fn nth(&self, n: u64) -> &Path {
        debug_assert!((1..=self.count()).contains(&n), "file {n} was made");
        &self.paths[n as usize - 1]
    }

    /// Nothing, or why there are fewer than were asked for.
    pub fn complete(&self) -> Result<(), Failure> {
        self.shortage.clone().map_or(Ok(()), Err)
    }
}

/// Opens a file to read.
#[inline]
pub(crate) fn open_to_read(path: &Path) -> Result<File, Failure> {
    File::open(path).map_err(shortage::during("open"))
}
