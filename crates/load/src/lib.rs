//! A load generator that doesn't lie about latency, and connections that do nothing.
//!
//! In an open loop the time of each request is fixed before the first is sent ([`Arrivals`]). What is
//! due takes a free connection; where there is none, it waits, and its latency counts from its
//! intended time on. The service time, from the moment that it was sent, stands beside it. What is
//! never sent, given up or cut off is counted, with how long it had waited.
//!
//! Each thread has connections, a share of the schedule and counts of its own; they meet at the end.
#![forbid(unsafe_code)]

mod connect;
mod dead;
mod lane;
mod merge;
mod outcome;
mod plan;
mod reply;
mod schedule;
mod tally;
mod watch;

pub use dead::{
    DEAD_COMMAND, Dead, Holding, Housing, accepted_at, dead_main, established_at, is_own,
    loopback_sources,
};
pub use outcome::{DeadOutcome, Errors, Outcome, Quantiles, Rates, Tick};
pub use plan::{Arrivals, Plan, Shape, Target};

use crate::lane::{Lane, Measured, Start};
use crate::merge::Series;
use crate::tally::Interval;
use crate::watch::Watch;
use std::num::NonZero;
use std::sync::atomic::AtomicBool;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError, mpsc};

/// Why there is no load.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct Error(pub String);

/// Puts the load of `plan` on its target until it is done or `stop` is set, and says what came of
/// it. `watch` is told how far it is, once a tick.
///
/// What goes wrong with connections and requests is counted by its kind and ends nothing.
///
/// # Errors
/// A plan that can't be carried out, and what keeps the generator itself from running.
pub fn run(
    plan: &Plan,
    stop: &AtomicBool,
    mut watch: Option<&mut dyn FnMut(&Tick)>,
) -> Result<Outcome, Error> {
    plan.check()?;
    // A thread without a connection would have nothing to do.
    let plan = &Plan { threads: plan.threads.min(plan.connections), ..plan.clone() };
    let (to, from) = mpsc::channel::<Interval>();
    let clock = Watch::start();
    let gate = Gate::new(plan.threads);
    let mut series = Series::new(plan.interval.as_secs_f64(), plan.threads);
    let lanes = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..plan.threads)
            .map(|number| {
                let start = Start { plan, stop, watch: clock, number, to: to.clone() };
                let gate = &gate;
                let begun =
                    std::thread::Builder::new().spawn_scoped(scope, move || thread(start, gate));
                begun.map_err(|error| {
                    gate.arrive(false, clock);
                    Error(format!("starting a thread: {error}"))
                })
            })
            .collect();
        drop(to);
        for interval in from {
            let whole = series.add(interval);
            let told = series.ticks.len() - whole;
            if let Some(watch) = &mut watch {
                series.ticks[told..].iter().for_each(&mut **watch);
            }
        }
        let ended: Vec<_> = threads.into_iter().map(|begun| begun.and_then(joined)).collect();
        lanes_of(ended)
    })?;
    Ok(merge::outcome(&lanes, series, plan.shape_is_planned()))
}

fn joined(
    thread: std::thread::ScopedJoinHandle<'_, Result<Option<Measured>, Error>>,
) -> Result<Option<Measured>, Error> {
    thread.join().unwrap_or_else(|_| Err(Error("a thread of the generator panicked".into())))
}

/// What all threads measured, or why one of them could not begin: the others say only that it was
/// called off.
fn lanes_of(ended: Vec<Result<Option<Measured>, Error>>) -> Result<Vec<Measured>, Error> {
    let ended = ended.into_iter().collect::<Result<Vec<_>, Error>>()?;
    Ok(ended.into_iter().flatten().collect())
}

/// Where threads wait for each other when their connections are open.
struct Gate {
    state: Mutex<Waiting>,
    changed: Condvar,
}

struct Waiting {
    missing: usize,
    /// Whether one can't begin: then nobody does.
    called_off: bool,
    zero_ns: i64,
}

impl Gate {
    fn new(threads: usize) -> Gate {
        let state = Waiting { missing: threads, called_off: false, zero_ns: 0 };
        Gate { state: Mutex::new(state), changed: Condvar::new() }
    }

    /// Counts one that is `ready`, or never will be.
    fn arrive(&self, ready: bool, clock: Watch) {
        let mut state = self.state();
        state.missing -= 1;
        state.called_off |= !ready;
        if state.missing == 0 {
            state.zero_ns = clock.now_ns();
            self.changed.notify_all();
        }
    }

    /// Waits for all: the moment, the same for all, at which they begin; none where one can't.
    fn pass(&self, ready: bool, clock: Watch) -> Option<i64> {
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

/// What this thread measured; nothing where another one could not begin.
fn thread(start: Start<'_>, gate: &Gate) -> Result<Option<Measured>, Error> {
    let (plan, clock, number) = (start.plan, start.watch, start.number);
    let failed = |what: &str, error: rustix::io::Errno| Error(format!("{what}: {error}"));
    let opened = settle_down(plan, number)
        .and_then(|()| Lane::new(start).map_err(|error| failed("epoll", error)))
        .and_then(|mut lane| match lane.open() {
            Ok(()) => Ok(lane),
            Err(error) => Err(failed("waiting for connections", error)),
        });
    // Also where this one failed: the others wait for it.
    let begin_ns = gate.pass(opened.is_ok(), clock);
    let mut lane = opened?;
    let Some(begin_ns) = begin_ns else { return Ok(None) };
    let warm_up_ns = i64::try_from(plan.warm_up.as_nanos()).unwrap_or(i64::MAX / 4);
    lane.go(begin_ns + warm_up_ns).map_err(|error| failed("waiting for replies", error))?;
    Ok(Some(lane.measured()))
}

/// Pins this thread where that was asked for, and has it woken when it says, not somewhat later.
fn settle_down(plan: &Plan, number: usize) -> Result<(), Error> {
    if !plan.pin.is_empty() {
        let cpu = plan.pin[number % plan.pin.len()];
        sys::cpus::pin(&[cpu]).map_err(|error| Error(format!("pinning to CPU {cpu}: {error}")))?;
    }
    // Without it, requests would be sent up to 50 microseconds later, and counted as they are.
    let _ = rustix::thread::set_current_timer_slack(NonZero::new(1));
    Ok(())
}
