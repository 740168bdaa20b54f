//! Medians with intervals: a two-stage bootstrap over rounds and over the samples within them.
//!
//! The figure is the median of the rounds' medians. Each replicate draws rounds with replacement, and within each drawn
//! round the median of samples drawn with replacement: the order statistics of uniform draws are beta distributed, so
//! one or two deviates say which samples it would have been. The distribution is exactly the same.

use crate::Estimate;
use crate::stats::quantiles::{median_of, quantile, sorted};
use crate::stats::random::beta;
use crate::stats::sign_test;
use crate::thresholds::{CHANCE_MAX, FALSE_ALARM, SAMPLES_MIN};
use fastrand::Rng;

/// Replicates that an interval is taken from.
pub const REPLICATES: usize = 1000;

/// A median, its 95 % CI, and the replicates that the interval comes from.
#[derive(Clone, Debug, PartialEq)]
pub struct Resampled {
    /// The median of the rounds' medians, with its interval.
    pub estimate: Estimate,
    /// The bootstrap's replicates of it, in order of drawing; empty when nothing was resampled
    /// because there is a single round of fewer than [`SAMPLES_MIN`] samples.
    pub replicates: Vec<f64>,
}

/// The median over `rounds` (the samples of each, in any order) with its interval from as many `replicates`; `None`
/// without samples.
///
/// - Several rounds: the two-stage bootstrap's 2.5 and 97.5 percentiles, and from six rounds no less than what order
///   statistics ask for ([`sign_test`]). With fewer than five rounds it is too narrow, and the caller says so.
/// - One round: the samples are resampled, so the interval knows nothing of drift between rounds.
/// - One round of 2 to 5 samples: smallest to largest, which covers the median with probability 1 − 2^(1−n).
/// - One sample: both ends are the figure itself.
pub fn median_over_rounds(
    rounds: &[&[f64]],
    replicates: usize,
    random: &mut Rng,
) -> Option<Resampled> {
    let rounds: Vec<Vec<f64>> =
        rounds.iter().filter(|round| !round.is_empty()).map(|round| sorted(round)).collect();
    let medians: Vec<f64> = rounds.iter().filter_map(|round| quantile(round, 0.5)).collect();
    let value = median_of(&mut medians.clone())?;
    if let [round] = rounds.as_slice()
        && round.len() < SAMPLES_MIN
    {
        let estimate = Estimate { value, low: round[0], high: round[round.len() - 1] };
        return Some(Resampled { estimate, replicates: Vec::new() });
    }
    let replicates: Vec<f64> = if rounds.iter().all(|round| round.len() == 1) {
        // Drawn rounds of one sample each are drawn samples of one round.
        let all = sorted(&medians);
        (0..replicates).map(|_| drawn_median(&all, random)).collect()
    } else {
        resampled(&rounds, replicates, random)
    };
    Some(Resampled { estimate: interval_of(value, &replicates, rounds.len()), replicates })
}

/// So many replicates of the median over rounds, the samples of each in ascending order.
fn resampled(rounds: &[Vec<f64>], replicates: usize, random: &mut Rng) -> Vec<f64> {
    let mut drawn = vec![0.0; rounds.len()];
    let replicate = |_| {
        for slot in &mut drawn {
            *slot = drawn_median(&rounds[random.usize(..rounds.len())], random);
        }
        median_of(&mut drawn)
    };
    (0..replicates).filter_map(replicate).collect()
}

/// The interval of a median over so many rounds: the percentiles of its replicates, widened to the blend of
/// two of them that holds the median as often as it says where all noise is between the rounds.
fn interval_of(value: f64, replicates: &[f64], rounds: usize) -> Estimate {
    let ascending = sorted(replicates);
    let plain = interval_in(FALSE_ALARM, value, &ascending);
    let Some((levels, part)) = sign_test::levels(rounds) else { return plain };
    let [outer, inner] = levels.map(|level| interval_in(2.0 * level, value, &ascending));
    let blend = |outer: f64, inner: f64| outer + (inner - outer) * part;
    Estimate {
        value,
        low: plain.low.min(blend(outer.low, inner.low)),
        high: plain.high.max(blend(outer.high, inner.high)),
    }
}

