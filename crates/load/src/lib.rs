//! A load generator whose latencies are corrected for coordinated omission, and dead connections.
//!
//! In an open loop the time of each request is fixed before the first one is sent ([`Arrivals`]). A request
//! that is due takes a free connection. If there is none, it waits, and its latency counts from its
//! intended time. The service time, from the moment it was sent, is reported as well. Requests that are
//! never sent, given up or cut off are counted with the time that they had waited.
//!
//! A server on this machine is looked at as well: its processes, found by the socket it listens at, with
//! their CPU time, memory and threads ([`LocalServer`]), and whether it waits for delayed acknowledgements.
//!
//! Each thread is a worker with its own connections, its share of the schedule and its own counts, which
//! are added up at the end.
#![forbid(unsafe_code)]

mod connect;
mod dead;
mod delayed;
mod error;
mod merge;
mod outcome;
mod plan;
mod receive;
mod reply;
mod schedule;
mod server;
mod stopwatch;
mod tally;
mod url;
mod worker;

pub use dead::{
    DEAD_COMMAND, Dead, Holding, Housing, accepted_at, dead_main, established_at, is_own,
    loopback_sources,
};
pub use delayed::{DelayedReply, delayed_reply};
pub use error::Error;
pub use outcome::{Closings, DeadOutcome, Errors, IdleTimes, Outcome, Quantiles, Rates, Tick};
pub use plan::{Arrivals, Plan, Shape, Target};
pub use receive::{Received, Receiver};
pub use reply::ReplyHead;

pub use server::{
    LocalServer, NotFound, ServerUse, cpu_ns_of, cpu_ns_with_ended, descriptors_of,
    listening_ports, processes_below, resident_bytes_of,
};
pub use url::Url;

use crate::merge::Series;
use crate::stopwatch::Stopwatch;
use crate::tally::Interval;
use crate::worker::{Measured, Start, Worker};
use rustix::io::Errno;
use std::num::NonZero;
use std::sync::atomic::AtomicBool;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError, mpsc};

/// Puts the load of `plan` on its target until it is done or `stop` is set, and returns what was measured.
/// `on_tick` is called once an interval.
///
/// Failed connections and requests are counted by kind and do not end the load.
///
/// # Errors
/// A plan that can't be carried out, a refused target if the plan [ends there](Plan::ends_if_refused), and
/// failures of the generator itself.
pub fn run(
    plan: &Plan,
    stop: &AtomicBool,
    mut on_tick: Option<&mut dyn FnMut(&Tick)>,
) -> Result<Outcome, Error> {
    plan.check()?;
    // A thread without a connection would have nothing to do.
    let plan = &Plan { threads: plan.threads.min(plan.connections), ..plan.clone() };
    let (sender, receiver) = mpsc::channel::<Interval>();
    let clock = Stopwatch::start();
    let gate = Gate::new(plan.threads);
    let mut series = Series::new(plan.interval.as_secs_f64(), plan.threads);
    let workers = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..plan.threads)
            .map(|number| {
                let start = Start { plan, stop, clock, number, intervals: sender.clone() };
                let gate = &gate;
                let thread =
                    std::thread::Builder::new().spawn_scoped(scope, move || thread(start, gate));
                thread.map_err(|error| {
                    gate.arrive(false, clock);
                    Error::Failed(format!("starting a thread: {error}"))
                })
            })
            .collect();
        drop(sender);
        for interval in receiver {
            let whole = series.add(interval);
            let reported = series.ticks.len() - whole;
            if let Some(on_tick) = &mut on_tick {
                series.ticks[reported..].iter().for_each(&mut **on_tick);
            }
        }
        let ended: Vec<_> = threads.into_iter().map(|thread| thread.and_then(join)).collect();
        measured_by_all(ended)
    })?;
    Ok(merge::outcome(&workers, series, plan.shape_is_planned()))
}

fn join(
    thread: std::thread::ScopedJoinHandle<'_, Result<Option<Measured>, Error>>,
) -> Result<Option<Measured>, Error> {
    thread
        .join()
        .unwrap_or_else(|_| Err(Error::Failed("a thread of the generator panicked".into())))
}

/// What all threads measured, or why one of them could not begin; the others have nothing then.
fn measured_by_all(ended: Vec<Result<Option<Measured>, Error>>) -> Result<Vec<Measured>, Error> {
    let ended = ended.into_iter().collect::<Result<Vec<_>, Error>>()?;
    Ok(ended.into_iter().flatten().collect())
}

/// A barrier: threads wait for each other until their connections are open.
struct Gate {
    state: Mutex<Waiting>,
    changed: Condvar,
}

struct Waiting {
    missing: usize,
    /// One thread can't begin, so none does.
    called_off: bool,
    zero_ns: i64,
}

impl Gate {
    fn new(threads: usize) -> Gate {
        let state = Waiting { missing: threads, called_off: false, zero_ns: 0 };
        Gate { state: Mutex::new(state), changed: Condvar::new() }
    }

    /// Counts a thread that is `ready`, or never will be.
    fn arrive(&self, ready: bool, clock: Stopwatch) {
        let mut state = self.state();
        state.missing -= 1;
        state.called_off |= !ready;
        if state.missing == 0 {
            state.zero_ns = clock.now_ns();
            self.changed.notify_all();
        }
    }

    /// Waits for all, and returns the common start; none if one can't begin.
    fn wait(&self, ready: bool, clock: Stopwatch) -> Option<i64> {
        self.arrive(ready, clock);
        let mut state = self.state();
        while state.missing > 0 {
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        (!state.called_off).then_some(state.zero_ns)
    }

    fn state(&self) -> MutexGuard<'_, Waiting> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What this thread measured; none if another one could not begin.
fn thread(start: Start<'_>, gate: &Gate) -> Result<Option<Measured>, Error> {
    let (plan, clock, number) = (start.plan, start.clock, start.number);
    let failed = |what: &str, error: Errno| match error {
        Errno::CONNREFUSED => Error::Refused(plan.target.address),
        _ => Error::Failed(format!("{what}: {error}")),
    };
    let opened = prepare_thread(plan, number)
        .and_then(|()| Worker::new(start).map_err(|error| failed("epoll", error)))
        .and_then(|mut worker| match worker.open() {
            Ok(()) => Ok(worker),
            Err(error) => Err(failed("waiting for connections", error)),
        });
    // Even if this one failed: the others wait for it.
    let begin_ns = gate.wait(opened.is_ok(), clock);
    let mut worker = opened?;
    let Some(begin_ns) = begin_ns else { return Ok(None) };
    let warm_up_ns = i64::try_from(plan.warm_up.as_nanos()).unwrap_or(i64::MAX / 4);
    worker.run(begin_ns + warm_up_ns).map_err(|error| failed("waiting for replies", error))?;
    Ok(Some(worker.measured()))
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
