//! How a series changed while it was measured.

use super::{FindingKind, stake};
use crate::conclusions::context::Context;
use crate::finding::Finding;
use crate::finding::names::Names;
use crate::finding::sentence::{Sentence, text};
use crate::finding::verdict::{Tag, Tone};
use crate::format::{factor, interval, significant};

pub use analysis::Drift;

impl FindingKind for Drift {
    const NAME: &'static str = "drift";

    fn find(context: &Context<'_>) -> Vec<Finding> {
        let of_row = |(table, row): (_, &analysis::Row)| {
            Some(Finding::about_row(table, row, row.drift.clone()?))
        };
        context.rows().filter_map(of_row).collect()
    }

    fn rank(&self) -> f64 {
        stake(self.factor.value)
    }

    /// `touch drifted: the last round is ×1.30 of the first (95 % CI 1.22–1.38).`
    fn sentence(&self, names: &Names<'_>) -> Sentence {
        let factor = factor(self.factor.value);
        let ci = interval(self.factor, significant);
        let change = match self.since {
            Some(round) => format!("from round {round} on it is {factor} of what it was before"),
            None => format!("the last round is {factor} of the first"),
        };
        let rest = format!(" drifted: {change}{ci}.");
        Sentence::new(names.head().into_iter().chain([text(rest)]))
    }

    fn tag(&self) -> Tag {
        Tag { word: "drift", tone: Tone::Open }
    }
}
