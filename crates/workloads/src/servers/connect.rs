//! How does connecting to a server grow with the connections that it has open?
//!
//! Felix von Leitner's httpbench. One operation is the n-th connection over loopback to a server, until
//! the reply to its first request is there, while the n - 1 before it stay open and silent. The call of
//! `connect` is timed separately: on loopback it returns when the kernel has shaken hands, so
//! what a client measures by it says nothing of the server. What it can't see, that the connection is
//! accepted, watched and answered, is in the reply.
//!
//! Both are on one CPU, unless `--cpus all` lets the scheduler place them: then waking an idle CPU is
//! part of each figure. On one CPU the server may be woken in the middle of the call of `connect` and
//! accept before it returns; that is its second mode.

use crate::servers::client::Client;
use crate::servers::served::{self, CUSTOM_KEYS, OwnServers, connections_fit};
use crate::servers::tls::TLS;
use crate::shared::calls;
use crate::shared::cpus;
use crate::shared::quota::QUOTA;
use engine::{
    About, Cell, Custom, Defaults, Failure, Fit, Kind, MetricInfo, Original, Parameter, Print,
    Probe, Subject, Sweep, Usual, Values, Workload, WorkloadInfo, pairs, strings,
};
use load::Stream;
use std::sync::LazyLock;

/// The row of the table.
pub(crate) const WORKLOAD: Connect = Connect { own: OwnServers::NONE };

pub(crate) struct Connect {
    own: OwnServers,
}

/// The axis, of `request` too.
pub(crate) const CONNECTIONS: Parameter = Parameter {
    name: "connections",
    about: "connections that are opened and stay open",
    values: Values::AtLeast(1),
    default: Defaults::always(&["1k"]),
    sweep: Some(Sweep::new("open connections", &["2k"], &["15k"])),
};

/// What `request` has in common with it. Under poll and select each request looks at every connection that is
/// open: it takes milliseconds, and there are as many as connections.
pub(crate) fn base() -> About {
    About {
        info: WorkloadInfo {
            compared_pairs: pairs([
                ("epoll-level", "epoll-edge"),
                ("poll", "epoll-level"),
                ("epoll-level", "nginx"),
            ]),
            ..About::trajectory().info
        },
        kind: Kind::Named,
        custom_keys: CUSTOM_KEYS,
        usual: Usual { rounds: 3, call_ms_max: 40, ..Usual::TRAJECTORY },
        ..About::trajectory()
    }
}

/// Bytes of the file that is asked for.
pub(crate) const FILE_BYTES: u64 = 128;

static ABOUT: LazyLock<About> = LazyLock::new(|| About {
    info: WorkloadInfo {
        name: "connect".into(),
        question: "How does connecting to a server grow with the connections that it has open?"
            .into(),
        operation: "the n-th connection and the reply to its first request, while those before it \
                    stay open"
            .into(),
        not_measured: strings([
            "a network: both ends are here",
            "several clients that connect at once",
            "what open connections cost the server's other work: that is `dead`",
        ]),
        metrics: [
            MetricInfo::time("served", "connect + first request + its reply"),
            MetricInfo::time("connect", "call of connect"),
            MetricInfo::time("handshake", "TLS handshake"),
            MetricInfo::time("answer", "first request + its reply"),
        ]
        .into_iter()
        .chain(calls::metrics("connection"))
        .collect(),
        ..base().info
    },
    parameters: vec![CONNECTIONS, cpus::ONE, TLS, QUOTA],
    originals: &[Original {
        name: "httpbench",
        original: "Felix von Leitner's httpbench (gatling, 2003): what it called clat, and the first \
                   request over each connection",
        subjects: &["epoll-level", "poll", "nginx"],
        points: &["10k"],
        parameters: &[("cpus", "all")],
        rounds: Some(1),
        print: Print::Calls(&[("connect", "connect"), ("connect", "answer")]),
        also: &[],
        hides: &[
            "the first column ends when the kernel has shaken hands: the server may not know yet, and \
             would not have to accept at all",
            "where the scheduler puts client and server (--cpus 1)",
            "the original went on to ask over every i-th connection again: that is `request`",
        ],
    }],
    ..base()
});

impl Workload for Connect {
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
        Ok(Box::new(Connect { own: OwnServers::new(custom, axis, &ABOUT)? }))
    }

    fn measure(&self, cell: &Cell, probe: &mut Probe) -> Result<(), Failure> {
        let count = cell.number(CONNECTIONS.name)?;
        let measure = |client: &mut Client, open: &mut Vec<Stream>, probe: &mut Probe| {
            connect(client, count, open, probe)
        };
        let once_more = |client: &mut Client, open: &mut Vec<Stream>| {
            let socket = client.socket()?;
            client.connect_it(&socket)?;
            let mut stream = client.shake_hands(socket)?;
            client.exchange(&mut stream)?;
            open.push(stream);
            Ok(())
        };
        served::with_connections(&self.own, cell, probe, FILE_BYTES, measure, once_more)
    }
}

/// Opens them one after the other, and times each.
fn connect(
    client: &mut Client,
    count: u64,
    open: &mut Vec<Stream>,
    probe: &mut Probe,
) -> Result<(), Failure> {
    let parts: &[&'static str] =
        if client.is_tls() { &["connect", "handshake", "answer"] } else { &["connect", "answer"] };
    probe.trajectory_in_parts(count, parts, Some("served"), |_, laps| {
        let socket = client.socket()?;
        laps.time(0, || client.connect_it(&socket))?;
        let mut stream = if client.is_tls() {
            laps.time(1, || client.shake_hands(socket))?
        } else {
            client.shake_hands(socket)?
        };
        laps.time(parts.len() - 1, || client.exchange(&mut stream))?;
        open.push(stream);
        Ok(())
    })
}
