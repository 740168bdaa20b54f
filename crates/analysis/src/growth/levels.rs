//! What is known of each point of a series: the logarithm of its level, with its standard error.
//!
//! A cell, one round at one point, is one observation. It lies about its level by normal noise, or off it by a
//! disturbance, which nearly always makes it slower. How large the noise is, and what share of cells is
//! disturbed, is the same for all points of a series, and averaged over: so three rounds at seven points are
//! twenty-one observations of the noise, and a level has an error although it was measured three times.

use crate::PointSummary;
use crate::stats::bootstrap::REPLICATES;
use crate::stats::moments::{log_sum, shares};
use crate::stats::moments::{mean, squares_about};
use crate::stats::normal::MEDIAN_TO_DEVIATION;
use crate::stats::quantiles::{median, median_of, sorted};
use crate::stats::random::normal;
use crate::thresholds::{
    CLEAR_ERRORS, DISTURBANCE_LOG, DISTURBED_SHARES, EVEN, EXCESS_ERRORS, FASTER_SHARE,
    NOISE_FACTORS, POINT_FACTORS,
};
use fastrand::Rng;
use std::collections::BTreeMap;
use std::f64::consts::TAU;

/// The most observations of a point. More cells are taken as the medians of this many stretches.
const BLOCKS_MAX: usize = 24;

/// The least error of a logarithm: a clock's resolution.
pub(crate) const ERROR_MIN: f64 = 1e-4;

/// Distance of these nodes in units of the noise.
const NODE_SPACING: f64 = 0.5;

/// Nodes to either side of a cell that its level is integrated over.
const NODES: i32 = 8;

/// The level of a point.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Level {
    /// The point on the axis.
    pub point: u64,
    /// The logarithm of its level.
    pub log: f64,
    /// The logarithm of what tables show for it, such as the median of all samples.
    pub shown_log: f64,
    /// The standard error of `log`; `None` where nothing was repeated, at no point of the series.
    pub error: Option<f64>,
}

impl Level {
    /// One that tables show as it is.
    pub fn new(point: u64, log: f64, error: Option<f64>) -> Self {
        Self { point, log, shown_log: log, error }
    }
}

/// What a level may be off by, besides its error: by a disturbance that most of its cells had.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Astray {
    /// How likely it is.
    pub(crate) chance: f64,
    /// By how much then, as a logarithm: a standard deviation.
    pub(crate) shift_log: f64,
}

impl Astray {
    /// What it adds to the variance of the level.
    pub(crate) fn variance(self) -> f64 {
        self.chance * self.shift_log.powi(2)
    }

    /// Of a difference of two levels.
    pub(crate) fn of_either([first, second]: [Self; 2]) -> Self {
        let chance = (first.chance + second.chance).min(1.0);
        if chance <= 0.0 {
            return Self::default();
        }
        Self { chance, shift_log: ((first.variance() + second.variance()) / chance).sqrt() }
    }
}

/// The cells of a point: the logarithms of their medians, by round.
pub type Cells = BTreeMap<u32, f64>;

impl PointSummary {
    /// What one costs in each of its cells: a disturbance makes a cost more, and a rate less. Where a round has no
    /// logarithm, since nothing was done, the median of all rounds, which it is part of, stands for them.
    pub(crate) fn costs(&self, lower_is_better: bool) -> (u64, Cells) {
        let sign = if lower_is_better { 1.0 } else { -1.0 };
        let is_finite = self.log_cells.values().all(|log| log.is_finite());
        let costs = || self.log_cells.iter().map(|(round, log)| (*round, sign * log)).collect();
        (self.point, if is_finite { costs() } else { alone(sign * self.median.value.ln()) })
    }
}

/// A figure that is no single round's: of none that others have.
pub fn alone(log: f64) -> Cells {
    [(u32::MAX, log)].into()
}

