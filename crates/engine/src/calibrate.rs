//! The clock of a run: chosen, calibrated, and measured itself before it measures anything.

use model::Clock as ClockInfo;
use std::time::Duration;
use sys::clock::Clock;

/// The clock, with its resolution and what a reading costs.
#[derive(Clone, Copy, Debug)]
pub struct Calibrated {
    /// The clock.
    pub clock: Clock,
    /// Smallest step that was seen, in nanoseconds.
    pub resolution_ns: f64,
    /// What one reading costs, in nanoseconds.
    pub overhead_ns: f64,
}

/// Chooses the best clock and measures it. Takes about a tenth of a second.
pub fn calibrate() -> Calibrated {
    measured(Clock::best(Duration::from_millis(90)))
}

fn measured(clock: Clock) -> Calibrated {
    const READINGS: usize = 2_000;
    let spans: Vec<f64> = (0..15).map(|_| cost_of_reading_ns(clock, READINGS)).collect();
    let steps = (0..READINGS).map(|_| clock.ns(clock.now(), clock.now()));
    let resolution_ns = steps.filter(|&step| step > 0.0).fold(f64::INFINITY, f64::min);
    // The smallest span is the one that nothing interrupted.
    let overhead_ns = spans.into_iter().fold(f64::INFINITY, f64::min);
    Calibrated { clock, resolution_ns: resolution_ns.min(1e6), overhead_ns }
}

fn cost_of_reading_ns(clock: Clock, readings: usize) -> f64 {
    let from = clock.now();
    for _ in 0..readings {
        std::hint::black_box(clock.now());
    }
    clock.ns(from, clock.now()) / (readings + 1) as f64
}

impl Calibrated {
    /// The shortest batch of which the clock is under 1 %, in nanoseconds.
    pub fn batch_ns_min(&self) -> f64 {
        100.0 * (self.overhead_ns + self.resolution_ns)
    }

    /// What an operation took that was timed on its own, less what a reading costs, in nanoseconds.
    /// To a hundredth: no clock is finer, and every digit more makes records larger.
    pub(crate) fn single_ns(&self, start: u64, end: u64) -> f64 {
        let ns = (self.clock.ns(start, end) - self.overhead_ns).max(0.0);
        (ns * 100.0).round() / 100.0
    }

    /// As the record keeps it.
    pub fn info(&self) -> ClockInfo {
        ClockInfo {
            source: self.clock.name().into(),
            resolution_ns: self.resolution_ns,
            overhead_ns: self.overhead_ns,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_clock_has_a_step_and_a_cost() {
        for clock in [Clock::Monotonic, Clock::best(Duration::from_millis(3))] {
            let calibrated = measured(clock);
            assert!(calibrated.resolution_ns > 0.0, "{calibrated:?}");
            assert!(calibrated.overhead_ns > 0.0, "{calibrated:?}");
            assert!(calibrated.batch_ns_min() >= 100.0 * calibrated.overhead_ns);
        }
    }
}
