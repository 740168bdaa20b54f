//! Adds up the counts of all threads, and of all processes of a load.

use crate::outcome::{IntervalOutcome, Outcome, Quantiles, Rates, Tick};
use crate::packed::{self, decode, encode};
use crate::tally::{Interval, histogram};
use crate::worker::Measured;
use hdrhistogram::Histogram;
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;

/// What a process of a load measured, in a form that adds up: the counts of its threads, and those of all
/// processes, come to one [`Outcome`].
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Part {
    /// How long the slowest of its threads sent, in nanoseconds: without warm-up.
    pub elapsed_ns: i64,
    /// How long after the agreed start its last thread began, in nanoseconds.
    pub start_late_ns: u64,
    /// The length of an interval.
    interval_s: f64,
    /// Whether requests have intended times.
    is_planned: bool,
    /// Whether intervals are kept with their histograms.
    keeps_intervals: bool,
    /// The counts: their distributions, rates and intervals are below.
    pub counts: Outcome,
    #[serde(with = "packed")]
    latency: Histogram<u64>,
    #[serde(with = "packed")]
    service: Histogram<u64>,
    #[serde(with = "packed")]
    connect: Histogram<u64>,
    #[serde(with = "packed")]
    given_up: Histogram<u64>,
    intervals: Vec<KeptInterval>,
}

/// An interval of a load with its distributions, which take kilobytes as text and hundreds of them in memory.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
struct KeptInterval {
    tick: Tick,
    late: u64,
    /// Empty where there is none.
    latency: String,
    service: String,
    given_up: String,
}

/// The intervals of all threads, added up as they arrive.
pub(crate) struct Series {
    interval_s: f64,
    threads: usize,
    keeps_intervals: bool,
    /// Intervals that not all threads have ended; the first has the number of `ticks`.
    open: VecDeque<(usize, Interval)>,
    pub ticks: Vec<Tick>,
    /// As many as `ticks`, if they are kept.
    kept: Vec<KeptInterval>,
    /// How many of them have been returned as final.
    final_count: usize,
}

impl Series {
    pub(crate) fn new(interval_s: f64, threads: usize, keeps_intervals: bool) -> Series {
        let (open, ticks, kept) = (VecDeque::new(), Vec::new(), Vec::new());
        Series { interval_s, threads, keeps_intervals, open, ticks, kept, final_count: 0 }
    }

    /// The intervals that have become final since the last call. The newest one may be cut short by the end, and the one
    /// before it then has what came after it.
    pub(crate) fn final_outcomes(&mut self) -> impl Iterator<Item = IntervalOutcome> + use<'_> {
        let begin = self.final_count;
        self.final_count = begin.max(self.kept.len().saturating_sub(2));
        let kept = self.kept[begin..self.final_count].iter().zip(begin..);
        kept.map(|(kept, index)| {
            let (latency, service) = kept.distributions();
            kept.outcome(index as f64 * self.interval_s, &latency, &service)
        })
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
        sum.late += interval.late;
        sum.under_way += interval.under_way;
        add_some(&mut sum.latencies, interval.latencies);
        add_some(&mut sum.services, interval.services);
        add_some(&mut sum.given_up, interval.given_up);
        let before = self.ticks.len();
        while self.open.front().is_some_and(|(ended, _)| *ended == self.threads) {
            self.end_first();
        }
        self.ticks.len() - before
    }

    /// Ends the intervals that are left; the last one ends with the load.
    fn finish(&mut self, elapsed_s: f64) {
        while !self.open.is_empty() {
            self.end_first();
        }
        // An interval that begins where the load ends holds nothing.
        let begun = (elapsed_s / self.interval_s).ceil() as usize;
        self.ticks.truncate(begun);
        self.kept.truncate(begun);
        let kept = self.kept.last_mut().map(|kept| &mut kept.tick);
        for last in self.ticks.last_mut().into_iter().chain(kept) {
            last.at_s = last.at_s.min(elapsed_s);
        }
    }

    fn end_first(&mut self) {
        let Some((_, interval)) = self.open.pop_front() else { return };
        let mut tick = Tick {
            at_s: (self.ticks.len() + 1) as f64 * self.interval_s,
            requests: interval.requests,
            replies: interval.replies,
            bytes: interval.bytes,
            errors: interval.errors,
            under_way: interval.under_way,
            ..Tick::default()
        };
        tick.set_latencies(interval.latencies.as_ref());
        if self.keeps_intervals {
            self.kept.push(KeptInterval {
                tick,
                late: interval.late,
                latency: interval.latencies.as_ref().map(encode).unwrap_or_default(),
                service: interval.services.as_ref().map(encode).unwrap_or_default(),
                given_up: interval.given_up.as_ref().map(encode).unwrap_or_default(),
            });
        }
        self.ticks.push(tick);
    }
}

