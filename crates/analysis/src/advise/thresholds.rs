//! The numbers that decide what advice is worth.

/// A change that saves less of a CPU than this is not worth it. Source: judgement; a change of the
/// mechanism costs days, and a percent of one CPU is within what `perf stat` shows from run to run.
pub const CPU_SAVED_MIN: f64 = 0.01;
