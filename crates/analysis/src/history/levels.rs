//! Where a sequence of figures changes its level: E-divisive with a t-test, as Hunter has it.
//!
//! 1. *Boundaries.* The best boundary in a stretch has the largest energy distance between the figures before and after
//!    it (Matteson and James 2014); the latter may end before the stretch does, as a temporary level. Each side is
//!    split again, as long as a t-test says that the two sides differ at a [`FALSE_ALARM`] level.
//! 2. *Tests.* The boundary whose two levels differ least clearly is given up and its neighbours are judged again,
//!    until all are clear (Fleming, Kołaczkowski and others 2023).
//! 3. *Boundaries again.* Each moves to the best split between its neighbours, and all are judged again.
//! 4. *How clear.* The chance of the t-test is multiplied by the number of boundaries that there may be (Bonferroni). A
//!    difference below the required size is given up as well.
//!
//! Our additions: a figure with a wide interval counts for less, and an outlier hardly at all. No difference is clearer
//! than the intervals of the figures allow, nor than half the smallest step between two of them. A temporary level has
//! one figure more than others, and so has every level of a sequence with outliers.

use crate::Estimate;
use crate::stats::NORMAL_95;
use crate::stats::moments::{mean, squares_about};
use crate::stats::normal::MEDIAN_TO_DEVIATION;
use crate::stats::quantiles::{median, sorted};
use crate::stats::regression::least_squares;
use crate::stats::student;
use crate::thresholds::{CLEAR_ERRORS, FALSE_ALARM};

/// Fewer figures have no levels.
pub const FIGURES_MIN: usize = 2 * LEVEL_FIGURES_MIN;

/// A level holds at least this many figures: one alone does not show how they scatter.
const LEVEL_FIGURES_MIN: usize = 2;

/// How often positions are settled anew at most; twice is usual.
const MOVES_MAX: usize = 20;

/// One figure of a sequence.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Reading {
    /// The figure.
    pub value: f64,
    /// Its standard error; 0 where nothing is known of it.
    pub error: f64,
}

impl Reading {
    /// The logarithm of a figure that is above zero, with the error that its interval implies.
    pub fn logarithm_of(figure: Estimate) -> Option<Self> {
        let Estimate { value, low, high } = figure;
        let valid = value > 0.0 && value.is_finite() && low <= value && value <= high;
        let error = (high.ln() - low.max(f64::MIN_POSITIVE).ln()) / (2.0 * NORMAL_95);
        valid.then_some(Self {
            value: value.ln(),
            error: if error.is_finite() { error } else { 0.0 },
        })
    }
}

/// What a change of level has to fulfil.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Requirement {
    /// The largest probability of a change that is due to chance.
    pub chance: f64,
    /// The smallest size of a change, in the unit of the figures.
    pub size_min: f64,
}

/// A change of level.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LevelChange {
    /// The first figure of the new level.
    pub at: usize,
    /// The level before.
    pub before: f64,
    /// The level after, less the level before, with its 95 % CI.
    pub by: Estimate,
    /// How likely one at least as clear is in a sequence that has none.
    pub chance: f64,
}

/// The changes of level in `readings`, from first to last.
pub fn changes(readings: &[Reading], requirement: &Requirement) -> Vec<LevelChange> {
    Levels::new(readings).changes(requirement)
}

/// How figures scatter about their level, as a standard deviation: from the differences of neighbours, which
/// know nothing of changes of level. Zero with fewer than two.
pub fn scatter(values: &[f64]) -> f64 {
    let differences = values.windows(2).map(|pair| (pair[1] - pair[0]).abs());
    median(differences).unwrap_or(0.0) * MEDIAN_TO_DEVIATION / std::f64::consts::SQRT_2
}

/// Which figures are outliers: the two before and the two after are all far above or all far below.
pub fn apart(values: &[f64]) -> Vec<bool> {
    let far = 2.0 * CLEAR_ERRORS * scatter(values);
    let stands_apart = |at: usize| {
        let before = &values[at.saturating_sub(2)..at];
        let after = &values[at + 1..values.len().min(at + 3)];
        let mut distances = before.iter().chain(after).map(|neighbour| values[at] - neighbour);
        let above = distances.clone().all(|distance| distance > far);
        above || distances.all(|distance| distance < -far)
    };
    (0..values.len()).map(|at| values.len() >= FIGURES_MIN && stands_apart(at)).collect()
}

