//! The workers of a cell: threads or processes that begin together, and how much they did in a window of time.

mod board;
mod seat;

pub(crate) use seat::{Check, Seat};

use crate::shared::cpus;
use crate::shared::fairness::{FEWEST_EACH, jain};
use board::Board;
use engine::{Failure, FailureReason, Probe};
use rustix::process::{Pid, WaitId, WaitIdOptions, waitid};
use std::io::{self, PipeReader, PipeWriter, Read, Write};
use std::sync::atomic::Ordering::Relaxed;
use std::thread::{self, Builder, ScopedJoinHandle};
use std::time::{Duration, Instant};
use sys::clock::Clock;
use sys::cputime::cpu_ns;
use sys::process::{End, wait};

/// A thread needs little of its stack.
const STACK_BYTES: usize = 256 << 10;
/// Every worker is to have done something before counting begins, if that comes within this.
const WARM_UP_MAX: Duration = Duration::from_millis(150);
/// So often is looked at how far they are.
const LOOK: Duration = Duration::from_millis(1);
/// Fewer operations than this are no rate: it takes longer for them.
const FEWEST: u64 = 15;
/// But no longer than this.
const PATIENCE: Duration = Duration::from_secs(3);
/// Two readings of the clock around the tallies may be apart by this share of the window.
const APART_MAX: f64 = 0.001;
/// So often are they taken at most. A later reading is no better where other programs keep the CPUs.
const READINGS_MAX: usize = 10;
/// What a failed process can say.
const MESSAGE_BYTES_MAX: usize = 2_048;

/// What the workers are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum By {
    Threads,
    Processes,
}

/// What a worker does from its beginning to its end: it sets up what it has to itself, and repeats the operation.
pub(crate) type Life<'a> = dyn Fn(&Seat<'_>) -> Result<(), Failure> + Sync + 'a;

/// What ends a cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ending {
    /// So much time, which begins when each has done something.
    After(Duration),
    /// So many operations of each worker.
    Done(u64),
}

impl Ending {
    /// Half of it.
    pub(crate) fn half(self) -> Ending {
        match self {
            Ending::After(time) => Ending::After(time / 2),
            Ending::Done(each) => Ending::Done(each.div_ceil(2)),
        }
    }
}

/// How far all of them are at one moment, with what they have used until then.
struct Moment<U> {
    at: u64,
    done: Vec<u64>,
    used: U,
}

/// What they did between two moments.
#[derive(Debug)]
pub(crate) struct Counted<U> {
    /// The clock at both.
    pub(crate) window: (u64, u64),
    ns: f64,
    each: Vec<u64>,
    /// What each had of it, in one unit.
    shares: Vec<f64>,
    /// What they used until the first moment and until the second one.
    pub(crate) used: (U, U),
    /// All that was done, before the window and after it too.
    pub(crate) in_all: u64,
}

/// The workers of a cell.
pub(crate) struct Crew<'a> {
    pub(crate) workers: usize,
    pub(crate) life: &'a Life<'a>,
    /// Each worker is kept to one of these, in turns: two that share a CPU while another idles would say nothing. Without
    /// any the scheduler places them.
    pub(crate) cpus: Vec<usize>,
    pub(crate) clock: Clock,
    pub(crate) ending: Ending,
    /// See [`Seat`].
    pub(crate) right: bool,
}

/// Workers that were started.
trait Workers {
    fn none_has_ended(&self) -> bool;

    /// Waits for all of them, and says what was wrong with any.
    fn wait(&mut self) -> Result<(), Failure>;
}

