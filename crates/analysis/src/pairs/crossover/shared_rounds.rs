//! What the rounds do to two series alike, which their difference is free of.
//!
//! Subjects take turns within a round, so a neighbour that is busy during one round slows both. The medians
//! of both then scatter, and their ratio hardly does. Whether that is so is judged over all points of the
//! two series together: the correlation of their rounds has to be positive by more than chance. Then each
//! point's lead is judged by the median of what its rounds differ by, as for runs in turns.

use crate::compare::thresholds::REPLICATES;
use crate::pairs::series::LogFigure;
use crate::pairs::thresholds::{
    LEFT_BY_ROUNDS_MAX, PAIRED_ROUNDS_MIN, SHARED_ROUNDS_ERRORS, SHARED_ROUNDS_MIN,
};
use crate::stats::bootstrap::few_rounds_factor;
use crate::stats::drawn_median::DrawnMedian;
use crate::stats::moments::{mean, sample_deviation, squares_about};
use crate::stats::quantiles::median_of;
use fastrand::Rng;
use std::collections::BTreeMap;

/// The lead of one series over a second at a point, by what their rounds differ by.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct RoundLead {
    /// The median of the differences.
    pub(super) lead: f64,
    /// Its standard error.
    pub(super) error: f64,
    pub(super) rounds: usize,
}

impl RoundLead {
    /// `None` where the two were not measured in the same rounds, or in too few.
    pub(super) fn new(first: &LogFigure, second: &LogFigure) -> Option<Self> {
        let mut differences: Vec<f64> =
            same_rounds(first, second)?.map(|(_, [a, b])| a - b).collect();
        let rounds = differences.len();
        if rounds < PAIRED_ROUNDS_MIN {
            return None;
        }
        let mut random = Rng::with_seed(first.point);
        let mut drawn = DrawnMedian::new(&differences);
        let medians: Vec<f64> = (0..REPLICATES).filter_map(|_| drawn.next(&mut random)).collect();
        let error = few_rounds_factor(rounds) * sample_deviation(&medians)?;
        Some(Self { lead: median_of(&mut differences)?, error, rounds })
    }
}

/// The number of each round with the worth of both; `None` where the two were not measured in the same rounds,
/// or in too few.
fn same_rounds<'a>(
    first: &'a LogFigure,
    second: &'a LogFigure,
) -> Option<impl Iterator<Item = (u32, [f64; 2])> + 'a> {
    let [a, b] = [&first.by_round, &second.by_round];
    let same = a.iter().map(|round| round.0).eq(b.iter().map(|round| round.0));
    let enough = a.len() >= SHARED_ROUNDS_MIN;
    (same && enough).then(|| a.iter().zip(b).map(|(a, b)| (a.0, [a.1, b.1])))
}

/// What rounds do to two series, over all points.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct RoundEffects {
    /// The sum of the correlations of the two at each point, in standard errors. Without a common cause a
    /// correlation has a variance of 1 / (R - 1) for R rounds.
    correlation: f64,
    /// The variance of what a round's differences add up to over all points, in what it is where points
    /// are independent.
    left_over: f64,
    points: usize,
}

