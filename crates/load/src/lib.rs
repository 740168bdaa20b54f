//! A load generator whose latencies are corrected for coordinated omission, and dead connections.
//!
//! In an open loop the time of each request is fixed before the first one is sent ([`Arrivals`]). A request
//! that is due takes a free connection. If there is none, it waits, and its latency counts from its
//! intended time. The service time, from the moment it was sent, is reported as well. Requests that are
//! never sent, given up or cut off are counted with the time that they had waited.
//!
//! Each thread is a worker with its own connections, its share of the schedule and its own counts, which
//! are added up at the end.
#![forbid(unsafe_code)]

mod address;
mod connect;
mod dead;
mod error;
mod gate;
mod http;
mod plan;
mod results;
mod schedule;
mod stopwatch;
mod stream;
mod tls;
mod worker;

pub use address::Address;
pub use dead::{
    DEAD_COMMAND, Dead, DeadOutcome, Holding, Housing, IdleTimes, dead_main, loopback_sources,
};
pub use error::Error;
pub use http::delayed::{DelayedReply, delayed_reply};
pub use http::pipelined::pipelines;
pub use http::receive::{Received, Receiver};
pub use http::reply::{Framing, ReplyHead};
pub use http::url::{NoneAccepts, Url, accepting};
pub use plan::{Arrivals, Header, Plan, Shape, Share, Statuses, Target};
pub use results::counts::{Closings, Counts, Errors, Stall};
pub use results::distribution::Quantiles;
pub use results::interval::{IntervalOutcome, Tick};
pub use results::misfit::Misfit;
pub use results::outcome::{Outcome, Rates};
pub use results::part::Part;
pub use stream::{NoStream, Stream};
pub use tls::{Handshakes, Tls, TlsFault, TlsOptions};

use crate::gate::Gate;
use crate::results::interval::Series;
use crate::worker::LoadWorker;
use crate::worker::tally::Tally;
use rustix::io::Errno;
use std::num::NonZero;
use std::sync::atomic::AtomicBool;
use std::sync::mpsc;
use std::thread::{Builder, ScopedJoinHandle};
use std::time::Instant;

/// Watches a load while it goes on, on the thread that called [`run`]; the threads that send never wait for it.
pub trait Watch {
    /// An interval has ended.
    fn tick(&mut self, _tick: &Tick) {}

    /// The figures of an interval are final, if the plan [keeps them](Plan::keeps_intervals). They come in order, as they are
    /// in [`Outcome::intervals`], and two intervals late: the last ones come with the outcome alone.
    fn interval(&mut self, _interval: IntervalOutcome) {}
}

impl<F: FnMut(&Tick)> Watch for F {
    fn tick(&mut self, tick: &Tick) {
        self(tick);
    }
}

/// Puts the load of `plan` on its target until it is done or `stop` is set, and returns what was measured.
///
/// Failed connections and requests are counted by kind and do not end the load.
///
/// # Errors
/// A plan that can't be carried out, a refused target if the plan [ends there](Plan::ends_if_refused), and
/// failures of the generator itself.
pub fn run(
    plan: &Plan,
    stop: &AtomicBool,
    watch: Option<&mut dyn Watch>,
) -> Result<Outcome, Error> {
    Ok(measure(plan, stop, watch, None)?.outcome())
}

/// Does this process's [share](Plan::share) of a load, and returns what it measured, to be [added](Part::add) to what the
/// others did. When the connections are open, or can't be, `agree` takes which of both, and returns when all begin, or that
/// none does.
///
/// # Errors
/// As [`run`]; [`Error::CalledOff`] if none begins.
pub fn run_share(
    plan: &Plan,
    stop: &AtomicBool,
    watch: Option<&mut dyn Watch>,
    agree: &mut dyn FnMut(bool) -> Option<Instant>,
) -> Result<Part, Error> {
    let plan = Plan { keeps_intervals: true, ..plan.clone() };
    measure(&plan, stop, watch, Some(agree))
}