/// The levels of the costs of a series at these points, ascending. A point without cells is none.
pub fn levels(points: &[PointSummary], lower_is_better: bool) -> Vec<Level> {
    let errors = points.iter().filter_map(|at| Some((at.point, at.mean_error?))).collect();
    let costs = points.iter().map(|at| at.costs(lower_is_better));
    let evidence = Evidence::new(costs.collect()).with_errors(errors, 0.0);
    let shown = |level: Level| {
        let at = points.iter().find(|at| at.point == level.point);
        let shown_log = at.map_or(level.log, |at| at.median.value.ln());
        Level { shown_log: if lower_is_better { shown_log } else { -shown_log }, ..level }
    };
    evidence.levels(&shares_of([&evidence])).into_iter().map(shown).collect()
}

/// Points, ascending, with the logarithms of their cells.
type Points = Vec<(u64, Vec<f64>)>;

/// How well each of [`DISTURBED_SHARES`] explains what was measured: logarithms.
pub type LogShares = [f64; DISTURBED_SHARES.len()];

/// What the cells of a series say by each share of disturbed cells, which several series together know better.
#[derive(Clone, Debug, Default)]
pub struct Evidence {
    /// The cells at each of the points, by round.
    cells: Vec<(u64, Cells)>,
    /// The points that have cells, ascending, with the logarithms of these, of which rounds are taken off.
    points: Points,
    pub(crate) noise: Option<f64>,
    /// The share of disturbed cells that have less for it.
    less_share: f64,
    /// The level of each point by each of the shares.
    by_share: [Vec<Posterior>; DISTURBED_SHARES.len()],
    /// How well each of the shares explains the cells.
    log_shares: LogShares,
    /// What all points of a round are off, as a logarithm, by round. Empty with fewer than three points: then it is
    /// noise.
    pub rounds: BTreeMap<u32, f64>,
    /// The standard error of each of `rounds` that the cells' noise makes.
    pub round_error: f64,
    /// The standard errors of points that were not repeated, where they are known otherwise, by point.
    single_errors: BTreeMap<u64, f64>,
    /// The standard error that all of these share: what one round may be off.
    pub(crate) single_drift: f64,
}

impl Evidence {
    /// Of `cells` at each point, ascending.
    pub fn new(cells: Vec<(u64, Cells)>) -> Self {
        Self::with(cells, FASTER_SHARE)
    }

    /// The same where this share of the disturbed cells has less for it.
    fn with(mut cells: Vec<(u64, Cells)>, less_share: f64) -> Self {
        /// The error of a median over that of a mean.
        const MEDIAN_ERROR: f64 = 1.253_3;
        cells.retain(|(_, cells)| !cells.is_empty());
        let (rounds, points) = without_rounds(&cells);
        let Some(noise) = noise(&points) else {
            return Self { cells, points, ..Self::default() };
        };
        // What is known of each point by each of the shares, for each noise that there may be.
        let by_noise = NOISE_FACTORS.map(|factor| {
            let posterior =
                |(_, logs): &(u64, Vec<f64>)| Posterior::new(logs, factor * noise, less_share);
            points.iter().map(posterior).collect::<Vec<ByShare>>()
        });
        let mut evidence = Self { noise: Some(noise), less_share, rounds, ..Self::default() };
        for share in 0..DISTURBED_SHARES.len() {
            let log_evidence =
                |all: &Vec<ByShare>| all.iter().map(|level| level[share].log_evidence).sum::<f64>();
            let logs: Vec<f64> = by_noise.iter().map(log_evidence).collect();
            let level = |index: usize| {
                let levels = logs.iter().zip(&by_noise);
                Posterior::mixture(levels.map(|(log, levels)| (*log, levels[index][share])))
            };
            evidence.log_shares[share] = log_sum(&logs);
            evidence.by_share[share] = (0..points.len()).map(level).collect();
        }
        evidence.round_error = MEDIAN_ERROR * noise / (points.len() as f64).sqrt();
        Self { cells, points, ..evidence }
    }

    /// Knows the standard errors of some points, and one that they share, where nothing was repeated.
    pub(crate) fn with_errors(mut self, errors: BTreeMap<u64, f64>, drift: f64) -> Self {
        if self.noise.is_none() && !errors.is_empty() {
            (self.single_errors, self.single_drift) = (errors, drift);
        }
        self
    }

