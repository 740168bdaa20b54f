//! The clock against another oscillator: the kernel's clocks may all count the one that ours counts.

use super::clock::OFF_PPM_MAX;
use super::{Bench, Control, Proof, State, signed};
use crate::exit::Trouble;
use serde_json::json;
use std::path::Path;
use std::time::{Duration, Instant};

pub const CONTROL: Control = Control {
    name: "oscillator",
    proves: "the clock counts as a real-time clock with an oscillator of its own does",
    prove,
};

/// The real-time clock's seconds, which anyone may read.
const FILE: &str = "/sys/class/rtc/rtc0/since_epoch";
/// Seconds that are counted, each from the moment at which it begins.
const SECONDS: u64 = 3;
/// How long a second is waited for: it stands still, if it takes longer.
const PATIENCE: Duration = Duration::from_secs(3 * SECONDS);
const LOOK: Duration = Duration::from_micros(200);

fn prove(bench: &mut Bench) -> Result<Proof, Trouble> {
    let clock = bench.clock().clock;
    let Some(now) = seconds() else {
        let why = if Path::new(FILE).exists() { "it can't be read" } else { "there is none" };
        return Ok(Proof::not_possible(format!(
            "no real-time clock was found ({FILE}: {why}); where the kernel's clock source is the TSC, \
             its clocks count the same oscillator as ours"
        )));
    };
    let start = edge(bench, now + 1)?;
    let end = match &start {
        Some(start) => edge(bench, start.second + SECONDS)?,
        None => None,
    };
    let (Some(start), Some(end)) = (start, end) else {
        return Ok(Proof::not_possible(format!("the real-time clock ({FILE}) stands still")));
    };
    let theirs_ns = (end.second - start.second) as f64 * 1e9;
    Ok(judged(clock.ns(start.ours, end.ours), theirs_ns, start.blur_ns + end.blur_ns))
}

fn seconds() -> Option<u64> {
    std::fs::read_to_string(FILE).ok()?.trim().parse().ok()
}

struct Edge {
    second: u64,
    ours: u64,
    /// How long before it was not seen yet.
    blur_ns: f64,
}

/// Waits until the second `from` begins; none where it does not.
fn edge(bench: &Bench, from: u64) -> Result<Option<Edge>, Trouble> {
    let (clock, begun) = (bench.clock().clock, Instant::now());
    let mut before = clock.now();
    while begun.elapsed() < PATIENCE {
        bench.go_on()?;
        let looked = clock.now();
        let Some(second) = seconds() else { return Ok(None) };
        let ours = clock.now();
        if second >= from {
            return Ok(Some(Edge { second, ours, blur_ns: clock.ns(before, ours) }));
        }
        before = looked;
        std::thread::sleep(LOOK);
    }
    Ok(None)
}

fn judged(ours_ns: f64, theirs_ns: f64, blur_ns: f64) -> Proof {
    let (off, blur) = ((ours_ns / theirs_ns - 1.0) * 1e6, blur_ns / theirs_ns * 1e6);
    let state = match () {
        () if off.abs() > OFF_PPM_MAX + blur => State::Failed,
        () if blur > 5.0 * OFF_PPM_MAX => State::Undecided,
        () => State::Proved,
    };
    let seconds = theirs_ns / 1e9;
    let seen = format!(
        "{} ppm over {seconds} s (its seconds were seen to begin within {blur:.0} ppm; \
         {OFF_PPM_MAX} allowed beyond that)",
        signed(off, 0)
    );
    Proof::new(state, seen, json!({ "off_ppm": off, "blur_ppm": blur, "allowed_ppm": OFF_PPM_MAX }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_clock_that_is_off_by_one_percent_is_found() {
        assert_eq!(judged(3.0e9, 3e9, 1e6).state, State::Proved);
        assert_eq!(judged(3.03e9, 3e9, 1e6).state, State::Failed);
        assert_eq!(judged(2.97e9, 3e9, 1e6).state, State::Failed);
        assert_eq!(judged(3.0e9, 3e9, 1e9).state, State::Undecided);
    }
}
