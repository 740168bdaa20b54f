//! What a thread or a process measured, and the sum of all.

use super::counts::Counts;
use super::distribution::{Distribution, Times};
use super::interval::{Interval, IntervalOutcome};
use super::outcome::{Outcome, Rates};
use crate::plan::Plan;
use serde::{Deserialize, Serialize};
use std::ops::AddAssign;

/// What a thread or a process of a load measured, in a form that adds up: all of them together come to one [`Outcome`].
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Part {
    /// How long the slowest of its threads sent, in nanoseconds: without warm-up.
    pub elapsed_ns: i64,
    /// How long after the agreed start its last thread began, in nanoseconds.
    pub start_late_ns: u64,
    /// What happened.
    pub counts: Counts,
    pub(crate) times: Times,
    pub(crate) connect: Distribution,
    pub(crate) handshake: Distribution,
    /// Of a process; those of a thread are added up as they arrive.
    pub(crate) intervals: Vec<Interval>,
    interval_s: f64,
    /// Whether requests have intended times.
    pub(crate) is_planned: bool,
    /// Whether intervals are kept with their histograms.
    pub(crate) keeps_intervals: bool,
}

impl Part {
    pub(crate) fn new(plan: &Plan) -> Part {
        Part {
            elapsed_ns: 0,
            start_late_ns: 0,
            counts: Counts::default(),
            times: Times::default(),
            connect: Distribution::default(),
            handshake: Distribution::default(),
            intervals: Vec::new(),
            interval_s: plan.interval.as_secs_f64(),
            is_planned: plan.shape_is_planned(),
            keeps_intervals: plan.keeps_intervals,
        }
    }

    /// All of it, with distributions and rates.
    pub fn outcome(&self) -> Outcome {
        let latency = self.times.latency.quantiles();
        let whole = &self.intervals[..self.whole_intervals()];
        let replies: Vec<u64> = whole.iter().map(|interval| interval.tick.replies).collect();
        let has_given_up = !self.times.given_up.is_empty();
        Outcome {
            elapsed_s: self.elapsed_s(),
            counts: self.counts.clone(),
            latency_at_least: has_given_up.then(|| self.times.at_least().quantiles()),
            service: if self.is_planned { self.times.service.quantiles() } else { latency.clone() },
            latency,
            connect: self.connect.quantiles(),
            handshake: (!self.handshake.is_empty()).then(|| self.handshake.quantiles()),
            reply_rate: Rates::new(&replies, self.interval_s),
            series: self.intervals.iter().map(|interval| interval.tick).collect(),
            intervals: if self.keeps_intervals { self.interval_outcomes() } else { Vec::new() },
            dead: None,
        }
    }

    pub(crate) fn elapsed_s(&self) -> f64 {
        self.elapsed_ns as f64 / 1e9
    }

    /// How many intervals are not cut short by the end of the load.
    fn whole_intervals(&self) -> usize {
        let elapsed_s = self.elapsed_s() * (1.0 + 1e-9);
        let is_whole = |index: &usize| (index + 1) as f64 * self.interval_s <= elapsed_s;
        (0..self.intervals.len()).take_while(is_whole).count()
    }

    /// The whole intervals. The last one has also what came after it: of an interval that the end cut short, and the
    /// replies that were waited for. So the distributions of all intervals add up to those of the load.
    fn interval_outcomes(&self) -> Vec<IntervalOutcome> {
        let whole = self.whole_intervals().max(usize::from(!self.intervals.is_empty()));
        let nothing = Times::default();
        let mut rest = Times { latency: self.times.at_least(), ..self.times.clone() };
        for interval in &self.intervals[..whole] {
            rest.latency.subtract(&interval.times.at_least());
            rest.service.subtract(&interval.times.service);
        }
        let outcome = |(index, interval): (usize, &Interval)| {
            let begun_s = index as f64 * self.interval_s;
            interval.outcome(begun_s, if index + 1 == whole { &rest } else { &nothing })
        };
        self.intervals[..whole].iter().enumerate().map(outcome).collect()
    }
}

/// Adds what another thread or process measured of the same load.
impl AddAssign<&Part> for Part {
    fn add_assign(&mut self, more: &Part) {
        self.elapsed_ns = self.elapsed_ns.max(more.elapsed_ns);
        self.start_late_ns = self.start_late_ns.max(more.start_late_ns);
        self.counts += &more.counts;
        self.times += &more.times;
        self.connect += &more.connect;
        self.handshake += &more.handshake;
        let missing = more.intervals.len().saturating_sub(self.intervals.len());
        self.intervals.extend(std::iter::repeat_n(Interval::default(), missing));
        for (sum, part) in self.intervals.iter_mut().zip(&more.intervals) {
            *sum += part;
            sum.summarise();
            sum.times.pack();
        }
    }
}
