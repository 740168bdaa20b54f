//! Findings: a sentence with its evidence, in the fixed vocabulary.

use crate::{
    Basis, Class, Finding, FindingKind, Growth, PointSummary, Row, Table, overtakes, rate_words,
    shape_words, words,
};
use record::WorkloadInfo;
use std::collections::BTreeSet;

/// The workload that does nothing: its figures are the harness's own.
pub const NULL: &str = "null";

/// What `tables` say, in their order: how each series grows, or whether its rate holds, on which several
/// curves it lies, where it steps, whether it drifted, who overtakes whom, and what the harness
/// itself costs. `workloads` name the rivals, of which is always said who leads where.
pub fn findings(tables: &[Table], workloads: &[WorkloadInfo]) -> Vec<Finding> {
    let mut findings = Vec::new();
    for table in tables {
        let workload = workloads.iter().find(|workload| workload.name == table.workload);
        let along = workload.is_some_and(|workload| workload.told.contains(&table.metric.name));
        // What is undecided is not told twice.
        let decided = |row: &&Row| row.growth.as_ref().is_some_and(|g| g.class != Class::Undecided);
        let along = |kind: FindingKind, subject: &str| {
            let row = table.rows.iter().find(|row| row.subject == subject);
            along && kind == FindingKind::Growth && row.as_ref().is_some_and(decided)
        };
        let mut tell = |kind, subjects: &[&str], sentence| {
            findings.push(Finding {
                kind,
                workload: table.workload.clone(),
                conditions: table.conditions.clone(),
                metric: table.metric.name.clone(),
                subjects: subjects.iter().map(|&subject| subject.to_owned()).collect(),
                sentence,
                headline: table.headline || along(kind, subjects[0]),
            });
        };
        for row in &table.rows {
            if table.workload == NULL {
                if let Some(sentence) = control_sentence(table, row) {
                    tell(FindingKind::Control, &[&row.subject], sentence);
                }
                continue;
            }
            for (kind, sentence) in of_row(tables, table, row) {
                tell(kind, &[&row.subject], sentence);
            }
        }
        if table.workload == NULL {
            continue;
        }
        let rivals = workload.map_or(&[][..], |workload| &workload.rivals);
        for contest in overtakes::worth_telling(table, rivals) {
            let sentence = overtakes::sentence(table, contest, &qualifiers(tables, table));
            tell(FindingKind::Crossover, &[&contest.one, &contest.other], sentence);
        }
    }
    findings
}

/// What is said of one series: how it grows, and what its medians hide.
fn of_row(tables: &[Table], table: &Table, row: &Row) -> Vec<(FindingKind, String)> {
    let mut all = Vec::new();
    let subject = format!("{}{}", row.label, qualifiers(tables, table));
    if let Some(growth) = &row.growth {
        all.push((FindingKind::Growth, growth_sentence(tables, table, row, growth)));
    }
    if let Some(rate) = &row.rate {
        all.push((FindingKind::Rate, rate_words::rate(&subject, table, rate)));
    }
    if let Some(modes) = &row.modes {
        all.push((FindingKind::Mode, shape_words::modes(&subject, table, modes)));
    }
    let step = |step| (FindingKind::Step, shape_words::step(&subject, &table.axis, step));
    all.extend(row.steps.iter().map(step));
    if let Some(drift) = &row.drift {
        all.push((FindingKind::Drift, shape_words::drift(&subject, drift)));
    }
    all
}

fn growth_sentence(tables: &[Table], table: &Table, row: &Row, growth: &Growth) -> String {
    let subject = format!("{}{}", row.label, qualifiers(tables, table));
    let class = words::class(growth.class);
    let factor = words::factor(growth.factor);
    let exponent = words::exponent_of(growth).map(|exponent| format!(" ({exponent})"));
    let exponent = exponent.unwrap_or_default();
    let (from, to) = (words::count(growth.from), words::count(growth.to));
    let range = format!("from {from} to {to} {}", table.axis);
    let (basis, doubt) = match growth.basis {
        Basis::Medians if growth.because.is_empty() => ("", String::new()),
        Basis::Medians => ("", format!(" Yet {}.", growth.because)),
        Basis::FastestTenth => (
            " by the fastest tenth of its samples",
            format!(" Its medians leave it undecided: {}.", growth.because),
        ),
    };
    match growth.class {
        Class::Constant => format!("{subject} is {class}{basis}: {factor}{exponent}.{doubt}"),
        Class::Undecided => {
            format!("{subject} is {class}: {factor} {range}{exponent}, because {}.", growth.because)
        }
        _ => format!("{subject} is {class}{basis}: {factor} {range}{exponent}.{doubt}"),
    }
}

/// What tells this table's series from those of the workload's other tables: ` (wait)`,
/// ` (active = 10)`, or nothing.
fn qualifiers(tables: &[Table], table: &Table) -> String {
    let mut parts = Vec::new();
    if !table.headline {
        parts.push(table.metric.name.clone());
    }
    let siblings: Vec<&Table> = tables.iter().filter(|t| t.workload == table.workload).collect();
    for (name, value) in &table.conditions {
        let values: BTreeSet<Option<&String>> =
            siblings.iter().map(|t| t.conditions.get(name)).collect();
        if values.len() > 1 {
            parts.push(format!("{name} = {value}"));
        }
    }
    if parts.is_empty() { String::new() } else { format!(" ({})", parts.join(", ")) }
}

fn control_sentence(table: &Table, row: &Row) -> Option<String> {
    let figures: Vec<&PointSummary> = row.cells.iter().flatten().collect();
    let medians: Vec<f64> = figures.iter().map(|figure| figure.median.value).collect();
    let least = figures.iter().min_by(|a, b| a.median.value.total_cmp(&b.median.value))?;
    let most = figures.iter().max_by(|a, b| a.median.value.total_cmp(&b.median.value))?;
    let unit = words::Unit::for_table(&table.metric.unit, &medians);
    let low = unit.figure(figures.iter().map(|f| f.median.low).fold(f64::INFINITY, f64::min));
    let high = unit.figure(figures.iter().map(|f| f.median.high).fold(0.0, f64::max));
    let (least, most) = (unit.figure(least.median.value), unit.figure(most.median.value));
    let span = if least == most { least } else { format!("{least} to {most}") };
    let what = if table.headline { String::new() } else { format!("{}, ", table.metric.name) };
    Some(format!(
        "The harness itself costs {span} {} per operation ({what}{}, 95 % {low} to {high}).",
        unit.symbol, row.label
    ))
}
