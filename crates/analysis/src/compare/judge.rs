//! From effects to ratios with intervals that hold all at once, and to verdicts.

use super::effects::{Arrangement, Effect, Effects, Part};
use super::levels::Levels;
use super::results::{Ratio, Verdict};
use crate::Estimate;
use crate::stats::FACTOR_LOG_MAX;
use crate::stats::moments::squares_about;
use crate::stats::quantiles::{median_of, sort};
use crate::stats::student::two_sided_quantile;
use crate::thresholds::{CLEAR_ERRORS, FALSE_ALARM, SERIES_SHARE, SEVERAL};
use std::f64::consts::FRAC_PI_2;

/// What is the same for all ratios of a comparison.
#[derive(Clone, Copy, Debug)]
pub(super) struct Family {
    /// How many series are judged as a whole.
    pub(super) series: usize,
    /// How many points are judged by themselves.
    pub(super) points: usize,
    /// What the intervals are widened by on either side: see [`RUN_ERROR`].
    pub(super) floor: f64,
    /// Whether the undisturbed part of the rounds has to bear witness: where one run alone can have had a
    /// neighbour.
    pub(super) witness: bool,
    /// See [`super::results::Terms::margin`].
    pub(super) margin: f64,
}

/// The errors that a table's series are held to, where their own are less by luck.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Usual {
    /// Of whole series: middle and edge.
    whole: [f64; 2],
    /// What changed from the first half of the rounds to the second in all series alike, of both runs.
    drift: f64,
}

impl Usual {
    /// That of a table's series, of which `levels` are those of both runs.
    pub(super) fn new(
        effects: &[&Effects],
        levels: &[&[Levels]; 2],
        arrangement: Arrangement,
    ) -> Self {
        let overall = || effects.iter().filter_map(|effects| effects.overall);
        let drift = if arrangement == Arrangement::Separate {
            // From the middle of a run to that of the next is twice as far as between the middles of its halves.
            2.0 * levels.iter().map(|levels| common_drift(levels)).fold(0.0, f64::hypot)
        } else {
            0.0
        };
        Self {
            whole: [
                usual(overall().map(|effect| effect.middle.error)),
                usual(overall().map(|effect| effect.edge.error)),
            ],
            drift,
        }
    }

    /// Allows for what no round of the table's series shows, as a logarithm.
    pub(super) fn allow(&mut self, more: f64) {
        self.drift += more;
    }

    /// The usual error of a whole series.
    pub(super) fn error(self) -> f64 {
        self.whole[0]
    }
}

/// The lower median: one that scatters widely says nothing of the others.
fn usual(errors: impl Iterator<Item = f64>) -> f64 {
    let mut errors: Vec<f64> = errors.collect();
    sort(&mut errors);
    if errors.len() < SEVERAL { 0.0 } else { errors[(errors.len() - 1) / 2] }
}

/// The ratios of a series: as a whole, and at each of its points.
pub(super) fn ratios(
    effects: &Effects,
    usual: Usual,
    family: Family,
    lower_is_better: bool,
) -> (Option<Ratio>, Vec<Option<Ratio>>) {
    let measured = || effects.points.iter().flatten();
    // Points of a series scatter alike, also where there are two: series need not.
    let median = |errors: &mut Vec<f64>| median_of(errors).unwrap_or(0.0);
    let at_points = [
        median(&mut measured().map(|effect| effect.middle.error).collect()),
        median(&mut measured().map(|effect| effect.edge.error).collect()),
    ];
    let points = effects.points.iter().map(|effect| {
        let share = FALSE_ALARM * (1.0 - SERIES_SHARE) / family.points.max(1) as f64;
        let interval = interval((*effect)?, at_points, usual.drift, share, family);
        Some(judged(interval, family.margin, lower_is_better))
    });
    let overall = effects.overall.map(|effect| {
        let interval = interval(effect, usual.whole, usual.drift, for_series(family), family);
        judged(interval, family.margin, lower_is_better)
    });
    (overall, points.collect())
}

