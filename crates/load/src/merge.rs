//! Adds up the counts of all threads.

use crate::outcome::{Outcome, Quantiles, Rates, Tick};
use crate::tally::{Interval, histogram};
use crate::worker::Measured;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use hdrhistogram::Histogram;
use hdrhistogram::serialization::{Serializer, V2DeflateSerializer};
use std::collections::VecDeque;

/// The intervals of all threads, added up as they arrive.
pub(crate) struct Series {
    interval_s: f64,
    threads: usize,
    /// Intervals that not all threads have ended; the first has the number of `ticks`.
    open: VecDeque<(usize, Interval)>,
    pub ticks: Vec<Tick>,
}

impl Series {
    pub(crate) fn new(interval_s: f64, threads: usize) -> Series {
        Series { interval_s, threads, open: VecDeque::new(), ticks: Vec::new() }
    }

    /// Adds a thread's interval; returns how many intervals it completes.
    pub(crate) fn add(&mut self, interval: Interval) -> usize {
        let at = (interval.index as usize).saturating_sub(self.ticks.len());
        while self.open.len() <= at {
            self.open.push_back((0, Interval::default()));
        }
        let (ended, sum) = &mut self.open[at];
        *ended += 1;
        sum.requests += interval.requests;
        sum.replies += interval.replies;
        sum.bytes += interval.bytes;
        sum.errors += interval.errors;
        sum.under_way += interval.under_way;
        match (&mut sum.latencies, interval.latencies) {
            (Some(all), Some(these)) => add(all, &these),
            (all, these) => *all = all.take().or(these),
        }
        let before = self.ticks.len();
        while self.open.front().is_some_and(|(ended, _)| *ended == self.threads) {
            self.end_first();
        }
        self.ticks.len() - before
    }

    /// Ends the intervals that are left; the last one ends with the load.
    pub(crate) fn finish(&mut self, elapsed_s: f64) {
        while !self.open.is_empty() {
            self.end_first();
        }
        // An interval that begins where the load ends holds nothing.
        let begun = (elapsed_s / self.interval_s).ceil() as usize;
        self.ticks.truncate(begun);
        if let Some(last) = self.ticks.last_mut() {
            last.at_s = last.at_s.min(elapsed_s);
        }
    }

    fn end_first(&mut self) {
        let Some((_, interval)) = self.open.pop_front() else { return };
        let at = |quantile: f64| {
            interval.latencies.as_ref().map_or(0.0, |all| all.value_at_quantile(quantile) as f64)
        };
        self.ticks.push(Tick {
            at_s: (self.ticks.len() + 1) as f64 * self.interval_s,
            requests: interval.requests,
            replies: interval.replies,
            bytes: interval.bytes,
            errors: interval.errors,
            under_way: interval.under_way,
            p50_ns: at(0.5),
            p99_ns: at(0.99),
            max_ns: interval.latencies.as_ref().map_or(0.0, |all| all.max() as f64),
        });
    }

    /// Replies a second over the whole intervals.
    fn rates(&self, elapsed_s: f64) -> Rates {
        let whole =
            self.ticks.iter().enumerate().filter(|(index, _)| {
                (index + 1) as f64 * self.interval_s <= elapsed_s * (1.0 + 1e-9)
            });
        let rates: Vec<f64> =
            whole.map(|(_, tick)| tick.replies as f64 / self.interval_s).collect();
        rates_of(&rates, self.interval_s)
    }
}

fn rates_of(rates: &[f64], interval_s: f64) -> Rates {
    if rates.is_empty() {
        return Rates { interval_s, ..Rates::default() };
    }
    let count = rates.len() as f64;
    let avg = rates.iter().sum::<f64>() / count;
    let squares = rates.iter().map(|rate| (rate - avg).powi(2)).sum::<f64>();
    Rates {
        interval_s,
        samples: rates.len() as u64,
        min: rates.iter().copied().fold(f64::INFINITY, f64::min),
        avg,
        max: rates.iter().copied().fold(0.0, f64::max),
        stddev: if rates.len() > 1 { (squares / (count - 1.0)).sqrt() } else { 0.0 },
    }
}

