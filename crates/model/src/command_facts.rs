//! The names of facts of a cell that say how its commands ended.

/// How runs ended whose failure was not to count, as texts: `exited with 3`, `was killed by signal 9`.
pub const IGNORED_ENDS: &str = "ends of runs that failed";
/// The most processes that a run left, which were ended.
pub const LEFT: &str = "processes that a run left, now ended";
/// The most CPU time that those of a run had used, in milliseconds.
pub const LEFT_CPU_MS: &str = "CPU time of the processes that a run left_ms";
