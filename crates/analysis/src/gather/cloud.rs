//! The samples of one series as a cloud: each with its position on the axis and its round, as logarithms. Modes, steps
//! and drift are looked for here, not in medians of points: nothing has been averaged away.

use crate::stats::quantiles::{median, quantile, sort, sorted};
use crate::thresholds::SAMPLES_MIN;
use fastrand::Rng;
use std::ops::Range;

/// Samples that share a tick of the clock are spread in groups of about this many.
const DITHER_GROUP: usize = 2_000;

/// The quantiles that the offset of a round is taken from.
const OFFSET_QUANTILES: [f64; 7] = [0.1, 0.2, 0.35, 0.5, 0.65, 0.8, 0.9];

/// One sample: where on the axis, and the logarithm of its value.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sample {
    /// The position on the axis.
    pub position: u64,
    /// The natural logarithm of the value.
    pub log: f64,
}

/// The samples of one round, by position.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Round {
    /// Which round, counted from 1.
    pub number: u32,
    /// Its samples; positions do not descend.
    pub samples: Vec<Sample>,
}

/// The samples of one series: rounds in order.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Cloud {
    /// The rounds that have samples.
    pub rounds: Vec<Round>,
}

/// A stretch of the axis, with the samples of each round in it.
#[derive(Clone, Debug, PartialEq)]
pub struct Window {
    /// The first position.
    pub from: u64,
    /// The last position.
    pub to: u64,
    /// For each round of the cloud, which of its samples are in the window.
    pub ranges: Vec<Range<usize>>,
}

impl Window {
    /// Samples in all rounds.
    pub fn count(&self) -> usize {
        self.ranges.iter().map(Range::len).sum()
    }

    /// Takes the `next` one in.
    fn extend(&mut self, next: &Self) {
        self.to = next.to;
        for (range, more) in self.ranges.iter_mut().zip(&next.ranges) {
            range.end = more.end;
        }
    }
}

impl Cloud {
    /// The cloud of `rounds`: each with its number and with the position and the value of each sample, in any order.
    /// `None` where more than one in a hundred has no logarithm. Each sample is moved at random by up to half a tick,
    /// the distance between the values around it, where these are fewer than half as many as the samples: a clock's
    /// ticks would each look like a mode.
    pub fn new(rounds: Vec<(u32, Vec<(u64, f64)>)>, random: &mut Rng) -> Option<Self> {
        let mut cloud = Self::default();
        let (mut all, mut kept) = (0_usize, 0_usize);
        for (number, mut values) in rounds {
            all += values.len();
            values.sort_by_key(|sample| sample.0);
            for group in values.chunks_mut(DITHER_GROUP) {
                dither(group, random);
            }
            let samples: Vec<Sample> = values
                .into_iter()
                .filter(|&(_, value)| value > 0.0 && value.is_finite())
                .map(|(position, value)| Sample { position, log: value.ln() })
                .collect();
            kept += samples.len();
            if !samples.is_empty() {
                cloud.rounds.push(Round { number, samples });
            }
        }
        cloud.rounds.sort_by_key(|round| round.number);
        (kept > 0 && all - kept <= all / 100).then_some(cloud)
    }

    /// Samples in all rounds.
    pub fn count(&self) -> usize {
        self.rounds.iter().map(|round| round.samples.len()).sum()
    }

    /// Every position that has a sample, ascending.
    pub fn positions(&self) -> Vec<u64> {
        let samples = self.rounds.iter().flat_map(|round| &round.samples);
        let mut positions: Vec<u64> = samples.map(|sample| sample.position).collect();
        positions.sort_unstable();
        positions.dedup();
        positions
    }

