//! Subjects against each other: leads, rankings, comparisons and crossovers.

use super::{ComparisonReason, Estimate};
use schemars::JsonSchema;
use serde::Serialize;

/// The order of the subjects at one point, the best first.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Ranking {
    /// The point.
    pub point: u64,
    /// The subjects with a figure there.
    pub subjects: Vec<RankedSubject>,
    /// The subjects without a finished cell there.
    pub unfinished: Vec<String>,
}

/// One subject in a ranking.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct RankedSubject {
    /// The subject.
    pub subject: String,
    /// Its median.
    pub level: f64,
    /// One more than the number of clearly better subjects, by the rule of a comparison: subjects that are
    /// not clearly behind the best share rank 1.
    pub rank: usize,
    /// How many times worse it is than the best; 1 for the best itself.
    pub behind: Estimate,
    /// The subjects that are neither clearly better nor clearly worse.
    pub tied: Vec<String>,
}

/// The best subject at one point, and its lead.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Lead {
    /// The subject with the best median.
    pub best: String,
    /// The subject with the second best median.
    pub second: String,
    /// How many times better the best is than the second: at least 1, except for the ends of its CI.
    pub margin: Estimate,
    /// Whether it is clearly better than every other subject, by the rule of a comparison. If not, the
    /// point is too close to call.
    pub clear: bool,
    /// The subjects that are not clearly behind the best and share the lead with it. Empty where the lead
    /// is clear.
    pub tied: Vec<String>,
    /// Number of subjects with a figure there.
    pub measured: usize,
}

impl Lead {
    /// Whether several subjects share the lead and further ones are clearly behind them.
    pub fn is_shared(&self) -> bool {
        !self.tied.is_empty() && self.tied.len() + 1 < self.measured
    }
}

/// How two series of one table compare along the axis.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct SubjectComparison {
    /// The subject that is higher in the table.
    pub first: String,
    /// The subject that is lower in the table.
    pub second: String,
    /// The outcome.
    pub outcome: ComparisonOutcome,
}

/// The outcome of a comparison.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case", tag = "outcome")]
pub enum ComparisonOutcome {
    /// The evidence is too thin.
    Unknown {
        /// The reason.
        reason: ComparisonReason,
    },
    /// Neither leads by more than ×1.3 at any point, for sure.
    TooClose {
        /// The largest lead that either has at a point: 1.04 is 4 %.
        max_lead: f64,
        /// The figures of the first over those of the second, over all points together; absent where the
        /// error is unknown.
        ratio: Option<Estimate>,
    },
    /// The same subject leads wherever one leads clearly: the range has no crossover.
    Throughout {
        /// The subject that leads.
        better: String,
        /// Its smallest lead at the points `clear`: 1.2 is 20 %.
        min_lead: f64,
        /// Its largest.
        max_lead: f64,
        /// The points at which it clearly leads, ascending.
        clear: Vec<u64>,
        /// The other points that both have, which are too close to call.
        open: Vec<u64>,
    },
    /// The lead changes.
    Crosses {
        /// The crossovers, ascending.
        crossovers: Vec<Crossover>,
    },
    /// The lead changes three times or more.
    Unsettled {
        /// Number of changes.
        changes: usize,
        /// The largest lead that either has at a point.
        max_lead: f64,
    },
}

/// A value on the axis at which one series overtakes another.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Crossover {
    /// The subject that leads above it.
    pub overtakes: String,
    /// The subject that leads below it.
    pub overtaken: String,
    /// The value on the axis. Equal ends mean that nothing was repeated and no CI is known.
    pub at: Estimate,
    /// The same as a ratio, where the workload has one; 1 is all.
    pub share: Option<Estimate>,
    /// The last point below at which `overtaken` leads, by the evidence of all points together.
    pub after: u64,
    /// The first point above at which `overtakes` does.
    pub before: u64,
}
