//! The generator's clock: nanoseconds since one moment, the same for all threads.

use std::time::Duration;
use sys::clock::Clock;

/// How long the clock is calibrated for: its rate is then right within some millionths.
const CALIBRATION: Duration = Duration::from_millis(15);

#[derive(Clone, Copy, Debug)]
pub(crate) struct Watch {
    clock: Clock,
    base: u64,
}

impl Watch {
    pub(crate) fn start() -> Watch {
        let clock = Clock::best(CALIBRATION);
        Watch { clock, base: clock.now() }
    }

    /// Nanoseconds since it was started.
    #[inline]
    pub(crate) fn now_ns(&self) -> i64 {
        self.clock.ns(self.base, self.clock.now()) as i64
    }
}
