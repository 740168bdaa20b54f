//! An axis that begins at zero: what is there before anything grows.

use crate::common::{Analysis, Finding, analyse};
use analysis::stats::random::{generator, normal};
use analysis::{Class, ComparisonOutcome, RateTrend, Row, Table};
use fastrand::Rng;
use findings::Kind;
use fixtures::cell;
use model::{Run, WorkloadInfo};

const DEAD: [u64; 10] = [0, 50, 100, 200, 400, 800, 1000, 5000, 10_000, 15_000];
const QUICK: [u64; 4] = [0, 1000, 5000, 15_000];
const REPETITIONS: u64 = 60;

/// What a reply costs with so many dead connections, in nanoseconds.
type Cost = fn(f64) -> f64;

const SUBJECTS: [(&str, Cost); 3] =
    [("poll", |n| 10_000.0 + 4.5 * n), ("epoll-level", |_| 10_200.0), ("epoll-edge", |_| 10_200.0)];

/// A run of these subjects over dead connections: replies a second, and what one costs in CPU time.
fn run(subjects: &[(&str, Cost)], points: &[u64], rounds: u32, random: &mut Rng) -> Run {
    let mut cells = Vec::new();
    for round in 0..rounds {
        for &(subject, cost) in subjects {
            for &point in points {
                let scatter = (0.03 * normal(random)).exp();
                let mut draw = |level: f64| -> Vec<f64> {
                    (0..8).map(|_| level * (0.05 * normal(random)).exp()).collect()
                };
                let cost = cost(point as f64);
                let replies = draw(1e9 / cost * scatter);
                let cpu = draw(cost * scatter);
                let cell = cell("dead", subject, point, round)
                    .parameter("workers", "1")
                    .samples("replies", replies)
                    .samples("cpu", cpu)
                    .samples("memory", draw(12.0 * 1024.0));
                cells.push(cell);
            }
        }
    }
    fixtures::run(workload(subjects))
        .seed(11)
        .rounds(rounds)
        .times_ms(100, 10_000)
        .cells(cells)
        .complete()
}

/// `run` with nothing but what a reply costs: the rest need not be analysed
/// hundreds of times.
fn costs_alone(mut run: Run) -> Run {
    for cell in &mut run.cells {
        cell.metrics.retain(|metric| metric.name == "cpu");
    }
    run
}

fn workload(subjects: &[(&str, Cost)]) -> WorkloadInfo {
    fixtures::workload("dead")
        .axis("dead connections", "dead")
        .rate("replies", "replies", "replies/s")
        .time("cpu")
        .metric("memory", "memory", "B")
        .subjects(subjects.iter().map(|(name, _)| *name))
        .compared_pair("epoll-level", "epoll-edge")
        .build()
}

fn table<'a>(analysis: &'a Analysis, metric: &str) -> &'a Table {
    analysis.tables.iter().find(|table| table.metric.name == metric).unwrap()
}

fn row<'a>(table: &'a Table, subject: &str) -> &'a Row {
    table.rows.iter().find(|row| row.subject == subject).unwrap()
}

fn sentences<'a>(analysis: &'a Analysis, metric: &str, kind: Kind) -> Vec<&'a str> {
    let is_wanted = |finding: &&Finding| finding.metric == metric && finding.kind == kind;
    analysis.findings.iter().filter(is_wanted).map(|finding| finding.sentence.as_str()).collect()
}

#[test]
fn rates_costs_and_bytes_have_findings_from_zero_on() {
    let run = run(&SUBJECTS, &DEAD, 7, &mut Rng::with_seed(5));
    let analysis = analyse(&run);
    let replies = table(&analysis, "replies");
    assert_eq!(replies.points, DEAD);
    assert!(replies.rows.iter().all(|row| row.cells.iter().all(Option::is_some)));
    let poll = row(replies, "poll").rate.as_ref().unwrap();
    assert_eq!((poll.trend, poll.from, poll.to), (RateTrend::Collapses, 0, 15_000));
    assert_eq!(row(replies, "epoll-level").rate.as_ref().unwrap().trend, RateTrend::Holds);
    assert!(replies.rows.iter().all(|row| row.growth.is_none()));
    let rates = sentences(&analysis, "replies", Kind::Trend);
    assert_eq!(rates.len(), 2, "{rates:?}");
    for (sentence, start, within) in [
        (rates[0], "poll collapses ÷", " from 0 to 15,000 dead connections, leaving "),
        (rates[1], "epoll-level and epoll-edge hold between ", " k replies/s. epoll-level ×"),
    ] {
        assert!(sentence.starts_with(start) && sentence.contains(within), "{sentence}");
    }
    assert!(rates[0].contains(", halved at 2,") && rates[0].ends_with(")."), "{}", rates[0]);

    let cpu = table(&analysis, "cpu");
    let growth = row(cpu, "poll").growth.as_ref().unwrap();
    assert_eq!((growth.class, growth.from, growth.to), (Class::Linear, 0, 15_000));
    let costs = sentences(&analysis, "cpu", Kind::Growth);
    let linear = costs[0].starts_with("poll (cpu) is linear: ×");
    // An exponent over what does not grow would say little.
    let range = " from 0 to 15,000 dead connections; ";
    assert!(linear && costs[0].contains(range), "{}", costs[0]);
    assert!(costs[0].contains(" without the constant part, 95 % "), "{}", costs[0]);
    let exponent = growth.exponent.unwrap();
    assert!(growth.constant.is_some() && (0.9..1.1).contains(&exponent.value), "{exponent:?}");
    assert!(
        costs[1].starts_with("epoll-level and epoll-edge (cpu) are flat between "),
        "{}",
        costs[1]
    );
    assert!(cpu.rows.iter().all(|row| row.rate.is_none()));
    // All are compared at zero as well.
    assert!(replies.leads.iter().all(|leads| leads.len() == 1));
    assert!(replies.comparisons.iter().all(|comparison| match &comparison.outcome {
        ComparisonOutcome::Throughout { clear, open, .. } => {
            clear.len() + open.len() == DEAD.len()
        }
        _ => true,
    }));
}

