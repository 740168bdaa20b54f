//! Where a sequence of figures changes its level: E-divisive with a t-test, as Hunter has it.
//!
//! 1. *Boundaries.* The best boundary in a stretch has the largest energy distance between the figures
//!    before and after it (Matteson and James 2014). The figures after it may end before the stretch does, so
//!    that a temporary level is seen as well. Each side is split again, as long as a t-test between the two
//!    sides says that they differ at a [`FALSE_ALARM`] level.
//! 2. *Tests.* The boundary whose two levels differ least clearly is given up and its neighbours are judged
//!    again, until all are clear (Fleming, Kołaczkowski and others 2023). A t-test needs no permutations, of
//!    which few figures have too few, and gives the same every time.
//! 3. *Boundaries again.* A boundary that was given up may have displaced a neighbour: each moves to the
//!    best split between its neighbours, and all are judged again.
//! 4. *How clear.* The boundary is the best of many: the chance of the t-test is multiplied by their number
//!    (Bonferroni). A difference below the required size is given up as well.
//!
//! Our additions: figures have weights. A figure with a wide interval counts for less, and an outlier hardly
//! at all: one figure is no level. No difference is clearer than the intervals of the figures allow, nor
//! clearer than half the smallest step between two of them: a figure on the edge of a step goes up and down
//! without a change. A temporary level has one figure more than others, and so has every level of a sequence
//! with outliers.

use crate::Estimate;
use crate::stats::NORMAL_95;
use crate::stats::normal::MEDIAN_TO_DEVIATION;
use crate::stats::quantiles::median_of;
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

/// A sequence with the boundaries of rule 1, which every requirement begins with.
pub struct Levels<'a> {
    sequence: Sequence<'a>,
    boundaries: Vec<usize>,
}

impl<'a> Levels<'a> {
    /// The levels of `readings`: none where these are too few or not all finite.
    pub fn new(readings: &'a [Reading]) -> Self {
        let sequence = Sequence::new(readings);
        let mut boundaries = Vec::new();
        if readings.len() >= FIGURES_MIN && readings.iter().all(|reading| reading.value.is_finite())
        {
            sequence.split(0, readings.len(), &mut boundaries);
            boundaries.sort_unstable();
        }
        Self { sequence, boundaries }
    }

    /// The changes of level, from first to last.
    pub fn changes(&self, requirement: &Requirement) -> Vec<LevelChange> {
        let (sequence, mut boundaries) = (&self.sequence, self.boundaries.clone());
        let mut changes = sequence.weed(&mut boundaries, requirement);
        for _ in 0..MOVES_MAX {
            if !sequence.settle(&mut boundaries) {
                break;
            }
            changes = sequence.weed(&mut boundaries, requirement);
        }
        changes
    }

    /// The change that is clear as often as not where the level changes in the middle; the required size
    /// where there are too few figures.
    pub fn visible(&self, requirement: &Requirement) -> f64 {
        let readings = self.sequence.readings;
        let count = readings.len();
        if count < FIGURES_MIN {
            return requirement.size_min;
        }
        let values: Vec<f64> = readings.iter().map(|reading| reading.value).collect();
        let candidates = (count + 1 - 2 * LEVEL_FIGURES_MIN) as f64;
        let clear = student::two_sided_quantile(requirement.chance / candidates, count - 2);
        let error = self.sequence.error(0, count / 2, count, scatter(&values).powi(2));
        (clear * error).max(requirement.size_min)
    }
}

/// How figures scatter about their level, as a standard deviation: from the differences of neighbours, which
/// know nothing of changes of level. Zero with fewer than two.
pub fn scatter(values: &[f64]) -> f64 {
    let mut differences: Vec<f64> =
        values.windows(2).map(|pair| (pair[1] - pair[0]).abs()).collect();
    median_of(&mut differences).unwrap_or(0.0) * MEDIAN_TO_DEVIATION / std::f64::consts::SQRT_2
}

/// Which figures are outliers: the two before and the two after, as far as there are any, are all far above or
/// all far below.
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
    let mut squares: Vec<f64> =
        readings.iter().map(|r| r.error.powi(2)).filter(|&square| square > 0.0).collect();
    let usual = median_of(&mut squares).unwrap_or(0.0);
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
    let mut ascending = values.to_vec();
    ascending.sort_by(f64::total_cmp);
    let steps = ascending.windows(2).map(|pair| pair[1] - pair[0]).filter(|step| *step > 0.0);
    let min = steps.fold(f64::INFINITY, f64::min);
    if min.is_finite() { min / 2.0 } else { 0.0 }
}

/// A sequence with sums that the rules need again and again.
struct Sequence<'a> {
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
}

/// One side of a boundary.
#[derive(Clone, Copy)]
struct Side {
    weight: f64,
    /// The mean distance of two different figures.
    within: f64,
}

impl<'a> Sequence<'a> {
    fn new(readings: &'a [Reading]) -> Self {
        let values: Vec<f64> = readings.iter().map(|reading| reading.value).collect();
        let stand_apart = apart(&values);
        let weights = weights(readings, &values, &stand_apart);
        let mut apart = vec![0];
        for stands_apart in stand_apart {
            apart.push(apart[apart.len() - 1] + usize::from(stands_apart));
        }
        let mut sums = vec![(0.0, 0.0)];
        for weight in &weights {
            let (sum, squares) = sums[sums.len() - 1];
            sums.push((sum + weight, squares + weight * weight));
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
        Self { readings, weights, error_min, sums, apart, distances }
    }

    /// Rule 1: adds the boundaries in the stretch from `from` to `to`.
    fn split(&self, from: usize, to: usize, boundaries: &mut Vec<usize>) {
        let Some((at, end)) = self.best(from, to) else { return };
        if self.test(from, at, end).chance <= FALSE_ALARM {
            boundaries.push(at);
            self.split(from, at, boundaries);
            self.split(at, to, boundaries);
        }
    }

    /// The boundary in a stretch with the largest energy distance, and where the figures after it end.
    fn best(&self, from: usize, to: usize) -> Option<(usize, usize)> {
        let boundaries = from + LEVEL_FIGURES_MIN..(to + 1).saturating_sub(LEVEL_FIGURES_MIN);
        let energies = boundaries.flat_map(|at| {
            let before = self.side(from, at);
            let ends = at + LEVEL_FIGURES_MIN..=to;
            ends.map(move |end| (self.energy((from, before), at, end), (at, end)))
        });
        energies.max_by(|a, b| a.0.total_cmp(&b.0).then(b.1.cmp(&a.1))).map(|(_, split)| split)
    }

    /// The energy distance of the two sides of `at`, of which the `before` begins at `from`, scaled by how many
    /// there are on either.
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
            let candidates = from + LEVEL_FIGURES_MIN..(to + 1).saturating_sub(LEVEL_FIGURES_MIN);
            let energies =
                candidates.map(|at| (self.energy((from, self.side(from, at)), at, to), at));
            let best = energies.max_by(|a, b| a.0.total_cmp(&b.0).then(b.1.cmp(&a.1)));
            if let Some((_, best)) = best.filter(|(_, best)| *best != boundaries[index]) {
                boundaries[index] = best;
                moved = true;
            }
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

    /// Whether a level is too short. Two disturbances in a row are no temporary level; and a sequence with
    /// outliers has disturbances.
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
        let half = student::quantile_95(freedom) * error;
        let by = Estimate { value: by, low: by - half, high: by + half };
        LevelChange { at, before, by, chance: student::p_value(t, freedom) }
    }

    /// The error of the difference of two levels: what figures that scatter with such a variance have, but
    /// no less than their own errors.
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
