//! Work that takes a set time on an idle CPU and touches no memory.

use crate::shared::turns::turn;
use sys::clock::Clock;

/// So many turns of a loop.
#[derive(Clone, Copy, Debug)]
pub(super) struct Work {
    turns: u64,
    /// How long they came out on an idle CPU, as measured.
    pub ns: f64,
}

/// Turns that are timed to learn what one takes: a microsecond or two, which is rarely interrupted.
const TRIAL: u64 = 2_000;
/// Each is timed so often, and the fastest counts: nothing interrupted it.
const TRIALS: usize = 100;
/// What takes long is timed less often, but so often at the least.
const TRIALS_MIN: usize = 3;
const TRIALS_NS_MAX: f64 = 20e6;

impl Work {
    /// As much as takes `ns` nanoseconds by `clock`; none for 0.
    pub fn new(ns: u64, clock: Clock) -> Work {
        let turn_ns = fastest_ns(clock, TRIAL, 1) / TRIAL as f64;
        let turns = (ns as f64 / turn_ns).round() as u64;
        if turns == 0 {
            return Work { turns, ns: 0.0 };
        }
        let times = (TRIAL / turns).max(1);
        Work { turns, ns: fastest_ns(clock, turns, times) / times as f64 }
    }

    #[inline]
    pub fn work(self) {
        turn(self.turns);
    }
}

/// What `times` times so many turns take at the least.
fn fastest_ns(clock: Clock, turns: u64, times: u64) -> f64 {
    let mut fastest = f64::INFINITY;
    let begun = clock.now();
    for trial in 0..TRIALS {
        let start = clock.now();
        for _ in 0..times {
            turn(turns);
        }
        let end = clock.now();
        fastest = fastest.min(clock.ns(start, end));
        if trial + 1 >= TRIALS_MIN && clock.ns(begun, end) > TRIALS_NS_MAX {
            break;
        }
    }
    fastest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn work_grows_with_what_was_asked_for() {
        let [little, much] = [100, 100_000].map(|ns| Work::new(ns, Clock::Monotonic));
        assert!(little.turns > 0 && much.turns > 100 * little.turns, "{little:?} {much:?}");
        assert!(much.ns > little.ns, "{little:?} {much:?}");
        let nothing = Work::new(0, Clock::Monotonic);
        assert!((nothing.turns, nothing.ns) == (0, 0.0));
    }
}
