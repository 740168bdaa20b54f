//! What a sample costs here, and how many a second cost little.

use super::Profiler;
use rustix::process::getpid;
use std::hint::black_box;
use std::time::Duration;
use sys::perf::Event;
use sys::process::thread_resources;

/// Share of a running thread's time that samples may take.
const COST_SHARE: f64 = 0.01;
/// Bounds of the rates, before they are rounded down.
const HZ_MIN: f64 = 100.0;
const HZ_MAX: f64 = 1_000.0;
/// The rate while the cost is measured: ten times the highest, so that the cost stands out from the noise.
const MEASURED_HZ: u64 = 9_973;
/// CPU time of the loop in each turn, without samples.
const TURN: Duration = Duration::from_millis(10);
/// Turns without samples, each followed by one with them.
const TURNS: usize = 7;

impl Profiler {
    /// Samples a second of each running thread that take a hundredth of its time here, from 97 to 997. It takes a few tenths
    /// of a second, and where nothing can be sampled it is 997.
    pub fn usual_hz() -> u64 {
        cost_ns().map_or(HZ_MAX as u64 - 3, hz_at)
    }
}

/// The rate where a sample costs so much.
fn hz_at(cost_ns: f64) -> u64 {
    let hz = (COST_SHARE * 1e9 / cost_ns).clamp(HZ_MIN, HZ_MAX);
    // A number that ends in 7 is no multiple of the rate of any timer.
    hz as u64 / 10 * 10 - 3
}

/// CPU time that a sample takes from the thread that it interrupts, in nanoseconds: the median of several turns. None where
/// nothing can be sampled, or a turn got no sample.
fn cost_ns() -> Option<f64> {
    let mut blocks = 1;
    while cpu_ns(blocks) < TURN.as_nanos() as u64 {
        blocks *= 2;
    }
    let mut costs = Vec::new();
    for _ in 0..TURNS {
        let plain_ns = cpu_ns(blocks);
        let mut profiler = Profiler::start_clocks(&[getpid()], MEASURED_HZ, &Event::clock).ok()?;
        let sampled_ns = cpu_ns(blocks);
        profiler.take();
        let samples = profiler.processes.samples.len();
        if samples > 0 {
            costs.push((sampled_ns as f64 - plain_ns as f64).max(1.0) / samples as f64);
        }
    }
    costs.sort_by(f64::total_cmp);
    costs.get(costs.len() / 2).copied()
}

/// CPU time of a loop of this length.
fn cpu_ns(blocks: u64) -> u64 {
    let before = thread_resources();
    let mut number = 1_u64;
    for _ in 0..blocks * 1_000 {
        number = black_box(number.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1));
    }
    let took = thread_resources().since(&before);
    took.user_ns + took.system_ns
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rate_takes_a_hundredth_of_the_time_and_has_no_harmonics() {
        assert_eq!([1.0, 10_000.0, 25_900.0, 90_000.0, 1e9].map(hz_at), [997, 997, 377, 107, 97]);
    }

    #[test]
    fn the_cost_of_a_sample_is_that_of_an_interrupt_and_a_stack() {
        let Ok(()) = Profiler::check() else { return };
        let cost_ns = cost_ns().unwrap();
        // Less than a microsecond takes no sample on any machine, and more than a millisecond would leave no time at all.
        assert!((1e3..1e6).contains(&cost_ns), "{cost_ns}");
    }
}
