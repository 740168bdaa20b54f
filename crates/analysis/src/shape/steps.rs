//! Steps: positions where a curve jumps, because a table leaves a cache, or doubles. The axis is cut into bins, and in
//! each the rounds' medians are taken, each round moved by what it is displaced as a whole. A step has to pass four
//! tests:
//! 1. *Sharp.* The curve changes over the bin by far more than it does around there: a ramp climbs as much in the
//!    neighbouring bins.
//! 2. *Lasting.* A parabola, over the position as over its logarithm, needs a jump there, [`BINS_PER_SIDE`] bins on
//!    either side taken together: a single slow bin or a bend of n² needs none.
//! 3. *Large.* By a factor of [`SEEN_FACTOR_MIN`] at least, and well beyond what the bins scatter.
//! 4. *Repeated.* Most rounds ([`MOST`]), and two at least, jump there in the same direction, by half as much or more.
//!
//! The position is where the samples around are divided best between the curves before and behind; its interval is that
//! of the bootstrap over rounds and samples. Where samples lie on several curves, the caller hands in those on the main
//! one.

use crate::gather::cloud::{Cloud, Round};
use crate::shape::is_most;
use crate::stats::NORMAL_95;
use crate::stats::bootstrap::{drawn_from, percentile_interval};
use crate::stats::moments::sample_deviation;
use crate::stats::normal::MEDIAN_TO_DEVIATION;
use crate::stats::quantiles::{median, median_of};
use crate::stats::student;
use crate::thresholds::{
    EVEN, MOST, POINT_SAMPLES_MIN, SAMPLES_MIN, SEEN_FACTOR_MIN, SHARE_SAMPLES_MIN, STEP_DEVIATIONS,
};
use crate::{Estimate, Step};
use fastrand::Rng;

const BINS_MAX: usize = 160;

/// Fewer bins are too coarse to tell a step from a bend.
const BINS_MIN: usize = 24;

/// Bins on either side of a step that it is judged by.
const BINS_PER_SIDE: usize = 8;

const STEP_REPLICATES: usize = 200;

const STEPS_MAX: usize = 8;

/// The steps of the trajectory `cloud`, ascending, whose rounds have these [offsets](crate::gather::cloud::offsets).
pub fn find(cloud: &Cloud, offsets: &[f64], random: &mut Rng) -> Vec<Step> {
    let Some(mut bins) = Bins::new(cloud, offsets) else { return Vec::new() };
    let mut steps = Vec::new();
    while let Some(jump) = bins.strongest() {
        let at = locate(cloud, offsets, &bins, &jump, random);
        steps.push(Step { at, factor: bins.factor(&jump), between: None });
        bins.level(&jump, at.value);
        if steps.len() == STEPS_MAX {
            break;
        }
    }
    steps.sort_by(|a, b| a.at.value.total_cmp(&b.at.value));
    steps
}

/// The medians of each round along the axis.
struct Bins {
    first: u64,
    width: f64,
    /// For each round, the logarithm of the median in each bin; not a number where it has few.
    rounds: Vec<Vec<f64>>,
    /// The median of the rounds.
    middle: Vec<f64>,
    /// The jumps that were taken away: from where on, and how large.
    taken: Vec<(f64, f64)>,
}

/// A jump at a bin.
struct Jump {
    bin: usize,
    /// Its logarithm.
    size: f64,
    error: f64,
    fit: Fit,
}

