//! What is worth knowing besides: findings of one kind about several subjects of a table in one statement.

use super::consequence::Consequence;
use super::material::Material;
use super::range::Range;
use super::statement::{Statement, Topic, rank};
use super::stops_scaling::{level_text, slowing};
use super::{advice, spread};
use crate::finding::Finding;
use crate::finding::names::Names;
use crate::finding::sentence::{Sentence, text};
use crate::format::{count, factor, multiple, number_word, percent, ratio};
use crate::kinds::sharing::Sharing;
use crate::kinds::step::{between, step_factor};
use crate::kinds::trade_off::TradeOff;
use crate::kinds::{Data, Kind};
use analysis::Table;

/// The statements, the greatest consequence first.
pub(super) fn statements(material: &Material<'_>) -> Vec<Statement> {
    let mut groups: Vec<(&Table, Vec<&Finding>)> = Vec::new();
    for (table, finding) in material.table_findings() {
        if !finding.kind().is_worth_knowing() {
            continue;
        }
        let same = |group: &&mut (&Table, Vec<&Finding>)| {
            std::ptr::eq(group.0, table) && is_joined(group.1[0], finding)
        };
        match groups.iter_mut().find(same) {
            Some(group) => group.1.push(finding),
            None => groups.push((table, vec![finding])),
        }
    }
    let mut all: Vec<Statement> =
        groups.into_iter().map(|(table, findings)| statement(material, table, &findings)).collect();
    all.extend(slowing(material));
    all.extend(spread::statements(material));
    rank(&mut all);
    // What a machine's memory is has no rank: it is the answer, in the order of the tables.
    let order = |statement: &Statement| {
        let is_levels = statement.topic == Topic::Finding(Kind::MemoryLevels);
        let subject = statement.subjects.first();
        let row_index = || {
            let mut rows =
                material.conclusions.analysis.tables.iter().flat_map(|table| &table.rows);
            rows.position(|row| Some(&row.subject) == subject)
        };
        if is_levels { row_index().unwrap_or(usize::MAX - 1) } else { usize::MAX }
    };
    all.sort_by_key(order);
    all
}

/// Whether two findings of a table say the same of two subjects.
fn is_joined(first: &Finding, second: &Finding) -> bool {
    let (Some(first_subject), Some(second_subject)) =
        (first.subjects.first(), second.subjects.first())
    else {
        return false;
    };
    first_subject != second_subject
        && match (&first.data, &second.data) {
            (Data::Modes(a), Data::Modes(b)) => a.modes.len() == b.modes.len(),
            (Data::Step(a), Data::Step(b)) => (a.factor.value >= 1.0) == (b.factor.value >= 1.0),
            (Data::Drift(a), Data::Drift(b)) => (a.factor.value >= 1.0) == (b.factor.value >= 1.0),
            (Data::Fairness(a), Data::Fairness(b)) => a.point == b.point,
            (Data::Sharing(a), Data::Sharing(b)) => {
                a.shared == b.shared && a.speedup.from == b.speedup.from
            }
            _ => false,
        }
}

fn statement(material: &Material<'_>, table: &Table, findings: &[&Finding]) -> Statement {
    let analysis = &material.conclusions.analysis;
    let mut subjects: Vec<String> = Vec::new();
    for subject in findings.iter().flat_map(|finding| &finding.subjects) {
        if !subjects.contains(subject) {
            subjects.push(subject.clone());
        }
    }
    let names = material.names(table, &subjects);
    let rest = match &findings[0].data {
        Data::Modes(_) => modes(findings, &names),
        Data::Step(_) => Some(steps(findings, &names)),
        Data::Drift(_) => Some(drifts(findings)),
        Data::Fairness(_) => fairness(findings, &names),
        Data::Sharing(first) => return shared(material, table, findings, first),
        Data::TradeOff(trade_off) => return traded(material, table, findings[0], trade_off),
        _ => None,
    };
    let sentence = match rest {
        Some(rest) => Sentence::new(names.subject_list().into_iter().chain([text(rest)])),
        None => findings[0].sentence(material.run, analysis).without_full_stop(),
    };
    let ranked = findings.iter().max_by(|a, b| a.rank().total_cmp(&b.rank()));
    let consequence = ranked.unwrap_or(&findings[0]).consequence(analysis);
    Statement::new(Topic::Finding(findings[0].kind()), table, subjects, consequence, sentence)
}

/// `ticket-block reaches ×1.06 of the rate of ticket at 1 thread per CPU, and ×330 at 8`.
fn traded(
    material: &Material<'_>,
    table: &Table,
    finding: &Finding,
    trade_off: &TradeOff,
) -> Statement {
    let names = material.names(table, &finding.subjects);
    let (first, second) = (names.label(&finding.subjects[0]), names.label(&finding.subjects[1]));
    let to = names.multiple_at(trade_off.to).map_or_else(|| count(trade_off.to), multiple);
    let [at_start, at_end] =
        [trade_off.rate_from, trade_off.rate_to].map(|ratio| factor(ratio.value));
    let from = names.point(trade_off.from);
    let sentence = Sentence::new([
        second,
        text(format!(" reaches {at_start} of the rate of ")),
        first,
        text(format!("{} at {from}, and {at_end} at {to}", names.qualifier())),
    ]);
    let consequence = finding.consequence(&material.conclusions.analysis);
    Statement::new(
        Topic::Finding(Kind::TradeOff),
        table,
        finding.subjects.clone(),
        consequence,
        sentence,
    )
}