impl Tick {
    fn set_latencies(&mut self, latencies: Option<&Histogram<u64>>) {
        let Some(all) = latencies else { return };
        self.p50_ns = all.value_at_quantile(0.5) as f64;
        self.p99_ns = all.value_at_quantile(0.99) as f64;
        self.max_ns = all.max() as f64;
    }
}

/// Replies a second over the whole intervals.
fn rates(ticks: &[Tick], interval_s: f64, elapsed_s: f64) -> Rates {
    let whole = &ticks[..whole_intervals(ticks.len(), interval_s, elapsed_s)];
    let rates: Vec<f64> = whole.iter().map(|tick| tick.replies as f64 / interval_s).collect();
    rates_of(&rates, interval_s)
}

/// How many of so many intervals are not cut short by the end of the load.
fn whole_intervals(intervals: usize, interval_s: f64, elapsed_s: f64) -> usize {
    let is_whole = |index: &usize| (index + 1) as f64 * interval_s <= elapsed_s * (1.0 + 1e-9);
    (0..intervals).take_while(is_whole).count()
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

/// What the threads of a process measured.
pub(crate) fn part(workers: &[Measured], mut series: Series, is_planned: bool) -> Part {
    let elapsed_ns = workers.iter().map(|worker| worker.elapsed_ns).max().unwrap_or(0);
    series.finish(elapsed_ns as f64 / 1e9);
    let mut part = Part {
        elapsed_ns,
        start_late_ns: workers.iter().map(|worker| worker.start_late_ns).max().unwrap_or(0),
        interval_s: series.interval_s,
        is_planned,
        keeps_intervals: series.keeps_intervals,
        counts: Outcome { series: series.ticks, ..Outcome::default() },
        latency: histogram(),
        service: histogram(),
        connect: histogram(),
        given_up: histogram(),
        intervals: series.kept,
    };
    for worker in workers {
        count(&mut part.counts, worker);
        let tally = &worker.tally;
        add(&mut part.latency, &tally.latency);
        add(&mut part.service, &tally.service);
        add(&mut part.connect, &tally.connect);
        add(&mut part.given_up, &tally.given_up);
    }
    part
}

impl Part {
    /// Adds what another process measured of the same load.
    pub fn add(&mut self, more: &Part) {
        let at_once = self.elapsed_ns.max(more.elapsed_ns);
        self.elapsed_ns = at_once;
        self.start_late_ns = self.start_late_ns.max(more.start_late_ns);
        self.counts.add(&more.counts);
        add(&mut self.latency, &more.latency);
        add(&mut self.service, &more.service);
        add(&mut self.connect, &more.connect);
        add(&mut self.given_up, &more.given_up);
        if self.intervals.len() < more.intervals.len() {
            self.intervals.resize_with(more.intervals.len(), KeptInterval::default);
        }
        for (sum, part) in self.intervals.iter_mut().zip(&more.intervals) {
            sum.add(part);
        }
        // The quantiles of sums come from the histograms: those of an interval are not in its figures.
        self.counts.series = self.intervals.iter().map(|interval| interval.tick).collect();
    }

    /// All of it, with distributions and rates.
    pub fn outcome(&self) -> Outcome {
        let elapsed_s = self.elapsed_ns as f64 / 1e9;
        let mut sum = self.counts.clone();
        sum.elapsed_s = elapsed_s;
        sum.reply_rate = rates(&sum.series, self.interval_s, elapsed_s);
        sum.latency = quantiles(&self.latency);
        sum.service = if self.is_planned { quantiles(&self.service) } else { sum.latency.clone() };
        sum.connect = quantiles(&self.connect);
        if !self.given_up.is_empty() {
            sum.latency_at_least = Some(quantiles(&self.at_least()));
        }
        if self.keeps_intervals {
            sum.intervals = self.interval_outcomes(elapsed_s);
        }
        sum
    }

    /// The latencies, with the waits of requests that were given up or never sent.
    fn at_least(&self) -> Histogram<u64> {
        let mut all = self.latency.clone();
        add(&mut all, &self.given_up);
        all
    }

    /// The whole intervals. The last one has also what came after it: of an interval that the end cut short, and the
    /// replies that were waited for. So the distributions of all intervals add up to those of the load.
    fn interval_outcomes(&self, elapsed_s: f64) -> Vec<IntervalOutcome> {
        let whole = whole_intervals(self.intervals.len(), self.interval_s, elapsed_s);
        let whole = whole.max(usize::from(!self.intervals.is_empty()));
        let mut latency_rest = self.at_least();
        let mut service_rest = self.service.clone();
        let mut all = Vec::new();
        for (index, kept) in self.intervals[..whole].iter().enumerate() {
            let (mut latency, mut service) = kept.distributions();
            // What an interval has, the whole has.
            let _ = latency_rest.subtract(&latency);
            let _ = service_rest.subtract(&service);
            if index + 1 == whole {
                add(&mut latency, &latency_rest);
                add(&mut service, &service_rest);
            }
            let begun_s = index as f64 * self.interval_s;
            all.push(kept.outcome(begun_s, &latency, &service));
        }
        all
    }
}

impl KeptInterval {
    /// Its latencies, with the waits of requests that were given up, and its service times.
    fn distributions(&self) -> (Histogram<u64>, Histogram<u64>) {
        let mut latency = decoded(&self.latency);
        add(&mut latency, &decoded(&self.given_up));
        (latency, decoded(&self.service))
    }

    /// Its figures with these distributions, if it began at this time.
    fn outcome(
        &self,
        begun_s: f64,
        latency: &Histogram<u64>,
        service: &Histogram<u64>,
    ) -> IntervalOutcome {
        IntervalOutcome {
            length_s: self.tick.at_s - begun_s,
            requests: self.tick.requests,
            replies: self.tick.replies,
            errors: self.tick.errors,
            late: self.late,
            latency: quantiles(latency),
            service: quantiles(service),
        }
    }

    fn add(&mut self, more: &KeptInterval) {
        let (tick, part) = (&mut self.tick, &more.tick);
        tick.at_s = tick.at_s.max(part.at_s);
        tick.requests += part.requests;
        tick.replies += part.replies;
        tick.bytes += part.bytes;
        tick.errors += part.errors;
        tick.under_way += part.under_way;
        self.late += more.late;
        let latencies = added(&mut self.latency, &more.latency);
        self.tick.set_latencies(latencies.as_ref());
        added(&mut self.service, &more.service);
        added(&mut self.given_up, &more.given_up);
    }
}

/// Adds one packed distribution to another, and returns the sum; none where there is nothing in it.
fn added(sum: &mut String, part: &str) -> Option<Histogram<u64>> {
    if sum.is_empty() && part.is_empty() {
        return None;
    }
    let mut all = decoded(sum);
    if !part.is_empty() {
        add(&mut all, &decoded(part));
        *sum = encode(&all);
    }
    Some(all)
}

/// The distribution of an interval; an empty one where there is none. A part that has been read holds no other: see
/// [`Part::check`].
fn decoded(packed: &str) -> Histogram<u64> {
    if packed.is_empty() { histogram() } else { decode(packed).unwrap_or_else(|_| histogram()) }
}

impl Part {
    /// Checks the distributions of a part that came from elsewhere.
    ///
    /// # Errors
    /// What is wrong with one of them.
    pub fn check(&self) -> Result<(), String> {
        let packed =
            self.intervals.iter().flat_map(|kept| [&kept.latency, &kept.service, &kept.given_up]);
        packed.filter(|text| !text.is_empty()).try_for_each(|text| decode(text).map(drop))
    }
}

fn count(sum: &mut Outcome, worker: &Measured) {
    let tally = &worker.tally;
    let busy_share = if worker.elapsed_ns > 0 {
        (worker.user_ns + worker.system_ns) as f64 / worker.elapsed_ns as f64
    } else {
        0.0
    };
    sum.add(&Outcome {
        requests: tally.requests,
        replies: tally.replies,
        bytes: tally.bytes,
        connections: tally.connections,
        statuses: tally.statuses,
        errors: tally.errors,
        closings: tally.closings,
        other_error: tally.other_error.clone(),
        late: tally.late,
        late_max_ns: tally.late_max_ns as f64,
        waited: tally.waited,
        unsent: tally.unsent,
        unfinished: tally.unfinished,
        stopped: worker.stopped,
        user_ns: worker.user_ns,
        system_ns: worker.system_ns,
        busy_share,
        ..Outcome::default()
    });
}

impl Outcome {
    /// Adds the counts of another thread or process; distributions, rates and intervals are not counts.
    fn add(&mut self, more: &Outcome) {
        self.requests += more.requests;
        self.replies += more.replies;
        self.bytes += more.bytes;
        self.connections += more.connections;
        self.statuses.iter_mut().zip(more.statuses).for_each(|(sum, count)| *sum += count);
        self.errors.add(&more.errors);
        self.closings.add(&more.closings);
        self.other_error = self.other_error.take().or_else(|| more.other_error.clone());
        self.late += more.late;
        self.late_max_ns = self.late_max_ns.max(more.late_max_ns);
        self.waited += more.waited;
        self.unsent += more.unsent;
        self.unfinished += more.unfinished;
        self.stopped |= more.stopped;
        self.user_ns += more.user_ns;
        self.system_ns += more.system_ns;
        self.busy_share = self.busy_share.max(more.busy_share);
    }
}

fn add_some(sum: &mut Option<Histogram<u64>>, part: Option<Histogram<u64>>) {
    match (sum, part) {
        (Some(all), Some(these)) => add(all, &these),
        (all, these) => *all = all.take().or(these),
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::outcome::Kind;
    use crate::plan::{Arrivals, Plan, Shape, Target};
    use crate::reply::Whole;
    use crate::tally::{InFlight, Tally};
    use serde_json::json;
    use std::time::Duration;

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
        let mut series = Series::new(0.5, 2, false);
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
        let rates = super::rates(&series.ticks, 0.5, 1.2);
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

    /// What a worker measured in two whole intervals of 0.5 s, and 0.2 s more; the replies took `base_ns` and more.
    fn measured(base_ns: u64, series: &mut Series) -> Measured {
        let (sender, receiver) = std::sync::mpsc::channel();
        let plan = Plan { keeps_intervals: true, interval: HALF, ..plan() };
        let mut tally = Tally::new(&plan, sender);
        tally.begin(0);
        let whole = Whole {
            used: 10,
            status: 200,
            keep: true,
            is_http_10: false,
            bytes: 10,
            head_bytes: 10,
            is_chunked: false,
        };
        for n in 0..13 {
            let now_ns = n * 100_000_000;
            tally.roll(now_ns, 1);
            if now_ns == 1_200_000_000 {
                // This one is waited for after the end.
                tally.end(now_ns, 1);
            }
            let took_ns = base_ns.cast_signed() * (n + 1);
            let request = InFlight { intended_ns: now_ns, sent_ns: now_ns + took_ns / 2 };
            tally.sent(&request);
            if n == 3 {
                tally.lost(&request, Kind::Timeout, now_ns + 9 * took_ns);
                continue;
            }
            tally.reply(&request, &whole, now_ns + took_ns);
        }
        for interval in receiver.try_iter() {
            series.add(interval);
        }
        let elapsed_ns = 1_200_000_000;
        let (user_ns, system_ns, start_late_ns) = (base_ns, 0, base_ns);
        Measured { tally, elapsed_ns, start_late_ns, user_ns, system_ns, stopped: false }
    }

    const HALF: Duration = Duration::from_millis(500);

    fn plan() -> Plan {
        let target =
            Target { address: ([127, 0, 0, 1], 80).into(), host: "h".into(), path: "/".into() };
        Plan { shape: Shape::Open(Arrivals::Constant { per_s: 10.0 }), ..Plan::new(target) }
    }

    /// The part of one process, with workers of these times.
    fn part_of(bases: &[u64]) -> Part {
        let mut series = Series::new(0.5, bases.len(), true);
        let workers: Vec<Measured> =
            bases.iter().map(|&base| measured(base, &mut series)).collect();
        part(&workers, series, true)
    }

    #[test]
    fn the_distributions_of_all_intervals_add_up_to_those_of_the_load() {
        let outcome = part_of(&[1_000, 70_000]).outcome();
        let lengths: Vec<f64> =
            outcome.intervals.iter().map(|interval| interval.length_s).collect();
        assert_eq!(lengths, [0.5, 0.5], "what the end cuts short is no interval of its own");
        let at_least = outcome.latency_at_least.as_ref().unwrap();
        for (whole, quantiles_in) in [
            (at_least, (|interval| &interval.latency) as fn(&IntervalOutcome) -> &Quantiles),
            (&outcome.service, |interval| &interval.service),
        ] {
            let mut all = histogram();
            for interval in &outcome.intervals {
                add(&mut all, &decode(&quantiles_in(interval).histogram).unwrap());
            }
            assert_eq!(all.len(), whole.count);
            assert_eq!(quantiles(&all).histogram, whole.histogram);
        }
        assert_eq!((at_least.count, outcome.latency.count), (26, 24));
        assert_eq!((outcome.intervals[0].replies, outcome.intervals[0].latency.count), (8, 10));
    }

    /// Four threads are the same as four processes of one, which come as text.
    #[test]
    fn what_processes_measured_adds_up_as_what_threads_measured_does() {
        let bases = [1_000, 70_000, 9_000_000, 3_000];
        let process = part_of(&bases);
        let mut parts = bases.iter().map(|&base| {
            let text = serde_json::to_string(&part_of(&[base])).unwrap();
            let part: Part = serde_json::from_str(&text).unwrap();
            part.check().unwrap();
            part
        });
        let mut together = parts.next().unwrap();
        parts.for_each(|part| together.add(&part));
        let (process, together) = (process.outcome(), together.outcome());
        assert_eq!(json!(together.latency)["histogram"], json!(process.latency)["histogram"]);
        let counts = |outcome: &Outcome| {
            let mut all = json!(outcome);
            // Of a histogram that was text, the extremes are known as finely as all else.
            for key in ["latency", "latency_at_least", "service", "connect", "series"] {
                all.as_object_mut().unwrap().remove(key);
            }
            all
        };
        assert_eq!(counts(&together), counts(&process));
        for (merged, tick) in together.series.iter().zip(&process.series) {
            assert_eq!((merged.replies, merged.at_s), (tick.replies, tick.at_s));
            assert!((merged.p99_ns / tick.p99_ns - 1.0).abs() < 2e-3);
        }
        assert_eq!(together.intervals.len(), process.intervals.len());
        assert_eq!(together.intervals[1].latency.count, 32);
    }

    #[test]
    fn a_part_with_a_damaged_histogram_is_refused() {
        let mut part = part_of(&[1_000]);
        part.intervals[0].latency = "AAAA".into();
        assert!(part.check().is_err());
        let text = serde_json::to_string(&part_of(&[1_000])).unwrap();
        let damaged = text.replacen("\"latency\":\"H", "\"latency\":\"I", 1);
        assert!(damaged != text && serde_json::from_str::<Part>(&damaged).is_err());
    }
}
