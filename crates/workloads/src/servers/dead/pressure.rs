//! The load on a server, and the connections that do nothing.

use crate::servers::client::closes_each;
use crate::servers::drivers::Running;
use crate::servers::local::{Division, Happened, Workers, cpu_ns_of, descriptors_left};
use crate::servers::served::CpuSplit;
use crate::shared::calls;
use crate::shared::cpus::stay_on;
use engine::{Fact, Failure, Probe, server_facts};
use load::{
    Arrivals, Closings, Counts, Dead, DeadOutcome, Errors, Holding, IdleTimes, Outcome, Plan,
    Shape, Target, Tick, delayed_reply,
};
use std::io;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

/// A server that does so little in so long a look is idle.
const LOOK: Duration = Duration::from_millis(10);
const IDLE_NS_MAX: u64 = 200_000;
/// After so many looks it never will be.
const LOOKS_MAX: u32 = 1_000;
/// The load lasts so many times the time of a metric: an interval each.
const TIMES: u32 = 4;
/// Shorter intervals have too few replies for their quantiles.
const INTERVAL_MIN: Duration = Duration::from_millis(20);

/// Waits until the server has done all that it had to.
pub(super) fn until_idle(server: &Running) -> Result<(), Failure> {
    if server.unknown().is_some() {
        std::thread::sleep(10 * LOOK);
        return Ok(());
    }
    let cpu_ns = || server.cpu_ns().map_err(cpu_time);
    let mut before = cpu_ns()?;
    for _ in 0..LOOKS_MAX {
        std::thread::sleep(LOOK);
        let now = cpu_ns()?;
        // The time of processes that have ended since is gone from the sum.
        if now.saturating_sub(before) < IDLE_NS_MAX {
            return Ok(());
        }
        before = now;
    }
    let threads = server.look().threads;
    Err(Failure::new(format!(
        "the server is busy although it is asked for nothing ({threads} threads)"
    )))
}

fn cpu_time(error: io::Error) -> Failure {
    Failure::call("the server's CPU time", error)
}

/// Dead connections, verified at the server's end.
pub(super) struct DeadConnections {
    connections: Option<Dead>,
    count: u64,
    /// Descriptors of the server without them; absent where its connections are counted instead.
    descriptors_without: Option<u64>,
}

impl DeadConnections {
    /// Opens so many.
    pub fn open(target: &Target, count: u64, server: &Running) -> Result<DeadConnections, Failure> {
        let descriptors_without =
            (!server.is_own()).then(|| server.descriptors().map_err(counting)).transpose()?;
        let mut holding = Holding::new(target, count as usize);
        if server.is_own() {
            holding.timeout = OWN_TIMEOUT;
        }
        let never = AtomicBool::new(false);
        let open = || Dead::open(target, count as usize, &holding, &never);
        let dead = (count > 0).then(open).transpose();
        let connections = dead.map_err(|error| Failure::call("opening dead connections", error))?;
        if let Some(dead) = connections.as_ref().filter(|dead| dead.outcome.opened < count) {
            return Err(not_held(dead, server));
        }
        let mut opened = DeadConnections { connections, count, descriptors_without };
        opened.verify(server)?;
        Ok(opened)
    }

    /// Whether each of them is there, at both ends.
    pub fn verify(&mut self, server: &Running) -> Result<(), Failure> {
        let Some(mut alive) = self.alive()? else { return Ok(()) };
        let seen = self.seen(server)?;
        let is_held = seen.is_none_or(|seen| seen >= self.count);
        if alive == self.count && is_held {
            return Ok(());
        }
        if !is_held {
            // The server may have closed them between the two looks. Their holders know when.
            alive = self.alive()?.unwrap_or(alive);
        }
        let count = self.count;
        let outcome = self.connections.as_ref().map(|dead| dead.outcome).unwrap_or_default();
        if outcome.can_not_be_held() {
            return Err(closes_each(&outcome.closings));
        }
        if let Some(IdleTimes { median_ms, .. }) = outcome.closed_idle {
            let after = match median_ms {
                0..1_000 => format!("{median_ms} ms"),
                _ => format!("{:.0} s", median_ms as f64 / 1e3),
            };
            return Err(Failure::new(format!(
                "the server closes idle connections after {after}: dead connections can't be held"
            )));
        }
        let seen = seen.map_or_else(|| "an unknown number".to_owned(), |seen| seen.to_string());
        Err(Failure::new(format!(
            "of {count} dead connections {alive} are open, and the server has {seen}"
        )))
    }

