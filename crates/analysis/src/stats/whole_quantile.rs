//! A quantile of all operations of several intervals of time, with its CI.
//!
//! The median of the intervals' quantiles leaves a rare pause out; the quantile of all operations does not. Its error
//! is that of the moving-block bootstrap, on a circle: blocks of consecutive intervals are drawn with replacement,
//! since a disturbance may last longer than an interval. What happened once in a load may happen in the next, or not:
//! the CI then reaches from the figure without it to that with it.

use crate::Estimate;
use crate::stats::bootstrap::few_rounds_factor;
use crate::stats::moments::sample_deviation;
use crate::stats::student::two_sided_quantile;
use crate::thresholds::{FALSE_ALARM, SAMPLES_MIN, TAIL_CI_FACTOR};
use fastrand::Rng;
use hdrhistogram::Histogram;
use std::collections::BTreeMap;

/// The operations of each interval, in the order of time.
pub(crate) struct Intervals {
    share: f64,
    /// Times, the largest first, with how many operations of each interval took as long.
    counts: Vec<(f64, Vec<(usize, u64)>)>,
    totals: Vec<u64>,
}

/// A quantile of all operations, and what its error is known by.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct WholeQuantile {
    pub(crate) value: f64,
    pub(crate) replicates: Vec<f64>,
    /// Blocks that a replicate is drawn from.
    pub(crate) blocks: usize,
}

impl Intervals {
    /// Those with these distributions, for the quantile of this `share`; none with fewer than [`SAMPLES_MIN`].
    pub(crate) fn new(histograms: &[Histogram<u64>], share: f64) -> Option<Intervals> {
        if histograms.len() < SAMPLES_MIN {
            return None;
        }
        let mut counts: BTreeMap<u64, Vec<(usize, u64)>> = BTreeMap::new();
        for (index, histogram) in histograms.iter().enumerate() {
            for step in histogram.iter_recorded() {
                let value = histogram.highest_equivalent(step.value_iterated_to());
                counts.entry(value).or_default().push((index, step.count_at_value()));
            }
        }
        let counts = counts.into_iter().rev().map(|(value, counts)| (value as f64, counts));
        let totals = histograms.iter().map(Histogram::len).collect();
        Some(Intervals { share, counts: counts.collect(), totals })
    }

    /// The quantile of all operations, where each interval counts so many times; none without operations.
    fn quantile(&self, times: &[u64]) -> Option<f64> {
        let total: u64 = self.totals.iter().zip(times).map(|(total, times)| total * times).sum();
        let rank = ((self.share * total as f64).ceil() as u64).clamp(1, total.max(1));
        let above_max = total.saturating_sub(rank);
        let mut above = 0;
        for (value, counts) in &self.counts {
            above += counts.iter().map(|(index, count)| count * times[*index]).sum::<u64>();
            if above > above_max {
                return Some(*value);
            }
        }
        None
    }

    /// The quantile with so many replicates; none where no time is above zero.
    pub(crate) fn resampled(&self, replicates: usize, random: &mut Rng) -> Option<WholeQuantile> {
        let intervals = self.totals.len();
        let value = self.quantile(&vec![1; intervals]).filter(|value| *value > 0.0)?;
        let length = (intervals as f64).sqrt().ceil() as usize;
        let blocks = intervals.div_ceil(length);
        let replicate = |_| {
            let mut times = vec![0; intervals];
            let starts = std::iter::repeat_with(|| random.usize(..intervals)).take(blocks);
            let drawn = starts.flat_map(|start| (start..start + length).map(|at| at % intervals));
            drawn.take(intervals).for_each(|index| times[index] += 1);
            self.quantile(&times).unwrap_or(value)
        };
        let replicates = (0..replicates).map(replicate).collect();
        Some(WholeQuantile { value, replicates, blocks })
    }
}

impl WholeQuantile {
    /// The quantile with its 95 % CI, by Student's t of the logarithms.
    pub(crate) fn estimate(&self) -> Estimate {
        let logarithms: Vec<f64> = self.replicates.iter().map(|value| value.ln()).collect();
        let error = few_rounds_factor(self.blocks) * sample_deviation(&logarithms).unwrap_or(0.0);
        let half = TAIL_CI_FACTOR * error * two_sided_quantile(FALSE_ALARM, self.blocks - 1);
        let [low, high] = [-half, half].map(|half| self.value * half.exp());
        Estimate { value: self.value, low, high }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn normal(random: &mut Rng) -> f64 {
        (-2.0 * (1.0 - random.f64()).ln()).sqrt() * (std::f64::consts::TAU * random.f64()).cos()
    }

    /// A load of log-normal times around 100 µs, whose intervals differ and follow each other: `scatter` is the
    /// deviation of their logarithms, half of which carries over to the next.
    fn load(
        intervals: usize,
        operations: usize,
        scatter: f64,
        random: &mut Rng,
    ) -> Vec<Histogram<u64>> {
        let mut level = scatter * normal(random);
        (0..intervals)
            .map(|_| {
                level = 0.5 * level + 0.75_f64.sqrt() * scatter * normal(random);
                let mut histogram = Histogram::new_with_bounds(1, 3_600_000_000_000, 3).unwrap();
                for _ in 0..operations {
                    let time_ns = 1e5 * (level + 0.3 * normal(random)).exp();
                    histogram.record(time_ns as u64).unwrap();
                }
                histogram
            })
            .collect()
    }

    #[test]
    fn the_interval_holds_the_quantile_of_endless_loads_as_often_as_it_says() {
        for (seed, scatter, intervals) in
            [(1, 0.0, 10), (2, 0.1, 10), (3, 0.1, 20), (5, 0.3, 30), (4, 0.1, 60)]
        {
            let mut random = Rng::with_seed(seed);
            let endless = load(4_000, 200, scatter, &mut random);
            let truth = Intervals::new(&endless, 0.99).unwrap().quantile(&vec![1; 4_000]).unwrap();
            let loads = 300;
            let covered = (0..loads)
                .filter(|_| {
                    let histograms = load(intervals, 200, scatter, &mut random);
                    let intervals = Intervals::new(&histograms, 0.99).unwrap();
                    let estimate = intervals.resampled(200, &mut random).unwrap().estimate();
                    (estimate.low..=estimate.high).contains(&truth)
                })
                .count();
            println!("scatter {scatter}, {intervals} intervals: {covered} of {loads}");
            assert!(covered * 100 >= loads * 90, "{covered} of {loads}: {scatter}, {intervals}");
        }
    }

    #[test]
    fn the_quantile_is_that_of_all_histograms_added_up() {
        let histograms = load(8, 500, 0.2, &mut Rng::with_seed(4));
        let mut all = histograms[0].clone();
        histograms[1..].iter().for_each(|histogram| all.add(histogram).unwrap());
        for share in [0.5, 0.99, 0.999] {
            let own = Intervals::new(&histograms, share).unwrap().quantile(&[1; 8]).unwrap();
            assert_eq!(own as u64, all.value_at_quantile(share), "{share}");
        }
        assert!(Intervals::new(&histograms[..5], 0.99).is_none(), "five intervals are too few");
    }
}
