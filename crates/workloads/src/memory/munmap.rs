//! How does taking a map away grow with the maps that there are?
//!
//! One operation is the `munmap` of one page that was mapped and touched, in the order in which they
//! were mapped: the kernel finds the map, takes its page out of the page table and the caches of it. The
//! sample of a call that finds n maps stands at n, so the axis is read from its far end.

use crate::memory::pages::{self, MAPS, Mapped, Pages};
use crate::shared::shortage;
use engine::{About, Cell, Failure, MetricInfo, Probe, Subject, Workload, WorkloadInfo, strings};
use std::hint::black_box;
use std::sync::LazyLock;

/// The row of the table.
pub(crate) const WORKLOAD: Munmap = Munmap;

pub(crate) struct Munmap;

static ABOUT: LazyLock<About> = LazyLock::new(|| About {
    info: WorkloadInfo {
        name: "munmap".into(),
        question: "How does taking a map away grow with the maps that there are?".into(),
        operation: "munmap of a touched page, the oldest first, until there is none".into(),
        not_measured: strings([
            "pages that other CPUs have touched: one thread did it all",
            "the end of a process, which takes all of its maps away at once",
        ]),
        metrics: vec![MetricInfo::time("munmap", "munmap of a page")],
        ..About::trajectory().info
    },
    parameters: vec![MAPS],
    ..About::trajectory()
});

impl Workload for Munmap {
    fn about(&self) -> &About {
        &ABOUT
    }

    fn subjects(&self) -> Vec<Subject> {
        pages::subjects(&[Mapped::File, Mapped::Memory])
    }

    fn measure(&self, cell: &Cell, probe: &mut Probe) -> Result<(), Failure> {
        let pages = Pages::new(cell, probe)?;
        let (mut maps, shortage) = pages.map_all();
        for map in &mut maps {
            black_box(map.touch());
        }
        let count = maps.len() as u64;
        let mut rest = maps.into_iter();
        probe.countdown("munmap", count, |_| match rest.next() {
            Some(map) => map.unmap().map_err(shortage::during("munmap")),
            None => Err(Failure::new("a map is missing")),
        })?;
        shortage.map_or(Ok(()), Err)
    }
}
