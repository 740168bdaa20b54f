//! What happened to requests and connections, in numbers that add up.

use crate::http::reply::ReplyHead;
use crate::results::misfit::Misfit;
use crate::tls::Handshakes;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::ops::AddAssign;

/// The counts of a thread, of a process or of a whole load.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Counts {
    /// Requests sent.
    pub requests: u64,
    /// Whole replies that are a success: see [`Plan::success`](crate::Plan::success).
    pub replies: u64,
    /// The same of requests that warmed up.
    pub warm_up_replies: u64,
    /// Bytes of replies, those that are none included.
    pub bytes: u64,
    /// Connections opened, those of the warm-up too.
    pub connections: u64,
    /// Connections at a time that requests were sent over. Of sessions, which come and go, none.
    pub asked: u64,
    /// Those of them that never got a reply.
    pub unserved: u64,
    /// Replies by class of status, 1xx to 5xx, whether they are a success or not.
    pub statuses: [u64; 5],
    /// Errors by kind.
    pub errors: Errors,
    /// The handshakes of TLS; absent where there is none.
    pub handshakes: Option<Handshakes>,
    /// The text of the last error of kind `other`.
    pub other_error: Option<String>,
    /// Connections that the server ended although it was not asked to.
    pub closings: Closings,
    /// The target of a reply that redirects.
    pub redirects_to: Option<String>,
    /// What came that is no reply, at first.
    pub misfit: Option<Misfit>,
    /// The times without a reply of a quarter of a second or longer, although requests were in flight, by their beginnings;
    /// absent where none was in flight.
    pub stalls: Option<Vec<Stall>>,
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
    /// CPU time of the generator, user and system, in nanoseconds.
    pub user_ns: u64,
    /// See `user_ns`.
    pub system_ns: u64,
    /// The share of its time that the busiest thread of the generator was on a CPU.
    pub busy_share: f64,
}

impl AddAssign<&Counts> for Counts {
    fn add_assign(&mut self, more: &Counts) {
        self.requests += more.requests;
        self.replies += more.replies;
        self.warm_up_replies += more.warm_up_replies;
        self.bytes += more.bytes;
        self.connections += more.connections;
        self.asked += more.asked;
        self.unserved += more.unserved;
        self.statuses.iter_mut().zip(more.statuses).for_each(|(sum, count)| *sum += count);
        self.errors += &more.errors;
        if let Some(more) = &more.handshakes {
            *self.handshakes.get_or_insert_default() += more;
        }
        self.other_error = self.other_error.take().or_else(|| more.other_error.clone());
        self.closings += &more.closings;
        self.redirects_to = self.redirects_to.take().or_else(|| more.redirects_to.clone());
        self.misfit = self.misfit.take().or_else(|| more.misfit.clone());
        self.stalls = match (self.stalls.take(), &more.stalls) {
            (Some(stalls), Some(of_more)) => Some(common(&stalls, of_more)),
            (stalls, of_more) => stalls.or_else(|| of_more.clone()),
        };
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

/// A time without a reply.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Stall {
    /// When it began, in seconds from the start of what counts.
    pub from_s: f64,
    /// Its length, in seconds.
    pub length_s: f64,
}

/// A shorter time without a reply is not kept.
pub(crate) const STALL_S_MIN: f64 = 0.25;

impl Stall {
    pub(crate) fn is_long(&self) -> bool {
        self.length_s >= STALL_S_MIN
    }

    fn until_s(&self) -> f64 {
        self.from_s + self.length_s
    }