    /// Windows of about `size` samples each, all rounds together, ascending and without gaps. Near the beginning of the
    /// axis one of `size_min` samples ends when its last position is half as far again as its first.
    pub fn windows(&self, size: usize, size_min: usize) -> Vec<Window> {
        let is_whole = |window: &Window| {
            let is_wide = window.to as f64 >= 1.5 * window.from as f64;
            window.count() >= if is_wide { size_min } else { size }
        };
        let mut windows: Vec<Window> = Vec::new();
        for next in self.windows_by_position() {
            match windows.last_mut() {
                Some(last) if !is_whole(last) => last.extend(&next),
                _ => windows.push(next),
            }
        }
        // What is left at the end is no window of its own.
        if windows.len() > 1
            && let Some(rest) = windows.pop_if(|last| last.count() < size / 2)
            && let Some(last) = windows.last_mut()
        {
            last.extend(&rest);
        }
        windows
    }

    /// A window for each position.
    pub fn windows_by_position(&self) -> Vec<Window> {
        let at = |position: u64| {
            let range = |round: &Round| {
                let start = round.samples.partition_point(|sample| sample.position < position);
                start..round.samples.partition_point(|sample| sample.position <= position)
            };
            Window { from: position, to: position, ranges: self.rounds.iter().map(range).collect() }
        };
        self.positions().into_iter().map(at).collect()
    }

    /// The samples in one of its windows.
    pub fn samples_in<'a>(&'a self, window: &'a Window) -> impl Iterator<Item = &'a Sample> {
        let rounds = self.rounds.iter().zip(&window.ranges);
        rounds.flat_map(|(round, range)| &round.samples[range.clone()])
    }

    /// How far the samples of each round lie from those of the middle round in each of `windows`, as logarithms: the
    /// median of the distances at seven quantiles. Not a number where a round has fewer than [`SAMPLES_MIN`] samples.
    pub fn displacements(&self, windows: &[Window]) -> Vec<Vec<f64>> {
        windows.iter().map(|window| self.displaced_in(window)).collect()
    }

    fn displaced_in(&self, window: &Window) -> Vec<f64> {
        let quantiles = |(round, range): (&Round, &Range<usize>)| {
            let logs: Vec<f64> =
                round.samples[range.clone()].iter().map(|sample| sample.log).collect();
            if logs.len() < SAMPLES_MIN {
                return None;
            }
            let logs = sorted(&logs);
            Some(OFFSET_QUANTILES.map(|p| quantile(&logs, p).unwrap_or(f64::NAN)))
        };
        let all: Vec<Option<[f64; 7]>> =
            self.rounds.iter().zip(&window.ranges).map(quantiles).collect();
        let middle: [f64; 7] = std::array::from_fn(|at| {
            median(all.iter().flatten().map(|quantiles| quantiles[at])).unwrap_or(f64::NAN)
        });
        let displaced = |quantiles: &Option<[f64; 7]>| {
            let distances = quantiles.iter().flatten().zip(middle);
            median(distances.map(|(value, middle)| value - middle)).unwrap_or(f64::NAN)
        };
        all.iter().map(displaced).collect()
    }
}

/// One displacement for each round: the median over all windows, 0 where it has none.
pub fn offsets(displacements: &[Vec<f64>]) -> Vec<f64> {
    let rounds = displacements.first().map_or(0, Vec::len);
    let offset = |round: usize| {
        let all = displacements.iter().map(|window| window[round]);
        median(all.filter(|offset| offset.is_finite())).unwrap_or(0.0)
    };
    (0..rounds).map(offset).collect()
}

/// Moves each value by up to half a tick, but not to zero.
fn dither(samples: &mut [(u64, f64)], random: &mut Rng) {
    let mut values: Vec<f64> =
        samples.iter().map(|sample| sample.1).filter(|value| value.is_finite()).collect();
    sort(&mut values);
    let tick = tick(&values);
    if tick <= 0.0 {
        return;
    }
    for (_, value) in samples.iter_mut() {
        *value = (*value + tick * (random.f64() - 0.5)).max(tick / 4.0);
    }
}

