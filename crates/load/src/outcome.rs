//! The outcome of a load.

use serde::{Deserialize, Serialize};

/// The outcome of a load.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Outcome {
    /// Time that counts, in seconds: without warm-up.
    pub elapsed_s: f64,
    /// Requests sent.
    pub requests: u64,
    /// Whole replies.
    pub replies: u64,
    /// Bytes of replies.
    pub bytes: u64,
    /// Connections opened.
    pub connections: u64,
    /// Replies by class of status: 1xx to 5xx.
    pub statuses: [u64; 5],
    /// Errors by kind.
    pub errors: Errors,
    /// From the intended time of a request to the end of its reply, in nanoseconds.
    pub latency: Quantiles,
    /// As `latency`, with the requests that were given up or never sent: each counts with the time
    /// that it had waited by then, so that these figures are *at least*. Absent where there were none.
    pub latency_at_least: Option<Quantiles>,
    /// From the moment that a request was sent to the end of its reply, in nanoseconds.
    pub service: Quantiles,
    /// From `connect` to the connection, in nanoseconds.
    pub connect: Quantiles,
    /// Replies a second, a sample an interval.
    pub reply_rate: Rates,
    /// What happened in each interval.
    pub series: Vec<Tick>,
    /// The whole intervals with their distributions, if the plan [keeps them](crate::Plan::keeps_intervals).
    #[serde(skip)]
    pub intervals: Vec<IntervalOutcome>,
    /// Requests that were sent more than a millisecond after their intended time although a
    /// connection was free: the generator's own fault.
    pub late: u64,
    /// The longest of these delays, in nanoseconds.
    pub late_max_ns: f64,
    /// Requests that waited for a free connection when they were due.
    pub waited: u64,
    /// Requests that were due and never sent.
    pub unsent: u64,
    /// Requests that were in flight when the load ended; they are no errors.
    pub unfinished: u64,
    /// Whether it was ended early.
    pub stopped: bool,
    /// The text of the last error of kind `other`.
    pub other_error: Option<String>,
    /// The share of its time that the busiest thread of the generator was on a CPU.
    pub busy_share: f64,
    /// Connections that the server ended although it was not asked to.
    pub closings: Closings,
    /// The dead connections, if there were any.
    pub dead: Option<DeadOutcome>,
    /// CPU time of the generator, user and system, in nanoseconds.
    pub user_ns: u64,
    /// See `user_ns`.
    pub system_ns: u64,
}

/// Connections that the server ended after a reply, although the request did not ask for that.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Closings {
    /// Those whose last reply announced it.
    pub announced: u64,
    /// Those of them whose last reply was one of HTTP/1.0.
    pub http_10: u64,
    /// Those that ended between two requests, without a word.
    pub unannounced: u64,
    /// Replies over each of these connections: the minimum.
    pub replies_min: u64,
    /// The maximum.
    pub replies_max: u64,
}

impl Closings {
    /// All of them.
    pub fn total(&self) -> u64 {
        self.announced + self.unannounced
    }

    /// Counts a connection that ended after so many replies.
    pub(crate) fn count(&mut self, replies: u64, how: Closing) {
        let is_first = self.total() == 0;
        match how {
            Closing::Announced { is_http_10 } => {
                self.announced += 1;
                self.http_10 += u64::from(is_http_10);
            }
            Closing::Unannounced => self.unannounced += 1,
        }
        self.replies_min = if is_first { replies } else { self.replies_min.min(replies) };
        self.replies_max = self.replies_max.max(replies);
    }

    pub(crate) fn add(&mut self, more: &Closings) {
        if more.total() == 0 {
            return;
        }
        let is_first = self.total() == 0;
        let min = if is_first { more.replies_min } else { self.replies_min.min(more.replies_min) };
        self.announced += more.announced;
        self.http_10 += more.http_10;
        self.unannounced += more.unannounced;
        self.replies_min = min;
        self.replies_max = self.replies_max.max(more.replies_max);
    }
}

/// How a server ended a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Closing {
    /// Its last reply announced it.
    Announced { is_http_10: bool },
    /// Between two requests.
    Unannounced,
}

/// The outcome of the dead connections.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct DeadOutcome {
    /// How many were to be opened.
    pub asked: u64,
    /// How many were opened and had the reply to their request.
    pub opened: u64,
    /// Why the others were not.
    pub errors: Errors,
    /// Those that the server ended with the reply to their one request: they can't be held.
    pub closings: Closings,
    /// How many were not even tried, since too many before them had come to nothing.
    pub untried: u64,
    /// How many were open at the end, according to their holders.
    pub alive_at_end: u64,
    /// How long those had been idle that the server has ended since; absent where it ended none.
    pub closed_idle: Option<IdleTimes>,
    /// Connections that the server held more than before they were opened, as the kernel lists
    /// them; absent where the server is on another machine.
    pub seen_by_server_before: Option<u64>,
    /// The same when the load had ended.
    pub seen_by_server_at_end: Option<u64>,
}

