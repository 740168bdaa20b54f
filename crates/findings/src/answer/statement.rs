//! One statement of an answer: what is the same of several subjects, with what it costs.

use super::advice::Advice;
use super::consequence::Consequence;
use super::range::Range;
use crate::finding::sentence::Sentence;
use analysis::Table;
use model::Parameters;
use schemars::JsonSchema;
use serde::{Serialize, Serializer};

/// What a statement is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, JsonSchema)]
#[schemars(with = "String")]
pub enum Topic {
    /// A cost that grows.
    Grows,
    /// A rate that falls.
    Falls,
    /// Cells that did not finish.
    Unfinished,
    /// One subject overtakes another.
    Overtakes,
    /// Subjects far behind the best of their table.
    Spread,
    /// A finding of another kind, or several of one kind.
    Finding(crate::Kind),
}

impl Topic {
    /// Its name in JSON.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Grows => "grows",
            Self::Falls => "falls",
            Self::Unfinished => "unfinished",
            Self::Overtakes => "overtakes",
            Self::Spread => "spread",
            Self::Finding(kind) => kind.name(),
        }
    }
}

impl Serialize for Topic {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}

/// What the same can be stated of.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Statement {
    /// What it is about.
    pub topic: Topic,
    /// The workload.
    pub workload: String,
    /// The parameters that it holds under.
    pub parameters: Parameters,
    /// The metric.
    pub metric: String,
    /// The subjects.
    pub subjects: Vec<String>,
    /// The figures behind it, where it is about growth or a trend.
    pub evidence: Option<Evidence>,
    /// What is at stake.
    pub consequence: Consequence,
    /// What to use instead, where another subject is better at the far end.
    pub advice: Option<Advice>,
    /// The statement in a sentence.
    pub sentence: Sentence,
}

/// The figures behind a statement about growth or a trend.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Evidence {
    /// The verdict that the subjects share: `linear`, `collapses`.
    pub verdict: &'static str,
    /// The least and the greatest of the points that the last one is compared with.
    pub from: (u64, u64),
    /// The last point.
    pub to: u64,
    /// How many times more it costs there, or how many times less is done.
    pub factor: Range,
    /// The medians there, in the metric's unit.
    pub level: Range,
}

impl Statement {
    /// A statement about `subjects` of `table`, without evidence and advice.
    pub fn new(
        topic: Topic,
        table: &Table,
        subjects: Vec<String>,
        consequence: Consequence,
        sentence: Sentence,
    ) -> Self {
        Self {
            topic,
            workload: table.workload.clone(),
            parameters: table.parameters.clone(),
            metric: table.metric.name.clone(),
            subjects,
            evidence: None,
            consequence,
            advice: None,
            sentence,
        }
    }

    /// Whether it is about figures of `table`.
    pub fn is_about(&self, table: &Table) -> bool {
        (&self.workload, &self.parameters, &self.metric)
            == (&table.workload, &table.parameters, &table.metric.name)
    }
}

/// Sorts by consequence, the greatest first; equal ones stay in order.
pub(super) fn rank(statements: &mut [Statement]) {
    statements.sort_by(|a, b| b.consequence.factor.total_cmp(&a.consequence.factor));
}
