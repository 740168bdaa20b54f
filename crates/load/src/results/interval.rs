//! The intervals of a load: of its threads and processes, and added up.

use super::distribution::{Quantiles, Times};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;
use std::ops::AddAssign;

/// One interval.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct Tick {
    /// Its end, in seconds from the start of what counts.
    pub at_s: f64,
    /// Requests sent in it.
    pub requests: u64,
    /// Replies that ended in it.
    pub replies: u64,
    /// Bytes of replies in it.
    pub bytes: u64,
    /// Errors in it.
    pub errors: u64,
    /// Requests in flight at its end.
    pub under_way: u64,
    /// Half of the latencies are at most this, in nanoseconds.
    pub p50_ns: f64,
    /// 99 % of the latencies are at most this, in nanoseconds.
    pub p99_ns: f64,
    /// The longest latency, in nanoseconds.
    pub max_ns: f64,
}

/// A whole interval; the last one has also what came after it, so that all distributions add up to those of the load.
/// A load that is shorter than one interval has one.
#[derive(Clone, Debug, Default)]
pub struct IntervalOutcome {
    /// Its length, in seconds.
    pub length_s: f64,
    /// What happened in it.
    pub tick: Tick,
    /// Requests that were sent late in it: see [`Counts::late`](crate::Counts::late).
    pub late: u64,
    /// As [`Outcome::latency_at_least`](crate::Outcome::latency_at_least), or where no request was given up as
    /// [`Outcome::latency`](crate::Outcome::latency).
    pub latency: Quantiles,
    /// As [`Outcome::service`](crate::Outcome::service).
    pub service: Quantiles,
}

#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Interval {
    /// Its figures of latencies are set by [`Interval::summarise`].
    pub tick: Tick,
    pub late: u64,
    /// Those of replies that ended in it, to requests that count, and of requests that were given up in it. Only if intervals
    /// are kept there are others than latencies.
    pub times: Times,
}

impl Interval {
    /// Takes the figures of latencies from their distribution.
    pub(crate) fn summarise(&mut self) {
        if !self.times.latency.is_empty() {
            let all = self.times.latency.histogram();
            self.tick.p50_ns = all.value_at_quantile(0.5) as f64;
            self.tick.p99_ns = all.value_at_quantile(0.99) as f64;
            self.tick.max_ns = all.max() as f64;
        }
    }

    /// All of it, if it began at this time, and `after` came after it.
    pub(crate) fn outcome(&self, begun_s: f64, after: &Times) -> IntervalOutcome {
        let mut times = Times { latency: self.times.at_least(), ..self.times.clone() };
        times += after;
        IntervalOutcome {
            length_s: self.tick.at_s - begun_s,
            tick: self.tick,
            late: self.late,
            latency: times.latency.quantiles(),
            service: times.service.quantiles(),
        }
    }
}

impl AddAssign<&Interval> for Interval {
    fn add_assign(&mut self, more: &Interval) {
        let (tick, part) = (&mut self.tick, &more.tick);
        tick.at_s = tick.at_s.max(part.at_s);
        tick.requests += part.requests;
        tick.replies += part.replies;
        tick.bytes += part.bytes;
        tick.errors += part.errors;
        tick.under_way += part.under_way;
        self.late += more.late;
        self.times += &more.times;
    }
}

/// The intervals of all threads, added up as they arrive.
pub(crate) struct Series {
    interval_s: f64,
    threads: usize,
    /// Whether they are kept with their distributions.
    keeps: bool,
    /// Those that all threads have ended.
    pub ended: Vec<Interval>,
    /// The following ones, and how many threads have ended each.
    open: VecDeque<(usize, Interval)>,
    /// How many have been returned as final.
    final_count: usize,
}

impl Series {
    pub(crate) fn new(interval_s: f64, threads: usize, keeps: bool) -> Series {
        let (ended, open) = (Vec::new(), VecDeque::new());
        Series { interval_s, threads, keeps, ended, open, final_count: 0 }
    }

    /// Adds a thread's interval with its number; returns those that it completes.
    pub(crate) fn add(&mut self, number: usize, interval: Interval) -> &[Interval] {
        let at = number.saturating_sub(self.ended.len());
        while self.open.len() <= at {
            self.open.push_back((0, Interval::default()));
        }
        let (ended, sum) = &mut self.open[at];
        if *ended == 0 {
            *sum = interval;
        } else {
            *sum += &interval;
        }
        *ended += 1;
        let before = self.ended.len();
        while self.open.front().is_some_and(|(ended, _)| *ended == self.threads) {
            self.end_first();
        }
        &self.ended[before..]
    }

    /// The intervals that have become final since the last call. The newest one may be cut short by the end, and the one
    /// before it then has what came after it.
    pub(crate) fn final_outcomes(&mut self) -> impl Iterator<Item = IntervalOutcome> + use<'_> {
        let begin = self.final_count;
        if self.keeps {
            self.final_count = begin.max(self.ended.len().saturating_sub(2));
        }
        let outcome = |(interval, index): (&Interval, usize)| {
            interval.outcome(index as f64 * self.interval_s, &Times::default())
        };
        self.ended[begin..self.final_count].iter().zip(begin..).map(outcome)
    }

    /// Ends the intervals that are left; the last one ends with the load.
    pub(crate) fn finish(mut self, elapsed_s: f64) -> Vec<Interval> {
        while !self.open.is_empty() {
            self.end_first();
        }
        // An interval that begins where the load ends holds nothing.
        self.ended.truncate((elapsed_s / self.interval_s).ceil() as usize);
        if let Some(last) = self.ended.last_mut() {
            last.tick.at_s = last.tick.at_s.min(elapsed_s);
        }
        self.ended
    }

    fn end_first(&mut self) {
        let Some((_, mut interval)) = self.open.pop_front() else { return };
        interval.tick.at_s = (self.ended.len() + 1) as f64 * self.interval_s;
        interval.summarise();
        if self.keeps {
            interval.times.pack();
        } else {
            interval.times = Times::default();
        }
        self.ended.push(interval);
    }
}