    /// What the two differ by, cell by cell, if both were measured in the same rounds and cells of a round were
    /// disturbed alike: then differences scatter less than the cells do, of whose variance both share the larger part.
    pub(crate) fn difference(&self, second: &Self) -> Option<Self> {
        let mut cells = Vec::new();
        for (point, of_first) in &self.cells {
            let at = second.cells.binary_search_by_key(point, |(point, _)| *point);
            let Ok(index) = at else { continue };
            let of_second = &second.cells[index].1;
            let apart = |(round, log): (&u32, &f64)| Some((*round, log - of_second.get(round)?));
            let apart: Cells = of_first.iter().filter_map(apart).collect();
            if apart.is_empty() {
                return None;
            }
            cells.push((*point, apart));
        }
        let apart = noise(&without_rounds(&cells).1)?;
        let is_paired = apart < EVEN.sqrt() * self.noise?.hypot(second.noise?);
        is_paired.then(|| Self::with(cells, 0.5))
    }

    /// The levels, by what is known of the share of disturbed cells.
    pub fn levels(&self, log_shares: &LogShares) -> Vec<Level> {
        let level = |(index, (point, logs)): (usize, &(u64, Vec<f64>))| {
            if self.noise.is_none() {
                return Level::new(*point, logs[0], self.single_errors.get(point).copied());
            }
            let by_share = log_shares.iter().zip(&self.by_share);
            let Posterior { mean, variance, .. } =
                Posterior::mixture(by_share.map(|(log, levels)| (*log, levels[index])));
            Level::new(*point, mean, Some(variance.sqrt().max(ERROR_MIN)))
        };
        self.points.iter().enumerate().map(level).collect()
    }

    /// For each of its `levels`, how likely most of its cells were disturbed, and by how much it is off then.
    pub(crate) fn astray(&self, levels: &[Level], log_shares: &LogShares) -> Vec<Astray> {
        let Some(noise) = self.noise else { return vec![Astray::default(); levels.len()] };
        let weights = shares(log_shares).into_iter().zip(DISTURBED_SHARES);
        let share: f64 = weights.map(|(weight, (share, _))| weight * share).sum();
        let [more, less] = [(1.0 - self.less_share) * share, self.less_share * share];
        let astray = |(level, (_, logs)): (&Level, &(u64, Vec<f64>))| {
            let off: Vec<f64> = logs.iter().map(|log| (log - level.log) / noise).collect();
            let mirrored: Vec<f64> = off.iter().map(|off| -off).collect();
            let slower = astray(&off, [more, less], noise);
            let faster = astray(&mirrored, [less, more], noise);
            if slower.variance() < faster.variance() { faster } else { slower }
        };
        levels.iter().zip(&self.points).map(astray).collect()
    }
}

/// What is known of the share of disturbed cells, which is the machine's, by all series that were measured on it
/// meanwhile.
pub fn shares_of<'a>(all: impl IntoIterator<Item = &'a Evidence>) -> LogShares {
    let mut log_shares = DISTURBED_SHARES.map(|(_, prior)| prior.ln());
    for evidence in all {
        for (sum, own) in log_shares.iter_mut().zip(evidence.log_shares) {
            *sum += own;
        }
    }
    log_shares
}

/// How likely the cells at their level were all made more by a disturbance, and those below it were not. The level is
/// then where those below are; where none is, it is off by what a disturbance usually does. `off` is in units of the
/// `noise`.
fn astray(off: &[f64], [more, less]: [f64; 2], noise: f64) -> Astray {
    let below: Vec<f64> = off.iter().copied().filter(|off| *off < -CLEAR_ERRORS).collect();
    let (count_below, at) = (below.len() as f64, (off.len() - below.len()) as f64);
    let usual = 1.0 - more - less;
    let is_astray = more.powf(at) * usual.powf(count_below);
    let is_right = usual.powf(at) * less.powf(count_below);
    let shift_log = if below.is_empty() { DISTURBANCE_LOG } else { -mean(&below) * noise };
    Astray { chance: is_astray / (is_astray + is_right), shift_log }
}

