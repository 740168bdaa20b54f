//! The tails of two loads as a whole: a rare pause is seen, which no median of intervals shows, and equal loads are not
//! called different.

use analysis::compare::{Comparison, LeftOut, Terms, Verdict, compare};
use analysis::thresholds::MARGIN;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use fastrand::Rng;
use fixtures::{cell, metric, run, workload};
use hdrhistogram::Histogram;
use hdrhistogram::serialization::{Serializer, V2DeflateSerializer};
use model::{Metric, MetricInfo, MetricRole, Run};

const TERMS: Terms = Terms { margin: MARGIN, fail_above: None, across: false, all: true };

/// Requests of an interval.
const REQUESTS: u64 = 300;

fn normal(random: &mut Rng) -> f64 {
    (-2.0 * (1.0 - random.f64()).ln()).sqrt() * (std::f64::consts::TAU * random.f64()).cos()
}

/// The times of an interval's requests, around 100 µs; those of one that pauses wait up to a second.
fn interval(level: f64, pauses: bool, random: &mut Rng) -> Histogram<u64> {
    let mut histogram = Histogram::new_with_bounds(1, 3_600_000_000_000, 3).unwrap();
    for request in 0..REQUESTS {
        let waits_ns = if pauses { 1e9 * (1.0 - request as f64 / REQUESTS as f64) } else { 0.0 };
        let time_ns = waits_ns + 1e5 * (level + 0.3 * normal(random)).exp();
        histogram.record(time_ns as u64).unwrap();
    }
    histogram
}

/// A load of 60 intervals, whose levels differ by 10 % and follow each other; one in so many of them pauses.
fn load(pause_every: Option<usize>, random: &mut Rng) -> Run {
    load_of(60, pause_every, random)
}

fn load_of(intervals: usize, pause_every: Option<usize>, random: &mut Rng) -> Run {
    let info =
        |name: &str, role| MetricInfo { role, ..fixtures::metric_info(name, name, "ns", true) };
    let mut info_of_load = model::WorkloadInfo::from(
        workload("load").axis("connections", "connections").subjects(["shop"]),
    );
    info_of_load.role = model::WorkloadRole::Load;
    info_of_load.metrics = vec![
        info("latency", MetricRole::Plain),
        info("whole p99", MetricRole::WholeP99),
        info("max", MetricRole::Whole),
    ];
    let mut all = Histogram::<u64>::new_with_bounds(1, 3_600_000_000_000, 3).unwrap();
    let mut level = 0.1 * normal(random);
    let mut cells = Vec::new();
    for round in 0..intervals {
        level = 0.5 * level + 0.75_f64.sqrt() * 0.1 * normal(random);
        let pauses = pause_every.is_some_and(|every| round % every == every / 2);
        let histogram = interval(level, pauses, random);
        all.add(&histogram).unwrap();
        let mut bytes = Vec::new();
        V2DeflateSerializer::new().serialize(&histogram, &mut bytes).unwrap();
        let median = histogram.value_at_quantile(0.5) as f64;
        let latency =
            Metric { histogram: STANDARD.encode(bytes), ..metric("latency", vec![median]) };
        let mut metrics = vec![latency];
        if round + 1 == intervals {
            let whole = all.value_at_quantile(0.99) as f64;
            metrics.push(metric("whole p99", vec![whole]));
            metrics.push(metric("max", vec![all.max() as f64]));
        }
        let round = u32::try_from(round).unwrap();
        cells.push(cell("load", "shop", 10, round).metrics(metrics));
    }
    run(info_of_load).cells(cells).complete()
}

/// The verdicts on the median of the intervals, and on the tail of the load.
fn verdicts(base: &Run, new: &Run) -> [Verdict; 2] {
    let comparison = compare(base, new, &TERMS).unwrap();
    ["latency", "whole p99"].map(|name| {
        let mut tables = comparison.tables.iter();
        tables.find(|table| table.metric.name == name).unwrap().rows[0].overall.verdict
    })
}

#[test]
fn a_pause_of_a_second_in_ten_is_seen_in_the_tail_alone() {
    let mut random = Rng::with_seed(1);
    let (steady, pauses) = (load(None, &mut random), load(Some(10), &mut random));
    assert_eq!(verdicts(&steady, &pauses)[1], Verdict::Slower);
    assert_eq!(verdicts(&pauses, &steady)[1], Verdict::Faster);
    assert_ne!(verdicts(&steady, &pauses)[0], Verdict::Slower);
}

#[test]
fn what_happened_once_decides_nothing() {
    let mut random = Rng::with_seed(2);
    let (steady, once) = (load(None, &mut random), load(Some(60), &mut random));
    assert_eq!(verdicts(&steady, &once)[1], Verdict::Undecided);
}

/// The metrics of which a comparison has figures and no verdict.
fn unjudged(comparison: &Comparison) -> Vec<&str> {
    let left_out = comparison.left_out.iter().map(|left_out| match left_out {
        LeftOut::WholeLoad { metric, .. } => metric.as_str(),
        left_out => panic!("{left_out:?}"),
    });
    left_out.collect()
}

#[test]
fn a_figure_without_an_error_is_not_judged() {
    let mut random = Rng::with_seed(4);
    let (steady, pauses) = (load(None, &mut random), load(Some(10), &mut random));
    let comparison = compare(&steady, &pauses, &TERMS).unwrap();
    let judged: Vec<&str> = comparison.tables.iter().map(|table| &*table.metric.name).collect();
    assert_eq!((judged, comparison.judged), (vec!["latency", "whole p99"], 4));
    assert_eq!(unjudged(&comparison), ["max"]);
    let LeftOut::WholeLoad { figures, .. } = &comparison.left_out[0] else { unreachable!() };
    let max = |run: &Run| run.cells[59].metrics[2].samples[0];
    assert_eq!((figures[0].base, figures[0].new), (max(&steady), max(&pauses)));

    // Of five intervals no tail has an error.
    let short = load_of(5, Some(2), &mut random);
    let comparison = compare(&steady, &short, &TERMS).unwrap();
    assert_eq!(unjudged(&comparison), ["whole p99", "max"]);
}

#[test]
fn tails_of_equal_loads_are_not_called_different() {
    let mut random = Rng::with_seed(3);
    for pause_every in [None, Some(10)] {
        let loads: Vec<Run> = (0..9).map(|_| load(pause_every, &mut random)).collect();
        let pairs = (0..9).flat_map(|base| (base + 1..9).map(move |new| (base, new)));
        let is_wrong = |verdict| matches!(verdict, Verdict::Slower | Verdict::Faster);
        let wrong = pairs.filter(|&(a, b)| is_wrong(verdicts(&loads[a], &loads[b])[1])).count();
        println!("pauses {pause_every:?}: {wrong} of 36 pairs");
        assert!(wrong <= 2, "{wrong} of 36 pairs: {pause_every:?}");
    }
}
