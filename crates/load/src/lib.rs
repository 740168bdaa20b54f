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

mod connect;
mod dead;
mod delayed;
mod error;
mod merge;
mod outcome;
mod packed;
mod plan;
mod reach;
mod receive;
mod reply;
mod schedule;
mod stopwatch;
mod tally;
mod url;
mod worker;

pub use dead::{DEAD_COMMAND, Dead, Holding, Housing, dead_main, loopback_sources};
pub use delayed::{DelayedReply, delayed_reply};
pub use error::Error;
pub use merge::Part;
pub use outcome::{
    Closings, DeadOutcome, Errors, IdleTimes, IntervalOutcome, Outcome, Quantiles, Rates, Tick,
};
pub use plan::{Arrivals, Plan, Shape, Share, Target};
pub use receive::{Received, Receiver};
pub use reply::ReplyHead;
pub use url::{NoneAccepts, Url, accepting};

use crate::merge::Series;
use crate::reach::Reach;
use crate::stopwatch::Stopwatch;
use crate::tally::Interval;
use crate::worker::{Measured, Start, Worker};
use rustix::io::Errno;
use std::num::NonZero;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError, mpsc};
use std::time::{Duration, Instant};

/// Watches a load while it goes on, on the thread that called [`run`]; the threads that send never wait for it.
pub trait Watch {
    /// An interval has ended.
    fn tick(&mut self, tick: &Tick);

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
    let plan = &Plan { threads: plan.threads.min(threads_max), ..plan.clone() };
    plan.check()?;
    let (sender, receiver) = mpsc::channel::<Interval>();
    let clock = Stopwatch::start();
    let gate = Gate::new(plan, agree.is_none());
    let interval_s = plan.interval.as_secs_f64();
    let mut series = Series::new(interval_s, plan.threads, plan.keeps_intervals);
    let workers = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..plan.threads)
            .map(|number| {
                let (gate, intervals) = (&gate, sender.clone());
                let reach = &gate.reach;
                let start = Start { plan, stop, clock, number, reach, intervals };
                let thread =
                    std::thread::Builder::new().spawn_scoped(scope, move || thread(start, gate));
                thread.map_err(|error| {
                    gate.arrive(false, clock);
                    Error::Failed(format!("starting a thread: {}", sys::limits::explained(error)))
                })
            })
            .collect();
        drop(sender);
        let is_called_off = agree.is_some_and(|agree| {
            let is_ready = gate.is_ready();
            let begin = agree(is_ready);
            is_ready && !gate.open_at(begin, clock)
        });
        for interval in receiver {
            let whole = series.add(interval);
            let reported = series.ticks.len() - whole;
            if let Some(watch) = &mut watch {
                series.ticks[reported..].iter().for_each(|tick| watch.tick(tick));
                series.final_outcomes().for_each(|outcome| watch.interval(outcome));
            }
        }
        let ended: Vec<_> = threads.into_iter().map(|thread| thread.and_then(join)).collect();
        let measured = measured_by_all(ended)?;
        if is_called_off { Err(Error::CalledOff) } else { Ok(measured) }
    })?;
    Ok(merge::part(&workers, series, plan.shape_is_planned()))
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

/// A barrier: threads wait for each other until their connections are open, and then for the start.
struct Gate {
    state: Mutex<Waiting>,
    changed: Condvar,
    /// Whether the start is when the last thread is ready.
    opens_itself: bool,
    reach: Reach,
}

struct Waiting {
    missing: usize,
    /// One thread can't begin, or the target is not there, so none begins.
    called_off: bool,
    /// The common start, when it is known.
    begin_ns: Option<i64>,
}

impl Gate {
    fn new(plan: &Plan, opens_itself: bool) -> Gate {
        let missing = plan.threads;
        let state = Waiting { missing, called_off: false, begin_ns: None };
        Gate {
            state: Mutex::new(state),
            changed: Condvar::new(),
            opens_itself,
            reach: Reach::new(plan.ends_if_refused),
        }
    }

    /// Counts a thread that has tried to open its connections, or can't begin.
    fn arrive(&self, can_begin: bool, clock: Stopwatch) {
        let mut state = self.state();
        state.missing -= 1;
        state.called_off |= !can_begin;
        if state.missing == 0 {
            self.reach.settle();
            state.called_off |= self.reach.is_absent();
            if self.opens_itself || state.called_off {
                state.begin_ns = Some(clock.now_ns());
            }
            self.changed.notify_all();
        }
    }