/// The outcome of a load, from the counts of its threads.
pub(crate) fn outcome(workers: &[Measured], mut series: Series, is_planned: bool) -> Outcome {
    let elapsed_ns = workers.iter().map(|worker| worker.elapsed_ns).max().unwrap_or(0);
    let elapsed_s = elapsed_ns as f64 / 1e9;
    series.finish(elapsed_s);
    let mut sum = Outcome { elapsed_s, reply_rate: series.rates(elapsed_s), ..Outcome::default() };
    let mut all = [histogram(), histogram(), histogram(), histogram()];
    for worker in workers {
        count(&mut sum, worker);
        let tally = &worker.tally;
        let parts = [&tally.latency, &tally.service, &tally.connect, &tally.given_up];
        all.iter_mut().zip(parts).for_each(|(all, part)| add(all, part));
    }
    let [latency, service, connect, mut at_least] = all;
    sum.latency = quantiles(&latency);
    sum.service = if is_planned { quantiles(&service) } else { sum.latency.clone() };
    sum.connect = quantiles(&connect);
    if !at_least.is_empty() {
        add(&mut at_least, &latency);
        sum.latency_at_least = Some(quantiles(&at_least));
    }
    sum.series = series.ticks;
    sum
}

fn count(sum: &mut Outcome, worker: &Measured) {
    let tally = &worker.tally;
    sum.requests += tally.requests;
    sum.replies += tally.replies;
    sum.bytes += tally.bytes;
    sum.connections += tally.connections;
    sum.statuses.iter_mut().zip(tally.statuses).for_each(|(sum, count)| *sum += count);
    sum.errors.add(&tally.errors);
    sum.closings.add(&tally.closings);
    sum.other_error = sum.other_error.take().or_else(|| tally.other_error.clone());
    sum.late += tally.late;
    sum.late_max_ns = sum.late_max_ns.max(tally.late_max_ns as f64);
    sum.waited += tally.waited;
    sum.unsent += tally.unsent;
    sum.unfinished += tally.unfinished;
    sum.stopped |= worker.stopped;
    sum.user_ns += worker.user_ns;
    sum.system_ns += worker.system_ns;
    if worker.elapsed_ns > 0 {
        let busy = (worker.user_ns + worker.system_ns) as f64 / worker.elapsed_ns as f64;
        sum.busy_share = sum.busy_share.max(busy);
    }
}

fn add(sum: &mut Histogram<u64>, part: &Histogram<u64>) {
    // All have the same bounds, so this can't fail.
    let _ = sum.add(part);
}

pub(crate) fn quantiles(histogram: &Histogram<u64>) -> Quantiles {
    if histogram.is_empty() {
        return Quantiles::default();
    }
    let at = |quantile: f64| histogram.value_at_quantile(quantile) as f64;
    Quantiles {
        count: histogram.len(),
        min: histogram.min() as f64,
        mean: histogram.mean(),
        stddev: histogram.stdev(),
        p50: at(0.5),
        p90: at(0.9),
        p99: at(0.99),
        p99_9: at(0.999),
        max: histogram.max() as f64,
        histogram: encode(histogram),
    }
}

fn encode(histogram: &Histogram<u64>) -> String {
    let mut bytes = Vec::new();
    // Writing to memory does not fail.
    let _ = V2DeflateSerializer::new().serialize(histogram, &mut bytes);
    STANDARD.encode(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn interval(index: u64, replies: u64) -> Interval {
        let mut latencies = histogram();
        latencies.saturating_record_n(1_000 * (index + 1), replies.max(1));
        Interval {
            index,
            replies,
            requests: replies,
            latencies: Some(latencies),
            ..Interval::default()
        }
    }

    #[test]
    fn intervals_are_whole_when_every_thread_has_ended_them() {
        let mut series = Series::new(0.5, 2);
        assert_eq!(series.add(interval(0, 10)), 0);
        assert_eq!(series.add(interval(1, 20)), 0);
        assert_eq!(series.add(interval(0, 1)), 1);
        assert_eq!(series.add(interval(2, 5)), 0);
        assert_eq!(series.add(interval(1, 2)), 1);
        // The third is cut short by the end, and a fourth would begin there.
        series.add(interval(3, 0));
        series.finish(1.2);
        let ticks: Vec<(f64, u64)> =
            series.ticks.iter().map(|tick| (tick.at_s, tick.replies)).collect();
        assert_eq!(ticks, [(0.5, 11), (1.0, 22), (1.2, 5)]);
        // Only whole ones are samples of the rate: 22 and 44 a second.
        let rates = series.rates(1.2);
        assert_eq!((rates.samples, rates.min as u64, rates.max as u64), (2, 22, 44));
    }

    #[test]
    fn rates_have_the_mean_and_the_deviation_of_their_samples() {
        let rates = rates_of(&[2.0, 4.0, 4.0, 4.0, 5.0, 5.0, 7.0, 9.0], 5.0);
        assert_eq!((rates.samples, rates.min as u64, rates.max as u64), (8, 2, 9));
        assert!((rates.avg - 5.0).abs() < 1e-12);
        // 32 over 7: a sample's variance.
        assert!((rates.stddev.powi(2) - 32.0 / 7.0).abs() < 1e-12, "{}", rates.stddev);
        assert_eq!(rates_of(&[], 5.0).samples, 0);
    }
}