/// The distance between neighbours among the distinct values, if these are at most half as many as
/// the values, else 0. The lower quartile: a gap between modes, or one in a tail, is no tick.
fn tick(ascending: &[f64]) -> f64 {
    let pairs = ascending.windows(2).filter(|pair| pair[1] - pair[0] > 1e-6 * pair[1].abs());
    let gaps: Vec<f64> = pairs.map(|pair| pair[1] - pair[0]).collect();
    if 2 * gaps.len() > ascending.len() {
        return 0.0;
    }
    quantile(&sorted(&gaps), 0.25).unwrap_or(0.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cloud(rounds: &[&[(u64, f64)]]) -> Cloud {
        let numbered = (1..).zip(rounds.iter().map(|round| round.to_vec())).collect();
        Cloud::new(numbered, &mut Rng::with_seed(1)).unwrap()
    }

    #[test]
    fn ticks_are_found_and_filled() {
        let samples: Vec<(u64, f64)> =
            (0..2_000).map(|i| (i, 200.0 + (i % 5) as f64 * 10.0)).collect();
        let logs: Vec<f64> = cloud(&[&samples]).rounds[0].samples.iter().map(|s| s.log).collect();
        let values = sorted(&logs.iter().map(|log| log.exp()).collect::<Vec<f64>>());
        let widest = values.windows(2).map(|pair| pair[1] - pair[0]).fold(0.0, f64::max);
        assert!(widest < 1.0, "{widest}");
        assert!(values[0] >= 195.0 && values[1_999] <= 245.0);
        assert!(tick(&[1.0, 2.5, 3.7, 9.0]).abs() < 1e-12);
    }

    #[test]
    fn figures_without_a_logarithm_are_left_out_while_they_are_few() {
        let mut samples: Vec<(u64, f64)> = (0..200).map(|i| (i, 1.5 + i as f64)).collect();
        samples[7].1 = 0.0;
        assert_eq!(cloud(&[&samples]).count(), 199);
        for sample in &mut samples[..10] {
            sample.1 = -1.0;
        }
        assert_eq!(Cloud::new(vec![(1, samples)], &mut Rng::with_seed(1)), None);
        assert_eq!(Cloud::new(Vec::new(), &mut Rng::with_seed(1)), None);
    }

    #[test]
    fn windows_hold_every_sample_once() {
        let samples: Vec<(u64, f64)> = (1..=1_010).map(|i| (i, 1.0 + 1e-3 * i as f64)).collect();
        let cloud = cloud(&[&samples, &samples[..505]]);
        let windows = cloud.windows(300, 40);
        let count: usize = windows.iter().map(Window::count).sum();
        assert_eq!(count, cloud.count());
        assert_eq!((windows[0].from, windows.last().unwrap().to), (1, 1_010));
        assert!(windows.windows(2).all(|pair| pair[0].to + 1 == pair[1].from));
        assert_eq!(windows[0].to, 20);
        assert_eq!(cloud.windows_by_position().len(), 1_010);
    }

    #[test]
    fn a_round_is_displaced_only_if_all_of_it_is() {
        let level = |share: u64, at: f64| -> Vec<(u64, f64)> {
            let mode = |i| if i * 37 % 100 < share { 2.0 } else { 1.0 };
            (1..=100).map(|i| (i, at * mode(i) * (1.0 + 1e-6 * i as f64))).collect()
        };
        let rounds = [level(45, 1.0), level(55, 1.0), level(50, 1.3)];
        let slices: Vec<&[(u64, f64)]> = rounds.iter().map(Vec::as_slice).collect();
        let cloud = cloud(&slices);
        let offsets = offsets(&cloud.displacements(&cloud.windows(300, 300)));
        assert!(offsets[0].abs() < 1e-3 && offsets[1].abs() < 1e-3, "{offsets:?}");
        assert!((offsets[2] - 1.3_f64.ln()).abs() < 1e-3, "{offsets:?}");
        let moved = cloud.rounds[2].samples[99].log - offsets[2];
        assert!((moved - cloud.rounds[0].samples[99].log).abs() < 1e-3);
    }
}