/// How long connections had been idle when they were ended, in milliseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct IdleTimes {
    /// How many were ended.
    pub count: u64,
    /// The minimum.
    pub min_ms: u64,
    /// The median.
    pub median_ms: u64,
    /// The maximum.
    pub max_ms: u64,
}

impl IdleTimes {
    /// Of the times of each; none where there is none.
    pub(crate) fn new(mut times_ms: Vec<u64>) -> Option<IdleTimes> {
        times_ms.sort_unstable();
        let (&min_ms, &max_ms) = (times_ms.first()?, times_ms.last()?);
        let median_ms = times_ms[times_ms.len() / 2];
        Some(IdleTimes { count: times_ms.len() as u64, min_ms, median_ms, max_ms })
    }
}

/// Errors by kind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Errors {
    /// No program listens there.
    pub refused: u64,
    /// The connection was reset.
    pub reset: u64,
    /// No whole reply in time.
    pub timeout: u64,
    /// The connection ended before the reply did.
    pub short: u64,
    /// A status of 400 and more.
    pub status: u64,
    /// Not HTTP.
    pub malformed: u64,
    /// No descriptor was left here.
    pub descriptors: u64,
    /// No local port was left.
    pub ports: u64,
    /// Anything else.
    #[serde(rename = "other")]
    pub unclassified: u64,
}

/// The kinds of errors: a name for each count of [`Errors`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Refused,
    Reset,
    Timeout,
    Short,
    Status,
    Malformed,
    Descriptors,
    Ports,
    Other,
}

impl Errors {
    /// All of them.
    pub fn total(&self) -> u64 {
        self.each().iter().map(|(_, count)| count).sum()
    }

    /// Whether one of them is the server's doing: no shortage of the generator's own.
    pub fn is_of_the_server(&self) -> bool {
        self.total() > self.descriptors + self.ports
    }

    /// Each kind by its name, with its count.
    pub fn each(&self) -> [(&'static str, u64); 9] {
        [
            ("refused", self.refused),
            ("reset", self.reset),
            ("time-out", self.timeout),
            ("short", self.short),
            ("status", self.status),
            ("malformed", self.malformed),
            ("descriptors", self.descriptors),
            ("ports", self.ports),
            ("other", self.unclassified),
        ]
    }

    pub(crate) fn count(&mut self, kind: Kind) {
        *self.counter(kind) += 1;
    }

    fn counter(&mut self, kind: Kind) -> &mut u64 {
        match kind {
            Kind::Refused => &mut self.refused,
            Kind::Reset => &mut self.reset,
            Kind::Timeout => &mut self.timeout,
            Kind::Short => &mut self.short,
            Kind::Status => &mut self.status,
            Kind::Malformed => &mut self.malformed,
            Kind::Descriptors => &mut self.descriptors,
            Kind::Ports => &mut self.ports,
            Kind::Other => &mut self.unclassified,
        }
    }

    pub(crate) fn add(&mut self, more: &Errors) {
        let &Errors { refused, reset, timeout, short, status, malformed, .. } = more;
        let &Errors { descriptors, ports, unclassified, .. } = more;
        self.refused += refused;
        self.reset += reset;
        self.timeout += timeout;
        self.short += short;
        self.status += status;
        self.malformed += malformed;
        self.descriptors += descriptors;
        self.ports += ports;
        self.unclassified += unclassified;
    }
}

/// A distribution.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Quantiles {
    /// How many values.
    pub count: u64,
    /// The minimum.
    pub min: f64,
    /// Their mean.
    pub mean: f64,
    /// Their standard deviation.
    pub stddev: f64,
    /// Half are at most this.
    pub p50: f64,
    /// 90 % are at most this.
    pub p90: f64,
    /// 99 % are at most this.
    pub p99: f64,
    /// 99.9 % are at most this.
    pub p99_9: f64,
    /// The maximum.
    pub max: f64,
    /// All of them: an `HdrHistogram`, V2, deflated, in base 64.
    pub histogram: String,
}

/// Replies a second over intervals, as httperf reports them.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub struct Rates {
    /// Length of an interval, in seconds.
    pub interval_s: f64,
    /// Whole intervals.
    pub samples: u64,
    /// The minimum.
    pub min: f64,
    /// The mean.
    pub avg: f64,
    /// The maximum.
    pub max: f64,
    /// The standard deviation.
    pub stddev: f64,
}

/// A whole interval; the last one has also what came after it, so that all distributions add up to those of the load.
/// A load that is shorter than one interval has one.
#[derive(Clone, Debug, Default)]
pub struct IntervalOutcome {
    /// Its length, in seconds.
    pub length_s: f64,
    /// Requests sent in it.
    pub requests: u64,
    /// Replies that ended in it.
    pub replies: u64,
    /// Errors in it.
    pub errors: u64,
    /// Requests that were sent late in it: see [`Outcome::late`].
    pub late: u64,
    /// As [`Outcome::latency_at_least`], or where no request was given up as [`Outcome::latency`].
    pub latency: Quantiles,
    /// As [`Outcome::service`].
    pub service: Quantiles,
}

/// One interval.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
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
