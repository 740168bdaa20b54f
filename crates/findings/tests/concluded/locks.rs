//! Locks over threads per CPU: where rates collapse, who leads, who is unfair, what blocking costs and saves.
//!
//! Rounds are drawn as they are on machines: within 2 % up to one thread per CPU, and of a lock that has
//! collapsed so that one round in three is more than five times above or below the median.

use crate::common::{Analysis, Finding, analyse};
use analysis::stats::random::{generator, normal};
use analysis::{Rate, RateTrend, Row, Table};
use fastrand::Rng;
use findings::Kind;
use fixtures::{CellBuilder, cell, fail, late, metric};
use model::{Cell, CellKey, Outcome, Run, WorkloadInfo};
use std::cell::Cell as Count;

const POINTS: [u64; 6] = [1, 2, 4, 8, 16, 32];
const REPETITIONS: u64 = 200;
/// What comes in one of forty cases is seen in nine of ten tests.
const NONE_OF: u64 = 90;
/// ×5, as a logarithm.
const WILD: f64 = 1.609;

/// A lock as it is on two CPUs.
#[derive(Clone, Copy)]
struct Lock {
    name: &'static str,
    /// Acquisitions a second at each point.
    rates: [f64; 6],
    /// How far rounds scatter beyond one thread per CPU, as a logarithm.
    scatter: f64,
    /// Jain's index beyond one thread per CPU.
    fairness: f64,
    /// CPU time of an acquisition at each end, in nanoseconds.
    cpu_ns: [f64; 2],
}

const TICKET: Lock = Lock {
    name: "ticket",
    rates: [4.1e6, 4.85e6, 1.1e4, 9e3, 8e3, 1.0e4],
    scatter: WILD,
    fairness: 0.98,
    cpu_ns: [400.0, 140_000.0],
};
const TICKET_BLOCK: Lock = Lock {
    name: "ticket-block",
    rates: [4.1e6, 4.7e6, 4.8e6, 4.8e6, 4.8e6, 4.8e6],
    scatter: 0.02,
    fairness: 0.97,
    cpu_ns: [408.0, 400.0],
};
const BYTE: Lock = Lock {
    name: "byte",
    rates: [4.2e6, 4.9e6, 4.4e6, 3.8e6, 3.2e6, 2.6e6],
    scatter: 0.03,
    fairness: 0.31,
    cpu_ns: [400.0, 800.0],
};
const FUTEX: Lock = Lock {
    name: "futex",
    rates: [4.1e6, 3.3e6, 3.3e6, 3.3e6, 3.3e6, 3.3e6],
    scatter: 0.02,
    fairness: 0.95,
    cpu_ns: [400.0, 600.0],
};
/// As futex in every respect.
const STD: Lock = Lock { name: "std", ..FUTEX };
/// Slow, and unfair besides.
const SPIN: Lock = Lock {
    name: "pthread-spin",
    rates: [4.2e6, 4.9e6, 2.0e6, 9e5, 5e5, 2e5],
    scatter: 0.1,
    fairness: 0.3,
    cpu_ns: [400.0, 9000.0],
};

fn workload(locks: &[Lock]) -> WorkloadInfo {
    fixtures::workload("lock")
        .axis("threads", "threads")
        .multiple("threads", "cpus", "per CPU")
        .compared_pair("ticket", "ticket-block")
        .rate("acquisitions", "acquisitions", "acquisitions/s")
        .time("cpu")
        .rate("fairness", "fairness", "")
        .time("longest")
        .subjects(locks.iter().map(|lock| lock.name))
        .control("broken")
        .build()
}

fn cell_of(subject: &str, point: u64, round: u32) -> CellBuilder {
    cell("lock", subject, point, round).parameter("cpus", "2")
}

fn measured(lock: &Lock, point: u64, round: u32, random: &mut Rng) -> CellBuilder {
    let index = POINTS.iter().position(|candidate| *candidate == point).unwrap();
    let beyond = point > 2;
    let scatter = if beyond { lock.scatter } else { 0.02 };
    let slow = (scatter * normal(random)).exp();
    let samples = |level: f64, many: usize, random: &mut Rng| -> Vec<f64> {
        (0..many).map(|_| level * (0.01 * normal(random)).exp()).collect()
    };
    let fairness = if beyond { lock.fairness } else { 0.99 };
    let fairness = (fairness * (0.08 * normal(random)).exp()).min(1.0);
    let figures = [
        ("acquisitions", samples(lock.rates[index] * slow, 1, random)),
        ("cpu", samples(lock.cpu_ns[usize::from(beyond)] / slow, 1, random)),
        ("fairness", vec![fairness]),
        ("longest", vec![if beyond { 1.2e9 } else { 1e5 }]),
    ];
    let metrics = figures.map(|(name, samples)| metric(name, samples));
    cell_of(lock.name, point, round).metrics(metrics)
}

