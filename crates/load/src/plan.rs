//! The plan of a load: the target, and when to send how much.

mod header;
mod statuses;

pub use header::Header;
pub use statuses::Statuses;

use crate::address::Address;
use crate::connect;
use crate::dead::descriptors_max;
use crate::error::Error;
use crate::tls::Tls;
use schemars::JsonSchema;
use serde::Serialize;
use std::net::IpAddr;
use std::time::Duration;

/// Where requests go, and what they ask for.
#[derive(Clone, Debug)]
pub struct Target {
    /// Where to connect.
    pub address: Address,
    /// The host, as the request names it.
    pub host: String,
    /// Path and query: `/index.html`.
    pub path: String,
    /// Absent where the connection is not encrypted.
    pub tls: Option<Tls>,
    /// Further headers, which take the place of the generator's own of the same name.
    pub headers: Vec<Header>,
}

/// When requests are sent.
#[derive(Clone, Copy, Debug, Serialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Shape {
    /// Each connection sends its next one when it has the reply to the last.
    Closed,
    /// As planned, whatever comes back.
    Open(Arrivals),
    /// Connections are opened as planned, and each is a closed loop over its `calls`.
    Sessions(Arrivals),
}

/// The intended times of requests (or of sessions), from arithmetic and not from a clock.
#[derive(Clone, Copy, Debug, Serialize, JsonSchema)]
#[serde(tag = "arrivals", rename_all = "kebab-case")]
pub enum Arrivals {
    /// Evenly.
    Constant {
        /// Requests a second.
        per_s: f64,
    },
    /// At random, independently of each other.
    Poisson {
        /// Requests a second, in the mean.
        per_s: f64,
    },
    /// Evenly, at a rate that grows or falls linearly over the whole time.
    Ramp {
        /// Requests a second at the start.
        from_per_s: f64,
        /// Requests a second at the end.
        to_per_s: f64,
    },
}

/// The load on a target.
#[derive(Clone, Debug)]
pub struct Plan {
    /// Where requests go.
    pub target: Target,
    /// When requests are sent.
    pub shape: Shape,
    /// What random times are drawn by.
    pub seed: u64,
    /// Connections at a time.
    pub connections: usize,
    /// Requests over one connection before it is closed and another opened; none is without end.
    pub calls: Option<u64>,
    /// Whether a connection is used again after a reply; if not, each request says
    /// `Connection: close`, and `calls` is one.
    pub keep_alive: bool,
    /// Time between a reply and the connection's next request, in a closed loop.
    pub think: Duration,
    /// The statuses of replies that are a success. Others are errors: in no rate and in no latency.
    pub success: Statuses,
    /// A request without its whole reply by then is an error, and its connection closed.
    pub timeout: Duration,
    /// How long; none is until `requests`.
    pub duration: Option<Duration>,
    /// How many requests in all; none is until `duration`.
    pub requests: Option<u64>,
    /// Load before anything is counted.
    pub warm_up: Duration,
    /// Threads that share the connections.
    pub threads: usize,
    /// Which part of the plan is this process's.
    pub share: Share,
    /// The CPUs that threads are pinned to, in turn; empty leaves that to the kernel.
    pub pin: Vec<usize>,
    /// Requests in flight on one connection.
    pub pipeline: usize,
    /// Whether the load ends with [`Error::Refused`] if the target is not there: of the connections that are opened before
    /// the load one at least is refused, and none succeeds; or, of connections that the load opens, one is refused before
    /// any has succeeded. If not, a refused connection is tried again, as any that fails later.
    pub ends_if_refused: bool,
    /// Source addresses that connections take in turn; empty leaves that to the kernel.
    pub sources: Vec<IpAddr>,
    /// The interval of reply-rate samples and of the time series.
    pub interval: Duration,
    /// Whether the outcome has the [intervals](crate::Outcome::intervals) with their distributions.
    pub keeps_intervals: bool,
}

/// The part of a plan that is one process's, of several that put one load on a target. All have as many threads. The
/// thread with number `rank` × threads + thread of all has each request with that number, counted in steps of ranks ×
/// threads, and its share of connections; all together are the plan of one process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Share {
    /// The process, from 0 on.
    pub rank: usize,
    /// How many processes there are.
    pub ranks: usize,
}

impl Share {
    /// All of it.
    pub const WHOLE: Share = Share { rank: 0, ranks: 1 };
}

/// Descriptors of a process that are no connections, and of each thread one more.
const OWN_DESCRIPTORS: usize = 32;

impl Plan {
    /// A closed loop over one connection of one thread, for a second: the base of every plan.
    pub fn new(target: Target) -> Plan {
        Plan {
            target,
            shape: Shape::Closed,
            seed: 0,
            connections: 1,
            calls: None,
            keep_alive: true,
            think: Duration::ZERO,
            success: Statuses::default(),
            timeout: Duration::from_secs(5),
            duration: Some(Duration::from_secs(1)),
            requests: None,
            warm_up: Duration::ZERO,
            threads: 1,
            share: Share::WHOLE,
            pin: Vec::new(),
            pipeline: 1,
            ends_if_refused: false,
            sources: Vec::new(),
            interval: Duration::from_millis(100),
            keeps_intervals: false,
        }
    }

    /// The intended times of requests or connections, independent of replies, where they have any.
    pub fn arrivals(&self) -> Option<Arrivals> {
        match self.shape {
            Shape::Closed => None,
            Shape::Open(arrivals) | Shape::Sessions(arrivals) => Some(arrivals),
        }
    }

    /// Whether requests or connections have intended times.
    pub fn shape_is_planned(&self) -> bool {
        self.arrivals().is_some()
    }

