//! Steps: positions where a curve jumps, because a table leaves a cache, or doubles. The axis is cut into bins, and in
//! each the rounds' medians are taken, each round moved by what it is displaced as a whole. A step has to pass four
//! tests:
//! 1. *Sharp.* The curve changes over the bin by far more than it does around there, and than those changes scatter: a
//!    ramp climbs as much in the neighbouring bins.
//! 2. *Lasting.* So far apart are the straight lines through up to [`BINS_PER_SIDE`] bins on either side: a single slow
//!    bin moves neither, and a bend moves both.
//! 3. *Large.* By a factor of [`SEEN_FACTOR_MIN`] at least.
//! 4. *Repeated.* Most rounds ([`MOST`]), and two at least, jump there in the same direction, by half as much or more.
//!
//! The position is where the samples around are divided best between the curves before and behind; its interval is that
//! of the bootstrap over rounds and samples. Where samples lie on several curves, the caller hands in those on the main
//! one.

use crate::gather::cloud::{Cloud, Window};
use crate::shape::is_most;
use crate::stats::NORMAL_95;
use crate::stats::bootstrap::{drawn_from, percentile_interval};
use crate::stats::moments::{mean, sample_deviation};
use crate::stats::normal::MEDIAN_TO_DEVIATION;
use crate::stats::quantiles::median;
use crate::stats::regression::theil_sen;
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
    let Some(bins) = Bins::new(cloud, offsets) else { return Vec::new() };
    let mut jumps: Vec<Jump> = (0..bins.middle.len()).filter_map(|bin| bins.jump(bin)).collect();
    jumps.sort_by(|a, b| b.size.abs().total_cmp(&a.size.abs()));
    let mut largest: Vec<Jump> = Vec::new();
    for jump in jumps {
        // A jump shows in the bins next to its own, too.
        if largest.iter().all(|larger| larger.bin.abs_diff(jump.bin) > 2) {
            largest.push(jump);
        }
    }
    largest.truncate(STEPS_MAX);
    largest.sort_by_key(|jump| jump.bin);
    let step = |jump: &Jump| Step {
        at: locate(cloud, offsets, &bins, jump, random),
        factor: bins.factor(jump),
        between: None,
    };
    largest.iter().map(step).collect()
}

/// The medians of each round along the axis.
struct Bins {
    windows: Vec<Window>,
    /// For each round, the logarithm of the median in each bin; not a number where it has few.
    rounds: Vec<Vec<f64>>,
    /// The median of the rounds.
    middle: Vec<f64>,
}

/// A jump at a bin.
struct Jump {
    bin: usize,
    /// Its logarithm.
    size: f64,
    /// How much the changes around it scatter.
    scatter: f64,
    /// The height in the bin of the line before it, and its slope from bin to bin.
    before: [f64; 2],
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
        let size = cloud.count() / count;
        let windows = cloud.windows(size, size);
        let medians = |(index, offset): (usize, &f64)| {
            let median_in = |window: &Window| {
                let samples = &cloud.rounds[index].samples[window.ranges[index].clone()];
                let level = median(samples.iter().map(|sample| sample.log - offset));
                level.filter(|_| samples.len() >= SAMPLES_MIN).unwrap_or(f64::NAN)
            };
            windows.iter().map(median_in).collect()
        };
        let rounds: Vec<Vec<f64>> = offsets.iter().enumerate().map(medians).collect();
        let mut bins = Self { windows, rounds, middle: Vec::new() };
        bins.middle = (0..bins.windows.len()).map(|bin| bins.across_rounds(bin)).collect();
        // Steps are looked for up to the first bin where rounds ended early, or that is empty.
        let complete = bins.middle.iter().take_while(|level| level.is_finite()).count();
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