/// How much each figure counts, 1 on average: by its own error and the scatter of all.
fn weights(readings: &[Reading], values: &[f64], apart: &[bool]) -> Vec<f64> {
    let scatter = scatter(values);
    let squares = readings.iter().map(|r| r.error.powi(2)).filter(|&square| square > 0.0);
    let usual = median(squares).unwrap_or(0.0);
    // What makes runs differ beyond their own errors.
    let between = (scatter.powi(2) - usual).max(0.0);
    let variance = |(at, reading): (usize, &Reading)| {
        let own = if reading.error > 0.0 { reading.error.powi(2) } else { usual };
        let neighbour = if at == 0 { 1 } else { at - 1 };
        let off = if apart[at] { (values[at] - values[neighbour]).powi(2) } else { 0.0 };
        between + own + off
    };
    let variances: Vec<f64> = readings.iter().enumerate().map(variance).collect();
    if variances.iter().any(|&variance| variance <= 0.0) {
        return vec![1.0; readings.len()];
    }
    let sum: f64 = variances.iter().map(|variance| 1.0 / variance).sum();
    let all = readings.len() as f64;
    variances.iter().map(|variance| all / (variance * sum)).collect()
}

/// Half the smallest difference of two figures that are not the same; 0 where all are.
fn half_step(values: &[f64]) -> f64 {
    let ascending = sorted(values);
    let steps = ascending.windows(2).map(|pair| pair[1] - pair[0]).filter(|step| *step > 0.0);
    let min = steps.fold(f64::INFINITY, f64::min);
    if min.is_finite() { min / 2.0 } else { 0.0 }
}

/// A sequence with sums that the rules need again and again, and the boundaries of rule 1, which every requirement begins
/// with.
pub struct Levels<'a> {
    readings: &'a [Reading],
    weights: Vec<f64>,
    /// The smallest error that a figure can have.
    error_min: f64,
    /// Sums of weights, and of their squares, before each figure.
    sums: Vec<(f64, f64)>,
    /// How many outliers there are before each figure.
    apart: Vec<usize>,
    /// Weighted distances of all pairs whose first is before a row and whose second is before a column.
    distances: Vec<f64>,
    boundaries: Vec<usize>,
}

#[derive(Clone, Copy)]
struct Side {
    weight: f64,
    /// The mean distance of two different figures.
    within: f64,
}

impl<'a> Levels<'a> {
    /// The levels of `readings`: none where these are too few or not all finite.
    pub fn new(readings: &'a [Reading]) -> Self {
        let values: Vec<f64> = readings.iter().map(|reading| reading.value).collect();
        let stand_apart = apart(&values);
        let weights = weights(readings, &values, &stand_apart);
        let mut apart = vec![0];
        for (at, stands_apart) in stand_apart.into_iter().enumerate() {
            apart.push(apart[at] + usize::from(stands_apart));
        }
        let mut sums = vec![(0.0, 0.0)];
        for (at, weight) in weights.iter().enumerate() {
            sums.push((sums[at].0 + weight, sums[at].1 + weight * weight));
        }
        let side = readings.len() + 1;
        let mut distances = vec![0.0; side * side];
        for (row, first) in readings.iter().enumerate() {
            let mut in_row = 0.0;
            for (column, second) in readings.iter().enumerate() {
                in_row += weights[row] * weights[column] * (first.value - second.value).abs();
                distances[(row + 1) * side + column + 1] =
                    distances[row * side + column + 1] + in_row;
            }
        }
        let error_min = half_step(&values);
        let boundaries = Vec::new();
        let mut levels = Self { readings, weights, error_min, sums, apart, distances, boundaries };
        if readings.len() >= FIGURES_MIN && values.iter().all(|value| value.is_finite()) {
            let mut boundaries = Vec::new();
            levels.split(0, readings.len(), &mut boundaries);
            boundaries.sort_unstable();
            levels.boundaries = boundaries;
        }
        levels
    }

    /// The changes of level, from first to last.
    pub fn changes(&self, requirement: &Requirement) -> Vec<LevelChange> {
        let mut boundaries = self.boundaries.clone();
        let mut changes = self.weed(&mut boundaries, requirement);
        for _ in 0..MOVES_MAX {
            if !self.settle(&mut boundaries) {
                break;
            }
            changes = self.weed(&mut boundaries, requirement);
        }
        changes
    }

    /// The change in the middle that is clear as often as not; the required size where there are too few figures.
    pub fn visible(&self, requirement: &Requirement) -> f64 {
        let readings = self.readings;
        let count = readings.len();
        if count < FIGURES_MIN {
            return requirement.size_min;
        }
        let values: Vec<f64> = readings.iter().map(|reading| reading.value).collect();
        let candidates = (count + 1 - 2 * LEVEL_FIGURES_MIN) as f64;
        let clear = student::two_sided_quantile(requirement.chance / candidates, count - 2);
        let error = self.error(0, count / 2, count, scatter(&values).powi(2));
        (clear * error).max(requirement.size_min)
    }

