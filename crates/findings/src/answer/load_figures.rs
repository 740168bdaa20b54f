//! The figures of a load on one point: its rates, and how long all of its replies took.

use super::figure_list::{FigureGroup, FigureList, SingleFigure};
use super::material::Material;
use crate::format::{Unit, count, counted};
use crate::sentence::{Part, Sentence, text};
use analysis::{Distribution, Estimate, Row, Table};
use record::{MetricInfo, MetricRole, Parameters, Run, WorkloadInfo};

/// The headings of what is no distribution.
const RATES: &str = "rates";
const OTHERS: &str = "others";

/// The lists of all loads, one for each set of parameters with a single point.
pub(super) fn lists(material: &Material<'_>) -> Vec<FigureList> {
    let loads = material.run.plan.workloads.iter().filter(|workload| workload.is_load());
    loads.flat_map(|load| lists_of(material, load)).collect()
}

fn lists_of(material: &Material<'_>, workload: &WorkloadInfo) -> Vec<FigureList> {
    let tables = &material.conclusions.analysis.tables;
    let of_load = || tables.iter().filter(|table| table.workload == workload.name);
    let headlines = of_load().filter(|table| table.headline && table.points.len() == 1);
    let list = |headline: &Table| {
        let alike = of_load().filter(|table| table.parameters == headline.parameters);
        list(material.run, workload, &alike.collect::<Vec<_>>())
    };
    headlines.filter_map(list).collect()
}

/// The list of these tables, those of each metric under the same parameters.
fn list(run: &Run, workload: &WorkloadInfo, tables: &[&Table]) -> Option<FigureList> {
    let first = tables.first()?;
    let named = |name: &str, figures| FigureGroup { name: name.to_owned(), figures };
    let single = |is_listed: fn(&MetricInfo) -> bool| -> Vec<SingleFigure> {
        let tables = tables.iter().filter(|table| table.distributions.is_empty());
        let tables = tables.filter(|table| is_listed(&table.metric));
        let rows = tables.flat_map(|table| table.rows.iter().map(move |row| (table, row)));
        rows.filter_map(|(table, row)| figure(table, row)).collect()
    };
    let distributions = tables.iter().flat_map(|table| {
        let distributions = table.distributions.iter();
        distributions.map(|distribution| named(&table.metric.name, quantiles(table, distribution)))
    });
    let mut groups = vec![named(RATES, single(|metric| metric.unit.ends_with("/s")))];
    groups.extend(distributions);
    groups.push(named(OTHERS, single(|metric| metric.role() == MetricRole::Whole)));
    groups.retain(|group| !group.figures.is_empty());
    (!groups.is_empty()).then(|| FigureList {
        workload: workload.name.clone(),
        parameters: first.parameters.clone(),
        axis: first.axis.clone(),
        point: first.points[0],
        sentence: Some(sentence(run, tables)),
        groups,
    })
}

/// `shop at 10 connections: 2.00 k replies/s, half of the replies within 91.5 µs, 99 % within 3.69 ms.`
fn sentence(run: &Run, tables: &[&Table]) -> Sentence {
    let first = tables[0];
    let subject = first.rows.first().map(|row| Part::Subject(row.label.clone()));
    let at = counted(&count(first.points[0]), &first.axis);
    let mut clauses = Vec::new();
    let rate = tables.iter().find(|table| !table.metric.lower_is_better);
    let rate = rate.and_then(|table| figure(table, table.rows.first()?));
    clauses.extend(rate.map(|rate| rate.level()));
    let latency = tables.iter().find_map(|table| Some((table, table.distributions.first()?)));
    clauses.extend(latency.into_iter().flat_map(|(table, distribution)| {
        let level = |figure| Unit::for_table(&table.metric.unit, &[figure]).with_symbol(figure);
        let half = format!("half of the replies within {}", level(distribution.p50));
        [half, format!("99 % within {}", level(distribution.p99))]
    }));
    let errors = tables.iter().find(|table| table.metric.role() == MetricRole::Errors);
    let errors = errors.map_or(0, |table| operations(run, table));
    clauses.extend((errors > 0).then(|| counted(&count(errors), "errors")));
    let rest = text(format!(" at {at}: {}.", clauses.join(", ")));
    Sentence::new(subject.into_iter().chain([rest]))
}

/// How often it happened in the whole load.
fn operations(run: &Run, table: &Table) -> u64 {
    let is_of_table = |workload: &str, parameters: &Parameters| {
        workload == table.workload && *parameters == table.parameters
    };
    let cells =
        run.cells.iter().filter(|cell| is_of_table(&cell.key.workload, &cell.key.parameters));
    let metrics = cells.flat_map(|cell| &cell.metrics);
    metrics.filter(|metric| metric.name == table.metric.name).map(|metric| metric.operations).sum()
}

fn figure(table: &Table, row: &Row) -> Option<SingleFigure> {
    let median = row.cells.first()?.as_ref()?.median;
    let metric = &table.metric;
    let says_what = metric.unit.strip_suffix("/s").is_some_and(|counted| counted == metric.name);
    let label = if says_what { String::new() } else { metric.name.clone() };
    Some(of_table(table, &row.subject, label, median))
}

fn quantiles(table: &Table, distribution: &Distribution) -> Vec<SingleFigure> {
    let &Distribution { p50, p90, p99, p99_9, max, .. } = distribution;
    let named = [("p50", p50), ("p90", p90), ("p99", p99), ("p99.9", p99_9), ("max", max)];
    let figure = |(label, value): (&str, f64)| {
        let single = Estimate { value, low: value, high: value };
        of_table(table, &distribution.subject, label.to_owned(), single)
    };
    named.map(figure).into()
}

fn of_table(table: &Table, subject: &str, label: String, median: Estimate) -> SingleFigure {
    SingleFigure {
        subject: subject.to_owned(),
        label,
        metric: table.metric.name.clone(),
        unit: table.metric.unit.clone(),
        lower_is_better: table.metric.lower_is_better,
        median,
    }
}
