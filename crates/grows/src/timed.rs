//! What is measured at a point: the time of a call, or a number.

use crate::clock::Stopwatch;
use std::hint::black_box;
use std::time::Duration;

/// A batch takes at least this long, so that the clock's resolution and its own cost do not count.
const BATCH_MIN: Duration = Duration::from_micros(200);
const CALLS_MAX: u64 = 1 << 30;

/// What is measured at the points, by their index.
pub trait Measure {
    /// Whether a sample takes as long as what it measures.
    const TAKES_ITS_COST: bool = true;

    /// One sample, in the unit of all; none where something disturbed it that would change what it says.
    fn sample(&mut self, index: usize) -> Option<f64>;
}

/// A function with the argument of each point, and how many calls of it a batch has. A sample is nanoseconds a call.
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
    fn sample(&mut self, index: usize) -> Option<f64> {
        let (argument, calls) = &mut self.points[index];
        loop {
            let stopwatch = Stopwatch::start();
            for _ in 0..*calls {
                black_box((self.function)(black_box(argument)));
            }
            let elapsed = stopwatch.elapsed();
            if elapsed >= BATCH_MIN || *calls >= CALLS_MAX {
                return Some(elapsed.as_nanos() as f64 / *calls as f64);
            }
            *calls *= if elapsed < BATCH_MIN / 16 { 16 } else { 2 };
        }
    }
}

/// A function that returns its cost itself.
pub struct Number<F, A> {
    pub function: F,
    pub arguments: Vec<A>,
}

impl<A, F: FnMut(&mut A) -> f64> Measure for Number<F, A> {
    fn sample(&mut self, index: usize) -> Option<f64> {
        Some((self.function)(&mut self.arguments[index]))
    }
}