    /// How many are open, as their holders see it; none where there are none.
    fn alive(&mut self) -> Result<Option<u64>, Failure> {
        let alive = self.connections.as_mut().map(Dead::alive).transpose();
        alive.map_err(|error| Failure::call("dead connections", error))
    }

    /// How many of its ends the server has; unknown where it is on another machine.
    fn seen(&self, server: &Running) -> Result<Option<u64>, Failure> {
        if let Some(without) = self.descriptors_without {
            let seen = server.descriptors().map_err(counting)?.saturating_sub(without);
            if seen >= self.count {
                return Ok(Some(seen));
            }
            // It may have closed other descriptors since. The list of all connections takes longer.
        }
        if server.unknown().is_some() {
            return Ok(None);
        }
        server.connections().map(Some).map_err(counting)
    }

    /// Closes them.
    pub fn close(self) -> Result<(), Failure> {
        let Some(connections) = self.connections else { return Ok(()) };
        connections
            .close()
            .map(drop)
            .map_err(|error| Failure::call("closing dead connections", error))
    }
}

/// Why a server holds fewer than were to be opened.
fn not_held(dead: &Dead, server: &Running) -> Failure {
    let DeadOutcome { asked, opened, errors, closings, .. } = dead.outcome;
    if dead.outcome.can_not_be_held() {
        return closes_each(&closings);
    }
    let errors: Vec<String> =
        errors.each().map(|(name, count)| format!("{name} {count}")).collect();
    let errors = errors.join(", ");
    let fault =
        format!("the server holds {opened} of the {asked} dead connections asked for ({errors})");
    explained(&fault, descriptors_left(&server.pids()) == Some(0), None)
}

fn counting(error: io::Error) -> Failure {
    Failure::call("counting the server's connections", error)
}

/// One of the user's own that does not answer for this long holds no more connections.
const OWN_TIMEOUT: Duration = Duration::from_secs(5);

/// What is asked of the server.
pub(super) struct Pressure {
    pub target: Target,
    pub connections: usize,
    /// Requests over one connection.
    pub calls: Option<u64>,
    /// Requests a second; a closed loop if there is none.
    pub rate: Option<u64>,
}

/// What the kernel counts for the threads of a server, with what it is.
pub(super) const HAPPENED: [(&str, &str, &str); 3] = [
    ("context switches", "context switches of the server for a reply", "switches/reply"),
    ("wake-ups", "waits of the server's threads for a reply that ended", "wake-ups/reply"),
    ("page faults", "minor and major page faults of the server for a reply", "faults/reply"),
];

/// Replies in which system calls are counted, for each connection and in all.
const COUNTED_PER_CONNECTION: u64 = 20;
const COUNTED_MAX: u64 = 5_000;

/// What came of it, in the time that counts.
pub(super) struct Pressed {
    pub replies: u64,
    pub connections: u64,
}

