//! How long does a load take, by the size of the memory that is in use?
//!
//! `lat_mem_rd` of lmbench. A chain of dependent loads goes through a working set: each load gives the address of the
//! next one, so that none begins before the one before has come. While the set fits into a cache, a load takes what
//! that cache takes; the curve over sizes is a staircase of the machine's caches.
//!
//! The order of the chain decides what else is in it: a random order over all lines defeats the prefetchers, and on
//! pages of 4 KiB it misses the TLB as well; the same order on transparent huge pages doesn't. A fixed stride shows
//! what the prefetchers hide.
//!
//! Over the same sizes: how many bytes a second one thread reads, writes and copies, as in `bw_mem` of lmbench, and what
//! the first touch of each page costs.

mod bandwidth;
mod chain;
mod companions;
mod faults;
mod latency;

use crate::shared::cpus;
use crate::shared::shortage;
use engine::{
    About, Cell, Defaults, Failure, Fit, Kind, LimitCause, MetricInfo, Parameter, Probe, Subject,
    Sweep, Usual, Values, Workload, WorkloadInfo, strings,
};
use std::sync::LazyLock;
use sys::memory::huge_page_bytes;

/// The row of the table.
pub(crate) const WORKLOAD: Memory = Memory;

pub(crate) struct Memory;

/// The working set, in KiB. Its points are powers of two and one between each two of them, which are the sizes
/// that caches have. Few caches are larger than 64 MiB, and there memory takes longer to come by than to measure: points
/// between powers of two would take a third of all the time.
const SIZE: Parameter = Parameter {
    name: "size",
    about: "working set of each thread in KiB, or with a unit: 48K, 2M, 1G",
    values: Values::Kibibytes(4, 1 << 30),
    default: Defaults::always(&["1M"]),
    sweep: Some(Sweep::new(
        "KiB",
        &[
            "4K", "8K", "16K", "32K", "48K", "64K", "128K", "256K", "512K", "1M", "2M", "4M", "8M",
            "16M", "32M", "64M", "128M", "256M",
        ],
        &[
            "4K", "6K", "8K", "12K", "16K", "24K", "32K", "48K", "64K", "96K", "128K", "192K",
            "256K", "384K", "512K", "768K", "1M", "1536K", "2M", "3M", "4M", "6M", "8M", "12M",
            "16M", "24M", "32M", "48M", "64M", "128M", "256M", "512M", "1G",
        ],
    )),
};

const THREADS: Parameter = Parameter {
    name: "threads",
    about: "threads that do the same, each on a CPU and a working set of its own; the first is timed",
    values: Values::AtLeast(1),
    default: Defaults::always(&["1"]),
    sweep: None,
};

static ABOUT: LazyLock<About> = LazyLock::new(|| About {
    info: WorkloadInfo {
        name: "memory".into(),
        question: "How long does a load take, by the size of the memory that is in use?".into(),
        operation:
            "a load whose address the load before it gave; a byte read, written or copied; a \
                    page's first touch"
                .into(),
        not_measured: strings([
            "loads that a CPU overlaps, in the latency: each waits for the one before",
            "vectors wider than the 16 bytes of every such CPU, in reads and writes",
            "memory of another NUMA node",
            "what other programs, or other guests of the same host, keep in a shared cache",
        ]),
        metrics: vec![
            MetricInfo::time(latency::LATENCY, "dependent load"),
            MetricInfo::more(bandwidth::BANDWIDTH, "reads, writes or copies", "B/s"),
            MetricInfo::time(faults::FAULT, "first touch of a page of 4 KiB"),
        ],
        ..About::plain().info
    },
    kind: Kind::Named,
    parameters: vec![SIZE, THREADS],
    usual: Usual { rounds: 5, measure_ms: 30, ..Usual::PLAIN },
    ..About::plain()
});

impl Workload for Memory {
    fn about(&self) -> &About {
        &ABOUT
    }

    fn subjects(&self) -> Vec<Subject> {
        [latency::subjects(), bandwidth::subjects(), faults::subjects()].concat()
    }