    /// Waits for the start, and returns it; none if one thread can't begin.
    fn wait(&self, can_begin: bool, clock: Stopwatch) -> Option<i64> {
        self.arrive(can_begin, clock);
        let mut state = self.state();
        while state.begin_ns.is_none() {
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        state.begin_ns.filter(|_| !state.called_off)
    }

    /// Waits until all threads are ready, and returns whether all can begin.
    fn is_ready(&self) -> bool {
        let mut state = self.state();
        while state.missing > 0 {
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        !state.called_off
    }

    /// Lets the threads begin at a moment, or not at all; returns whether they do.
    fn open_at(&self, begin: Option<Instant>, clock: Stopwatch) -> bool {
        let now = Instant::now();
        let ns = |length: Duration| i64::try_from(length.as_nanos()).unwrap_or(i64::MAX / 4);
        let from_now_ns = begin.map(|begin| match begin.checked_duration_since(now) {
            Some(ahead) => ns(ahead),
            None => -ns(now.duration_since(begin)),
        });
        let mut state = self.state();
        state.called_off |= from_now_ns.is_none();
        state.begin_ns = Some(clock.now_ns() + from_now_ns.unwrap_or(0));
        self.changed.notify_all();
        !state.called_off
    }

    fn state(&self) -> MutexGuard<'_, Waiting> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What this thread measured; none if another one could not begin.
fn thread(start: Start<'_>, gate: &Gate) -> Result<Option<Measured>, Error> {
    let (plan, stop, clock, number) = (start.plan, start.stop, start.clock, start.number);
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
    let Some(begin_ns) = begin_ns else {
        let is_absent = gate.reach.is_absent();
        return if is_absent { Err(Error::Refused(plan.target.address)) } else { Ok(None) };
    };
    let start_late_ns = sleep_until(begin_ns, clock, stop);
    let warm_up_ns = i64::try_from(plan.warm_up.as_nanos()).unwrap_or(i64::MAX / 4);
    worker.run(begin_ns + warm_up_ns).map_err(|error| failed("waiting for replies", error))?;
    Ok(Some(worker.measured(start_late_ns)))
}

/// Sleeps until a start that lies ahead, and returns how late it is then; not longer than until `stop` is set.
fn sleep_until(begin_ns: i64, clock: Stopwatch, stop: &AtomicBool) -> u64 {
    const STOP_NOTICED_NS: i64 = 50_000_000;
    loop {
        let ahead_ns = begin_ns - clock.now_ns();
        if ahead_ns <= 0 || stop.load(Ordering::Relaxed) {
            return u64::try_from(-ahead_ns).unwrap_or(0);
        }
        std::thread::sleep(Duration::from_nanos(ahead_ns.min(STOP_NOTICED_NS) as u64));
    }
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

#[cfg(test)]
mod tests {
    use super::*;

    /// The start after the connections of two threads were accepted and refused so often, and whether the target is
    /// absent then.
    fn gate(accepted: u32, refused: u32, can_begin: bool) -> (Option<i64>, bool) {
        let target =
            Target { address: ([127, 0, 0, 1], 1).into(), host: "x".into(), path: "/".into() };
        let plan = Plan { threads: 2, ends_if_refused: true, ..Plan::new(target) };
        let (gate, clock) = (Gate::new(&plan, true), Stopwatch::start());
        (0..refused).for_each(|_| gate.reach.refused_before_start());
        (0..accepted).for_each(|_| gate.reach.accepted());
        gate.arrive(true, clock);
        (gate.wait(can_begin, clock), gate.reach.is_absent())
    }

    #[test]
    fn refused_connections_end_a_load_only_if_none_succeeded() {
        assert_eq!(gate(0, 2, true), (None, true));
        let (begin, is_absent) = gate(1, 1, true);
        assert!(begin.is_some() && !is_absent);
        // Those of sessions are opened later.
        let (begin, is_absent) = gate(0, 0, true);
        assert!(begin.is_some() && !is_absent);
        assert_eq!(gate(1, 0, false), (None, false));
    }
}
