//! What isn't comparable is refused with the reason, and differences are listed.

use super::drawn::{Design, QUIET, USUAL, cell, pair, terms, workload};
use analysis::compare::{
    Comparison, Direction, LeftOut, NoRatioReason, Refusal, RefusalReason, Side, Terms, Verdict,
    compare,
};
use fastrand::Rng;
use fixtures::{fail, late};
use model::{CellKey, Fact, Run, RunState};

fn two() -> [Run; 2] {
    pair(&Design { noise: QUIET, ..USUAL }, &|_| 1.0, &mut Rng::with_seed(5))
}

fn compared(base: &Run, new: &Run) -> Result<Comparison, Refusal> {
    compare(base, new, &terms(0.05))
}

fn reasons(base: &Run, new: &Run) -> Vec<RefusalReason> {
    compared(base, new).expect_err("refused").reasons
}

fn fact(run: &mut Run, key: &str, value: impl Into<Fact>) {
    run.host_before.facts.insert(key.into(), value.into());
}

#[test]
fn other_workloads_are_refused() {
    let poll = || "poll".to_owned();
    let left_out = |left_out| vec![RefusalReason::LeftOut(left_out)];
    let [base, mut new] = two();
    new.plan.workloads[0].version = 2;
    let version = LeftOut::Version { workload: poll(), base: 1, new: 2 };
    assert_eq!(reasons(&base, &new), left_out(version));
    let [base, mut new] = two();
    new.plan.workloads[0].axis_parameter = "active".into();
    let axis = base.plan.workloads[0].axis.clone();
    let axis = LeftOut::Axis { workload: poll(), base: axis.clone(), new: axis };
    assert_eq!(reasons(&base, &new), left_out(axis));
    let [base, mut new] = two();
    new.plan.workloads[0].metrics[0].unit = "s".into();
    let [no_figure, RefusalReason::LeftOut(LeftOut::Unit { base: old, new: newer, .. })] =
        &reasons(&base, &new)[..]
    else {
        panic!("{:?}", reasons(&base, &new))
    };
    assert_eq!((old.as_str(), newer.as_str()), ("ns", "s"));
    assert_eq!(*no_figure, RefusalReason::NoCommonFigure);
    let [base, mut new] = two();
    new.plan.workloads[0].name = "fork".into();
    let none = RefusalReason::NoCommonWorkload { base: vec![poll()], new: vec!["fork".into()] };
    assert_eq!(reasons(&base, &new), [none]);
}

#[test]
fn predictions_are_no_measurements() {
    let [base, mut new] = two();
    fact(&mut new, "simulated", "yes");
    assert_eq!(reasons(&base, &new), [RefusalReason::OnePredicted { side: Side::New }]);
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
    let [key, old, newer] = ["cpu.model", "A", "B"].map(str::to_owned);
    let hardware = RefusalReason::Hardware { key, base: old, new: newer };
    assert_eq!(reasons(&base, &new), [hardware]);
    let across = compare(&base, &new, &Terms { across: true, ..terms(0.05) }).unwrap();
    assert_eq!(across.differences[0].what, "cpu.model");
}

#[test]
fn differences_are_sorted_by_weight() {
    let [mut base, mut new] = two();
    for (key, value) in [
        ("load.1m", 0.1.into()),
        ("cpu.count", 2.0.into()),
        ("busiest.percent", 5.0.into()),
        ("limit.descriptors", 1024.0.into()),
        ("kernel.release", Fact::from("6.1")),
        ("vulnerability.meltdown", "Not affected".into()),
    ] {
        fact(&mut base, key, value);
        fact(&mut new, key, if key == "cpu.count" { 2.0 } else { 9.0 });
    }
    new.summary.labels.insert("commit".into(), "9cf01cb".into());
    new.plan.measure_ms = 30;
    let all = compared(&base, &new).unwrap().differences;
    let keys: Vec<&str> = all.iter().map(|difference| difference.what.as_str()).collect();
    let expected = [
        "kernel.release",
        "vulnerability.meltdown",
        "limit.descriptors",
        "label.commit",
        "load",
        "time per figure",
    ];
    assert_eq!(keys, expected);
    assert_eq!((all[4].base.as_deref(), all[4].new.as_deref()), (Some("quiet"), Some("busy")));
    let [base, new] = two();
    assert_eq!(compared(&base, &new).unwrap().differences, []);
}

#[test]
fn what_only_one_run_has_is_left_out() {
    let [base, mut new] = two();
    new.cells.retain(|cell| cell.key.subject != "s1" && cell.key.point == 100);
    new.plan.cells.retain(|key| key.subject != "s1" && key.point == 100);
    new.cells.push(cell("s0", 3000, 0, vec![1.0]));
    let comparison = compared(&base, &new).unwrap();
    let workload = || "poll".to_owned();
    let points = |side, point| LeftOut::Points {
        side,
        workload: workload(),
        metric: None,
        labels: Vec::new(),
        axis: "watched descriptors".into(),
        points: vec![point],
        other_end: None,
    };
    let labels = vec!["s1".to_owned()];
    let subjects =
        LeftOut::Subjects { side: Side::Base, workload: workload(), metric: None, labels };
    let expected = [subjects, points(Side::Base, 1_000), points(Side::New, 3_000)];
    assert_eq!(comparison.left_out, expected);
    let table = &comparison.tables[0];
    assert_eq!((table.points.as_slice(), table.rows.len()), (&[100][..], 2));
    assert_eq!(comparison.judged, 4);
    new.cells.retain(|cell| cell.key.point == 3000);
    new.plan.cells.clear();
    assert!(reasons(&base, &new).contains(&RefusalReason::NoCommonFigure));
}

