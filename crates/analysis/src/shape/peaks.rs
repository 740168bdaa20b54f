//! The humps of a distribution: how many there are, where, and how much of it is in each.
//!
//! A hump counts when the density between it and the next one falls to half of the lesser of the two
//! or below, by more than chance explains, when the two are at least a factor of [`SEEN_FACTOR_MIN`] apart, and
//! when it holds [`NAMED_SHARE_MIN`] of the samples. A long tail only falls, so it has no valley, however
//! long it is; and a few outliers have a valley, but no share.

use crate::stats::quantiles::{quantile, sort};
use crate::thresholds::{CLEAR_ERRORS, EVEN, NAMED_SHARE_MIN, SEEN_FACTOR_MIN, SHARE_SAMPLES_MIN};
use std::f64::consts::PI;

/// Cells of the grid at most; then they are wider.
const CELLS_MAX: f64 = 4_000.0;

const CELLS_PER_BANDWIDTH: f64 = 4.0;

const KERNEL_CELLS: isize = 14;

/// One hump of a distribution of logarithms.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Peak {
    /// Where it is highest.
    pub at: f64,
    /// The share of the samples between the valleys on both sides.
    pub share: f64,
    /// The valley above it; infinite above the last one.
    pub valley: f64,
}

/// The humps of `logs`, which get sorted, ascending; at least one, if there is a sample. A narrow hump shows at a
/// narrow bandwidth only and a broad one at a wide one: Silverman's (1986, 3.31) by the spread of the densest part, or
/// three times that.
pub fn peaks(logs: &mut [f64]) -> Vec<Peak> {
    sort(logs);
    let spread = spread(logs);
    let fine = 0.9 * spread * (logs.len().max(1) as f64).powf(-0.2);
    let narrow = at_bandwidth(logs, fine);
    let broad = at_bandwidth(logs, 3.0 * fine);
    if broad.len() > narrow.len() { broad } else { narrow }
}

/// The standard deviation of the densest part, if it is normal: by the narrowest interval that holds
/// a tenth of the samples. Of several humps it sees one.
fn spread(ascending: &[f64]) -> f64 {
    // A normal distribution has a tenth within ±0.1257 standard deviations.
    const TENTH: f64 = 0.2513;
    let count = (ascending.len() / 10).max(2);
    let widths = ascending.windows(count).map(|part| part[count - 1] - part[0]);
    (widths.fold(f64::INFINITY, f64::min) / TENTH).clamp(1e-4, 1.0)
}

fn at_bandwidth(ascending: &[f64], bandwidth: f64) -> Vec<Peak> {
    let (Some(low), Some(high)) = (quantile(ascending, 0.002), quantile(ascending, 0.998)) else {
        return Vec::new();
    };
    if ascending.len() < SHARE_SAMPLES_MIN {
        return to_peaks(ascending, &[Extreme { at: f64::midpoint(low, high), height: 1.0 }], &[]);
    }
    let density = Density::new(ascending, low - bandwidth, high + bandwidth, bandwidth);
    let (mut humps, mut valleys) = density.extremes();
    while let Some(weakest) = density.weakest(&humps, &valleys, ascending) {
        // The lower one of the two is part of the other.
        let lower = usize::from(humps[weakest + 1].height < humps[weakest].height);
        humps.remove(weakest + lower);
        valleys.remove(weakest);
    }
    to_peaks(ascending, &humps, &valleys)
}

/// A hump, which is a local maximum of the density, or the valley between two.
#[derive(Clone, Copy)]
struct Extreme {
    at: f64,
    height: f64,
}

/// A density on a grid, in samples per cell.
struct Density {
    start: f64,
    cell: f64,
    /// The sum of the kernel's squares: what a smoothed count varies by, per count.
    variance: f64,
    heights: Vec<f64>,
}

impl Density {
    fn new(ascending: &[f64], low: f64, high: f64, bandwidth: f64) -> Self {
        let cell = (bandwidth / CELLS_PER_BANDWIDTH).max((high - low) / CELLS_MAX);
        let count = ((high - low) / cell).ceil() as usize + 1;
        let mut counts = vec![0.0; count];
        for log in ascending.iter().filter(|log| (low..=high).contains(*log)) {
            counts[((log - low) / cell) as usize] += 1.0;
        }
        let per_bandwidth = (bandwidth / cell).max(0.5);
        let weight = |at: isize| {
            let z = at as f64 / per_bandwidth;
            (-0.5 * z * z).exp() / (per_bandwidth * (2.0 * PI).sqrt())
        };
        let kernel: Vec<f64> = (-KERNEL_CELLS..=KERNEL_CELLS).map(weight).collect();
        let mut heights = vec![0.0; count];
        for (at, samples) in counts.iter().enumerate().filter(|(_, samples)| **samples > 0.0) {
            for (weight, offset) in kernel.iter().zip(-KERNEL_CELLS..) {
                let index = at.checked_add_signed(offset);
                if let Some(height) = index.and_then(|index| heights.get_mut(index)) {
                    *height += samples * weight;
                }
            }
        }
        let variance = kernel.iter().map(|weight| weight * weight).sum();
        Self { start: low + 0.5 * cell, cell, variance, heights }
    }

