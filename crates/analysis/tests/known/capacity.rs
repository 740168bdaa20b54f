//! The rate that simulated servers bear, of which the true one is known.

use analysis::capacity::{Capacity, Goal, NextLoad, Search, Trial};
use analysis::stats::random::generator;
use fastrand::Rng;

/// A queue with servers: the length of one service, drawn.
struct Queue {
    servers: usize,
    service_s: fn(&mut Rng) -> f64,
}

fn exponential(random: &mut Rng) -> f64 {
    -(1.0_f64 - random.f64()).ln()
}

impl Queue {
    /// How many requests of a load took longer than `limit_s`, from an empty queue on; the first tenth does not count.
    fn trial(&self, rate_per_s: f64, length_s: f64, limit_s: f64, random: &mut Rng) -> Trial {
        let mut free_s = vec![f64::NEG_INFINITY; self.servers];
        let (mut at_s, mut due, mut missed) = (-0.1 * length_s, 0, 0);
        loop {
            at_s += exponential(random) / rate_per_s;
            if at_s > length_s {
                return Trial { rate_per_s, length_s, due, missed: vec![missed] };
            }
            let first = free_s.iter_mut().min_by(|a, b| a.total_cmp(b)).expect("a server");
            *first = first.max(at_s) + (self.service_s)(random);
            if at_s >= 0.0 {
                due += 1;
                missed += u64::from(*first - at_s > limit_s);
            }
        }
    }

    /// A search of 50 seconds.
    fn search(&self, goal: Goal, random: &mut Rng) -> Capacity {
        let mut search = Search::new(vec![goal], 300.0);
        let mut left_s = 50.0;
        while let Some(next) = search.next_load() {
            let length_s = next.length_s;
            left_s -= 1.1 * length_s;
            if left_s < 0.0 {
                break;
            }
            search.trials.push(self.trial(
                next.rate_per_s,
                length_s,
                goal.limit_s.expect("a limit"),
                random,
            ));
        }
        search.capacity()
    }
}

/// The arithmetic of a queue with one exponential server: the time of all its requests is exponential, too.
fn true_rate(service_s: f64, goal: Goal) -> f64 {
    1.0 / service_s + goal.allowed.ln() / goal.limit_s.expect("a limit")
}

/// How many of so many searches have the true rate in their CI.
fn covering(queue: &Queue, goal: Goal, true_per_s: f64, searches: u64) -> u64 {
    let is_covering = |number: &u64| {
        let capacity = queue.search(goal, &mut generator(*number, &["search"]));
        let Capacity::Rate { rate_per_s, goal: 0 } = capacity else { panic!("{capacity:?}") };
        (rate_per_s.low..=rate_per_s.high).contains(&true_per_s)
    };
    (0..searches).filter(is_covering).count() as u64
}

const GOAL: Goal = Goal { allowed: 0.01, limit_s: Some(0.01) };

#[test]
fn the_interval_has_the_true_rate_of_a_queue() {
    let exponential_server = Queue { servers: 1, service_s: |random| exponential(random) / 1e3 };
    let true_per_s = true_rate(1e-3, GOAL);
    assert!((true_per_s - 539.5).abs() < 0.1, "{true_per_s}");
    let covering = [
        covering(&exponential_server, GOAL, true_per_s, 200),
        // By simulations of 2 million requests a rate.
        covering(&Queue { servers: 4, ..exponential_server }, GOAL, 3_518.0, 100),
        covering(&Queue { servers: 1, service_s: |_| 1e-3 }, GOAL, 774.0, 200),
    ];
    // 95 % are expected, and that many with a probability of 99 %.
    assert!(covering[0] >= 182 && covering[1] >= 89 && covering[2] >= 182, "{covering:?}");
}

/// A load on a server that holds all below its limit and nothing beyond.
fn cliff(rate_per_s: f64, length_s: f64, limit_per_s: f64) -> Trial {
    let due = (rate_per_s * length_s) as u64;
    let missed = if rate_per_s > limit_per_s { due } else { 0 };
    Trial { rate_per_s, length_s, due, missed: vec![missed] }
}

#[test]
fn a_cliff_has_a_rate_and_a_server_without_any_has_none() {
    let searched = |limit_per_s: f64, loads: usize| {
        let mut search = Search::new(vec![Goal { allowed: 0.01, limit_s: None }], 100.0);
        while search.trials.len() < loads
            && let Some(next) = search.next_load()
        {
            search.trials.push(cliff(next.rate_per_s, next.length_s, limit_per_s));
        }
        search.capacity()
    };
    let Capacity::Rate { rate_per_s, .. } = searched(12_345.0, 40) else { panic!("no rate") };
    assert!(rate_per_s.low < 12_345.0 && rate_per_s.high > 12_345.0, "{rate_per_s:?}");
    assert!(rate_per_s.high < 1.05 * rate_per_s.low, "{rate_per_s:?}");
    assert_eq!(searched(f64::INFINITY, 5), Capacity::AtLeast { rate_per_s: 1_600.0 });
    assert_eq!(searched(0.0, 40), Capacity::Nothing { goal: 0, is_open: false });
}

