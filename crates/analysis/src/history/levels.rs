//! Where a sequence of figures changes its level: E-divisive with a t-test, as Hunter has it.
//!
//! 1. *Places.* The place that parts a stretch best is the one with the largest energy distance between
//!    what is before and what is after it (Matteson and James 2014). What is after may end before the stretch
//!    does, so that a level that comes and goes is seen as well. Each side is parted again, as long as a
//!    t-test between the two sides says that they differ at a [`SPLIT_P_VALUE`] level.
//! 2. *Tests.* Of the places found, the one whose levels on either side are least clearly different is given
//!    up, and its neighbours are judged again, until all are clear (Fleming, Kołaczkowski and others 2023).
//!    A t-test needs no permutations, of which few figures have too few, and gives the same every time.
//! 3. *Places again.* What was given up may have held a neighbour off its own place: each is moved to where
//!    it parts best what is between its neighbours, and all are judged again.
//! 4. *How clear.* The place is the best of many: the chance of the t-test is multiplied by their number
//!    (Bonferroni). A difference that is less than what was asked for is given up as well.
//!
//! What is ours: figures have weights. A figure that was measured badly counts for less, and one that stands
//! apart from those on either side of it hardly at all: one figure is no level. And no difference is clearer
//! than the intervals of the figures themselves allow, nor clearer than half the smallest step between two of
//! them: what lies on the edge of a step goes up and down without a change. A level that comes and goes is longer than one figure
//! more than others, and so is every level where figures are known to stand apart.

use crate::Estimate;
use crate::history::thresholds::{
    FIGURES_MIN, LEVEL_COUNT_MIN, LEVEL_FIGURES_MIN, MEDIAN_TO_DEVIATION, MOVES_MAX,
    OUTLIER_DISTANCE, SPLIT_P_VALUE,
};
use crate::stats::NORMAL_95;
use crate::stats::quantiles::median_of;
use crate::stats::student;

/// One figure of a sequence.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Reading {
    /// The figure.
    pub value: f64,
    /// Its standard error; 0 where nothing is known of it.
    pub error: f64,
}

impl Reading {
    /// The logarithm of a figure that is above zero, with the error that its interval tells.
    pub fn logarithm_of(figure: Estimate) -> Option<Self> {
        let Estimate { value, low, high } = figure;
        let known = value > 0.0 && value.is_finite() && low <= value && value <= high;
        let error = (high.ln() - low.max(f64::MIN_POSITIVE).ln()) / (2.0 * NORMAL_95);
        known.then_some(Self {
            value: value.ln(),
            error: if error.is_finite() { error } else { 0.0 },
        })
    }
}

/// What is asked of a change of level.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Asked {
    /// Changes that chance gives more often than this in such a sequence are none.
    pub chance: f64,
    /// Changes that are less than this are none, in the unit of the figures.
    pub least: f64,
}

/// A change of level.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LevelChange {
    /// The first figure of the new level.
    pub at: usize,
    /// The level before.
    pub before: f64,
    /// The level after, less the level before, with its 95 % interval.
    pub by: Estimate,
    /// How likely one at least as clear is in a sequence that has none.
    pub chance: f64,
}

/// The changes of level in `readings`, from first to last.
pub fn changes(readings: &[Reading], asked: &Asked) -> Vec<LevelChange> {
    if readings.len() < FIGURES_MIN || readings.iter().any(|reading| !reading.value.is_finite()) {
        return Vec::new();
    }
    let sequence = Sequence::of(readings);
    let mut places = Vec::new();
    sequence.part(0, readings.len(), &mut places);
    places.sort_unstable();
    let mut found = sequence.weed(&mut places, asked);
    for _ in 0..MOVES_MAX {
        if !sequence.settle(&mut places) {
            break;
        }
        found = sequence.weed(&mut places, asked);
    }
    found
}

/// The change that is clear as often as not where the level changes in the middle; the least that was asked
/// for where there are too few figures.
pub fn visible(readings: &[Reading], asked: &Asked) -> f64 {
    let count = readings.len();
    if count < FIGURES_MIN {
        return asked.least;
    }
    let sequence = Sequence::of(readings);
    let values: Vec<f64> = readings.iter().map(|reading| reading.value).collect();
    let candidates = (count + 1 - 2 * LEVEL_FIGURES_MIN) as f64;
    let clear = student::two_sided_quantile(asked.chance / candidates, count - 2);
    let error = sequence.error(0, count / 2, count, scatter(&values).powi(2));
    (clear * error).max(asked.least)
}

/// How figures scatter about their level, as a standard deviation: from the differences of neighbours, which
/// know nothing of changes of level. Zero with fewer than two.
pub fn scatter(values: &[f64]) -> f64 {
    let mut differences: Vec<f64> =
        values.windows(2).map(|pair| (pair[1] - pair[0]).abs()).collect();
    median_of(&mut differences).unwrap_or(0.0) * MEDIAN_TO_DEVIATION / std::f64::consts::SQRT_2
}

