//! What a process would gain from the cheapest subject, at its own rate of events, and whether it wakes up for nothing.

use super::{Advice, Ranked};
use crate::Estimate;
use crate::thresholds::{CPU_SAVED_MIN, IDLE_WAKEUPS_MIN_PER_S};
use schemars::JsonSchema;
use serde::Serialize;

/// The subject that a process uses against the cheapest at its spot.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Gain {
    /// The subject in use.
    pub in_use: Ranked,
    /// The cheapest.
    pub cheapest: Ranked,
    /// Events a second.
    pub events_per_s: f64,
    /// CPU time that the cheapest would save, as a share of one CPU: 0.02 is 2 %.
    pub cpu_saved: Estimate,
    /// What that is worth.
    pub verdict: GainVerdict,
}

/// What a change to the cheapest subject is worth.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum GainVerdict {
    /// The subject in use is the cheapest, or not clearly behind it.
    Nothing,
    /// It is clearly behind, and that costs less than a hundredth of a CPU.
    Negligible,
    /// The whole interval of what is saved, or a part of it, is above that.
    Worth,
}

impl Advice {
    /// What the cheapest subject saves a process that uses `in_use` and handles so many events a second;
    /// `None` where that subject has no figure at the spot.
    pub fn gain(&self, in_use: &str, events_per_s: f64) -> Option<Gain> {
        let cheapest = self.ranking.first()?;
        let in_use = self.ranking.iter().find(|row| row.subject == in_use)?;
        let saved_ns = difference(in_use.cost_ns, cheapest.cost_ns);
        let cpu_saved = saved_ns.map(|saved_ns| saved_ns * events_per_s / 1e9);
        let verdict = match () {
            () if !in_use.clearly_behind => GainVerdict::Nothing,
            () if cpu_saved.high < CPU_SAVED_MIN => GainVerdict::Negligible,
            () => GainVerdict::Worth,
        };
        let (in_use, cheapest) = (in_use.clone(), cheapest.clone());
        Some(Gain { in_use, cheapest, events_per_s, cpu_saved, verdict })
    }
}

/// What `above` is more than `below`, with an interval made of both (Zou and Donner 2008, the method of variance
/// estimates recovery).
fn difference(above: Estimate, below: Estimate) -> Estimate {
    let value = above.value - below.value;
    Estimate {
        value,
        low: value - (above.value - above.low).hypot(below.high - below.value),
        high: value + (above.high - above.value).hypot(below.value - below.low),
    }
}

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
    use crate::advise::Spot;

    fn ranked(subject: &str, value: f64, clearly_behind: bool) -> Ranked {
        let cost_ns = Estimate { value, low: value * 0.97, high: value * 1.04 };
        let (subject, label) = (subject.to_owned(), subject.to_uppercase());
        Ranked { subject, label, cost_ns, times: value / 500.0, clearly_behind }
    }

    fn advice(ranking: Vec<Ranked>) -> Advice {
        Advice {
            spot: Spot { total: 1_000.0, active: 10.0 },
            workload: "pipetest".into(),
            parameters: model::Parameters::new(),
            ranking,
            absent: Vec::new(),
            clear: true,
            rounds: 5,
            margin: None,
            between: (1_000, 1_000),
            nearest: None,
        }
    }

    #[test]
    fn the_gain_is_the_difference_at_the_rate_of_events() {
        let advice = advice(vec![ranked("epoll", 500.0, false), ranked("poll", 20_500.0, true)]);
        let gain = advice.gain("poll", 10_000.0).unwrap();
        // 20 µs for each of 10,000 events a second are a fifth of a CPU.
        assert!((gain.cpu_saved.value - 0.2).abs() < 1e-12, "{gain:?}");
        // 820 ns below, by hand: hypot(20,500 × 0.03, 500 × 0.04) = 615.3; above: hypot(820, 15) = 820.1.
        assert!((gain.cpu_saved.low - (0.2 - 0.006_153)).abs() < 1e-6, "{gain:?}");
        assert!((gain.cpu_saved.high - (0.2 + 0.008_201)).abs() < 1e-6, "{gain:?}");
        assert_eq!(gain.verdict, GainVerdict::Worth);
        assert_eq!(advice.gain("poll", 100.0).unwrap().verdict, GainVerdict::Negligible);
        assert_eq!(advice.gain("kqueue", 100.0), None);
    }

    #[test]
    fn the_cheapest_and_its_equals_gain_nothing() {
        let advice = advice(vec![ranked("epoll", 500.0, false), ranked("mio", 505.0, false)]);
        for in_use in ["epoll", "mio"] {
            let gain = advice.gain(in_use, 1e9).unwrap();
            assert_eq!(gain.verdict, GainVerdict::Nothing, "{in_use}");
        }
    }

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
