//! The plot of a load at one point: its intervals over time, where other workloads have an axis to grow along.

use super::data::NO_SAMPLES;
use super::table::short;
use super::view::{Analysed, View};
use analysis::Table;
use findings::grouping::distinct;
use model::{Cell, Run, WorkloadInfo};
use serde_json::{Value, json};

pub(super) const AXIS: &str = "seconds";

/// Whether the plot goes over time: of loads at one and the same point, which have no axis.
pub(super) fn is_drawn(info: &WorkloadInfo, views: &[View]) -> bool {
    let mut tables = views.iter().flat_map(|view| &view.tables).map(|(_, table)| *table);
    let Some(first) = tables.next() else { return false };
    info.is_load() && first.points.len() == 1 && tables.all(|table| table.points == first.points)
}

/// What has a series: the metrics of the views, with the servers where there are several.
pub(super) fn labels(views: &[&View]) -> Vec<String> {
    let tables = views.iter().flat_map(|view| &view.tables);
    distinct(tables.filter_map(|(_, table)| label(table, is_of_several(views))))
}

/// Whether the loads are of several servers.
fn is_of_several(views: &[&View]) -> bool {
    let tables = views.iter().flat_map(|view| &view.tables);
    let mut servers = tables.filter_map(|(_, table)| Some(&table.rows.first()?.label));
    let first = servers.next();
    servers.any(|server| Some(server) != first)
}

fn label(table: &Table, has_server: bool) -> Option<String> {
    let name = &table.metric.name;
    let server = &table.rows.first()?.label;
    Some(if has_server { format!("{server} {name}") } else { name.clone() })
}

/// The series of a view. The first view of a unit has all metrics in it: the quantiles of latencies stand together.
pub(super) fn series(runs: &[Analysed], views: &[&View], view: &View) -> Vec<Value> {
    let shown = view.tables[0].1;
    let is_of_unit = |view: &&&View| view.tables[0].1.metric.unit == shown.metric.unit;
    let is_first = views.iter().find(is_of_unit).is_some_and(|first| {
        let first = first.tables[0].1;
        first.metric.name == shown.metric.name
    });
    let is_alike = |table: &Table| {
        let is_of_view = table.metric.name == shown.metric.name
            || is_first && table.metric.unit == shown.metric.unit;
        is_of_view && table.parameters == shown.parameters
    };
    let tables = views.iter().flat_map(|view| &view.tables).filter(|(_, table)| is_alike(table));
    let has_server = is_of_several(views);
    tables
        .filter_map(|(index, table)| of_metric(&runs[*index].0, *index, table, has_server))
        .collect()
}

fn of_metric(run: &Run, index: usize, table: &Table, has_server: bool) -> Option<Value> {
    let mut cells: Vec<&Cell> = table.cells(run, &table.rows.first()?.subject).collect();
    cells.sort_by_key(|cell| cell.key.round);
    let (mut end_ns, mut is_after_gap) = (0, false);
    let mut points = Vec::new();
    for cell in cells {
        end_ns += cell.elapsed_ns;
        let metric = cell.metrics.iter().find(|metric| metric.name == table.metric.name);
        match metric.and_then(|metric| metric.samples.first()) {
            Some(&figure) => points.push(point(end_ns, figure, std::mem::take(&mut is_after_gap))),
            // As of latencies in an interval without a reply.
            None => is_after_gap = true,
        }
    }
    let label = label(table, has_server)?;
    Some(json!({ "run": index, "label": label, "points": points, "samples": NO_SAMPLES }))
}

/// An interval by its end: one figure, and whether the line begins again there.
fn point(end_ns: u64, figure: f64, is_after_gap: bool) -> Value {
    let (at, figure) = (json!(end_ns as f64 / 1e9), short(figure));
    if is_after_gap { json!([at, figure, 1]) } else { json!([at, figure]) }
}

#[cfg(test)]
mod tests {
    use super::super::view;
    use super::*;
    use model::MetricRole;

    /// A load of a server at these numbers of connections: three intervals of half a second at each.
    fn analysed(server: &str, connections: &[u64]) -> Analysed {
        let load = fixtures::workload("load").axis("connections", "connections").load();
        let load = load.time("latency").time("p99").time("max").role(MetricRole::WholeMax);
        let load = load.rate("replies", "replies", "replies/s").subjects([server]);
        let cell = |(point, round): (u64, u32)| {
            let figure = f64::from(round + 1);
            let cell = fixtures::cell("load", server, point, round).elapsed_ns(500_000_000);
            let cell = cell.samples("latency", vec![figure]).samples("replies", vec![figure]);
            if round == 1 { cell } else { cell.samples("p99", vec![10.0 * figure]) }
        };
        let cells =
            connections.iter().flat_map(|&point| (0..3).rev().map(move |round| (point, round)));
        let run = fixtures::run(load).cells(cells.map(cell)).complete();
        let conclusions = ::findings::conclude(&run);
        (run, conclusions)
    }

    /// The plotted views, each with its series: label, and points by the end of their intervals.
    fn drawn(runs: &[Analysed]) -> Vec<Vec<(String, Vec<Value>)>> {
        let views = view::views(runs, &runs[0].0.plan.workloads[0]);
        let plotted: Vec<&View> = views.iter().filter(|view| !view.is_of_whole()).collect();
        let series_of = |view: &&View| {
            let all = series(runs, &plotted, view).into_iter();
            let points = |series: &Value| series["points"].as_array().unwrap().clone();
            all.map(|series| (series["label"].as_str().unwrap().to_owned(), points(&series)))
                .collect()
        };
        plotted.iter().map(series_of).collect()
    }

    #[test]
    fn the_first_plot_of_a_unit_has_all_quantiles_of_intervals_by_the_end_of_each() {
        let runs = [analysed("shop", &[10])];
        let latency =
            ("latency".to_owned(), vec![json!([0.5, 1]), json!([1.0, 2]), json!([1.5, 3])]);
        let p99 = ("p99".to_owned(), vec![json!([0.5, 10]), json!([1.5, 30, 1])]);
        let views = drawn(&runs);
        assert_eq!(views[0], [latency, p99.clone()]);
        assert_eq!(views[1], [p99], "with a gap");
        assert_eq!(views.len(), 3, "the maximum is of no interval");
    }

    #[test]
    fn loads_of_several_servers_have_their_names() {
        let runs = [analysed("shop", &[10]), analysed("bank", &[10])];
        let labels: Vec<String> = drawn(&runs)[2].iter().map(|(label, _)| label.clone()).collect();
        assert_eq!(labels, ["shop replies", "bank replies"]);
    }

    #[test]
    fn loads_at_several_numbers_have_an_axis() {
        let is_over_time = |runs: &[Analysed]| {
            let info = &runs[0].0.plan.workloads[0];
            is_drawn(info, &view::views(runs, info))
        };
        assert!(is_over_time(&[analysed("shop", &[10]), analysed("shop", &[10])]));
        assert!(!is_over_time(&[analysed("shop", &[10, 20])]));
        assert!(!is_over_time(&[analysed("shop", &[10]), analysed("shop", &[20])]));
    }
}
