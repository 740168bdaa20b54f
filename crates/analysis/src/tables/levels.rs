//! The levels of one series, with the median of each.

use crate::Level;
use crate::gather::Samples;
use crate::shape::levels::find;
use crate::stats::bootstrap::{REPLICATES, median_over_rounds};
use crate::stats::quantiles::median_of;
use fastrand::Rng;
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::ops::RangeInclusive;

/// The levels of `series`, ascending; `random` is a generator for the one that begins at this point.
pub(super) fn levels(
    series: &BTreeMap<u64, Samples<'_>>,
    random: impl Fn(u64) -> Rng,
) -> Vec<Level> {
    let median = |round: &Cow<'_, [f64]>| median_of(&mut round.to_vec());
    let medians = |samples: &Samples<'_>| samples.rounds.iter().filter_map(median).collect();
    let curve: Vec<(u64, Vec<f64>)> =
        series.iter().map(|(&point, samples)| (point, medians(samples))).collect();
    let level = |points: RangeInclusive<usize>| {
        let (from, to) = (curve[*points.start()].0, curve[*points.end()].0);
        let mut rounds: BTreeMap<u32, Vec<f64>> = BTreeMap::new();
        for (_, samples) in series.range(from..=to) {
            for (number, round) in samples.numbers.iter().zip(&samples.rounds) {
                rounds.entry(*number).or_default().extend(round.iter());
            }
        }
        let rounds: Vec<&[f64]> = rounds.values().map(Vec::as_slice).collect();
        let median = median_over_rounds(&rounds, REPLICATES, &mut random(from))?.estimate;
        Some(Level { from, to, median })
    };
    find(&curve).into_iter().filter_map(level).collect()
}
