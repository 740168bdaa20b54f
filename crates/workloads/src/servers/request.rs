//! How does a request over an open connection grow with the connections that are open?
//!
//! Felix von Leitner's httpbench, its second half. Connections are opened, each with one request; after
//! every so many, some requests are sent over connections that are drawn from those that are open, one
//! at a time. One operation is such a request, until its whole reply is there.
//!
//! Both are on one CPU, unless `--cpus all` lets the scheduler place them. The requests of new
//! connections come several at a time and are not timed: `connect` times each.

use crate::servers::client::Client;
use crate::servers::connect::{CONNECTIONS, FILE_BYTES, base};
use crate::servers::served::{self, OwnServers, connections_fit};
use crate::servers::tls::TLS;
use crate::shared::calls;
use crate::shared::cpus;
use crate::shared::quota::QUOTA;
use engine::{
    About, Cell, Custom, Defaults, Failure, Fit, MetricInfo, Parameter, Probe, Subject, Values,
    Workload, WorkloadInfo, strings,
};
use load::Stream;
use std::sync::LazyLock;

/// The row of the table.
pub(crate) const WORKLOAD: RequestWorkload = RequestWorkload { own: OwnServers::NONE };

pub(crate) struct RequestWorkload {
    own: OwnServers,
}

const EVERY: Parameter = Parameter {
    name: "every",
    about: "connections opened between two measurements",
    values: Values::Between(1, 1_000),
    default: Defaults::always(&["10"]),
    sweep: None,
};

const REQUESTS: Parameter = Parameter {
    name: "requests",
    about: "requests of each measurement, over random connections",
    values: Values::Between(1, 1_000),
    default: Defaults::always(&["5"]),
    sweep: None,
};

static ABOUT: LazyLock<About> = LazyLock::new(|| About {
    info: WorkloadInfo {
        name: "request".into(),
        question: "How does a request over an open connection grow with the connections that are \
                   open?"
            .into(),
        operation: "a request over one of n open connections, until its whole reply is there"
            .into(),
        not_measured: strings([
            "a network: both ends are here",
            "several requests at once: that is `dead`",
            "opening the connections: that is `connect`",
        ]),
        metrics: [MetricInfo::time("request", "request + its reply")]
            .into_iter()
            .chain(calls::metrics("request"))
            .collect(),
        ..base().info
    },
    parameters: vec![CONNECTIONS, EVERY, REQUESTS, cpus::ONE, TLS, QUOTA],
    ..base()
});

impl Workload for RequestWorkload {
    fn about(&self) -> &About {
        self.own.about(&ABOUT)
    }

    fn subjects(&self) -> Vec<Subject> {
        self.own.subjects()
    }

    fn fit(&self, cell: &Cell) -> Fit {
        connections_fit(&self.own, cell, CONNECTIONS.name)
    }

    fn with_custom(
        &self,
        custom: &Custom,
        axis: Option<&str>,
    ) -> Result<Box<dyn Workload>, String> {
        Ok(Box::new(RequestWorkload { own: OwnServers::new(custom, axis, &ABOUT)? }))
    }

    fn measure(&self, cell: &Cell, probe: &mut Probe) -> Result<(), Failure> {
        let count = cell.number(CONNECTIONS.name)?;
        let positions = positions(count, cell.number(EVERY.name)?, cell.number(REQUESTS.name)?);
        let mut random = fastrand::Rng::with_seed(cell.seed);
        let measure = |client: &mut Client, open: &mut Vec<Stream>, probe: &mut Probe| {
            probe.trajectory_at(&positions, &["request"], None, |position, laps| {
                up_to(position, open, client)?;
                let drawn = random.usize(..open.len());
                laps.time(0, || client.exchange(&mut open[drawn]))
            })
        };
        let once_more = |client: &mut Client, open: &mut Vec<Stream>| client.exchange(&mut open[0]);
        served::with_connections(&self.own, cell, probe, FILE_BYTES, measure, once_more)
    }
}

/// Each position as often as there are requests at it; the far end is one.
fn positions(count: u64, every: u64, requests: u64) -> Vec<u64> {
    let looks = (1..=count).filter(|n| n.is_multiple_of(every) || *n == count);
    looks.flat_map(|position| (0..requests).map(move |_| position)).collect()
}

/// Opens more, until there are so many. Their requests are all sent before any reply is waited for: a
/// server that looks at every connection looks once for many of them.
fn up_to(count: u64, open: &mut Vec<Stream>, client: &mut Client) -> Result<(), Failure> {
    let before = open.len();
    for _ in before as u64..count {
        let socket = client.socket()?;
        client.connect_it(&socket)?;
        let mut stream = client.shake_hands(socket)?;
        client.send(&mut stream)?;
        open.push(stream);
    }
    open[before..].iter_mut().try_for_each(|stream| client.receive(stream))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_is_a_look_after_every_so_many_and_at_the_end() {
        assert_eq!(positions(25, 10, 2), [10, 10, 20, 20, 25, 25]);
        assert_eq!(positions(3, 10, 1), [3]);
        assert_eq!(positions(15_000, 10, 5).len(), 7_500);
    }
}