/// Others have the point in both runs: the table has it, and one series lacks it.
#[test]
fn a_point_that_one_series_lacks_is_left_out_by_its_name() {
    let [base, mut new] = two();
    let is_gone = |key: &CellKey| key.subject == "s1" && key.point == 1_000;
    new.cells.retain(|cell| !is_gone(&cell.key));
    let comparison = compared(&base, &new).unwrap();
    let expected = LeftOut::Points {
        side: Side::Base,
        workload: "poll".into(),
        metric: None,
        labels: vec!["s1".into()],
        axis: "watched descriptors".into(),
        points: vec![1_000],
        other_end: None,
    };
    assert_eq!(comparison.left_out, std::slice::from_ref(&expected));
    assert!(expected.is_unjudged(false));
    // What fails there is a change, and no gap.
    let [base, mut new] = two();
    fail_cells(&mut new, &is_gone);
    let comparison = compared(&base, &new).unwrap();
    assert_eq!((comparison.left_out.len(), comparison.changes.len()), (0, 1));
}

/// A trajectory that ends at a limit of the machine ends a little further on, or earlier, each time.
#[test]
fn the_ends_of_two_trajectories_are_one_stretch_where_they_are_near() {
    let ending_at = |far: u64| {
        let [mut run, _] = two();
        run.plan.workloads[0].trajectory = true;
        for key in run.cells.iter_mut().map(|cell| &mut cell.key).chain(&mut run.plan.cells) {
            key.point = if key.point == 1_000 { far } else { key.point };
        }
        run
    };
    let base = ending_at(1_000);
    let unjudged = |far| {
        let comparison = compared(&base, &ending_at(far)).unwrap();
        let left_out: Vec<LeftOut> = comparison.left_out;
        assert!(!left_out.is_empty());
        left_out.iter().filter(|left_out| left_out.is_unjudged(false)).count()
    };
    assert_eq!((unjudged(998), unjudged(1_003), unjudged(800)), (0, 0, 1));
}

/// A parameter that another knee added, or another value of it, is not the same measurement.
#[test]
fn parameters_that_differ_are_named() {
    let [base, mut new] = two();
    let set = |run: &mut Run, value: u64| {
        let keys = run.cells.iter_mut().map(|cell| &mut cell.key).chain(&mut run.plan.cells);
        for key in keys {
            key.parameters.insert("added".into(), value.into());
        }
    };
    set(&mut new, 0);
    let differing = |base: &Run, new: &Run| {
        let reasons = reasons(base, new);
        reasons.iter().filter(|reason| matches!(reason, RefusalReason::LeftOut(_))).count()
    };
    assert_eq!(differing(&base, &new), 2, "each has a table that the other lacks");
    // Where a table is in both, the parameter stands among what differs.
    let mut both = new.clone();
    let mut more = new.cells.clone();
    for cell in &mut more {
        cell.key.parameters.insert("added".into(), 7.into());
    }
    both.plan.cells.extend(more.iter().map(|cell| cell.key.clone()));
    both.cells.extend(more);
    let comparison = compared(&new, &both).unwrap();
    let named = comparison.differences.iter().find(|difference| difference.what.contains("added"));
    let named = named.expect("the parameter is named");
    let values = (named.what.as_str(), named.base.as_deref(), named.new.as_deref());
    assert_eq!(values, ("parameter.poll.added", Some("0"), Some("0, 7")));
}

/// Zero has no logarithm: the point has no ratio, the others have.
#[test]
fn figures_that_are_zero_have_no_ratio() {
    let [mut base, new] = two();
    for cell in base.cells.iter_mut().filter(|cell| cell.key.point == 100) {
        cell.metrics[0].samples.fill(0.0);
    }
    for cell in base.cells.iter_mut().filter(|cell| cell.key.subject == "s2") {
        cell.metrics[0].samples.fill(0.0);
    }
    let comparison = compared(&base, &new).unwrap();
    assert_eq!(comparison.tables[0].rows.len(), 2);
    for row in &comparison.tables[0].rows {
        assert!(row.cells[0].is_none() && row.cells[1].is_some(), "{row:?}");
        assert!((row.overall.ratio.value - 1.0).abs() < 0.05, "{row:?}");
    }
    // And nothing vanishes silently.
    let no_ratio = |labels: &[&str], points: &[u64]| LeftOut::NoRatio {
        workload: "poll".into(),
        metric: None,
        labels: labels.iter().map(|label| (*label).to_owned()).collect(),
        axis: "watched descriptors".into(),
        points: points.to_vec(),
        reason: NoRatioReason::NotPositive,
    };
    let expected = [no_ratio(&["s0", "s1"], &[100]), no_ratio(&["s2"], &[100, 1_000])];
    assert_eq!(comparison.left_out, expected);
}