/// Five rounds of `locks` and of a control; `dead` are cells that did not finish: subject and first point.
fn run(locks: &[Lock], dead: &[(&str, u64)], random: &mut Rng) -> Run {
    let mut cells = Vec::new();
    for round in 0..5 {
        for point in POINTS {
            for lock in locks {
                let is_dead = dead.iter().any(|(name, from)| *name == lock.name && point >= *from);
                let cell = if is_dead {
                    let share = 90 + round;
                    cell_of(lock.name, point, round).failed_because(
                        late(10_000, &format!("{share} % of 400 samples in wait")),
                        "",
                    )
                } else {
                    measured(lock, point, round, random)
                };
                cells.push(cell.build());
            }
            cells.push(cell_of("broken", point, round).failed("two were in it at once").build());
        }
    }
    of_cells(locks, cells)
}

fn of_cells(locks: &[Lock], cells: Vec<Cell>) -> Run {
    fixtures::run(workload(locks)).seed(6).rounds(5).cells(cells).complete()
}

/// With those metrics only that `asks` is about.
fn drawn(locks: &[Lock], repetition: u64, asks: &str) -> Analysis {
    let mut run = run(locks, &[], &mut generator(repetition, &[asks]));
    let needed: &[&str] = match asks {
        "collapse" | "others" | "ranking" | "trade" => &["acquisitions"],
        "fairness" | "slow" => &["acquisitions", "fairness"],
        _ => return analyse(&run),
    };
    for cell in &mut run.cells {
        cell.metrics.retain(|metric| needed.contains(&metric.name.as_str()));
    }
    analyse(&run)
}

fn headline(analysis: &Analysis) -> &Table {
    analysis.tables.iter().find(|table| table.headline).unwrap()
}

fn row<'a>(analysis: &'a Analysis, subject: &str) -> &'a Row {
    headline(analysis).rows.iter().find(|row| row.subject == subject).unwrap()
}

fn rate<'a>(analysis: &'a Analysis, subject: &str) -> &'a Rate {
    row(analysis, subject).rate.as_ref().unwrap()
}

fn findings_of(analysis: &Analysis, kind: Kind) -> Vec<&Finding> {
    analysis.findings.iter().filter(|finding| finding.kind == kind).collect()
}

fn sentence<'a>(analysis: &'a Analysis, kind: Kind, subject: &str) -> Option<&'a str> {
    let all = findings_of(analysis, kind);
    let analysis =
        all.iter().find(|finding| finding.subjects.first().is_some_and(|is| is == subject));
    analysis.map(|finding| finding.sentence.as_str())
}

/// Fails unless `truth` holds in 95 % of the repetitions, and says how many were tried.
fn mostly(name: &str, locks: &[Lock], truth: impl Fn(&Analysis) -> bool) -> u64 {
    let (mut right, mut wrong) = (0, 0);
    for seed in 0..REPETITIONS {
        *(if truth(&drawn(locks, seed, name)) { &mut right } else { &mut wrong }) += 1;
        if fixtures::is_settled(right, wrong) {
            break;
        }
    }
    println!("{name}: {right} of {}", right + wrong);
    assert!(20 * wrong <= right + wrong, "{name}: {right} of {}", right + wrong);
    right + wrong
}

/// A lock at a hundredth beyond one thread per CPU, with rounds that scatter by ×5.
#[test]
fn a_wild_collapse_is_one_and_its_place_is_between_the_points() {
    for level in [4.85e4, 1.0e4] {
        let ticket = Lock { rates: [4.1e6, 4.85e6, level, level, level, level], ..TICKET };
        mostly("collapse", &[ticket], |analysis| {
            let rate = rate(analysis, "ticket");
            let between = rate.halved.is_some_and(|half| (half.after, half.before) == (2, 4));
            rate.trend == RateTrend::Collapses && rate.from == 2 && between
        });
    }
}

