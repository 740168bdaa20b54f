//! A comparison as one value for programs: a [`ComparisonView`].

use super::counts::{Counts, Pair};
use analysis::compare::{Change, ComparedTable, Difference, LeftOut, Sensitivity};
use findings::left_out;
use findings::run_changes::sentence;
use model::RunSummary;
use schemars::JsonSchema;
use serde::Serialize;

/// Raised when a key changes its meaning or goes.
pub const SCHEMA: u32 = 1;
/// The probability that all ratios lie in their CIs.
pub(crate) const CONFIDENCE: f64 = 0.95;

/// The output of `knee compare --json`. A ratio is new over base.
#[derive(Serialize, JsonSchema)]
pub struct ComparisonView<'a> {
    /// The number of this schema.
    schema: u32,
    /// The run that is compared with.
    base: &'a RunSummary,
    /// The run that is judged.
    new: &'a RunSummary,
    /// The largest share of difference that counts as the same.
    margin: f64,
    /// The probability that all ratios lie in their CIs.
    confidence: f64,
    /// How many ratios there are.
    judged: usize,
    /// Whether the cells of both runs took turns.
    paired: bool,
    /// What difference it would have seen; null without a series.
    sensitivity: Option<Sensitivity>,
    /// The slowdown that the gate refuses, as a share; null without such a gate.
    fail_above: Option<f64>,
    /// How many there are of each verdict.
    verdicts: Verdicts,
    /// Facts of machine and plan that differ.
    differences: &'a [Difference],
    /// What changed.
    changes: Vec<ChangeView<'a>>,
    /// The ratios, and the medians behind them.
    tables: &'a [ComparedTable],
    /// What one run lacks, or what can't be compared.
    left_out: Vec<LeftOutView<'a>>,
}

/// How many there are of each verdict.
#[derive(Serialize, JsonSchema)]
struct Verdicts {
    series: Counts,
    points: Counts,
    /// Of the headline metrics alone.
    headline: HeadlineVerdicts,
}

/// How many there are of each verdict of the headline metrics.
#[derive(Serialize, JsonSchema)]
struct HeadlineVerdicts {
    series: Counts,
    points: Counts,
}

/// A change with its sentence.
#[derive(Serialize, JsonSchema)]
struct ChangeView<'a> {
    #[serde(flatten)]
    change: &'a Change,
    sentence: String,
}

/// What is left out, in words.
#[derive(Serialize, JsonSchema)]
struct LeftOutView<'a> {
    #[serde(flatten)]
    left_out: &'a LeftOut,
    what: String,
    /// What to do about it; may be empty.
    remedy: String,
}

/// The comparison as a value.
pub fn value<'a>(pair: &Pair<'a>) -> ComparisonView<'a> {
    let comparison = pair.comparison;
    let headline = || comparison.tables.iter().filter(|table| table.headline);
    let change = |change: &'a Change| ChangeView { change, sentence: sentence(comparison, change) };
    ComparisonView {
        schema: SCHEMA,
        base: &comparison.base,
        new: &comparison.new,
        margin: comparison.margin,
        confidence: CONFIDENCE,
        judged: comparison.judged,
        paired: comparison.paired,
        sensitivity: comparison.sensitivity,
        fail_above: comparison.fail_above,
        verdicts: Verdicts {
            series: Counts::of_series(comparison.tables.iter()),
            points: Counts::of_points(comparison.tables.iter()),
            headline: HeadlineVerdicts {
                series: Counts::of_series(headline()),
                points: Counts::of_points(headline()),
            },
        },
        differences: &comparison.differences,
        changes: comparison.changes.iter().map(change).collect(),
        tables: &comparison.tables,
        left_out: comparison.left_out.iter().map(left_out).collect(),
    }
}

fn left_out(left_out: &LeftOut) -> LeftOutView<'_> {
    let warning = left_out::of_comparison(left_out);
    LeftOutView { left_out, what: warning.what, remedy: warning.remedy }
}
