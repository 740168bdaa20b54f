//! What a sample costs here, and the rate that follows.
//!
//! A thread polls a pipe and reads the clock around each call. The calls that a sample fell into, and the next few, take
//! longer than others: by the interrupt, the exits of a virtual machine for it, the walk over the kernel's part of the
//! stack, the copy of the program's, and the caches that are cold after it.

use super::clocks::{Clocks, cycles_per_s};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::thread::gettid;
use rustix::time::{ClockId, clock_gettime};
use std::io;
use std::time::Duration;
use sys::clock::Clock;
use sys::perf::{Event, Record, records};

/// The share of a CPU that samples of a running thread may take: of a hundredth a part is left for records of switches.
const COST_MAX: f64 = 0.008;
/// Rates of which the highest is taken that costs no more: primes, so that no timer keeps pace with one.
const RATES_HZ: [u64; 8] = [997, 701, 487, 337, 239, 167, 113, 83];
/// For this time it polls.
const LOOK: Duration = Duration::from_millis(60);
/// Entries of a call, all of one pipe: some microseconds.
const ENTRIES: usize = 256;
/// After as many calls the caches are warm again.
const CALLS_AFTER: u64 = 10;
/// Where a thread is without a CPU for longer, others had it.
const ELSEWHERE_NS_MAX: u64 = 100_000;
/// Of fewer samples the mean is left to chance.
const SAMPLES_MIN: usize = 6;

/// Samples a second that take less than a hundredth of a CPU here: 997 where that is not known, and never fewer than 83.
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
    let calls = calls().ok()?;
    clocks.disable();
    let mut bytes = Vec::new();
    clocks.take(&mut bytes);
    let mut usual: Vec<u64> = calls.windows(2).map(|pair| pair[1].since(&pair[0])).collect();
    usual.sort_unstable();
    let usual_ns = *usual.get(usual.len() / 2)?;
    // No other sample falls into them.
    let slowed = (1_000_000_000 / RATES_HZ[0] / 2 / usual_ns.max(1)).clamp(1, CALLS_AFTER);
    let own = gettid().as_raw_pid().cast_unsigned();
    let of_sample = |record: Record<'_>| {
        let Record::Sample(sample) = record else { return None };
        let at = calls.partition_point(|call| call.time_ns <= sample.time_ns).checked_sub(1)?;
        let (from, to) = (&calls[at], calls.get(at + slowed as usize)?);
        let elsewhere_ns = to.since(from).saturating_sub(to.cpu_ns - from.cpu_ns);
        let had_cpu = elsewhere_ns < ELSEWHERE_NS_MAX;
        (sample.tid == own && had_cpu).then(|| to.since(from) as f64 - (usual_ns * slowed) as f64)
    };
    let costs: Vec<f64> = records(&bytes).filter_map(of_sample).collect();
    (costs.len() >= SAMPLES_MIN).then(|| costs.iter().sum::<f64>() / costs.len() as f64)
}

/// The beginning of a call.
struct Call {
    time_ns: u64,
    /// CPU time of the thread; some kernels leave interrupts out.
    cpu_ns: u64,
}

impl Call {
    fn since(&self, earlier: &Call) -> u64 {
        self.time_ns - earlier.time_ns
    }
}

fn calls() -> io::Result<Vec<Call>> {
    let (read, _write) = io::pipe()?;
    let mut entries = vec![PollFd::new(&read, PollFlags::IN); ENTRIES];
    let now = || Call { time_ns: Clock::Monotonic.now(), cpu_ns: thread_cpu_ns() };
    let mut calls = vec![now()];
    let end_ns = calls[0].time_ns + LOOK.as_nanos() as u64;
    while calls.last().is_some_and(|call| call.time_ns < end_ns) {
        poll(&mut entries, Some(&Timespec::default()))?;
        calls.push(now());
    }
    Ok(calls)
}

/// CPU time of the calling thread.
fn thread_cpu_ns() -> u64 {
    let Timespec { tv_sec, tv_nsec } = clock_gettime(ClockId::ThreadCPUTime);
    tv_sec as u64 * 1_000_000_000 + tv_nsec as u64
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Instant;

    #[test]
    fn dear_samples_are_fewer() {
        assert_eq!([0.0, 8_000.0, 8_050.0].map(rate_hz), [997, 997, 701]);
        assert_eq!([26_000.0, 59_000.0, 1e9].map(rate_hz), [239, 113, 83]);
    }

    #[test]
    fn a_sample_costs_some_of_the_time() {
        let start = Instant::now();
        // Others may have the CPU all the time.
        let Some(cost_ns) = sample_cost_ns() else { return };
        assert!(cost_ns > 0.0, "{cost_ns}");
        assert!(cost_ns < start.elapsed().as_nanos() as f64, "{cost_ns}");
        assert!(RATES_HZ.contains(&usual_rate_hz()));
    }
}
