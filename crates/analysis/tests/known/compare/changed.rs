//! What else changes: orders of growth, crossovers, modes, outcomes; trajectories along their places.

use super::drawn::{cell, terms, workload};
use analysis::compare::{
    Change, ChangeDetail, ChangeKind, Comparison, Direction, Share, Unserved, Verdict, compare,
};
use analysis::compare::{LeftOut, NoRatioReason, RefusalReason};
use analysis::stats::random::{generator, normal};
use analysis::{Class, ComparisonOutcome, Division};
use fixtures::{fail, late, short};
use model::{LoadCounts, LoadOutcome, Run};

const POINTS: [u64; 7] = [10, 30, 100, 300, 1000, 3000, 10_000];

type Curve<'a> = &'a dyn Fn(f64) -> f64;

/// A quiet run of these curves over the points, seven rounds.
fn run(name: &str, curves: &[Curve<'_>]) -> Run {
    let mut random = generator(3, &[name]);
    let mut cells = Vec::new();
    for round in 0..7 {
        for (index, curve) in curves.iter().enumerate() {
            for point in POINTS {
                let level = curve(point as f64) * (0.01 * normal(&mut random)).exp();
                let samples = (0..20).map(|_| level * (0.03 * normal(&mut random)).exp()).collect();
                cells.push(cell(&format!("s{index}"), point, round, samples));
            }
        }
    }
    of_cells(cells, curves.len())
}

fn of_cells(cells: Vec<model::Cell>, subjects: usize) -> Run {
    fixtures::run(workload(subjects, true)).rounds(7).cells(cells).complete()
}

fn compared(base: &Run, new: &Run) -> Comparison {
    compare(base, new, &terms(0.05)).expect("comparable")
}

fn of_kind(comparison: &Comparison, kind: ChangeKind) -> Vec<&Change> {
    comparison.changes.iter().filter(|change| change.kind == kind).collect()
}

#[test]
fn another_growth_class_is_a_change() {
    let base = run("base", &[&|_| 2000.0, &|n| 50.0 * n]);
    let new = run("new", &[&|n| 200.0 + 50.0 * n, &|n| 50.0 * n]);
    let comparison = compared(&base, &new);
    let growth = of_kind(&comparison, ChangeKind::Growth);
    assert_eq!(growth.len(), 1, "{growth:?}");
    let change = growth[0];
    assert_eq!((change.direction, change.subjects[0].as_str()), (Some(Direction::Worse), "s0"));
    let ChangeDetail::Growth { base: before, new: after } = &change.detail else {
        panic!("{change:?}")
    };
    assert_eq!((before.class, after.class), (Class::Constant, Class::Linear));
    assert_eq!((after.from, after.to), (10, 10_000));
    let back = compared(&new, &base);
    assert_eq!(of_kind(&back, ChangeKind::Growth)[0].direction, Some(Direction::Better));
}

/// A run of which the load at the first point had so many failures of 2,500 requests.
fn with_failures(name: &str, failures: u64) -> Run {
    let mut run = run(name, &[&|_| 2000.0]);
    let replies = 2_500 - failures;
    let counts = LoadCounts { requests: 2_500, replies, failures, ..LoadCounts::default() };
    run.cells[0].load = Some(LoadOutcome { counts, ranks: Vec::new() });
    run
}

#[test]
fn requests_that_fail_are_a_change_where_the_times_are_the_same() {
    let [good, bad] = [0, 1_500].map(|failures| with_failures("load", failures));
    let worse = compared(&good, &bad);
    let [change] = of_kind(&worse, ChangeKind::Outcome)[..] else { panic!("{:?}", worse.changes) };
    let share = |count| Share { count, all: 2_500 };
    let (what, point) = (Unserved::Requests, POINTS[0]);
    let detail = ChangeDetail::Served { what, point, base: share(0), new: share(1_500) };
    assert_eq!((change.direction, &change.detail), (Some(Direction::Worse), &detail));
    assert!(change.headline);
    let better = compared(&bad, &good);
    assert_eq!(of_kind(&better, ChangeKind::Outcome)[0].direction, Some(Direction::Better));
    let alike = compared(&bad, &with_failures("load", 1_480));
    assert_eq!(of_kind(&alike, ChangeKind::Outcome), [] as [&Change; 0]);
}

#[test]
fn what_is_slower_names_the_point_that_changed_most() {
    let base = run("base", &[&|_| 2000.0, &|_| 1000.0]);
    let new = run("new", &[&|_| 2300.0, &|n| if n > 2000.0 { 1500.0 } else { 1000.0 }]);
    let comparison = compared(&base, &new);
    let series = comparison.changes.iter().filter_map(|change| match &change.detail {
        ChangeDetail::Series { ratio, most_at } => Some((ratio.ratio.value, most_at.is_some())),
        _ => None,
    });
    let series: Vec<(f64, bool)> = series.collect();
    assert!((series[0].0 - 1.15).abs() < 0.03 && (series[1].0 - 1.15).abs() < 0.05, "{series:?}");
    assert!(series[1].1, "{series:?}");
    assert_eq!(comparison.changes[0].direction, Some(Direction::Worse));
}

#[test]
fn a_crossover_that_moved_appeared_or_vanished_is_a_change() {
    let flat: Curve<'_> = &|_| 5000.0;
    let early = run("early", &[flat, &|n| 50.0 * n]);
    let late = run("late", &[flat, &|n| 5.0 * n]);
    let never = run("never", &[flat, &|n| 0.05 * n]);
    let moved = compared(&early, &late);
    let outcomes =
        |comparison: &Comparison| match &of_kind(comparison, ChangeKind::Crossover)[0].detail {
            ChangeDetail::Crossover { base, new } => [base.outcome.clone(), new.outcome.clone()],
            outcome => panic!("{outcome:?}"),
        };
    let both = outcomes(&moved);
    assert!(
        both.iter().all(|outcome| matches!(outcome, ComparisonOutcome::Crosses { .. })),
        "{both:?}"
    );
    let gone = compared(&early, &never);
    let [_, now] = outcomes(&gone);
    assert!(
        matches!(&now, ComparisonOutcome::Throughout { better, .. } if better == "s1"),
        "{now:?}"
    );
    let came = compared(&never, &early);
    assert_eq!(of_kind(&came, ChangeKind::Crossover).len(), 1);
    let again = run("again", &[flat, &|n| 50.0 * n]);
    assert_eq!(of_kind(&compared(&early, &again), ChangeKind::Crossover), [] as [&Change; 0]);
}

/// A trajectory of `calls` in five rounds, on two modes with `share` of its calls on the upper.
fn trajectory(name: &str, share: f64, factor: f64) -> Run {
    let mut random = generator(9, &[name]);
    let mut cells = Vec::new();
    for round in 0..5 {
        let draw = |random: &mut fastrand::Rng| {
            let mode = if random.f64() < share { 1.6 } else { 1.0 };
            2000.0 * factor * mode * (0.03 * normal(random)).exp()
        };
        let samples = (0..3000).map(|_| draw(&mut random)).collect();
        let mut cell = cell("s0", 3000, round, samples);
        cell.metrics[0].positions = (1..=3000).collect();
        cells.push(cell);
    }
    let mut run = of_cells(cells, 1);
    run.plan.workloads[0].trajectory = true;
    run
}

#[test]
fn a_trajectory_is_compared_at_its_points() {
    let (base, new) = (trajectory("base", 0.0, 1.0), trajectory("new", 0.0, 1.2));
    let comparison = compared(&base, &new);
    let row = &comparison.tables[0].rows[0];
    assert_eq!(row.overall.verdict, Verdict::Slower);
    assert!((row.overall.ratio.value - 1.2).abs() < 0.03, "{row:?}");
    assert_eq!(comparison.tables[0].points.last(), Some(&3000));
    // A trajectory of first calls alone has no ratio.
    let [short, usual] = [&base, &new].map(|run| {
        let mut run = run.clone();
        for cell in &mut run.cells {
            cell.key.point = 9;
            cell.metrics[0].samples.truncate(9);
            cell.metrics[0].positions.truncate(9);
        }
        run.plan.cells.iter_mut().for_each(|key| key.point = 9);
        run
    });
    let refusal = compare(&short, &usual, &terms(0.05)).expect_err("cold");
    let is_cold = |reason: &RefusalReason| match reason {
        RefusalReason::LeftOut(LeftOut::NoRatio { reason, .. }) => *reason == NoRatioReason::Cold,
        _ => false,
    };
    assert!(refusal.reasons.iter().any(is_cold), "{refusal:?}");
    let same = compared(&base, &trajectory("again", 0.0, 1.0));
    assert_eq!(same.tables[0].rows[0].overall.verdict, Verdict::Same);
    assert_eq!(same.changes, []);
}

#[test]
fn modes_that_appeared_or_vanished_are_a_change() {
    let (base, new) = (trajectory("one", 0.0, 1.0), trajectory("two", 0.3, 1.0));
    let came = compared(&base, &new);
    let detail = &of_kind(&came, ChangeKind::Modes)[0].detail;
    let ChangeDetail::ModesAppeared { modes } = detail else { panic!("{detail:?}") };
    assert_eq!((modes.modes.len(), modes.division), (2, Division::WithinRounds));
    let went = compared(&new, &base);
    let detail = &of_kind(&went, ChangeKind::Modes)[0].detail;
    assert!(matches!(detail, ChangeDetail::ModesVanished { .. }), "{detail:?}");
    assert_eq!(of_kind(&compared(&new, &trajectory("more", 0.3, 1.0)), ChangeKind::Modes).len(), 0);
}

#[test]
fn cells_that_failed_now_are_a_change() {
    let base = run("base", &[&|_| 2000.0, &|_| 1000.0]);
    let mut new = base.clone();
    let of_late = |cell: &&mut model::Cell| cell.key.subject == "s1" && cell.key.point > 2000;
    for cell in new.cells.iter_mut().filter(of_late) {
        fail(cell, late(10_000, ""));
    }
    let worse = compared(&base, &new);
    let change = of_kind(&worse, ChangeKind::Outcome)[0];
    let ChangeDetail::Failed { points, reason } = &change.detail else { panic!("{change:?}") };
    assert_eq!((points.as_slice(), reason), ([3_000, 10_000].as_slice(), &late(10_000, "")));
    assert_eq!(change.direction, Some(Direction::Worse));
    let better = compared(&new, &base);
    assert_eq!(of_kind(&better, ChangeKind::Outcome)[0].direction, Some(Direction::Better));
    // Only some rounds of a point are no change: what is left was measured.
    let mut some = base.clone();
    some.cells.retain(|cell| cell.key.round > 0);
    assert_eq!(of_kind(&compared(&base, &some), ChangeKind::Outcome).len(), 0);
}

#[test]
fn an_earlier_end_is_a_change() {
    let base = trajectory("base", 0.0, 1.0);
    let mut new = base.clone();
    for cell in &mut new.cells {
        cell.short = Some(short(1000, "socket: Too many open files (EMFILE)", ""));
        cell.metrics[0].samples.truncate(1000);
        cell.metrics[0].positions.truncate(1000);
    }
    let comparison = compared(&base, &new);
    let detail = &of_kind(&comparison, ChangeKind::Outcome)[0].detail;
    let ChangeDetail::CutShort { short } = detail else { panic!("{detail:?}") };
    assert_eq!((short.reached, short.planned), (1_000, 3_000));
}