impl Crew<'_> {
    /// Has all of them repeat the operation, and counts it and their CPU time.
    pub(crate) fn count(&self, by: By) -> Result<Counted<u64>, Failure> {
        let counted = match by {
            // The kernel counts what a thread uses (rusage) at its ticks only; the clock of the process has all of it. The
            // thread that watches sleeps.
            By::Threads => self.threads(|| cpu_ns(std::process::id().cast_signed())),
            By::Processes => self.processes(),
        }?;
        match counted.stalled_ms() {
            Some(waited_ms) => {
                Err(Failure::new(format!("no operation was done in {waited_ms} ms")))
            }
            None => Ok(counted),
        }
    }

    fn work(&self, board: &Board, me: usize) -> Result<(), Failure> {
        if let Some(&cpu) = self.cpus.iter().cycle().nth(me) {
            cpus::stay_on(&[cpu])?;
        }
        (self.life)(&Seat::new(board, me, self))
    }

    fn board(&self) -> Result<Board, Failure> {
        Board::new(self.workers).map_err(|error| Failure::call("setting up workers", error))
    }

    fn not_started(&self, kind: &str, me: usize, error: &io::Error) -> Failure {
        Failure::start(format!("starting {kind} {}", me + 1), error, self.workers as u64)
    }

    /// Has threads repeat the operation, which is counted with what they have `used`.
    pub(crate) fn threads<U>(
        &self,
        used: impl Fn() -> io::Result<U>,
    ) -> Result<Counted<U>, Failure> {
        let board = &self.board()?;
        thread::scope(|scope| {
            let mut threads = Threads::default();
            for me in 0..self.workers {
                let builder = Builder::new().stack_size(STACK_BYTES);
                let work = move || self.work(board, me).inspect_err(|_| _ = board.fail());
                match builder.spawn_scoped(scope, work) {
                    Ok(thread) => threads.0.push(thread),
                    Err(error) => {
                        board.stop();
                        return Err(self.not_started("thread", me, &error));
                    }
                }
            }
            self.watch(board, &mut threads, used)
        })
    }

    fn processes(&self) -> Result<Counted<u64>, Failure> {
        let board = &self.board()?;
        let pipe = io::pipe().map_err(|error| Failure::call("pipe", error))?;
        let (mut reports, report) = pipe;
        let mut children = Children::default();
        for me in 0..self.workers {
            let child = sys::fork::fork(|| exit_code(self.work(board, me), board, &report));
            match child {
                Ok(child) => children.running.push(child),
                Err(error) => {
                    board.stop();
                    return Err(self.not_started("process", me, &error));
                }
            }
        }
        drop(report);
        let pids = children.running.clone();
        let cpu = || pids.iter().map(|&pid| cpu_ns(pid.cast_signed())).sum();
        let counted = self.watch(board, &mut children, cpu);
        reported_failure(&mut reports).map_or(counted, Err)
    }

    /// Lets the workers begin when all are prepared, and counts until the cell ends.
    fn watch<U>(
        &self,
        board: &Board,
        workers: &mut impl Workers,
        used: impl Fn() -> io::Result<U>,
    ) -> Result<Counted<U>, Failure> {
        let window = match self.ending {
            Ending::After(time) => time,
            Ending::Done(_) => Duration::MAX,
        };
        let moment = || -> Result<Moment<U>, Failure> {
            let (at, (done, used)) = moment(self.clock, window, || (board.tallies(), used()));
            let used = used.map_err(|error| Failure::call("reading CPU time", error))?;
            Ok(Moment { at, done, used })
        };
        let goes_on = || !board.has_failed() && workers.none_has_ended();
        let window = self.window(board, goes_on, moment);
        if !matches!(window, Ok((_, None))) {
            board.stop();
        }
        workers.wait()?;
        let (from, to) = window?;
        let to = to.map_or_else(moment, Ok)?;
        Ok(Counted::new(self.clock, from, to, board))
    }

    /// Counts over the time of the cell, once each has done something; over more, where little happens. Where each does all of
    /// its work, counting begins with them, and its end is that of the last.
    fn window<U>(
        &self,
        board: &Board,
        goes_on: impl Fn() -> bool,
        moment: impl Fn() -> Result<Moment<U>, Failure>,
    ) -> Result<(Moment<U>, Option<Moment<U>>), Failure> {
        let ended = || Failure::new("a worker ended before it was stopped");
        while !board.all_arrived() {
            if !goes_on() {
                return Err(ended());
            }
            thread::sleep(LOOK);
        }
        let Ending::After(time) = self.ending else {
            let from = moment()?;
            board.count();
            board.begin();
            return Ok((from, None));
        };
        board.begin();
        let begun = Instant::now();
        let all_there = || board.tallies().iter().all(|&done| done > 0);
        while !all_there() && begun.elapsed() < WARM_UP_MAX && goes_on() {
            thread::sleep(LOOK);
        }
        let (begun, from) = (Instant::now(), moment()?);
        board.count();
        thread::sleep(time);
        let to = loop {
            let to = moment()?;
            let done = to.done.iter().sum::<u64>() - from.done.iter().sum::<u64>();
            if done >= FEWEST || begun.elapsed() > PATIENCE || !goes_on() {
                break to;
            }
            thread::sleep(LOOK);
        };
        if goes_on() { Ok((from, Some(to))) } else { Err(ended()) }
    }
}

