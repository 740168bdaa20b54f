//! Where a curve jumps.

use super::{FindingKind, stake};
use crate::conclusions::context::Context;
use crate::finding::Finding;
use crate::finding::names::Names;
use crate::finding::sentence::{Sentence, text};
use crate::finding::verdict::{Tag, Tone};
use crate::format::{self, count, interval};

pub use analysis::Step;

impl FindingKind for Step {
    const NAME: &'static str = "step";

    fn find(context: &Context<'_>) -> Vec<Finding> {
        let of_row = |(table, row): (_, &analysis::Row)| {
            let steps = row.steps.iter();
            steps.map(|step| Finding::about_row(table, row, step.clone())).collect::<Vec<_>>()
        };
        context.rows().flat_map(of_row).collect()
    }

    fn rank(&self) -> f64 {
        stake(self.factor.value)
    }

    /// `mmap steps up ×1.80 at 12,400 maps (95 % CI 12,300–12,500).`, or `sort steps up ×1.80 between 1,000 and 2,000 n.`
    fn sentence(&self, names: &Names<'_>) -> Sentence {
        let direction = if self.factor.value >= 1.0 { "up" } else { "down" };
        let factor = step_factor(self.factor.value);
        let axis = names.axis();
        let position = match self.between {
            Some(points) => format!("{} {axis}", between(points)),
            None => format!("at {} {axis}{}", whole(self.at.value), interval(self.at, whole)),
        };
        let rest = format!(" steps {direction} {factor} {position}.");
        Sentence::new(names.head().into_iter().chain([text(rest)]))
    }

    fn tag(&self) -> Tag {
        Tag { word: "step", tone: Tone::Neutral }
    }
}

/// `×1.80` up, `÷1.39` down.
pub(crate) fn step_factor(factor: f64) -> String {
    if factor >= 1.0 { format::factor(factor) } else { format::fall(1.0 / factor) }
}

/// `between 1,000 and 2,000`.
pub(crate) fn between([first, second]: [u64; 2]) -> String {
    format!("between {} and {}", count(first), count(second))
}

fn whole(position: f64) -> String {
    count(position.round().max(0.0) as u64)
}
