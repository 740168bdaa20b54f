//! How many replies a second does a server give, with connections that do nothing?
//!
//! The reply rate over dead connections that the `sys_epoll` page of 2002 drew with httperf and deadconn.
//! Dead connections have each made one request, and then keep still; others are active, by default 100 in
//! a closed loop: each asks anew as soon as it has its reply. A sample is the replies of one interval.
//! Measured are the replies a second, the CPU that the server takes for each, and what a dead connection
//! takes in memory. Where a server looks at every connection to find those that are ready, the replies
//! fall; where it is notified of them, they don't.
//!
//! The server has its workers on CPUs of their own, from the first on, and the load comes from the others
//! (`--pin` says which there are). Where there is one CPU they share it, and the reply rate is that of
//! both together. The CPU per reply is the server's alone; with the kernel's work on loopback, part of
//! which is done on the side that sends.
//!
//! That the dead are all there is verified before and after, at the server's end too: by its descriptors,
//! or else by its connections as the kernel lists them. A cell with fewer of them, or with any reply that is none, fails.
//!
//! User memory is what the server's processes grew by; kernel memory is what slabs and socket buffers of
//! the whole machine grew by, for both ends of each connection, since both are here.

mod memory;
mod pressure;

use crate::servers::drivers::Counted;
use crate::servers::served::{self, CUSTOM_KEYS, CpuSplit, FILE, OwnServers, Scene};
use crate::servers::tls::TLS;
use crate::servers::warm::warm_up;
use crate::shared::calls;
use crate::shared::quota::{self, QUOTA};
use engine::{
    About, Cell, Custom, Defaults, Failure, Fit, Kind, MetricInfo, MetricRole, Original, Parameter,
    Print, Probe, Subject, Sweep, Usual, Values, Workload, WorkloadInfo, pairs, strings,
};
use memory::Look;
use pressure::{Pressed, Pressure};
use std::sync::LazyLock;

/// The row of the table.
pub(crate) const WORKLOAD: Dead = Dead { own: OwnServers::NONE };

pub(crate) struct Dead {
    own: OwnServers,
}

const DEAD: Parameter = Parameter {
    name: "dead",
    about: "dead connections: they have made one request and stay open",
    values: Values::Between(0, 10_000_000),
    default: Defaults::always(&["0"]),
    sweep: Some(Sweep::new(
        "dead connections",
        &["0", "1k", "3k", "9k"],
        &["0", "50", "100", "200", "400", "800", "1k", "5k", "10k", "15k"],
    )),
};

const CONNECTIONS: Parameter = Parameter {
    name: "alive",
    about: "active connections, which send one request after the other",
    values: Values::Between(1, 100_000),
    default: Defaults::always(&["100"]),
    sweep: Some(Sweep::new(
        "active connections",
        &["10", "100", "1k"],
        &["1", "10", "100", "1k", "5k"],
    )),
};

const WORKERS: Parameter = Parameter {
    name: "workers",
    about: "worker threads or processes of the server",
    values: Values::Between(1, 256),
    default: Defaults { quick: &["1"], full: &["1", "2"] },
    sweep: None,
};

const BYTES: Parameter = Parameter {
    name: "bytes",
    about: "size of the requested file in bytes",
    values: Values::Between(1, 100_000_000),
    default: Defaults::always(&["128"]),
    sweep: None,
};

const CALLS: Parameter = Parameter {
    name: "calls",
    about: "requests over an active connection before a new one replaces it; 0: no limit",
    values: Values::AtLeast(0),
    default: Defaults::always(&["0"]),
    sweep: None,
};

const RATE: Parameter = Parameter {
    name: "rate",
    about: "requests a second (open loop); 0: closed loop",
    values: Values::AtLeast(0),
    default: Defaults::always(&["0"]),
    sweep: Some(Sweep::new(
        "requests/s",
        &["1k", "5k", "20k", "50k"],
        &["1k", "2k", "5k", "10k", "20k", "30k", "50k", "75k", "100k"],
    )),
};

/// Opening a connection, having a reply over it, verifying it and closing it, on a busy machine.
const CONNECTION_US_MAX: u64 = 300;

