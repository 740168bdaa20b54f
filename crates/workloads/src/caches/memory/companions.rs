//! Threads that do the same as the one that is timed, each on a CPU of its own.

use crate::shared::cpus;
use engine::Failure;
use std::sync::Barrier;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::thread;

/// Keeps this thread to a CPU, and says which ones its companions have: the last CPUs of all, since the first ones
/// serve most interrupts.
pub(super) fn placed(threads: usize) -> Result<Vec<usize>, Failure> {
    let mut cpus = cpus::allowed()?;
    let Some(own) = cpus.pop() else { return Err(Failure::new("there is no CPU to run on")) };
    if threads > cpus.len() + 1 {
        let count = cpus.len() + 1;
        return Err(Failure::new(format!("{threads} threads on {count} CPUs, and each needs one")));
    }
    cpus::stay_on(&[own])?;
    Ok(cpus.split_off(cpus.len() + 1 - threads))
}

/// Runs `timed` here while a thread on each of `cpus` repeats what `make` gave it. All begin when all are made.
pub(super) fn alongside<T: FnMut() -> Result<(), Failure>>(
    cpus: &[usize],
    make: impl Fn() -> Result<T, Failure> + Sync,
    timed: impl FnOnce() -> Result<(), Failure>,
) -> Result<(), Failure> {
    let (made, stop) = (Barrier::new(cpus.len() + 1), AtomicBool::new(false));
    let companion = |cpu: usize| {
        let ready = cpus::stay_on(&[cpu]).and_then(|()| make());
        made.wait();
        let mut turn = ready?;
        while !stop.load(Relaxed) {
            turn()?;
        }
        Ok(())
    };
    thread::scope(|scope| {
        let companion = &companion;
        let threads: Vec<_> = cpus.iter().map(|&cpu| scope.spawn(move || companion(cpu))).collect();
        made.wait();
        let outcome = timed();
        stop.store(true, Relaxed);
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
        let failure = alongside(&cpus[..1], unmade, || Ok(())).unwrap_err();
        assert_eq!(failure.to_string(), "no memory");
        let none = || Ok(|| Err(Failure::new("nothing runs alongside")));
        alongside(&[], none, || Ok(())).unwrap();
    }
}