/// Takes a look, and says when that was: in the middle of two readings of the clock. Takes another one where this thread
/// lost its CPU meanwhile, and the two are apart by more than a small share of the window: all that is seen is of one moment.
fn moment<T>(clock: Clock, window: Duration, mut look: impl FnMut() -> T) -> (u64, T) {
    let apart_max_ns = window.as_nanos() as f64 * APART_MAX;
    let mut closest: Option<(f64, u64, T)> = None;
    for _ in 0..READINGS_MAX {
        let before = clock.now();
        let seen = look();
        let after = clock.now();
        let apart_ns = clock.ns(before, after);
        if closest.as_ref().is_none_or(|(least_ns, ..)| apart_ns < *least_ns) {
            closest = Some((apart_ns, before.midpoint(after), seen));
        }
        if apart_ns <= apart_max_ns {
            break;
        }
    }
    closest.map_or_else(|| (clock.now(), look()), |(_, at, seen)| (at, seen))
}

#[derive(Default)]
struct Threads<'scope>(Vec<ScopedJoinHandle<'scope, Result<(), Failure>>>);

impl Workers for Threads<'_> {
    fn none_has_ended(&self) -> bool {
        self.0.iter().all(|thread| !thread.is_finished())
    }

    fn wait(&mut self) -> Result<(), Failure> {
        let mut ended = self.0.drain(..).map(ScopedJoinHandle::join);
        ended.try_for_each(|end| end.map_err(|_| Failure::new("a thread panicked"))?)
    }
}

/// Processes that have to be waited for.
#[derive(Default)]
struct Children {
    running: Vec<u32>,
}

impl Workers for Children {
    fn none_has_ended(&self) -> bool {
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
        self.running.iter().all(|&pid| {
            let pid = Pid::from_raw(pid.cast_signed());
            pid.is_some_and(|pid| matches!(waitid(WaitId::Pid(pid), options), Ok(None)))
        })
    }

    fn wait(&mut self) -> Result<(), Failure> {
        let mut wrong = None;
        for (index, pid) in self.running.drain(..).enumerate() {
            let (end, _) = wait(pid).map_err(|error| Failure::call("wait4", error))?;
            let number = index + 1;
            wrong = wrong.or(match end {
                End::Exited(0) => None,
                End::Exited(code) => Some(format!("process {number} ended with {code}")),
                End::Killed(signal) => Some(format!("process {number} was killed by {signal}")),
            });
        }
        wrong.map_or(Ok(()), |wrong| Err(Failure::new(wrong)))
    }
}

impl Drop for Children {
    fn drop(&mut self) {
        // All have the order to stop. One that does not is killed with the cell.
        for pid in self.running.drain(..) {
            let _ = wait(pid);
        }
    }
}

/// The exit code of a process. The first that failed tells the parent why: it reads when all have ended, and of the others
/// the pipe could become full.
fn exit_code(worked: Result<(), Failure>, board: &Board, pipe: &PipeWriter) -> i32 {
    let Err(failure) = worked else { return 0 };
    let reason = serde_json::to_vec(&FailureReason::from(failure)).unwrap_or_default();
    // One longer than the pipe has room for would wait for ever.
    if board.fail() && reason.len() < MESSAGE_BYTES_MAX {
        let _ = (&*pipe).write_all(&reason);
    }
    1
}

/// The failure that a process reported.
fn reported_failure(pipe: &mut PipeReader) -> Option<Failure> {
    let mut reason = Vec::new();
    pipe.read_to_end(&mut reason).ok()?;
    serde_json::from_slice::<FailureReason>(&reason).ok().map(Failure::from)
}

impl<U> Counted<U> {
    /// So many operations of one worker.
    #[cfg(test)]
    pub(crate) fn from_one(operations: u64, used: (U, U)) -> Counted<U> {
        let (each, shares) = (vec![operations], vec![operations as f64]);
        Counted { window: (0, 1), ns: 1.0, each, shares, used, in_all: operations }
    }

    fn new(clock: Clock, from: Moment<U>, to: Moment<U>, board: &Board) -> Counted<U> {
        let each: Vec<u64> = from.done.iter().zip(&to.done).map(|(from, to)| to - from).collect();
        // Those that did all of their work did the same, in times of their own.
        let share = |(me, &done): (usize, &u64)| match board.ended_at(me).load(Relaxed) {
            0 => done as f64,
            ended_at => 1e9 / clock.ns(from.at, ended_at).max(1.0),
        };
        Counted {
            window: (from.at, to.at),
            ns: clock.ns(from.at, to.at),
            shares: each.iter().enumerate().map(share).collect(),
            each,
            used: (from.used, to.used),
            in_all: board.tallies().iter().sum(),
        }
    }

