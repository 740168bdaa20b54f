//! Where a curve jumps.

use super::prelude::*;
use crate::format::{change, clauses, count, interval};
use analysis::Estimate;

pub use analysis::Step;

impl FindingKind for Step {
    const TAG: Tag = Tag::new("step", Tone::Neutral);

    fn find(context: &Context<'_>) -> Vec<Finding> {
        Finding::of_rows(context.rows(), |_, row| row.steps.clone())
    }

    fn rank(&self) -> f64 {
        stake(self.factor.value)
    }

    fn joins(&self, second: &Self) -> bool {
        (self.factor.value >= 1.0) == (second.factor.value >= 1.0)
            && self.between.is_some() == second.between.is_some()
    }

    /// `mmap steps up ×1.80 at 12,400 maps`, or `sort and heap step up ×1.80 between 1,000 and 2,000 n`.
    fn sentence(all: &[Self], names: &Names<'_>) -> Sentence {
        let factors = Range::new(all.iter().map(|step| step.factor.value));
        let direction = if factors.1 >= 1.0 { "up" } else { "down" };
        let pairs = || all.iter().filter_map(|step| step.between);
        let ends = pairs().map(|pair| pair[0]).min().zip(pairs().map(|pair| pair[1]).max());
        let position = if let Some((first, last)) = ends {
            format!("{} {}", between([first, last]), names.axis())
        } else {
            let at = Range::new(all.iter().map(|step| step.at.value));
            format!("at {}", names.positions(at))
        };
        let (verb, factors) = (names.verb("steps", "step"), factors.format(change));
        names.claim(format!(" {verb} {direction} {factors} {position}"))
    }

    /// `×1.80 at 12,400 (95 % CI 12,300–12,500), 95 % CI of the factor ×1.75–×1.84`.
    fn detail(&self, names: &Names<'_>) -> String {
        let position = match (names.is_single(), self.between) {
            (true, Some(_)) => String::new(),
            (true, None) => names.with_ci("", self.at, whole),
            (false, Some(points)) => between(points),
            (false, None) => format!("at {}{}", whole(self.at.value), interval(self.at, whole)),
        };
        let Estimate { value, low, high } = self.factor;
        let figure = (!names.is_single()).then(|| change(value));
        let position = Some(position).filter(|text| !text.is_empty());
        let size_at = figure.into_iter().chain(position).collect::<Vec<_>>().join(" ");
        let what =
            if self.between.is_some() { "factor of the rounds" } else { "95 % CI of the factor" };
        let factors = || format!("{what} {}–{}", change(low), change(high));
        clauses([Some(size_at), (low < high).then(factors)])
    }
}

/// `between 1,000 and 2,000`.
fn between([first, second]: [u64; 2]) -> String {
    format!("between {} and {}", count(first), count(second))
}

fn whole(position: f64) -> String {
    count(position.round().max(0.0) as u64)
}