    fn fit(&self, cell: &Cell) -> Fit {
        let (Ok(size), Ok(threads)) = (cell.number(SIZE.name), cell.number(THREADS.name)) else {
            return Fit::Measure;
        };
        let cpus = cpus::allowed().map_or(1, |cpus| cpus.len() as u64);
        if threads > cpus {
            return Fit::AtMost {
                parameter: THREADS.name,
                max: cpus,
                cause: LimitCause::Parameter { label: "CPUs".into(), value: cpus },
                remedy: String::new(),
            };
        }
        let available_kib = shortage::available_kib();
        let max = available_kib / 2 / threads.max(1);
        if size <= max {
            return Fit::Measure;
        }
        let available_mib = available_kib >> 10;
        let clause =
            format!("half of the {available_mib} MiB of available memory is left to others");
        Fit::AtMost {
            parameter: SIZE.name,
            max,
            cause: LimitCause::Other { clause },
            remedy: "end what else uses memory, or ask for smaller sets: --points 64K,1M".into(),
        }
    }

    fn measure(&self, cell: &Cell, probe: &mut Probe) -> Result<(), Failure> {
        let bytes = (cell.number(SIZE.name)? as usize) << 10;
        let threads = cell.number(THREADS.name)? as usize;
        let placed = companions::placed(threads)?;
        if bandwidth::has(cell) {
            return bandwidth::measure(cell, bytes, &placed, probe);
        }
        if faults::has(cell) {
            return faults::measure(cell, bytes, &placed, probe);
        }
        latency::measure(cell, bytes, &placed, probe)
    }
}

/// Whether programs may ask for transparent huge pages here.
fn huge_pages() -> Result<(), String> {
    if huge_page_bytes().is_none() {
        return Err("this kernel has no transparent huge pages".into());
    }
    let path = "/sys/kernel/mm/transparent_hugepage/enabled";
    let setting = std::fs::read_to_string(path).unwrap_or_default();
    if setting.contains("[never]") {
        return Err(format!("transparent huge pages are off: echo madvise > {path} (as root)"));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use engine::RunRequest;

    fn cell(size: u64, threads: u64) -> Cell {
        let parameters = [("size", size), ("threads", threads)];
        let parameters = parameters.map(|(name, value)| (name.to_owned(), value.into()));
        Cell { parameters: parameters.into(), ..Cell::default() }
    }

    #[test]
    fn a_set_is_at_most_half_of_the_memory() {
        let max = shortage::available_kib() / 2;
        assert_eq!(Memory.fit(&cell(4, 1)), Fit::Measure);
        let over = Memory.fit(&cell(max + 1, 1));
        assert!(matches!(&over, Fit::AtMost { parameter: "size", max: kib, .. } if *kib == max));
        let threads = Memory.fit(&cell(4, 10_000));
        assert!(matches!(&threads, Fit::AtMost { parameter: "threads", .. }), "{threads:?}");
    }

    #[test]
    fn its_points_are_sizes_with_a_unit() {
        let request = |points: &[&str]| RunRequest {
            workloads: vec!["memory".into()],
            subjects: vec!["random".into()],
            points: points.iter().map(|&point| point.into()).collect(),
            rounds: Some(1),
            ..RunRequest::default()
        };
        let points = |typed: &[&str]| -> Vec<u64> {
            let plan = engine::plan(&request(typed), &[&WORKLOAD]).unwrap();
            let mut points: Vec<u64> = plan.cells.iter().map(|key| key.point).collect();
            points.sort_unstable();
            points
        };
        assert_eq!(points(&["48K", "1M", "64"]), [48, 64, 1024]);
        let full = points(&[]);
        assert_eq!((full.len(), full[0], full[32]), (33, 4, 1 << 20));
        let refused = engine::plan(&request(&["1000B"]), &[&WORKLOAD]).unwrap_err().to_string();
        assert!(refused.contains("KiB"), "{refused}");
    }
}
