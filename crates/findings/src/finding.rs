//! One finding: what it is about, and its data.

pub(crate) mod names;
pub(crate) mod sentence;
pub(crate) mod verdict;

use crate::finding::names::Names;
use crate::finding::sentence::Sentence;
use crate::finding::verdict::Tag;
use crate::kinds::{Data, Kind};
use analysis::{Analysis, Row, Table};
use model::{Parameters, Run};
use schemars::JsonSchema;
use serde::Serialize;

/// Something that the figures of a run show.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Finding {
    /// The workload it is about.
    pub workload: String,
    /// The parameters it holds under.
    pub parameters: Parameters,
    /// The metric it is about.
    pub metric: String,
    /// The subjects it is about, by name; where one is compared with another, in that order.
    pub subjects: Vec<String>,
    /// Whether it is about the headline metric, or about a secondary one.
    pub headline: bool,
    /// Its data, with its kind.
    #[serde(flatten)]
    pub data: Data,
}

impl Finding {
    /// A finding about one series.
    pub fn about_row(table: &Table, row: &Row, data: impl Into<Data>) -> Self {
        Self::about(table, vec![row.subject.clone()], data)
    }

    /// A finding about several series of a table.
    pub fn about(table: &Table, subjects: Vec<String>, data: impl Into<Data>) -> Self {
        Self {
            workload: table.workload.clone(),
            parameters: table.parameters.clone(),
            metric: table.metric.name.clone(),
            subjects,
            headline: table.headline,
            data: data.into(),
        }
    }

    /// The same, shown with the headline metric's findings if `headline` says so.
    #[must_use]
    pub fn with_headline(self, headline: bool) -> Self {
        Self { headline, ..self }
    }

    /// Its kind.
    pub fn kind(&self) -> Kind {
        self.data.kind()
    }

    /// What is at stake at the far end of the axis, as a factor; see [`crate::kinds::FindingKind::rank`].
    pub fn rank(&self) -> f64 {
        self.data.rank()
    }

    /// Its class, trend or sort in a word or two.
    pub fn tag(&self) -> Tag {
        self.data.tag()
    }

    /// Whether it is about a figure of `table`.
    pub fn is_about(&self, table: &Table) -> bool {
        table.workload == self.workload
            && table.parameters == self.parameters
            && table.metric.name == self.metric
    }

    /// Its sentence, with subjects, axis and units as `run` and `analysis` name them.
    pub fn sentence(&self, run: &Run, analysis: &Analysis) -> Sentence {
        self.data.sentence(&self.names(run, analysis))
    }

    /// How `run` and `analysis` name what it is about.
    fn names<'a>(&'a self, run: &'a Run, analysis: &'a Analysis) -> Names<'a> {
        let tables = &analysis.tables;
        let workload = run.plan.workloads.iter().find(|workload| workload.name == self.workload);
        let table = tables.iter().find(|table| self.is_about(table));
        Names::new(&self.subjects, workload, &self.metric, table, tables)
    }
}