static ABOUT: LazyLock<About> = LazyLock::new(|| About {
    info: WorkloadInfo {
        name: "dead".into(),
        question: "How many replies a second does a server give with connections that do nothing?"
            .into(),
        operation: "a request and its reply, with so many dead connections".into(),
        not_measured: strings([
            "a network: both ends are here, and the load takes CPU too",
            "connections that come and go: --calls has some",
            "what a server does about connections that do nothing: its time-outs are set wide",
        ]),
        points_down: true,
        compared_pairs: pairs([
            ("epoll-level", "epoll-edge"),
            ("poll", "epoll-level"),
            ("epoll-level", "io_uring-completion"),
            ("epoll-level", "nginx"),
            ("epoll-level", "lighttpd"),
        ]),
        also_growth: strings(["cpu"]),
        metrics: [
            MetricInfo::more("replies", "replies", "replies/s"),
            MetricInfo::more("cold", "replies of a server that has just started", "replies/s"),
            MetricInfo::time("cpu", "reply, on the server's CPUs").with_role(MetricRole::Cpu),
            MetricInfo::time("latency", "request, at the median").with_role(MetricRole::Latency),
            MetricInfo::time("p99", "request, at the 99th percentile")
                .with_role(MetricRole::TailLatency),
            MetricInfo::less("memory", "memory of the server per dead connection", "B"),
            MetricInfo::less(
                "kernel memory",
                "memory of the kernel per dead connection, both ends",
                "B",
            ),
        ]
        .into_iter()
        .chain([MetricInfo::less("received", "bytes of a reply with its head", "B")])
        .chain(pressure::HAPPENED.map(|(name, about, unit)| MetricInfo::less(name, about, unit)))
        .chain(quota::metrics("reply"))
        .chain(calls::metrics("reply"))
        .collect(),
        ..About::plain().info
    },
    kind: Kind::Named,
    parameters: vec![DEAD, CONNECTIONS, WORKERS, BYTES, CALLS, RATE, TLS, QUOTA],
    custom_keys: CUSTOM_KEYS,
    usual: Usual { rounds: 5, made_us_max: Some((DEAD.name, CONNECTION_US_MAX)), ..Usual::PLAIN },
    originals: &[Original {
        name: "httperf",
        original: "httperf --num-conns 100 --num-calls 20000 --rate 100 with deadconn (the sys_epoll \
                   page, 2002), its line of reply rates",
        subjects: &["poll", "epoll-level", "sigio"],
        points: &["0", "50", "100", "200", "400", "800", "1k", "5k", "10k", "15k"],
        parameters: &[("calls", "20000"), ("workers", "1")],
        rounds: Some(3),
        print: Print::ReplyRates,
        also: &[],
        hides: &[
            "100 connections ask in a closed loop: a slow server is asked less, and a reply rate can't be \
             more than the load asks for",
            "the load's own CPU: with a fast server it is the load that is at its limit (--all shows \
             the server's CPU for each reply)",
            "the original's samples were of five seconds each, and a pause of its think time-out counted \
             as an error",
            "latency: a reply that came late is a reply",
        ],
    }],
    ..About::plain()
});

impl Workload for Dead {
    fn about(&self) -> &About {
        self.own.about(&ABOUT)
    }

    fn subjects(&self) -> Vec<Subject> {
        self.own.subjects()
    }

    fn fit(&self, cell: &Cell) -> Fit {
        let number = |name| cell.number(name).unwrap_or(0);
        let (dead, active) = (number(DEAD.name), number(CONNECTIONS.name));
        let Ok(server) = self.own.server(&cell.subject) else { return Fit::Measure };
        match served::fit(&server, cell, CONNECTIONS.name, active, u64::MAX) {
            Fit::Measure => {}
            too_many => return too_many,
        }
        // Processes of their own hold the dead: here, only the server's descriptors count.
        let max = capacity(server.capacity() as u64, number(WORKERS.name)).saturating_sub(active);
        if dead > max {
            return served::too_many(&server, DEAD.name, dead, max);
        }
        memory::fit(DEAD.name, dead)
    }

    fn with_custom(
        &self,
        custom: &Custom,
        axis: Option<&str>,
    ) -> Result<Box<dyn Workload>, String> {
        Ok(Box::new(Dead { own: OwnServers::new(custom, axis, &ABOUT)? }))
    }

    fn measure(&self, cell: &Cell, probe: &mut Probe) -> Result<(), Failure> {
        let workers = cell.number(WORKERS.name)? as usize;
        let cpus = CpuSplit::for_workers(workers)?;
        cpus.state(probe);
        let bytes = cell.number(BYTES.name)?;
        let mut scene = Scene::open(&self.own, cell, probe, bytes, workers, &cpus.server)?;
        let outcome = measured(cell, &cpus, &mut scene, probe);
        let outcome = scene.running.judged(outcome);
        let counted = scene.close();
        let sent = outcome?;
        counted?.map_or(Ok(()), |counted| adds_up(&sent, counted))
    }
}

