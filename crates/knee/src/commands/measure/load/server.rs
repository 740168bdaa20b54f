//! The server's processes while the load is on it, where they are on this machine; and who else is busy there.

use ::load::{Address, Outcome};
use engine::{CpuLook, Stop, Warning};
use findings::{Caveat, GrowthPerConnection};
use model::Host;
use schemars::JsonSchema;
use serde::Serialize;
use std::net::SocketAddr;
use std::time::{Duration, Instant};
use sys::sockets::established_at;
use workloads::local::{Division, LocalServer, NotFound, ServerUse, Workers};

/// A server that takes less than this share of a CPU over a look is idle.
const IDLE_SHARE_MAX: f64 = 0.05;
const LOOK: Duration = Duration::from_millis(100);
const REST_MAX: Duration = Duration::from_secs(10);
/// With fewer dead connections, what the server does besides is as large as what they take.
const MEMORY_DEAD_MIN: u64 = 1_000;

pub struct Watcher {
    server: Result<LocalServer, NotFound>,
    /// Before all loads.
    first: FirstLook,
    /// Without connections of this load.
    before: ServerUse,
    /// With the dead connections, before the load.
    with_dead: ServerUse,
    dead: u64,
    begun: Instant,
    /// Once while the load is on it, with so many connections.
    loaded: Option<(ServerUse, u64)>,
    /// Its workers before the load.
    workers: Workers,
    /// Descriptors that it might still have had then.
    descriptors_left: Option<u64>,
}

/// What the server's processes had and used.
#[derive(Clone, Copy, Debug, Serialize, JsonSchema)]
pub struct Use {
    /// How many processes, and threads of all, at the end of the load.
    pub processes: u64,
    pub threads: u64,
    /// Memory that is resident with the dead connections, in bytes.
    pub resident_bytes: u64,
    /// What each dead connection took of it; absent with few of them.
    pub bytes_per_dead: Option<f64>,
    /// CPU time for each reply, in nanoseconds, those of the warm-up included; absent where there was no reply.
    pub cpu_ns_per_reply: Option<f64>,
    /// CPUs that were busy with it.
    pub cpus: f64,
}

#[derive(Clone, Copy, Debug)]
pub struct Growing {
    pub processes: GrowthPerConnection,
    pub threads: GrowthPerConnection,
}

/// A server that is busy although nothing is asked of it.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Unsettled {
    /// How long it was waited for.
    pub waited_s: f64,
    /// CPUs that it kept busy at the end.
    pub cpus: f64,
    /// Its threads.
    pub threads: u64,
    /// Connections that it had not closed.
    pub connections: u64,
}

impl Watcher {
    pub fn new(address: &Address) -> Watcher {
        let none = ServerUse::default();
        let server = local(address);
        let first = FirstLook::now(server_ns(&server));
        let (begun, loaded, descriptors_left) = (Instant::now(), None, None);
        let workers = Workers::default();
        let (before, with_dead, dead) = (none, none, 0);
        Watcher { server, first, before, with_dead, dead, begun, loaded, workers, descriptors_left }
    }

    pub fn not_found(&self) -> Option<NotFound> {
        self.server.as_ref().err().copied()
    }

    /// Before anything is asked of it.
    pub fn begin(&mut self) {
        self.before = self.look();
        self.loaded = None;
    }

    /// With so many dead connections, before the load.
    pub fn load_begins(&mut self, dead: u64) {
        self.dead = dead;
        self.with_dead = if dead > 0 { self.look() } else { self.before };
        self.workers = self.workers_now();
        self.begun = Instant::now();
    }

    /// While the load is on it, with so many connections; the first time counts.
    pub fn look_once(&mut self, connections: u64) {
        if self.loaded.is_none() && self.server.is_ok() {
            self.loaded = Some((self.look(), connections));
            self.descriptors_left =
                self.server.as_ref().ok().and_then(LocalServer::descriptors_left);
        }
    }

    pub fn has_no_descriptor(&self) -> bool {
        self.descriptors_left == Some(0)
    }

    pub fn division(&self) -> Division {
        self.workers_now().since(&self.workers)
    }

    fn workers_now(&self) -> Workers {
        self.server
            .as_ref()
            .map_or_else(|_| Workers::default(), |server| Workers::from_pids(&server.pids()))
    }

