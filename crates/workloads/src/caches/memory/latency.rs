//! The latency of dependent loads, by the order of the chain and the pages that it is on.

use super::chain::{ChainOrder, LINE_BYTES};
use super::companions::{self, Exercise};
use super::huge_pages;
use crate::shared::shortage;
use engine::{Cell, Check, Failure, MemoryAccess, Probe, Subject, SubjectInfo};
use sys::memory::{Chain, Memory, Pages};

/// The metric.
pub(super) const LATENCY: &str = "latency";

/// A subject: an order of lines, on pages of a kind.
struct LatencyRow {
    name: &'static str,
    summary: &'static str,
    order: ChainOrder,
    pages: Pages,
}

const ROWS: [LatencyRow; 8] = [
    row("random", "all lines in random order, on 4 KiB pages", ChainOrder::Random, Pages::Small),
    row("random-huge", "the same on transparent huge pages", ChainOrder::Random, Pages::Huge),
    row(
        "page-random",
        "all lines, page after page, in random order within each: few TLB misses",
        ChainOrder::PageAfterPage,
        Pages::Small,
    ),
    row(
        "pages",
        "a line of each 4 KiB page, in random order",
        ChainOrder::OnePerPage,
        Pages::Small,
    ),
    row(
        "pages-huge",
        "the same lines on transparent huge pages",
        ChainOrder::OnePerPage,
        Pages::Huge,
    ),
    row("stride-64", "line after line", ChainOrder::Stride(64), Pages::Small),
    row("stride-128", "every second line", ChainOrder::Stride(128), Pages::Small),
    row(
        "stride-4096",
        "the first line of page after page: they compete for the same sets of a cache",
        ChainOrder::Stride(4096),
        Pages::Small,
    ),
];

const fn row(
    name: &'static str,
    summary: &'static str,
    order: ChainOrder,
    pages: Pages,
) -> LatencyRow {
    LatencyRow { name, summary, order, pages }
}

impl LatencyRow {
    /// How its curve is read.
    fn access(&self) -> MemoryAccess {
        let huge = ROWS.iter().find(|row| (row.order, row.pages) == (self.order, Pages::Huge));
        MemoryAccess {
            spread: self.order.spread(),
            huge_page_subject: huge
                .filter(|row| row.name != self.name)
                .map_or("", |row| row.name)
                .into(),
        }
    }
}

/// The subjects.
pub(super) fn subjects() -> Vec<Subject> {
    let subject = |row: &LatencyRow| {
        let (group, memory_access) = ("Latency".into(), Some(row.access()));
        let info = SubjectInfo { group, memory_access, ..SubjectInfo::separate(row.name) };
        let available = Check::needed(row.pages == Pages::Huge, huge_pages);
        Subject { available, ..Subject::new(info, row.summary) }
    };
    ROWS.iter().map(subject).collect()
}

/// A chain with its order, and how far along it is.
struct Walk {
    chain: Chain,
    lines: Vec<u32>,
    loads: u64,
}

/// Loads of one turn: enough that the call around them costs next to nothing.
const TURN_LOADS: u64 = 1024;

impl Walk {
    /// A chain in the order of `row` through `bytes` of memory that is there.
    fn new(row: &LatencyRow, bytes: usize, seed: u64) -> Result<Walk, Failure> {
        let mut memory =
            Memory::new(bytes, row.pages).map_err(shortage::during("mapping the working set"))?;
        // Page after page, so that the kernel gives neighbours where it can.
        memory.words().iter_mut().step_by(LINE_BYTES / 8).for_each(|word| *word = 0);
        if row.pages == Pages::Huge {
            on_huge_pages(&memory)?;
        }
        let lines = row.order.lines(bytes, seed);
        let offsets = lines.iter().map(|&line| line as usize * LINE_BYTES);
        let chain = Chain::new(memory, offsets).map_err(shortage::during("making the chain"))?;
        Ok(Walk { chain, lines, loads: 0 })
    }

    /// Says how many loads that were.
    fn walk(&mut self) -> u64 {
        self.chain.walk(TURN_LOADS);
        self.loads += TURN_LOADS;
        TURN_LOADS
    }

    /// Whether the chain led where it had to.
    fn check(&self) -> Result<(), Failure> {
        let expected = self.lines[(self.loads % self.lines.len() as u64) as usize];
        if self.chain.offset() == expected as usize * LINE_BYTES {
            return Ok(());
        }
        let (loads, offset) = (self.loads, self.chain.offset());
        Err(Failure::new(format!("after {loads} loads the chain is at byte {offset}")))
    }
}

impl Exercise for Walk {
    fn turn(&mut self) -> Result<(), Failure> {
        self.walk();
        Ok(())
    }

    fn time(&mut self, probe: &mut Probe) -> Result<(), Failure> {
        probe.steady_turns(LATENCY, self, |walk| Ok(walk.walk()), |walk, _| walk.check())
    }
}

/// Whether all of it is on huge pages: the kernel may have none to give.
pub(super) fn on_huge_pages(memory: &Memory) -> Result<(), Failure> {
    let (huge, whole) =
        memory.huge_bytes().map_err(|error| Failure::call("reading /proc/self/smaps", error))?;
    if huge >= whole {
        return Ok(());
    }
    let error = format!("only {} of {} KiB are on huge pages", huge >> 10, whole >> 10);
    let limit = "free memory is in pieces, or transparent huge pages are refused".to_owned();
    let remedy = "as root: echo 1 > /proc/sys/vm/compact_memory".to_owned();
    Err(Failure::ran_out("asking for transparent huge pages", error, (limit, remedy)))
}

/// Times a chain, while companions do the same on `cpus`.
pub(super) fn measure(
    cell: &Cell,
    bytes: usize,
    cpus: &[usize],
    probe: &mut Probe,
) -> Result<(), Failure> {
    let row = cell.find_subject(&ROWS, |row| row.name)?;
    companions::measure(cell, cpus, probe, |seed| Walk::new(row, bytes, seed))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_chain_leads_where_it_has_to() {
        for row in ROWS.iter().filter(|row| row.pages == Pages::Small || huge_pages().is_ok()) {
            let mut walk = match Walk::new(row, 24 << 10, 3) {
                Ok(walk) => walk,
                // A machine may have no huge page left.
                Err(_) if row.pages == Pages::Huge => continue,
                Err(failure) => panic!("{}: {failure}", row.name),
            };
            walk.walk();
            walk.walk();
            walk.check().unwrap();
            walk.loads += 1;
            let is_alone = walk.lines.len() == 1;
            assert!(walk.check().is_err() || is_alone, "{}: a wrong place is seen", row.name);
        }
    }

    #[test]
    fn memory_that_is_not_on_huge_pages_is_a_shortage() {
        let memory = Memory::new(4 << 20, Pages::Small).unwrap();
        let failure = on_huge_pages(&memory).unwrap_err().to_string();
        assert!(failure.contains("only 0 of 4096 KiB are on huge pages"), "{failure}");
    }
}