impl Pressure {
    /// Puts it on the server, and keeps the figures of each interval.
    pub fn put(
        &self,
        server: &Running,
        cpus: &CpuSplit,
        probe: &mut Probe,
    ) -> Result<Pressed, Failure> {
        // This thread only looks at the clocks: where the load is, not in the server's way.
        stay_on(&cpus.clients)?;
        let pids = server.pids();
        let cpu_ns = || if server.is_own() { server.cpu_ns() } else { cpu_ns_of(&pids) };
        let is_known = server.unknown().is_none();
        if let Some(why) = server.unknown() {
            probe.fact("CPU and memory of the server", why.to_string());
        }
        let workers = Workers::from_pids(&pids);
        let overflows = sys::sockets::accept_queue_overflows();
        let clock = probe.clock();
        let mut plan = self.plan(cpus, probe.time());
        for left in (0..TRIES).rev() {
            let (mut cpu, mut interval_ends) = (Vec::<io::Result<u64>>::new(), Vec::new());
            let mut has_no_descriptor = false;
            let mut happened: Vec<Happened> = Vec::new();
            let mut watch = |_: &Tick| {
                interval_ends.push(clock.now());
                has_no_descriptor |= server.is_own() && descriptors_left(&pids) == Some(0);
                if is_known {
                    cpu.push(cpu_ns());
                    // The first look and the last one.
                    happened.truncate(1);
                    happened.extend(Happened::from_pids(&server.pids()));
                }
            };
            let outcome = load::run(&plan, &AtomicBool::new(false), Some(&mut watch));
            let outcome = outcome.map_err(|error| Failure::call("the load", error))?;
            flawless(&outcome.counts)
                .map_err(|fault| explained(&fault, has_no_descriptor, overflows))?;
            let cpu: Vec<u64> = cpu.into_iter().collect::<io::Result<_>>().map_err(cpu_time)?;
            let samples = Samples::new(&outcome.series, &cpu);
            // Where all looks at the server's CPU time came late, another try may do better.
            let has_all = !samples.cpu_ns.is_empty() || !is_known || left == 0;
            if !samples.p50_ns.is_empty() && has_all {
                samples.keep(probe);
                let Counts { replies, bytes, .. } = outcome.counts;
                probe.given("received", &[bytes as f64 / replies.max(1) as f64], replies);
                if let [first_end, .., last_end] = interval_ends[..] {
                    // When the first interval began is not known.
                    let timed_replies =
                        outcome.series.iter().skip(1).map(|tick| tick.replies).sum();
                    probe.region("replies", first_end, last_end, timed_replies);
                    give_happened(&happened, timed_replies, probe);
                }
                state(&outcome, &samples, probe);
                self.state_manners(&outcome, probe);
                state_workers(Workers::from_pids(&pids).since(&workers), server, probe);
                let connections = plan.connections as u64;
                return Ok(Pressed { replies, connections });
            }
            if left > 0 {
                plan.duration = plan.duration.map(|duration| duration * 2);
                plan.interval *= 2;
            }
        }
        let took_ms = plan.duration.unwrap_or_default().as_millis();
        Err(Failure::new(format!("no reply came in {TRIES} tries, the last of {took_ms} ms")))
    }

    /// Counts the system calls of the server in a load of their own, which takes no longer than that before.
    pub fn count_calls(&self, server: &Running, cpus: &CpuSplit, probe: &mut Probe) {
        let connections = self.connections as u64;
        let requests = (COUNTED_PER_CONNECTION * connections).min(COUNTED_MAX).max(connections);
        let plan = self.plan(cpus, probe.time());
        let plan = Plan { requests: Some(requests), warm_up: Duration::ZERO, ..plan };
        calls::count_of_server(server, probe, || {
            let outcome = load::run(&plan, &AtomicBool::new(false), None);
            let outcome = outcome.map_err(|error| Failure::call("the load", error))?;
            Ok(outcome.counts.replies)
        });
    }

    /// States what the server does to connections and replies.
    fn state_manners(&self, outcome: &Outcome, probe: &mut Probe) {
        let closings = &outcome.counts.closings;
        let &Closings { replies_min, replies_max, http_10, .. } = closings;
        let closed = closings.total();
        if closed > 0 && replies_min == replies_max && 2 * closed >= outcome.counts.connections {
            probe.fact(server_facts::REPLIES_PER_CONNECTION, replies_max);
            probe.fact(server_facts::HTTP_10, u64::from(http_10 > 0));
            if !closings.is_announced() {
                probe.fact(server_facts::UNANNOUNCED, 1_u64);
            }
        }
        // The figures are there: what can't be asked again is left open.
        if let Ok(Some(delayed)) = delayed_reply(&self.target, outcome.service.p50) {
            probe.fact(server_facts::DELAYED_MS, Fact::rounded(delayed.delayed_ms, 1));
            probe.fact(server_facts::IMMEDIATE_MS, Fact::rounded(delayed.immediate_ms, 3));
        }
    }

    fn plan(&self, cpus: &CpuSplit, time: Duration) -> Plan {
        let (duration, threads) = (time * TIMES, cpus.clients.len().min(self.connections));
        let interval = time.max(INTERVAL_MIN);
        let shape = self
            .rate
            .map_or(Shape::Closed, |rate| Shape::Open(Arrivals::Constant { per_s: rate as f64 }));
        Plan {
            shape,
            connections: self.connections,
            calls: self.calls,
            timeout: Duration::from_secs(20),
            duration: Some(duration.max(TIMES * INTERVAL_MIN)),
            warm_up: interval,
            threads: threads.clamp(1, THREADS_MAX),
            pin: cpus.clients.clone(),
            interval,
            ..Plan::new(self.target.clone())
        }
    }
}

