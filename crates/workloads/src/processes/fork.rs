//! How does making a process grow with the processes that there are?
//!
//! Felix von Leitner's forkbench. A small program forks N children one after the other; each writes
//! one byte into a pipe and then waits to be killed. One operation is from before the fork until that
//! byte is read: the kernel copies the parent, the scheduler finds a place for the child, and the child
//! runs its first system call.
//!
//! *dynamic* and *static* are the same program, linked in these two ways: what is linked dynamically
//! has more maps that fork has to copy. The others are ways of the static one: *clone3* copies like fork and gives a
//! pidfd; *fork-exec*, *clone3-exec*, *vfork* and *`posix_spawn`* start the same program anew by execve. To copy a program
//! and to start one are two operations: each way is compared with those of its own.
//!
//! Parent and child run on one CPU, unless `--cpus all` lets the scheduler place them: then its choice is
//! part of each figure.

use crate::processes::forker::{self, ForkRow, Linked};
use crate::processes::parameters::{PARENT, PROCESSES};
use crate::shared::cpus;
use engine::{
    About, Cell, Failure, Fit, MetricInfo, Original, Print, Probe, Subject, Workload, WorkloadInfo,
    pairs, strings,
};
use std::sync::LazyLock;

/// The row of the table.
pub(crate) const WORKLOAD: Fork = Fork;

pub(crate) struct Fork;

static ABOUT: LazyLock<About> = LazyLock::new(|| About {
    info: WorkloadInfo {
        name: "fork".into(),
        question: "How does making a process grow with the processes that there are?".into(),
        operation: "make a child that writes a byte and waits, by a copy of the parent or by \
                    starting a program, and read its byte"
            .into(),
        not_measured: strings([
            "the end of a process: that is `reap`",
            "what a child that is a copy pays later, for each page that it writes to",
            "threads, or descriptors to copy: the parent has one thread and a handful of descriptors",
        ]),
        compared_pairs: pairs([("fork-exec", "vfork")]),
        metrics: vec![MetricInfo::time("fork", "fork + first byte of the child")],
        ..About::trajectory().info
    },
    parameters: vec![PROCESSES, PARENT, cpus::ONE],
    originals: &[Original {
        name: "forkbench",
        original: "Felix von Leitner's forkbench (gatling, 2003), linked dynamically and statically, five \
                   times; with -c 5000, to go past the 4,000 processes of his page",
        subjects: &["dynamic", "static"],
        points: &["5k"],
        parameters: &[("parent", "0"), ("cpus", "all")],
        rounds: Some(5),
        print: Print::Calls(&[("fork", "fork"), ("reap", "reap")]),
        also: &[],
        hides: &[
            "where the scheduler puts parent and child: on several CPUs it decides more than anything \
             else (--cpus 1)",
            "one figure for the fork, the child's turn on a CPU and the byte through the pipe",
            "the second column runs backwards: its n-th line ends the n-th child, while all later ones \
             are alive",
            "the parent has one thread and hardly any memory: a program that has touched more has more \
             to copy (--parent 100)",
            "the original ends its children with SIGTERM, ours with SIGKILL; here the second column is of \
             children of its own",
        ],
    }],
    ..About::trajectory()
});

const ROWS: &[ForkRow] = &[
    ForkRow {
        name: "dynamic",
        summary: "fork of a program that is linked dynamically",
        linked: Linked::Dynamically,
        ..COPY
    },
    ForkRow { summary: "fork of the same program, linked statically", ..COPY },
    ForkRow {
        name: "clone3",
        summary: "clone3 of the static program, with a pidfd (CLONE_PIDFD)",
        how: "clone3",
        ..COPY
    },
    ForkRow {
        name: "fork-exec",
        summary: "fork, and execve of the static program",
        how: "fork-exec",
        ..START
    },
    ForkRow {
        name: "clone3-exec",
        summary: "clone3 with a pidfd, and execve of the static program",
        how: "clone3-exec",
        ..START
    },
    ForkRow {
        name: "vfork",
        summary: "vfork, and execve of the static program",
        how: "vfork",
        ..START
    },
    ForkRow {
        name: "posix_spawn",
        summary: "posix_spawn of the static program",
        how: "posix_spawn",
        ..START
    },
];

/// A child that is a copy of the static program.
const COPY: ForkRow = ForkRow { operation: "fork", group: "Fork", ..ForkRow::STATIC };
/// A child that executes the static program.
const START: ForkRow = ForkRow {
    operation: "fork and execute a program",
    group: "Fork and execute",
    ..ForkRow::STATIC
};

impl Workload for Fork {
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
        probe.stamped("fork", &times.made);
        times.shortage.map_or(Ok(()), Err)
    }
}