/// At random times, none of the requests of a second may be due.
#[test]
fn a_load_without_a_request_holds_nothing() {
    let mut search = Search::new(vec![GOAL], 100.0);
    let mut loads = 0;
    while let Some(next) = search.next_load() {
        loads += 1;
        let is_empty = next.rate_per_s < 10.0 && loads % 2 == 0;
        let due = if is_empty { 0 } else { next.rate_per_s.ceil() as u64 };
        let NextLoad { rate_per_s, length_s } = next;
        search.trials.push(Trial { rate_per_s, length_s, due, missed: vec![due] });
    }
    assert_eq!(search.capacity(), Capacity::Nothing { goal: 0, is_open: false });
    assert!(search.trials.iter().any(|trial| trial.due == 0));
}

/// The one or two requests of a second were answered in time, and of longer loads none.
#[test]
fn a_few_requests_in_time_are_no_rate_that_is_borne() {
    for first in [6.0, 5.0, 4.1, 100.0, 1_234.5] {
        let goal = Goal { allowed: 0.5, limit_s: Some(1e-6) };
        let mut search = Search::new(vec![goal], first);
        while search.trials.len() < 60
            && let Some(NextLoad { rate_per_s, length_s }) = search.next_load()
        {
            let due = (rate_per_s * length_s).ceil() as u64;
            let is_lucky = length_s < 1.5 && rate_per_s < 3.0;
            let missed = vec![if is_lucky { 0 } else { due }];
            search.trials.push(Trial { rate_per_s, length_s, due, missed });
        }
        let is_open = search.trials.iter().any(|trial| trial.missed == [0]);
        assert_eq!(search.capacity(), Capacity::Nothing { goal: 0, is_open }, "{first}");
    }
}

/// A tenth of the requests misses at any rate: a few of them without a miss are no rate that is borne, and where none
/// misses they are none either.
#[test]
fn fewer_requests_than_a_miss_takes_hold_nothing() {
    let searched = |share: f64, rate_max_per_s: f64, seed: u64| {
        let mut random = generator(seed, &["few"]);
        let mut search = Search::new(vec![GOAL], rate_max_per_s / 2.0);
        while search.trials.len() < 30
            && let Some(NextLoad { rate_per_s, length_s }) = search.next_load()
        {
            let due = (rate_per_s.min(rate_max_per_s) * length_s).ceil() as u64;
            let missed = (0..due).filter(|_| random.f64() < share).count() as u64;
            search.trials.push(Trial { rate_per_s, length_s, due, missed: vec![missed] });
            if share == 0.0 && search.trials.len() == 4 {
                break;
            }
        }
        search.capacity()
    };
    for seed in 0..100 {
        let capacity = searched(0.1, 5_000.0, seed);
        assert!(matches!(capacity, Capacity::Nothing { goal: 0, .. }), "{seed}: {capacity:?}");
    }
    assert_eq!(searched(0.0, 20.0, 0), Capacity::Unknown);
    assert_eq!(searched(0.0, 200.0, 0), Capacity::AtLeast { rate_per_s: 400.0 });
}

/// A goal that every load misses is named before one that a few loads miss by far.
#[test]
fn the_goal_that_no_load_holds_is_named() {
    let goals =
        vec![Goal { allowed: 0.5, limit_s: Some(1e-6) }, Goal { allowed: 0.01, limit_s: None }];
    let mut search = Search::new(goals, 1_000.0);
    while let Some(next) = search.next_load() {
        let NextLoad { rate_per_s, length_s } = next;
        let due = rate_per_s.ceil() as u64;
        let failed = if rate_per_s > 500.0 { due } else { 0 };
        search.trials.push(Trial { rate_per_s, length_s, due, missed: vec![due, failed] });
    }
    assert_eq!(search.capacity(), Capacity::Nothing { goal: 0, is_open: false });
}

/// Other work on the machine: each long load misses one goal, most at the lowest rate, whatever the other one does.
#[test]
fn no_rate_is_above_all_loads_that_missed() {
    for goals in [vec![GOAL], vec![Goal { allowed: 0.01, limit_s: None }, GOAL]] {
        let mut search = Search::new(goals.clone(), 1_000.0);
        let mut lowest_per_s = f64::INFINITY;
        for _ in 0..16 {
            let Some(next) = search.next_load() else { break };
            let due = (next.rate_per_s * next.length_s) as u64;
            let is_long = next.length_s > 1.5;
            let share = if is_long { 0.02 + 30.0 / next.rate_per_s } else { 0.0 };
            let is_too_much = next.rate_per_s > 4_500.0;
            let missed = if is_too_much { due } else { (due as f64 * share) as u64 };
            if is_long {
                lowest_per_s = lowest_per_s.min(next.rate_per_s);
            }
            let failed = if is_too_much { due } else { 0 };
            let missed = if goals.len() > 1 { vec![failed, missed] } else { vec![missed] };
            let NextLoad { rate_per_s, length_s } = next;
            search.trials.push(Trial { rate_per_s, length_s, due, missed });
        }
        let Capacity::Rate { rate_per_s, .. } = search.capacity() else { panic!("no rate") };
        assert!(rate_per_s.value <= lowest_per_s, "{rate_per_s:?} {lowest_per_s}");
        assert!(rate_per_s.low < rate_per_s.high, "{rate_per_s:?}");
    }
}
