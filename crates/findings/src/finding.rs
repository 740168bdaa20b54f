//! One finding: what it is about, its data, and the sentence that is made of them.

pub(crate) mod advice;
pub(crate) mod clusters;
pub(crate) mod names;
pub(crate) mod range;
pub(crate) mod sentence;
pub(crate) mod verdict;

use crate::conclusions::context::Context;
use crate::finding::advice::Advice;
use crate::finding::names::{Names, qualifier};
use crate::finding::sentence::{Sentence, text};
use crate::kinds::Data;
use analysis::{Row, Table};
use model::Parameters;
use schemars::JsonSchema;
use serde::Serialize;

/// Something that the figures of a run show, of all subjects that share it.
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
    /// Its kind, and its data: those of each subject, or of each pair of subjects.
    #[serde(flatten)]
    pub data: Data,
    /// What is at stake at the far end, as a factor; see [`crate::kinds::FindingKind::rank`].
    pub rank: f64,
    /// What to use instead, where another subject is better at the far end.
    pub advice: Option<Advice>,
    /// The finding in a sentence, without a full stop.
    pub sentence: Sentence,
    /// The figures of each subject that the sentence leaves out: CIs, exponents, reasons; may be empty.
    pub details: Sentence,
}

impl Finding {
    /// A finding about one series.
    pub fn about_row(table: &Table, row: &Row, data: impl Into<Data>) -> Self {
        Self::about(table, vec![row.subject.clone()], data)
    }

    /// A finding about each of `rows`, for each datum that `find` has of it.
    pub fn of_rows<'a, D: Into<Data>, F: IntoIterator<Item = D>>(
        rows: impl Iterator<Item = (&'a Table, &'a Row)>,
        find: impl Fn(&'a Table, &'a Row) -> F,
    ) -> Vec<Self> {
        let of_row = |(table, row)| -> Vec<Self> {
            let all = find(table, row).into_iter();
            all.map(|data| Self::about_row(table, row, data)).collect()
        };
        rows.flat_map(of_row).collect()
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
            rank: 1.0,
            advice: None,
            sentence: Sentence::default(),
            details: Sentence::default(),
        }
    }

    /// The same, shown with the headline metric's findings if `headline` says so.
    #[must_use]
    pub fn with_headline(self, headline: bool) -> Self {
        Self { headline, ..self }
    }

    /// Whether it is about a figure of `table`.
    pub fn is_about(&self, table: &Table) -> bool {
        table.workload == self.workload
            && table.parameters == self.parameters
            && table.metric.name == self.metric
    }

    /// Whether it is about the same table as `second`.
    pub fn is_of_same_table(&self, second: &Self) -> bool {
        (&self.workload, &self.parameters, &self.metric)
            == (&second.workload, &second.parameters, &second.metric)
    }

    /// Its sentence and its details, with full stops.
    pub fn text(&self) -> Sentence {
        let details = self.details.parts();
        let stop = (!details.is_empty()).then(|| text(". "));
        let parts = self.sentence.parts().iter().cloned().chain(stop);
        Sentence::new(parts.chain(details.iter().cloned()).chain([text(".")]))
    }

    /// Whether one finding has both: they show the same of different subjects with the same alternatives, or none.
    pub(crate) fn takes(&self, second: &Self, context: &Context<'_>) -> bool {
        let [Some(own), Some(subject)] = [self, second].map(|finding| finding.subjects.first())
        else {
            return false;
        };
        let table = context.analysis.tables.iter().find(|table| self.is_about(table));
        self.data.joins(&second.data)
            && self.headline == second.headline
            && self.is_of_same_table(second)
            && !self.subjects.contains(subject)
            && table
                .is_none_or(|table| table.shared_operation(own) == table.shared_operation(subject))
    }

    /// Adds the subjects and the data of `second`.
    pub(crate) fn join(&mut self, second: Self) {
        for subject in second.subjects {
            if !self.subjects.contains(&subject) {
                self.subjects.push(subject);
            }
        }
        self.data.join(second.data);
    }

    /// The same with its rank, its advice and its sentence.
    pub(crate) fn worded(self, context: &Context<'_>) -> Self {
        let tables = &context.analysis.tables;
        let Some(table) = tables.iter().find(|table| self.is_about(table)) else { return self };
        let names = Names::of_table(&self.subjects, table, qualifier(tables, table));
        let advised_at = self.data.advised_at().filter(|_| table.headline);
        let advice = advised_at.and_then(|point| Advice::new(table, &self.subjects, point, &names));
        let (sentence, details) = (self.data.sentence(&names), self.data.details(&names));
        Self { rank: self.data.rank(), advice, sentence, details, ..self }
    }
}