/// Which figures stand apart: two before and two after it, as far as there are as many, are on the same side
/// of it, far away.
pub fn apart(values: &[f64]) -> Vec<bool> {
    let far = OUTLIER_DISTANCE * scatter(values);
    let stands_apart = |at: usize| {
        let before = &values[at.saturating_sub(2)..at];
        let after = &values[at + 1..values.len().min(at + 3)];
        let mut beside = before.iter().chain(after).map(|other| values[at] - other);
        let above = beside.clone().all(|off| off > far);
        above || beside.all(|off| off < -far)
    };
    (0..values.len()).map(|at| values.len() >= FIGURES_MIN && stands_apart(at)).collect()
}

/// How much each figure counts, 1 on average: by its own error beside the scatter of all.
fn weights(readings: &[Reading], values: &[f64], apart: &[bool]) -> Vec<f64> {
    let scatter = scatter(values);
    let mut squares: Vec<f64> =
        readings.iter().map(|r| r.error.powi(2)).filter(|&square| square > 0.0).collect();
    let usual = median_of(&mut squares).unwrap_or(0.0);
    // What makes runs differ beyond their own errors.
    let between = (scatter.powi(2) - usual).max(0.0);
    let variance = |(at, reading): (usize, &Reading)| {
        let own = if reading.error > 0.0 { reading.error.powi(2) } else { usual };
        let beside = if at == 0 { 1 } else { at - 1 };
        let off = if apart[at] { (values[at] - values[beside]).powi(2) } else { 0.0 };
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
    let least = steps.fold(f64::INFINITY, f64::min);
    if least.is_finite() { least / 2.0 } else { 0.0 }
}

/// A sequence with what is asked of it again and again.
struct Sequence<'a> {
    readings: &'a [Reading],
    weights: Vec<f64>,
    /// The error that each figure has at least.
    least: f64,
    /// Sums of weights, and of their squares, before each place.
    sums: Vec<(f64, f64)>,
    /// How many figures stand apart before each place.
    apart: Vec<usize>,
    /// Weighted distances of all pairs of which one is before one place and the other before another.
    distances: Vec<f64>,
}

impl<'a> Sequence<'a> {
    fn of(readings: &'a [Reading]) -> Self {
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
        for (row, one) in readings.iter().enumerate() {
            let mut in_row = 0.0;
            for (column, other) in readings.iter().enumerate() {
                in_row += weights[row] * weights[column] * (one.value - other.value).abs();
                distances[(row + 1) * side + column + 1] =
                    distances[row * side + column + 1] + in_row;
            }
        }
        let least = half_step(&values);
        Self { readings, weights, least, sums, apart, distances }
    }

    /// Rule 1: adds the places that part the stretch from `from` to `to`.
    fn part(&self, from: usize, to: usize, places: &mut Vec<usize>) {
        let Some((at, end)) = self.best(from, to) else { return };
        if self.test(from, at, end).chance <= SPLIT_P_VALUE {
            places.push(at);
            self.part(from, at, places);
            self.part(at, to, places);
        }
    }

    /// The place in a stretch with the largest energy distance, and where what is after it ends.
    fn best(&self, from: usize, to: usize) -> Option<(usize, usize)> {
        let places = from + LEVEL_FIGURES_MIN..(to + 1).saturating_sub(LEVEL_FIGURES_MIN);
        let both = places.flat_map(|at| (at + LEVEL_FIGURES_MIN..=to).map(move |end| (at, end)));
        both.map(|(at, end)| (self.energy(from, at, end), (at, end)))
            .max_by(|a, b| a.0.total_cmp(&b.0).then(b.1.cmp(&a.1)))
            .map(|(_, place)| place)
    }

    /// The energy distance of the two sides of `at`, scaled by how many there are on either.
    fn energy(&self, from: usize, at: usize, to: usize) -> f64 {
        let (left, right) = (self.weight(from, at), self.weight(at, to));
        let across = self.block((from, at), (at, to)) / (left * right);
        let within = self.within(from, at) + self.within(at, to);
        left * right / (left + right) * (2.0 * across - within)
    }

    /// The mean distance of two different figures of a stretch.
    fn within(&self, from: usize, to: usize) -> f64 {
        let (sum, squares) = (self.weight(from, to), self.sums[to].1 - self.sums[from].1);
        self.block((from, to), (from, to)) / (sum * sum - squares)
    }

    fn weight(&self, from: usize, to: usize) -> f64 {
        self.sums[to].0 - self.sums[from].0
    }

    fn block(&self, rows: (usize, usize), columns: (usize, usize)) -> f64 {
        let before = |row: usize, column: usize| self.distances[row * self.sums.len() + column];
        before(rows.1, columns.1) - before(rows.0, columns.1) - before(rows.1, columns.0)
            + before(rows.0, columns.0)
    }