/// The ratio of the middles by themselves, where they are clear of the margin with their whole interval and
/// it is only the best tenth that does not say so.
pub(super) fn part(
    effects: &Effects,
    usual: Usual,
    family: Family,
    lower_is_better: bool,
) -> Option<Ratio> {
    let effect = effects.overall.filter(|_| family.witness)?;
    let by = |family: Family| {
        let ratio = interval(effect, usual.whole, usual.drift, for_series(family), family);
        judged(ratio, family.margin, lower_is_better)
    };
    let middles = by(Family { witness: false, ..family });
    let margin = 1.0 + family.margin;
    let clear = middles.ratio.low > margin || middles.ratio.high < 1.0 / margin;
    (clear && by(family).verdict == Verdict::Undecided).then_some(middles)
}

/// Whether the ratio at the far end differs from that at the near end, which a change of the growth class
/// needs as well.
pub(super) fn bends(effects: &Effects, family: Family) -> bool {
    // Two points are compared, each with an error of its own; what all series share falls out.
    effects.bend.is_some_and(|bend| {
        let ratio = interval(bend, [0.0, 0.0], 0.0, for_series(family), family);
        ratio.low > 1.0 || ratio.high < 1.0
    })
}

pub(super) fn for_series(family: Family) -> f64 {
    FALSE_ALARM * SERIES_SHARE / family.series.max(1) as f64
}

/// The interval of the ratio that goes with an effect: as wide as the medians ask for, and so wide that it
/// holds what the undisturbed part of the rounds says. That is a second witness, which need not bear the
/// correction for many: a verdict needs both. Runs in turns have no need of it: a neighbour
/// disturbs both.
fn interval(effect: Effect, usual: [f64; 2], drift: f64, share: f64, family: Family) -> Estimate {
    let ends = |part: Part, usual: f64, errors: f64| {
        let half = (errors * part.error.max(usual) + drift + family.floor + effect.offset)
            .min(FACTOR_LOG_MAX);
        [part.value - half, part.value + half]
    };
    let [low, high] = ends(effect.middle, usual[0], two_sided_quantile(share, effect.freedom));
    let value = effect.middle.value;
    let (low, high) = if family.witness {
        let [edge_low, edge_high] = ends(effect.edge, usual[1], CLEAR_ERRORS);
        (low.min(edge_low), high.max(edge_high))
    } else {
        (low, high)
    };
    let [value, low, high] = [value, low, high].map(f64::exp);
    Estimate { value, low, high }
}

/// The verdict on a ratio.
fn judged(ratio: Estimate, margin: f64, lower_is_better: bool) -> Ratio {
    let within = ratio.low >= 1.0 / (1.0 + margin) && ratio.high <= 1.0 + margin;
    let verdict = match (ratio.low > 1.0, ratio.high < 1.0) {
        _ if within => Verdict::Same,
        (true, _) if lower_is_better => Verdict::Slower,
        (_, true) if lower_is_better => Verdict::Faster,
        (true, _) => Verdict::Faster,
        (_, true) => Verdict::Slower,
        _ => Verdict::Undecided,
    };
    Ratio { ratio, verdict }
}

/// What changed in all series of a run alike from the first half of its rounds to the second, as far as
/// it is more than the scatter of the series explains; with few series, all of it.
fn common_drift(series: &[Levels]) -> f64 {
    let mut each: Vec<f64> = series.iter().filter_map(drift).collect();
    let Some(common) = median_of(&mut each) else { return 0.0 };
    if each.len() < SEVERAL {
        return common.abs();
    }
    let count = each.len() as f64;
    let variance = squares_about(common, &each) / (count - 1.0);
    // The error of a median is √(π/2) times that of a mean.
    let error = (FRAC_PI_2 * variance / count).sqrt();
    (common.powi(2) - (2.0 * error).powi(2)).max(0.0).sqrt()
}

fn drift(levels: &Levels) -> Option<f64> {
    let rows: Vec<_> = levels.rounds.values().collect();
    let half = rows.len() / 2;
    let points = rows.first()?.len();
    let middle = |rows: &[&Vec<Option<super::levels::Level>>], index: usize| {
        let mut all: Vec<f64> = rows.iter().filter_map(|row| Some(row[index]?.middle)).collect();
        median_of(&mut all)
    };
    let (early, late) = (&rows[..half], &rows[rows.len() - half..]);
    let at = |index: usize| Some(middle(late, index)? - middle(early, index)?);
    median_of(&mut (0..points).filter_map(at).collect::<Vec<f64>>())
}
