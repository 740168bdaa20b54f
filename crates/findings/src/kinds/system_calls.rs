//! Which system calls an operation makes more, or fewer, of: along the axis, and between two sides of a comparison.

use super::prelude::*;
use crate::format::{count, counted, list, significant};
use analysis::Table;
use analysis::thresholds::SAME_MAX;
use model::command_facts::{CALLS_OF, SYSTEM_CALLS};
use std::collections::BTreeMap;

/// More calls than this are not named.
const NAMED_MAX: usize = 3;
/// A call is named that is at least this part of the change. Source: judgement.
const NAMED_PART_MIN: f64 = 0.05;

/// The system calls of a run at two points, or of two runs at one.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct SystemCalls {
    /// The first point.
    pub from: u64,
    /// The last point.
    pub to: u64,
    /// All calls at first.
    pub before: f64,
    /// All calls in the end.
    pub after: f64,
    /// The operation that they are of: `run`.
    pub operation: String,
    /// The calls that changed most, those first that changed more.
    pub calls: Vec<CallChange>,
}

/// How much more often a call is made.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct CallChange {
    /// Its name: `futex`.
    pub name: String,
    /// Calls more; fewer where it is below zero.
    pub change: f64,
}

impl FindingKind for SystemCalls {
    const TAG: Tag = Tag { word: "calls", tone: Tone::Neutral };

    fn find(context: &Context<'_>) -> Vec<Finding> {
        Finding::of_rows(context.headline_rows(), |table, row| {
            let ends = [table.points.first()?, table.points.last()?];
            let sides = ends.map(|&point| (&context.analysis.tables[..], point));
            let calls = Self::between(sides, table, &row.subject)?;
            (calls.rank() > SAME_MAX).then_some(calls)
        })
    }

    fn rank(&self) -> f64 {
        stake(self.after / self.before)
    }

    /// `dd makes 145 → 2,125 system calls a run from 10 to 1,000 n: read +990 and write +990`.
    fn sentence(all: &[Self], names: &Names<'_>) -> Sentence {
        let (calls, verb) = (&all[0], names.verb("makes", "make"));
        let to = counted(&count(calls.to), names.axis());
        let range = format!(" from {} to {to}", count(calls.from));
        names.claim(format!(" {verb} {}", calls.text(&range)))
    }
}

impl SystemCalls {
    /// How the calls of `subject` differ on two sides, each the tables of a run and a point with `table` among them. None where they
    /// are the same.
    pub(crate) fn between(
        sides: [(&[Table], u64); 2],
        table: &Table,
        subject: &str,
    ) -> Option<Self> {
        let [first, last] = sides.map(|(tables, point)| counts(tables, point, table, subject));
        let (before, after) = (*first.get("")?, *last.get("")?);
        let operation = operation(sides[0].0, table)?;
        let by_name =
            |counts: &BTreeMap<&str, f64>, name: &str| counts.get(name).copied().unwrap_or(0.0);
        let names = first.keys().chain(last.keys()).filter(|name| !name.is_empty());
        let changes: BTreeMap<&str, f64> =
            names.map(|name| (*name, by_name(&last, name) - by_name(&first, name))).collect();
        let is_large = |change: f64| change.abs() >= NAMED_PART_MIN * (after - before).abs();
        let mut calls: Vec<CallChange> = changes
            .into_iter()
            .filter(|(_, change)| change.abs() > 0.0 && is_large(*change))
            .map(|(name, change)| CallChange { name: name.to_owned(), change })
            .collect();
        calls.sort_by(|a, b| b.change.abs().total_cmp(&a.change.abs()));
        calls.truncate(NAMED_MAX);
        let [from, to] = sides.map(|(_, point)| point);
        ((after - before).abs() > 0.0).then_some(Self { from, to, before, after, operation, calls })
    }

    /// `145 → 2,125 system calls a run: read +990 and write +990`, with `range` before the colon.
    pub(crate) fn text(&self, range: &str) -> String {
        let number = |calls: f64| {
            if calls < 10.0 { significant(calls) } else { count(calls.round() as u64) }
        };
        let call = |CallChange { name, change }: &CallChange| {
            let sign = if *change < 0.0 { '\u{2212}' } else { '+' };
            format!("{name} {sign}{}", number(change.abs()))
        };
        let calls: Vec<String> = self.calls.iter().map(call).collect();
        let named = if calls.is_empty() { String::new() } else { format!(": {}", list(&calls)) };
        let (before, after) = (number(self.before), number(self.after));
        format!("{before} \u{2192} {after} system calls a {}{range}{named}", self.operation)
    }
}

/// What the calls next to `table` are of, by their unit: `calls/run`.
fn operation(tables: &[Table], table: &Table) -> Option<String> {
    let mut siblings = siblings(tables, table);
    let calls = siblings.find(|sibling| sibling.metric.name == SYSTEM_CALLS)?;
    calls.metric.unit.split_once('/').map(|(_, operation)| operation.to_owned())
}

/// The tables of the metrics that were measured together with that of `table`.
pub(super) fn siblings<'a>(tables: &'a [Table], table: &Table) -> impl Iterator<Item = &'a Table> {
    let key = |table: &Table| (table.workload.clone(), table.parameters.clone());
    let wanted = key(table);
    tables.iter().filter(move |sibling| key(sibling) == wanted)
}

/// The medians of all calls, under an empty name, and of each that was counted.
fn counts<'a>(
    tables: &'a [Table],
    point: u64,
    table: &Table,
    subject: &str,
) -> BTreeMap<&'a str, f64> {
    let figure = |sibling: &'a Table| {
        let metric = sibling.metric.name.as_str();
        let name = if metric == SYSTEM_CALLS { "" } else { metric.strip_prefix(CALLS_OF)? };
        Some((name, sibling.row(subject)?.at(point)?.median.value))
    };
    siblings(tables, table).filter_map(figure).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use fixtures::{cell, run, workload};

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
        assert_eq!(
            sentences,
            ["dd makes 45 → 1,035 system calls a run from 10 to 100 n: read +990"]
        );
    }
}
