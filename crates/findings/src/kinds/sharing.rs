//! What threads lose by what they share: a call that gains less with threads of one process than with processes.

use super::FindingKind;
use crate::conclusions::context::Context;
use crate::finding::Finding;
use crate::finding::names::Names;
use crate::finding::sentence::{Sentence, text};
use crate::finding::verdict::{Tag, Tone};
use crate::format::{self, count, factor, interval, significant};
use analysis::rates::speedup::falls_behind;
use analysis::{Row, Speedup, SpeedupVerdict, Table};
use model::Parallel;
use schemars::JsonSchema;
use serde::Serialize;

/// One series by those that share, and the same by those that don't.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Sharing {
    /// Those that share: `threads`.
    pub sharing: String,
    /// Those that don't: `processes`.
    pub separate: String,
    /// What they share: `the descriptor table`; empty where the operation names nothing.
    pub shared: String,
    /// The speedup of those that share.
    pub speedup: Speedup,
    /// The speedup of those that don't.
    pub separate_speedup: Speedup,
}

impl FindingKind for Sharing {
    const NAME: &'static str = "sharing";

    fn find(context: &Context<'_>) -> Vec<Finding> {
        let of_row = |(table, row): (&Table, &Row)| {
            Some(Finding::about_row(table, row, Self::new(context, table, row)?))
        };
        context.headline_rows().filter_map(of_row).collect()
    }

    fn rank(&self) -> f64 {
        self.separate_speedup.factor.value / self.speedup.factor.value
    }

    /// `dup-close holds with threads and scales with processes: ×1.02 (95 % CI 0.97–1.06) and ×1.95 (95 % CI 1.90–2.00) from 1
    /// to 2; what threads share there: the descriptor table.`
    fn sentence(&self, names: &Names<'_>) -> Sentence {
        let Self { sharing, separate, speedup, separate_speedup, .. } = self;
        let change = |speedup: &Speedup| {
            let ci = interval(speedup.factor, significant);
            format!("{}{ci}", factor(speedup.factor.value))
        };
        let (word, separate_word) = (word(speedup), word(separate_speedup));
        let verdicts = if word == separate_word {
            format!("{word} less with {sharing} than with {separate}")
        } else {
            format!("{word} with {sharing} and {separate_word} with {separate}")
        };
        let (from, to) = (count(speedup.from), count(speedup.to));
        let changes = format!("{} and {}", change(speedup), change(separate_speedup));
        let rest = format!(" {verdicts}: {changes} from {from} to {to}{}.", self.reason());
        let subject = names.subjects().first().map_or("", String::as_str);
        Sentence::new([names.label(subject), text(rest)])
    }

    fn tag(&self) -> Tag {
        Tag { word: "sharing", tone: Tone::Middle }
    }
}

impl Sharing {
    /// That of `row`, where its table is of those that share, and another is of those that don't.
    fn new(context: &Context<'_>, table: &Table, row: &Row) -> Option<Self> {
        let workload = context.workload(table)?;
        let Parallel { parameter, sharing, separate } = workload.parallel.as_ref()?;
        if table.parameters.get(parameter)?.text() != *sharing {
            return None;
        }
        let speedup = row.speedup.as_ref()?;
        let of_separate = context.sibling_with(table, parameter, separate)?;
        let separate_speedup = of_separate.row(&row.subject)?.speedup.as_ref()?;
        let mut subjects = workload.subjects.iter();
        let shared = subjects.find(|subject| subject.name == row.subject);
        let comparisons = table.rows.iter().filter(|row| row.speedup.is_some()).count();
        falls_behind(speedup, separate_speedup, comparisons).then(|| Self {
            sharing: sharing.clone(),
            separate: separate.clone(),
            shared: shared.map(|subject| subject.shared.clone()).unwrap_or_default(),
            speedup: speedup.clone(),
            separate_speedup: separate_speedup.clone(),
        })
    }

    /// What they share, behind a sentence: `; what threads share there: the descriptor table`. It may be the reason: that it is was not
    /// measured.
    pub(crate) fn reason(&self) -> String {
        if self.shared.is_empty() {
            return String::new();
        }
        format!("; what {} share there: {}", self.sharing, self.shared)
    }
}

fn word(speedup: &Speedup) -> &'static str {
    match speedup.verdict {
        SpeedupVerdict::Undecided => "is undecided",
        verdict => format::speedup(verdict),
    }
}
