//! The difference that a comparison can detect, and the rounds in turns that detect a wanted difference: one that exceeds the
//! half-width of the interval by a standard error is seen in five of six comparisons.

use super::effects::{Effect, Effects};
use super::judge::{Family, Usual, for_series};
use super::{ComparedTable, Ratio, Sensitivity, Verdict};
use crate::stats::quantiles::median_of;
use crate::stats::student::two_sided_quantile;

/// More rounds take days.
const ROUNDS_MAX: u32 = 999;

/// The sensitivity of these judged `tables`, whose series differ by `effects` with the usual errors of their
/// tables, for a difference of `wanted`. `None` without a series.
pub(super) fn sensitivity<'a>(
    tables: &[&ComparedTable],
    effects: impl Iterator<Item = (&'a Effects, Usual)>,
    family: Family,
    wanted: f64,
) -> Option<Sensitivity> {
    let ratios = || tables.iter().flat_map(|table| &table.rows).map(|row| &row.overall);
    let series: Vec<(Effect, f64, usize)> = effects
        .filter_map(|(effects, usual)| {
            let effect = effects.overall?;
            let points = effects.points.iter().flatten().count();
            Some((effect, effect.middle.error.max(usual.error()), points))
        })
        .collect();
    let open = |row: &&Ratio| matches!(row.verdict, Verdict::Same | Verdict::Undecided);
    let bounds = ratios().filter(open).map(|row| row.ratio.high.max(1.0 / row.ratio.low) - 1.0);
    let half_width = |row: &Ratio| 0.5 * (row.ratio.high / row.ratio.low).ln();
    let mut detectable: Vec<f64> = ratios()
        .zip(&series)
        .map(|(row, (_, error, _))| (half_width(row) + error).exp_m1())
        .collect();
    let mut rounds: Vec<f64> = series
        .iter()
        .map(|&(effect, error, points)| {
            rounds_for((effect, points), error, family, wanted).map_or(f64::INFINITY, f64::from)
        })
        .collect();
    let detectable = median_of(&mut detectable)?;
    Some(Sensitivity {
        detectable,
        excluded_above: bounds.reduce(f64::max),
        wanted,
        fails_from: (1.0 + wanted) * (1.0 + detectable) - 1.0,
        rounds: median_of(&mut rounds)
            .filter(|rounds| rounds.is_finite())
            .map(|rounds| rounds.ceil() as u32),
    })
}

/// The rounds in turns after which a difference of `wanted` is significant: errors fall with the root of
/// the number of rounds.
fn rounds_for(
    (effect, points): (Effect, usize),
    error: f64,
    family: Family,
    wanted: f64,
) -> Option<u32> {
    let wanted = wanted.ln_1p();
    let detects = |rounds: u32| {
        let error = error * (effect.rounds as f64 / f64::from(rounds)).sqrt();
        let freedom = (points.max(2) - 1) * (rounds as usize - 1);
        let errors = two_sided_quantile(for_series(family), freedom.max(1));
        (errors + 1.0) * error <= wanted
    };
    // Each round more lowers both factors.
    let counts: Vec<u32> = (2..=ROUNDS_MAX).collect();
    counts.get(counts.partition_point(|rounds| !detects(*rounds))).copied()
}
