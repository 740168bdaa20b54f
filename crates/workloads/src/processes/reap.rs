//! How does ending a process grow with the processes that there are?
//!
//! The clean-up of Felix von Leitner's forkbench, which Niels Provos asked for: fork is often
//! measured, and what follows never. One operation is the end of one child that sleeps, the oldest
//! first: SIGKILL, and the wait until it is gone. The sample that finds n alive stands at n, so the
//! axis is read from its far end.
//!
//! Parent and child run on one CPU, unless `--cpus all` lets the scheduler place them: then its choice is
//! part of each figure.
//!
//! The children are those of `fork`, copies of a small parent that is linked dynamically or statically.

use crate::processes::forker::{self, ForkRow};
use crate::processes::parameters::{PARENT, PROCESSES};
use crate::shared::cpus;
use engine::{
    About, Cell, Failure, Fit, MetricInfo, Probe, Subject, Workload, WorkloadInfo, strings,
};
use std::sync::LazyLock;

/// The row of the table.
pub(crate) const WORKLOAD: Reap = Reap;

pub(crate) struct Reap;

static ABOUT: LazyLock<About> = LazyLock::new(|| About {
    info: WorkloadInfo {
        name: "reap".into(),
        question: "How does ending a process grow with the processes that there are?".into(),
        operation:
            "kill a child that sleeps and wait for its end, the oldest first, until there is none"
                .into(),
        not_measured: strings([
            "a process that ends by itself",
            "files, connections and memory of its own that a larger process would give back",
        ]),
        metrics: vec![MetricInfo::time("reap", "kill + wait")],
        ..About::trajectory().info
    },
    parameters: vec![PROCESSES, PARENT, cpus::ONE],
    ..About::trajectory()
});

const ROWS: &[ForkRow] = &[
    ForkRow {
        summary: "kill and waitpid; parent and children are linked dynamically",
        ..ForkRow::DYNAMIC
    },
    ForkRow {
        summary: "kill and waitpid; parent and children are linked statically",
        ..ForkRow::STATIC
    },
    ForkRow {
        name: "pidfd",
        summary: "pidfd_send_signal and waitid(P_PIDFD), of the static children",
        ending: "pidfd",
        ..ForkRow::STATIC
    },
];

impl Workload for Reap {
    fn about(&self) -> &About {
        &ABOUT
    }

    fn subjects(&self) -> Vec<Subject> {
        ROWS.iter().map(ForkRow::subject).collect()
    }

    fn fit(&self, cell: &Cell) -> Fit {
        forker::fit(cell)
    }

    fn measure(&self, cell: &Cell, probe: &mut Probe) -> Result<(), Failure> {
        let times = forker::run(forker::row(ROWS, cell)?, cell, probe)?;
        probe.stamped("reap", &times.ended);
        // Fewer than were asked for could be made: the end of those is measured.
        times.shortage.map_or(Ok(()), Err)
    }
}
