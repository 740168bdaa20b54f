//! What a sample costs here, and the rate that follows.
//!
//! A thread that does nothing but read the clock sees each interrupt as a gap between two readings. The gaps that samples
//! of this thread were taken in have all of their cost: the interrupt, the exits of a virtual machine for it, and the
//! copy of the stack.

use super::clocks::{Clocks, cycles_per_s};
use rustix::thread::gettid;
use std::time::Duration;
use sys::clock::Clock;
use sys::perf::{Event, Record, records};

/// The share of a CPU that samples of a running thread may take.
const COST_MAX: f64 = 0.01;
/// Rates of which the highest is taken that costs no more: primes, so that no timer keeps pace with one.
const RATES_HZ: [u64; 8] = [997, 701, 487, 337, 239, 167, 113, 83];
/// For this time the clock is read.
const LOOK: Duration = Duration::from_millis(60);
/// Readings that are closer have nothing between them.
const GAP_MIN_NS: u64 = 300;
/// Of fewer gaps the middle one is left to chance.
const GAPS_MIN: usize = 6;

/// Samples a second that take a hundredth of a CPU here at the most: 997 where that is not known, and never fewer than 83.
pub fn usual_rate_hz() -> u64 {
    sample_cost_ns().map_or(RATES_HZ[0], rate_hz)
}

fn rate_hz(cost_ns: f64) -> u64 {
    let is_cheap = |hz: &u64| *hz as f64 * cost_ns <= COST_MAX * 1e9;
    RATES_HZ.into_iter().find(is_cheap).unwrap_or(RATES_HZ[RATES_HZ.len() - 1])
}

/// The time that a sample of the calling thread takes from it; none where nothing can be sampled, or others have the CPU.
fn sample_cost_ns() -> Option<f64> {
    let cycles = cycles_per_s();
    let mut clocks =
        Clocks::open_with(std::process::id(), RATES_HZ[0], cycles, &Event::clock).ok()?;
    clocks.enable().ok()?;
    let gaps = gaps();
    clocks.disable();
    let mut bytes = Vec::new();
    clocks.take(&mut bytes);
    let own = gettid().as_raw_pid().cast_unsigned();
    let of_sample = |record: Record<'_>| {
        let Record::Sample(sample) = record else { return None };
        let after = gaps.partition_point(|gap| gap.0 <= sample.time_ns);
        let (from, to) = *gaps.get(after.checked_sub(1)?)?;
        (sample.tid == own && sample.time_ns <= to).then_some(to - from)
    };
    let mut costs: Vec<u64> = records(&bytes).filter_map(of_sample).collect();
    costs.sort_unstable();
    (costs.len() >= GAPS_MIN).then(|| costs[costs.len() / 2] as f64)
}

/// Where readings of the clock are apart: the last one before, and the first one after.
fn gaps() -> Vec<(u64, u64)> {
    let clock = Clock::Monotonic;
    let mut gaps = Vec::new();
    let mut last = clock.now();
    let end = last + LOOK.as_nanos() as u64;
    while last < end {
        let now = clock.now();
        if now - last >= GAP_MIN_NS {
            gaps.push((last, now));
        }
        last = now;
    }
    gaps
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Instant;

    #[test]
    fn dear_samples_are_fewer() {
        assert_eq!([0.0, 10_000.0, 10_050.0].map(rate_hz), [997, 997, 701]);
        assert_eq!([26_000.0, 59_000.0, 1e9].map(rate_hz), [337, 167, 83]);
    }

    #[test]
    fn a_sample_costs_some_of_the_time() {
        let start = Instant::now();
        // Others may have the CPU all the time.
        let Some(cost_ns) = sample_cost_ns() else { return };
        assert!(cost_ns >= GAP_MIN_NS as f64, "{cost_ns}");
        assert!(cost_ns < start.elapsed().as_nanos() as f64, "{cost_ns}");
        assert!(RATES_HZ.contains(&usual_rate_hz()));
    }
}
