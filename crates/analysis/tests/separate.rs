//! Subjects that are no alternatives, some of them with a headline metric of their own.

use fixtures::{cell, run, workload};
use record::Run;

fn machine() -> Run {
    let about = workload("baseline")
        .axis("copies", "copies")
        .metric("latency", "operation", "ns")
        .rate("bandwidth", "bytes", "B/s")
        .separate()
        .grouped("pipe", "Local", "")
        .grouped("unix", "Local", "")
        .grouped("copy", "Bandwidth", "bandwidth")
        .compared_pair("pipe", "unix");
    let cells = (0..3).flat_map(|round| {
        [("pipe", "latency", 5e3), ("unix", "latency", 7e3), ("copy", "bandwidth", 9e9)].map(
            |(subject, metric, figure)| {
                let samples = (0..20).map(|n| figure * (1.0 + f64::from(n) / 1e3)).collect();
                cell("baseline", subject, 1, round).samples(metric, samples)
            },
        )
    });
    run(about).rounds(3).cells(cells.collect::<Vec<_>>()).complete()
}

#[test]
fn each_subject_is_in_the_table_of_its_headline_metric_alone() {
    let tables = analysis::analyse(&machine()).tables;
    let shown: Vec<(&str, bool, Vec<&str>)> = tables
        .iter()
        .map(|table| {
            let subjects = table.rows.iter().map(|row| row.subject.as_str()).collect();
            (table.metric.name.as_str(), table.headline, subjects)
        })
        .collect();
    assert_eq!(
        shown,
        [("latency", true, vec!["pipe", "unix"]), ("bandwidth", true, vec!["copy"]),]
    );
    assert!(tables.iter().flat_map(|table| &table.rows).all(|row| row.missing.is_empty()));
}

#[test]
fn none_is_the_best_and_only_the_pairs_are_compared() {
    let mut run = machine();
    let tables = analysis::analyse(&run).tables;
    assert!(tables.iter().all(|table| table.leads.iter().all(Option::is_none)));
    assert_eq!(tables[0].comparisons.len(), 1);
    run.plan.workloads[0].compared_pairs.clear();
    assert!(analysis::analyse(&run).tables[0].comparisons.is_empty());
    run.plan.workloads[0].separate_subjects = false;
    let lead = analysis::analyse(&run).tables[0].leads[0].clone().expect("alternatives");
    assert_eq!(lead.best, "pipe");
}

#[test]
fn headlines_of_all_metrics_are_compared_between_runs() {
    let (base, new) = (machine(), machine());
    let terms =
        analysis::compare::Terms { margin: 0.05, fail_above: None, across: false, all: false };
    let comparison = analysis::compare::compare(&base, &new, &terms).expect("comparable");
    let metrics: Vec<&str> =
        comparison.tables.iter().map(|table| table.metric.name.as_str()).collect();
    assert_eq!(metrics, ["latency", "bandwidth"]);
}
