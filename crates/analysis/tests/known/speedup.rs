//! Rates of known speedup: those that scale are named so, those that gain nothing too, and what threads share is blamed only
//! where it costs something.

use analysis::RateTrend::{Collapses, Falls, Holds, Rises, Scales, Undecided};
use analysis::rates::speedup::falls_behind;
use analysis::stats::random::{generator, normal};
use analysis::{RateTrend, Row, Speedup, Table, TrendReason, analyse};
use fixtures::{cell, host, run, workload};
use model::{CPUS_ONLINE, CpuUse, Host, Run};

const RUNS: u64 = 40;
/// Runs of a whole table of calls: the documented rate is that of 100.
const FAMILIES: u64 = 30;
/// So many without a mistake exclude as much as all with two.
const STRAIGHT: u64 = 14;
const ROUNDS: u32 = 9;

/// What is measured: so many calls, each for so many rounds that scatter by `noise`.
#[derive(Clone, Copy)]
struct Setting {
    calls: usize,
    rounds: u32,
    noise: f64,
    /// The share of rounds that are slowed by 30 %.
    slowed: f64,
    cpus: u64,
}

const ONE_CALL: Setting = Setting { calls: 1, rounds: ROUNDS, noise: 0.01, slowed: 0.0, cpus: 2 };

/// Tables of calls that do so many times more by so many threads, and by so many processes.
fn tables_at(setting: Setting, points: &[(u64, [f64; 2])], seed: u64) -> Vec<Table> {
    analyse(&run_at(setting, points, seed)).tables
}

fn run_at(setting: Setting, points: &[(u64, [f64; 2])], seed: u64) -> Run {
    let Setting { calls, rounds, noise, slowed, cpus } = setting;
    let names: Vec<String> = (0..calls).map(|call| format!("call{call}")).collect();
    let about = workload("syscalls")
        .axis("threads", "threads")
        .multiple("threads", "cpus", "per CPU")
        .rate("operations", "operations", "operations/s")
        .separate()
        .parallel("by", "threads", "processes");
    let about = names.iter().fold(about, |about, name| about.sharing(name, "a table"));
    let mut random = generator(seed, &["speedup"]);
    let mut cells = Vec::new();
    for name in &names {
        for (index, by) in ["threads", "processes"].into_iter().enumerate() {
            for (point, round) in points.iter().flat_map(|p| (0..rounds).map(move |r| (p, r))) {
                let slow = if random.f64() < slowed { 0.7 } else { 1.0 };
                let rate = 1e6 * slow * point.1[index] * (noise * normal(&mut random)).exp();
                let cell = cell("syscalls", name, point.0, round).parameter("by", by);
                let cell = cell.parameter("cpus", &cpus.to_string());
                cells.push(cell.samples("operations", vec![rate]));
            }
        }
    }
    run(about).rounds(rounds).seed(seed).cells(cells).complete()
}

/// Tables of a call that does so many times more by two of two threads, and by two of two processes; rounds scatter by `noise`.
fn tables(gains: [f64; 2], noise: f64, seed: u64) -> Vec<Table> {
    tables_at(Setting { noise, ..ONE_CALL }, &[(1, [1.0; 2]), (2, gains), (8, gains)], seed)
}

fn speedup(tables: &[Table], by: &str) -> Speedup {
    let is_by = |table: &&Table| table.parameters["by"].text() == by;
    let row: &Row = &tables.iter().find(is_by).unwrap().rows[0];
    row.speedup.clone().expect("two threads on two CPUs")
}

/// How often each verdict is given.
fn verdicts(gain: f64, noise: f64) -> Vec<RateTrend> {
    let all = (0..RUNS).map(|seed| speedup(&tables([gain, gain], noise, seed), "threads").verdict);
    all.collect()
}

#[test]
fn workers_whose_cpus_others_had_are_undecided() {
    // Two CPUs for a second; other processes used `taken` of them.
    let verdict = |taken: f64, gain: f64| {
        let mut run = run_at(ONE_CALL, &[(1, [1.0; 2]), (2, [gain; 2])], 1);
        let used = CpuUse {
            total_ticks: 200,
            idle_ticks: 0,
            own_ns: Some((2e9 * (1.0 - taken)) as u64),
            ..CpuUse::default()
        };
        run.host_before = host("", [(CPUS_ONLINE, 2.0)]);
        run.host_after = Some(Host { cpu_use: Some(used), ..run.host_before.clone() });
        let of_threads = speedup(&analyse(&run).tables, "threads");
        (of_threads.verdict, of_threads.reason)
    };
    assert_eq!(verdict(0.1, 1.0), (Holds, None));
    let (open, reason) = verdict(0.5, 1.0);
    assert_eq!(open, Undecided);
    assert!(matches!(reason, Some(TrendReason::CpusTaken { left }) if (left - 1.0).abs() < 1e-9));
    // What others had can't make it do more.
    assert_eq!(verdict(0.5, 1.9).0, Scales);
}

#[test]
fn workers_that_surely_do_less_than_one_fall_by_however_little() {
    let at = |gain: f64, noise: f64| speedup(&tables([gain; 2], noise, 3), "threads");
    let little = at(0.78, 0.04);
    // Its interval has the margin of a rate that holds in it, and nothing that is as much as the first alone.
    assert!(little.factor.low < 1.0 / 1.3 && little.factor.high < 1.0, "{little:?}");
    assert_eq!((little.verdict, little.reason), (Falls, None));
    assert_eq!(at(0.97, 0.01).verdict, Holds);
}

