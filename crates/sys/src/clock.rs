//! Clocks: the invariant TSC where the kernel itself uses it, else `CLOCK_MONOTONIC`.
//!
//! A TSC read is fenced on both sides, so that no instruction of the timed region moves across it.

use std::time::{Duration, Instant};

/// A monotonic counter and its rate. Readings of clocks of the same rate can be subtracted, also
/// between processes of one machine.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Clock {
    /// The processor's time stamp counter, with the nanoseconds of one tick.
    Tsc {
        /// Nanoseconds of one tick.
        tick_ns: f64,
    },
    /// `clock_gettime(CLOCK_MONOTONIC)`; a tick is a nanosecond.
    Monotonic,
}

impl Clock {
    /// The best clock here. Calibrates the TSC against `CLOCK_MONOTONIC` for `calibration`.
    pub fn best(calibration: Duration) -> Clock {
        if tsc_is_the_kernels_clock() {
            Clock::Tsc { tick_ns: calibrate(calibration) }
        } else {
            Clock::Monotonic
        }
    }

    /// Its name, as the record keeps it.
    pub fn name(self) -> &'static str {
        match self {
            Clock::Tsc { .. } => "tsc",
            Clock::Monotonic => "CLOCK_MONOTONIC",
        }
    }

    /// The present reading, in ticks.
    #[inline]
    pub fn now(self) -> u64 {
        match self {
            Clock::Tsc { .. } => tsc(),
            Clock::Monotonic => monotonic_ns(),
        }
    }

    /// The nanoseconds between two readings.
    #[inline]
    pub fn ns(self, from: u64, to: u64) -> f64 {
        let ticks = to.saturating_sub(from) as f64;
        match self {
            Clock::Tsc { tick_ns } => ticks * tick_ns,
            Clock::Monotonic => ticks,
        }
    }
}

/// Whether the kernel trusts the TSC: it is its clock source, and counts at one rate in every state.
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
fn tsc_is_the_kernels_clock() -> bool {
    let source = "/sys/devices/system/clocksource/clocksource0/current_clocksource";
    let source = std::fs::read_to_string(source).unwrap_or_default();
    let cpu = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let has = |flag: &str| crate::proc::has_cpu_flag(&cpu, flag) == Some(true);
    source.trim() == "tsc" && has("constant_tsc") && has("nonstop_tsc")
}

#[cfg(not(all(target_os = "linux", target_arch = "x86_64")))]
fn tsc_is_the_kernels_clock() -> bool {
    false
}

/// Readings before the one that counts.
const READING: Duration = Duration::from_micros(200);

/// The nanoseconds of one tick, by the median of three spans, each a third of `span`: one that was
/// interrupted between the two readings does not count.
fn calibrate(span: Duration) -> f64 {
    let mut rates: Vec<f64> = (0..3)
        .map(|_| {
            // The same order at both ends, so that what lies between the two readings cancels out.
            let (start, ticks) = (Instant::now(), tsc());
            std::thread::sleep(span / 3);
            // Who has slept takes long for the first readings.
            while start.elapsed() < span / 3 + READING {
                std::hint::spin_loop();
            }
            let (elapsed, end) = (start.elapsed(), tsc());
            elapsed.as_nanos() as f64 / (end - ticks).max(1) as f64
        })
        .collect();
    rates.sort_by(f64::total_cmp);
    rates[1]
}

#[cfg(target_arch = "x86_64")]
#[inline]
fn tsc() -> u64 {
    use core::arch::x86_64::{_mm_lfence, _rdtsc};
    // SAFETY: both instructions exist on every x86-64 processor, and touch no memory.
    unsafe {
        _mm_lfence();
        let ticks = _rdtsc();
        _mm_lfence();
        ticks
    }
}

/// Never read where it does not exist: `tsc_is_the_kernels_clock` is false there.
#[cfg(not(target_arch = "x86_64"))]
fn tsc() -> u64 {
    monotonic_ns()
}

#[inline]
fn monotonic_ns() -> u64 {
    let mut now = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: `now` is a valid timespec to write to; this clock exists on every supported system,
    // and were it to fail, `now` would stay zero.
    unsafe { libc::clock_gettime(libc::CLOCK_MONOTONIC, &raw mut now) };
    now.tv_sec as u64 * 1_000_000_000 + now.tv_nsec as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_chosen_clock_agrees_with_the_systems() {
        let clock = Clock::best(Duration::from_millis(60));
        let (from, start) = (clock.now(), Instant::now());
        while start.elapsed() < Duration::from_millis(20) {
            std::hint::spin_loop();
        }
        let (system_ns, ns) = (start.elapsed().as_nanos() as f64, clock.ns(from, clock.now()));
        assert!(ns >= 20e6 * 0.999, "{clock:?} counted {ns} ns in at least 20 ms");
        // A pause between the last two readings only makes `ns` larger: no upper bound holds here.
        assert!(ns >= system_ns * 0.999, "{clock:?} counted {ns} ns, the system {system_ns}");
    }

    #[test]
    fn readings_never_run_backwards() {
        let clock = Clock::best(Duration::from_millis(3));
        let mut last = clock.now();
        for _ in 0..10_000 {
            let now = clock.now();
            assert!(now >= last);
            last = now;
        }
    }
}