    /// Rule 1: adds the boundaries in the stretch from `from` to `to`.
    fn split(&self, from: usize, to: usize, boundaries: &mut Vec<usize>) {
        let Some((at, end)) = self.best(from, to, false) else { return };
        if self.test(from, at, end).chance <= FALSE_ALARM {
            boundaries.push(at);
            self.split(from, at, boundaries);
            self.split(at, to, boundaries);
        }
    }

    /// The boundary with the largest energy distance, and where the figures after it end: if `whole`, at `to`.
    fn best(&self, from: usize, to: usize, whole: bool) -> Option<(usize, usize)> {
        let boundaries = from + LEVEL_FIGURES_MIN..(to + 1).saturating_sub(LEVEL_FIGURES_MIN);
        let energies = boundaries.flat_map(|at| {
            let before = self.side(from, at);
            let ends = if whole { to } else { at + LEVEL_FIGURES_MIN }..=to;
            ends.map(move |end| (self.energy((from, before), at, end), (at, end)))
        });
        energies.max_by(|a, b| a.0.total_cmp(&b.0).then(b.1.cmp(&a.1))).map(|(_, split)| split)
    }

    /// The energy distance of the two sides of `at`, scaled by how many there are on either.
    fn energy(&self, (from, before): (usize, Side), at: usize, to: usize) -> f64 {
        let after = self.side(at, to);
        let (left, right) = (before.weight, after.weight);
        let across = self.block((from, at), (at, to)) / (left * right);
        let within = before.within + after.within;
        left * right / (left + right) * (2.0 * across - within)
    }

    fn side(&self, from: usize, to: usize) -> Side {
        let (weight, squares) = (self.weight(from, to), self.sums[to].1 - self.sums[from].1);
        let within = self.block((from, to), (from, to)) / (weight * weight - squares);
        Side { weight, within }
    }

    fn weight(&self, from: usize, to: usize) -> f64 {
        self.sums[to].0 - self.sums[from].0
    }

    fn block(&self, rows: (usize, usize), columns: (usize, usize)) -> f64 {
        let before = |row: usize, column: usize| self.distances[row * self.sums.len() + column];
        before(rows.1, columns.1) - before(rows.0, columns.1) - before(rows.1, columns.0)
            + before(rows.0, columns.0)
    }

    /// Rules 2 and 4: gives up boundaries until all are clear.
    fn weed(&self, boundaries: &mut Vec<usize>, requirement: &Requirement) -> Vec<LevelChange> {
        loop {
            let all = self.between(boundaries);
            let fails = |change: &LevelChange| {
                change.chance > requirement.chance || change.by.value.abs() < requirement.size_min
            };
            let weakest = all.iter().enumerate().filter(|(_, change)| fails(change)).max_by(
                |(_, a), (_, b)| {
                    let size = |change: &LevelChange| -change.by.value.abs();
                    a.chance.total_cmp(&b.chance).then(size(a).total_cmp(&size(b)))
                },
            );
            let Some((weakest, _)) = weakest else { return all };
            boundaries.remove(weakest);
        }
    }

    /// Rule 3: moves each boundary to the best split between its neighbours, and says whether any moved.
    fn settle(&self, boundaries: &mut [usize]) -> bool {
        let mut moved = false;
        for index in 0..boundaries.len() {
            let (from, to) = self.neighbours(boundaries, index);
            let best = self.best(from, to, true).map_or(boundaries[index], |(best, _)| best);
            moved |= best != boundaries[index];
            boundaries[index] = best;
        }
        moved
    }

    /// Where the levels on either side of a boundary begin and end.
    fn neighbours(&self, boundaries: &[usize], index: usize) -> (usize, usize) {
        let from = if index == 0 { 0 } else { boundaries[index - 1] };
        (from, boundaries.get(index + 1).copied().unwrap_or(self.readings.len()))
    }

    /// The changes at `boundaries`, each between its neighbours.
    fn between(&self, boundaries: &[usize]) -> Vec<LevelChange> {
        let candidates = (self.readings.len() + 1 - 2 * LEVEL_FIGURES_MIN) as f64;
        let change = |(index, &at): (usize, &usize)| {
            let (from, to) = self.neighbours(boundaries, index);
            let test = self.test(from, at, to);
            let brief = self.is_brief(from, at) || self.is_brief(at, to);
            let chance = if brief { 1.0 } else { (test.chance * candidates).min(1.0) };
            LevelChange { chance, ..test }
        };
        boundaries.iter().enumerate().map(change).collect()
    }

    /// Whether a level is too short: two disturbances in a row are no temporary level.
    fn is_brief(&self, from: usize, to: usize) -> bool {
        let comes_and_goes = from > 0 && to < self.readings.len();
        let disturbed = self.apart[self.readings.len()] > 0;
        to - from < LEVEL_FIGURES_MIN + usize::from(comes_and_goes) + usize::from(disturbed)
    }