/// The figure with the 2.5 and 97.5 percentiles of its replicates, widened to hold the figure.
pub fn percentile_interval(value: f64, replicates: &[f64]) -> Estimate {
    interval_in(FALSE_ALARM, value, &sorted(replicates))
}

/// The median of a run with a budget, with its interval. A run stops where intervals are too narrow by chance: they
/// hold 99 % of the replicates, to cover the true median in 95 % of the cases.
pub fn budget_interval(value: f64, replicates: &[f64]) -> Estimate {
    interval_in(CHANCE_MAX, value, &sorted(replicates))
}

/// The interval outside of which this share of the replicates lies, half on either side, widened to hold the figure.
fn interval_in(outside: f64, value: f64, ascending: &[f64]) -> Estimate {
    let end = |p| quantile(ascending, p).unwrap_or(value);
    Estimate::holding(value, end(outside / 2.0), end(1.0 - outside / 2.0))
}

/// `rows` themselves, or as many of them drawn with replacement.
pub(crate) fn drawn_from<T: Copy>(rows: &[T], random: Option<&mut Rng>) -> Vec<T> {
    match random {
        Some(random) if !rows.is_empty() => {
            rows.iter().map(|_| rows[random.usize(..rows.len())]).collect()
        }
        _ => rows.to_vec(),
    }
}

/// The factor for the standard error of so many rounds, or blocks of them, that were drawn with replacement: drawing
/// from a few makes them look more alike than those they stand for.
pub(crate) fn few_rounds_factor(rounds: usize) -> f64 {
    let rounds = rounds as f64;
    (rounds / (rounds - 1.0).max(0.5)).sqrt()
}

