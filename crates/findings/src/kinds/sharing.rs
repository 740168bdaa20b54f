//! What threads lose by what they share: a call that gains less with threads of one process than with processes.

use super::prelude::*;
use crate::format::{self, count, factor, interval, significant};
use analysis::rates::speedup::falls_behind;
use analysis::{RateTrend, Row, Speedup, Table};
use model::Parallel;

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
    const TAG: Tag = Tag::new("sharing", Tone::Middle);

    fn find(context: &Context<'_>) -> Vec<Finding> {
        Finding::of_rows(context.headline_rows(), |table, row| Self::new(context, table, row))
    }

    fn rank(&self) -> f64 {
        self.separate_speedup.factor.value / self.speedup.factor.value
    }

    fn joins(&self, second: &Self) -> bool {
        self.shared == second.shared && self.speedup.from == second.speedup.from
    }

    /// `dup-close and open-close-one do ×0.93 to ×1.05 from 1 to 2 threads, and ×1.75 to ×1.94 with processes; what threads share
    /// there: the descriptor table`. What they share may be the reason: that it is was not measured.
    fn sentence(all: &[Self], names: &Names<'_>) -> Sentence {
        let Self { sharing, separate, shared, speedup, .. } = &all[0];
        let gains = Range::new(all.iter().map(|sharing| sharing.speedup.factor.value));
        let apart = Range::new(all.iter().map(|sharing| sharing.separate_speedup.factor.value));
        let (gains, apart) = (gains.format(factor), apart.format(factor));
        let (from, to) = (count(speedup.from), count(speedup.to));
        let verb = names.verb("does", "do");
        let reason = match shared.as_str() {
            "" => String::new(),
            shared => format!("; what {sharing} share there: {shared}"),
        };
        let rest = format!(
            " {verb} {gains} from {from} to {to} {sharing}, and {apart} with {separate}{reason}"
        );
        let labels = names.label_list(names.subjects.iter().map(String::as_str));
        Sentence::new(labels.into_iter().chain([text(rest)]))
    }

    /// `holds ×1.02 (95 % CI 0.97–1.06) with threads, scales ×1.95 (95 % CI 1.90–2.00) with processes`.
    fn detail(&self, _: &Names<'_>) -> String {
        let change = |speedup: &Speedup| {
            let word = match speedup.verdict {
                RateTrend::Undecided => "is undecided:",
                verdict => format::trend(verdict),
            };
            let ci = interval(speedup.factor, significant);
            format!("{word} {}{ci}", factor(speedup.factor.value))
        };
        let (shared, apart) = (change(&self.speedup), change(&self.separate_speedup));
        format!("{shared} with {}, {apart} with {}", self.sharing, self.separate)
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
}
