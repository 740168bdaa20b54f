//! How does mapping a page grow with the maps that there are?
//!
//! Felix von Leitner's mmap benchmark (2003). One operation is the n-th call of `mmap`, of every second
//! page of a file of 200 MB that is in the page cache, while those before it stay: the kernel finds a
//! free range of addresses and enters it into the process's maps. With memory instead of a file the
//! same without the file's own tree of maps; with `MAP_POPULATE` the page is put there at once.

use crate::memory::pages::{self, MAPS, Mapped, Pages};
use engine::{
    About, Cell, Failure, MetricInfo, Original, Print, Probe, Subject, Workload, WorkloadInfo,
    strings,
};
use std::sync::LazyLock;

/// The row of the table.
pub(crate) const WORKLOAD: Mmap = Mmap;

pub(crate) struct Mmap;

static ABOUT: LazyLock<About> = LazyLock::new(|| About {
    info: WorkloadInfo {
        name: "mmap".into(),
        question: "How does mapping a page grow with the maps that there are?".into(),
        operation: "the n-th mmap of a page, while those before it stay".into(),
        not_measured: strings([
            "the first touch of a page: touch",
            "a disk: the file is in the page cache",
            "maps of more than a page, or threads that map at the same time",
        ]),
        metrics: vec![MetricInfo::time("mmap", "mmap of a page")],
        ..About::trajectory().info
    },
    parameters: vec![MAPS],
    originals: &[Original {
        name: "mmapbench",
        original: "Felix von Leitner's mmapbench (gatling, 2003), five times: mmapbench -c 25000 FILE, of \
                   200 MB",
        subjects: &["file"],
        points: &["25k"],
        parameters: &[],
        rounds: Some(5),
        print: Print::Calls(&[("mmap", "mmap"), ("touch", "touch")]),
        also: &[],
        hides: &[
            "the original touches each page right after its mmap, so that its n-th touch finds n maps; \
             here mmap is measured with nothing touched, and touch when all pages are mapped",
            "the file is in the page cache and only read: no disk, no page to clear or to copy \
             (--subjects memory)",
            "every second page, so that no two maps become one: a program that maps neighbours, or the \
             whole file, has fewer",
            "whole microseconds (cycles on i386): of a touch of one, nobody sees how it varies",
        ],
    }],
    ..About::trajectory()
});

impl Workload for Mmap {
    fn about(&self) -> &About {
        &ABOUT
    }

    fn subjects(&self) -> Vec<Subject> {
        pages::subjects(&[Mapped::File, Mapped::Populated, Mapped::Memory])
    }

    fn measure(&self, cell: &Cell, probe: &mut Probe) -> Result<(), Failure> {
        let pages = Pages::new(cell, probe)?;
        let mut maps = Vec::with_capacity(pages.count as usize);
        probe.trajectory("mmap", pages.count, |n| {
            match pages.map(n) {
                Ok(map) => maps.push(map),
                Err(error) => return Err(pages::no_more(&mut maps, &error)),
            }
            Ok(())
        })?;
        pages.complete()
    }
}
