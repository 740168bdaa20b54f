//! `knee` finds where a system stops scaling.
//!
//! As a library it asserts in tests how a function's cost grows, and makes programs with all of knee's commands and
//! workloads, locks and readiness mechanisms of their own.
//!
//! Without default features, only the assertions are there:
//!
//! ```
//! knee::grows("sum")
//!     .over([1_000, 10_000, 100_000])
//!     .setup(|n| (0..n).collect::<Vec<u64>>())
//!     .measure(|numbers| numbers.iter().sum::<u64>())
//!     .at_most(knee::Class::Linear);
//! ```
//!
//! In the program, data goes one way: arguments, a request, a plan, measured cells in a record, and from the record
//! analysis, findings and reports. Each command goes a part of it.
#![forbid(unsafe_code)]

#[cfg(feature = "program")]
mod args;
#[cfg(feature = "program")]
mod commands;
#[cfg(feature = "program")]
mod exit;
#[cfg(feature = "program")]
mod files;
#[cfg(feature = "program")]
mod originals;
#[cfg(feature = "program")]
mod output;
#[cfg(feature = "program")]
mod program;
#[cfg(feature = "program")]
mod remedies;
#[cfg(all(test, feature = "program"))]
mod tests;
#[cfg(feature = "program")]
mod usage;

pub use ::grows;
pub use ::grows::{Class, cost as grows};

#[cfg(feature = "program")]
pub use program::{Program, with};
// What a workload, a lock and a mechanism are made of.
#[cfg(feature = "program")]
pub use ::{locks, readiness, workloads::OwnLock};
#[cfg(feature = "program")]
pub use engine::{
    About, Cell, Defaults, Failure, Fit, Kind, LimitCause, MetricInfo, Parameter, Probe, Ratio,
    Subject, SubjectInfo, Sweep, Usual, Values, Workload, WorkloadInfo, pairs, strings,
};
