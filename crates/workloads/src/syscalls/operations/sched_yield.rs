//! `sched_yield`: gives the CPU to the next that waits for it, if there is one.

use super::Operation;
use sys::plain::sched_yield;

pub(crate) const OPERATION: Operation = Operation {
    name: "sched-yield",
    beyond_cpus: false,
    group: "Processes",
    summary: "sched_yield: gives the CPU to the next that waits for it",
    prepare: |_| {
        Ok(Box::new(|seat| {
            seat.repeat(|check| check.that(sched_yield().is_ok(), "sched_yield was refused"))
        }))
    },
    ..Operation::PLAIN
};
