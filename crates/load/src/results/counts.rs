//! What happened to requests and connections, in numbers that add up.

use serde::{Deserialize, Serialize};
use std::ops::AddAssign;

/// The counts of a thread, of a process or of a whole load.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Counts {
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
    /// The text of the last error of kind `other`.
    pub other_error: Option<String>,
    /// Connections that the server ended although it was not asked to.
    pub closings: Closings,
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
        self.bytes += more.bytes;
        self.connections += more.connections;
        self.statuses.iter_mut().zip(more.statuses).for_each(|(sum, count)| *sum += count);
        self.errors += &more.errors;
        self.other_error = self.other_error.take().or_else(|| more.other_error.clone());
        self.closings += &more.closings;
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

/// Declares the kinds of errors: for each the field of its count, its variant, and its name in texts.
macro_rules! errors {
    ($($(#[$about:meta])+ $count:ident $kind:ident $name:literal,)*) => {
        /// Errors by kind.
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
        pub struct Errors {
            $($(#[$about])+ pub $count: u64,)*
        }

        /// The kinds of errors.
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
    /// The connection was reset.
    reset Reset "reset",
    /// No whole reply in time.
    timeout Timeout "time-out",
    /// The connection ended before the reply did.
    short Short "short",
    /// A status of 400 and more.
    status Status "status",
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

    /// Counts a connection whose last reply, after so many, announced its end.
    pub(crate) fn count_announced(&mut self, replies: u64, is_http_10: bool) {
        let http_10 = u64::from(is_http_10);
        let (replies_min, replies_max) = (replies, replies);
        *self += &Closings { announced: 1, http_10, unannounced: 0, replies_min, replies_max };
    }

    /// Counts a connection that ended after so many replies, between two requests.
    pub(crate) fn count_unannounced(&mut self, replies: u64) {
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
        self.announced += more.announced;
        self.http_10 += more.http_10;
        self.unannounced += more.unannounced;
    }
}
