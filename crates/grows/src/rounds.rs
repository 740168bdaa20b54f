//! Rounds over points, until a verdict is clear or the time is used up.

use crate::clock::Stopwatch;
use crate::series::Series;
use crate::timed::Measure;
use std::time::{Duration, Instant};

/// Rounds before the first verdict, if there is time: one shows no spread.
const ROUNDS_MIN: u32 = 3;
/// Rounds after which none is added, whatever the budget.
const ROUNDS_MAX: u32 = 30;
const BUDGET_DEFAULT: Duration = Duration::from_secs(2);
/// A point whose sample takes more than this part of the budget is measured once: where a limit is exceeded, the largest
/// point takes longer than all others together.
const PARTS_ONCE: u32 = 32;
/// One whose sample would take more than this part is left out, if so many smaller ones were measured.
const PARTS_LEFT_OUT: f64 = 16.0;
const POINTS_BEFORE: usize = 3;

/// What is measured, and what was.
pub struct Rounds<M> {
    pub series: Series,
    pub budget: Duration,
    points: Vec<Point>,
    measure: M,
    count: u32,
}

struct Point {
    point: u64,
    /// How long its first sample took, or would have taken, without waiting for a CPU.
    took: Duration,
}

impl<M: Measure> Rounds<M> {
    pub fn new(series: Series, points: Vec<u64>, measure: M) -> Self {
        let unmeasured = |point| Point { point, took: Duration::ZERO };
        let points = points.into_iter().map(unmeasured).collect();
        Self { series, points, measure, count: 0, budget: BUDGET_DEFAULT }
    }

    /// Adds rounds until `judge` has what `is_clear` takes, or the budget is used up.
    pub fn until_clear<J>(
        &mut self,
        judge: impl Fn(&Series) -> J,
        is_clear: impl Fn(&J) -> bool,
    ) -> J {
        let end = Instant::now() + self.budget;
        let is_over = || Instant::now() >= end;
        // Of a machine that gives no time for more, one round says at least what is far from a limit.
        while self.count < ROUNDS_MIN && !(self.count > 0 && is_over()) {
            self.round();
        }
        loop {
            let judged = judge(&self.series);
            if is_clear(&judged) || self.count >= ROUNDS_MAX || is_over() {
                return judged;
            }
            // As many again: four times as many halve an interval.
            for _ in 0..self.count {
                if !is_over() && self.count < ROUNDS_MAX {
                    self.round();
                }
            }
        }
    }

    /// Adds rounds until there are so many.
    pub fn at_least(&mut self, rounds: u32) {
        while self.count < rounds {
            self.round();
        }
    }

    /// How long a sample of this point will take, if it goes on as between the two points before.
    fn expected_s(&self, index: usize) -> Option<f64> {
        let before = self.points.get(..index).filter(|before| before.len() >= POINTS_BEFORE)?;
        let [.., first, second] = before else { return None };
        let [first_s, second_s] = [first, second].map(|point| point.took.as_secs_f64());
        let step = |from: &Point, to: &Point| (to.point as f64 / from.point.max(1) as f64).ln();
        if first_s == 0.0 || second_s == 0.0 {
            return None;
        }
        let exponent = (second_s / first_s).ln() / step(first, second);
        Some(second_s * (exponent * step(second, &self.points[index])).exp())
    }

    fn round(&mut self) {
        let last = self.points.len() - 1;
        for turn in 0..=last {
            // Forwards and backwards in turns: what gets slower by and by is not taken for growth.
            let index = if self.count.is_multiple_of(2) { turn } else { last - turn };
            let expected_s = if self.count == 0 { self.expected_s(index) } else { None };
            let most_s = self.budget.as_secs_f64() / PARTS_LEFT_OUT;
            let Point { point, took } = &mut self.points[index];
            if let Some(too_long) = expected_s.filter(|expected| *expected > most_s) {
                *took = Duration::try_from_secs_f64(too_long).unwrap_or(Duration::MAX);
            }
            if *took > self.budget / PARTS_ONCE {
                continue;
            }
            let stopwatch = Stopwatch::start();
            let sample = self.measure.sample(index);
            self.series.samples.extend(sample.map(|value| (*point, self.count, value)));
            if self.count == 0 && M::TAKES_ITS_COST {
                *took = stopwatch.elapsed();
            }
        }
        self.count += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Counts how often each point is measured.
    struct Counted(Vec<u32>);

    impl Measure for Counted {
        fn sample(&mut self, index: usize) -> Option<f64> {
            self.0[index] += 1;
            Some(1.0)
        }
    }

    fn rounds(points: &[u64]) -> Rounds<Counted> {
        let counted = Counted(vec![0; points.len()]);
        Rounds::new(Series::new("a", "steps"), points.to_vec(), counted)
    }

    #[test]
    fn a_point_that_takes_long_is_measured_once() {
        let mut rounds = rounds(&[10, 100]);
        rounds.at_least(1);
        rounds.points[1].took = Duration::from_secs(1);
        rounds.at_least(3);
        assert_eq!(rounds.measure.0, [3, 1]);
    }

    #[test]
    fn a_point_that_would_take_too_long_is_left_out() {
        let mut rounds = rounds(&[10, 100, 1_000, 10_000]);
        for (point, ms) in rounds.points.iter_mut().zip([0, 1, 100]) {
            point.took = Duration::from_millis(ms);
        }
        let expected = rounds.expected_s(3).unwrap();
        assert!((expected - 10.0).abs() < 1e-6, "{expected}");
        assert_eq!(rounds.expected_s(2), None, "two points may be off");
        // A budget that it fits in.
        rounds.budget = Duration::from_secs(1_000);
        rounds.at_least(1);
        assert_eq!(rounds.measure.0, [1, 1, 1, 1]);
    }
}
