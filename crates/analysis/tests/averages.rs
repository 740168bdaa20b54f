//! Means with deviations of a build, and distributions of single operations.

mod common;

use analysis::{Analysis, FindingKind, analyse};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use common::complete_run;
use hdrhistogram::Histogram;
use hdrhistogram::serialization::{Serializer, V2DeflateSerializer};
use record::{
    Cell, CellKey, Metric, MetricInfo, Outcome, Parameters, Plan, Ratio, Run, SubjectInfo,
    Unavailable, Usage, WorkloadInfo,
};
use std::collections::BTreeMap;

fn metric_info(name: &str, unit: &str, lower_is_better: bool) -> MetricInfo {
    MetricInfo { name: name.into(), about: name.into(), unit: unit.into(), lower_is_better }
}

fn subject(name: &str) -> SubjectInfo {
    SubjectInfo { name: name.into(), label: name.into(), ..SubjectInfo::default() }
}

fn key(workload: &str, subject: &str, point: u64, round: u32) -> CellKey {
    let (workload, subject) = (workload.into(), subject.into());
    CellKey { workload, subject, parameters: Parameters::new(), point, round }
}

fn cell(key: CellKey, metrics: Vec<Metric>) -> Cell {
    Cell {
        key,
        sequence: 0,
        outcome: Outcome::Measured,
        elapsed_ns: 1,
        short: None,
        usage: Usage::default(),
        metrics,
        facts: BTreeMap::new(),
    }
}

fn void(key: CellKey, reason: &str) -> Cell {
    let outcome = Outcome::Void { reason: reason.into(), detail: String::new() };
    Cell { outcome, ..cell(key, Vec::new()) }
}

fn metric(name: &str, sample: f64) -> Metric {
    Metric { name: name.into(), samples: vec![sample], operations: 1, ..Metric::default() }
}

fn run(workload: WorkloadInfo, cells: Vec<Cell>) -> Run {
    let unavailable = Unavailable {
        workload: workload.name.clone(),
        subject: "away".into(),
        reason: "no make".into(),
    };
    let plan = Plan {
        rounds: 5,
        cells: cells.iter().map(|cell| cell.key.clone()).collect(),
        workloads: vec![workload],
        unavailable: vec![unavailable],
        ..Plan::default()
    };
    complete_run(plan, cells)
}

/// Five builds at half load, and one load that never ended.
fn build() -> Analysis {
    let workload = WorkloadInfo {
        name: "build".into(),
        axis: "CPUs".into(),
        axis_parameter: "cpus".into(),
        averages: true,
        rivals: vec![("half".into(), "optimal".into())],
        metrics: vec![
            metric_info("elapsed", "ns", true),
            metric_info("percent cpu", "%", false),
            metric_info("sleeps", "sleeps", true),
        ],
        subjects: ["half", "optimal", "maximal", "away"].map(subject).into(),
        ..WorkloadInfo::default()
    };
    let mut cells = Vec::new();
    // Ended out of order, as those of a resumed run may have.
    for round in [1, 0, 2, 3, 4] {
        let second = 1e9 * f64::from(round + 1);
        let metrics =
            vec![metric("elapsed", second), metric("percent cpu", 150.0), metric("sleeps", 0.0)];
        let mut half = cell(key("build", "half", 2, round), metrics);
        half.facts.insert("jobs".into(), "3".into());
        half.facts.insert("pid".into(), round.to_string());
        cells.push(half);
        let reason = format!("did not finish within 30 min: {round} of 4 in cc1");
        cells.push(void(key("build", "optimal", 2, round), &reason));
    }
    cells.push(cell(key("build", "maximal", 2, 0), vec![metric("elapsed", 7e9)]));
    analyse(&run(workload, cells))
}

#[test]
fn a_build_is_told_in_means_and_deviations() {
    let analysis = build();
    let [averages] = analysis.averages.as_slice() else { panic!("{:?}", analysis.averages) };
    assert_eq!((averages.workload.as_str(), averages.point), ("build", 2));
    let names: Vec<&str> = averages.columns.iter().map(|of| of.subject.as_str()).collect();
    assert_eq!(names, ["half", "optimal", "maximal", "away"]);
    let elapsed = &averages.rows[0];
    let half = elapsed.figures[0].as_ref().unwrap();
    // Of 1 to 5 the mean is 3 and the variance 10/4.
    assert_eq!(half.mean.to_bits(), 3e9_f64.to_bits());
    assert!((half.deviation.unwrap() - 1e9 * 2.5_f64.sqrt()).abs() < 1.0);
    assert_eq!(half.samples, [1e9, 2e9, 3e9, 4e9, 5e9]);
    let sure = averages.rows[1].figures[0].as_ref().unwrap();
    assert_eq!((sure.mean.to_bits(), sure.deviation), (150.0_f64.to_bits(), Some(0.0)));
    assert_eq!(elapsed.figures[1], None);
    assert_eq!(elapsed.figures[2].as_ref().unwrap().deviation, None);
    let [half, optimal, _, away] = averages.columns.as_slice() else { panic!() };
    assert_eq!(
        (half.runs, half.void, half.facts.get("jobs").map(String::as_str)),
        (5, 0, Some("3"))
    );
    assert_eq!(half.facts.len(), 1, "what differs from run to run is left out");
    assert_eq!((optimal.runs, optimal.void), (0, 5));
    assert_eq!(optimal.because.as_deref(), Some("did not finish within 30 min: 1 of 4 in cc1"));
    assert_eq!(away.unavailable.as_deref(), Some("no make"));
}

