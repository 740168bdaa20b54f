//! What isn't comparable is refused with what mends it, and what differs is told.

use crate::drawn::{Design, QUIET, USUAL, cell, pair, terms, workload};
use analysis::compare::{Comparison, Direction, Refused, Terms, Verdict, compare};
use fastrand::Rng;
use fixtures::{fail, late};
use record::{CellKey, Run, RunState};

fn two() -> [Run; 2] {
    pair(&Design { noise: QUIET, ..USUAL }, &|_| 1.0, &mut Rng::with_seed(5))
}

fn compared(base: &Run, new: &Run) -> Result<Comparison, Refused> {
    compare(base, new, &terms(0.05))
}

fn why(base: &Run, new: &Run) -> String {
    compared(base, new).expect_err("refused").to_string()
}

fn fact(run: &mut Run, key: &str, value: &str) {
    run.host_before.facts.insert(key.into(), value.into());
}

#[test]
fn other_workloads_are_refused() {
    let [base, mut new] = two();
    new.plan.workloads[0].version = 2;
    let version = why(&base, &new);
    assert!(version.contains("version 1 and 2") && version.contains("measure"), "{version}");
    let [base, mut new] = two();
    new.plan.workloads[0].axis_parameter = "active".into();
    assert!(why(&base, &new).contains("--axis"), "{}", why(&base, &new));
    let [base, mut new] = two();
    new.plan.workloads[0].metrics[0].unit = "s".into();
    let unit = why(&base, &new);
    assert!(unit.contains("another unit: ns and s (measure base again with"), "{unit}");
    let [base, mut new] = two();
    new.plan.workloads[0].name = "fork".into();
    assert!(why(&base, &new).contains("no workload in common"), "{}", why(&base, &new));
}

#[test]
fn predictions_are_no_measurements() {
    let [base, mut new] = two();
    fact(&mut new, "simulated", "yes");
    assert!(why(&base, &new).contains("predicted"), "{}", why(&base, &new));
    let across = Terms { across: true, ..terms(0.05) };
    assert!(compare(&base, &new, &across).is_err(), "whatever the terms");
}

#[test]
fn another_machine_is_refused_unless_asked_for() {
    let [mut base, mut new] = two();
    fact(&mut base, "cpu.model", "A");
    // What only one of them knows is no evidence.
    assert!(compared(&base, &new).is_ok());
    fact(&mut new, "cpu.model", "B");
    let refused = why(&base, &new);
    assert!(refused.contains("cpu.model is A in base and B in new (--across"), "{refused}");
    let across = compare(&base, &new, &Terms { across: true, ..terms(0.05) }).unwrap();
    assert_eq!(across.differences[0].what, "cpu.model");
}

#[test]
fn differences_are_told_by_their_weight() {
    let [mut base, mut new] = two();
    for (key, value) in [
        ("load.1m", "0.1"),
        ("cpu.count", "2"),
        ("cpu.ticks.idle", "5"),
        ("limit.descriptors", "1024"),
        ("kernel.release", "6.1"),
        ("vulnerability.meltdown", "Not affected"),
    ] {
        fact(&mut base, key, value);
        fact(&mut new, key, if key == "cpu.count" { "2" } else { "9" });
    }
    new.summary.labels.insert("commit".into(), "9cf01cb".into());
    new.plan.measure_ms = 30;
    let all = compared(&base, &new).unwrap().differences;
    let told: Vec<&str> = all.iter().map(|difference| difference.what.as_str()).collect();
    let expected = [
        "kernel.release",
        "vulnerability.meltdown",
        "limit.descriptors",
        "label.commit",
        "load",
        "time per figure",
    ];
    assert_eq!(told, expected);
    assert_eq!((all[4].base.as_deref(), all[4].new.as_deref()), (Some("quiet"), Some("busy")));
    let [base, new] = two();
    assert_eq!(compared(&base, &new).unwrap().differences, []);
}

