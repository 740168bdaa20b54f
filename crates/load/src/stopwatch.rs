//! The generator's clock: nanoseconds since one moment, the same for all threads.

use std::time::Duration;
use sys::clock::Clock;

/// How long the clock is calibrated for: its rate is then right within some millionths.
const CALIBRATION: Duration = Duration::from_millis(15);

#[derive(Clone, Copy, Debug)]
pub(crate) struct Stopwatch {
    clock: Clock,
    base: u64,
}

impl Stopwatch {
    pub(crate) fn start() -> Stopwatch {
        let clock = Clock::best(CALIBRATION);
        Stopwatch { clock, base: clock.now() }
    }

    #[inline]
    pub(crate) fn now_ns(&self) -> i64 {
        self.clock.ns(self.base, self.clock.now()) as i64
    }
}
