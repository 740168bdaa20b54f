//! How does the first touch of a mapped page grow with the pages that were touched?
//!
//! Felix von Leitner's touch after mmap (2003). Every second page of a file of 200 MB is mapped, each by
//! itself; one operation is the first read of the n-th: a page fault, in which the kernel finds the map,
//! finds the page in the page cache and enters it into the page table. With memory it is the first write,
//! and the kernel finds and clears a page.

use crate::memory::pages::{self, MAPS, Mapped, Pages};
use engine::{About, Cell, Failure, MetricInfo, Probe, Subject, Workload, WorkloadInfo, strings};
use std::hint::black_box;
use std::sync::LazyLock;

/// The row of the table.
pub(crate) const WORKLOAD: Touch = Touch;

pub(crate) struct Touch;

static ABOUT: LazyLock<About> = LazyLock::new(|| About {
    info: WorkloadInfo {
        name: "touch".into(),
        question:
            "How does the first touch of a mapped page grow with the pages that were touched?"
                .into(),
        operation: "the first read of the n-th mapped page, or the first write where it is memory"
            .into(),
        not_measured: strings([
            "a disk: the file is in the page cache",
            "faults of several threads at once, or huge pages",
            "the neighbours that the kernel maps along with a page: each map is one page",
        ]),
        metrics: vec![MetricInfo::time("touch", "first touch of a page")],
        ..About::trajectory().info
    },
    parameters: vec![MAPS],
    ..About::trajectory()
});

impl Workload for Touch {
    fn about(&self) -> &About {
        &ABOUT
    }

    fn subjects(&self) -> Vec<Subject> {
        pages::subjects(&[Mapped::File, Mapped::Memory])
    }

    fn measure(&self, cell: &Cell, probe: &mut Probe) -> Result<(), Failure> {
        let pages = Pages::new(cell, probe)?;
        let (mut maps, shortage) = pages.map_all();
        probe.trajectory("touch", maps.len() as u64, |n| {
            black_box(maps[n as usize - 1].touch());
            Ok(())
        })?;
        shortage.map_or(Ok(()), Err)
    }
}