    /// A t-test of the figures from `from` to `at` against those from there to `to`.
    fn test(&self, from: usize, at: usize, to: usize) -> LevelChange {
        let (before, after) = (self.mean(from, at), self.mean(at, to));
        let by = after - before;
        // An outlier says nothing of the scatter either.
        let freedom = (to - from - 2).saturating_sub(self.apart[to] - self.apart[from]).max(1);
        let left = self.squares(from, at, before) + self.squares(at, to, after);
        let error = self.error(from, at, to, left / freedom as f64);
        let enough = self.count(from, at).min(self.count(at, to)) >= LEVEL_FIGURES_MIN as f64 - 0.5;
        let t = if by == 0.0 || !enough { 0.0 } else { by.abs() / error };
        let by = Estimate::around(by, student::quantile_95(freedom) * error);
        LevelChange { at, before, by, chance: student::p_value(t, freedom) }
    }

    /// The error of the difference of two levels, by this variance, but no less than their own errors.
    fn error(&self, from: usize, at: usize, to: usize, variance: f64) -> f64 {
        let per_weight = 1.0 / self.weight(from, at) + 1.0 / self.weight(at, to);
        let own = self.own_error(from, at) + self.own_error(at, to);
        (variance * per_weight).max(own).sqrt()
    }

    /// How many figures of equal weight would say as much as those of a stretch (Kish).
    fn count(&self, from: usize, to: usize) -> f64 {
        self.weight(from, to).powi(2) / (self.sums[to].1 - self.sums[from].1)
    }

    fn stretch(&self, from: usize, to: usize) -> impl Iterator<Item = (&Reading, f64)> {
        self.readings[from..to].iter().zip(self.weights[from..to].iter().copied())
    }

    fn mean(&self, from: usize, to: usize) -> f64 {
        let sum: f64 = self.stretch(from, to).map(|(reading, weight)| weight * reading.value).sum();
        sum / self.weight(from, to)
    }

    fn squares(&self, from: usize, to: usize, mean: f64) -> f64 {
        self.stretch(from, to)
            .map(|(reading, weight)| weight * (reading.value - mean).powi(2))
            .sum()
    }

    /// The square of a mean's error, by the errors of its figures.
    fn own_error(&self, from: usize, to: usize) -> f64 {
        let error = |reading: &Reading| reading.error.max(self.error_min);
        let sum: f64 =
            self.stretch(from, to).map(|(reading, weight)| (weight * error(reading)).powi(2)).sum();
        sum / self.weight(from, to).powi(2)
    }
}

/// A line through all figures that explains them better than the levels between `changes` do, by Schwarz's criterion,
/// as what it rises from the first figure to the last; `None` where levels explain them as well, or there are no
/// changes.
pub fn rise(readings: &[Reading], changes: &[LevelChange]) -> Option<Estimate> {
    let first = changes.first()?;
    let values: Vec<f64> = readings.iter().map(|reading| reading.value).collect();
    let apart = apart(&values);
    // What stands apart would outweigh all else.
    let counting: Vec<usize> = (0..values.len()).filter(|&at| !apart[at]).collect();
    let y: Vec<f64> = counting.iter().map(|&at| values[at]).collect();
    let x: Vec<f64> = counting.iter().map(|&at| at as f64).collect();
    let slope = least_squares(&x, &y).filter(|slope| slope.low > 0.0 || slope.high < 0.0)?;
    let one_way = changes.iter().all(|change| change.by.value * first.by.value > 0.0);
    if !one_way {
        return None;
    }
    let counted = |to: usize| counting.iter().filter(|&&at| at < to).count();
    let starts = changes.iter().map(|change| counted(change.at));
    let ends: Vec<usize> = [0].into_iter().chain(starts).chain([y.len()]).collect();
    let stretches = ends.windows(2).map(|ends| &y[ends[0]..ends[1]]);
    let level_squares: f64 = stretches.map(|level| squares_about(mean(level), level)).sum();
    let (x_mean, y_mean) = (mean(&x), mean(&y));
    let fitted = x.iter().map(|x| y_mean + slope.value * (x - x_mean));
    let line_squares: f64 = y.iter().zip(fitted).map(|(y, fitted)| (y - fitted).powi(2)).sum();
    let count = y.len() as f64;
    let levels = count * level_squares.ln() + (2 * changes.len() + 1) as f64 * count.ln();
    let line = count * line_squares.ln() + 2.0 * count.ln();
    (line < levels).then(|| slope.map(|by| by * (readings.len() - 1) as f64))
}