#[test]
fn what_is_in_one_only_is_left_out_and_told() {
    let [base, mut new] = two();
    new.cells.retain(|cell| cell.key.subject != "s1" && cell.key.point == 100);
    new.plan.cells.retain(|key| key.subject != "s1" && key.point == 100);
    new.cells.push(cell("s0", 3000, 0, vec![1.0]));
    let found = compared(&base, &new).unwrap();
    let told: Vec<&str> = found.left_out.iter().map(|warning| warning.what.as_str()).collect();
    let expected = [
        "poll: s1 only in base",
        "poll: 1,000 watched descriptors only in base",
        "poll: 3,000 watched descriptors only in new",
    ];
    assert_eq!(told, expected);
    assert_eq!((found.tables[0].points.as_slice(), found.tables[0].rows.len()), (&[100][..], 2));
    assert_eq!(found.judged, 4);
    new.cells.retain(|cell| cell.key.point == 3000);
    new.plan.cells.clear();
    assert!(why(&base, &new).contains("no figure in common"), "{}", why(&base, &new));
}

/// Zero has no logarithm: the point has no ratio, the others have.
#[test]
fn figures_that_are_zero_have_no_ratio() {
    let [mut base, new] = two();
    for cell in base.cells.iter_mut().filter(|cell| cell.key.point == 100) {
        cell.metrics[0].samples.fill(0.0);
    }
    let of_all = |cell: &&mut record::Cell| cell.key.subject == "s2";
    for cell in base.cells.iter_mut().filter(of_all) {
        cell.metrics[0].samples.fill(0.0);
    }
    let found = compared(&base, &new).unwrap();
    assert_eq!(found.tables[0].rows.len(), 2);
    for row in &found.tables[0].rows {
        assert!(row.cells[0].is_none() && row.cells[1].is_some(), "{row:?}");
        assert!((row.overall.ratio.value - 1.0).abs() < 0.05, "{row:?}");
    }
    // And nothing vanishes without a word.
    let why = "a figure that is not above zero has none";
    let expected = [
        format!("poll: no ratio of s2 at 100 and 1,000 watched descriptors: {why}"),
        format!("poll: no ratio of s0 and s1 at 100 watched descriptors: {why}"),
    ];
    assert_eq!(left_out(&found), expected);
}

fn left_out(found: &Comparison) -> Vec<&str> {
    found.left_out.iter().map(|warning| warning.what.as_str()).collect()
}

fn fail_cells(run: &mut Run, of: &dyn Fn(&CellKey) -> bool) {
    for cell in run.cells.iter_mut().filter(|cell| of(&cell.key)) {
        fail(cell, late(10_000, ""));
    }
}

/// There is no ratio, but there is a change.
#[test]
fn a_run_whose_cells_have_all_failed_now_is_no_refusal() {
    let [base, mut new] = two();
    fail_cells(&mut new, &|_| true);
    let found = compared(&base, &new).unwrap();
    assert_eq!((found.tables.len(), found.judged, found.changes.len()), (0, 0, 3));
    let worse = Some(Direction::Worse);
    assert!(found.changes.iter().all(|change| change.direction == worse && change.headline));
    // Nor is it *only in base* what new has, and failed.
    assert_eq!(left_out(&found), [] as [&str; 0]);
    let mut base = base;
    fail_cells(&mut base, &|_| true);
    assert!(why(&base, &new).contains("no figure in common"));
}

/// In turns a round says something only where both have it: here that is one, of three.
#[test]
fn rounds_in_turns_count_where_both_have_them() {
    let design = Design { rounds: 3, paired: true, ..USUAL };
    let [mut base, mut new] = pair(&design, &|_| 1.12, &mut Rng::with_seed(3));
    fail_cells(&mut base, &|key| key.round == 2 && key.subject == "s0");
    fail_cells(&mut new, &|key| key.round == 0 && key.subject == "s0");
    let row = compared(&base, &new).unwrap().tables[0].rows[0].clone();
    let ratios = row.cells.iter().flatten().map(|cell| &cell.ratio).chain([&row.overall]);
    for ratio in ratios {
        assert_eq!(ratio.verdict, Verdict::Undecided, "{ratio:?}");
        assert!(ratio.ratio.high > 1.2 * ratio.ratio.low, "{ratio:?}");
    }
    fail_cells(&mut new, &|key| key.round == 1 && key.subject == "s0");
    let found = compared(&base, &new).unwrap();
    let told = left_out(&found);
    assert!(told[0].contains("no round of which each has one"));
}

