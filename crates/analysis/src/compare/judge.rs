//! From effects to ratios with intervals that hold all at once, and to verdicts.

use super::effects::{Arrangement, Effect, Effects};
use super::levels::{Level, Levels};
use super::results::{ComparedTable, Ratio, Sensitivity, Verdict};
use crate::Estimate;
use crate::stats::FACTOR_LOG_MAX;
use crate::stats::moments::squares_about;
use crate::stats::quantiles::{median, median_of, sort};
use crate::stats::student::two_sided_quantile;
use crate::thresholds::{CLEAR_ERRORS, FALSE_ALARM, SERIES_SHARE, SEVERAL};
use std::f64::consts::FRAC_PI_2;

/// What is the same for all ratios of a comparison.
#[derive(Clone, Copy, Debug)]
pub(super) struct Family {
    pub(super) series: usize,
    pub(super) points: usize,
    /// What the intervals are widened by on either side: see [`RUN_ERROR`].
    pub(super) floor: f64,
    /// Whether undisturbed rounds have to bear witness: where one run alone can have had a neighbour.
    pub(super) witness: bool,
    /// See [`super::results::Terms::margin`].
    pub(super) margin: f64,
}

/// What the series of a table are judged by: which way is better, and the errors that they are held to, where their own are
/// less by luck.
#[derive(Clone, Copy, Debug)]
pub(super) struct Usual {
    lower_is_better: bool,
    /// Of whole series: middle and edge.
    pub(super) whole: [f64; 2],
    /// What changed over the rounds of both runs in all series alike, and what no round of them shows.
    pub(super) drift: f64,
}

impl Usual {
    /// That of a table's series, of which `levels` are those of both runs.
    pub(super) fn new(
        effects: &[&Effects],
        levels: &[[Levels; 2]],
        arrangement: Arrangement,
        lower_is_better: bool,
    ) -> Self {
        let errors = |part: usize| {
            effects.iter().filter_map(move |effects| Some(effects.overall?.error[part]))
        };
        let whole = [0, 1].map(|part| usual(errors(part)));
        let drift = if arrangement == Arrangement::Separate {
            // From the middle of a run to that of the next is twice as far as between the middles of its halves.
            let drift = |side: usize| common_drift(levels.iter().map(|both| &both[side]));
            2.0 * drift(0).hypot(drift(1))
        } else {
            0.0
        };
        Self { lower_is_better, whole, drift }
    }
}

/// The lower median: one that scatters widely says nothing of the others.
fn usual(errors: impl Iterator<Item = f64>) -> f64 {
    let mut errors: Vec<f64> = errors.collect();
    sort(&mut errors);
    if errors.len() < SEVERAL { 0.0 } else { errors[(errors.len() - 1) / 2] }
}

/// The ratio at each point that has an effect.
pub(super) fn at_points(effects: &Effects, usual: Usual, family: Family) -> Vec<Option<Ratio>> {
    let measured = || effects.points.iter().flatten();
    // Points of a series scatter alike, also where there are two: series need not.
    let errors =
        [0, 1].map(|part| median(measured().map(|effect| effect.error[part])).unwrap_or(0.0));
    let share = FALSE_ALARM * (1.0 - SERIES_SHARE) / family.points.max(1) as f64;
    let ratio = |effect: &Option<Effect>| {
        let interval = interval((*effect)?, errors, usual.drift, share, family);
        Some(judged(interval, family.margin, usual.lower_is_better))
    };
    effects.points.iter().map(ratio).collect()
}

pub(super) fn overall(effects: &Effects, usual: Usual, family: Family) -> Option<Ratio> {
    let interval = interval(effects.overall?, usual.whole, usual.drift, for_series(family), family);
    Some(judged(interval, family.margin, usual.lower_is_better))
}

/// The ratio of the middles by themselves, where they are clear of the margin with their whole interval and
/// it is only the best tenth that does not say so.
pub(super) fn part(effects: &Effects, usual: Usual, family: Family) -> Option<Ratio> {
    let by = |family: Family| overall(effects, usual, family);
    let middles = by(Family { witness: false, ..family }).filter(|_| family.witness)?;
    let margin = 1.0 + family.margin;
    let clear = middles.ratio.low > margin || middles.ratio.high < 1.0 / margin;
    (clear && by(family)?.verdict == Verdict::Undecided).then_some(middles)
}

/// Whether the ratios at both ends differ, which a change of the growth class needs as well.
pub(super) fn bends(effects: &Effects, family: Family) -> bool {
    // Two points are compared, each with an error of its own; what all series share falls out.
    effects.bend.is_some_and(|bend| {
        let ratio = interval(bend, [0.0, 0.0], 0.0, for_series(family), family);
        ratio.low > 1.0 || ratio.high < 1.0
    })
}

