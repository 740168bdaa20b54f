//! What stops scaling: costs that grow, rates that fall, and cells that did not finish.

use super::advice::Advice;
use super::consequence::Consequence;
use super::material::Material;
use super::range::Range;
use super::series::Series;
use super::statement::{Evidence, Statement, Topic, rank};
use super::thresholds::SAME_FACTOR_MAX;
use super::verdict_group::VerdictGroup;
use crate::finding::names::Names;
use crate::finding::sentence::{Part, Sentence, text};
use crate::format::{class, count, counted, factor, fall, list, multiple, number_word};
use crate::kinds::Data;
use analysis::{Class, Table};
use std::collections::BTreeSet;

/// The statements, the greatest consequence first.
pub(super) fn statements(material: &Material<'_>) -> Vec<Statement> {
    let series = Series::all(material);
    let stops = |group| matches!(group, VerdictGroup::Grows | VerdictGroup::Falls);
    let mut all = grouped(material, series.iter().filter(|series| stops(series.group)));
    all.extend(unfinished(material));
    rank(&mut all);
    all
}

/// The same for series that slow down: they are worth knowing, and no end of scaling.
pub(super) fn slowing(material: &Material<'_>) -> Vec<Statement> {
    let series = Series::all(material);
    grouped(material, series.iter().filter(|series| series.group == VerdictGroup::Slows))
}

/// One statement for the series of a table that have the same alternatives, or none, and share verdict and far end.
fn grouped<'s, 'a: 's>(
    material: &Material<'a>,
    series: impl Iterator<Item = &'s Series<'a>>,
) -> Vec<Statement> {
    let operation = |series: &Series<'a>| series.table.shared_operation(&series.row.subject);
    let mut groups: Vec<Vec<&Series<'a>>> = Vec::new();
    for series in series {
        let belongs = |group: &&mut Vec<&Series<'a>>| {
            let first = group[0];
            series.is_of(first.table)
                && operation(series) == operation(first)
                && (series.shared_word, series.to) == (first.shared_word, first.to)
                // Speedups from another first point are others in proportion.
                && series.linear == first.linear
        };
        match groups.iter_mut().find(belongs) {
            Some(group) => group.push(series),
            None => groups.push(vec![series]),
        }
    }
    groups.into_iter().map(|group| statement(material, &group)).collect()
}

fn statement(material: &Material<'_>, group: &[&Series<'_>]) -> Statement {
    let Series { table, to, .. } = *group[0];
    let subjects: Vec<String> = group.iter().map(|series| series.row.subject.clone()).collect();
    let evidence = Evidence::new(group);
    let names = material.names(table, &subjects);
    let sentence = sentence(group, &names);
    let advice = Advice::new(table, &subjects, to, &names);
    let consequence = Consequence {
        avoidable: advice.is_some(),
        // Of a speedup what is lost is what would be done in proportion.
        ..Consequence::new(table, &subjects, evidence.factor.1 * group[0].linear.unwrap_or(1.0))
    };
    let topic = if table.metric.lower_is_better { Topic::Grows } else { Topic::Falls };
    let statement = Statement::new(topic, table, subjects, consequence, sentence);
    Statement { evidence: Some(evidence), advice, ..statement }
}