/// Connections that so many workers hold at the least: which of them one comes to is drawn for each.
fn capacity(capacity: u64, workers: u64) -> u64 {
    if workers == 1 {
        capacity
    } else {
        (capacity * workers).saturating_sub(capacity * workers / 20)
    }
}

/// What clients had from the server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Sent {
    /// Replies, those whose connection was closed before they came left out.
    replies: u64,
    /// Connections, at the least.
    connections: u64,
}

fn measured(
    cell: &Cell,
    cpus: &CpuSplit,
    scene: &mut Scene,
    probe: &mut Probe,
) -> Result<Sent, Failure> {
    let dead = cell.number(DEAD.name)?;
    // One request, so that what a server makes at its first one is there before memory is looked at.
    scene.client(probe)?;
    warm_up(&scene.running, &cpus.clients, cell.start_max() / 4, true, probe);
    let target = scene.running.target(FILE);
    pressure::until_idle(&scene.running)?;
    let before = Look::new(&scene.running)?;
    let mut dead_connections = pressure::DeadConnections::open(&target, dead, &scene.running)?;
    pressure::until_idle(&scene.running)?;
    let after = Look::new(&scene.running)?;
    after.state(&before, dead, probe);
    let pressure = Pressure {
        target,
        connections: cell.number(CONNECTIONS.name)? as usize,
        calls: Some(cell.number(CALLS.name)?).filter(|&calls| calls > 0),
        rate: Some(cell.number(RATE.name)?).filter(|&rate| rate > 0),
    };
    let quota = scene.running.watch_quota()?;
    let pressed = pressure.put(&scene.running, cpus, probe)?;
    dead_connections.verify(&scene.running)?;
    let Pressed { replies, connections } = pressed;
    if let Some(quota) = quota {
        quota.give(replies, probe)?;
    }
    pressure.count_calls(&scene.running, cpus, probe);
    dead_connections.close()?;
    Ok(Sent { replies: replies + dead + 1, connections: connections + dead + 1 })
}

/// Whether the server's own count is that of its clients. It has sent more where a client closed its
/// connection at the end of the time, and what came before the time that counts.
fn adds_up(sent: &Sent, counted: Counted) -> Result<(), Failure> {
    if counted.replies >= sent.replies && counted.accepted >= sent.connections {
        return Ok(());
    }
    Err(Failure::new(format!(
        "the server counted {} connections and {} replies, its clients {} and {}",
        counted.accepted, counted.replies, sent.connections, sent.replies
    )))
}

#[cfg(test)]
mod tests {
    use super::*;
    use engine::RunRequest;

    #[test]
    fn workers_hold_a_little_less_than_their_sum() {
        assert_eq!(capacity(19_900, 1), 19_900);
        assert_eq!(capacity(20_000, 2), 38_000);
    }

    #[test]
    fn a_server_that_counted_less_than_came_from_it_is_not_believed() {
        let sent = Sent { replies: 1_000, connections: 101 };
        assert!(adds_up(&sent, Counted { accepted: 101, replies: 1_050 }).is_ok());
        assert!(adds_up(&sent, Counted { accepted: 101, replies: 999 }).is_err());
        assert!(adds_up(&sent, Counted { accepted: 100, replies: 1_000 }).is_err());
    }

    #[test]
    fn a_deadline_leaves_time_to_open_each_dead_connection() {
        let deadline_ms = |request: RunRequest| {
            let request = RunRequest {
                workloads: vec!["dead".into()],
                subjects: vec!["poll".into()],
                ..request
            };
            engine::plan(&request, crate::TABLE).unwrap().deadline_ms
        };
        let dead = |count: u64| {
            let points =
                deadline_ms(RunRequest { points: vec![count.into()], ..RunRequest::default() });
            let parameters = [("dead".to_owned(), vec![count.into()])].into();
            let axis = Some("alive".to_owned());
            let as_parameter =
                deadline_ms(RunRequest { axis, parameters, ..RunRequest::default() });
            assert_eq!(points, as_parameter);
            points
        };
        assert_eq!(dead(10_000) - dead(0), 10_000 * CONNECTION_US_MAX / 1_000);
    }

    #[test]
    fn nothing_dead_is_a_point() {
        assert_eq!(DEAD.check(&0.into(), "points"), Ok(0.into()));
        assert!(DEAD.check(&"-1".into(), "points").is_err());
    }
}