    pub(crate) fn threads_of_all(&self) -> u64 {
        (self.share.ranks * self.threads) as u64
    }

    /// The number of a thread of this process among those of all.
    pub(crate) fn thread_number(&self, thread: usize) -> u64 {
        (self.share.rank * self.threads + thread) as u64
    }

    pub(crate) fn share_of(&self, whole: u64, thread: usize) -> u64 {
        let threads = self.threads_of_all();
        whole / threads + u64::from(self.thread_number(thread) < whole % threads)
    }

    /// Whether it can be carried out by this process.
    ///
    /// # Errors
    /// What is wrong with it, or what this machine lacks.
    pub fn check(&self) -> Result<(), Error> {
        let wrong = |what: &str| Err(Error::Failed(what.to_owned()));
        if self.connections == 0 || self.threads == 0 || self.pipeline == 0 {
            return wrong("connections, threads and requests in flight are at least one each");
        }
        if self.share.rank >= self.share.ranks || self.threads_of_all() > self.connections as u64 {
            return wrong("each thread of each process has a connection at least");
        }
        if self.duration.is_none() && self.requests.is_none() {
            return wrong("a load needs a length of time or a number of requests");
        }
        if self.interval.is_zero() || self.timeout.is_zero() {
            return wrong("the interval and the time-out are above zero");
        }
        if self.calls == Some(0) {
            return wrong("a connection has at least one call");
        }
        if let Some(arrivals) = self.arrivals() {
            arrivals.check(self)?;
        }
        self.check_descriptors()?;
        let Some(to) = self.target.address.tcp() else { return Ok(()) };
        // One of the loopback addresses is as good as all.
        let (loopbacks, more): (Vec<IpAddr>, Vec<IpAddr>) =
            self.sources.iter().partition(|from| from.is_loopback());
        let first = loopbacks.first().copied();
        if first.is_some() || more.is_empty() {
            connect::check(to, first)?;
        }
        more.into_iter().try_for_each(|from| connect::check(to, Some(from)))
    }

    fn check_descriptors(&self) -> Result<(), Error> {
        let (ranks, threads) = (self.share.ranks.max(1), self.threads);
        let connections = self.connections.div_ceil(ranks);
        let limit = descriptors_max();
        let max = limit.saturating_sub(OWN_DESCRIPTORS + threads);
        if connections <= max {
            return Ok(());
        }
        let more = connections.saturating_add(OWN_DESCRIPTORS + threads);
        Err(Error::NotPossibleHere(format!(
            "{connections} connections are more than the {max} that a process may have here: the limit is {limit} \
             descriptors → ulimit -n {more}, or --connections {}",
            max * ranks
        )))
    }

    pub(crate) fn calls_max(&self) -> u64 {
        if self.keep_alive { self.calls.unwrap_or(u64::MAX) } else { 1 }
    }
}

impl Arrivals {
    fn check(self, plan: &Plan) -> Result<(), Error> {
        let rates = match self {
            Arrivals::Constant { per_s } | Arrivals::Poisson { per_s } => [per_s; 2],
            Arrivals::Ramp { from_per_s, to_per_s } => [from_per_s, to_per_s],
        };
        if !rates.iter().all(|rate| (0.0..=1e9).contains(rate)) || rates.iter().sum::<f64>() <= 0.0
        {
            return Err(Error::Failed(
                "a rate is above zero and at most a billion a second".to_owned(),
            ));
        }
        if matches!(self, Arrivals::Ramp { .. }) && plan.duration.is_none() {
            return Err(Error::Failed("a ramp needs a length of time to rise over".to_owned()));
        }
        Ok(())
    }
}

impl Target {
    /// One that is not encrypted, without further headers.
    pub fn new(
        address: impl Into<Address>,
        host: impl Into<String>,
        path: impl Into<String>,
    ) -> Target {
        let (address, host, path) = (address.into(), host.into(), path.into());
        Target { address, host, path, tls: None, headers: Vec::new() }
    }

    /// The names of the further headers.
    pub fn header_names(&self) -> Vec<String> {
        self.headers.iter().map(|header| header.name.clone()).collect()
    }

    pub(crate) fn request(&self, keep_alive: bool) -> Vec<u8> {
        let Target { host, path, headers, .. } = self;
        let own = [("Host", host.as_str()), ("User-Agent", "knee")].into_iter();
        let own = own.filter(|(name, _)| !headers.iter().any(|header| header.is(name)));
        let further = headers.iter().map(|header| (header.name.as_str(), header.value.as_str()));
        let close = (!keep_alive).then_some(("Connection", "close"));
        let lines =
            own.chain(further).chain(close).map(|(name, value)| format!("{name}: {value}\r\n"));
        format!("GET {path} HTTP/1.1\r\n{}\r\n", lines.collect::<String>()).into_bytes()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::{Ipv4Addr, SocketAddr};

    #[test]
    fn further_headers_take_the_place_of_own_ones() {
        let mut target = Target::new(SocketAddr::from((Ipv4Addr::LOCALHOST, 80)), "h", "/x");
        let text = |target: &Target, keep_alive| String::from_utf8(target.request(keep_alive));
        let plain = "GET /x HTTP/1.1\r\nHost: h\r\nUser-Agent: knee\r\n";
        assert_eq!(text(&target, true).unwrap(), format!("{plain}\r\n"));
        assert_eq!(text(&target, false).unwrap(), format!("{plain}Connection: close\r\n\r\n"));
        target.headers = ["host: other", "Cookie: a=b"].map(|typed| typed.parse().unwrap()).into();
        let further = "GET /x HTTP/1.1\r\nUser-Agent: knee\r\nhost: other\r\nCookie: a=b\r\n\r\n";
        assert_eq!(text(&target, true).unwrap(), further);
    }
}