impl Bins {
    /// `None` with a single round, or too few samples.
    fn new(cloud: &Cloud, offsets: &[f64]) -> Option<Self> {
        let sizes = cloud.rounds.iter().map(|round| round.samples.len());
        let max = sizes.clone().max()?;
        let count = (max / SHARE_SAMPLES_MIN).clamp(BINS_MIN, BINS_MAX);
        if max < (POINT_SAMPLES_MIN as usize) * count
            || sizes.filter(|size| 2 * size >= max).count() < 2
        {
            return None;
        }
        let ends =
            cloud.rounds.iter().filter_map(|r| Some((r.samples.first()?, r.samples.last()?)));
        let first = ends.clone().map(|(first, _)| first.position).min()?;
        let last = ends.map(|(_, last)| last.position).max()?;
        let width = (last - first + 1) as f64 / count as f64;
        let medians = |(round, offset): (&Round, &f64)| {
            let mut logs: Vec<Vec<f64>> = vec![Vec::new(); count];
            for sample in &round.samples {
                let bin = ((sample.position - first) as f64 / width) as usize;
                logs[bin.min(count - 1)].push(sample.log - offset);
            }
            let median = |logs: &mut Vec<f64>| {
                let level = median_of(logs).filter(|_| logs.len() >= SAMPLES_MIN);
                level.unwrap_or(f64::NAN)
            };
            logs.iter_mut().map(median).collect()
        };
        let rounds: Vec<Vec<f64>> = cloud.rounds.iter().zip(offsets).map(medians).collect();
        let mut bins = Self { first, width, rounds, middle: Vec::new(), taken: Vec::new() };
        bins.middle = (0..count).map(|bin| bins.across_rounds(bin)).collect();
        // Steps are looked for up to the first bin where rounds ended early, or that is empty.
        let complete = bins.middle.iter().position(|level| level.is_nan()).unwrap_or(count);
        bins.middle.truncate(complete);
        (complete >= BINS_MIN).then_some(bins)
    }

    /// The middle of the rounds' levels; not a number where fewer than half of them have one.
    fn across_rounds(&self, bin: usize) -> f64 {
        let finite = || self.rounds.iter().map(|round| round[bin]).filter(|l| l.is_finite());
        let count = finite().count();
        let enough = 2 * count >= self.rounds.len() && count >= 2;
        median(finite()).filter(|_| enough).unwrap_or(f64::NAN)
    }

    /// All that was taken away at `position`.
    fn taken(&self, position: f64) -> f64 {
        self.taken.iter().filter(|(from, _)| position >= *from).map(|(_, size)| size).sum()
    }

    /// The position in the middle of `bin`.
    fn position(&self, bin: usize) -> f64 {
        self.first as f64 + self.width * (bin as f64 + 0.5)
    }

    /// The bins on either side of `bin` that a jump there is judged by.
    fn around(&self, bin: usize) -> impl Iterator<Item = usize> {
        let to = (bin + BINS_PER_SIDE).min(self.middle.len() - 1);
        (bin.saturating_sub(BINS_PER_SIDE)..=to).filter(move |&index| index != bin)
    }

    /// The largest jump that passes all tests.
    fn strongest(&self) -> Option<Jump> {
        let last = self.middle.len() - BINS_PER_SIDE / 2;
        let jumps = (BINS_PER_SIDE / 2..last).filter_map(|bin| self.jump(bin));
        jumps.max_by(|a, b| a.size.abs().total_cmp(&b.size.abs()))
    }

    /// The jump at `bin`, if it passes all tests.
    fn jump(&self, bin: usize) -> Option<Jump> {
        let (sharp, scatter) = self.sharpness(bin)?;
        if sharp.abs() < MOST * SEEN_FACTOR_MIN.ln() || sharp.abs() < STEP_DEVIATIONS * scatter {
            return None;
        }
        let levels: Vec<f64> = self.around(bin).map(|index| self.middle[index]).collect();
        let jumps = [false, true].map(|logarithmic| {
            let positions: Vec<f64> = self.around(bin).map(|index| self.position(index)).collect();
            let fit = Fit::new(&positions, self.position(bin), logarithmic, &levels)?;
            let (size, error) = fit.jump(&levels);
            Some(Jump { bin, size, error: error.max(scatter * fit.inflation()), fit })
        });
        let [Some(plain), Some(logarithmic)] = jumps else { return None };
        let jump = if plain.size.abs() < logarithmic.size.abs() { plain } else { logarithmic };
        let lasting = jump.size.abs() >= SEEN_FACTOR_MIN.ln().max(STEP_DEVIATIONS * jump.error);
        let as_sharp = sharp * jump.size.signum() >= MOST * jump.size.abs() - scatter;
        (lasting && as_sharp && self.is_repeated(&jump)).then_some(jump)
    }

