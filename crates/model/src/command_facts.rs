//! The names of facts and metrics of a cell that say how its commands ran and ended.

/// How runs ended whose failure was not to count, as texts: `exited with 3`, `was killed by signal 9`.
pub const IGNORED_ENDS: &str = "ends of runs that failed";
/// The most processes that a run left, which were ended.
pub const LEFT: &str = "processes that a run left, now ended";
/// The most CPU time that those of a run had used, in milliseconds.
pub const LEFT_CPU_MS: &str = "CPU time of the processes that a run left_ms";
/// The metric of all system calls of a run, where they were counted; a fact of this name says why they were not.
pub const SYSTEM_CALLS: &str = "system calls";
/// What the name of the metric of one call begins with: `calls of futex`.
pub const CALLS_OF: &str = "calls of ";