/// Gives what the kernel counted for the server from the first look to the last one, in which it gave so many replies.
fn give_happened(looks: &[Happened], replies: u64, probe: &mut Probe) {
    let [first, last] = looks else { return };
    let counts = last.since(first).filter(|_| replies > 0);
    for (metric, count) in HAPPENED.iter().zip(counts.into_iter().flatten()) {
        probe.given(metric.0, &[count as f64 / replies as f64], replies);
    }
}

/// The fault with what the server lacked.
fn explained(fault: &str, has_no_descriptor: bool, overflows_before: Option<u64>) -> Failure {
    let overflows = sys::sockets::accept_queue_overflows().zip(overflows_before);
    let overflows = overflows.map_or(0, |(now, before)| now.saturating_sub(before));
    let lacks = if has_no_descriptor {
        "; it has no descriptor left".to_owned()
    } else if overflows > 0 {
        format!("; its accept queue was full {overflows} times")
    } else {
        String::new()
    };
    Failure::new(format!("{fault}{lacks}"))
}

/// States how the processes of a server of the user's own divided the work, where there are several.
fn state_workers(division: Division, server: &Running, probe: &mut Probe) {
    let Division { workers, ended, cpu_ns, busiest_share } = division;
    if server.is_own() && workers > 1 {
        probe.fact(server_facts::WORKERS, workers);
        probe.fact(server_facts::WORKERS_ENDED, ended);
        probe.fact(server_facts::WORKERS_CPU_S, Fact::rounded(cpu_ns as f64 / 1e9, 2));
        probe.fact(server_facts::BUSIEST_SHARE, Fact::rounded(busiest_share, 2));
    }
}

/// On a machine that does much else, a server may get no turn in all of the time: each further try takes
/// twice as long.
const TRIES: u32 = 5;

/// More threads than this ask faster than any server answers.
const THREADS_MAX: usize = 8;

/// Whether every reply that came is one: figures with errors in them are none of replies.
fn flawless(counts: &Counts) -> Result<(), String> {
    let [_, good, not_good @ ..] = counts.statuses;
    let odd: u64 = not_good.iter().sum();
    let &Counts { asked, unserved, .. } = counts;
    if unserved > 0 && good > 0 {
        return Err(format!(
            "the server served {} of {asked} active connections: the others never got a reply",
            asked - unserved.min(asked)
        ));
    }
    if counts.errors == Errors::default() && odd == 0 {
        return Ok(());
    }
    let kinds = counts.errors.each();
    let mut errors: Vec<String> = kinds.map(|(name, count)| format!("{name} {count}")).collect();
    if odd > 0 {
        errors.push(format!("replies that grant nothing {odd}"));
    }
    if counts.errors.closed > 0 {
        errors.push("the server closes connections and does not announce it".to_owned());
    }
    errors.extend(counts.misfit.as_ref().map(|misfit| format!("the server {misfit}")));
    errors.extend(counts.other_error.clone());
    let (requests, errors) = (counts.requests, errors.join(", "));
    Err(format!("of {requests} requests {good} were replied to; {errors}"))
}

/// The samples of each interval.
#[derive(Debug, Default, PartialEq)]
struct Samples {
    replies: u64,
    per_reply_ns: Vec<f64>,
    cpu_ns: Vec<f64>,
    p50_ns: Vec<f64>,
    p99_ns: Vec<f64>,
}

impl Samples {
    /// Of the intervals, and of the server's CPU time at the end of each. An interval without a reply
    /// belongs to the next that has one: it is a time that one was waited for.
    fn new(series: &[Tick], cpu_ns: &[u64]) -> Samples {
        let mut samples = Samples::default();
        let mut began_s = 0.0;
        for tick in series.iter().filter(|tick| tick.replies > 0) {
            samples.replies += tick.replies;
            samples.per_reply_ns.push((tick.at_s - began_s) * 1e9 / tick.replies as f64);
            // Replies to requests of the warm-up alone have no latencies that count.
            if tick.max_ns > 0.0 {
                samples.p50_ns.push(tick.p50_ns);
                samples.p99_ns.push(tick.p99_ns);
            }
            began_s = tick.at_s;
        }
        // Of the first interval only the end is known. Two ticks that were read at one moment are one.
        let spent = cpu_ns.windows(2).map(|pair| pair[1].saturating_sub(pair[0]));
        let (mut replies, mut ns) = (0, 0);
        for (tick, spent_ns) in series.iter().skip(1).zip(spent) {
            (replies, ns) = (replies + tick.replies, ns + spent_ns);
            if replies > 0 && ns > 0 {
                samples.cpu_ns.push(ns as f64 / replies as f64);
                (replies, ns) = (0, 0);
            }
        }
        samples
    }