    /// By how much more the curve changes over `bin` than around it, or than on the side where it changes
    /// more, as a ramp would; and how much such changes scatter.
    fn sharpness(&self, bin: usize) -> Option<(f64, f64)> {
        let change = |at: usize| Some(self.middle.get(at + 1)? - self.middle[at.checked_sub(1)?]);
        let (from, to) = (bin.saturating_sub(BINS_PER_SIDE + 2), bin + BINS_PER_SIDE + 2);
        let around = (from..=to).filter(|index| index.abs_diff(bin) > 2);
        let changes: Vec<f64> = around.filter_map(change).collect();
        let usual = median(changes.iter().copied())?;
        let distances = changes.iter().map(|change| (change - usual).abs());
        let scatter = median(distances)? * MEDIAN_TO_DEVIATION;
        let over = change(bin)?;
        let side = |inner: Option<usize>, outer: Option<usize>| {
            let pair = inner.and_then(change).zip(outer.and_then(change));
            pair.map_or(usual, |(inner, outer)| f64::midpoint(inner, outer))
        };
        let before = side(bin.checked_sub(2), bin.checked_sub(3));
        let behind = side(Some(bin + 2), Some(bin + 3));
        let sides = [usual, before, behind];
        let steepest = sides.into_iter().map(|side| side * over.signum()).fold(f64::MIN, f64::max);
        Some((over - steepest * over.signum(), scatter))
    }

    fn is_repeated(&self, jump: &Jump) -> bool {
        let sizes = self.sizes(jump);
        let is_alike = |size: &&f64| **size * jump.size.signum() >= EVEN * jump.size.abs();
        let alike = sizes.iter().filter(is_alike).count();
        alike >= 2 && is_most(alike, sizes.len())
    }

    /// The same jump in each round that has all of the bins around.
    fn sizes(&self, jump: &Jump) -> Vec<f64> {
        let size = |round: &Vec<f64>| {
            let levels: Vec<f64> = self.around(jump.bin).map(|index| round[index]).collect();
            jump.fit.jump(&levels).0
        };
        self.rounds.iter().map(size).filter(|size| size.is_finite()).collect()
    }

    /// The factor of `jump`, with an interval by its scatter over rounds or that of bins, whichever is wider.
    fn factor(&self, jump: &Jump) -> Estimate {
        let sizes = self.sizes(jump);
        let of_rounds = sample_deviation(&sizes).unwrap_or(0.0) / (sizes.len() as f64).sqrt();
        let between = student::quantile_95(sizes.len().saturating_sub(1)) * of_rounds;
        Estimate::around(jump.size, between.max(NORMAL_95 * jump.error)).map(f64::exp)
    }

    /// Takes `jump` away, so that the next one can be looked for.
    fn level(&mut self, jump: &Jump, at: f64) {
        self.taken.push((at, jump.size));
        for levels in self.rounds.iter_mut().chain([&mut self.middle]) {
            for level in levels.iter_mut().skip(jump.bin + 1) {
                *level -= jump.size;
            }
            levels[jump.bin] = f64::midpoint(levels[jump.bin - 1], levels[jump.bin + 1]);
        }
    }
}

/// A parabola with a jump in it, through given positions by least squares.
struct Fit {
    logarithmic: bool,
    /// Where the jump is, and the distance that is one.
    middle: f64,
    scale: f64,
    /// Each position as 1, z, z² and whether it is behind the jump.
    rows: Vec<[f64; 4]>,
    inverse: [[f64; 4]; 4],
    /// The coefficients through the levels that it was made for.
    curve: [f64; 4],
}