    /// The jump at `bin`, if it passes all tests.
    fn jump(&self, bin: usize) -> Option<Jump> {
        let (sharp, scatter) = self.sharpness(bin)?;
        if sharp.abs() < STEP_DEVIATIONS * scatter {
            return None;
        }
        let (before, size) = self.lines(&self.middle, bin)?;
        let as_sharp = sharp * size.signum() >= MOST * size.abs() - scatter;
        let jump = Jump { bin, size, scatter, before };
        let is_large = size.abs() >= SEEN_FACTOR_MIN.ln();
        (is_large && as_sharp && self.is_repeated(&jump)).then_some(jump)
    }

    /// The straight lines through `levels` on either side of `bin`, as many on both: the height there and the slope of
    /// the one before it, and how much higher the one behind it is. `None` where there are too few, or one is unknown.
    fn lines(&self, levels: &[f64], bin: usize) -> Option<([f64; 2], f64)> {
        let reach = BINS_PER_SIDE.min(bin).min(self.middle.len() - 1 - bin);
        let line = |levels: &[f64], first: f64| {
            let x: Vec<f64> = (0..levels.len()).map(|index| first + index as f64).collect();
            let slope = theil_sen(&x, levels)?;
            Some([median(x.iter().zip(levels).map(|(x, level)| level - slope * x))?, slope])
        };
        let (from, to) = (bin - reach, bin + reach);
        let is_whole = levels[from..=to].iter().all(|level| level.is_finite());
        if reach < BINS_PER_SIDE / 2 || !is_whole {
            return None;
        }
        let before = line(&levels[from..bin], -(reach as f64))?;
        let behind = line(&levels[bin + 1..=to], 1.0)?;
        Some((before, behind[0] - before[0]))
    }

    /// By how much more the curve changes over `bin` than around it, or than on the side where it changes
    /// more, as a ramp would; and how much such changes scatter. `None` where it changes less.
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
        let more = over.abs() - steepest;
        (more > 0.0).then(|| (more * over.signum(), scatter))
    }

    fn is_repeated(&self, jump: &Jump) -> bool {
        let sizes = self.sizes(jump);
        let is_alike = |size: &&f64| **size * jump.size.signum() >= EVEN * jump.size.abs();
        let alike = sizes.iter().filter(is_alike).count();
        alike >= 2 && is_most(alike, sizes.len())
    }

    /// The same jump in each round that has all of the bins around.
    fn sizes(&self, jump: &Jump) -> Vec<f64> {
        self.rounds.iter().filter_map(|round| Some(self.lines(round, jump.bin)?.1)).collect()
    }

    /// The factor of `jump`, with an interval by its scatter over rounds or that of bins, whichever is wider.
    fn factor(&self, jump: &Jump) -> Estimate {
        let sizes = self.sizes(jump);
        let error = sample_deviation(&sizes).unwrap_or(0.0) / (sizes.len() as f64).sqrt();
        let between = student::quantile_95(sizes.len().saturating_sub(1)) * error;
        Estimate::around(mean(&sizes), between.max(NORMAL_95 * jump.scatter)).map(f64::exp)
    }
}

/// Where samples pass from the curve before `jump` to the one behind, by the distances to both.
fn locate(cloud: &Cloud, offsets: &[f64], bins: &Bins, jump: &Jump, random: &mut Rng) -> Estimate {
    let [first, own, last] = [jump.bin - 2, jump.bin, jump.bin + 2].map(|bin| &bins.windows[bin]);
    let middle = f64::midpoint(own.from as f64, own.to as f64);
    let width = (own.to - own.from + 1) as f64;
    let [level, slope] = jump.before;
    // For each sample, how much nearer it is to the curve before the jump; less is nearer.
    let in_round = |(index, offset): (usize, &f64)| -> Vec<(u64, f64)> {
        let around = first.ranges[index].start..last.ranges[index].end;
        let nearer = cloud.rounds[index].samples[around].iter().map(|sample| {
            let before = level + slope * (sample.position as f64 - middle) / width;
            let distance = sample.log - offset - before;
            (sample.position, distance.abs() - (distance - jump.size).abs())
        });
        nearer.collect()
    };
    let (start, end) = (first.from, last.to);
    let nearer: Vec<Vec<(u64, f64)>> = offsets.iter().enumerate().map(in_round).collect();
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
