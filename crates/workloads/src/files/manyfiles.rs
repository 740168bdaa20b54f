//! How does getting at a small file grow with the small files that are mapped?
//!
//! Felix von Leitner's manymapbench (2003). There are 10,000 files of 150 bytes, a hundred in a directory
//! and all in the caches. One operation is all that a server does to have the first byte of the n-th: it
//! opens the file, maps it, and touches the page; or it opens the file and reads it into a buffer. The
//! parts are timed each on its own, and those before it stay open and mapped.

use crate::files::layout::{self, FILES, Files, Layout};
use crate::shared::shortage;
use engine::{
    About, Cell, Failure, Fit, Laps, MetricInfo, Original, Print, Probe, Subject, Workload,
    WorkloadInfo, strings,
};
use std::hint::black_box;
use std::io::Read;
use std::sync::LazyLock;
use sys::map::{Behind, Map, page_bytes};

/// The row of the table.
pub(crate) const WORKLOAD: Manyfiles = Manyfiles;

pub(crate) struct Manyfiles;

static ABOUT: LazyLock<About> = LazyLock::new(|| About {
    info: WorkloadInfo {
        name: "manyfiles".into(),
        question: "How does getting at a small file grow with the small files that are mapped?"
            .into(),
        operation: "open, map and touch the n-th of many small files, or open and read it".into(),
        not_measured: strings([
            "a disk: files and directories are in the caches",
            "finding out how long the file is",
        ]),
        metrics: vec![
            MetricInfo::time("file", "open + mmap + first touch, or open + read"),
            MetricInfo::time("open", "call of open"),
            MetricInfo::time("mmap", "mmap of the file"),
            MetricInfo::time("touch", "first touch of its page"),
            MetricInfo::time("read", "read of the file"),
        ],
        ..About::trajectory().info
    },
    parameters: vec![FILES],
    originals: &[Original {
        name: "manymapbench",
        original: "Felix von Leitner's manymapbench (gatling, 2003), five times: manymapbench -c 10000",
        subjects: &["map"],
        points: &["10k"],
        parameters: &[],
        rounds: Some(5),
        print: Print::Calls(&[
            ("manyfiles", "open"),
            ("manyfiles", "mmap"),
            ("manyfiles", "touch"),
        ]),
        also: &[],
        hides: &[
            "the files are opened in the order in which they were made, and files and directories are all in \
             the caches: no disk",
            "nothing is closed or unmapped, and nobody asks how long a file is: a server does all three",
            "three parts, not what they come to: whether a plain read is cheaper is not asked \
             (knee run manyfiles)",
            "whole microseconds (cycles on i386): of a touch of one, nobody sees how it varies",
        ],
    }],
    ..About::trajectory()
});

impl Workload for Manyfiles {
    fn about(&self) -> &About {
        &ABOUT
    }

    fn subjects(&self) -> Vec<Subject> {
        vec![
            Subject::plain("map", "open, mmap and touch each file"),
            Subject::plain("read", "open and read each file into a buffer"),
        ]
    }

    fn fit(&self, cell: &Cell) -> Fit {
        shortage::descriptors(cell, FILES.name)
    }

    fn measure(&self, cell: &Cell, probe: &mut Probe) -> Result<(), Failure> {
        let files = Files::new(cell, Layout::Tree, probe)?;
        match cell.subject.as_str() {
            "map" => map_all(&files, probe)?,
            "read" => read_all(&files, probe)?,
            unknown => return Err(Failure::new(format!("there is no subject {unknown}"))),
        }
        files.complete()
    }
}

fn map_all(files: &Files, probe: &mut Probe) -> Result<(), Failure> {
    let page_bytes = page_bytes();
    let mut kept = Vec::with_capacity(files.count() as usize);
    let each = |n: u64, laps: &mut Laps| {
        let path = files.nth(n);
        let file = laps.time(0, || layout::open_to_read(path))?;
        let map = laps.time(1, || Map::new(Behind::File(&file, 0), page_bytes));
        let mut map = map.map_err(shortage::during("mmap"))?;
        black_box(laps.time(2, || map.touch()));
        kept.push((file, map));
        Ok(())
    };
    probe.trajectory_in_parts(files.count(), &["open", "mmap", "touch"], Some("file"), each)
}

fn read_all(files: &Files, probe: &mut Probe) -> Result<(), Failure> {
    let mut buffer = vec![0; page_bytes()];
    let mut kept = Vec::with_capacity(files.count() as usize);
    let each = |n: u64, laps: &mut Laps| {
        let path = files.nth(n);
        let mut file = laps.time(0, || layout::open_to_read(path))?;
        let read = laps.time(1, || file.read(&mut buffer));
        if read.map_err(shortage::during("read"))? == 0 {
            return Err(Failure::new(format!("{} is empty", path.display())));
        }
        kept.push(file);
        Ok(())
    };
    probe.trajectory_in_parts(files.count(), &["open", "read"], Some("file"), each)
}
