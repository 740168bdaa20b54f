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
use std::thread::{self, Builder};
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

/// How far all of them are at one moment.
struct Moment {
    at: u64,
    done: Vec<u64>,
    cpu_ns: u64,
}

/// What they did between two moments.
#[derive(Debug)]
pub(crate) struct Counted {
    window: (u64, u64),
    ns: f64,
    each: Vec<u64>,
    cpu_ns: u64,
}

/// The workers of a cell.
pub(crate) struct Crew<'a> {
    pub(crate) workers: usize,
    pub(crate) life: &'a Life<'a>,
    /// Each worker is kept to one of these, in turns: two that share a CPU while another idles would say nothing. Without
    /// any the scheduler places them.
    pub(crate) cpus: Vec<usize>,
    pub(crate) clock: Clock,
    /// How long is counted.
    pub(crate) time: Duration,
    /// See [`Seat`].
    pub(crate) right: bool,
}

impl Crew<'_> {
    /// Has all of them repeat the operation, and counts.
    pub(crate) fn count(&self, by: By) -> Result<Counted, Failure> {
        let board = Board::new(self.workers).map_err(|error| Failure::call("mmap", error))?;
        match by {
            By::Threads => self.threads(&board),
            By::Processes => self.processes(&board),
        }
    }

    fn work(&self, board: &Board, me: usize) -> Result<(), Failure> {
        if let Some(&cpu) = self.cpus.iter().cycle().nth(me) {
            cpus::stay_on(&[cpu])?;
        }
        (self.life)(&Seat::new(board, me, self.right))
    }

    fn not_started(&self, kind: &str, me: usize, error: &io::Error) -> Failure {
        Failure::start(format!("starting {kind} {}", me + 1), error, self.workers as u64)
    }

    fn threads(&self, board: &Board) -> Result<Counted, Failure> {
        // The kernel counts what a thread uses (rusage) at its ticks only; the clock of the process has all of it. The thread that
        // watches sleeps.
        let cpu = || {
            let used = cpu_ns(std::process::id().cast_signed());
            used.map_err(|error| Failure::call("a CPU clock", error))
        };
        thread::scope(|scope| {
            let mut all = Vec::new();
            for me in 0..self.workers {
                let builder = Builder::new().stack_size(STACK_BYTES);
                let work = move || self.work(board, me).inspect_err(|_| _ = board.fail());
                let started = builder.spawn_scoped(scope, work);
                match started {
                    Ok(thread) => all.push(thread),
                    Err(error) => {
                        let failure = self.not_started("thread", me, &error);
                        board.stop();
                        return Err(failure);
                    }
                }
            }
            let counted =
                self.window(board, || all.iter().all(|thread| !thread.is_finished()), cpu);
            board.stop();
            for thread in all {
                thread.join().map_err(|_| Failure::new("a thread panicked"))??;
            }
            counted
        })
    }

    fn processes(&self, board: &Board) -> Result<Counted, Failure> {
        let pipe = io::pipe().map_err(|error| Failure::call("pipe", error))?;
        let (mut reports, report) = pipe;
        let mut children = Children::default();
        for me in 0..self.workers {
            let child = sys::fork::fork(|| exit_code(self.work(board, me), board, &report));
            match child {
                Ok(child) => children.running.push(child),
                Err(error) => {
                    let failure = self.not_started("process", me, &error);
                    board.stop();
                    return Err(failure);
                }
            }
        }
        drop(report);
        let pids = children.running.clone();
        let cpu = || {
            let each = pids.iter().map(|&pid| cpu_ns(pid.cast_signed()));
            each.sum::<io::Result<u64>>().map_err(|error| Failure::call("a CPU clock", error))
        };
        let counted = self.window(board, || children.none_has_ended(), cpu);
        board.stop();
        let ended = children.wait();
        match reported_failure(&mut reports) {
            Some(failure) => Err(failure),
            None => ended.and(counted),
        }
    }

    /// Lets the workers begin when all are prepared, and counts over the time of the cell, once each has done
    /// something; over more, where little happens.
    fn window(
        &self,
        board: &Board,
        all_live: impl Fn() -> bool,
        cpu: impl Fn() -> Result<u64, Failure>,
    ) -> Result<Counted, Failure> {
        let goes_on = || !board.has_failed() && all_live();
        let ended = || Failure::new("a worker ended before it was stopped");
        while !board.all_arrived() {
            if !goes_on() {
                return Err(ended());
            }
            thread::sleep(LOOK);
        }
        board.begin();
        let begun = Instant::now();
        let all_there = || board.tallies().iter().all(|&done| done > 0);
        while !all_there() && begun.elapsed() < WARM_UP_MAX && goes_on() {
            thread::sleep(LOOK);
        }
        let moment = || -> Result<Moment, Failure> {
            let (at, (done, cpu)) = moment(self.clock, self.time, || (board.tallies(), cpu()));
            Ok(Moment { at, done, cpu_ns: cpu? })
        };
        let (begun, from) = (Instant::now(), moment()?);
        thread::sleep(self.time);
        let counted = loop {
            let counted = Counted::new(self.clock, &from, &moment()?);
            if counted.operations() >= FEWEST || begun.elapsed() > PATIENCE || !goes_on() {
                break counted;
            }
            thread::sleep(LOOK);
        };
        if !goes_on() {
            return Err(ended());
        }
        if counted.operations() == 0 {
            let waited_ms = 100 * (counted.ns / 1e8).round() as u64;
            return Err(Failure::new(format!("no operation was done in {waited_ms} ms")));
        }
        Ok(counted)
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

/// Processes that have to be waited for.
#[derive(Default)]
struct Children {
    running: Vec<u32>,
}

impl Children {
    fn none_has_ended(&self) -> bool {
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
        self.running.iter().all(|&pid| {
            let pid = Pid::from_raw(pid.cast_signed());
            pid.is_some_and(|pid| matches!(waitid(WaitId::Pid(pid), options), Ok(None)))
        })
    }

    /// Waits for all of them, and says what was wrong with any.
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
        // All were told to stop. One that does not is killed with the cell.
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

impl Counted {
    fn new(clock: Clock, from: &Moment, to: &Moment) -> Counted {
        let each = from.done.iter().zip(&to.done).map(|(from, to)| to - from);
        Counted {
            window: (from.at, to.at),
            ns: clock.ns(from.at, to.at),
            each: each.collect(),
            cpu_ns: to.cpu_ns.saturating_sub(from.cpu_ns),
        }
    }

    pub(crate) fn operations(&self) -> u64 {
        self.each.iter().sum()
    }

    /// Gives the probe the figures of the cell, with the rate of all under this name.
    pub(crate) fn state(&self, rate: &str, probe: &mut Probe) {
        let (operations, (begin, end)) = (self.operations(), self.window);
        probe.region(rate, begin, end, operations);
        let ns = self.ns / operations as f64;
        let figures = [
            (rate, 1e9 / ns),
            ("each", 1e9 / (ns * self.each.len() as f64)),
            ("cpu", self.cpu_ns as f64 / operations as f64),
        ];
        // Of ten operations among thirty workers, twenty have none in any case.
        let shares: Vec<f64> = self.each.iter().map(|&done| done as f64).collect();
        let enough = operations >= FEWEST_EACH * self.each.len() as u64;
        let fairness = enough.then(|| ("fairness", jain(&shares)));
        for (metric, figure) in figures.into_iter().chain(fairness) {
            probe.given(metric, &[figure], operations);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_are_of_what_was_done_in_the_window() {
        let moment = |at, done: [u64; 2], cpu_ns| Moment { at, done: done.into(), cpu_ns };
        let from = moment(0, [10, 20], 5_000);
        let counted = Counted::new(Clock::Monotonic, &from, &moment(1_000, [40, 30], 6_000));
        assert_eq!((counted.operations(), counted.each.as_slice()), (40, &[30, 10][..]));
        assert_eq!((counted.ns.round() as u64, counted.cpu_ns), (1_000, 1_000));
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