#[test]
fn level_or_edge_is_answered_with_a_bound() {
    let run = run(&SUBJECTS, &DEAD, 7, &mut Rng::with_seed(5));
    let analysis = analyse(&run);
    let pairs = sentences(&analysis, "replies", Kind::Crossover);
    let pair =
        pairs.iter().find(|is_wanted| is_wanted.starts_with("epoll-level and epoll-edge")).unwrap();
    assert!(pair.starts_with("epoll-level and epoll-edge are the same within "), "{pair}");
    assert!(pair.contains(": from 0 to 15,000 dead connections neither leads (ratio "), "{pair}");
    assert!(pair.contains("; at no point by more than "), "{pair}");
}

/// The interval of the ratio over all points holds the true one; a difference of 6 % is none that
/// could be called the same within 3 %.
#[test]
fn the_ratio_of_two_that_are_alike_is_known() {
    for (factor, rounds) in [(1.0, 3), (1.0, 7), (0.99, 7), (1.06, 7)] {
        let subjects: [(&str, Cost); 2] = match factor {
            1.06 => [("epoll-level", |_| 10_600.0), ("epoll-edge", |_| 10_000.0)],
            0.99 => [("epoll-level", |_| 9_900.0), ("epoll-edge", |_| 10_000.0)],
            _ => [("epoll-level", |_| 10_000.0), ("epoll-edge", |_| 10_000.0)],
        };
        let (mut alike, mut covered, mut narrow) = (0, 0, 0);
        for repetition in 0..REPETITIONS {
            let mut random = generator(repetition, &["alike", &rounds.to_string()]);
            let analysis = analyse(&costs_alone(run(&subjects, &DEAD, rounds, &mut random)));
            let comparisons = &table(&analysis, "cpu").comparisons;
            let ComparisonOutcome::TooClose { ratio: Some(ratio), .. } = comparisons[0].outcome
            else {
                continue;
            };
            alike += 1;
            covered += u64::from((ratio.low..=ratio.high).contains(&factor));
            narrow += u64::from(ratio.high.max(1.0 / ratio.low) < 1.03);
        }
        println!(
            "ratio {factor}, {rounds} rounds: {alike} alike, {covered} covered, {narrow} within 3 %"
        );
        if factor > 1.05 {
            assert_eq!(narrow, 0);
            continue;
        }
        assert!(alike * 100 >= REPETITIONS * 80, "{alike}");
        assert!(covered * 100 >= alike * 92, "{covered} of {alike}");
        assert!(narrow * 2 >= REPETITIONS || rounds == 3 || factor < 1.0, "{narrow}");
    }
}

/// Costs with an intercept, from zero on: what grows is named with ten points, and with four where it
/// grows by more than what does not.
#[test]
fn growth_from_zero_is_named_and_hardly_ever_wrong() {
    let curves: [(Class, Cost, [u64; 2]); 4] = [
        (Class::Constant, |_| 10_000.0, [95, 95]),
        (Class::Linear, |n| 10_000.0 + 4.5 * n, [95, 95]),
        (Class::Linear, |n| 10_000.0 + 0.9 * n, [95, 0]),
        (Class::Quadratic, |n| 10_000.0 + 0.002 * n * n, [95, 50]),
    ];
    for (class, cost, asked) in curves {
        for (points, asked) in [&DEAD[..], &QUICK].into_iter().zip(asked) {
            let (mut right, mut wrong) = (0, 0);
            for repetition in 0..REPETITIONS {
                let mut random = generator(repetition, &["growth", &points.len().to_string()]);
                let run = run(&[("poll", cost)], points, 5, &mut random);
                let analysis = analyse(&costs_alone(run));
                let growth = row(table(&analysis, "cpu"), "poll").growth.as_ref().unwrap();
                assert_eq!((growth.from, growth.to), (0, 15_000));
                let is_left = growth.classes.contains(&class);
                right += u64::from(is_left);
                wrong += u64::from(!is_left && growth.class != Class::Undecided);
            }
            let counts =
                format!("{class:?}, {} points: {right} right, {wrong} wrong", points.len());
            println!("{counts}");
            assert!(wrong <= 1 && right * 100 >= REPETITIONS * asked, "{counts}");
        }
    }
}

/// A reply costs least with 400: the rate peaks there.
#[test]
fn an_inner_best_has_what_comes_before_it_in_its_sentence() {
    let valley = |n: f64| 10_000.0 + 60.0 * (400.0 - n).max(0.0) + 4.0 * (n - 400.0).max(0.0);
    let run = run(&[("poll", valley)], &DEAD, 7, &mut Rng::with_seed(7));
    let analysis = analyse(&run);
    let [rate] = sentences(&analysis, "replies", Kind::Trend)[..] else { panic!("one rate") };
    let before = ", before, it rises ×3.";
    assert!(rate.starts_with("poll collapses ÷") && rate.contains(before), "{rate}");
    let [cost] = sentences(&analysis, "cpu", Kind::Growth)[..] else { panic!("one cost") };
    let (starts, ends) = (cost.starts_with("poll "), cost.contains(", before, it falls ÷3."));
    assert!(starts && ends && cost.contains("from 400 to 15,000 dead connections"), "{cost}");
}