    /// The local maxima, and the lowest place between each two.
    fn extremes(&self) -> (Vec<Extreme>, Vec<Extreme>) {
        let (mut humps, mut valleys) = (Vec::new(), Vec::new());
        let mut lowest = Extreme { at: self.start, height: f64::INFINITY };
        for (index, &height) in self.heights.iter().enumerate() {
            let at = self.start + self.cell * index as f64;
            let before = if index == 0 { 0.0 } else { self.heights[index - 1] };
            let after = self.heights.get(index + 1).copied().unwrap_or(0.0);
            if height > before && height >= after {
                if !humps.is_empty() {
                    valleys.push(lowest);
                }
                humps.push(Extreme { at, height });
                lowest.height = f64::INFINITY;
            }
            if height < lowest.height {
                lowest = Extreme { at, height };
            }
        }
        (humps, valleys)
    }

    /// The valley that counts least of those that do not count; `None` when all do.
    fn weakest(&self, humps: &[Extreme], valleys: &[Extreme], ascending: &[f64]) -> Option<usize> {
        let clear = |(index, valley): (usize, &Extreme)| {
            let lesser = humps[index].height.min(humps[index + 1].height);
            let error = ((lesser + valley.height) * self.variance).sqrt();
            let clear = (lesser - valley.height) / error.max(f64::MIN_POSITIVE);
            let apart = humps[index + 1].at - humps[index].at >= SEEN_FACTOR_MIN.ln();
            let counts = clear >= CLEAR_ERRORS && valley.height <= EVEN * lesser && apart;
            (!counts).then_some((index, clear))
        };
        let uncounted = valleys.iter().enumerate().filter_map(clear);
        let weakest = uncounted.min_by(|a, b| a.1.total_cmp(&b.1));
        weakest.map(|(index, _)| index).or_else(|| smallest(valleys, ascending))
    }
}

/// The valley that takes the smallest hump from its higher neighbour, if that hump holds too little.
fn smallest(valleys: &[Extreme], ascending: &[f64]) -> Option<usize> {
    let shares = shares(ascending, valleys);
    let (index, &share) = shares.iter().enumerate().min_by(|a, b| a.1.total_cmp(b.1))?;
    let height = |at: &usize| valleys[*at].height;
    // Of two that are as high the one below.
    let sides = [Some(index).filter(|at| *at < valleys.len()), index.checked_sub(1)];
    let higher = sides.into_iter().flatten().max_by(|a, b| height(a).total_cmp(&height(b)));
    higher.filter(|_| share < NAMED_SHARE_MIN)
}

fn shares(ascending: &[f64], valleys: &[Extreme]) -> Vec<f64> {
    let below = |valley: &Extreme| ascending.partition_point(|log| *log < valley.at);
    let ends: Vec<usize> =
        [0].into_iter().chain(valleys.iter().map(below)).chain([ascending.len()]).collect();
    ends.windows(2).map(|ends| (ends[1] - ends[0]) as f64 / ascending.len() as f64).collect()
}

fn to_peaks(ascending: &[f64], humps: &[Extreme], valleys: &[Extreme]) -> Vec<Peak> {
    let ends = valleys.iter().map(|valley| valley.at).chain([f64::INFINITY]);
    let peaks = humps.iter().zip(shares(ascending, valleys)).zip(ends);
    peaks.map(|((hump, share), valley)| Peak { at: hump.at, share, valley }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stats::random::normal;
    use fastrand::Rng;

    fn drawn(parts: &[(usize, f64, f64)], seed: u64) -> Vec<Peak> {
        let mut random = Rng::with_seed(seed);
        let mut logs: Vec<f64> = parts
            .iter()
            .flat_map(|&(count, at, spread)| vec![(at, spread); count])
            .map(|(at, spread)| at + spread * normal(&mut random))
            .collect();
        peaks(&mut logs)
    }

    #[test]
    fn humps_are_found_where_they_are() {
        let three = drawn(&[(500, 0.0, 0.05), (300, 0.3, 0.05), (200, 0.7, 0.05)], 1);
        assert_eq!(three.len(), 3, "{three:?}");
        for (peak, (at, share)) in three.iter().zip([(0.0, 0.5), (0.3, 0.3), (0.7, 0.2)]) {
            assert!((peak.at - at).abs() < 0.03 && (peak.share - share).abs() < 0.02, "{peak:?}");
        }
        let broad = drawn(&[(900, 0.0, 0.02), (100, 1.0, 0.2)], 2);
        assert_eq!(broad.len(), 2, "{broad:?}");
    }

    #[test]
    fn one_hump_is_one_hump() {
        for seed in 0..50 {
            assert_eq!(drawn(&[(1000, 0.0, 0.3)], seed).len(), 1, "{seed}");
            assert_eq!(drawn(&[(980, 0.0, 0.05), (20, 1.1, 0.02)], seed).len(), 1, "{seed}");
        }
        assert_eq!(peaks(&mut [1.0; 5]).len(), 1);
        assert_eq!(peaks(&mut [1.0; 500]).len(), 1);
        assert!(peaks(&mut []).is_empty());
    }
}
