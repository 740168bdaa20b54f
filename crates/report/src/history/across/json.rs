//! Runs across the values of a fact as one JSON value for programs.
//!
//! | key | what it holds |
//! | --- | --- |
//! | `schema` | [`SCHEMA`](crate::history::json::SCHEMA) of histories |
//! | `workload`, `machine` | as the newest run describes them |
//! | `key` | the fact or the label |
//! | `values`, `runs` | the values in order, and the run of each |
//! | `in_turns` | whether all runs were measured in turns |
//! | `left_out` | what is not compared: its `kind` and data, and `what` |
//! | `margin`, `judged` | what counts as the same, and how many ratios were judged at once |
//! | `series` | each with its `points` (`figures`: a median with its interval for each value, or null), `steps` (from each value to the next: ratio and verdict) and `whole` (from the first to the last) |
//! | `steps` | what is significant, the largest first, as sentences |

use super::{sentence, steps};
use crate::history::json::SCHEMA;
use analysis::history::across::AcrossValues;
use findings::left_out;
use serde_json::{Value, json};

/// The runs with the keys that this module's head lists.
pub fn value(across: &AcrossValues) -> Value {
    let mut value = json!(across);
    value["schema"] = json!(SCHEMA);
    for (index, part) in across.left_out.iter().enumerate() {
        value["left_out"][index]["what"] = json!(left_out::of_history(part));
    }
    value["steps"] = steps(across).iter().map(|step| sentence(across, step)).collect();
    value
}
