//! How does making a process grow with the processes that there are?
//!
//! Felix von Leitner's forkbench. A small program forks N children one after the other; each writes
//! one byte into a pipe and then waits to be killed. One operation is from before the fork until that
//! byte is read: the kernel copies the parent, the scheduler finds a place for the child, and the child
//! runs its first system call.
//!
//! *dynamic* and *static* are the same program, linked in these two ways: what is linked dynamically
//! has more maps that fork has to copy. The others are ways of the static one: *vfork* with execve and
//! *`posix_spawn`* start the same program anew, *clone3* copies like fork and gives a pidfd.
//!
//! Parent and child run on one CPU, unless `--cpus all` lets the scheduler place them: then its choice is
//! part of each figure.

use crate::processes::forker::{self, Row};
use crate::processes::parameters::{PARENT, PROCESSES};
use crate::shared::cpus;
use engine::{About, Cell, Failure, Fit, MetricAbout, Original, Print, Probe, Subject, Workload};

/// The row of the table.
pub(crate) const WORKLOAD: Fork = Fork;

pub(crate) struct Fork;

static ABOUT: About = About {
    name: "fork",
    question: "How does making a process grow with the processes that there are?",
    operation: "fork a child that writes a byte and waits, and read its byte",
    not_measured: &[
        "the end of a process: that is `reap`",
        "what a child that is a copy pays later, for each page that it writes to",
        "threads, or descriptors to copy: the parent has one thread and a handful of descriptors",
    ],
    parameters: &[PROCESSES, PARENT, cpus::ONE],
    axis: PROCESSES.name,
    compared_pairs: &[("static", "vfork")],
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
    metrics: &[MetricAbout::time("fork", "fork + first byte of the child")],
    ..About::TRAJECTORY
};

const ROWS: &[Row] = &[
    Row { summary: "fork of a program that is linked dynamically", ..Row::DYNAMIC },
    Row { summary: "fork of the same program, linked statically", ..Row::STATIC },
    Row {
        name: "vfork",
        summary: "vfork, and execve of the static program",
        how: "vfork",
        ..Row::STATIC
    },
    Row {
        name: "posix_spawn",
        summary: "posix_spawn of the static program",
        how: "posix_spawn",
        ..Row::STATIC
    },
    Row {
        name: "clone3",
        summary: "clone3 of the static program, with a pidfd (CLONE_PIDFD)",
        how: "clone3",
        ..Row::STATIC
    },
];

impl Workload for Fork {
    fn about(&self) -> &'static About {
        &ABOUT
    }

    fn subjects(&self) -> Vec<Subject> {
        ROWS.iter().map(Row::subject).collect()
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
