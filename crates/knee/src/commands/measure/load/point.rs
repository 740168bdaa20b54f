//! One load, with a number of dead connections or without: what came of it, and what the server is seen to do.

use super::server::{Growing, Unsettled, Use, Watcher};
use crate::commands::measure::progress::Progress;
use ::load::{
    Counts, Dead, DeadOutcome, DelayedReply, Error, Holding, IntervalOutcome, Outcome, Plan, Tick,
    Watch, delayed_reply,
};
use engine::Stop;
use findings::ServerBehaviour;
use findings::format::{count, significant};
use std::net::SocketAddr;
use std::time::Duration;
use sys::sockets::{accept_queue_overflows, established_at, is_own};
use workloads::local::{Division, NotFound};

#[derive(Debug, Default)]
pub struct Point {
    pub outcome: Outcome,
    /// What the server's processes used; none where they can't be looked at.
    pub server: Option<Use>,
    pub server_unknown: Option<NotFound>,
    growing: Option<Growing>,
    delayed: Option<DelayedReply>,
    has_no_descriptor: bool,
    division: Division,
    /// How often an accept queue of this machine was full meanwhile; absent where the server is elsewhere.
    overflows: Option<u64>,
    pub unsettled: Option<Unsettled>,
}

impl Point {
    /// Of a load that other ranks did, too: its server was not looked at.
    pub fn from_outcome(outcome: Outcome) -> Point {
        Point { outcome, ..Point::default() }
    }

    /// Loads, and gives `keep` each interval that is final. Unless it `is_last`, waits until the server is idle again.
    pub fn measure(
        number: Option<u64>,
        is_last: bool,
        plan: &Plan,
        watcher: &mut Watcher,
        stop: &Stop,
        keep: &mut dyn FnMut(IntervalOutcome),
    ) -> Result<Point, Error> {
        let address = plan.target.address.tcp();
        let is_here = address.is_some_and(|address| is_own(address.ip()));
        watcher.begin();
        let mut dead = number.map(|number| CountedDead::open(number, plan, stop)).transpose()?;
        let opened = dead.as_ref().map_or(0, CountedDead::opened);
        if opened > 0 {
            // Its work for the last of them is no work of the load.
            watcher.settle(stop, address, u64::MAX);
        }
        watcher.load_begins(opened);
        let overflows_before = is_here.then(accept_queue_overflows).flatten();
        let progress = drawn(plan);
        let mut watching = Watching { progress: &progress, plan, watcher: &mut *watcher, keep };
        let outcome = ::load::run(plan, &stop.requested, Some(&mut watching));
        progress.done();
        let mut outcome = outcome?;
        let overflows = overflows_before
            .and_then(|before| Some(accept_queue_overflows()?.saturating_sub(before)));
        let (server, growing) = watcher.load_ended(&outcome);
        let division = watcher.division();
        let has_no_descriptor = watcher.has_no_descriptor();
        outcome.dead = dead.as_mut().map(|dead| dead.outcome(address));
        // The figures are there: what can't be asked again is left open.
        let may_ask = !stop.is_requested() && is_here;
        let median_ns = outcome.service.p50;
        let delayed =
            if may_ask { delayed_reply(&plan.target, median_ns).ok().flatten() } else { None };
        let unrelated = dead.as_ref().and_then(|dead| dead.unrelated).unwrap_or(u64::MAX);
        drop(dead);
        let unsettled = if is_last { None } else { watcher.settle(stop, address, unrelated) };
        let server_unknown = watcher.not_found();
        Ok(Point {
            outcome,
            server,
            server_unknown,
            growing,
            delayed,
            has_no_descriptor,
            division,
            overflows,
            unsettled,
        })
    }

    /// The number of dead connections; none where it was measured without.
    pub fn number(&self) -> Option<u64> {
        self.outcome.dead.map(|dead| dead.asked)
    }

    pub fn dead(&self) -> u64 {
        self.outcome.dead.map_or(0, |dead| dead.asked)
    }

    /// Whether it was measured with a number of dead connections, which may be none.
    pub fn has_dead(&self) -> bool {
        self.outcome.dead.is_some()
    }

    /// Whether the server ended every dead connection with its reply.
    pub fn can_not_hold(&self) -> bool {
        self.outcome.dead.is_some_and(|dead| dead.can_not_be_held())
    }

    pub fn behaviours(&self) -> Vec<ServerBehaviour> {
        let counts = &self.outcome.counts;
        let closings = &counts.closings;
        let mut all = self.of_replies();
        all.extend(ServerBehaviour::of_closings(
            (closings.total(), counts.connections),
            closings.is_announced(),
            closings.http_10 > 0,
            (closings.replies_min, closings.replies_max),
        ));
        all.extend(ServerBehaviour::of_idle(
            closings.idle_ms_min,
            closings.idle,
            counts.connections,
        ));
        if let Some(dead) = &self.outcome.dead {
            let missing = dead.asked - dead.opened.min(dead.asked);
            if self.can_not_hold() {
                let (is_announced, http_10) =
                    (dead.closings.is_announced(), dead.closings.http_10 > 0);
                let closes = ServerBehaviour::ClosesAfterReply { is_announced, http_10 };
                if !all.contains(&closes) {
                    all.push(closes);
                }
            } else if missing > 0 && dead.opened > 0 && dead.errors.is_of_the_server() {
                let (opened, asked) = (dead.opened, dead.asked);
                all.push(ServerBehaviour::HoldsFewer { opened, asked });
            }
            all.extend(dead.closed_idle.and_then(|idle| {
                ServerBehaviour::of_idle(idle.median_ms, idle.count, dead.opened)
            }));
        }
        all.extend(self.delayed.map(|delayed| ServerBehaviour::DelayedReply {
            delayed_ms: delayed.delayed_ms,
            immediate_ms: delayed.immediate_ms,
        }));
        all.extend(
            self.growing
                .and_then(|growing| ServerBehaviour::of_growth(growing.processes, growing.threads)),
        );
        let Division { workers, ended, cpu_ns, busiest_share } = self.division;
        all.extend(ServerBehaviour::of_workers(workers, ended, cpu_ns as f64 / 1e9, busiest_share));
        all
    }

