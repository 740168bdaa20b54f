//! How a series changed while it was measured.

use super::prelude::*;
use crate::format::{factor, interval, significant};

pub use analysis::Drift;

impl FindingKind for Drift {
    const TAG: Tag = Tag::new("drift", Tone::Open);

    fn find(context: &Context<'_>) -> Vec<Finding> {
        Finding::of_rows(context.rows(), |_, row| row.drift.clone())
    }

    fn rank(&self) -> f64 {
        stake(self.factor.value)
    }

    fn joins(&self, second: &Self) -> bool {
        (self.factor.value >= 1.0) == (second.factor.value >= 1.0)
    }

    /// `touch drifted while measured: the last rounds are ×1.30 of the first`.
    fn sentence(all: &[Self], names: &Names<'_>) -> Sentence {
        let factors = Range::new(all.iter().map(|drift| drift.factor.value)).format(factor);
        let rest = format!(" drifted while measured: the last rounds are {factors} of the first");
        names.claim(rest)
    }

    /// `×1.20 from round 3 on (95 % CI 1.18–1.22)`.
    fn detail(&self, _: &Names<'_>) -> String {
        let since = self.since.map(|round| format!(" from round {round} on")).unwrap_or_default();
        format!("{}{since}{}", factor(self.factor.value), interval(self.factor, significant))
    }
}
