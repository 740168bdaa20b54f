//! A history as one JSON value for programs.
//!
//! The keys are stable within one [`SCHEMA`]: new ones may appear, none changes its meaning or goes.
//!
//! | key | what it holds |
//! | --- | --- |
//! | `schema` | [`SCHEMA`] |
//! | `workload` | the workload, as the newest run describes it |
//! | `machine` | facts of the newest run by dotted key |
//! | `runs` | the runs that are joined, the oldest first, with their labels |
//! | `left_out` | what is not comparable with the newest run: its `kind` and data, and `what` |
//! | `margin` | smaller shares of change are left out |
//! | `judged` | how many lines were judged at once |
//! | `lines` | a line for each series and point: `figures` (place in `runs`, median with its interval), `apart`, `visible`, `shifts`, `drift`, `drift_is_fresh`, `alarms` (what fails a gate: `at`, `direction`, `factor`) |
//! | `told` | what changed, the newest first: `at`, `last`, `direction`, `lines` with their factors, `differences`, and the `sentence` |
//! | `together` | what changed in most subjects at once, from one run to another, the newest first, with its `sentence` |

use super::sentences;
use analysis::compare::Difference;
use analysis::history::History;
use findings::left_out;
use serde_json::{Value, json};

/// Raised when a key changes its meaning or goes.
pub const SCHEMA: u32 = 1;

/// The history with the keys that this module's head lists.
pub fn value(history: &History) -> Value {
    let mut value = json!(history);
    value["schema"] = json!(SCHEMA);
    for (index, part) in history.left_out.iter().enumerate() {
        value["left_out"][index]["what"] = json!(left_out::of_history(part));
    }
    for (index, line) in history.lines.iter().enumerate() {
        for (at, shift) in line.shifts.iter().enumerate() {
            value["lines"][index]["shifts"][at]["because"] = because(&shift.differences);
        }
    }
    for (index, change) in history.changes.iter().enumerate() {
        value["told"][index]["sentence"] = json!(sentences::change(history, change));
    }
    for (index, change) in history.joint_changes.iter().enumerate() {
        value["together"][index]["because"] = because(&change.differences);
        value["together"][index]["sentence"] = json!(sentences::joint(history, change));
    }
    value
}

/// One text for each difference: `kernel 6.18 → 6.19`.
fn because(differences: &[Difference]) -> Value {
    differences.iter().map(sentences::difference).collect()
}