    fn of_replies(&self) -> Vec<ServerBehaviour> {
        let Outcome { counts, connect, .. } = &self.outcome;
        let Counts { asked, unserved, statuses, .. } = *counts;
        let (failures, answered) = (counts.errors.status, statuses.iter().sum::<u64>());
        let serves = ServerBehaviour::ServesSome {
            served: asked - unserved.min(asked),
            asked,
            has_no_descriptor: self.has_no_descriptor,
        };
        // A server without any reply has another trouble than too many connections.
        let is_some = unserved > 0 && answered > 0;
        let fails = ServerBehaviour::Fails { failures, answered, statuses };
        let redirects = counts.redirects_to.clone().map(|to| ServerBehaviour::Redirects { to });
        let misfit = counts.misfit.as_ref().map(|misfit| ServerBehaviour::Misfits {
            clause: misfit.to_string(),
            remedy: misfit.remedy(),
        });
        let short = counts.errors.short;
        let ends = ServerBehaviour::EndsReplies { short, replies: answered + short };
        let connect_s = connect.max / 1e9;
        // The first retry comes after a second: a connection that took less was not turned away. Those that were may never
        // have come to be.
        let timed_out = counts.errors.timeout;
        let is_felt = connect_s > 0.9 || timed_out > 0;
        let overflows = self.overflows.filter(|overflows| *overflows > 0 && is_felt);
        let all = [
            is_some.then_some(serves),
            (failures > 0).then_some(fails),
            redirects,
            misfit,
            (short > 0).then_some(ends),
            stall(&self.outcome),
            overflows.map(|overflows| ServerBehaviour::OverflowsAcceptQueue {
                overflows,
                connect_s,
                timed_out,
            }),
        ];
        all.into_iter().flatten().collect()
    }
}

pub fn stall(outcome: &Outcome) -> Option<ServerBehaviour> {
    let pauses = outcome.counts.stalls.iter().flatten().map(|pause| (pause.from_s, pause.length_s));
    ServerBehaviour::of_pauses(pauses, outcome.service.p50)
}

/// One line on a terminal.
fn drawn(plan: &Plan) -> Progress {
    let length = plan.duration.map(|duration| duration.as_millis() as u64);
    let drawn = if length.is_some() { "{bar:24}" } else { "{spinner}" };
    let progress = Progress::drawn(length, &format!("{drawn} {{elapsed}}  {{msg}}"));
    progress.tick_every(Duration::from_millis(500));
    progress
}

struct Watching<'a> {
    progress: &'a Progress,
    plan: &'a Plan,
    watcher: &'a mut Watcher,
    keep: &'a mut dyn FnMut(IntervalOutcome),
}

impl Watch for Watching<'_> {
    fn tick(&mut self, tick: &Tick) {
        let errors = match tick.errors {
            0 => String::new(),
            errors => format!("  {} errors", count(errors)),
        };
        let rate = significant(tick.replies as f64 / self.plan.interval.as_secs_f64());
        let p99 = significant(tick.p99_ns / 1e6);
        let message = format!("{rate} replies/s  p99 {p99} ms{errors}");
        self.progress.at((tick.at_s * 1e3) as u64, &message);
        self.watcher.look_once(self.plan.connections as u64);
    }

    fn interval(&mut self, interval: IntervalOutcome) {
        (self.keep)(interval);
    }
}

struct CountedDead {
    asked: u64,
    dead: Option<Dead>,
    /// Before they were opened.
    unrelated: Option<u64>,
    /// After they were opened, before the load.
    before: Option<u64>,
}

impl CountedDead {
    fn open(asked: u64, plan: &Plan, stop: &Stop) -> Result<CountedDead, Error> {
        let (address, count) = (plan.target.address.tcp(), asked as usize);
        let mut holding = Holding::new(&plan.target, count);
        if !plan.sources.is_empty() {
            holding.sources.clone_from(&plan.sources);
        }
        let unrelated = seen(address);
        let open = || Dead::open(&plan.target, count, &holding, &stop.requested);
        let dead = (count > 0).then(open).transpose()?;
        Ok(CountedDead { asked, dead, unrelated, before: seen(address) })
    }

    fn opened(&self) -> u64 {
        self.dead.as_ref().map_or(0, |dead| dead.outcome.opened)
    }

    fn outcome(&mut self, address: Option<SocketAddr>) -> DeadOutcome {
        let more = |now: Option<u64>| Some(now?.saturating_sub(self.unrelated?));
        let (before, at_end) = (more(self.before), more(seen(address)));
        let Some(dead) = &mut self.dead else {
            return DeadOutcome { asked: self.asked, ..DeadOutcome::default() };
        };
        // Connections end with their holder; the figures of the load are kept all the same.
        let alive_at_end = dead.alive().unwrap_or(0);
        DeadOutcome {
            alive_at_end,
            seen_by_server_before: before,
            seen_by_server_at_end: at_end,
            ..dead.outcome
        }
    }
}

/// The server's established connections; none where the kernel's lists don't have it.
fn seen(address: Option<SocketAddr>) -> Option<u64> {
    established_at(address?).ok().flatten()
}