impl Fit {
    fn new(positions: &[f64], at: f64, logarithmic: bool, levels: &[f64]) -> Option<Self> {
        let along = |position: f64| along(position, logarithmic);
        let (middle, last) = (along(at), along(*positions.last()?));
        let scale = (last - middle).max(middle - along(*positions.first()?));
        let row = |position: &f64| {
            let z = (along(*position) - middle) / scale;
            [1.0, z, z * z, f64::from(u8::from(*position > at))]
        };
        let rows: Vec<[f64; 4]> = positions.iter().map(row).collect();
        let product = |i: usize, j: usize| rows.iter().fold(0.0, |sum, row| sum + row[i] * row[j]);
        let inverse = inverse(std::array::from_fn(|i| std::array::from_fn(|j| product(i, j))))?;
        let fit = Self { logarithmic, middle, scale, rows, inverse, curve: [0.0; 4] };
        Some(Self { curve: fit.coefficients(levels), ..fit })
    }

    fn coefficients(&self, levels: &[f64]) -> [f64; 4] {
        let sums: [f64; 4] = std::array::from_fn(|at| {
            self.rows.iter().zip(levels).fold(0.0, |sum, (row, level)| sum + row[at] * level)
        });
        self.inverse.map(|line| line.iter().zip(sums).map(|(a, b)| a * b).sum())
    }

    /// The jump that `levels` need, and its standard error by what is left.
    fn jump(&self, levels: &[f64]) -> (f64, f64) {
        let curve = self.coefficients(levels);
        let square = |(row, level): (&[f64; 4], &f64)| {
            (level - row.iter().zip(curve).map(|(a, b)| a * b).sum::<f64>()).powi(2)
        };
        let left: f64 = self.rows.iter().zip(levels).map(square).sum();
        let freedom = (levels.len() as f64 - 4.0).max(1.0);
        (curve[3], (left / freedom).sqrt() * self.inflation())
    }

    /// The standard error of the jump, per standard deviation of a level.
    fn inflation(&self) -> f64 {
        self.inverse[3][3].max(0.0).sqrt()
    }

    /// The curve before the jump, at `position`.
    fn before(&self, position: f64) -> f64 {
        let z = (along(position, self.logarithmic) - self.middle) / self.scale;
        self.curve[0] + z * (self.curve[1] + z * self.curve[2])
    }
}

fn along(position: f64, logarithmic: bool) -> f64 {
    if logarithmic { position.max(0.5).ln() } else { position }
}

/// The inverse of a matrix, by elimination; `None` where it has none.
fn inverse(mut matrix: [[f64; 4]; 4]) -> Option<[[f64; 4]; 4]> {
    let mut result = [[0.0; 4]; 4];
    for (at, row) in result.iter_mut().enumerate() {
        row[at] = 1.0;
    }
    for at in 0..4 {
        let pivot = (at..4).max_by(|&a, &b| matrix[a][at].abs().total_cmp(&matrix[b][at].abs()))?;
        if matrix[pivot][at].abs() < 1e-12 {
            return None;
        }
        matrix.swap(at, pivot);
        result.swap(at, pivot);
        let by = matrix[at][at];
        matrix[at] = matrix[at].map(|value| value / by);
        result[at] = result[at].map(|value| value / by);
        for row in (0..4).filter(|&row| row != at) {
            let times = matrix[row][at];
            for column in 0..4 {
                matrix[row][column] -= times * matrix[at][column];
                result[row][column] -= times * result[at][column];
            }
        }
    }
    Some(result)
}

