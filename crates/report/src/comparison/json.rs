//! A comparison as one JSON value for programs.
//!
//! The keys are stable within one [`SCHEMA`]: new ones may appear, none changes its meaning or goes.
//!
//! | key | what it holds |
//! | --- | --- |
//! | `schema` | [`SCHEMA`] |
//! | `base`, `new` | of both runs: number, id, times, state, command line, version, labels |
//! | `margin` | what is the same for all practical purposes, as a share: 0.05 |
//! | `confidence` | with which all ratios together lie in their intervals: 0.95 |
//! | `judged` | how many ratios that are |
//! | `paired` | whether the cells of both runs took turns |
//! | `verdicts` | how many there are of each, of `series` and of `points`, and of the `headline` metrics alone |
//! | `differences` | what was not the same when they were measured: `what`, `base`, `new` (null: not known) |
//! | `changes` | each with kind, direction, workload, parameters, metric, subjects, headline, the `detail` of what changed, and the `sentence` |
//! | `tables` | points, and rows of subjects: `overall` and `cells`, each a ratio with its verdict; medians |
//! | `left_out` | what is in one of them only, or can't be compared: `what` and `remedy` |
//!
//! A ratio is new over base, as `value`, `low` and `high`; its verdict is `faster`, `slower`, `same` or
//! `undecided`. A figure that is not finite is `null`.

use super::{Counts, Pair};
use analysis::compare::{Change, ComparedTable, Comparison};
use findings::run_changes::sentence;
use serde_json::{Value, json};

/// Raised when a key changes its meaning or goes.
pub const SCHEMA: u32 = 1;

/// The comparison as one value, with the keys that this module's head lists.
pub fn value(pair: &Pair) -> Value {
    let of = pair.comparison;
    let headline = || of.tables.iter().filter(|table| table.headline);
    json!({
        "schema": SCHEMA,
        "base": of.base,
        "new": of.new,
        "margin": of.margin,
        "confidence": 0.95,
        "judged": of.judged,
        "paired": of.paired,
        "verdicts": {
            "series": Counts::of_series(of.tables.iter()),
            "points": Counts::of_points(of.tables.iter()),
            "headline": counted(headline),
        },
        "differences": of.differences,
        "changes": changes(of),
        "tables": of.tables,
        "left_out": of.left_out,
    })
}

/// The data of each change, with its sentence.
fn changes(comparison: &Comparison) -> Vec<Value> {
    let value = |change: &Change| {
        let mut value = json!(change);
        value["sentence"] = json!(sentence(comparison, change));
        value
    };
    comparison.changes.iter().map(value).collect()
}

fn counted<'a, I: Iterator<Item = &'a ComparedTable>>(tables: impl Fn() -> I) -> Value {
    json!({ "series": Counts::of_series(tables()), "points": Counts::of_points(tables()) })
}
