//! A function that several threads call at once: how many calls they do in a second.

use crate::clock::{Stopwatch, preemptions};
use crate::timed::Measure;
use std::hint::black_box;
use std::sync::Barrier;
use std::thread::{ScopedJoinHandle, scope};
use std::time::Duration;

/// How long the threads call it for a sample: a hundred times what it takes to start them.
const WINDOW: Duration = Duration::from_millis(5);
/// A thread looks at the clock about this often.
const BATCH: Duration = Duration::from_micros(20);
/// Windows that are tried until one is undisturbed.
const WINDOWS_MAX: u32 = 8;
/// Of a window in which threads waited longer for a CPU, as a share of their time, others had the CPUs. Waking up counts as
/// waiting, so it is not none.
const WAITED_MAX: f64 = 0.25;

/// A function with what the threads share at each point, which is their number.
pub struct Threads<F, A> {
    pub function: F,
    pub points: Vec<(u64, A)>,
}

/// What one thread did in a window.
struct Done {
    calls_per_s: f64,
    /// Whether it had a CPU whenever it wanted one.
    is_undisturbed: bool,
}

impl<A: Sync, R, F: Fn(&A) -> R + Sync> Measure for Threads<F, A> {
    const TAKES_ITS_COST: bool = false;

    /// Calls a second of all threads together, in a window in which all had a CPU: threads that take turns do not meet, and
    /// what they share would look free.
    fn sample(&mut self, index: usize) -> Option<f64> {
        let (count, shared) = &self.points[index];
        (0..WINDOWS_MAX).find_map(|_| {
            let all = self.window(*count, shared);
            let is_undisturbed = all.iter().all(|done| done.is_undisturbed);
            is_undisturbed.then(|| all.iter().map(|done| done.calls_per_s).sum())
        })
    }
}

impl<A: Sync, R, F: Fn(&A) -> R + Sync> Threads<F, A> {
    fn window(&self, count: u64, shared: &A) -> Vec<Done> {
        let (function, barrier) = (&self.function, &Barrier::new(count as usize));
        scope(|scope| {
            let start = |_| scope.spawn(|| done(barrier, || function(black_box(shared))));
            let threads: Vec<_> = (0..count).map(start).collect();
            let joined = threads.into_iter().map(ScopedJoinHandle::join);
            joined
                .map(|done| done.unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
                .collect()
        })
    }
}

/// What the calling thread does of `function` in a window that begins when all threads are at the barrier.
fn done<R>(barrier: &Barrier, function: impl Fn() -> R) -> Done {
    barrier.wait();
    let (preempted, stopwatch) = (preemptions(), Stopwatch::start());
    let (mut calls, mut batch, mut before) = (0_u64, 1, Duration::ZERO);
    loop {
        for _ in 0..batch {
            black_box(function());
        }
        calls += batch;
        let now = stopwatch.wall();
        if now >= WINDOW {
            let is_undisturbed = stopwatch.waited() <= now.mul_f64(WAITED_MAX);
            return Done {
                calls_per_s: calls as f64 / now.as_secs_f64(),
                is_undisturbed: is_undisturbed && preemptions() == preempted,
            };
        }
        if now.saturating_sub(before) < BATCH {
            batch *= 2;
        }
        before = now;
    }
}
