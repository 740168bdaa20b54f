//! Which system calls an operation makes more, or fewer, of: along the axis, and between two sides of a comparison.

use super::prelude::*;
use crate::format::{count, counted, list, significant};
use analysis::calls::{self, CallChange, CallsChange};
use analysis::thresholds::SAME_MAX;

/// The system calls of an operation at two points of a run.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct SystemCalls {
    /// The first point.
    pub from: u64,
    /// The last point.
    pub to: u64,
    /// How they differ.
    #[serde(flatten)]
    pub change: CallsChange,
}

impl FindingKind for SystemCalls {
    const TAG: Tag = Tag::new("calls", Tone::Neutral);

    fn find(context: &Context<'_>) -> Vec<Finding> {
        Finding::of_rows(context.headline_rows(), |table, row| {
            let (&from, &to) = (table.points.first()?, table.points.last()?);
            let sides = [from, to].map(|point| (context.run, point));
            let change = calls::change(table, &row.subject, sides)?;
            let calls = Self { from, to, change };
            (calls.rank() > SAME_MAX).then_some(calls)
        })
    }

    fn rank(&self) -> f64 {
        stake(self.change.after / self.change.before)
    }

    /// `dd makes 145 → 2,125 system calls/run from 10 to 1,000 n: read +990 and write +990`.
    fn sentence(all: &[Self], names: &Names<'_>) -> Sentence {
        let (calls, verb) = (&all[0], names.verb("makes", "make"));
        let to = counted(&count(calls.to), names.axis());
        let range = format!(" from {} to {to}", count(calls.from));
        names.claim(format!(" {verb} {}", calls_text(&calls.change, &range)))
    }
}

/// `145 → 2,125 system calls/run: read +990 and write +990`, with `range` before the colon.
pub(crate) fn calls_text(change: &CallsChange, range: &str) -> String {
    let number = |calls: f64| {
        if calls < 10.0 { significant(calls) } else { count(calls.round() as u64) }
    };
    let call = |CallChange { name, change }: &CallChange| {
        let sign = if *change < 0.0 { '\u{2212}' } else { '+' };
        format!("{name} {sign}{}", number(change.abs()))
    };
    let calls = list(change.calls.iter().map(call));
    let named = if calls.is_empty() { calls } else { format!(": {calls}") };
    let (before, after) = (number(change.before), number(change.after));
    format!("{before} \u{2192} {after} system {}{range}{named}", change.unit)
}

#[cfg(test)]
mod tests {
    use fixtures::{cell, run, workload};
    use model::command_facts::SYSTEM_CALLS;

    #[test]
    fn calls_that_come_along_the_axis_are_named_and_others_are_not() {
        let at = |subject, point: u64, read: u64| {
            let reads = (read > 0).then(|| fixtures::metric("calls of read", vec![read as f64]));
            cell("command", subject, point, 0)
                .samples("elapsed", vec![1e6])
                .samples(SYSTEM_CALLS, vec![(read + 45) as f64])
                .samples("calls of brk", vec![3.0])
                .metrics(reads)
        };
        let workload = workload("command").axis("n", "n").time("elapsed").subjects(["dd", "cat"]);
        let workload = [SYSTEM_CALLS, "calls of read", "calls of brk"]
            .into_iter()
            .fold(workload, |workload, name| workload.metric(name, name, "calls/run"));
        let cells = [at("dd", 10, 0), at("dd", 100, 990), at("cat", 10, 5), at("cat", 100, 5)];
        let run = run(workload).cells(cells).complete();
        let conclusions = crate::conclude(&run);
        let findings = conclusions.findings.iter();
        let of_calls =
            findings.filter(|finding| finding.data.kind() == super::super::Kind::SystemCalls);
        let sentences: Vec<String> = of_calls.map(|finding| finding.sentence.to_string()).collect();
        assert_eq!(sentences, ["dd makes 45 → 1,035 system calls/run from 10 to 100 n: read +990"]);
    }
}
