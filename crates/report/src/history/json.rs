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
//! | `left_out` | what is not comparable with the newest run: `what` and `remedy` |
//! | `margin` | changes of less than this share are not told |
//! | `judged` | how many lines were judged at once |
//! | `lines` | a line for each series and point: `figures` (place in `runs`, median with its interval), `apart`, `visible`, `shifts`, `drift`, `drift_is_fresh` |
//! | `told` | what changed, in sentences, the newest first |
//! | `together` | what changed in most subjects at once, from one run to another, the newest first |

use analysis::history::History;
use serde_json::{Value, json};

/// Raised when a key changes its meaning or goes.
pub const SCHEMA: u32 = 1;

/// The history with the keys that this module's head lists.
pub fn value(history: &History) -> Value {
    let mut value = json!(history);
    value["schema"] = json!(SCHEMA);
    value
}
