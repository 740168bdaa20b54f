//! Threads that do the same as the one that is timed, each on a CPU of its own.

use crate::shared::cpus;
use engine::{Cell, Failure, Probe};
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::mpsc;
use std::thread::{self, Builder};

/// Keeps this thread to a CPU, and says which ones its companions have, each its own.
pub(super) fn placed(threads: usize) -> Result<Vec<usize>, Failure> {
    let mut cpus = cpus::last_of(&cpus::allowed()?, threads)?;
    let Some(own) = cpus.pop() else { return Err(Failure::new("there is no thread to run")) };
    cpus::stay_on(&[own])?;
    Ok(cpus)
}

/// Has the companions end, however what it guards ends.
struct Stop<'a>(&'a AtomicBool);

impl Drop for Stop<'_> {
    fn drop(&mut self) {
        self.0.store(true, Relaxed);
    }
}

/// What threads do again and again: the first is timed, its companions are its load.
pub(super) trait Exercise: Sized {
    /// Does it once, outside of any timing.
    fn turn(&mut self) -> Result<(), Failure>;

    /// Times it.
    fn time(&mut self, probe: &mut Probe) -> Result<(), Failure>;
}

/// Times what `make` gives, while companions do the same on `cpus`; `make` gets a seed.
pub(super) fn measure<E: Exercise>(
    cell: &Cell,
    cpus: &[usize],
    probe: &mut Probe,
    make: impl Fn(u64) -> Result<E, Failure> + Sync,
) -> Result<(), Failure> {
    let mut timed = make(cell.seed)?;
    let companion = || {
        let mut exercise = make(!cell.seed)?;
        Ok(move || exercise.turn())
    };
    alongside(cpus, companion, || timed.time(probe))
}

/// Runs `timed` here while a thread on each of `cpus` repeats what `make` gave it. It begins when all are made, and not at
/// all where one could not be made.
fn alongside<T: FnMut() -> Result<(), Failure>>(
    cpus: &[usize],
    make: impl Fn() -> Result<T, Failure> + Sync,
    timed: impl FnOnce() -> Result<(), Failure>,
) -> Result<(), Failure> {
    let stop = AtomicBool::new(false);
    let companion = |cpu: usize, made: mpsc::Sender<()>| {
        let mut turn = cpus::stay_on(&[cpu]).and_then(|()| make())?;
        // It is heard, or the first thread has failed.
        let _ = made.send(());
        drop(made);
        while !stop.load(Relaxed) {
            turn()?;
        }
        Ok(())
    };
    thread::scope(|scope| {
        let (companion, stop) = (&companion, Stop(&stop));
        let (made, all_made) = mpsc::channel();
        let mut threads = Vec::new();
        for &cpu in cpus {
            let made = made.clone();
            let started = Builder::new().spawn_scoped(scope, move || companion(cpu, made));
            let wanted = cpus.len() as u64;
            threads.push(
                started.map_err(|error| Failure::start("starting a thread", &error, wanted))?,
            );
        }
        drop(made);
        // A thread that fails or panics drops its end as well: nothing waits for it.
        let outcome = if all_made.iter().count() == cpus.len() { timed() } else { Ok(()) };
        drop(stop);
        let ended = threads.into_iter().map(|thread| {
            thread.join().unwrap_or_else(|_| Err(Failure::new("a second thread panicked")))
        });
        // All of them have to end, whatever became of the first.
        ended.fold(outcome, Result::and)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::AtomicU64;

    #[test]
    fn companions_run_while_it_is_timed_and_their_failure_counts() {
        let cpus = cpus::allowed().unwrap();
        let turns = AtomicU64::new(0);
        let make = || {
            Ok(|| {
                turns.fetch_add(1, Relaxed);
                Ok(())
            })
        };
        let timed = || {
            while turns.load(Relaxed) < 10 {
                thread::yield_now();
            }
            Ok(())
        };
        alongside(&cpus[..1], make, timed).unwrap();
        let failing = || Ok(|| Err(Failure::new("lost")));
        let failure = alongside(&cpus[..1], failing, || Ok(())).err();
        // It may be stopped before its first turn.
        assert!(failure.is_none_or(|failure| failure.to_string() == "lost"));
        let unmade = || Err::<fn() -> Result<(), Failure>, _>(Failure::new("no memory"));
        let never = || panic!("timed without its companion");
        let failure = alongside(&cpus[..1], unmade, never).unwrap_err();
        assert_eq!(failure.to_string(), "no memory");
        let none = || Ok(|| Err(Failure::new("nothing runs alongside")));
        alongside(&[], none, || Ok(())).unwrap();
    }

    #[test]
    fn nothing_waits_for_a_thread_that_panicked() {
        let cpus = cpus::allowed().unwrap();
        let panics = || -> Result<fn() -> Result<(), Failure>, Failure> { panic!("while made") };
        let failure = alongside(&cpus[..1], panics, || Ok(())).unwrap_err();
        assert_eq!(failure.to_string(), "a second thread panicked");
        let timed = || {
            let endless: fn() -> Result<(), Failure> = || Ok(());
            alongside(&cpus[..1], || Ok(endless), || panic!("while timed"))
        };
        assert!(std::panic::catch_unwind(timed).is_err());
    }

    #[test]
    fn each_thread_has_a_cpu_and_more_than_there_are_is_refused() {
        let all = cpus::allowed().unwrap();
        let refused = placed(all.len() + 1).unwrap_err().to_string();
        assert_eq!(refused, format!("{} CPUs, and there are {}", all.len() + 1, all.len()));
        let placed = thread::spawn(move || (placed(1).unwrap(), cpus::allowed().unwrap()));
        assert_eq!(placed.join().unwrap(), (vec![], vec![all[all.len() - 1]]));
    }
}