/// The median of as many draws with replacement as there are samples.
fn drawn_median(ascending: &[f64], random: &mut Rng) -> f64 {
    let (count, size) = (ascending.len(), ascending.len() as f64);
    if count < 2 {
        return ascending[0];
    }
    let at = |uniform: f64| ascending[((uniform * size) as usize).min(count - 1)];
    // Where the middle one of the draws lies, the lower one of two, as a share of the samples.
    let rank = count.div_ceil(2) as f64;
    let middle = beta([rank, size + 1.0 - rank], random);
    if count % 2 == 1 {
        return at(middle);
    }
    // The next order statistic is the least of the size − rank draws that fell above this one.
    let next = 1.0 - (1.0 - middle) * random.f64().powf(1.0 / (size - rank));
    f64::midpoint(at(middle), at(next))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stats::quantiles::sort;
    use crate::stats::random::normal;

    fn median_over(rounds: &[Vec<f64>], seed: u64) -> Resampled {
        let slices: Vec<&[f64]> = rounds.iter().map(Vec::as_slice).collect();
        median_over_rounds(&slices, REPLICATES, &mut Rng::with_seed(seed)).unwrap()
    }

    /// The short cut by order statistics against drawing and sorting, for odd and even counts.
    #[test]
    fn resampled_medians_are_distributed_as_those_of_plain_drawing() {
        let mut random = Rng::with_seed(11);
        for count in [2, 3, 8, 9, 40, 41] {
            let ascending: Vec<f64> = (0..count).map(|i| (f64::from(i) * 0.3).exp()).collect();
            let ends = |mut figures: Vec<f64>| {
                sort(&mut figures);
                [0.1, 0.3, 0.5, 0.7, 0.9].map(|p| quantile(&figures, p).unwrap())
            };
            let short = ends((0..20_000).map(|_| drawn_median(&ascending, &mut random)).collect());
            let plain = ends(
                (0..20_000)
                    .map(|_| {
                        let mut draws: Vec<f64> = ascending
                            .iter()
                            .map(|_| ascending[random.usize(..ascending.len())])
                            .collect();
                        median_of(&mut draws).unwrap()
                    })
                    .collect(),
            );
            for (a, b) in short.iter().zip(plain) {
                // Quantiles fall on the samples, which are a factor of e^0.3 apart.
                assert!((a / b).ln().abs() < 0.31, "{count}: {short:?} and {plain:?}");
            }
            let middle = (short[2] / plain[2]).ln().abs();
            assert!(middle < 0.16, "{count}: {short:?} and {plain:?}");
        }
    }

    /// 5 rounds of 50 samples with skewed noise of 20 % and a shift of 5 % per round.
    #[test]
    fn intervals_cover_the_true_median_as_often_as_they_say() {
        let mut random = Rng::with_seed(2026);
        let covered = (0..300)
            .filter(|&repetition| {
                let rounds: Vec<Vec<f64>> = (0..5)
                    .map(|_| {
                        let shift = 0.05 * normal(&mut random);
                        (0..50).map(|_| 100.0 * (shift + 0.2 * normal(&mut random)).exp()).collect()
                    })
                    .collect();
                let Estimate { low, high, .. } = median_over(&rounds, repetition).estimate;
                (low..=high).contains(&100.0)
            })
            .count();
        println!("95 % CIs covered the true median in {covered} of 300 repetitions");
        assert!(covered >= 270, "covered in {covered} of 300");
        assert!(covered < 300, "intervals that never miss are too wide");
    }

    /// One sample a round, from a skewed distribution: nothing is known but the rounds.
    #[test]
    fn intervals_cover_where_all_noise_is_between_rounds() {
        const REPETITIONS: u64 = 1500;
        for rounds in [6, 7, 8, 10, 13] {
            let mut random = Rng::with_seed(rounds as u64);
            let mut covered = 0;
            for repetition in 0..REPETITIONS {
                let each: Vec<Vec<f64>> =
                    (0..rounds).map(|_| vec![(0.5 * normal(&mut random)).exp()]).collect();
                let Estimate { low, high, .. } = median_over(&each, repetition).estimate;
                covered += u64::from((low..=high).contains(&1.0));
            }
            let share = covered as f64 / REPETITIONS as f64;
            println!("{rounds} rounds: covered in {:.1} %", 100.0 * share);
            // Plain percentiles cover 87.5 % at 7 rounds.
            assert!((0.93..0.98).contains(&share), "{rounds} rounds: {share}");
        }
    }

    #[test]
    fn one_disturbed_round_does_not_move_the_median() {
        let quiet = vec![10.0, 10.1, 9.9, 10.0, 10.2, 9.8];
        let disturbed: Vec<f64> = (0..500).map(|i| 50.0 + f64::from(i)).collect();
        let result =
            median_over(&[quiet.clone(), quiet.clone(), disturbed, quiet.clone(), quiet], 1);
        assert!((result.estimate.value - 10.0).abs() < 1e-12, "{:?}", result.estimate);
    }

    #[test]
    fn few_samples_claim_no_more_than_they_know() {
        let single = median_over(&[vec![5.0]], 1);
        assert_eq!(single.estimate, Estimate { value: 5.0, low: 5.0, high: 5.0 });
        assert!(single.replicates.is_empty());
        let three = median_over(&[vec![7.0, 5.0, 6.0]], 1);
        assert_eq!(three.estimate, Estimate { value: 6.0, low: 5.0, high: 7.0 });
        let rounds = median_over(&[vec![5.0], vec![], vec![7.0]], 1);
        assert_eq!(rounds.estimate, Estimate { value: 6.0, low: 5.0, high: 7.0 });
        assert_eq!(median_over_rounds(&[&[], &[]], REPLICATES, &mut Rng::with_seed(1)), None);
    }

    #[test]
    fn the_seed_decides_the_replicates() {
        let rounds: Vec<Vec<f64>> =
            (0..3).map(|r| (0..20).map(|i| f64::from(i * 7 % 20 + r)).collect()).collect();
        assert_eq!(median_over(&rounds, 5), median_over(&rounds, 5));
        assert_ne!(median_over(&rounds, 5).replicates, median_over(&rounds, 6).replicates);
    }
}
