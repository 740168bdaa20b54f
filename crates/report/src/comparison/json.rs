//! A comparison as one value for programs: a [`ComparisonView`].

use super::counts::{Counts, Pair};
use crate::worded::{Stated, Worded};
use analysis::compare::{Change, ComparedTable, Difference, LeftOut, Sensitivity};
use findings::left_out;
use findings::run_changes::sentence;
use model::{RunSummary, Warning};
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
    verdicts: AllVerdicts,
    /// Facts of machine and plan that differ.
    differences: &'a [Difference],
    /// What changed.
    changes: Vec<Worded<'a, Change, Stated>>,
    /// The ratios, and the medians behind them.
    tables: &'a [ComparedTable],
    /// What one run lacks, or what can't be compared.
    left_out: Vec<Worded<'a, LeftOut, Warning>>,
}

/// How many there are of each verdict.
#[derive(Serialize, JsonSchema)]
struct Verdicts {
    series: Counts,
    points: Counts,
}

impl Verdicts {
    fn new<'a, I: Iterator<Item = &'a ComparedTable>>(tables: impl Fn() -> I) -> Self {
        Self { series: Counts::of_series(tables()), points: Counts::of_points(tables()) }
    }
}

/// The same, and of the headline metrics alone.
#[derive(Serialize, JsonSchema)]
struct AllVerdicts {
    #[serde(flatten)]
    all: Verdicts,
    headline: Verdicts,
}

/// The comparison as a value.
pub fn value<'a>(pair: &Pair<'a>) -> ComparisonView<'a> {
    let comparison = pair.comparison;
    let headline = || comparison.tables.iter().filter(|table| table.headline);
    let change = |change: &'a Change| Worded::stated(change, sentence(comparison, change));
    let left_out = |part: &'a LeftOut| Worded::warned(part, left_out::of_comparison(part));
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
        verdicts: AllVerdicts {
            all: Verdicts::new(|| comparison.tables.iter()),
            headline: Verdicts::new(headline),
        },
        differences: &comparison.differences,
        changes: comparison.changes.iter().map(change).collect(),
        tables: &comparison.tables,
        left_out: comparison.left_out.iter().map(left_out).collect(),
    }
}
