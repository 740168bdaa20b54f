//! What a comparison rests on: the logarithms of what each round of a series was at each point.

use crate::compare::effects::REPLICATES;
use crate::gather::{Gathered, Samples};
use crate::stats::quantiles::{quantile, sorted};
use crate::stats::random::generator;
use crate::stats::whole_quantile::WholeQuantile;
use crate::thresholds::EDGE;
use fastrand::Rng;
use model::{MetricInfo, Parameters};
use std::collections::BTreeMap;

/// One cell, as logarithms: its median, and its best tenth's end, which is what it is when nothing disturbs it.
pub(super) type Level = [f64; 2];

/// One series of one run: a row for each round, with what it was at each of the points.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Levels {
    pub(super) lower_is_better: bool,
    pub(super) rounds: BTreeMap<u32, Vec<Option<Level>>>,
    /// At which points operations were timed one by one: the cost of a reading of the clock was taken off each.
    pub(super) alone: Vec<bool>,
    /// What it was at each of the points, where that is a quantile of all rounds together; empty for any other metric.
    whole: Vec<Option<WholeQuantile>>,
}

impl Levels {
    /// Those of a series at `points`. A point where a median has no logarithm has no levels, nor has one where there is
    /// only one figure of a whole load, whose error is unknown.
    pub(super) fn new(
        gathered: &Gathered<'_>,
        subject: &str,
        parameters: &Parameters,
        metric: &MetricInfo,
        points: &[u64],
    ) -> Self {
        let lower_is_better = metric.lower_is_better;
        let (alone, whole) = (vec![false; points.len()], Vec::new());
        let mut levels = Self { lower_is_better, rounds: BTreeMap::new(), alone, whole };
        let Some(series) = gathered.series(subject, parameters, &metric.name) else {
            return levels;
        };
        for (index, point) in points.iter().enumerate() {
            let Some(samples) = series.get(point) else { continue };
            let count: usize = samples.rounds.iter().map(|(_, of_round)| of_round.len()).sum();
            // No more operations than samples: no batches.
            levels.alone[index] = metric.unit == "ns" && samples.operations <= count as u64;
            let mut random = generator(*point, &[subject, &metric.name]);
            let draws = (REPLICATES, &mut random);
            let whole = gathered.whole_quantile((subject, parameters), metric, *point, draws);
            let has_error = !metric.role.is_whole() || whole.is_some();
            levels.whole.resize(index, None);
            levels.whole.push(whole);
            if !has_error {
                continue;
            }
            for (round, level) in of_point(samples, metric).unwrap_or_default() {
                let row = levels.rounds.entry(round).or_insert_with(|| vec![None; points.len()]);
                row[index] = Some(level);
            }
        }
        levels
    }

    /// How many rounds have something at the point of this index.
    pub(super) fn rounds_at(&self, index: usize) -> usize {
        if let Some(Some(whole)) = self.whole.get(index) {
            return whole.blocks;
        }
        self.rounds.values().filter(|row| row[index].is_some()).count()
    }

    /// A disturbance makes a cost more and a rate less.
    pub(super) fn sign(&self) -> f64 {
        if self.lower_is_better { 1.0 } else { -1.0 }
    }

    /// The levels of the quantiles of all rounds together, or of one replicate of each.
    pub(super) fn whole_levels(
        &self,
        mut random: Option<&mut Rng>,
    ) -> impl Iterator<Item = (usize, Level)> {
        self.whole.iter().enumerate().filter_map(move |(index, whole)| {
            let WholeQuantile { value, replicates, .. } = whole.as_ref()?;
            let drawn = random.as_mut().map(|random| replicates[random.usize(..replicates.len())]);
            // Of all operations there is no undisturbed part.
            Some((index, [drawn.unwrap_or(*value).ln(); 2]))
        })
    }

    /// Whether `round` has something at the point of this index.
    pub(super) fn has(&self, round: u32, index: usize) -> bool {
        self.rounds.get(&round).is_some_and(|row| row[index].is_some())
    }
}

/// The levels at one point, by round; `None` if one of them has none.
fn of_point(samples: &Samples<'_>, metric: &MetricInfo) -> Option<Vec<(u32, Level)>> {
    let mut levels = Vec::new();
    for (round, of_round) in samples.rounds.iter().filter(|(_, round)| !round.is_empty()) {
        let ascending = sorted(of_round);
        let edge = if metric.lower_is_better { EDGE } else { 1.0 - EDGE };
        let (middle, edge) = (quantile(&ascending, 0.5)?.ln(), quantile(&ascending, edge)?.ln());
        if !middle.is_finite() {
            return None;
        }
        // An edge at zero says nothing; the middle has to do.
        levels.push((*round, [middle, if edge.is_finite() { edge } else { middle }]));
    }
    Some(levels)
}