#[test]
fn trends_begin_at_one_thread_per_cpu() {
    let late = Lock { rates: [4e6, 5e6, 4.9e6, 4.0e6, 1.0e6, 1.5e5], scatter: 0.1, ..BYTE };
    mostly("others", &[FUTEX, BYTE, Lock { name: "late", ..late }], |analysis| {
        let half =
            rate(analysis, "late").halved.is_some_and(|half| (half.after, half.before) == (8, 16));
        // From one thread on two CPUs' worth of threads it would have fallen too.
        rate(analysis, "futex").trend == RateTrend::Holds
            && rate(analysis, "byte").trend == RateTrend::Falls
            && rate(analysis, "late").trend == RateTrend::Collapses
            && half
    });
}

#[test]
fn sentences_speak_of_threads_per_cpu() {
    let analysis = drawn(&[TICKET, FUTEX, BYTE], 3, "sentences");
    let sentence_of = |subject| sentence(&analysis, Kind::Trend, subject).unwrap();
    let ticket = sentence_of("ticket");
    assert!(ticket.starts_with("ticket collapses ÷"), "{ticket}");
    assert!(ticket.contains(" from 1 to 16 threads per CPU, leaving "), "{ticket}");
    assert!(ticket.contains(" acquisitions/s. 95 % CI "), "{ticket}");
    assert!(ticket.ends_with(", halved between 1 and 2 threads per CPU."), "{ticket}");
    let futex = sentence_of("futex");
    assert!(futex.starts_with("futex holds between "), "{futex}");
    assert!(futex.contains(" acquisitions/s. ×") && futex.ends_with(")."), "{futex}");
    let byte = sentence_of("byte");
    assert!(byte.starts_with("byte falls ÷1."), "{byte}");
    // A degree has no course.
    let of_fairness = analysis.tables.iter().find(|table| table.metric.name == "fairness").unwrap();
    assert!(of_fairness.rows.iter().all(|row| row.rate.is_none() && row.growth.is_none()));
}

/// Where something else takes a CPU, two threads are too many for two of them.
#[test]
fn an_early_collapse_begins_below_one_thread_per_cpu() {
    let crushed = Lock { rates: [8e5, 3e3, 2e3, 1e3, 1e3, 1e3], scatter: 0.1, ..TICKET };
    let analysis = drawn(&[crushed, FUTEX], 1, "crushed");
    let sentence_of = sentence(&analysis, Kind::Trend, "ticket").unwrap();
    assert!(sentence_of.starts_with("ticket collapses ÷"), "{sentence_of}");
    assert!(sentence_of.contains(" from 0.5 to 16 threads per CPU, "), "{sentence_of}");
    // The trend of a contended lock begins at one thread per CPU.
    let fought = Lock { rates: [5e7, 5e6, 5e6, 5e6, 5e6, 5e6], scatter: 0.02, ..TICKET };
    assert_eq!(rate(&drawn(&[fought], 1, "fought"), "ticket").trend, RateTrend::Holds);
}

/// Two scattered rounds decide nothing between two that differ by a factor of two, and a factor of hundreds.
#[test]
fn a_subject_far_behind_is_not_tied() {
    let last = |second: Lock| {
        let mut run = run(&[TICKET_BLOCK, second, FUTEX], &[], &mut Rng::with_seed(3));
        run.cells.retain(|cell| cell.key.round < 2);
        let analysis = analyse(&run);
        findings_of(&analysis, Kind::Ranking).last().unwrap().sentence.clone()
    };
    let sure = last(TICKET);
    assert!(sure.contains("; ticket ×") && !sure.contains("not surely"), "{sure}");
    let half = [4.1e6, 4.85e6, 2.4e6, 2.4e6, 2.4e6, 2.4e6];
    let unsure = last(Lock { rates: half, ..TICKET });
    assert!(unsure.contains(" behind, but not surely"), "{unsure}");
}

