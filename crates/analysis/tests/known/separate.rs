//! Subjects that are no alternatives, some of them with a headline metric of their own.

use analysis::history::{Wanted, measured};
use fixtures::{cell, run, workload};
use model::Run;

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
fn a_history_has_each_subject_by_its_headline_metric() {
    let part = measured(&machine(), "baseline", &Wanted::default()).unwrap();
    let figures = part.figures.iter().map(|(path, _)| (&*path.metric, &*path.subject));
    let wanted = [("latency", "pipe"), ("latency", "unix"), ("bandwidth", "copy")];
    assert_eq!(figures.collect::<Vec<_>>(), wanted);
}

#[test]
fn none_is_the_best_and_only_the_pairs_are_compared() {
    let mut run = machine();
    let tables = analysis::analyse(&run).tables;
    assert!(tables.iter().all(|table| table.leads.iter().all(Vec::is_empty)));
    assert_eq!(tables[0].comparisons.len(), 1);
    run.plan.workloads[0].compared_pairs.clear();
    assert!(analysis::analyse(&run).tables[0].comparisons.is_empty());
    for subject in &mut run.plan.workloads[0].subjects {
        subject.operation.clear();
    }
    assert_eq!(analysis::analyse(&run).tables[0].leads[0][0].best, "pipe");
}

/// To copy a program is no way to start one: each is ranked among its own.
#[test]
fn only_subjects_of_one_operation_are_ranked() {
    let ways = [
        ("fork", "copy", 1e5),
        ("clone", "copy", 1.5e5),
        ("spawn", "start", 4e5),
        ("vfork", "start", 3e5),
    ];
    let about = ways.iter().fold(
        workload("fork").axis("processes", "processes").time("fork"),
        |about, (name, operation, _)| about.subject(name, name, "").subject_operation(operation),
    );
    let cells = (0..5).flat_map(|round| {
        ways.into_iter().flat_map(move |(subject, _, figure)| {
            [10, 100].map(|point| {
                let samples = (0..20).map(|n| figure * (1.0 + f64::from(n) / 1e3)).collect();
                cell("fork", subject, point, round).samples("fork", samples)
            })
        })
    });
    let run = run(about).rounds(5).cells(cells.collect::<Vec<_>>()).complete();
    let tables = analysis::analyse(&run).tables;
    let table = &tables[0];
    for leads in &table.leads {
        let best: Vec<&str> = leads.iter().map(|lead| lead.best.as_str()).collect();
        assert_eq!(best, ["fork", "vfork"]);
    }
    assert_eq!(table.lead(0, "spawn").map(|lead| lead.best.as_str()), Some("vfork"));
    let pairs: Vec<[&str; 2]> =
        table.comparisons.iter().map(|pair| [pair.first.as_str(), pair.second.as_str()]).collect();
    assert_eq!(pairs, [["fork", "clone"], ["spawn", "vfork"]]);
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
