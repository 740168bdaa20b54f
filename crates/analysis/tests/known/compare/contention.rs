//! Operations that changed only by those that share something: their factor, their control, and the kernel's locks.

use super::drawn::terms;
use analysis::compare::{
    Change, ChangeDetail, ChangeKind, Contention, Direction, Verdict, compare,
};
use analysis::stats::random::{generator, normal};
use fixtures::{cell, workload};
use model::{Run, SPINLOCKS};

const OPERATIONS: [&str; 3] = ["dup-close", "getppid", "futex"];
const ROUNDS: u32 = 9;

/// A run of operations whose rates are those of `rate`, by subject, `by` and point, under locks that wait like this.
fn run(locks: Option<&str>, rate: &mut dyn FnMut(&str, &str, u64) -> f64) -> Run {
    let about = workload("syscalls")
        .axis("threads", "threads")
        .rate("operations", "operations", "operations/s")
        .separate()
        .parallel("by", "threads", "processes");
    let about = OPERATIONS.iter().fold(about, |about, name| about.sharing(name, "a table"));
    let mut random = generator(5, &["contention", locks.unwrap_or_default()]);
    let mut cells = Vec::new();
    for name in OPERATIONS {
        for by in ["threads", "processes"] {
            for (point, round) in [1, 4].into_iter().flat_map(|p| (0..ROUNDS).map(move |r| (p, r)))
            {
                let rate = rate(name, by, point) * (0.02 * normal(&mut random)).exp();
                let cell = cell("syscalls", name, point, round).parameter("by", by);
                cells.push(cell.samples("operations", vec![rate]));
            }
        }
    }
    let mut run = fixtures::run(about).rounds(ROUNDS).cells(cells).complete();
    let locks = locks.map(|locks| (SPINLOCKS.to_owned(), locks.into()));
    run.host_before.facts.extend(locks);
    run
}

fn even(_: &str, _: &str, point: u64) -> f64 {
    1e6 * point as f64
}

fn contended(base: &Run, new: &Run) -> Vec<(Change, Contention)> {
    let comparison = compare(base, new, &terms(0.05)).expect("comparable");
    let mut all = Vec::new();
    for change in comparison.changes {
        if let ChangeDetail::Contention(contention) = &change.detail {
            all.push((change.clone(), contention.clone()));
        }
    }
    all
}

#[test]
fn only_what_is_shared_is_slower_than_its_control() {
    let base = run(Some("test-and-set"), &mut even);
    // Every call is slower by four of anything: that is no lock. One is slower by far by four threads.
    let collapsed = |name: &str, by: &str, point: u64| {
        let all = if point == 4 { 0.8 } else { 1.0 };
        let shared = if (name, by, point) == ("dup-close", "threads", 4) { 0.02 } else { 1.0 };
        all * shared * even(name, by, point)
    };
    let new = run(Some("queued"), &mut { collapsed });
    let contentions = contended(&base, &new);
    let [(change, contention)] = contentions.as_slice() else { panic!("{contentions:?}") };
    assert_eq!((change.kind, change.direction), (ChangeKind::Contention, Some(Direction::Worse)));
    assert_eq!((change.subjects[0].as_str(), contention.point), ("dup-close", 4));
    let Contention { slowdown, control, control_verdict, .. } = contention;
    assert!(slowdown.low < 62.5 && 62.5 < slowdown.high, "{slowdown:?}");
    assert!(control.low < 1.25 && 1.25 < control.high, "{control:?}");
    assert_eq!(*control_verdict, Verdict::Slower);
    assert_eq!(contention.shared, "a table");
    let waiting = contention.waiting.as_ref().unwrap();
    assert_eq!(
        waiting.base.as_deref().zip(waiting.new.as_deref()),
        Some(("test-and-set", "queued"))
    );
    // And the other way round it is faster.
    let [(change, contention)] = &contended(&new, &base)[..] else { panic!() };
    assert_eq!(change.direction, Some(Direction::Better));
    assert!(contention.slowdown.high < 0.03, "{contention:?}");
}