#[test]
fn what_did_not_finish_has_collapsed() {
    let dead = [("ticket", 8), ("byte", 32)];
    let random = &mut Rng::with_seed(4);
    let analysis = analyse(&run(
        &[FUTEX, TICKET_BLOCK, Lock { name: "ticket", ..FUTEX }, BYTE],
        &dead,
        random,
    ));
    let rate = rate(&analysis, "ticket");
    assert_eq!((rate.trend, rate.from, rate.to), (RateTrend::Collapses, 2, 8));
    assert!(rate.halved.is_some_and(|half| (half.after, half.before) == (4, 8) && half.vague));
    assert_eq!(
        sentence(&analysis, Kind::Unfinished, "ticket").unwrap(),
        "ticket did not finish within 10 s at 8, 16 and 32 threads (4, 8 and 16 per CPU). Collapses past \
         1 thread per CPU, 90 % of 400 samples in wait."
    );
    assert_eq!(sentence(&analysis, Kind::Trend, "ticket"), None);
    assert!(sentence(&analysis, Kind::Unfinished, "futex").is_none());
    // It appears once.
    assert!(analysis.caveats.iter().all(|caveat| !caveat.what.contains("did not finish")));
    let last = findings_of(&analysis, Kind::Ranking).last().unwrap().sentence.clone();
    assert!(last.starts_with("At 16 threads per CPU: ticket-block leads with 4."), "{last}");
    assert!(last.ends_with("; ticket and byte did not finish."), "{last}");
}

#[test]
fn some_rounds_that_did_not_finish_are_counted() {
    let mut run = run(&[TICKET, FUTEX], &[], &mut Rng::with_seed(4));
    let is_late = |cell: &&mut Cell| {
        cell.key.subject == "ticket" && cell.key.point == 8 && cell.key.round < 2
    };
    for cell in run.cells.iter_mut().filter(is_late) {
        fail(cell, late(10_000, ""));
    }
    let analysis = analyse(&run);
    assert_eq!(
        sentence(&analysis, Kind::Unfinished, "ticket").unwrap(),
        "ticket did not finish within 10 s at 8 threads (4 per CPU). In 2 of 5 cells."
    );
    assert_eq!(rate(&analysis, "ticket").trend, RateTrend::Collapses);
}

#[test]
fn the_order_at_each_point_has_those_together_that_are_alike() {
    let locks = [TICKET_BLOCK, FUTEX, STD, SPIN, TICKET];
    mostly("ranking", &locks, |analysis| {
        let ranked = |at: usize| &headline(analysis).rankings[at].subjects;
        let rank_of = |at: usize, subject: &str| {
            ranked(at).iter().find(|rank_of| rank_of.subject == subject).unwrap()
        };
        let last = |subject: &str| rank_of(5, subject);
        let alike = last("futex").tied == ["std"] && last("std").tied == ["futex"];
        let ranks =
            ["ticket-block", "futex", "std", "pthread-spin"].map(|subject| last(subject).rank);
        // By five rounds that scatter by ×5 a twentieth of a rate is not surely less than it.
        let behind = last("ticket").rank >= 4 && last("ticket").behind.value > 20.0;
        // Up to one thread per CPU the scatter beyond does not count.
        let is_behind_early = rank_of(1, "futex").rank > rank_of(1, "ticket").rank;
        alike && ranks == [1, 2, 2, 4] && behind && is_behind_early
    });
    let analysis = drawn(&locks, 1, "order");
    let sentence_of = findings_of(&analysis, Kind::Ranking);
    let heads: Vec<&str> = sentence_of
        .iter()
        .filter_map(|findings_of| findings_of.sentence.split(':').next())
        .collect();
    assert_eq!(heads, ["At 1 thread per CPU", "At 2 threads per CPU", "At 16 threads per CPU"]);
    let last = &sentence_of[2].sentence;
    assert!(last.contains(": ticket-block leads with 4."), "{last}");
    assert!(last.contains("; futex and std are ×1.") || last.contains("; std and futex are ×1."));
    assert!(last.contains(" behind; pthread-spin ×2"), "{last}");
}

#[test]
fn only_fast_and_unfair_locks_are_findings() {
    let locks = [TICKET_BLOCK, BYTE, SPIN, TICKET];
    mostly("fairness", &locks, |analysis| {
        let sentence_of = findings_of(analysis, Kind::Fairness);
        // The slow lock is a little faster at two threads per CPU: a finding there is right.
        let mut subjects = sentence_of.iter().flat_map(|finding| &finding.subjects);
        let are_expected = subjects.all(|name| ["byte", "pthread-spin"].contains(&name.as_str()));
        let byte = sentence(analysis, Kind::Fairness, "byte");
        are_expected && byte.is_some_and(|sentence| sentence.contains(" fast and unfair at "))
    });
    let slow = Lock { rates: [4e6, 4.9e6, 1e6, 9e5, 5e5, 2e5], ..SPIN };
    let is_none = |seed: &u64| {
        let analysis = drawn(&[TICKET_BLOCK, slow], *seed, "slow");
        findings_of(&analysis, Kind::Fairness).is_empty()
    };
    assert_eq!((0..NONE_OF).filter(is_none).count() as u64, NONE_OF);
    let analysis = drawn(&[TICKET_BLOCK, BYTE], 1, "fair");
    let sentence_of = sentence(&analysis, Kind::Fairness, "byte").unwrap();
    assert!(
        sentence_of.contains(": Jain's index 0.") && sentence_of.contains(". 95 % CI 0."),
        "{sentence_of}"
    );
    assert!(sentence_of.ends_with(" of the best rate, one wait lasted 1.20 s."), "{sentence_of}");
}