/// The standard error that rounds add to all levels alike, by what each of them is `off`: each a little, by noise of
/// standard error `round_error`, or besides by a standard deviation of its own, which is averaged over.
pub(crate) fn shared_error(off: &[f64], round_error: f64) -> f64 {
    if off.len() < 2 {
        return 0.0;
    }
    let squares = squares_about(mean(off), off);
    let freedom = (off.len() - 1) as f64;
    let log_likelihood = |own: f64| {
        let variance = own * own + round_error * round_error;
        -0.5 * (freedom * variance.ln() + squares / variance)
    };
    let own: Vec<f64> = EXCESS_ERRORS.into_iter().chain([0.0]).collect();
    let weights = shares(&own.iter().map(|own| log_likelihood(*own)).collect::<Vec<_>>());
    let variance: f64 = weights.iter().zip(&own).map(|(weight, own)| weight * own * own).sum();
    (variance / off.len() as f64).sqrt()
}

/// The logarithms of the levels in a number of draws from what is known of them; none where nothing was repeated.
pub fn draws(levels: &[Level]) -> Vec<Vec<f64>> {
    let mut random = Rng::with_seed(levels.len() as u64);
    let all = levels.iter().map(|level| Some((level.log, level.error?)));
    let Some(repeated) = all.collect::<Option<Vec<(f64, f64)>>>() else { return Vec::new() };
    let draw = |_| repeated.iter().map(|(log, error)| log + error * normal(&mut random)).collect();
    (0..REPLICATES).map(draw).collect()
}

/// What all points of a round are off, by round, which no factor between points depends on: the median of what its cells
/// are off. And the cells of each point without it.
fn without_rounds(cells: &[(u64, Cells)]) -> (BTreeMap<u32, f64>, Points) {
    let mut cells = cells.to_vec();
    let rounds = if cells.len() < 3 { BTreeMap::new() } else { take_off_rounds(&mut cells) };
    (rounds, cells.into_iter().map(|(point, cells)| (point, blocks(cells))).collect())
}

/// Takes off what all points of a round share, and returns it by round.
fn take_off_rounds(cells: &mut [(u64, Cells)]) -> BTreeMap<u32, f64> {
    let points = cells.len() as f64;
    let mut off: BTreeMap<u32, Vec<f64>> = BTreeMap::new();
    for (_, cells) in cells.iter() {
        let middle = median(cells.values().copied()).unwrap_or_default();
        for (round, log) in cells {
            off.entry(*round).or_default().push(log - middle);
        }
    }
    // A round that most points lack has no level of its own.
    off.retain(|_, off| 2 * off.len() > cells.len());
    let off: BTreeMap<u32, f64> =
        off.into_iter().filter_map(|(round, off)| Some((round, median(off)?))).collect();
    // A round's own level takes a part of each cell's noise with it.
    let rest = (points / (points - 1.0)).sqrt();
    for (_, cells) in cells {
        for (round, log) in cells.iter_mut() {
            *log -= off.get(round).copied().unwrap_or_default();
        }
        let middle = median(cells.values().copied()).unwrap_or_default();
        for log in cells.values_mut() {
            *log = middle + rest * (*log - middle);
        }
    }
    off
}

/// The cells of a point in the order of rounds; of many, the medians of [`BLOCKS_MAX`] stretches.
fn blocks(cells: Cells) -> Vec<f64> {
    let mut logs: Vec<f64> = cells.into_values().collect();
    let size = logs.len().div_ceil(BLOCKS_MAX);
    if size < 2 { logs } else { logs.chunks_mut(size).filter_map(median_of).collect() }
}

/// The usual noise of a cell, as a standard deviation, by the median deviation. `None` where no point has two.
fn noise(points: &[(u64, Vec<f64>)]) -> Option<f64> {
    let mut off = Vec::new();
    for (_, logs) in points.iter().filter(|(_, logs)| logs.len() > 1) {
        let middle = median(logs.iter().copied())?;
        let count = logs.len() as f64;
        let own = logs.iter().map(|log| (log - middle).abs() * (count / (count - 1.0)).sqrt());
        // The middle one of an odd number is off by nothing, whatever the noise.
        off.extend_from_slice(&sorted(&own.collect::<Vec<f64>>())[logs.len() % 2..]);
    }
    Some((MEDIAN_TO_DEVIATION * median_of(&mut off)?).max(ERROR_MIN))
}

