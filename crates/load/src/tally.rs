//! The counts of one worker, which no other thread writes.

use crate::outcome::{Closings, Errors, Kind};
use crate::plan::Plan;
use crate::reply::Whole;
use hdrhistogram::Histogram;
use std::sync::mpsc::Sender;

/// The longest time that a histogram distinguishes: an hour.
const TIME_NS_MAX: u64 = 3_600_000_000_000;

/// A distribution of times; three digits are kept.
pub(crate) fn histogram() -> Histogram<u64> {
    Histogram::new_with_bounds(1, TIME_NS_MAX, 3)
        .unwrap_or_else(|_| unreachable!("bounds that hold"))
}

/// A request in flight.
#[derive(Clone, Copy, Debug)]
pub(crate) struct InFlight {
    /// When it was due.
    pub intended_ns: i64,
    /// When it was sent.
    pub sent_ns: i64,
}

/// What happened in one interval of one thread.
#[derive(Debug, Default)]
pub(crate) struct Interval {
    pub index: u64,
    pub requests: u64,
    pub replies: u64,
    pub bytes: u64,
    pub errors: u64,
    pub under_way: u64,
    pub late: u64,
    /// Latencies of replies that ended in it, to requests that count; absent where there was none.
    pub latencies: Option<Histogram<u64>>,
    /// Their service times, if the intervals are kept; absent in a closed loop, where they would equal `latencies`.
    pub services: Option<Histogram<u64>>,
    /// How long the requests had waited that were given up in it, if the intervals are kept.
    pub given_up: Option<Histogram<u64>>,
}

/// What one thread counts.
#[derive(Debug)]
pub(crate) struct Tally {
    pub requests: u64,
    pub replies: u64,
    pub bytes: u64,
    pub connections: u64,
    pub statuses: [u64; 5],
    pub errors: Errors,
    pub closings: Closings,
    pub other_error: Option<String>,
    pub late: u64,
    pub late_max_ns: i64,
    pub waited: u64,
    pub unsent: u64,
    pub unfinished: u64,
    pub latency: Histogram<u64>,
    /// Empty in a closed loop, where it would equal `latency`.
    pub service: Histogram<u64>,
    pub connect: Histogram<u64>,
    /// How long the requests waited that were given up or never sent.
    pub given_up: Histogram<u64>,
    is_planned: bool,
    keeps_intervals: bool,
    interval: Interval,
    interval_ns: i64,
    /// The end of the warm-up, from which on requests count.
    zero_ns: i64,
    interval_end_ns: i64,
    /// Whether the intervals are still going on.
    in_time: bool,
    /// Dropped when the intervals end, which ends the receiver.
    sender: Option<Sender<Interval>>,
}

impl Tally {
    /// Counts nothing yet.
    pub(crate) fn new(plan: &Plan, sender: Sender<Interval>) -> Tally {
        Tally {
            requests: 0,
            replies: 0,
            bytes: 0,
            connections: 0,
            statuses: [0; 5],
            errors: Errors::default(),
            closings: Closings::default(),
            other_error: None,
            late: 0,
            late_max_ns: 0,
            waited: 0,
            unsent: 0,
            unfinished: 0,
            latency: histogram(),
            service: histogram(),
            connect: histogram(),
            given_up: histogram(),
            // Requests may then be sent later than intended.
            is_planned: plan.shape_is_planned(),
            keeps_intervals: plan.keeps_intervals,
            interval: Interval::default(),
            interval_ns: plan.interval.as_nanos() as i64,
            zero_ns: i64::MIN,
            interval_end_ns: i64::MAX,
            in_time: false,
            sender: Some(sender),
        }
    }

    /// Sets the end of the warm-up.
    pub(crate) fn begin(&mut self, zero_ns: i64) {
        self.zero_ns = zero_ns;
        self.interval_end_ns = zero_ns + self.interval_ns;
        self.in_time = true;
    }

    pub(crate) fn counts(&self, request: &InFlight) -> bool {
        request.intended_ns >= self.zero_ns
    }

    #[inline]
    pub(crate) fn sent(&mut self, request: &InFlight) {
        if self.counts(request) {
            self.requests += 1;
            self.interval.requests += 1;
        }
    }