fn for_series(family: Family) -> f64 {
    FALSE_ALARM * SERIES_SHARE / family.series.max(1) as f64
}

/// The interval of the ratio that goes with an effect: as wide as the medians ask for, and so wide that it holds what
/// the undisturbed part of the rounds says: a second witness, which need not bear the correction for many.
fn interval(effect: Effect, usual: [f64; 2], drift: f64, share: f64, family: Family) -> Estimate {
    let ends = |part: usize, errors: f64| {
        let error = effect.error[part].max(usual[part]);
        let half = (errors * error + drift + family.floor + effect.offset).min(FACTOR_LOG_MAX);
        [effect.value[part] - half, effect.value[part] + half]
    };
    let [mut low, mut high] = ends(0, two_sided_quantile(share, effect.freedom));
    if family.witness {
        let [edge_low, edge_high] = ends(1, CLEAR_ERRORS);
        (low, high) = (low.min(edge_low), high.max(edge_high));
    }
    Estimate { value: effect.value[0], low, high }.map(f64::exp)
}

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
fn common_drift<'a>(series: impl Iterator<Item = &'a Levels>) -> f64 {
    let mut each: Vec<f64> = series.filter_map(drift).collect();
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
    let rows: Vec<&Vec<Option<Level>>> = levels.rounds.values().collect();
    let half = rows.len() / 2;
    let middle = |rows: &[&Vec<Option<Level>>], index: usize| {
        median(rows.iter().filter_map(|row| Some(row[index]?[0])))
    };
    let (early, late) = (&rows[..half], &rows[rows.len() - half..]);
    let at = |index: usize| Some(middle(late, index)? - middle(early, index)?);
    median((0..rows.first()?.len()).filter_map(at))
}

/// More rounds take days.
const ROUNDS_MAX: u32 = 999;

/// The sensitivity of these judged `tables`, whose series differ by `effects` with the usual errors of their
/// tables, for a difference of `wanted`. `None` without a series.
pub(super) fn sensitivity<'a>(
    tables: &[ComparedTable],
    effects: impl Iterator<Item = (&'a Effects, Usual)>,
    family: Family,
    wanted: f64,
) -> Option<Sensitivity> {
    let of_rounds = || tables.iter().filter(|table| table.metric.role.whole_share().is_none());
    let ratios = || of_rounds().flat_map(|table| &table.rows).map(|row| &row.overall);
    let open = |row: &&Ratio| !row.verdict.differs();
    let bounds = ratios().filter(open).map(|row| row.ratio.high.max(1.0 / row.ratio.low) - 1.0);
    let (mut errors, mut rounds) = (Vec::new(), Vec::new());
    for (effects, usual) in effects {
        let Some(effect) = effects.overall else { continue };
        let error = effect.error[0].max(usual.whole[0]);
        let points = effects.points.iter().flatten().count();
        errors.push(error);
        let needed = rounds_for(effect.rounds, points, error, family, wanted.ln_1p());
        rounds.push(needed.map_or(f64::INFINITY, f64::from));
    }
    let detectable = ratios().zip(errors);
    let detectable =
        median(detectable.map(|(row, error)| (row.ratio.half_width_log() + error).exp_m1()))?;
    let rounds = median(rounds).filter(|rounds| rounds.is_finite());
    Some(Sensitivity {
        detectable,
        excluded_above: bounds.reduce(f64::max),
        wanted,
        fails_from: (1.0 + wanted) * (1.0 + detectable) - 1.0,
        rounds: rounds.map(|rounds| rounds.ceil() as u32),
    })
}

/// The rounds in turns after which a difference of `wanted_log` is significant at so many points, where `measured`
/// rounds have this `error`, which falls with the root of the number of rounds.
fn rounds_for(
    measured: usize,
    points: usize,
    error: f64,
    family: Family,
    wanted_log: f64,
) -> Option<u32> {
    let detects = |rounds: u32| {
        let error = error * (measured as f64 / f64::from(rounds)).sqrt();
        let freedom = (points.max(2) - 1) * (rounds as usize - 1);
        let errors = two_sided_quantile(for_series(family), freedom.max(1));
        (errors + 1.0) * error <= wanted_log
    };
    // Each round more lowers both factors.
    let counts: Vec<u32> = (2..=ROUNDS_MAX).collect();
    counts.get(counts.partition_point(|rounds| !detects(*rounds))).copied()
}
