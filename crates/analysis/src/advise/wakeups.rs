//! Whether a live process wakes up for nothing.

use crate::thresholds::{CPU_SAVED_MIN, IDLE_WAKEUPS_MIN_PER_S};
use schemars::JsonSchema;
use serde::Serialize;

/// A wait that ends without an event after less than this had a time-out of 0. Source: `PR_SET_TIMERSLACK` in
/// prctl(2), by which Linux ends any other time-out 50 µs late.
const TIMER_SLACK_S: f64 = 50e-6;

/// The wake-ups of a process by one thing that it waits on.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Wakeups {
    /// Waits a second that returned only descriptors that stay ready and are not served.
    pub unserved_per_s: f64,
    /// Waits a second that returned nothing.
    pub empty_per_s: f64,
    /// The mean time until one of these ended; absent where none was seen whole.
    pub empty_after_s: Option<f64>,
}

/// Wake-ups that no event is behind.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case", tag = "kind")]
pub enum IdleWakeups {
    /// Descriptors stay ready and are not served, so that no wait blocks.
    Unserved {
        /// So many a second.
        per_s: f64,
    },
    /// Time-outs end before anything comes.
    TimeOuts {
        /// So many a second.
        per_s: f64,
        /// After so long.
        after_s: f64,
    },
    /// It asks without waiting: the time-out is 0.
    Polls {
        /// So many times a second.
        per_s: f64,
        /// The share of one CPU that these calls take.
        cpu_share: f64,
    },
}

impl Wakeups {
    /// What most of the idle wake-ups are, where there are enough of them.
    pub fn idle(self) -> Option<IdleWakeups> {
        if self.unserved_per_s >= IDLE_WAKEUPS_MIN_PER_S {
            return Some(IdleWakeups::Unserved { per_s: self.unserved_per_s });
        }
        let (per_s, after_s) = (self.empty_per_s, self.empty_after_s?);
        let cpu_share = per_s * after_s;
        match () {
            () if per_s < IDLE_WAKEUPS_MIN_PER_S => None,
            () if after_s >= TIMER_SLACK_S => Some(IdleWakeups::TimeOuts { per_s, after_s }),
            () if cpu_share >= CPU_SAVED_MIN => Some(IdleWakeups::Polls { per_s, cpu_share }),
            // A loop that works, and looks for events in between.
            () => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn empty(empty_per_s: f64, after_s: f64) -> Option<IdleWakeups> {
        Wakeups { empty_per_s, empty_after_s: Some(after_s), ..Wakeups::default() }.idle()
    }

    #[test]
    fn wake_ups_for_nothing_are_distinguished() {
        let unserved_per_s = 313_000.0;
        let spins = Wakeups { unserved_per_s, ..Wakeups::default() };
        assert_eq!(spins.idle(), Some(IdleWakeups::Unserved { per_s: unserved_per_s }));
        let time_outs = IdleWakeups::TimeOuts { per_s: 470.0, after_s: 0.002 };
        assert_eq!(empty(470.0, 0.002), Some(time_outs));
        let polls = IdleWakeups::Polls { per_s: 500_000.0, cpu_share: 0.5 };
        assert_eq!(empty(500_000.0, 1e-6), Some(polls));
    }

    #[test]
    fn a_few_time_outs_and_looks_between_work_are_none() {
        assert_eq!(empty(10.0, 0.1), None);
        assert_eq!(empty(2_000.0, 1e-6), None);
        assert_eq!(Wakeups { unserved_per_s: 3.0, ..Wakeups::default() }.idle(), None);
    }
}
