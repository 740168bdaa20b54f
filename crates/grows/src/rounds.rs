//! Rounds over points, until a verdict is clear or the time is used up.

use crate::series::Series;
use crate::timed::Measure;
use std::time::{Duration, Instant};

/// Rounds before the first verdict: one shows no spread.
const ROUNDS_MIN: u32 = 3;
/// Rounds after which none is added, whatever the budget.
const ROUNDS_MAX: u32 = 30;
const BUDGET_DEFAULT: Duration = Duration::from_secs(2);

/// What is measured, and what was.
pub struct Rounds<M> {
    pub series: Series,
    pub budget: Duration,
    points: Vec<u64>,
    measure: M,
    count: u32,
}

impl<M: Measure> Rounds<M> {
    pub fn new(series: Series, points: Vec<u64>, measure: M) -> Self {
        Self { series, points, measure, count: 0, budget: BUDGET_DEFAULT }
    }

    /// Adds rounds until `judge` has what `is_clear` takes, or the budget is used up.
    pub fn until_clear<J>(
        &mut self,
        judge: impl Fn(&Series) -> J,
        is_clear: impl Fn(&J) -> bool,
    ) -> J {
        let end = Instant::now() + self.budget;
        self.at_least(ROUNDS_MIN);
        loop {
            let judged = judge(&self.series);
            let is_over = || Instant::now() >= end;
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

    fn round(&mut self) {
        let last = self.points.len() - 1;
        for turn in 0..=last {
            // Forwards and backwards in turns: what gets slower by and by is not taken for growth.
            let index = if self.count.is_multiple_of(2) { turn } else { last - turn };
            let sample = self.measure.sample(index);
            self.series.samples.extend(sample.map(|value| (self.points[index], self.count, value)));
        }
        self.count += 1;
    }
}
