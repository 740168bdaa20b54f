//! Sums of threads, processes and intervals.

use super::distribution::{Distribution, Quantiles};
use super::interval::{Interval, IntervalOutcome, Series};
use super::outcome::{Outcome, Rates};
use super::part::Part;
use crate::http::reply::{ReplyHead, Whole};
use crate::plan::{Arrivals, Plan, Shape, Target};
use crate::results::counts::Kind;
use crate::worker::tally::{InFlight, Tally};
use serde_json::json;
use std::time::Duration;

fn interval(replies: u64) -> Interval {
    let mut interval = Interval::default();
    interval.times.latency.record(1_000);
    (interval.tick.requests, interval.tick.replies) = (replies, replies);
    interval
}

#[test]
fn intervals_are_whole_when_every_thread_has_ended_them() {
    let mut series = Series::new(0.5, 2, false);
    for (number, replies, completed) in
        [(0, 10, 0), (1, 20, 0), (0, 1, 1), (2, 5, 0), (1, 2, 1), (3, 0, 0)]
    {
        assert_eq!(series.add(number, interval(replies)).len(), completed);
    }
    // The third is cut short by the end, and a fourth would begin there.
    let mut part = Part::new(&plan());
    (part.elapsed_ns, part.intervals) = (1_200_000_000, series.finish(1.2));
    let outcome = part.outcome();
    let ticks: Vec<(f64, u64)> =
        outcome.series.iter().map(|tick| (tick.at_s, tick.replies)).collect();
    assert_eq!(ticks, [(0.5, 11), (1.0, 22), (1.2, 5)]);
    // Only whole ones are samples of the rate: 22 and 44 a second.
    let rates: Rates = outcome.reply_rate;
    assert_eq!((rates.samples, rates.min as u64, rates.max as u64), (2, 22, 44));
}

/// What a worker measured in two whole intervals of 0.5 s, and 0.2 s more; the replies took `base_ns` and more.
fn measured(base_ns: u64, series: &mut Series) -> Part {
    let (sender, receiver) = std::sync::mpsc::channel();
    let mut tally = Tally::new(&plan(), sender);
    tally.begin(0);
    let head = ReplyHead::parse(b"HTTP/1.1 204 X\r\n\r\n").unwrap();
    let whole = Whole { used: 10, bytes: 10, head };
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
        tally.reply(&request, &whole, true, now_ns + took_ns);
    }
    for (number, interval) in receiver.try_iter() {
        series.add(number, interval);
    }
    let mut part = tally.part;
    (part.elapsed_ns, part.start_late_ns) = (1_200_000_000, base_ns);
    (part.counts.user_ns, part.counts.busy_share) = (base_ns, base_ns as f64 / 1.2e9);
    part
}

const HALF: Duration = Duration::from_millis(500);

fn plan() -> Plan {
    let target = Target::new(crate::Address::Tcp(([127, 0, 0, 1], 80).into()), "h", "/");
    Plan {
        shape: Shape::Open(Arrivals::Constant { per_s: 10.0 }),
        keeps_intervals: true,
        interval: HALF,
        ..Plan::new(target)
    }
}

/// The part of one process, with workers of these times.
fn part_of(bases: &[u64]) -> Part {
    let mut series = Series::new(0.5, bases.len(), true);
    let mut sum = Part::new(&plan());
    for &base in bases {
        sum += &measured(base, &mut series);
    }
    sum.intervals = series.finish(sum.elapsed_s());
    sum
}

#[test]
fn the_distributions_of_all_intervals_add_up_to_those_of_the_load() {
    let outcome = part_of(&[1_000, 70_000]).outcome();
    let lengths: Vec<f64> = outcome.intervals.iter().map(|interval| interval.length_s).collect();
    assert_eq!(lengths, [0.5, 0.5], "what the end cuts short is no interval of its own");
    let at_least = outcome.latency_at_least.as_ref().unwrap();
    for (whole, quantiles_in) in [
        (at_least, (|interval| &interval.latency) as fn(&IntervalOutcome) -> &Quantiles),
        (&outcome.service, |interval| &interval.service),
    ] {
        let mut all = Distribution::default();
        for interval in &outcome.intervals {
            all += &serde_json::from_value(json!(quantiles_in(interval).histogram)).unwrap();
        }
        assert_eq!(all.quantiles().count, whole.count);
        assert_eq!(all.quantiles().histogram, whole.histogram);
    }
    assert_eq!((at_least.count, outcome.latency.count), (26, 24));
    assert_eq!((outcome.intervals[0].tick.replies, outcome.intervals[0].latency.count), (8, 10));
}

/// Four threads are the same as four processes of one, which come as text.
#[test]
fn what_processes_measured_adds_up_as_what_threads_measured_does() {
    let bases = [1_000, 70_000, 9_000_000, 3_000];
    let process = part_of(&bases);
    let mut parts = bases.iter().map(|&base| {
        let text = serde_json::to_string(&part_of(&[base])).unwrap();
        let part: Part = serde_json::from_str(&text).unwrap();
        part
    });
    let mut together = parts.next().unwrap();
    parts.for_each(|part| together += &part);
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
    let text = serde_json::to_string(&part_of(&[1_000])).unwrap();
    // That of the whole is the first, and that of the last interval the last one.
    let (first, last) = (text.find("\"latency\":\"H"), text.rfind("\"latency\":\"H"));
    assert!(first < last && last < text.rfind(']'));
    for at in [first, last] {
        let at = at.unwrap() + "\"latency\":\"".len();
        let damaged = [&text[..at], "I", &text[at + 1..]].concat();
        assert!(serde_json::from_str::<Part>(&damaged).is_err());
    }
}
