//! Rates of known speedup: those that scale are named so, those that gain nothing too, and what threads share is blamed only
//! where it costs something.

use analysis::SpeedupVerdict::{Collapses, Falls, Holds, Rises, Scales, Undecided};
use analysis::rates::speedup::falls_behind;
use analysis::stats::random::{generator, normal};
use analysis::{Row, Speedup, SpeedupVerdict, Table, analyse};
use fixtures::{cell, run, workload};

const RUNS: u64 = 100;
const ROUNDS: u32 = 9;

/// Tables of a call that does so many times more by two of two threads, and by two of two processes; rounds scatter by `noise`.
fn tables(gains: [f64; 2], noise: f64, seed: u64) -> Vec<Table> {
    let about = workload("syscalls")
        .axis("threads", "threads")
        .multiple("threads", "cpus", "per CPU")
        .rate("operations", "operations", "operations/s")
        .separate()
        .sharing("call", "a table")
        .parallel("by", "threads", "processes");
    let mut random = generator(seed, &["speedup"]);
    let mut cells = Vec::new();
    for (by, gain) in ["threads", "processes"].into_iter().zip(gains) {
        for (point, round) in [1, 2, 8].into_iter().flat_map(|p| (0..ROUNDS).map(move |r| (p, r))) {
            let gain = if point == 1 { 1.0 } else { gain };
            let rate = 1e6 * gain * (noise * normal(&mut random)).exp();
            let cell = cell("syscalls", "call", point, round).parameter("by", by);
            cells.push(cell.parameter("cpus", "2").samples("operations", vec![rate]));
        }
    }
    analyse(&run(about).rounds(ROUNDS).seed(seed).cells(cells).complete()).tables
}

fn speedup(tables: &[Table], by: &str) -> Speedup {
    let is_by = |table: &&Table| table.parameters["by"].text() == by;
    let row: &Row = &tables.iter().find(is_by).unwrap().rows[0];
    row.speedup.clone().expect("two threads on two CPUs")
}

/// How often each verdict is given.
fn verdicts(gain: f64, noise: f64) -> Vec<SpeedupVerdict> {
    let all = (0..RUNS).map(|seed| speedup(&tables([gain, gain], noise, seed), "threads").verdict);
    all.collect()
}

#[test]
fn a_speedup_is_from_one_thread_to_one_for_each_cpu() {
    let tables = tables([1.9, 1.0], 0.01, 1);
    let of_threads = speedup(&tables, "threads");
    assert_eq!((of_threads.from, of_threads.to, of_threads.verdict), (1, 2, Scales));
    assert!((of_threads.linear - 2.0).abs() < 1e-9 && (of_threads.factor.value - 1.9).abs() < 0.05);
    assert_eq!(speedup(&tables, "processes").verdict, Holds);
    // The trend is that beyond.
    let trend = tables[0].rows[0].rate.clone().unwrap();
    assert_eq!((trend.from, trend.to), (2, 8));
}

#[test]
fn verdicts_are_those_of_the_truth_or_open() {
    let cases = [(2.0, Scales), (1.4, Rises), (1.0, Holds), (0.7, Falls), (0.3, Collapses)];
    for (gain, truth) in cases {
        for (noise, right_min) in [(0.02, 98), (0.1, 60)] {
            let all = verdicts(gain, noise);
            let right = all.iter().filter(|verdict| **verdict == truth).count();
            let wrong = all.iter().filter(|v| **v != truth && **v != Undecided).count();
            // What rises is also said of what scales where that is not sure.
            let is_weaker = |v: &&SpeedupVerdict| truth == Scales && **v == Rises;
            let weaker = all.iter().filter(is_weaker).count();
            assert!(right >= right_min, "{truth:?} of ×{gain}, {noise}: {right} of {RUNS}");
            assert!(wrong - weaker <= 5, "{truth:?} of ×{gain}, {noise}: {wrong} wrong of {RUNS}");
        }
    }
}

#[test]
fn what_threads_share_is_blamed_where_it_costs_and_hardly_ever_else() {
    let blamed = |gains: [f64; 2], noise: f64| {
        let falls = |seed: u64| {
            let tables = tables(gains, noise, seed);
            falls_behind(&speedup(&tables, "threads"), &speedup(&tables, "processes"))
        };
        (0..RUNS).filter(|&seed| falls(seed)).count()
    };
    assert!(blamed([1.0, 2.0], 0.05) >= 95);
    for (gain, noise) in [(2.0, 0.02), (1.0, 0.1)] {
        let count = blamed([gain, gain], noise);
        assert!(count <= 3, "{count} of {RUNS} at {noise}");
    }
    assert_eq!(blamed([2.0, 1.0], 0.05), 0, "processes that fall behind share nothing");
}
