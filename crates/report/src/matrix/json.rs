//! Comparisons as one value for programs: a [`ComparisonView`] of two runs, a [`MatrixView`] of several.

use super::counts::Counts;
use super::{FleetHead, Matrix, MatrixTable, Reference};
use crate::history::json::left_out;
use crate::worded::{Stated, Worded};
use analysis::compare::{Best, Change, ComparedTable, Comparison, LeftOut};
use analysis::history;
use analysis::history::across::AcrossValues;
use findings::left_out;
use findings::run_changes::sentence;
use model::{RunSummary, Warning};
use schemars::JsonSchema;
use serde::Serialize;

/// Raised when a key changes its meaning or goes.
pub const SCHEMA: u32 = 1;
/// The probability that all ratios lie in their CIs.
const CONFIDENCE: f64 = 0.95;

/// The output of `knee compare --json`. A ratio is new over base.
#[derive(Serialize, JsonSchema)]
pub struct ComparisonView<'a> {
    /// The number of this schema.
    schema: u32,
    #[serde(flatten)]
    comparison: &'a Comparison,
    /// The probability that all ratios lie in their CIs.
    confidence: f64,
    /// How many there are of each verdict.
    verdicts: AllVerdicts,
    /// What changed.
    changes: Vec<Worded<'a, Change, Stated>>,
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

/// The output of `knee show` and `knee compare` of several runs or of a fleet, and of `knee history --by`, with `--json`.
#[derive(Serialize, JsonSchema)]
pub struct MatrixView<'a> {
    /// The number of the schema of a comparison.
    schema: u32,
    /// The runs; the first is the base, of a fleet the median machine.
    runs: Vec<&'a RunSummary>,
    /// What each run is called.
    names: Vec<&'a str>,
    /// The number of pairs of runs: the CIs of the ratios of all of them hold at once.
    pairs: usize,
    /// The probability of that.
    confidence: f64,
    /// Of each run but the first: its comparison with the first, or with the one before where the runs are those of
    /// values; of more than two values in the end the last compared with the first.
    comparisons: Vec<ComparedView<'a>>,
    /// Every figure by series, point and run, its ratio next to it.
    tables: &'a [MatrixTable<'a>],
    /// Where a run is significantly better than each other.
    best: &'a [Best],
    /// The machines of a fleet.
    #[serde(skip_serializing_if = "Option::is_none")]
    fleet: Option<&'a FleetHead>,
    /// The values of a fact or a label that the runs stand for.
    #[serde(skip_serializing_if = "Option::is_none")]
    across: Option<AcrossView<'a>>,
}

/// A comparison, or why there is none.
#[derive(Serialize, JsonSchema)]
#[serde(untagged)]
enum ComparedView<'a> {
    Comparison(Box<ComparisonView<'a>>),
    Refused {
        /// The reason.
        refused: String,
    },
}

/// The values that runs stand for, and the runs that are left out.
#[derive(Serialize, JsonSchema)]
struct AcrossView<'a> {
    #[serde(flatten)]
    values: &'a AcrossValues,
    left_out: Vec<Worded<'a, history::LeftOut, Warning>>,
}

/// A comparison as a value.
pub fn comparison(comparison: &Comparison) -> ComparisonView<'_> {
    let headline = || comparison.tables.iter().filter(|table| table.headline);
    let change = |change| Worded::new(change, Stated { sentence: sentence(comparison, change) });
    let left_out = |part| Worded::new(part, left_out::of_comparison(part));
    ComparisonView {
        schema: SCHEMA,
        comparison,
        confidence: CONFIDENCE,
        verdicts: AllVerdicts {
            all: Verdicts::new(|| comparison.tables.iter()),
            headline: Verdicts::new(headline),
        },
        changes: comparison.changes.iter().map(change).collect(),
        left_out: comparison.left_out.iter().map(left_out).collect(),
    }
}

/// Several runs as a value.
pub fn matrix<'m>(matrix: &'m Matrix<'_>) -> MatrixView<'m> {
    let compared = matrix.columns.iter().filter_map(|column| column.compared);
    let compared = compared.map(|compared| match compared.result {
        Ok(compared) => ComparedView::Comparison(Box::new(comparison(compared))),
        Err(refusal) => ComparedView::Refused { refused: left_out::refusal(refusal) },
    });
    let across = match matrix.reference {
        Reference::Before(values) => {
            Some(AcrossView { values, left_out: left_out(&values.left_out) })
        }
        _ => None,
    };
    MatrixView {
        schema: SCHEMA,
        runs: matrix.runs().map(|run| &run.summary).collect(),
        names: matrix.run_columns().map(|column| column.name.as_str()).collect(),
        pairs: matrix.several.map_or(1, |several| several.pairs),
        confidence: CONFIDENCE,
        comparisons: compared.collect(),
        tables: &matrix.sections,
        best: matrix.several.map_or(&[], |several| &several.best),
        fleet: matrix.fleet_head(),
        across,
    }
}
