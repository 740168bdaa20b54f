//! The plot of a load at one point: its intervals over time, where other workloads have an axis to grow along.

use super::data::NO_SAMPLES;
use super::table::short;
use super::view::{Analysed, View};
use analysis::Table;
use record::{Metric, MetricRole, Run, WorkloadInfo};
use serde_json::{Value, json};

pub(super) const AXIS: &str = "seconds";

/// Whether the plot goes over time: of a load without an axis.
pub(super) fn is_drawn(info: &WorkloadInfo, views: &[View]) -> bool {
    let mut tables = views.iter().flat_map(|view| &view.tables);
    info.is_load() && tables.all(|(_, table)| table.points.len() == 1)
}

/// What has a series: the metrics of the views, those of intervals first, since colours follow the order.
pub(super) fn labels(views: &[View]) -> Vec<String> {
    let mut labels: Vec<String> = Vec::new();
    let metrics = views.iter().map(|view| &view.tables[0].1.metric);
    let (whole, of_intervals): (Vec<_>, Vec<_>) =
        metrics.partition(|metric| metric.role().is_whole());
    for metric in of_intervals.into_iter().chain(whole) {
        let name = &metric.name;
        if !labels.contains(name) {
            labels.push(name.clone());
        }
    }
    labels
}

/// The series of a view. The headline's has all metrics of intervals in its unit: the quantiles of latencies stand together.
pub(super) fn series(runs: &[Analysed], views: &[View], view: &View) -> Vec<Value> {
    let shown = view.tables[0].1;
    let is_alike = |table: &Table| {
        let is_alongside = shown.headline
            && table.metric.unit == shown.metric.unit
            && table.metric.role() == MetricRole::Plain;
        table.parameters == shown.parameters && (is_alongside || table.metric == shown.metric)
    };
    let tables = views.iter().flat_map(|view| &view.tables).filter(|(_, table)| is_alike(table));
    tables.map(|(index, table)| of_metric(&runs[*index].0, *index, table)).collect()
}

fn of_metric(run: &Run, index: usize, table: &Table) -> Value {
    let is_of_table = |cell: &&record::Cell| {
        let key = &cell.key;
        key.workload == table.workload && key.parameters == table.parameters
    };
    let mut cells: Vec<&record::Cell> = run.cells.iter().filter(is_of_table).collect();
    cells.sort_by_key(|cell| cell.key.round);
    let mut end_ns = 0;
    let mut points = Vec::new();
    for cell in cells {
        end_ns += cell.elapsed_ns;
        let metric = cell.metrics.iter().find(|metric| metric.name == table.metric.name);
        points.extend(metric.and_then(|metric| point(end_ns, metric)));
    }
    json!({ "run": index, "label": table.metric.name, "points": points, "samples": NO_SAMPLES })
}

/// An interval by its end: one figure, which has no spread.
fn point(end_ns: u64, metric: &Metric) -> Option<Value> {
    let &figure = metric.samples.first()?;
    let at = vec![json!(end_ns as f64 / 1e9), json!(1), json!(1)];
    let figures = std::iter::repeat_n(short(figure), 10);
    Some(Value::Array(at.into_iter().chain(figures).collect()))
}

#[cfg(test)]
mod tests {
    use super::super::view;
    use super::*;

    /// A load at these numbers of connections: three intervals of half a second at each.
    fn analysed(connections: &[u64]) -> Analysed {
        let load = fixtures::workload("load").axis("connections", "connections").load();
        let load = load.time("latency").time("p99").time("max").role(MetricRole::WholeMax);
        let load = load.rate("replies", "replies", "replies/s").subjects(["shop"]);
        let cell = |(point, round): (u64, u32)| {
            let figure = f64::from(round + 1);
            let cell = fixtures::cell("load", "shop", point, round).elapsed_ns(500_000_000);
            let cell = cell.samples("latency", vec![figure]).samples("replies", vec![figure]);
            if round == 1 { cell } else { cell.samples("p99", vec![10.0 * figure]) }
        };
        let cells =
            connections.iter().flat_map(|&point| (0..3).rev().map(move |round| (point, round)));
        let run = fixtures::run(load).cells(cells.map(cell)).complete();
        let conclusions = ::findings::conclude(&run);
        (run, conclusions)
    }

    #[test]
    fn the_headline_has_all_quantiles_of_intervals_by_the_end_of_each() {
        let runs = [analysed(&[10])];
        let info = &runs[0].0.plan.workloads[0];
        let views = view::views(&runs, info);
        assert!(is_drawn(info, &views));
        assert_eq!(labels(&views), ["latency", "p99", "replies"]);
        let drawn = |view: &View| -> Vec<(String, Vec<[f64; 2]>)> {
            let point = |point: &Value| [0, 3].map(|at| point[at].as_f64().unwrap());
            let points =
                |series: &Value| series["points"].as_array().unwrap().iter().map(point).collect();
            let all = series(&runs, &views, view);
            all.iter()
                .map(|series| (series["label"].as_str().unwrap().to_owned(), points(series)))
                .collect()
        };
        let latency = ("latency".to_owned(), vec![[0.5, 1.0], [1.0, 2.0], [1.5, 3.0]]);
        let p99 = ("p99".to_owned(), vec![[0.5, 10.0], [1.5, 30.0]]);
        assert_eq!(drawn(&views[0]), [latency, p99.clone()]);
        assert_eq!(drawn(&views[1]), [p99]);
    }

    #[test]
    fn a_load_at_several_numbers_has_an_axis() {
        let runs = [analysed(&[10, 20])];
        let info = &runs[0].0.plan.workloads[0];
        assert!(!is_drawn(info, &view::views(&runs, info)));
    }
}
