//! What the first touch of a page costs, by how many of them follow one another.

use super::companions::{self, Exercise};
use super::huge_pages;
use super::latency::on_huge_pages;
use crate::shared::shortage;
use engine::{Cell, Check, Fact, Failure, Probe, Stopwatch, Subject, SubjectInfo};
use rustix::fs::{MemfdFlags, memfd_create};
use std::fs::File;
use std::hint::black_box;
use std::io::Write;
use sys::map::{Behind, Map, page_bytes};
use sys::memory::{Memory, Pages};

/// The metric.
pub(super) const FAULT: &str = "fault";

/// What is touched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Touched {
    Memory(Pages),
    File,
}

const ROWS: [(&str, &str, Touched); 3] = [
    ("first-touch", "the first write to each page of memory", Touched::Memory(Pages::Small)),
    (
        "first-touch-huge",
        "the same on transparent huge pages, by page of 4 KiB",
        Touched::Memory(Pages::Huge),
    ),
    (
        "file-touch",
        "the first read of each page of a mapped file in memory; a fault maps its neighbours too",
        Touched::File,
    ),
];

/// The subjects.
pub(super) fn subjects() -> Vec<Subject> {
    let subject = |&(name, summary, touched): &(&str, &str, Touched)| {
        let (group, headline) = ("Page faults".into(), FAULT.into());
        let info = SubjectInfo { group, headline, ..SubjectInfo::separate(name) };
        let is_huge = touched == Touched::Memory(Pages::Huge);
        let available = Check::needed(is_huge, huge_pages);
        Subject { available, ..Subject::new(info, summary) }
    };
    ROWS.iter().map(subject).collect()
}

/// What is mapped, touched and given back again and again.
struct Touches {
    touched: Touched,
    bytes: usize,
    file: Option<File>,
    /// Whether memory was seen to be on huge pages.
    is_checked: bool,
}

impl Touches {
    fn new(touched: Touched, bytes: usize) -> Result<Touches, Failure> {
        let file = (touched == Touched::File).then(|| file(bytes)).transpose()?;
        let is_checked = touched != Touched::Memory(Pages::Huge);
        Ok(Touches { touched, bytes, file, is_checked })
    }

    /// Maps all of it, touches each page between `start` and `stop`, and gives it back; says how many pages
    /// those were.
    fn touch(&mut self, start: impl FnOnce(), stop: impl FnOnce()) -> Result<u64, Failure> {
        let page = page_bytes();
        if let Some(file) = &self.file {
            let map = Map::new(Behind::File(file, 0), self.bytes);
            let map = map.map_err(shortage::during("mapping the file"))?;
            start();
            let sum = map.touch_each(page);
            stop();
            if sum != self.bytes.div_ceil(page) as u64 {
                return Err(Failure::new(format!("the pages of the file add up to {sum}")));
            }
        } else {
            let Touched::Memory(pages) = self.touched else { return Ok(0) };
            let memory = Memory::new(self.bytes, pages);
            let mut memory = memory.map_err(shortage::during("mapping memory"))?;
            start();
            memory.words().iter_mut().step_by(page / 8).for_each(|word| *word = 1);
            black_box(memory.words());
            stop();
            fresh(memory.words(), page / 8)?;
            if !self.is_checked {
                on_huge_pages(&memory)?;
                self.is_checked = true;
            }
        }
        Ok(self.bytes.div_ceil(page) as u64)
    }
}

/// Whether each page of so many words is zero but for its first word. Leaves a mark at its end, by which memory that is
/// touched a second time is seen.
fn fresh(words: &mut [u64], page_words: usize) -> Result<(), Failure> {
    for (page, words) in words.chunks_mut(page_words).enumerate() {
        let [1, .., last] = words else { return Err(not_fresh(page)) };
        if std::mem::replace(last, MARK) != 0 {
            return Err(not_fresh(page));
        }
    }
    Ok(())
}

fn not_fresh(page: usize) -> Failure {
    Failure::new(format!("page {page} was touched before"))
}

/// What a page has at its end once it was touched.
const MARK: u64 = 0x0123_4567_89ab_cdef;

impl Exercise for Touches {
    fn turn(&mut self) -> Result<(), Failure> {
        self.touch(|| (), || ()).map(drop)
    }

    fn time(&mut self, probe: &mut Probe) -> Result<(), Failure> {
        probe.part_turns(FAULT, self, |touches, watch: &mut Stopwatch| {
            let watch = std::cell::RefCell::new(watch);
            touches.touch(|| watch.borrow_mut().start(), || watch.borrow_mut().stop())
        })
    }
}

/// A file of `bytes` in memory, each byte of which is 1. The page cache keeps it, as that of any file; a disk has
/// no part in it.
fn file(bytes: usize) -> Result<File, Failure> {
    let file = memfd_create("knee-memory", MemfdFlags::CLOEXEC);
    let mut file =
        File::from(file.map_err(|error| shortage::failure("memfd_create", &error.into()))?);
    let piece = vec![1; bytes.min(1 << 20)];
    let mut left = bytes;
    while left > 0 {
        let some = left.min(piece.len());
        file.write_all(&piece[..some]).map_err(shortage::during("making the file to map"))?;
        left -= some;
    }
    Ok(file)
}

/// How much a fault maps around the page of a file, if the kernel says so to this user.
fn fault_around_kib() -> Option<u64> {
    let text = std::fs::read_to_string("/sys/kernel/debug/fault_around_bytes").ok()?;
    Some(text.trim().parse::<u64>().ok()? >> 10)
}

/// Whether the cell is of a subject of this file.
pub(super) fn has(cell: &Cell) -> bool {
    ROWS.iter().any(|(name, ..)| *name == cell.subject)
}

/// Times first touches, while companions do the same on `cpus`, in the same process.
pub(super) fn measure(
    cell: &Cell,
    bytes: usize,
    cpus: &[usize],
    probe: &mut Probe,
) -> Result<(), Failure> {
    let (_, _, touched) = *cell.find_subject(&ROWS, |(name, ..)| name)?;
    if touched == Touched::File {
        let around = fault_around_kib().map_or("unknown".into(), Fact::from);
        probe.fact("mapped around a fault_kib", around);
    }
    companions::measure(cell, cpus, probe, |_| Touches::new(touched, bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_page_is_touched_once_between_start_and_stop() {
        for (name, _, touched) in ROWS {
            if touched == Touched::Memory(Pages::Huge) && huge_pages().is_err() {
                continue;
            }
            let seen = std::cell::RefCell::new(Vec::new());
            let mut touches = Touches::new(touched, 70 << 10).unwrap();
            touches.is_checked = true;
            let pages = touches
                .touch(|| seen.borrow_mut().push("start"), || seen.borrow_mut().push("stop"));
            assert_eq!((pages.unwrap(), seen.into_inner()), (18, vec!["start", "stop"]), "{name}");
        }
    }

    #[test]
    fn memory_that_was_touched_before_is_not_fresh() {
        let new = || {
            let mut words = vec![0; 24];
            words.iter_mut().step_by(8).for_each(|word| *word = 1);
            words
        };
        let mut words = new();
        fresh(&mut words, 8).unwrap();
        assert!(fresh(&mut words, 8).is_err(), "a second time");
        for (index, value) in [(0, 2), (8, 0), (15, 7)] {
            let mut used = new();
            used[index] = value;
            let failure = fresh(&mut used, 8).unwrap_err().to_string();
            assert_eq!(failure, format!("page {} was touched before", index / 8));
        }
    }
}