fn measure(
    plan: &Plan,
    stop: &AtomicBool,
    mut watch: Option<&mut dyn Watch>,
    agree: Option<&mut dyn FnMut(bool) -> Option<Instant>>,
) -> Result<Part, Error> {
    // A thread without a connection would have nothing to do.
    let threads_max = (plan.connections / plan.share.ranks.max(1)).max(1);
    let tls = plan.target.tls.as_ref().map(Tls::without_sessions);
    let target = Target { tls, ..plan.target.clone() };
    let plan = &Plan { threads: plan.threads.min(threads_max), target, ..plan.clone() };
    plan.check()?;
    let (sender, receiver) = mpsc::channel();
    let gate = &Gate::new(plan, stop, agree.is_none());
    let mut series = Series::new(plan.interval.as_secs_f64(), plan.threads, plan.keeps_intervals);
    let parts = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..plan.threads)
            .map(|number| {
                let tally = Tally::new(plan, sender.clone());
                let life = move || thread(plan, gate, number, tally);
                Builder::new().spawn_scoped(scope, life).map_err(|error| {
                    gate.arrive(false);
                    Error::Failed(format!("starting a thread: {}", sys::limits::explained(error)))
                })
            })
            .collect();
        drop(sender);
        let is_called_off = agree.is_some_and(|agree| {
            let is_ready = gate.is_ready();
            let begin = agree(is_ready);
            is_ready && !gate.open_at(begin)
        });
        for (number, interval) in receiver {
            let ended = series.add(number, interval);
            if let Some(watch) = &mut watch {
                for interval in ended {
                    watch.tick(&interval.tick);
                }
                series.final_outcomes().for_each(|outcome| watch.interval(outcome));
            }
        }
        // Why one of them could not begin comes first; the others have nothing then.
        let ended: Vec<_> = threads.into_iter().map(|thread| thread.and_then(join)).collect();
        let parts = ended.into_iter().collect::<Result<Vec<Option<Part>>, Error>>()?;
        if is_called_off { Err(Error::CalledOff) } else { Ok(parts) }
    })?;
    let mut sum = Part::new(plan);
    parts.iter().flatten().for_each(|part| sum += part);
    sum.intervals = series.finish(sum.elapsed_s());
    Ok(sum)
}

fn join(thread: ScopedJoinHandle<'_, Result<Option<Part>, Error>>) -> Result<Option<Part>, Error> {
    thread
        .join()
        .unwrap_or_else(|_| Err(Error::Failed("a thread of the generator panicked".into())))
}

/// What this thread measured; none if another one could not begin.
fn thread(
    plan: &Plan,
    gate: &Gate<'_>,
    number: usize,
    tally: Tally,
) -> Result<Option<Part>, Error> {
    let failed = |what: &str, error: Errno| match error {
        Errno::CONNREFUSED => Error::Refused(plan.target.address.clone()),
        _ => Error::Failed(format!("{what}: {error}")),
    };
    let opened = prepare_thread(plan, number)
        .and_then(|()| {
            LoadWorker::new(plan, gate, number, tally).map_err(|error| failed("epoll", error))
        })
        .and_then(|mut worker| match worker.open() {
            Ok(()) => Ok(worker),
            Err(error) => Err(failed("waiting for connections", error)),
        });
    // Even if this one failed: the others wait for it.
    let begin_ns = gate.wait(opened.is_ok());
    let mut worker = opened?;
    let Some(begin_ns) = begin_ns else {
        let is_absent = gate.reach.is_absent();
        return if is_absent { Err(Error::Refused(plan.target.address.clone())) } else { Ok(None) };
    };
    let start_late_ns = gate.sleep_until(begin_ns);
    let warm_up_ns = i64::try_from(plan.warm_up.as_nanos()).unwrap_or(i64::MAX / 4);
    worker.run(begin_ns + warm_up_ns).map_err(|error| failed("waiting for replies", error))?;
    Ok(Some(worker.measured(start_late_ns)))
}

/// Pins this thread if the plan says so, and has the kernel wake it without slack.
fn prepare_thread(plan: &Plan, number: usize) -> Result<(), Error> {
    if !plan.pin.is_empty() {
        let cpu = plan.pin[number % plan.pin.len()];
        sys::cpus::pin(&[cpu])
            .map_err(|error| Error::Failed(format!("pinning to CPU {cpu}: {error}")))?;
    }
    // With the default slack, requests would be sent, and counted as, up to 50 microseconds late.
    let _ = rustix::thread::set_current_timer_slack(NonZero::new(1));
    Ok(())
}

/// The examples of the crate's page on the registry.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
mod page {}
