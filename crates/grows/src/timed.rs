//! Calls of a function, in batches that the clock can time.

use std::hint::black_box;
use std::time::{Duration, Instant};

/// A batch takes at least this long, so that the clock's resolution and its own cost do not count.
const BATCH_MIN: Duration = Duration::from_micros(200);
const CALLS_MAX: u64 = 1 << 30;

/// What is measured at the points, by their index.
pub trait Measure {
    /// Nanoseconds a call.
    fn call_ns(&mut self, index: usize) -> f64;
}

/// A function with the argument of each point, and how many calls of it a batch has.
pub struct Timed<F, A> {
    function: F,
    points: Vec<(A, u64)>,
}

impl<F, A> Timed<F, A> {
    pub fn new(function: F, arguments: Vec<A>) -> Self {
        Self { function, points: arguments.into_iter().map(|argument| (argument, 1)).collect() }
    }
}

impl<A, R, F: FnMut(&mut A) -> R> Measure for Timed<F, A> {
    fn call_ns(&mut self, index: usize) -> f64 {
        let (argument, calls) = &mut self.points[index];
        loop {
            let start = Instant::now();
            for _ in 0..*calls {
                black_box((self.function)(black_box(argument)));
            }
            let elapsed = start.elapsed();
            if elapsed >= BATCH_MIN || *calls >= CALLS_MAX {
                return elapsed.as_nanos() as f64 / *calls as f64;
            }
            *calls *= if elapsed < BATCH_MIN / 16 { 16 } else { 2 };
        }
    }
}
