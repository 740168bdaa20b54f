//! The counts of one worker, which no other thread writes.

use crate::http::reply::Whole;
use crate::plan::Plan;
use crate::results::counts::Kind;
use crate::results::interval::Interval;
use crate::results::part::Part;
use std::sync::mpsc::Sender;

#[derive(Clone, Copy, Debug)]
pub(crate) struct InFlight {
    /// When it was due.
    pub intended_ns: i64,
    /// When it was sent.
    pub sent_ns: i64,
}

#[derive(Debug)]
pub(crate) struct Tally {
    /// What it measured so far.
    pub part: Part,
    interval: Interval,
    interval_number: usize,
    interval_ns: i64,
    /// The end of the warm-up, from which on requests count.
    zero_ns: i64,
    /// When the interval ends that goes on now.
    pub(crate) interval_end_ns: i64,
    /// Whether the intervals are still going on.
    in_time: bool,
    /// Dropped when the intervals end, which ends the receiver.
    sender: Option<Sender<(usize, Interval)>>,
}

impl Tally {
    pub(crate) fn new(plan: &Plan, sender: Sender<(usize, Interval)>) -> Tally {
        Tally {
            part: Part::new(plan),
            interval: Interval::default(),
            interval_number: 0,
            interval_ns: plan.interval.as_nanos() as i64,
            zero_ns: i64::MIN,
            interval_end_ns: i64::MAX,
            in_time: false,
            sender: Some(sender),
        }
    }

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
            self.part.counts.requests += 1;
            self.interval.tick.requests += 1;
        }
    }

    /// A request that is sent late by the generator's fault.
    pub(crate) fn late(&mut self, late_ns: i64) {
        let counts = &mut self.part.counts;
        counts.late += 1;
        counts.late_max_ns = counts.late_max_ns.max(late_ns as f64);
        self.interval.late += 1;
    }

    #[inline]
    pub(crate) fn reply(
        &mut self,
        request: &InFlight,
        whole: &Whole,
        is_success: bool,
        now_ns: i64,
    ) {
        let is_in_interval = self.in_time && now_ns >= self.zero_ns;
        if self.counts(request) {
            let counts = &mut self.part.counts;
            counts.bytes += whole.bytes;
            counts.statuses[usize::from(whole.head.status / 100).clamp(1, 5) - 1] += 1;
        }
        if self.counts(request) && !is_success {
            self.part.counts.errors.count(Kind::Status);
            self.interval.tick.errors += 1;
        } else if !self.counts(request) {
            self.part.counts.warm_up_replies += u64::from(is_success);
        } else {
            self.part.counts.replies += 1;
            let (latency_ns, service_ns) = (now_ns - request.intended_ns, now_ns - request.sent_ns);
            self.part.times.latency.record(latency_ns);
            if self.part.is_planned {
                // Requests may then be sent later than intended.
                self.part.times.service.record(service_ns);
            }
            if is_in_interval {
                self.interval.times.latency.record(latency_ns);
                if self.part.is_planned && self.part.keeps_intervals {
                    self.interval.times.service.record(service_ns);
                }
            }
        }
        if is_in_interval {
            self.interval.tick.replies += u64::from(is_success);
            self.interval.tick.bytes += whole.bytes;
        }
    }

    /// A request that was given up, or whose connection failed.
    pub(crate) fn lost(&mut self, request: &InFlight, kind: Kind, now_ns: i64) {
        if self.counts(request) {
            self.part.counts.errors.count(kind);
            self.interval.tick.errors += 1;
            self.gave_up(request.intended_ns, now_ns);
        }
    }

    /// A request that was due and has not been sent when the load is over.
    pub(crate) fn never_sent(&mut self, due_ns: i64, now_ns: i64) {
        if due_ns >= self.zero_ns {
            self.part.counts.unsent += 1;
            self.gave_up(due_ns, now_ns);
        }
    }

    /// Records how long a request waited that gets no reply.
    pub(crate) fn gave_up(&mut self, intended_ns: i64, now_ns: i64) {
        if intended_ns >= self.zero_ns {
            self.part.times.given_up.record(now_ns - intended_ns);
            if self.in_time && self.part.keeps_intervals {
                self.interval.times.given_up.record(now_ns - intended_ns);
            }
        }
    }

    /// A request that is in flight when the load is over.
    pub(crate) fn unfinished(&mut self, request: &InFlight, now_ns: i64) {
        if self.counts(request) {
            self.part.counts.unfinished += 1;
            self.gave_up(request.intended_ns, now_ns);
        }
    }

    /// A connection that failed without a request in flight.
    pub(crate) fn failed(&mut self, kind: Kind, now_ns: i64) {
        if now_ns >= self.zero_ns || !self.in_time {
            self.part.counts.errors.count(kind);
            self.interval.tick.errors += u64::from(self.in_time);
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
        let mut interval = std::mem::take(&mut self.interval);
        interval.tick.under_way = under_way as u64;
        if let Some(sender) = &self.sender {
            // A receiver that has gone needs no intervals.
            let _ = sender.send((self.interval_number, interval));
        }
        self.interval_number += 1;
    }
}