    pub(crate) fn operations(&self) -> u64 {
        self.each.iter().sum()
    }

    /// How long they did nothing, to a tenth of a second; nothing where they did.
    pub(crate) fn stalled_ms(&self) -> Option<u64> {
        (self.operations() == 0).then(|| 100 * (self.ns / 1e8).round() as u64)
    }

    /// How evenly they shared it: of ten operations among thirty workers, twenty have none in any case.
    fn fairness(&self) -> Option<f64> {
        let enough = self.operations() >= FEWEST_EACH * self.each.len() as u64;
        enough.then(|| jain(&self.shares))
    }

    /// Gives the probe the figures of the cell, with the rate of all under this name, and `further` ones.
    pub(crate) fn state_with(&self, rate: &str, further: &[(&str, f64)], probe: &mut Probe) {
        let (operations, (begin, end)) = (self.operations(), self.window);
        probe.region(rate, begin, end, operations);
        let rate = (rate, 1e9 * operations as f64 / self.ns);
        let fairness = self.fairness().map(|fairness| ("fairness", fairness));
        for (metric, figure) in [rate].into_iter().chain(further.iter().copied()).chain(fairness) {
            probe.given(metric, &[figure], operations);
        }
    }
}

impl Counted<u64> {
    /// The same with the rate of one worker, and CPU time.
    pub(crate) fn state(&self, rate: &str, probe: &mut Probe) {
        let operations = self.operations() as f64;
        let cpu_ns = self.used.1.saturating_sub(self.used.0) as f64;
        let each = 1e9 * operations / (self.ns * self.each.len() as f64);
        self.state_with(rate, &[("each", each), ("cpu", cpu_ns / operations)], probe);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_are_of_what_was_done_in_the_window() {
        let moment = |at, done: [u64; 2], used| Moment { at, done: done.into(), used };
        let board = Board::new(2).unwrap();
        let counted = |done: [u64; 2]| {
            let (from, to) = (moment(0, [10, 20], 5_000), moment(1_000, done, 6_000));
            Counted::new(Clock::Monotonic, from, to, &board)
        };
        let many = counted([40, 30]);
        assert_eq!((many.operations(), many.each.as_slice()), (40, &[30, 10][..]));
        assert_eq!((many.ns.round() as u64, many.used), (1_000, (5_000, 6_000)));
        assert_eq!(many.fairness(), Some(0.8), "40² / (2 × (30² + 10²))");
        assert_eq!(counted([19, 20]).fairness(), None, "nine among two");
        // Both have done the same, one in half the time.
        board.ended_at(0).store(500, Relaxed);
        board.ended_at(1).store(1_000, Relaxed);
        assert_eq!(counted([30, 40]).fairness(), Some(0.9), "3² / (2 × (2² + 1²))");
    }

    #[test]
    fn a_failure_passes_through_the_pipe_as_it_is() {
        let (mut reader, writer) = io::pipe().unwrap();
        let board = Board::new(1).unwrap();
        assert_eq!((exit_code(Ok(()), &board, &writer), board.has_failed()), (0, false));
        let failure = Failure::call("operation 7", "no more");
        assert_eq!(exit_code(Err(failure.clone()), &board, &writer), 1);
        // Nothing reads meanwhile: more than the first of these would fill the pipe, and wait.
        for _ in 0..200 {
            assert_eq!(exit_code(Err(Failure::new("x".repeat(1_500))), &board, &writer), 1);
        }
        drop(writer);
        assert_eq!(reported_failure(&mut reader), Some(failure));
    }

    #[test]
    fn a_moment_that_was_interrupted_is_taken_again() {
        let clock = Clock::Monotonic;
        let mut readings = 0;
        let (at, done) = moment(clock, Duration::from_secs(1), || {
            readings += 1;
            if readings == 1 {
                thread::sleep(Duration::from_millis(20));
            }
            vec![readings]
        });
        assert!(at <= clock.now() && done[0] > 1, "{done:?}");
        let mut readings = 0_usize;
        let slow = || {
            readings += 1;
            thread::sleep(Duration::from_millis(if readings == 3 { 2 } else { 50 }));
            vec![readings as u64]
        };
        let before = clock.now();
        let (at, done) = moment(clock, Duration::from_secs(1), slow);
        assert_eq!((done, readings), (vec![3], READINGS_MAX), "the shortest of all");
        assert!(at > before + 100_000_000 && at < clock.now());
    }
}
