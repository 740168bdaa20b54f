//! Several runs as one value for programs: a [`SeveralView`].

use super::SideBySide;
use super::fleet::FleetHead;
use crate::comparison::{self, CONFIDENCE, ComparisonView, Pair, SCHEMA};
use analysis::compare::Best;
use findings::left_out;
use model::RunSummary;
use schemars::JsonSchema;
use serde::Serialize;

/// The output of `knee show` and `knee compare` of several runs, or of a fleet, with `--json`.
#[derive(Serialize, JsonSchema)]
pub struct SeveralView<'a> {
    /// The number of the schema of a comparison.
    schema: u32,
    /// The runs; the first is the base, of a fleet the median machine.
    runs: Vec<&'a RunSummary>,
    /// The number of pairs of runs: the intervals of the ratios of all of them hold at once.
    pairs: usize,
    /// The probability of that.
    confidence: f64,
    /// Of each run but the first: its comparison with the first.
    comparisons: Vec<Compared<'a>>,
    /// Where a run is significantly better than each other.
    best: &'a [Best],
    /// The machines of a fleet.
    #[serde(skip_serializing_if = "Option::is_none")]
    fleet: Option<&'a FleetHead>,
}

/// A comparison, or why there is none.
#[derive(Serialize, JsonSchema)]
#[serde(untagged)]
enum Compared<'a> {
    Comparison(Box<ComparisonView<'a>>),
    Refused {
        /// The reason.
        refused: String,
    },
}

/// The runs as a value; the first of them is the base.
pub fn value<'a>(side: &SideBySide<'a>) -> SeveralView<'a> {
    let base = side.runs.first().map(|(base, _)| base);
    let judged = side.runs.iter().skip(1).zip(&side.several.comparisons);
    let comparisons = judged.zip(base.into_iter().cycle());
    let comparisons = comparisons.map(|(((new, _), result), base)| match result {
        Ok(comparison) => {
            Compared::Comparison(Box::new(comparison::json(&Pair { base, new, comparison })))
        }
        Err(refusal) => Compared::Refused { refused: left_out::refusal(refusal) },
    });
    SeveralView {
        schema: SCHEMA,
        runs: side.runs.iter().map(|(run, _)| &run.summary).collect(),
        pairs: side.several.pairs,
        confidence: CONFIDENCE,
        comparisons: comparisons.collect(),
        best: &side.several.best,
        fleet: side.fleet,
    }
}