#[test]
fn runs_that_did_not_end_are_told_even_where_neither_did() {
    let [mut base, mut new] = two();
    for run in [&mut base, &mut new] {
        run.summary.state = RunState::Interrupted;
        run.cells.truncate(30);
    }
    let found = compared(&base, &new).unwrap();
    let told = left_out(&found);
    for (line, which) in told.iter().zip(["base", "new"]) {
        let wanted = " is interrupted, and compared as far as it came: 30 of 42 cells";
        assert_eq!(*line, [which, wanted].concat());
    }
    assert!(found.left_out[1].remedy.starts_with("knee run --resume="));
}

/// What a model computed is off by nothing, and says so of one round.
#[test]
fn predictions_are_compared_as_they_are() {
    let one = Design { rounds: 1, ..USUAL };
    let [mut base, mut new] = pair(&one, &|_| 1.3, &mut Rng::with_seed(2));
    for run in [&mut base, &mut new] {
        fact(run, "simulated", "yes");
    }
    let row = compared(&base, &new).unwrap().tables[0].rows[0].clone();
    assert_eq!(row.overall.verdict, Verdict::Slower, "{row:?}");
}

/// The cost of a reading of the clock is measured once a run and taken off each call.
#[test]
fn calibrations_of_the_clock_are_no_change_of_short_calls() {
    let short = |overhead_ns: f64, operations: u64, random: u64| {
        let [mut base, mut new] = pair(&USUAL, &|_| 1.0, &mut Rng::with_seed(random));
        for (run, level, overhead_ns) in [(&mut base, 212.0, 23.5), (&mut new, 200.0, overhead_ns)]
        {
            run.clock.overhead_ns = overhead_ns;
            for metric in run.cells.iter_mut().flat_map(|cell| &mut cell.metrics) {
                metric.samples.iter_mut().for_each(|sample| *sample *= level / 2000.0);
                metric.operations = operations;
            }
        }
        let found = compared(&base, &new).unwrap();
        found.tables[0].rows.iter().map(|row| row.overall.verdict).collect::<Vec<_>>()
    };
    assert_eq!(short(23.5, 30, 5), [Verdict::Faster; 3]);
    assert_eq!(short(36.0, 30, 5), [Verdict::Undecided; 3]);
    // In batches the clock is no part of a figure.
    assert_eq!(short(36.0, 30_000, 5), [Verdict::Faster; 3]);
}

/// One round says little, but not nothing: ten times is no chance, twice may be.
#[test]
fn one_round_is_enough_for_what_nobody_can_miss() {
    let one = Design { rounds: 1, ..USUAL };
    for (factor, verdict) in [(10.0, Verdict::Slower), (1.3, Verdict::Undecided)] {
        let [base, new] = pair(&one, &|_| factor, &mut Rng::with_seed(2));
        let overall = compared(&base, &new).unwrap().tables[0].rows[0].overall.clone();
        assert_eq!(overall.verdict, verdict, "{overall:?}");
    }
}

#[test]
fn a_run_that_was_cut_short_is_compared_as_far_as_it_came() {
    let [base, mut new] = two();
    new.cells.truncate(new.cells.len() / 2);
    new.summary.state = RunState::Interrupted;
    new.summary.ended = None;
    let found = compared(&base, &new).unwrap();
    assert_eq!(found.tables[0].rows.len(), workload(3, true).subjects.len());
    let state = found.differences.iter().find(|difference| difference.what == "state").unwrap();
    assert_eq!(state.new.as_deref(), Some("interrupted"));
    for row in &found.tables[0].rows {
        assert!(!matches!(row.overall.verdict, Verdict::Faster | Verdict::Slower), "{row:?}");
    }
}

/// Equal hardware is no machine.
#[test]
fn two_machines_of_equal_hardware_are_compared_with_a_warning() {
    let [mut base, mut new] = two();
    let name = |run: &mut Run, name: &str, id: &str| {
        run.host_before.facts.insert(record::HOST_NAME.into(), name.into());
        run.host_before.facts.insert(record::HOST_ID.into(), id.into());
    };
    name(&mut base, "alpha", "1");
    name(&mut new, "alpha", "1");
    assert_eq!(left_out(&compared(&base, &new).unwrap()), [] as [&str; 0]);
    name(&mut new, "beta", "2");
    let found = compared(&base, &new).unwrap();
    assert_eq!(left_out(&found), ["base and new are of two machines: alpha and beta"]);
    // A record of an older knee does not say which machine it was.
    base.host_before.facts.remove(record::HOST_ID);
    assert_eq!(left_out(&compared(&base, &new).unwrap()), [] as [&str; 0]);
}
