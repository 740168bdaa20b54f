//! Rounds over points, until a verdict is clear or the time is used up.

use crate::clock::Stopwatch;
use crate::series::Series;
use crate::timed::Measure;
use findings::format;
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
const PARTS_LEFT_OUT: u32 = 16;
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
    n: u64,
    /// The shortest time that a sample took without waiting for a CPU: something may have disturbed the others. None before
    /// the first.
    took: Option<Duration>,
    /// How long one would take, where the last round skipped it.
    would_take: Option<Duration>,
}

impl<M: Measure> Rounds<M> {
    pub fn new(series: Series, points: Vec<u64>, measure: M) -> Self {
        let unmeasured = |n| Point { n, took: None, would_take: None };
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
        let max = self.budget / PARTS_LEFT_OUT;
        while self.count < ROUNDS_MIN && !(self.count > 0 && is_over()) {
            self.round(max);
        }
        loop {
            let judged = judge(&self.series);
            if is_clear(&judged) || self.count >= ROUNDS_MAX || is_over() {
                return judged;
            }
            // As many again: four times as many halve an interval.
            for _ in 0..self.count {
                if !is_over() && self.count < ROUNDS_MAX {
                    self.round(max);
                }
            }
        }
    }

    /// Adds rounds of all points until there are so many.
    pub fn at_least(&mut self, rounds: u32) {
        while self.count < rounds {
            self.round(Duration::MAX);
        }
    }

    /// Which points were never measured, and why: `; 3,000 was skipped, since a sample would take about 5.20 s`.
    pub fn skipped(&self) -> String {
        let unmeasured = self.points.iter().filter(|point| point.took.is_none());
        let words = unmeasured.filter_map(|Point { n: point, would_take, .. }| {
            let (point, takes) = (format::count(*point), would_take.as_ref()?.as_secs_f64());
            let takes = format::time(takes * 1e9);
            Some(format!("; {point} was skipped, since a sample would take about {takes}"))
        });
        words.collect()
    }

    /// How long a sample of this point will take, if it goes on as between the two that were measured before it.
    fn expected(&self, index: usize) -> Option<Duration> {
        let took = |point: &Point| Some((point.n as f64, point.took?.as_secs_f64()));
        let before: Vec<(f64, f64)> = self.points.get(..index)?.iter().filter_map(took).collect();
        let [.., first, second] = before[..] else { return None };
        let step = |to: f64, from: f64| (to / from.max(1.0)).ln();
        let between = step(second.0, first.0);
        if before.len() < POINTS_BEFORE || first.1 == 0.0 || second.1 == 0.0 {
            return None;
        }
        let exponent = (second.1 / first.1).ln() / between;
        let expected_s =
            second.1 * (exponent * step(self.points.get(index)?.n as f64, second.0)).exp();
        Some(Duration::try_from_secs_f64(expected_s).unwrap_or(Duration::MAX))
    }

    /// Measures each point once, except for those that would take more than `max`.
    fn round(&mut self, max: Duration) {
        let last = self.points.len() - 1;
        for turn in 0..=last {
            // Forwards and backwards in turns: what gets slower by and by is not taken for growth.
            let index = if self.count.is_multiple_of(2) { turn } else { last - turn };
            let is_new = self.points[index].took.is_none();
            let would_take = self.expected(index).filter(|expected| is_new && *expected > max);
            let Point { n: point, took, would_take: skipped } = &mut self.points[index];
            *skipped = would_take;
            if would_take.is_some() || took.is_some_and(|took| took > self.budget / PARTS_ONCE) {
                continue;
            }
            let stopwatch = Stopwatch::start();
            let sample = self.measure.sample(index);
            self.series.samples.extend(sample.map(|value| (*point, self.count, value)));
            if M::TAKES_ITS_COST {
                let elapsed = stopwatch.elapsed();
                *took = Some(took.map_or(elapsed, |took| took.min(elapsed)));
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

    /// Rounds whose first points took so many milliseconds.
    fn after(points: &[u64], took_ms: &[f64]) -> Rounds<Counted> {
        let mut rounds = rounds(points);
        for (point, ms) in rounds.points.iter_mut().zip(took_ms) {
            point.took = Some(Duration::from_secs_f64(ms / 1e3));
        }
        rounds
    }

    #[test]
    fn a_point_that_takes_long_is_measured_once() {
        let mut rounds = after(&[10, 100], &[0.1, 1_000.0]);
        rounds.at_least(2);
        assert_eq!(rounds.measure.0, [2, 0]);
    }

    #[test]
    fn a_point_that_would_take_too_long_is_left_out_and_named() {
        // So backwards, where the ones before still have these times.
        let mut rounds = after(&[1, 10, 100, 1_000, 10_000], &[0.1, 1.0, 100.0]);
        rounds.count = 1;
        rounds.round(Duration::from_secs(1));
        assert_eq!(rounds.measure.0, [1, 1, 0, 0, 0], "100 is measured once");
        let skipped = "; 1,000 was skipped, since a sample would take about 10.0 s\
                        ; 10,000 was skipped, since a sample would take about 1,000 s";
        assert_eq!(rounds.skipped(), skipped);
        assert_eq!(after(&[10, 100, 1_000], &[1.0, 100.0]).expected(2), None, "two may be off");
    }

    #[test]
    fn a_disturbed_sample_leaves_nothing_out_for_good() {
        // A thousand times as long as is usual: what a sample of the test takes is nothing against it.
        let mut rounds = after(&[30, 100, 300, 1_000, 3_000], &[300.0, 300.0, 6_000.0]);
        rounds.budget *= 1_000;
        let max = rounds.budget / PARTS_LEFT_OUT;
        assert!(rounds.expected(3).is_some_and(|expected| expected > max));
        rounds.count = 1;
        rounds.round(max);
        assert_eq!(rounds.measure.0, [1, 1, 1, 0, 0]);
        rounds.round(max);
        assert_eq!((&rounds.measure.0[..], rounds.skipped().as_str()), (&[2, 2, 2, 1, 1][..], ""));
    }

    #[test]
    fn a_bench_leaves_nothing_out() {
        let mut rounds = after(&[10, 100, 1_000, 10_000], &[0.1, 0.1, 50.0]);
        rounds.count = 1;
        rounds.at_least(2);
        assert_eq!(rounds.measure.0, [1, 1, 1, 1]);
    }
}