/// `dup-close and open-close-one do ×0.93 to ×1.05 from 1 to 2 threads, and ×1.75 to ×1.94 with processes; what threads
/// share there: the descriptor table`.
fn shared(
    material: &Material<'_>,
    table: &Table,
    findings: &[&Finding],
    first: &Sharing,
) -> Statement {
    let all = findings.iter().filter_map(|finding| match &finding.data {
        Data::Sharing(sharing) => Some(sharing),
        _ => None,
    });
    let gains = Range::new(all.clone().map(|sharing| sharing.speedup.factor.value));
    let separate = Range::new(all.map(|sharing| sharing.separate_speedup.factor.value));
    let subjects: Vec<String> = findings.iter().flat_map(|f| f.subjects.iter().cloned()).collect();
    let names = material.names(table, &subjects);
    let verb = if subjects.len() == 1 { "does" } else { "do" };
    let (from, to) = (first.speedup.from, count(first.speedup.to));
    let rest = format!(
        " {verb} {} from {} to {to} {}, and {} with {}{}",
        gains.format(factor),
        count(from),
        first.sharing,
        separate.format(factor),
        first.separate,
        first.reason()
    );
    let labels = names.label_list(subjects.iter().map(String::as_str));
    let sentence = Sentence::new(labels.into_iter().chain([text(rest)]));
    let ranked = findings.iter().map(|finding| finding.rank()).fold(1.0, f64::max);
    let consequence = Consequence { avoidable: true, ..Consequence::new(table, &subjects, ranked) };
    Statement::new(Topic::Finding(Kind::Sharing), table, subjects, consequence, sentence)
}

/// `: 6.0 to 7.0 % of the samples take 8.2 µs instead of 3.7 µs (two modes)`.
fn modes(findings: &[&Finding], names: &Names<'_>) -> Option<String> {
    let all: Vec<&analysis::Modes> = findings
        .iter()
        .filter_map(|finding| match &finding.data {
            Data::Modes(modes) => Some(modes),
            _ => None,
        })
        .collect();
    let end = |mode: &analysis::Mode| mode.curve.last().map(|knot| knot.1);
    let lower = Range::new(all.iter().filter_map(|modes| end(modes.modes.first()?)));
    let upper = Range::new(all.iter().filter_map(|modes| end(modes.modes.last()?)));
    let share = Range::new(all.iter().filter_map(|modes| Some(modes.modes.last()?.share)));
    let modes = number_word(all.first()?.modes.len());
    let verb = if names.is_cost() { "take" } else { "reach" };
    Some(format!(
        ": {} of the samples {verb} {} instead of {} ({modes} modes)",
        share.format(percent),
        level_text(upper, names),
        level_text(lower, names)
    ))
}

/// ` step up ×1.80 at 12,400 maps`, or ` steps up ×1.80 between 1,000 and 2,000 n`.
fn steps(findings: &[&Finding], names: &Names<'_>) -> String {
    let steps = findings.iter().filter_map(|finding| match &finding.data {
        Data::Step(step) => Some(step),
        _ => None,
    });
    let factors = Range::new(steps.clone().map(|step| step.factor.value));
    let verb = if findings.len() == 1 { "steps" } else { "step" };
    let direction = if factors.1 >= 1.0 { "up" } else { "down" };
    let pairs: Vec<[u64; 2]> = steps.clone().filter_map(|step| step.between).collect();
    let first = pairs.iter().map(|pair| pair[0]).min();
    let last = pairs.iter().map(|pair| pair[1]).max();
    let position = if let Some((first, last)) = first.zip(last) {
        format!("{} {}", between([first, last]), names.axis())
    } else {
        let at = Range::new(steps.map(|step| step.at.value));
        format!("at {}", advice::axis_range(at, names))
    };
    let factors = factors.format(step_factor);
    format!(" {verb} {direction} {factors} {position}")
}

/// ` drifted: the last round is ×1.30 of the first`.
fn drifts(findings: &[&Finding]) -> String {
    let drifts = findings.iter().filter_map(|finding| match &finding.data {
        Data::Drift(drift) => Some(drift.factor.value),
        _ => None,
    });
    let factors = Range::new(drifts).format(factor);
    format!(" drifted while measured: the last rounds are {factors} of the first")
}

/// ` are fast and unfair at 8 threads per CPU: Jain's index 0.31 to 0.60`.
fn fairness(findings: &[&Finding], names: &Names<'_>) -> Option<String> {
    let Data::Fairness(first) = &findings[0].data else { return None };
    let indices = findings.iter().filter_map(|finding| match &finding.data {
        Data::Fairness(fairness) => Some(fairness.index.value),
        _ => None,
    });
    let be = if findings.len() == 1 { "is" } else { "are" };
    let (at, indices) = (names.point(first.point), Range::new(indices).format(ratio));
    Some(format!(" {be} fast and unfair at {at}: Jain's index {indices}"))
}
