//! Findings: a sentence with its evidence, in the fixed vocabulary.

pub mod caveats;
pub(crate) mod controls;
pub(crate) mod fairness;
pub(crate) mod overtakes;
pub(crate) mod past_words;
pub(crate) mod rankings;
pub(crate) mod rate_words;
pub mod reasons;
pub(crate) mod shape_words;
pub(crate) mod told;
pub(crate) mod trades;
pub(crate) mod unfinished;
pub mod words;

use crate::{Basis, Class, Estimate, Finding, FindingKind, Growth, PointSummary, Row, Table};
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
        let along =
            workload.is_some_and(|workload| workload.also_growth.contains(&table.metric.name));
        let mut tell = |kind, headline, subjects: &[&str], sentence| {
            findings.push(Finding {
                kind,
                workload: table.workload.clone(),
                parameters: table.parameters.clone(),
                metric: table.metric.name.clone(),
                subjects: subjects.iter().map(|&subject| subject.to_owned()).collect(),
                sentence,
                headline,
            });
        };
        for row in &table.rows {
            if table.workload == NULL {
                if let Some(sentence) = control_sentence(table, row) {
                    tell(FindingKind::Control, table.headline, &[&row.subject], sentence);
                }
                continue;
            }
            // Beside a rate, a cost that is undecided says nothing more.
            let decided = row.growth.as_ref().is_some_and(|g| g.class != Class::Undecided);
            for (kind, sentence) in of_row(tables, table, row) {
                let beside = along && decided && kind == FindingKind::Growth;
                tell(kind, table.headline || beside, &[&row.subject], sentence);
            }
            if let Some((has_peak, sentence)) = scaling(tables, table, row) {
                tell(FindingKind::Scaling, has_peak, &[&row.subject], sentence);
            }
            // The other metrics of the same cells did not finish either.
            let multiples = table.shares.as_ref().is_some_and(|shares| shares.multiple);
            let told = table.headline && (multiples || workload.is_some_and(|of| of.averages));
            for (kind, sentence) in of_row_beside(tables, table, row).into_iter().filter(|_| told) {
                tell(kind, true, &[&row.subject], sentence);
            }
        }
        if table.workload == NULL {
            continue;
        }
        let rivals = workload.map_or(&[][..], |workload| &workload.compared_pairs);
        let qualifiers = qualifiers(tables, table);
        let ranked = rankings::worth_telling(table);
        for (ranking, sentence) in
            ranked.iter().map(|ranking| (ranking, rankings::sentence(table, ranking, &qualifiers)))
        {
            let subjects = ranking.places.iter().map(|place| place.subject.as_str());
            tell(FindingKind::Ranking, true, &subjects.collect::<Vec<_>>(), sentence);
        }
        let mut traded = Vec::new();
        for (first, second) in rivals.iter().filter(|_| table.headline) {
            let pair = (first.as_str(), second.as_str());
            if let Some(sentence) = trades::sentence(tables, table, pair, &qualifiers) {
                traded.push(pair);
                tell(FindingKind::Trade, true, &[pair.0, pair.1], sentence);
            }
        }
        for contest in overtakes::worth_telling(table, rivals) {
            let (one, other) = (contest.one.as_str(), contest.other.as_str());
            let told = traded.iter().any(|pair| *pair == (one, other) || *pair == (other, one));
            if told && trades::replaces(&contest.standing) {
                continue;
            }
            let sentence = overtakes::sentence(table, contest, &qualifiers);
            tell(FindingKind::Crossover, table.headline, &[one, other], sentence);
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
    // What did not finish has a sentence of its own.
    if let Some(rate) = row.rate.as_ref().filter(|rate| !unfinished::tells(row, rate)) {
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

/// What is said of one series by what stands beside its figures: which of its cells did not finish, and
/// whether its rate is unfairly shared.
fn of_row_beside(tables: &[Table], table: &Table, row: &Row) -> Vec<(FindingKind, String)> {
    let subject = format!("{}{}", row.label, qualifiers(tables, table));
    let unfinished = unfinished::sentence(&subject, table, row);
    let fairness = fairness::sentence(tables, table, row, &subject);
    let unfinished = unfinished.map(|sentence| (FindingKind::Unfinished, sentence));
    let fairness = fairness.map(|sentence| (FindingKind::Fairness, sentence));
    unfinished.into_iter().chain(fairness).collect()
}

/// Where the ends of the interval of a peak are further apart than this, it names no place.
const PEAK_VAGUE: f64 = 3.0;

/// How a rate fits the Universal Scalability Law, and whether that names a peak on the way; `None` where it
/// does not apply.
fn scaling(tables: &[Table], table: &Table, row: &Row) -> Option<(bool, String)> {
    let scaling = row.scaling.as_ref().filter(|scaling| scaling.reason.is_none())?;
    let subject = format!("{}{}", row.label, qualifiers(tables, table));
    let first = table.points.first().map_or(1.0, |&point| point as f64);
    let named = |peak: Estimate| peak.low > first && peak.high <= PEAK_VAGUE * peak.low;
    Some((scaling.peak.is_some_and(named), rate_words::scaling(&subject, table, scaling)))
}

fn growth_sentence(tables: &[Table], table: &Table, row: &Row, growth: &Growth) -> String {
    let subject = format!("{}{}", row.label, qualifiers(tables, table));
    let class = words::class(growth.class);
    let factor = words::factor(growth.factor);
    let exponent = words::exponent_of(growth).map(|exponent| format!(" ({exponent})"));
    let exponent = exponent.unwrap_or_default();
    let (from, to) = (words::count(growth.from), words::count(growth.to));
    let range = format!("from {from} to {to} {}", table.axis);
    let reason = growth.reason.as_ref().map(reasons::growth);
    let because = reason.as_deref().unwrap_or_default();
    let (basis, doubt) = match growth.basis {
        Basis::Medians if because.is_empty() => ("", String::new()),
        Basis::Medians => ("", format!(" Yet {because}.")),
        Basis::FastestTenth => (
            " by the fastest tenth of its samples",
            format!(" Its medians leave it undecided: {because}."),
        ),
    };
    match growth.class {
        Class::Constant => format!("{subject} is {class}{basis}: {factor}{exponent}.{doubt}"),
        Class::Undecided => {
            format!("{subject} is {class}: {factor} {range}{exponent}, because {because}.")
        }
        _ => format!("{subject} is {class}{basis}: {factor} {range}{exponent}.{doubt}"),
    }
}

/// What tells this table's series from those of the workload's other tables: ` (wait)`,
/// ` (active = 10)`, or nothing.
pub(crate) fn qualifiers(tables: &[Table], table: &Table) -> String {
    let mut parts = Vec::new();
    if !table.headline {
        parts.push(table.metric.name.clone());
    }
    let siblings: Vec<&Table> = tables.iter().filter(|t| t.workload == table.workload).collect();
    for (name, value) in &table.parameters {
        let values: BTreeSet<Option<&String>> =
            siblings.iter().map(|t| t.parameters.get(name)).collect();
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
