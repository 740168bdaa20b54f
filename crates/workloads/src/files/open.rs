//! How does opening a file grow with the files that are open?
//!
//! One operation is the n-th `open`, by its whole path, of a small file that is in the caches, while
//! those before it stay open. The files lie a hundred in a directory, as a server's would; or all in one
//! directory; or it is one file again and again, which leaves the table of descriptors alone to grow.

use crate::files::layout::{self, FILES, Files, Layout};
use crate::shared::shortage;
use engine::{
    About, Cell, Failure, Fit, MetricInfo, Probe, Subject, SubjectInfo, Workload, WorkloadInfo,
    strings,
};
use std::sync::LazyLock;

/// The row of the table.
pub(crate) const WORKLOAD: Open = Open;

pub(crate) struct Open;

static ABOUT: LazyLock<About> = LazyLock::new(|| About {
    info: WorkloadInfo {
        name: "open".into(),
        question: "How does opening a file grow with the files that are open?".into(),
        operation: "the n-th open, by its whole path, while those before it stay open".into(),
        not_measured: strings([
            "a disk: files and directories are in the caches",
            "reading the file",
        ]),
        metrics: vec![MetricInfo::time("open", "call of open")],
        ..About::trajectory().info
    },
    parameters: vec![FILES],
    ..About::trajectory()
});

/// Name, summary, operation and layout.
const LAYOUTS: [(&str, &str, &str, Layout); 3] = [
    ("tree", "different files, a hundred in a directory", "", Layout::Tree),
    ("flat", "different files, all in one directory", "", Layout::Flat),
    // Other files have to be opened as well: it is no alternative to the layouts of many.
    ("same", "one file, again and again", "open one file again", Layout::Same),
];

impl Workload for Open {
    fn about(&self) -> &About {
        &ABOUT
    }

    fn subjects(&self) -> Vec<Subject> {
        let subject = |&(name, summary, operation, _): &(&str, &str, &str, _)| {
            let operation = operation.into();
            Subject::new(SubjectInfo { operation, ..SubjectInfo::named(name) }, summary)
        };
        LAYOUTS.iter().map(subject).collect()
    }

    fn fit(&self, cell: &Cell) -> Fit {
        shortage::descriptors(cell, FILES.name)
    }

    fn measure(&self, cell: &Cell, probe: &mut Probe) -> Result<(), Failure> {
        let layout = LAYOUTS.iter().find(|(name, ..)| *name == cell.subject);
        let layout = layout.ok_or_else(|| Failure::new(format!("no layout {}", cell.subject)))?;
        let files = Files::new(cell, layout.3, probe)?;
        let mut open = Vec::with_capacity(files.count() as usize);
        probe.trajectory("open", files.count(), |n| {
            open.push(layout::open_to_read(files.nth(n))?);
            Ok(())
        })?;
        files.complete()
    }
}