#[test]
fn what_slows_those_apart_as_well_is_no_lock() {
    let base = run(None, &mut even);
    let slower = |name: &str, by: &str, point: u64| {
        let factor = if name == "futex" { 0.2 } else { 1.0 };
        factor * even(name, by, point)
    };
    assert_eq!(contended(&base, &run(None, &mut { slower })), []);
    assert_eq!(contended(&base, &run(Some("queued"), &mut even)), []);
}

#[test]
fn locks_that_are_not_known_in_both_are_not_named() {
    let base = run(None, &mut even);
    let collapsed = |name: &str, by: &str, point: u64| {
        let shared = if (name, by, point) == ("dup-close", "threads", 4) { 0.02 } else { 1.0 };
        shared * even(name, by, point)
    };
    let contentions = contended(&base, &run(Some("queued"), &mut { collapsed }));
    assert_eq!(contentions.len(), 1, "{contentions:?}");
    assert_eq!(contentions[0].1.waiting, None);
}

#[test]
fn locks_are_not_named_where_the_kernel_is_another() {
    let collapsed = |name: &str, by: &str, point: u64| {
        let shared = if (name, by, point) == ("dup-close", "threads", 4) { 0.02 } else { 1.0 };
        shared * even(name, by, point)
    };
    let of_fact = |key: &str| {
        let mut base = run(Some("test-and-set"), &mut even);
        let mut new = run(Some("queued"), &mut { collapsed });
        base.host_before.facts.insert(key.to_owned(), "one".into());
        new.host_before.facts.insert(key.to_owned(), "another".into());
        contended(&base, &new).remove(0).1.waiting.is_some()
    };
    assert!(!of_fact("kernel.release"));
    assert!(!of_fact("vulnerability.meltdown"));
    assert!(of_fact("vm.append"), "it is what the kernel chooses its locks by");
}

/// All operations are slower by a tenth, and those that share something by next to nothing more.
#[test]
fn a_difference_within_the_margin_is_no_contention() {
    let mut random = generator(11, &["margin"]);
    let mut alarms = 0;
    for paired in [false, true].repeat(20) {
        let mut noisy = |name: &str, by: &str, point: u64| {
            even(name, by, point) * (0.01 * normal(&mut random)).exp()
        };
        let base = run(None, &mut noisy);
        let mut new = run(None, &mut |name, by, point| {
            let more = if by == "threads" { 0.98 } else { 1.0 };
            0.9 * more * noisy(name, by, point)
        });
        if paired {
            new.plan.paired_with.clone_from(&base.summary.id);
        }
        alarms += contended(&base, &new).len();
    }
    assert_eq!(alarms, 0, "of 40 comparisons");
}

/// Rounds that took turns, and whose rates differ by decades: those of a guest on a busy host.
#[test]
fn rounds_that_differ_by_decades_are_judged_one_by_one() {
    let mut random = generator(9, &["busy"]);
    let (mut alarms, mut detected) = (0, 0);
    for _ in 0..10 {
        let mut busy = |name: &str, by: &str, point: u64| {
            even(name, by, point) * (2.0 * normal(&mut random)).exp()
        };
        let base = run(Some("test-and-set"), &mut busy);
        let same = run(Some("queued"), &mut busy);
        let collapsed = run(Some("queued"), &mut |name, by, point| {
            let shared = if (name, by, point) == ("dup-close", "threads", 4) { 1e-5 } else { 1.0 };
            shared * busy(name, by, point)
        });
        for mut new in [same, collapsed] {
            new.plan.paired_with.clone_from(&base.summary.id);
            let all = contended(&base, &new);
            detected +=
                usize::from(all.iter().any(|(_, contention)| contention.slowdown.value > 1e3));
            alarms +=
                usize::from(all.iter().any(|(_, contention)| contention.slowdown.value <= 1e3));
        }
    }
    assert!(detected >= 9, "{detected} of 10");
    assert!(alarms <= 2, "{alarms} of 20");
}