    /// The time in which neither of two threads had a reply.
    fn both(self, more: Stall) -> Stall {
        let from_s = self.from_s.max(more.from_s);
        let until_s = self.until_s().min(more.until_s());
        Stall { from_s, length_s: (until_s - from_s).max(0.0) }
    }
}

/// The times in which neither of two threads had a reply, where they are long.
fn common(mut all: &[Stall], mut more: &[Stall]) -> Vec<Stall> {
    let mut both = Vec::new();
    while let ([first, rest @ ..], [of_more, rest_of_more @ ..]) = (all, more) {
        both.push(first.both(*of_more));
        if first.until_s() < of_more.until_s() {
            all = rest;
        } else {
            more = rest_of_more;
        }
    }
    both.retain(Stall::is_long);
    both
}

/// Declares the kinds of errors: for each the field of its count, its variant, and its name in texts.
macro_rules! errors {
    ($($(#[$about:meta])+ $count:ident $kind:ident $name:literal,)*) => {
        /// Errors by kind.
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
        pub struct Errors {
            $($(#[$about])+ pub $count: u64,)*
        }

        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub(crate) enum Kind {
            $($kind,)*
        }

        impl Errors {
            /// The kinds that there were, by their names, with their counts.
            pub fn each(&self) -> impl Iterator<Item = (&'static str, u64)> + use<> {
                [$(($name, self.$count)),*].into_iter().filter(|(_, count)| *count > 0)
            }

            pub(crate) fn count(&mut self, kind: Kind) {
                match kind {
                    $(Kind::$kind => self.$count += 1,)*
                }
            }
        }

        impl AddAssign<&Errors> for Errors {
            fn add_assign(&mut self, more: &Errors) {
                $(self.$count += more.$count;)*
            }
        }
    };
}

errors! {
    /// No program listens there.
    refused Refused "refused",
    /// The accept queue of a unix socket was full.
    queue Queue "accept queue full",
    /// The connection was reset.
    reset Reset "reset",
    /// No whole reply in time.
    timeout Timeout "time-out",
    /// The connection ended before the reply did.
    short Short "short",
    /// A reply whose status is no success.
    status Status "status",
    /// A connection that had served before ended, without announcing it, before a byte of the reply came.
    closed Closed "closed",
    /// There is a connection, and no TLS over it.
    tls Tls "TLS",
    /// Not HTTP.
    malformed Malformed "malformed",
    /// No descriptor was left here.
    descriptors Descriptors "descriptors",
    /// No local port was left.
    ports Ports "ports",
    /// Anything else.
    #[serde(rename = "other")]
    unclassified Other "other",
}

impl Errors {
    /// All of them.
    pub fn total(&self) -> u64 {
        self.each().map(|(_, count)| count).sum()
    }

    /// Whether one of them is the server's doing: no shortage of the generator's own.
    pub fn is_of_the_server(&self) -> bool {
        self.total() > self.descriptors + self.ports
    }
}

/// A connection that ends earlier after its last reply was not ended for being idle. Source: usual.
pub(crate) const IDLE_MS_MIN: u64 = 100;

/// Connections that the server ended, although the request did not ask for that.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Closings {
    /// Those whose last reply announced it.
    pub announced: u64,
    /// Those of them whose last reply was one of HTTP/1.0.
    pub http_10: u64,
    /// Those that ended at once after a reply, without a word: also where only the missing length of the reply told.
    pub unannounced: u64,
    /// Those that ended, without a word, after they had been idle for a while.
    pub idle: u64,
    /// For how long these had been idle, in milliseconds: the minimum.
    pub idle_ms_min: u64,
    /// The maximum.
    pub idle_ms_max: u64,
    /// Replies over each of these connections: the minimum.
    pub replies_min: u64,
    /// The maximum.
    pub replies_max: u64,
}

impl Closings {
    /// Those that ended with a reply.
    pub fn total(&self) -> u64 {
        self.announced + self.unannounced
    }

    /// Whether the server announces it, by rule.
    pub fn is_announced(&self) -> bool {
        self.announced >= self.unannounced
    }

    /// The server's manner, as text: `HTTP/1.0`.
    pub fn manner(&self) -> &'static str {
        match (self.http_10 > 0, self.is_announced()) {
            (true, _) => "HTTP/1.0",
            (_, true) => "Connection: close",
            (_, false) => "not announced",
        }
    }

    /// Of a connection that ends with a reply, after so many, of this head.
    pub fn new(replies: u64, head: &ReplyHead) -> Closings {
        let (announced, http_10) =
            (u64::from(head.announces_end), u64::from(head.announces_end && head.is_http_10));
        let (replies_min, replies_max, unannounced) = (replies, replies, 1 - announced);
        Closings {
            announced,
            http_10,
            unannounced,
            replies_min,
            replies_max,
            ..Closings::default()
        }
    }

    /// Counts a connection that ended after so many replies, without a word, when it had been idle for so long.
    pub(crate) fn count_unannounced(&mut self, replies: u64, idle_ms: u64) {
        if idle_ms >= IDLE_MS_MIN {
            let (idle_ms_min, idle_ms_max) = (idle_ms, idle_ms);
            *self += &Closings { idle: 1, idle_ms_min, idle_ms_max, ..Closings::default() };
            return;
        }
        let (replies_min, replies_max) = (replies, replies);
        *self += &Closings { unannounced: 1, replies_min, replies_max, ..Closings::default() };
    }
}

impl AddAssign<&Closings> for Closings {
    fn add_assign(&mut self, more: &Closings) {
        self.replies_min = match (self.total(), more.total()) {
            (_, 0) => self.replies_min,
            (0, _) => more.replies_min,
            _ => self.replies_min.min(more.replies_min),
        };
        self.replies_max = self.replies_max.max(more.replies_max);
        self.idle_ms_min = match (self.idle, more.idle) {
            (_, 0) => self.idle_ms_min,
            (0, _) => more.idle_ms_min,
            _ => self.idle_ms_min.min(more.idle_ms_min),
        };
        self.idle_ms_max = self.idle_ms_max.max(more.idle_ms_max);
        self.idle += more.idle;
        self.announced += more.announced;
        self.http_10 += more.http_10;
        self.unannounced += more.unannounced;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_no_thread_had_a_reply_in_is_a_stall_each_time() {
        let counts = |stalls: &[(f64, f64)]| {
            let stall = |&(from_s, length_s)| Stall { from_s, length_s };
            let stalls: Vec<Stall> = stalls.iter().map(stall).collect();
            Counts { stalls: Some(stalls), ..Counts::default() }
        };
        // Each has another longest.
        let first = counts(&[(1.0, 1.0), (2.5, 1.0), (5.0, 1.5)]);
        let second = counts(&[(0.5, 2.25), (3.0, 1.0), (6.5, 1.0)]);
        let mut sum = Counts::default();
        for part in [&first, &second, &Counts::default()] {
            sum += part;
        }
        assert_eq!(sum.stalls, counts(&[(1.0, 1.0), (2.5, 0.25), (3.0, 0.5)]).stalls);
    }
}