/// What the cells of one point say of its level, given the noise.
#[derive(Clone, Copy, Debug)]
struct Posterior {
    log_evidence: f64,
    mean: f64,
    variance: f64,
}

type ByShare = [Posterior; DISTURBED_SHARES.len()];

impl Posterior {
    /// Averaged over how much more than usual the cells of this point scatter.
    fn new(logs: &[f64], noise: f64, less_share: f64) -> ByShare {
        let spread = logs.iter().map(|log| (log - logs[0]).abs()).fold(0.0, f64::max);
        // Cells that lie close together don't scatter much.
        let factors =
            POINT_FACTORS.iter().filter(|(factor, _)| *factor <= 1.0 || spread > factor * noise);
        let scattered: Vec<(f64, ByShare)> = factors
            .map(|(factor, prior)| (prior.ln(), Self::with_noise(logs, factor * noise, less_share)))
            .collect();
        std::array::from_fn(|share| {
            let parts = scattered.iter().map(|(log, levels)| (*log, levels[share]));
            Self::mixture(parts.map(|(log, level)| (log + level.log_evidence, level)))
        })
    }

    /// Several of them as one, each with the logarithm of its weight.
    fn mixture(parts: impl Iterator<Item = (f64, Self)>) -> Self {
        let parts: Vec<(f64, Self)> = parts.collect();
        let top = parts.iter().map(|(log, _)| *log).fold(f64::NEG_INFINITY, f64::max);
        let (mut weights, mut sum, mut squares) = (0.0, 0.0, 0.0);
        for (log, part) in &parts {
            // From the first mean, so that the sums keep their precision.
            let (weight, off) = ((log - top).exp(), part.mean - parts[0].1.mean);
            weights += weight;
            sum += weight * off;
            squares += weight * (off * off + part.variance);
        }
        let off = sum / weights;
        Self {
            log_evidence: top + weights.ln(),
            mean: parts[0].1.mean + off,
            variance: (squares / weights - off * off).max(0.0),
        }
    }

    /// Integrates over nodes around each of the `logs`, by trapezoids.
    fn with_noise(logs: &[f64], noise: f64, less_share: f64) -> ByShare {
        let around = |log: &f64| {
            let log = *log;
            (-NODES..=NODES).map(move |node| log + NODE_SPACING * noise * f64::from(node))
        };
        let mut nodes: Vec<f64> = logs.iter().flat_map(around).collect();
        nodes.sort_unstable_by(f64::total_cmp);
        nodes.dedup_by(|a, b| *a - *b < 0.2 * NODE_SPACING * noise);
        let width = |index: usize| {
            let (before, after) = (index.saturating_sub(1), (index + 1).min(nodes.len() - 1));
            0.5 * (nodes[after] - nodes[before])
        };
        let mut parts = [(); DISTURBED_SHARES.len()].map(|()| Vec::with_capacity(nodes.len()));
        for (index, &mean) in nodes.iter().enumerate() {
            let log_width = width(index).ln();
            let logs = log_densities(logs.iter().map(|log| log - mean), noise, less_share);
            for (parts, log) in parts.iter_mut().zip(logs) {
                let log_evidence = log + log_width;
                parts.push((log_evidence, Self { log_evidence, mean, variance: 0.0 }));
            }
        }
        parts.map(|parts| Self::mixture(parts.into_iter()))
    }
}