/// Where samples pass from the curve before `jump` to the one behind, by the distances to both.
fn locate(cloud: &Cloud, offsets: &[f64], bins: &Bins, jump: &Jump, random: &mut Rng) -> Estimate {
    let start = (bins.first as f64 + bins.width * (jump.bin as f64 - 2.0)) as u64;
    let end = (bins.first as f64 + bins.width * (jump.bin as f64 + 3.0)) as u64;
    // For each sample, how much nearer it is to the curve before the jump; less is nearer.
    let in_round = |(round, offset): (&Round, &f64)| -> Vec<(u64, f64)> {
        let from = round.samples.partition_point(|sample| sample.position < start);
        let around = round.samples[from..].iter().take_while(|sample| sample.position <= end);
        let nearer = around.map(|sample| {
            let position = sample.position as f64;
            let distance = sample.log - offset - bins.taken(position) - jump.fit.before(position);
            (sample.position, distance.abs() - (distance - jump.size).abs())
        });
        nearer.collect()
    };
    let nearer: Vec<Vec<(u64, f64)>> = cloud.rounds.iter().zip(offsets).map(in_round).collect();
    let nearer: Vec<&Vec<(u64, f64)>> = nearer.iter().filter(|round| !round.is_empty()).collect();
    let mut sums = vec![0.0; (end - start + 1) as usize];
    let value = divide(&nearer, start, &mut sums, || 1.0);
    let replicate = |_| {
        let drawn = drawn_from(&nearer, Some(&mut *random));
        // Weights of mean and variance 1, like those of plain drawing (Rubin 1981). None is 0: where no sample of a position
        // counted, a clean step would seem to be one position before it.
        divide(&drawn, start, &mut sums, || -(1.0 - random.f64()).ln())
    };
    percentile_interval(value, &(0..STEP_REPLICATES).map(replicate).collect::<Vec<f64>>())
}

/// The first position behind the cut that leaves most samples on their own side.
fn divide(
    rounds: &[&Vec<(u64, f64)>],
    start: u64,
    sums: &mut [f64],
    mut weight: impl FnMut() -> f64,
) -> f64 {
    sums.fill(0.0);
    for &(position, nearer) in rounds.iter().copied().flatten() {
        sums[(position - start) as usize] += weight() * nearer;
    }
    let (mut sum, mut min, mut cut) = (0.0, 0.0, start);
    for (position, nearer) in (start..).zip(sums.iter()) {
        sum += nearer;
        if sum < min {
            (min, cut) = (sum, position + 1);
        }
    }
    cut as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_matrix_times_its_inverse_is_one() {
        let matrix = [
            [4.0, 1.0, 0.5, 2.0],
            [1.0, 3.0, 0.0, 1.0],
            [0.5, 0.0, 2.0, 0.3],
            [2.0, 1.0, 0.3, 5.0],
        ];
        let inverse = inverse(matrix).unwrap();
        for (i, row) in matrix.iter().enumerate() {
            for j in 0..4 {
                let product: f64 = row.iter().zip(inverse).map(|(value, row)| value * row[j]).sum();
                assert!((product - f64::from(u8::from(i == j))).abs() < 1e-12);
            }
        }
        assert_eq!(super::inverse([[1.0; 4]; 4]), None);
    }

    #[test]
    fn a_parabola_needs_no_jump_and_a_jump_is_measured() {
        let positions: Vec<f64> =
            (0..17).filter(|i| *i != 8).map(|i| 100.0 + f64::from(i)).collect();
        let parabola = |position: &f64| 1.0 + 0.1 * position + 0.02 * position * position;
        let smooth: Vec<f64> = positions.iter().map(parabola).collect();
        let fit = Fit::new(&positions, 108.0, false, &smooth).unwrap();
        assert!(fit.jump(&smooth).0.abs() < 1e-9);
        let jumps = |position: &f64| parabola(position) + if *position > 108.0 { 0.5 } else { 0.0 };
        let stepped: Vec<f64> = positions.iter().map(jumps).collect();
        let (size, error) = fit.jump(&stepped);
        assert!((size - 0.5).abs() < 1e-9 && error < 1e-9, "{size} {error}");
    }
}
