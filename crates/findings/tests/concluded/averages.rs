//! Means with deviations of a build, and distributions of single operations.

use crate::common::{Analysis, analyse};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use findings::Kind;
use fixtures::{cell, late, workload};
use hdrhistogram::Histogram;
use hdrhistogram::serialization::{Serializer, V2DeflateSerializer};
use model::{Cell, Metric, Run, WorkloadInfo};

fn metric(name: &str, sample: f64) -> Metric {
    fixtures::metric(name, vec![sample])
}

fn run(workload: WorkloadInfo, cells: Vec<Cell>) -> Run {
    let name = workload.name.clone();
    fixtures::run(workload).rounds(5).unavailable(&name, "away", "no make").cells(cells).complete()
}

/// Five builds at half load, and one load that never ended.
fn build() -> Analysis {
    let workload = workload("build")
        .axis("CPUs", "cpus")
        .averages()
        .compared_pair("half", "optimal")
        .time("elapsed")
        .rate("percent cpu", "percent cpu", "%")
        .metric("sleeps", "sleeps", "sleeps")
        .subjects(["half", "optimal", "maximal", "away"])
        .build();
    let mut cells = Vec::new();
    // Ended out of order, as those of a resumed run may have.
    for round in [1, 0, 2, 3, 4] {
        let second = 1e9 * f64::from(round + 1);
        let half = cell("build", "half", 2, round)
            .samples("elapsed", vec![second])
            .samples("percent cpu", vec![150.0])
            .samples("sleeps", vec![0.0])
            .fact("jobs", "3")
            .fact("pid", u64::from(round));
        cells.push(half.build());
        let reason = late(1_800_000, &format!("{round} of 4 in cc1"));
        cells.push(cell("build", "optimal", 2, round).failed_because(reason, "").build());
    }
    cells.push(cell("build", "maximal", 2, 0).samples("elapsed", vec![7e9]).build());
    analyse(&run(workload, cells))
}

#[test]
fn a_build_has_means_and_deviations() {
    let analysis = build();
    let [averages] = analysis.averages.as_slice() else { panic!("{:?}", analysis.averages) };
    assert_eq!((averages.workload.as_str(), averages.point), ("build", 2));
    let names: Vec<&str> = averages.columns.iter().map(|column| column.subject.as_str()).collect();
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
    assert_eq!((half.runs, half.failed, half.facts.get("jobs")), (5, 0, Some(&"3".into())));
    assert_eq!(half.facts.len(), 1, "what differs from run to run is left out");
    assert_eq!((optimal.runs, optimal.failed), (0, 5));
    assert_eq!(optimal.reason, Some(late(1_800_000, "1 of 4 in cc1")));
    assert_eq!(away.unavailable.as_deref(), Some("no make"));
}

#[test]
fn a_build_has_no_growth_no_ranking_and_no_comparison() {
    let analysis = build();
    for table in &analysis.tables {
        assert!(table.comparisons.is_empty() && table.rankings.is_empty());
        assert!(table.leads.iter().all(Vec::is_empty));
        assert!(table.rows.iter().all(|row| row.growth.is_none() && row.rate.is_none()));
    }
    let findings: Vec<(Kind, &str)> =
        analysis.findings.iter().map(|finding| (finding.kind, finding.sentence.as_str())).collect();
    let expected = "optimal did not finish within 30 min. 1 of 4 in cc1.";
    assert_eq!(findings, [(Kind::Unfinished, expected)]);
    assert!(analysis.caveats.iter().all(|caveat| !caveat.what.contains("failed")));
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
    let workload = workload("lock")
        .axis("threads", "threads")
        .multiple("", "", "")
        .rate("acquisitions", "acquisitions", "acquisitions/s")
        .time("waiting")
        .subjects(["byte"])
        .build();
    let cell_of = |round: u32| {
        let from = u64::from(round) * 1000;
        let kept = encoded((from + 1..=from + 1000).map(|us| us * 1000));
        let histogram = if damaged && round == 4 { kept[..40].to_owned() } else { kept };
        let waiting = Metric { histogram, ..metric("waiting", 1000.0) };
        cell("lock", "byte", 2, round).samples("acquisitions", vec![1e6]).metric(waiting).build()
    };
    analyse(&run(workload, (0..5).map(cell_of).collect()))
}

#[test]
fn histograms_of_rounds_are_merged() {
    let analysis = waits(false);
    let table = analysis.tables.iter().find(|table| table.metric.name == "waiting").unwrap();
    let [distribution] = table.distributions.as_slice() else {
        panic!("{:?}", table.distributions)
    };
    assert_eq!(
        (
            distribution.subject.as_str(),
            distribution.point,
            distribution.rounds,
            distribution.count
        ),
        ("byte", 2, 5, 5000)
    );
    let assert_close =
        |figure: f64, us: f64| assert!((figure / (1000.0 * us) - 1.0).abs() < 2e-3, "{figure}");
    assert_close(distribution.min, 1.0);
    assert_close(distribution.p50, 2500.0);
    assert_close(distribution.p90, 4500.0);
    assert_close(distribution.p99, 4950.0);
    assert_close(distribution.p99_9, 4995.0);
    assert_close(distribution.max, 5000.0);
    let curve = &distribution.curve;
    assert!(curve.is_sorted_by(|a, b| a.0 < b.0 && a.1 <= b.1), "{curve:?}");
    assert_eq!(curve[0].0.to_bits(), 0.0_f64.to_bits());
    assert!(curve.last().unwrap().0 >= 1.0 && curve.len() < 100, "{curve:?}");
    assert!(analysis.tables[0].distributions.is_empty());
}

#[test]
fn an_unreadable_histogram_is_left_out_with_a_caveat() {
    let analysis = waits(true);
    let table = analysis.tables.iter().find(|table| table.metric.name == "waiting").unwrap();
    assert_eq!((table.distributions[0].rounds, table.distributions[0].count), (4, 4000));
    let caveat = analysis.caveats.iter().find(|caveat| caveat.what.contains("histogram")).unwrap();
    assert_eq!(caveat.what, "1 histogram can't be read and is in no distribution");
}