/// The two numbers after `95 % CI`.
fn interval(part: &str) -> (f64, f64) {
    let (low, high) = part.split_once('–').unwrap();
    let number = |text: &str| text.replace(',', "").parse().unwrap();
    (number(low), number(high))
}

#[test]
fn blocking_has_both_ends() {
    let locks = [TICKET, TICKET_BLOCK];
    let (is_behind_early, far) = (4.7 / 4.85, 480.0);
    let covered = [Count::new(0), Count::new(0)];
    let count = |at: usize, (low, high): (f64, f64), truth: f64| {
        covered[at].set(covered[at].get() + u64::from((low..=high).contains(&truth)));
    };
    let tried = mostly("trade", &locks, |analysis| {
        let sentence_of = sentence(analysis, Kind::TradeOff, "ticket").unwrap();
        let (_, rest) = sentence_of.split_once(". 95 % CI ").unwrap();
        let cis = rest.trim_end_matches('.');
        let (early, late) = cis.split_once(" and 95 % CI ").unwrap();
        count(0, interval(early), is_behind_early);
        count(1, interval(late), far);
        sentence_of.starts_with("ticket-block reaches ×")
    });
    // Of five rounds the interval is their range, in which the median is in 94 of 100.
    let covered = covered.map(|count| count.get());
    assert!(covered.iter().all(|covered| covered * 100 >= tried * 90), "{covered:?}");
    let analysis = drawn(&locks, 2, "both");
    let sentence_of = sentence(&analysis, Kind::TradeOff, "ticket").unwrap();
    assert!(
        sentence_of.contains(" of the rate of ticket at 1 thread per CPU, and ×")
            && sentence_of.contains(" at 16. 95 % CI "),
        "{sentence_of}"
    );
    assert!(sentence_of.contains(" and ÷"), "{sentence_of}");
}

#[test]
fn a_control_that_is_caught_is_trusted_and_nothing_else() {
    let run = run(&[TICKET, FUTEX], &[], &mut Rng::with_seed(1));
    let trust = findings::Answer::new(&run, &findings::conclude(&run)).trust;
    assert_eq!(trust.controls_caught, ["broken"]);
    let analysis = analyse(&run);
    assert!(analysis.findings.iter().all(|finding| !finding.sentence.contains("broken")));
    assert!(
        analysis.tables.iter().all(|table| table.rows.iter().all(|row| row.subject != "broken"))
    );
    assert!(analysis.caveats.iter().all(|caveat| !caveat.what.contains("broken")));
}

#[test]
fn a_measured_control_comes_first() {
    let mut run = run(&[FUTEX], &[], &mut Rng::with_seed(2));
    let broken: Vec<usize> =
        (0..run.cells.len()).filter(|&at| run.cells[at].key.subject == "broken").collect();
    for &at in &broken[..2] {
        let CellKey { point, round, .. } = run.cells[at].key;
        let measured = measured(&FUTEX, point, round, &mut Rng::with_seed(1));
        run.cells[at].metrics = measured.build().metrics;
        run.cells[at].outcome = Outcome::Measured;
    }
    fail(&mut run.cells[broken[2]], late(10_000, "so"));
    let analysis = analyse(&run);
    let first = &analysis.caveats[0];
    assert_eq!(
        first.what,
        "The control failed: broken, which is wrong on purpose, was measured in 2 of 30 cells as if it \
         were right"
    );
    assert!(first.remedy.starts_with("don't trust this run"), "{}", first.remedy);
    let trust = findings::Answer::new(&run, &findings::conclude(&run)).trust;
    assert_eq!(trust.controls_caught, [""; 0]);
    assert!(
        analysis.tables.iter().all(|table| table.rows.iter().all(|row| row.subject != "broken"))
    );
}