impl Evidence {
    fn new(group: &[&Series<'_>]) -> Self {
        let from = group.iter().map(|series| series.from);
        let to = group[0].to;
        Self {
            verdict: Series::common_word(group),
            from: (from.clone().min().unwrap_or(to), from.max().unwrap_or(to)),
            to,
            factor: Range::new(group.iter().map(|series| series.factor)),
            level: Range::new(group.iter().map(|series| series.level)),
        }
    }
}

/// The series with about the same factor together, those with the largest first: `ticket and mcs collapse
/// ÷38,000 to ÷44,600 from 1 to 8 threads per CPU, leaving 82 to 103 acquisitions/s; byte ÷6.36, 966 k
/// acquisitions/s`.
fn sentence(group: &[&Series<'_>], names: &Names<'_>) -> Sentence {
    let mut sorted = group.to_vec();
    sorted.sort_by(|a, b| b.factor.total_cmp(&a.factor));
    if let Some(linear) = group[0].linear {
        return speedups(&sorted, linear, names);
    }
    let is_alike = |a: &&Series<'_>, b: &&Series<'_>| a.factor <= SAME_FACTOR_MAX * b.factor;
    let mut parts: Vec<Part> = Vec::new();
    for (index, cluster) in sorted.chunk_by(is_alike).enumerate() {
        let evidence = Evidence { verdict: Series::common_word(group), ..Evidence::new(cluster) };
        // In the order of the table.
        let is_in =
            |series: &&&Series<'_>| cluster.iter().any(|member| std::ptr::eq(**series, *member));
        let labels = group.iter().filter(is_in).map(|series| series.row.subject.as_str());
        if index > 0 {
            parts.push(text("; "));
        }
        parts.extend(names.label_list(labels));
        parts.push(text(match index {
            0 if names.is_cost() => growth_text(&evidence, cluster.len(), names),
            0 => fall_text(&evidence, cluster, names),
            _ => {
                let factors = evidence.factor.format(if names.is_cost() { factor } else { fall });
                format!(" {factors}, {}", level_text(evidence.level, names))
            }
        }));
    }
    Sentence::new(parts)
}

/// ` are linear: ×870 to ×1,003 from 10 to 10,000 watched descriptors; 3.4 to 4.1 ms per wait at 10,000`.
fn growth_text(evidence: &Evidence, subjects: usize, names: &Names<'_>) -> String {
    let be = match (evidence.verdict, subjects) {
        (verb, 1) if verb == class(Class::Grows) => verb.to_owned(),
        (verb, _) if verb == class(Class::Grows) => verb.trim_end_matches('s').to_owned(),
        (order, 1) => format!("is {order}"),
        (order, _) => format!("are {order}"),
    };
    let factors = evidence.factor.format(factor);
    let range = range_text(evidence, names);
    let level = level_text(evidence.level, names);
    let per = names.operation().map(|operation| format!(" per {operation}")).unwrap_or_default();
    let at = point_text(evidence.to, names);
    format!("{} {be}: {factors} {range}; {level}{per} at {at}", names.qualifier())
}

/// ` fall ÷1.28 to ÷1.51 from 10 to 1,000 tokens, leaving 1.01 to 1.59 M tokens/s`, ` peaks at 100, then falls
/// ÷1.21 to 1,000 tokens, leaving 236 k tokens/s`.
fn fall_text(evidence: &Evidence, cluster: &[&Series<'_>], names: &Names<'_>) -> String {
    let is_single = cluster.len() == 1;
    let qualifier = names.qualifier();
    let verb = if is_single { evidence.verdict } else { evidence.verdict.trim_end_matches('s') };
    let range = range_text(evidence, names);
    if !evidence.factor.1.is_finite() {
        return format!("{qualifier} {verb} to nothing {range}");
    }
    let factors = evidence.factor.format(fall);
    let level = level_text(evidence.level, names);
    let peaks: Option<BTreeSet<u64>> = cluster.iter().map(|series| series.peak).collect();
    match peaks {
        Some(peaks) if evidence.verdict == "peaks" => {
            let at: Vec<String> = peaks.iter().map(|&peak| point_text(peak, names)).collect();
            let (at, then) = (list(&at), if is_single { "falls" } else { "fall" });
            let to = names.point(evidence.to);
            format!("{qualifier} {verb} at {at}, then {then} {factors} to {to}, leaving {level}")
        }
        _ => format!("{qualifier} {verb} {factors} {range}, leaving {level}"),
    }
}

/// The speedups of a table, the least first: `dup-close ×0.547, brk ×0.798 and open-close-one ×1.00 (by = threads) stop scaling
/// from 1 to 2 threads`, `stat ×1.46 and accept-one ×1.55 rise from 1 to 2 threads, of ×2.00 in proportion`.
fn speedups(sorted: &[&Series<'_>], linear: f64, names: &Names<'_>) -> Sentence {
    let (first, rest) = sorted.split_at(SPEEDUPS_MAX.min(sorted.len()));
    let gain = |series: &&Series<'_>| {
        let gain = factor(1.0 / series.factor);
        let peak = series.peak.map(|peak| format!(" (peak at {})", count(peak)));
        let gain = format!(" {gain}{}", peak.unwrap_or_default());
        [names.label(&series.row.subject), text(gain)]
    };
    let mut parts: Vec<Part> = Vec::new();
    for (index, series) in first.iter().enumerate() {
        let is_last = index + 1 == first.len() && rest.is_empty();
        let separator = if is_last { " and " } else { ", " };
        parts.extend((index > 0).then(|| text(separator)));
        parts.extend(gain(series));
    }
    if !rest.is_empty() {
        parts.push(text(format!(" and {} more", number_word(rest.len()))));
    }
    let (from, to) = (sorted[0].from, sorted[0].to);
    let range = format!("from {} to {}", count(from), counted(&count(to), names.axis()));
    let (singular, plural, end) = match sorted[0].group {
        VerdictGroup::Slows => {
            ("rises", "rise", format!(", of ×{} in proportion", multiple(linear)))
        }
        _ => ("stops", "stop", String::new()),
    };
    let verb = if sorted.len() == 1 { singular } else { plural };
    let verb = if end.is_empty() { format!("{verb} scaling") } else { verb.to_owned() };
    parts.push(text(format!("{} {verb} {range}{end}", names.qualifier())));
    Sentence::new(parts)
}

/// Of more speedups than this in a statement the others are counted.
const SPEEDUPS_MAX: usize = 8;

/// `from 10 to 10,000 watched descriptors`, `from 1 to 8 threads per CPU`.
fn range_text(evidence: &Evidence, names: &Names<'_>) -> String {
    let (min, max) = (point_text(evidence.from.0, names), point_text(evidence.from.1, names));
    let from = if min == max { min } else { format!("{min} or {max}") };
    format!("from {from} to {}", names.point(evidence.to))
}

/// A point without what it counts: `10,000`, or `8` of each.
fn point_text(point: u64, names: &Names<'_>) -> String {
    names.multiple_at(point).map_or_else(|| count(point), multiple)
}

/// Whether the subjects of both lists have the same alternatives, or none.
fn have_same_alternatives(table: &Table, first: &[String], second: &[String]) -> bool {
    let operations = first.iter().chain(second).map(|subject| table.shared_operation(subject));
    operations.collect::<BTreeSet<_>>().len() <= 1
}

/// `3.4 to 4.1 ms`.
pub(super) fn level_text(level: Range, names: &Names<'_>) -> String {
    let unit = names.unit(&[level.0, level.1]);
    let symbol = if unit.symbol.is_empty() { names.metric() } else { &unit.symbol };
    format!("{} {symbol}", level.format(|figure| unit.figure(figure)))
}

/// The cells that did not finish, those of a table with the same event joined.
fn unfinished(material: &Material<'_>) -> Vec<Statement> {
    let mut groups: Vec<(&Table, String, Vec<u64>, Vec<String>)> = Vec::new();
    for (table, finding) in material.table_findings() {
        let Data::Unfinished(unfinished) = &finding.data else { continue };
        let reason = unfinished.points.first().map(|point| &point.reason);
        let event = reason.map_or_else(|| "did not finish".to_owned(), model::FailureReason::event);
        let points: Vec<u64> = unfinished.points.iter().map(|point| point.point).collect();
        let same = |group: &&mut (&Table, String, Vec<u64>, Vec<String>)| {
            std::ptr::eq(group.0, table)
                && group.1 == event
                && group.2 == points
                && have_same_alternatives(table, &group.3, &finding.subjects)
        };
        match groups.iter_mut().find(same) {
            Some(group) => group.3.extend(finding.subjects.iter().cloned()),
            None => groups.push((table, event, points, finding.subjects.clone())),
        }
    }
    let statement = |(table, event, points, subjects): (&Table, String, Vec<u64>, Vec<String>)| {
        let names = material.names(table, &subjects);
        let mut parts: Vec<Part> = names.subject_list();
        parts.push(text(format!(" {event} at {}", names.points(&points))));
        let advice = points.last().and_then(|&point| Advice::new(table, &subjects, point, &names));
        let consequence = Consequence {
            avoidable: advice.is_some(),
            ..Consequence::new(table, &subjects, f64::INFINITY)
        };
        let sentence = Sentence::new(parts);
        let statement = Statement::new(Topic::Unfinished, table, subjects, consequence, sentence);
        Statement { advice, ..statement }
    };
    groups.into_iter().map(statement).collect()
}