/// The logarithm of the density of cells that are `off` their level, by each of the shares.
fn log_densities(
    off: impl Iterator<Item = f64>,
    noise: f64,
    less_share: f64,
) -> [f64; DISTURBED_SHARES.len()] {
    /// A product that gets smaller is added to the sum: no density of one more cell then comes to nothing.
    const PRODUCT_MIN: f64 = 1e-100;
    let usual = DISTURBANCE_LOG.max(2.0 * noise);
    let peak = 1.0 / (noise * TAU.sqrt());
    let [mut sums, mut products] = [[0.0; DISTURBED_SHARES.len()], [1.0; DISTURBED_SHARES.len()]];
    for off in off {
        let normal = (-0.5 * (off / noise).powi(2)).exp() * peak;
        let side = if off > 0.0 { 1.0 - less_share } else { less_share };
        let disturbed = side * (-off.abs() / usual).exp() / usual;
        for (index, (share, _)) in DISTURBED_SHARES.iter().enumerate() {
            products[index] *= (1.0 - share) * normal + share * disturbed;
            if products[index] < PRODUCT_MIN {
                sums[index] += products[index].ln();
                products[index] = 1.0;
            }
        }
    }
    std::array::from_fn(|index| sums[index] + products[index].ln())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Estimate;

    fn measured(figures: &[(u64, &[f64])]) -> Vec<PointSummary> {
        let by_round = |figures: &[f64]| (0..).zip(figures.iter().map(|f| f.ln())).collect();
        let at = |&(point, figures): &(u64, &[f64])| {
            let (median, log_cells) = (Estimate::exact(figures[0]), by_round(figures));
            PointSummary { point, median, log_cells, ..PointSummary::default() }
        };
        figures.iter().map(at).collect()
    }

    #[test]
    fn a_level_that_two_of_three_rounds_hide_is_as_uncertain_as_it_is() {
        let all: [(u64, &[f64]); 5] = [
            (1, &[100.0, 101.0, 99.5]),
            (2, &[100.4, 99.7, 100.9]),
            (4, &[131.0, 100.3, 168.0]),
            (8, &[99.3, 100.2, 100.0]),
            (16, &[101.0, 100.0, 99.6]),
        ];
        let levels = levels(&measured(&all), true);
        let error = |index: usize| levels[index].error.unwrap();
        let off = (levels[2].log - levels[0].log).abs();
        assert!(off < 2.0 * error(2) && error(0) < 0.01 && error(2) > 0.1, "{levels:?}");
    }

    #[test]
    fn a_level_between_two_clusters_of_cells_is_at_most_off_by_their_distance() {
        let all: [(u64, &[f64]); 3] = [
            (10, &[10_000.0, 10_000.0, 10_001.0, 10_005.0, 10_006.0, 10_006.0]),
            (20, &[20_000.0, 20_001.0, 20_000.0, 20_001.0, 20_001.0, 20_000.0]),
            (40, &[40_001.0, 40_001.0, 40_000.0, 40_001.0, 40_000.0, 40_001.0]),
        ];
        let points = measured(&all).iter().map(|at| at.costs(true)).collect();
        let evidence = Evidence::new(points);
        let shares = shares_of([&evidence]);
        let levels = evidence.levels(&shares);
        let astray = evidence.astray(&levels, &shares);
        assert!(astray[0].chance > 0.01 && astray[0].shift_log < 0.001, "{astray:?}");
        // All cells of a point may be disturbed alike, which none below them shows.
        assert!(astray[1].chance < 1e-4 && astray[1].shift_log > 0.1, "{astray:?}");
    }

    #[test]
    fn what_a_round_shares_is_no_noise() {
        let shared: &[f64] = &[100.0, 150.0, 120.0];
        let all = [(1, shared), (2, shared), (4, shared)];
        assert!(levels(&measured(&all), true).iter().all(|level| level.error < Some(0.01)));
    }

    #[test]
    fn a_single_figure_has_no_error_and_many_are_taken_in_stretches() {
        let single = levels(&measured(&[(1, &[100.0]), (2, &[200.0])]), true);
        assert_eq!(single[1], Level::new(2, 200_f64.ln(), None));
        let many: Vec<f64> = (0..1_000).map(|i| 100.0 + f64::from(i % 7)).collect();
        let level = levels(&measured(&[(1, &many), (2, &many)]), true)[0];
        assert!((level.log - 103_f64.ln()).abs() < 0.005 && level.error < Some(0.01), "{level:?}");
        assert!(levels(&[], true).is_empty());
    }
}