    /// Rules 2 and 4: gives up places until all are clear.
    fn weed(&self, places: &mut Vec<usize>, asked: &Asked) -> Vec<LevelChange> {
        loop {
            let all = self.between(places);
            let wanting = |change: &LevelChange| {
                change.chance > asked.chance || change.by.value.abs() < asked.least
            };
            let weakest = all.iter().enumerate().filter(|(_, change)| wanting(change)).max_by(
                |(_, a), (_, b)| {
                    let size = |change: &LevelChange| -change.by.value.abs();
                    a.chance.total_cmp(&b.chance).then(size(a).total_cmp(&size(b)))
                },
            );
            let Some((weakest, _)) = weakest else { return all };
            places.remove(weakest);
        }
    }

    /// Rule 3: moves each place to the best between its neighbours, and says whether any moved.
    fn settle(&self, places: &mut [usize]) -> bool {
        let mut moved = false;
        for index in 0..places.len() {
            let (from, to) = self.neighbours(places, index);
            let candidates = from + LEVEL_FIGURES_MIN..(to + 1).saturating_sub(LEVEL_FIGURES_MIN);
            let energies = candidates.map(|at| (self.energy(from, at, to), at));
            let best = energies.max_by(|a, b| a.0.total_cmp(&b.0).then(b.1.cmp(&a.1)));
            if let Some((_, best)) = best.filter(|(_, best)| *best != places[index]) {
                places[index] = best;
                moved = true;
            }
        }
        moved
    }

    /// Where the levels on either side of a place begin and end.
    fn neighbours(&self, places: &[usize], index: usize) -> (usize, usize) {
        let from = if index == 0 { 0 } else { places[index - 1] };
        (from, places.get(index + 1).copied().unwrap_or(self.readings.len()))
    }

    /// The changes at `places`, each between its neighbours.
    fn between(&self, places: &[usize]) -> Vec<LevelChange> {
        let candidates = (self.readings.len() + 1 - 2 * LEVEL_FIGURES_MIN) as f64;
        let change = |(index, &at): (usize, &usize)| {
            let (from, to) = self.neighbours(places, index);
            let test = self.test(from, at, to);
            let brief = self.is_brief(from, at) || self.is_brief(at, to);
            let chance = if brief { 1.0 } else { (test.chance * candidates).min(1.0) };
            LevelChange { chance, ..test }
        };
        places.iter().enumerate().map(change).collect()
    }

    /// Whether a level is too short to be one. Two disturbances one after the other are none that comes and
    /// goes; and where figures stand apart, disturbances are known to happen.
    fn is_brief(&self, from: usize, to: usize) -> bool {
        let comes_and_goes = from > 0 && to < self.readings.len();
        let disturbed = self.apart[self.readings.len()] > 0;
        to - from < LEVEL_FIGURES_MIN + usize::from(comes_and_goes) + usize::from(disturbed)
    }

    /// A t-test of the figures from `from` to `at` against those from there to `to`.
    fn test(&self, from: usize, at: usize, to: usize) -> LevelChange {
        let (before, after) = (self.mean(from, at), self.mean(at, to));
        let by = after - before;
        // What hardly counts tells nothing of the scatter either.
        let freedom = (to - from - 2).saturating_sub(self.apart[to] - self.apart[from]).max(1);
        let left = self.squares(from, at, before) + self.squares(at, to, after);
        let error = self.error(from, at, to, left / freedom as f64);
        let both = self.count(from, at).min(self.count(at, to)) >= LEVEL_COUNT_MIN;
        let t = if by == 0.0 || !both { 0.0 } else { by.abs() / error };
        let half = student::quantile_95(freedom) * error;
        let by = Estimate { value: by, low: by - half, high: by + half };
        LevelChange { at, before, by, chance: student::p_value(t, freedom) }
    }

    /// The error of the difference of two levels: what figures that scatter with such a variance have, but
    /// no less than their own errors tell.
    fn error(&self, from: usize, at: usize, to: usize, variance: f64) -> f64 {
        let per_weight = 1.0 / self.weight(from, at) + 1.0 / self.weight(at, to);
        let known = self.own_error(from, at) + self.own_error(at, to);
        (variance * per_weight).max(known).sqrt()
    }

    /// How many figures of equal weight would tell as much as those of a stretch (Kish).
    fn count(&self, from: usize, to: usize) -> f64 {
        self.weight(from, to).powi(2) / (self.sums[to].1 - self.sums[from].1)
    }

    fn stretch(&self, from: usize, to: usize) -> impl Iterator<Item = (&Reading, f64)> {
        self.readings[from..to].iter().zip(self.weights[from..to].iter().copied())
    }

    fn mean(&self, from: usize, to: usize) -> f64 {
        let sum: f64 = self.stretch(from, to).map(|(of, weight)| weight * of.value).sum();
        sum / self.weight(from, to)
    }

    fn squares(&self, from: usize, to: usize, mean: f64) -> f64 {
        self.stretch(from, to).map(|(of, weight)| weight * (of.value - mean).powi(2)).sum()
    }

    /// The square of a mean's error, as far as the errors of its figures tell it.
    fn own_error(&self, from: usize, to: usize) -> f64 {
        let error = |of: &Reading| of.error.max(self.least);
        let sum: f64 =
            self.stretch(from, to).map(|(of, weight)| (weight * error(of)).powi(2)).sum();
        sum / self.weight(from, to).powi(2)
    }
}
