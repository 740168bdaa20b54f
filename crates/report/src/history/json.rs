//! A history as one value for programs: a [`HistoryView`].

use super::sentences;
use crate::worded::{Stated, Worded};
use analysis::history::{Change, History, JointChange, LeftOut};
use findings::left_out;
use model::Warning;
use schemars::JsonSchema;
use serde::Serialize;

/// Raised when a key changes its meaning or goes.
pub const SCHEMA: u32 = 1;

/// The output of `knee history --json`.
#[derive(Serialize, JsonSchema)]
pub struct HistoryView<'a> {
    /// The number of this schema.
    schema: u32,
    #[serde(flatten)]
    history: &'a History,
    /// What is not comparable with the newest run, or can't be judged.
    left_out: Vec<Worded<'a, LeftOut, Warning>>,
    /// What changed, the newest first.
    changes: Vec<Worded<'a, Change, Stated>>,
    /// What changed in most subjects at once, the newest first.
    joint_changes: Vec<Worded<'a, JointChange, Stated>>,
}

/// The history as a value.
pub fn value(history: &History) -> HistoryView<'_> {
    let change =
        |change| Worded::new(change, Stated { sentence: sentences::change(history, change) });
    let joint =
        |change| Worded::new(change, Stated { sentence: sentences::joint(history, change) });
    HistoryView {
        schema: SCHEMA,
        history,
        left_out: left_out(&history.left_out),
        changes: history.changes.iter().map(change).collect(),
        joint_changes: history.joint_changes.iter().map(joint).collect(),
    }
}

pub(crate) fn left_out(all: &[LeftOut]) -> Vec<Worded<'_, LeftOut, Warning>> {
    all.iter().map(|part| Worded::new(part, left_out::of_history(part))).collect()
}
