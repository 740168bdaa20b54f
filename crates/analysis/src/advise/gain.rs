//! What a process would gain from the cheapest subject, at its own rate of events.

use super::{Advice, Ranked};
use crate::Estimate;
use crate::thresholds::CPU_SAVED_MIN;
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
        let cpu_saved = difference(in_use.cost_ns, cheapest.cost_ns);
        let cpu_saved = [cpu_saved.value, cpu_saved.low, cpu_saved.high];
        let [value, low, high] = cpu_saved.map(|saved_ns| saved_ns * events_per_s / 1e9);
        let verdict = match () {
            () if !in_use.clearly_behind => GainVerdict::Nothing,
            () if high < CPU_SAVED_MIN => GainVerdict::Negligible,
            () => GainVerdict::Worth,
        };
        Some(Gain {
            in_use: in_use.clone(),
            cheapest: cheapest.clone(),
            events_per_s,
            cpu_saved: Estimate { value, low, high },
            verdict,
        })
    }
}

/// What `above` is more than `below`. The interval of a difference is made of both intervals, each end of
/// the ends that lead to it (Zou and Donner 2008, "Construction of confidence limits about effect
/// measures", the method of variance estimates recovery).
fn difference(above: Estimate, below: Estimate) -> Estimate {
    let value = above.value - below.value;
    Estimate {
        value,
        low: value - (above.value - above.low).hypot(below.high - below.value),
        high: value + (above.high - above.value).hypot(below.value - below.low),
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
}