    fn keep(&self, probe: &mut Probe) {
        let rates = self.per_reply_ns.iter().map(|ns| 1e9 / ns).collect();
        for (metric, figures) in [
            ("replies", &rates),
            ("cpu", &self.cpu_ns),
            ("latency", &self.p50_ns),
            ("p99", &self.p99_ns),
        ] {
            if !figures.is_empty() {
                probe.given(metric, figures, self.replies);
            }
        }
    }
}

/// States who was at its limit: where that is the load, the server could have done more.
fn state(outcome: &Outcome, samples: &Samples, probe: &mut Probe) {
    let percent = |share: f64| Fact::rounded(share * 100.0, 0);
    let mean = |figures: &[f64]| figures.iter().sum::<f64>() / figures.len().max(1) as f64;
    probe.fact("load's busiest thread on a CPU_percent", percent(outcome.counts.busy_share));
    if !samples.cpu_ns.is_empty() {
        let busy = mean(&samples.cpu_ns) / mean(&samples.per_reply_ns).max(1.0);
        probe.fact("server on a CPU_percent", percent(busy));
    }
    if outcome.counts.unsent > 0 {
        probe.fact("requests due and never sent", outcome.counts.unsent);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tick(at_s: f64, replies: u64) -> Tick {
        Tick { at_s, replies, p50_ns: 5.0, p99_ns: 9.0, max_ns: 9.0, ..Tick::default() }
    }

    #[test]
    fn an_interval_gives_a_sample_of_each() {
        let series = [tick(0.5, 100), tick(1.0, 50)];
        let samples = Samples::new(&series, &[1_000, 3_000]);
        assert_eq!(samples.per_reply_ns, [5e6, 1e7]);
        assert_eq!(samples.cpu_ns, [40.0]);
        assert_eq!((samples.replies, samples.p99_ns), (150, vec![9.0, 9.0]));
    }

    #[test]
    fn cpu_that_was_looked_at_late_is_that_of_several_intervals() {
        let series = [tick(0.1, 10), tick(0.2, 10), tick(0.3, 30), tick(0.4, 0), tick(0.5, 10)];
        let samples = Samples::new(&series, &[100, 100, 500, 600, 700]);
        assert_eq!(samples.cpu_ns, [400.0 / 40.0, 200.0 / 10.0]);
    }

    #[test]
    fn time_without_a_reply_is_not_lost() {
        let samples = Samples::new(&[tick(0.5, 100), tick(1.0, 0), tick(1.5, 100)], &[]);
        assert_eq!(samples.per_reply_ns, [5e6, 1e7]);
    }

    #[test]
    fn replies_without_a_latency_that_counts_give_no_latency_of_nothing() {
        let of_warm_up = Tick { at_s: 0.5, replies: 10, ..Tick::default() };
        let samples = Samples::new(&[of_warm_up, tick(1.0, 10)], &[]);
        assert_eq!((samples.replies, samples.p50_ns, samples.p99_ns), (20, vec![5.0], vec![9.0]));
    }

    #[test]
    fn an_error_fails_the_cell() {
        let good =
            Counts { requests: 9, replies: 9, statuses: [0, 9, 0, 0, 0], ..Counts::default() };
        assert!(flawless(&good).is_ok());
        let errors = Errors { reset: 2, ..Errors::default() };
        let message = flawless(&Counts { errors, ..good.clone() }).unwrap_err();
        assert!(message.contains("reset 2"), "{message}");
        let starved = Counts { asked: 100, unserved: 84, ..good.clone() };
        let message = flawless(&starved).unwrap_err();
        assert!(message.starts_with("the server served 16 of 100 active connections"), "{message}");
        assert!(flawless(&Counts { statuses: [0, 8, 1, 0, 0], ..good }).is_err());
    }
}