    /// A request that is sent late by the generator's fault.
    pub(crate) fn late(&mut self, late_ns: i64) {
        self.late += 1;
        self.late_max_ns = self.late_max_ns.max(late_ns);
        self.interval.late += 1;
    }

    #[inline]
    pub(crate) fn reply(&mut self, request: &InFlight, whole: &Whole, now_ns: i64) {
        let latency_ns = (now_ns - request.intended_ns).max(1) as u64;
        let service_ns = (now_ns - request.sent_ns).max(1) as u64;
        let is_in_interval = self.in_time && now_ns >= self.zero_ns;
        if self.counts(request) {
            self.replies += 1;
            self.bytes += whole.bytes;
            self.statuses[usize::from(whole.status / 100).clamp(1, 5) - 1] += 1;
            self.latency.saturating_record(latency_ns);
            if self.is_planned {
                self.service.saturating_record(service_ns);
            }
            if is_in_interval {
                let latencies = self.interval.latencies.get_or_insert_with(histogram);
                latencies.saturating_record(latency_ns);
                if self.is_planned && self.keeps_intervals {
                    let services = self.interval.services.get_or_insert_with(histogram);
                    services.saturating_record(service_ns);
                }
            }
            if whole.status >= 400 {
                self.errors.count(Kind::Status);
                self.interval.errors += 1;
            }
        }
        if is_in_interval {
            self.interval.replies += 1;
            self.interval.bytes += whole.bytes;
        }
    }

    /// A request that was given up, or whose connection failed.
    pub(crate) fn lost(&mut self, request: &InFlight, kind: Kind, now_ns: i64) {
        if self.counts(request) {
            self.errors.count(kind);
            self.interval.errors += 1;
            self.gave_up(request.intended_ns, now_ns);
        }
    }

    /// A request that was due and has not been sent when the load is over.
    pub(crate) fn never_sent(&mut self, due_ns: i64, now_ns: i64) {
        if due_ns >= self.zero_ns {
            self.unsent += 1;
            self.gave_up(due_ns, now_ns);
        }
    }

    /// Records how long a request waited that gets no reply.
    pub(crate) fn gave_up(&mut self, intended_ns: i64, now_ns: i64) {
        if intended_ns >= self.zero_ns {
            let waited_ns = (now_ns - intended_ns).max(1) as u64;
            self.given_up.saturating_record(waited_ns);
            if self.in_time && self.keeps_intervals {
                let given_up = self.interval.given_up.get_or_insert_with(histogram);
                given_up.saturating_record(waited_ns);
            }
        }
    }

    /// A request that is in flight when the load is over.
    pub(crate) fn unfinished(&mut self, request: &InFlight, now_ns: i64) {
        if self.counts(request) {
            self.unfinished += 1;
            self.gave_up(request.intended_ns, now_ns);
        }
    }

    /// A connection that failed without a request in flight.
    pub(crate) fn failed(&mut self, kind: Kind, now_ns: i64) {
        if now_ns >= self.zero_ns || !self.in_time {
            self.errors.count(kind);
            self.interval.errors += u64::from(self.in_time);
        }
    }

    /// Sends every interval that has ended by now.
    #[inline]
    pub(crate) fn roll(&mut self, now_ns: i64, under_way: usize) {
        while now_ns >= self.interval_end_ns {
            self.send_interval(under_way);
            self.interval_end_ns += self.interval_ns;
        }
    }

    /// When the interval ends that goes on now.
    pub(crate) fn interval_end_ns(&self) -> i64 {
        self.interval_end_ns
    }

    /// Ends the last interval, whole or not; later events are in none.
    pub(crate) fn end(&mut self, now_ns: i64, under_way: usize) {
        self.roll(now_ns, under_way);
        if self.in_time {
            self.send_interval(under_way);
        }
        self.in_time = false;
        self.interval_end_ns = i64::MAX;
        self.sender = None;
    }

    fn send_interval(&mut self, under_way: usize) {
        let next = Interval { index: self.interval.index + 1, ..Interval::default() };
        let mut interval = std::mem::replace(&mut self.interval, next);
        interval.under_way = under_way as u64;
        if let Some(sender) = &self.sender {
            // A receiver that has gone needs no intervals.
            let _ = sender.send(interval);
        }
    }
}