impl RoundEffects {
    pub(super) fn new<'a>(points: impl Iterator<Item = [&'a LogFigure; 2]>) -> Self {
        let mut effects = Self::default();
        let (mut sums, mut squares) = (BTreeMap::<u32, f64>::new(), 0.0);
        for [first, second] in points {
            let Some(rounds) = same_rounds(first, second) else { continue };
            let (numbers, worths): (Vec<u32>, Vec<[f64; 2]>) = rounds.unzip();
            let [a, b] = [0, 1].map(|side| centered(worths.iter().map(|worths| worths[side])));
            let product: f64 = a.iter().zip(&b).map(|(a, b)| a * b).sum();
            let scale = (squares_about(0.0, &a) * squares_about(0.0, &b)).sqrt();
            if scale <= 0.0 {
                continue;
            }
            effects.points += 1;
            effects.correlation += ((numbers.len() - 1) as f64).sqrt() * product / scale;
            for (number, (a, b)) in numbers.into_iter().zip(a.iter().zip(&b)) {
                *sums.entry(number).or_default() += a - b;
                squares += (a - b).powi(2);
            }
        }
        effects.correlation /= (effects.points.max(1) as f64).sqrt();
        if squares > 0.0 {
            effects.left_over = sums.values().map(|sum| sum.powi(2)).sum::<f64>() / squares;
        }
        effects
    }

    /// Whether rounds disturb both series alike: they are correlated by more than chance, and their differences
    /// have nothing left that all points of a round share.
    pub(super) fn disturb_both(&self) -> bool {
        self.correlation > SHARED_ROUNDS_ERRORS && self.left_over <= LEFT_BY_ROUNDS_MAX
    }

    /// The correlation of the errors of two points' leads: zero unless rounds disturb one of the series more.
    pub(super) fn between_points(&self) -> f64 {
        if self.left_over <= LEFT_BY_ROUNDS_MAX || self.points < 2 {
            return 0.0;
        }
        ((self.left_over - 1.0) / (self.points - 1) as f64).min(1.0)
    }
}

fn centered(figures: impl Iterator<Item = f64>) -> Vec<f64> {
    let figures: Vec<f64> = figures.collect();
    let center = mean(&figures);
    figures.into_iter().map(|figure| figure - center).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Estimate;
    use crate::pairs::series::{Figure, Series};

    /// Eight points whose rounds differ by `common` as a whole, and a little by themselves.
    fn series(common: [f64; 5], salt: u64) -> Series {
        let figure = |point| Figure {
            point,
            median: Estimate { value: 10.0, low: 9.0, high: 11.0 },
            rounds: 5,
            samples: 100,
            replicates: &[],
        };
        Series::new("any", true, (1..=8).map(figure)).with_rounds(|point| {
            let mut random = Rng::with_seed(100 * salt + point);
            let rounds =
                common.iter().map(|level| 10.0 * (level + 0.02 * (random.f64() - 0.5)).exp());
            (0..).zip(rounds).collect()
        })
    }

    fn effects(first: &Series, second: &Series) -> RoundEffects {
        RoundEffects::new(first.figures.iter().zip(&second.figures).map(|(a, b)| [a, b]))
    }

    fn disturbed(first: &Series, second: &Series) -> bool {
        effects(first, second).disturb_both()
    }

    const LEVELS: [f64; 5] = [0.0, 0.2, -0.1, 0.1, 0.3];

    #[test]
    fn only_what_disturbs_both_alike_counts() {
        let first = series(LEVELS, 1);
        assert!(disturbed(&first, &series(LEVELS, 2)));
        assert!(!disturbed(&series([0.0; 5], 1), &series([0.0; 5], 2)), "each its own");
        assert!(!disturbed(&first, &series([0.0; 5], 2)), "the first alone");
        assert!(!disturbed(&first, &series(LEVELS.map(|level| -level), 2)), "in opposite ways");
        assert!(!disturbed(&first, &series(LEVELS.map(|level| level / 2.0), 2)), "the first more");
    }

    #[test]
    fn points_err_together_where_rounds_disturb_one_series_more() {
        let first = series(LEVELS, 1);
        let apart = effects(&first, &series([0.0; 5], 2)).between_points();
        assert!((0.9..=1.0).contains(&apart), "{apart}");
        assert_eq!(effects(&first, &series(LEVELS, 2)).between_points().to_bits(), 0);
    }

    #[test]
    fn rounds_are_paired_where_both_have_the_same() {
        let (first, mut second) = (series(LEVELS, 1), series(LEVELS, 2));
        let lead = RoundLead::new(&first.figures[0], &second.figures[0]).unwrap();
        assert_eq!(lead.rounds, 5);
        assert!(lead.lead.abs() < 0.02 && lead.error < 0.02, "{lead:?}");
        second.figures[0].by_round.remove(1);
        assert_eq!(RoundLead::new(&first.figures[0], &second.figures[0]), None);
    }
}
