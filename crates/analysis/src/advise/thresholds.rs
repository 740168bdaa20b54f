//! The numbers that decide what advice is worth.

use crate::stats::thresholds::SAMPLES_MIN;

/// A change that saves less of a CPU than this is not worth it. Source: judgement; a change of the
/// mechanism costs days, and a percent of one CPU is within what `perf stat` shows from run to run.
pub const CPU_SAVED_MIN: f64 = 0.01;

/// Fewer wake-ups a second for nothing are no finding. Source: Linux ticks 100 to 1,000 times a second on a
/// busy CPU (`CONFIG_HZ`), and stops that on an idle one; a process that wakes up as often keeps it awake.
pub const IDLE_WAKEUPS_MIN_PER_S: f64 = 100.0;

/// A wait that ends without an event after less than this had a time-out of 0. Source: `PR_SET_TIMERSLACK` in
/// prctl(2), by which Linux ends any other time-out 50 µs late.
pub const TIMER_SLACK_S: f64 = 50e-6;

/// The lead that is required of the cheapest, in standard errors: 3.5 with five rounds or more, several times that with
/// two rounds, whose spread does not predict the next two. Source: simulated.
pub fn errors_asked(rounds: u32, samples: u64) -> f64 {
    match rounds {
        2 => 9.0,
        3 => 4.2,
        4 => 3.8,
        0 | 1 if samples < SAMPLES_MIN as u64 => 5.5,
        _ => 3.5,
    }
}
