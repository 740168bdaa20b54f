//! The clock that knee measures with, compared with the kernel's other clocks and with sleeps.

use super::{Bench, Control, Proof, State, signed};
use crate::exit::Trouble;
use rustix::time::{ClockId, clock_gettime};
use serde_json::json;
use std::time::Duration;
use sys::clock::Clock;

pub const CONTROL: Control = Control {
    name: "clock",
    proves: "the clock counts as the kernel's other clocks do, and no sleep is shorter than it was \
             asked to be",
    prove,
};

/// How far a clock may be off: a tenth of the smallest difference that the controls look for.
pub const OFF_PPM_MAX: f64 = 1_000.0;
/// Over this span.
const SPAN: Duration = Duration::from_millis(1_500);
/// A reading of another clock lies between two of ours; the closest pair of so many counts.
const READINGS: usize = 200;
const SLEEP: Duration = Duration::from_millis(10);
const SLEEPS: usize = 15;

/// The kernel's clocks. The second is never adjusted; the third counts on while the machine sleeps.
const CLOCKS: [(&str, ClockId); 3] = [
    ("CLOCK_MONOTONIC", ClockId::Monotonic),
    ("CLOCK_MONOTONIC_RAW", ClockId::MonotonicRaw),
    ("CLOCK_BOOTTIME", ClockId::Boottime),
];

#[derive(Clone, Copy, Debug)]
struct ClockComparison {
    clock: &'static str,
    ours_ns: f64,
    theirs_ns: f64,
    /// How far apart the readings at both ends may lie.
    blur_ns: f64,
}

impl ClockComparison {
    fn off_ppm(&self) -> f64 {
        (self.ours_ns / self.theirs_ns - 1.0) * 1e6
    }

    fn blur_ppm(&self) -> f64 {
        self.blur_ns / self.theirs_ns * 1e6
    }
}

fn prove(bench: &mut Bench) -> Result<Proof, Trouble> {
    let clock = bench.clock().clock;
    let starts = CLOCKS.map(|(_, id)| read(clock, id));
    std::thread::sleep(SPAN);
    let ends = CLOCKS.map(|(_, id)| read(clock, id));
    bench.go_on()?;
    let mut comparisons = Vec::new();
    for (((name, _), start), end) in CLOCKS.into_iter().zip(starts).zip(ends) {
        // A clock compared with itself shows nothing.
        if name != clock.name() {
            let ours_ns = clock.ns(start.ours, end.ours);
            let theirs_ns = (end.theirs_ns - start.theirs_ns) as f64;
            let blur_ns = start.blur_ns + end.blur_ns;
            comparisons.push(ClockComparison { clock: name, ours_ns, theirs_ns, blur_ns });
        }
    }
    let slept = (0..SLEEPS).map(|_| {
        let start = clock.now();
        std::thread::sleep(SLEEP);
        clock.ns(start, clock.now())
    });
    let shortest_ns = slept.fold(f64::INFINITY, f64::min);
    Ok(judged(clock.name(), &comparisons, shortest_ns))
}

/// One reading of another clock, and ours at the same moment.
#[derive(Clone, Copy)]
struct Moment {
    ours: u64,
    theirs_ns: i64,
    blur_ns: f64,
}

fn read(clock: Clock, id: ClockId) -> Moment {
    let moment = |_| {
        let before = clock.now();
        let time = clock_gettime(id);
        let after = clock.now();
        let theirs_ns = time.tv_sec * 1_000_000_000 + time.tv_nsec;
        Moment { ours: before.midpoint(after), theirs_ns, blur_ns: clock.ns(before, after) }
    };
    let closest = |a: Moment, b: Moment| if b.blur_ns < a.blur_ns { b } else { a };
    (1..READINGS).map(moment).fold(moment(0), closest)
}

fn judged(name: &str, comparisons: &[ClockComparison], shortest_ns: f64) -> Proof {
    let off = comparisons.iter().map(|pair| pair.off_ppm().abs()).fold(0.0, f64::max);
    let blur = comparisons.iter().map(ClockComparison::blur_ppm).fold(0.0, f64::max);
    let asked_ns = SLEEP.as_nanos() as f64;
    let too_short = shortest_ns < asked_ns * (1.0 - OFF_PPM_MAX / 1e6);
    let state = match () {
        () if too_short || off > OFF_PPM_MAX + blur => State::Failed,
        () if blur > OFF_PPM_MAX => State::Undecided,
        () => State::Proved,
    };
    let offsets: Vec<String> = comparisons
        .iter()
        .map(|pair| format!("{} {} ppm", pair.clock, signed(pair.off_ppm(), 1)))
        .collect();
    let seen = format!(
        "{name} against {} over {} s ({OFF_PPM_MAX} allowed, readings within {blur:.1} ppm); the shortest \
         of {SLEEPS} sleeps of {} ms took {:.3} ms",
        offsets.join(", "),
        SPAN.as_secs_f64(),
        SLEEP.as_millis(),
        shortest_ns / 1e6,
    );
    let rows: Vec<_> = comparisons
        .iter()
        .map(|pair| {
            json!({ "clock": pair.clock, "off_ppm": pair.off_ppm(), "blur_ppm": pair.blur_ppm() })
        })
        .collect();
    let figures = json!({
        "clock": name,
        "comparisons": rows,
        "allowed_ppm": OFF_PPM_MAX,
        "sleep_asked_ns": asked_ns,
        "sleep_shortest_ns": shortest_ns,
    });
    Proof::new(state, seen, figures)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pair(ours_ns: f64, blur_ns: f64) -> ClockComparison {
        ClockComparison { clock: "CLOCK_MONOTONIC_RAW", ours_ns, theirs_ns: 1.5e9, blur_ns }
    }

    #[test]
    fn a_clock_that_is_off_by_one_percent_is_found() {
        assert_eq!(judged("tsc", &[pair(1.5e9, 100.0)], 10.1e6).state, State::Proved);
        for off in [1.485e9, 1.515e9] {
            let proof = judged("tsc", &[pair(1.5e9, 100.0), pair(off, 100.0)], 10.1e6);
            assert_eq!(proof.state, State::Failed, "{proof:?}");
        }
    }

    #[test]
    fn a_sleep_that_seems_too_short_is_found() {
        assert_eq!(judged("tsc", &[], 9.9e6).state, State::Failed);
        assert_eq!(judged("tsc", &[], 10.0e6).state, State::Proved);
    }

    #[test]
    fn readings_that_lie_far_apart_decide_nothing() {
        assert_eq!(judged("tsc", &[pair(1.5e9, 5e6)], 10.1e6).state, State::Undecided);
    }

    #[test]
    fn clocks_are_read_at_one_moment() {
        let moment = read(Clock::Monotonic, ClockId::Monotonic);
        assert!((moment.ours as f64 - moment.theirs_ns as f64).abs() <= moment.blur_ns);
    }
}
