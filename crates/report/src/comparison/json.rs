//! A comparison as one JSON value for programs.
//!
//! The keys are stable within one [`SCHEMA`]: new ones may appear, none changes its meaning or goes.
//!
//! | key | what it holds |
//! | --- | --- |
//! | `schema` | [`SCHEMA`] |
//! | `base`, `new` | of both runs: number, id, times, state, command line, version, labels |
//! | `margin` | the largest share of difference that counts as the same: 0.05 |
//! | `confidence` | probability that all ratios lie in their intervals: 0.95 |
//! | `judged` | number of those ratios |
//! | `paired` | whether the cells of both runs took turns |
//! | `sensitivity` | shares: `detectable` in the usual series in five of six comparisons; `excluded_above`, by more no series differs that is neither slower nor faster; `wanted`, what a gate refuses or else the margin, and the `rounds` in turns that show it; `fails_from`, the difference from which on a gate for `wanted` fails; null without a series |
//! | `fail_above` | the slowdown that the gate refuses, as a share; null without such a gate |
//! | `verdicts` | the number of each verdict, of `series` and of `points`, and of the `headline` metrics alone |
//! | `differences` | facts of machine and plan that differ: `what`, `base`, `new` (null: not recorded) |
//! | `changes` | each with kind, direction, workload, parameters, metric, subjects, headline, the `detail` of what changed, the `attribution` by the profiles of both runs, and the `sentence` |
//! | `tables` | points, and rows of subjects: `overall` and `cells`, each a ratio with its verdict; medians |
//! | `left_out` | what one run lacks, or what can't be compared: its `kind` and data, `what` and `remedy` |
//!
//! `docs/schema/comparison-1.schema.json` says the same to programs. What it has in common with the JSON of a run is
//! defined in the schema of that.
//!
//! A ratio is new over base, as `value`, `low` and `high`; its verdict is `faster`, `slower`, `same` or
//! `undecided`. A figure that is not finite is `null`.

use super::counts::{Counts, Pair};
use crate::json::explain_change;
use analysis::compare::{Change, ComparedTable, Comparison, LeftOut};
use findings::left_out;
use findings::run_changes::sentence;
use serde_json::{Value, json};

/// Raised when a key changes its meaning or goes.
pub const SCHEMA: u32 = 1;

/// The comparison as one value, with the keys that this module's head lists.
pub fn value(pair: &Pair) -> Value {
    let comparison = pair.comparison;
    let headline = || comparison.tables.iter().filter(|table| table.headline);
    json!({
        "schema": SCHEMA,
        "base": comparison.base,
        "new": comparison.new,
        "margin": comparison.margin,
        "confidence": 0.95,
        "judged": comparison.judged,
        "paired": comparison.paired,
        "sensitivity": comparison.sensitivity,
        "fail_above": comparison.fail_above,
        "verdicts": {
            "series": Counts::of_series(comparison.tables.iter()),
            "points": Counts::of_points(comparison.tables.iter()),
            "headline": verdict_counts(headline),
        },
        "differences": comparison.differences,
        "changes": changes(comparison),
        "tables": comparison.tables,
        "left_out": comparison.left_out.iter().map(left_out).collect::<Value>(),
    })
}

/// The data of what is left out, with its sentence.
fn left_out(part: &LeftOut) -> Value {
    let warning = left_out::of_comparison(part);
    let mut value = json!(part);
    value["what"] = json!(warning.what);
    value["remedy"] = json!(warning.remedy);
    value
}

/// The data of each change, with its sentence.
fn changes(comparison: &Comparison) -> Vec<Value> {
    let value = |change: &Change| {
        let mut value = json!(change);
        explain_change(&mut value["detail"], &change.detail);
        value["sentence"] = json!(sentence(comparison, change));
        value
    };
    comparison.changes.iter().map(value).collect()
}

fn verdict_counts<'a, I: Iterator<Item = &'a ComparedTable>>(tables: impl Fn() -> I) -> Value {
    json!({ "series": Counts::of_series(tables()), "points": Counts::of_points(tables()) })
}