    pub fn load_ended(&self, outcome: &Outcome) -> (Option<Use>, Option<Growing>) {
        if self.server.is_err() {
            return (None, None);
        }
        let after = self.look();
        let used_ns = after.cpu_ns.saturating_sub(self.with_dead.cpu_ns) as f64;
        let grew = self.with_dead.resident_bytes.saturating_sub(self.before.resident_bytes);
        let bytes_per_dead =
            (self.dead >= MEMORY_DEAD_MIN).then_some(grew as f64 / self.dead.max(1) as f64);
        let all_replies = outcome.counts.replies + outcome.counts.warm_up_replies;
        let used = Use {
            processes: after.processes,
            threads: after.threads,
            resident_bytes: self.with_dead.resident_bytes,
            bytes_per_dead,
            cpu_ns_per_reply: (all_replies > 0).then_some(used_ns / all_replies as f64),
            // Its work for the replies that were waited for after the end is in it, too.
            cpus: used_ns / self.begun.elapsed().as_nanos().max(1) as f64,
        };
        (Some(used), Some(self.growing()))
    }

    /// With the dead connections where there are enough, or else with those of the load.
    fn growing(&self) -> Growing {
        let (with, connections) = match self.loaded {
            Some((loaded, active)) if self.dead < active => (loaded, active + self.dead),
            _ => (self.with_dead, self.dead),
        };
        let growth = |count: fn(&ServerUse) -> u64| GrowthPerConnection {
            before: count(&self.before),
            after: count(&with),
            connections,
        };
        Growing {
            processes: growth(|processes| processes.processes),
            threads: growth(|processes| processes.threads),
        }
    }

    /// The machine now, with what used its CPUs since this watcher was made.
    pub fn last_look(&self) -> Host {
        self.first.last(server_ns(&self.server))
    }

    pub fn disturbances(&self, last: &Host) -> Vec<Warning> {
        self.first.disturbances(last)
    }

    /// Waits until the server is idle and has at most so many connections; else what it still did then.
    pub fn settle(
        &self,
        stop: &Stop,
        address: Option<SocketAddr>,
        connections_max: u64,
    ) -> Option<Unsettled> {
        let begun = Instant::now();
        let mut before = self.look();
        loop {
            std::thread::sleep(LOOK);
            let now = self.look();
            let used_ns = now.cpu_ns.saturating_sub(before.cpu_ns) as f64;
            let cpus = used_ns / LOOK.as_nanos() as f64;
            let established = address.and_then(|address| established_at(address).ok().flatten());
            let connections = established.unwrap_or(0);
            let left = connections.saturating_sub(connections_max);
            if (cpus < IDLE_SHARE_MAX && left == 0) || stop.is_requested() {
                return None;
            }
            let waited = begun.elapsed();
            if waited > REST_MAX {
                let waited_s = waited.as_secs_f64();
                return Some(Unsettled { waited_s, cpus, threads: now.threads, connections: left });
            }
            before = now;
        }
    }

    fn look(&self) -> ServerUse {
        self.server.as_ref().map_or_else(|_| ServerUse::default(), LocalServer::look)
    }
}

pub fn local(address: &Address) -> Result<LocalServer, NotFound> {
    match address {
        Address::Tcp(address) => LocalServer::at(*address),
        Address::Unix(path) => LocalServer::at_socket(path),
    }
}

/// The CPU time of a server's processes: 0 if it is elsewhere; none if not all of them can be seen.
fn server_ns(server: &Result<LocalServer, NotFound>) -> Option<u64> {
    match server {
        Ok(server) => Some(server.look().cpu_ns),
        Err(NotFound::Elsewhere(_)) => Some(0),
        Err(NotFound::NoListener(_) | NotFound::NotPermitted(_) | NotFound::NoneAtSocket) => None,
    }
}

pub struct FirstLook {
    host: Host,
    cpus: CpuLook,
}

impl FirstLook {
    /// The load is done by this process, what it starts, and others that have used `more_ns`; none if that can't be seen.
    pub fn now(more_ns: Option<u64>) -> FirstLook {
        FirstLook { host: engine::host(), cpus: CpuLook::now(more_ns) }
    }

    /// The machine after the load, with what used its CPUs meanwhile.
    pub fn last(&self, more_ns: Option<u64>) -> Host {
        let used = CpuLook::now(more_ns).since(&self.cpus);
        Host { cpu_use: Some(used), ..engine::host() }
    }

    pub fn disturbances(&self, last: &Host) -> Vec<Warning> {
        findings::caveats::disturbances(&self.host, last).iter().map(Caveat::warning).collect()
    }
}