#[test]
fn a_build_has_no_growth_no_order_and_no_contest() {
    let analysis = build();
    for table in &analysis.tables {
        assert!(table.contests.is_empty() && table.rankings.is_empty());
        assert!(table.leads.iter().all(Option::is_none));
        assert!(table.rows.iter().all(|row| row.growth.is_none() && row.rate.is_none()));
    }
    let told: Vec<(FindingKind, &str)> =
        analysis.findings.iter().map(|told| (told.kind, told.sentence.as_str())).collect();
    let expected = "optimal did not finish within 30 min: 1 of 4 in cc1.";
    assert_eq!(told, [(FindingKind::Unfinished, expected)]);
    assert!(analysis.caveats.iter().all(|caveat| !caveat.what.contains("void")));
}

fn encoded(values: impl Iterator<Item = u64>) -> String {
    let mut histogram = Histogram::<u64>::new(3).unwrap();
    values.for_each(|value| histogram.record(value).unwrap());
    let mut bytes = Vec::new();
    V2DeflateSerializer::new().serialize(&histogram, &mut bytes).unwrap();
    STANDARD.encode(bytes)
}

/// Five rounds of a thousand waits each, from 1 to 5,000 µs all together.
fn waits(damaged: bool) -> Analysis {
    let workload = WorkloadInfo {
        name: "lock".into(),
        axis: "threads".into(),
        axis_parameter: "threads".into(),
        ratio: Some(Ratio { multiple: true, ..Ratio::default() }),
        metrics: vec![
            metric_info("acquisitions", "acquisitions/s", false),
            metric_info("waiting", "ns", true),
        ],
        subjects: vec![subject("byte")],
        ..WorkloadInfo::default()
    };
    let cell = |round: u32| {
        let from = u64::from(round) * 1000;
        let kept = encoded((from + 1..=from + 1000).map(|us| us * 1000));
        let histogram = if damaged && round == 4 { kept[..40].to_owned() } else { kept };
        let waiting = Metric { histogram, ..metric("waiting", 1000.0) };
        cell(key("lock", "byte", 2, round), vec![metric("acquisitions", 1e6), waiting])
    };
    analyse(&run(workload, (0..5).map(cell).collect()))
}

#[test]
fn histograms_of_rounds_are_merged() {
    let analysis = waits(false);
    let table = analysis.tables.iter().find(|table| table.metric.name == "waiting").unwrap();
    let [found] = table.distributions.as_slice() else { panic!("{:?}", table.distributions) };
    assert_eq!(
        (found.subject.as_str(), found.point, found.rounds, found.count),
        ("byte", 2, 5, 5000)
    );
    let near =
        |figure: f64, us: f64| assert!((figure / (1000.0 * us) - 1.0).abs() < 2e-3, "{figure}");
    near(found.min, 1.0);
    near(found.p50, 2500.0);
    near(found.p90, 4500.0);
    near(found.p99, 4950.0);
    near(found.p99_9, 4995.0);
    near(found.max, 5000.0);
    let curve = &found.curve;
    assert!(curve.is_sorted_by(|a, b| a.0 < b.0 && a.1 <= b.1), "{curve:?}");
    assert_eq!(curve[0].0.to_bits(), 0.0_f64.to_bits());
    assert!(curve.last().unwrap().0 >= 1.0 && curve.len() < 100, "{curve:?}");
    assert!(analysis.tables[0].distributions.is_empty());
}

#[test]
fn a_histogram_that_can_not_be_read_is_left_out_and_told() {
    let analysis = waits(true);
    let table = analysis.tables.iter().find(|table| table.metric.name == "waiting").unwrap();
    assert_eq!((table.distributions[0].rounds, table.distributions[0].count), (4, 4000));
    let told = analysis.caveats.iter().find(|caveat| caveat.what.contains("histogram")).unwrap();
    assert_eq!(told.what, "1 histogram can't be read and is in no distribution");
}