#[test]
fn a_speedup_is_from_one_thread_to_one_for_each_cpu() {
    let tables = tables([1.9, 1.0], 0.01, 1);
    let of_threads = speedup(&tables, "threads");
    assert_eq!((of_threads.from, of_threads.to, of_threads.verdict), (1, 2, Scales));
    assert!((of_threads.linear - 2.0).abs() < 1e-9 && (of_threads.factor.value - 1.9).abs() < 0.05);
    assert_eq!(speedup(&tables, "processes").verdict, Holds);
    // Each table counts what works in it.
    let axes = tables.iter().map(|table| table.axis.as_str());
    assert_eq!(axes.collect::<Vec<_>>(), ["processes", "threads"]);
    // The trend is that beyond.
    let trend = tables[0].rows[0].rate.clone().unwrap();
    assert_eq!((trend.from, trend.to), (2, 8));
}

#[test]
fn verdicts_are_those_of_the_truth_or_open() {
    let cases = [(2.0, Scales), (1.4, Rises), (1.0, Holds), (0.7, Falls), (0.3, Collapses)];
    for (gain, truth) in cases {
        for (noise, right_min) in [(0.02, 38), (0.1, 24)] {
            let all = verdicts(gain, noise);
            let right = all.iter().filter(|verdict| **verdict == truth).count();
            let wrong = all.iter().filter(|v| **v != truth && **v != Undecided).count();
            // A speedup that scales may be called rising where that is not sure.
            let is_weaker = |v: &&RateTrend| truth == Scales && **v == Rises;
            let weaker = all.iter().filter(is_weaker).count();
            assert!(right >= right_min, "{truth:?} of ×{gain}, {noise}: {right} of {RUNS}");
            assert!(wrong - weaker <= 2, "{truth:?} of ×{gain}, {noise}: {wrong} wrong of {RUNS}");
        }
    }
}

#[test]
fn a_speedup_behind_a_peak_is_over_the_first_point_all_the_same() {
    let points = [(1, [1.0; 2]), (2, [1.6, 2.0]), (4, [0.9, 3.9]), (8, [0.4, 7.6])];
    let tables = tables_at(Setting { cpus: 8, ..ONE_CALL }, &points, 1);
    let [of_threads, of_processes] = ["threads", "processes"].map(|by| speedup(&tables, by));
    assert_eq!((of_threads.from, of_threads.to, of_threads.verdict), (1, 8, Collapses));
    assert!((of_threads.factor.value - 0.4).abs() < 0.02, "{:?}", of_threads.factor);
    assert_eq!(of_threads.peak.map(|peak| peak.at), Some(2));
    let after_peak = of_threads.after_peak.unwrap().value;
    assert!((after_peak - 0.4 / 1.6).abs() < 0.02, "{after_peak}");
    assert_eq!((of_processes.from, of_processes.verdict), (1, Scales));
    assert!(of_processes.after_peak.is_none());
    assert!(falls_behind(&of_threads, &of_processes, 28));
}

/// How many of the rows fall behind.
fn behind(tables: &[Table]) -> usize {
    let [threads, processes] = ["threads", "processes"].map(|by| {
        let is_by = |table: &&Table| table.parameters["by"].text() == by;
        &tables.iter().find(is_by).unwrap().rows
    });
    let falls = |(a, b): (&Row, &Row)| {
        falls_behind(a.speedup.as_ref().unwrap(), b.speedup.as_ref().unwrap(), threads.len())
    };
    threads.iter().zip(processes).filter(|(a, b)| falls((a, b))).count()
}

#[test]
fn of_a_whole_table_whose_rows_do_the_same_by_both_hardly_ever_one_is_blamed() {
    const SAME: [(u64, [f64; 2]); 3] = [(1, [1.0; 2]), (2, [1.5; 2]), (8, [1.5; 2])];
    const BEHIND: [(u64, [f64; 2]); 3] = [(1, [1.0; 2]), (2, [1.0, 2.0]), (8, [1.0, 2.0])];
    for (rounds, designs) in
        [(5, &[(0.02, 0.0, 28), (0.1, 0.0, 20), (0.02, 0.2, 14)][..]), (9, &[(0.02, 0.0, 28)][..])]
    {
        for &(noise, slowed, blamed_min) in designs {
            let setting = Setting { calls: 28, rounds, noise, slowed, ..ONE_CALL };
            let mut wrong = 0;
            for seed in 0..FAMILIES {
                wrong += u64::from(behind(&tables_at(setting, &SAME, seed)) > 0);
                if (seed + 1, wrong) == (STRAIGHT, 0) {
                    break;
                }
            }
            let blamed = behind(&tables_at(setting, &BEHIND, 1));
            assert!(wrong <= 2, "{wrong} of {FAMILIES} with {rounds} rounds at {noise}");
            assert!(blamed >= blamed_min, "{blamed} of 28 with {rounds} rounds at {noise}");
        }
    }
    for rounds in [1, 2, 3, 4] {
        let setting = Setting { calls: 28, rounds, ..ONE_CALL };
        assert_eq!(behind(&tables_at(setting, &BEHIND, 1)), 0, "too few rounds: {rounds}");
    }
}

#[test]
fn what_threads_share_is_blamed_where_it_costs_and_hardly_ever_else() {
    let blamed = |gains: [f64; 2], noise: f64| {
        let falls = |seed: u64| {
            let tables = tables(gains, noise, seed);
            falls_behind(&speedup(&tables, "threads"), &speedup(&tables, "processes"), 1)
        };
        (0..RUNS).filter(|&seed| falls(seed)).count()
    };
    assert!(blamed([1.0, 2.0], 0.05) >= 38);
    for (gain, noise) in [(2.0, 0.02), (1.0, 0.1)] {
        let count = blamed([gain, gain], noise);
        assert!(count <= 5, "{count} of {RUNS} at {noise}");
    }
    assert_eq!(blamed([2.0, 1.0], 0.05), 0, "processes that fall behind share nothing");
}