fn fail_cells(run: &mut Run, fails: &dyn Fn(&CellKey) -> bool) {
    for cell in run.cells.iter_mut().filter(|cell| fails(&cell.key)) {
        fail(cell, late(10_000, ""));
    }
}

/// There is no ratio, but there is a change.
#[test]
fn a_run_whose_cells_have_all_failed_now_is_no_refusal() {
    let [base, mut new] = two();
    fail_cells(&mut new, &|_| true);
    let comparison = compared(&base, &new).unwrap();
    assert_eq!((comparison.tables.len(), comparison.judged, comparison.changes.len()), (0, 0, 3));
    let worse = Some(Direction::Worse);
    assert!(comparison.changes.iter().all(|change| change.direction == worse && change.headline));
    // Nor is it *only in base* what new has, and failed.
    assert_eq!(comparison.left_out, []);
    let mut base = base;
    fail_cells(&mut base, &|_| true);
    assert!(reasons(&base, &new).contains(&RefusalReason::NoCommonFigure));
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
    let comparison = compared(&base, &new).unwrap();
    let LeftOut::NoRatio { reason, .. } = &comparison.left_out[0] else {
        panic!("{:?}", comparison.left_out)
    };
    assert_eq!(*reason, NoRatioReason::NoCommonRound);
}

#[test]
fn runs_that_did_not_end_are_listed_even_where_neither_did() {
    let [mut base, mut new] = two();
    for run in [&mut base, &mut new] {
        run.summary.state = RunState::Interrupted;
        run.cells.truncate(30);
    }
    let comparison = compared(&base, &new).unwrap();
    let unfinished = |(side, run): (Side, &Run)| LeftOut::Unfinished {
        side,
        run: run.summary.id.clone(),
        state: RunState::Interrupted,
        cells: 30,
        planned: 42,
    };
    let expected = [(Side::Base, &base), (Side::New, &new)].map(unfinished);
    assert_eq!(comparison.left_out, expected);
}

/// The figures of a model have no error, even with one round.
#[test]
fn predictions_are_compared_as_they_are() {
    let one_round = Design { rounds: 1, ..USUAL };
    let [mut base, mut new] = pair(&one_round, &|_| 1.3, &mut Rng::with_seed(2));
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
        let comparison = compared(&base, &new).unwrap();
        comparison.tables[0].rows.iter().map(|row| row.overall.verdict).collect::<Vec<_>>()
    };
    assert_eq!(short(23.5, 30, 5), [Verdict::Faster; 3]);
    assert_eq!(short(36.0, 30, 5), [Verdict::Undecided; 3]);
    // In batches the clock is no part of a figure.
    assert_eq!(short(36.0, 30_000, 5), [Verdict::Faster; 3]);
}

/// One round says little, but not nothing: ten times is no chance, twice may be.
#[test]
fn one_round_is_enough_for_a_difference_that_is_obvious() {
    let one_round = Design { rounds: 1, ..USUAL };
    for (factor, verdict) in [(10.0, Verdict::Slower), (1.3, Verdict::Undecided)] {
        let [base, new] = pair(&one_round, &|_| factor, &mut Rng::with_seed(2));
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
    let comparison = compared(&base, &new).unwrap();
    assert_eq!(comparison.tables[0].rows.len(), workload(3, true).subjects.len());
    let state =
        comparison.differences.iter().find(|difference| difference.what == "state").unwrap();
    assert_eq!(state.new.as_deref(), Some("interrupted"));
    for row in &comparison.tables[0].rows {
        assert!(!matches!(row.overall.verdict, Verdict::Faster | Verdict::Slower), "{row:?}");
    }
}

/// Equal hardware is no machine.
#[test]
fn two_machines_of_equal_hardware_are_compared_with_a_warning() {
    let [mut base, mut new] = two();
    let name = |run: &mut Run, name: &str, id: &str| {
        run.host_before.facts.insert(model::HOST_NAME.into(), name.into());
        run.host_before.facts.insert(model::HOST_ID.into(), id.into());
    };
    name(&mut base, "alpha", "1");
    name(&mut new, "alpha", "1");
    assert_eq!(compared(&base, &new).unwrap().left_out, []);
    name(&mut new, "beta", "2");
    let comparison = compared(&base, &new).unwrap();
    let [first, second] = ["alpha", "beta"].map(|name| Some(name.to_owned()));
    assert_eq!(comparison.left_out, [LeftOut::TwoMachines { base: first, new: second }]);
    // A record of an older knee does not say which machine it was.
    base.host_before.facts.remove(model::HOST_ID);
    assert_eq!(compared(&base, &new).unwrap().left_out, []);
}
