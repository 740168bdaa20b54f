//! A server that stands still for a second: an open loop says so, a closed loop hardly.

mod common;

use common::{Answer, OK, Server};
use load::{Arrivals, Outcome, Plan, Shape};
use std::sync::{Arc, Mutex, PoisonError, RwLock};
use std::time::{Duration, Instant};

const STALL: Duration = Duration::from_secs(1);
const PER_S: f64 = 1_000.0;
/// Held by the test that runs: what another does would be late, or make others late.
static TURN: Mutex<()> = Mutex::new(());

/// For so long a machine may be busy with something else: what is tried is tried again until then.
const PATIENCE: Duration = Duration::from_secs(60);

/// A server that stands still from its thousandth request on, and what it says of its replies: the
/// moment of each, in their order.
fn stalling() -> (Server, Arc<Mutex<Vec<Instant>>>) {
    let replies = Arc::new(Mutex::new(Vec::new()));
    let kept = Arc::clone(&replies);
    // Whoever replies reads it; the one that stands still writes it.
    let gate = RwLock::new(());
    let server = Server::start(move |number| {
        if number == 1_000 {
            let _all_wait = gate.write().unwrap();
            // The stall is what is measured, and nothing waits for it to be over but the requests.
            std::thread::sleep(STALL);
        }
        let _open = gate.read().unwrap();
        kept.lock().unwrap().push(Instant::now());
        Answer::Send(OK.to_vec())
    });
    (server, replies)
}

/// The latencies that the schedule's arithmetic gives, from the moments of the server's replies. The
/// generator's start is taken from the reply that came soonest after its request was due.
fn by_arithmetic(replies: &[Instant]) -> Vec<f64> {
    let first = replies[0];
    let due = |k: usize| k as f64 / PER_S;
    let at: Vec<f64> = replies.iter().map(|at| (*at - first).as_secs_f64()).collect();
    let start = at.iter().enumerate().map(|(k, at)| at - due(k)).fold(f64::INFINITY, f64::min);
    let mut latencies: Vec<f64> =
        at.iter().enumerate().map(|(k, at)| (at - due(k) - start) * 1e9).collect();
    latencies.sort_by(f64::total_cmp);
    latencies
}

fn open_loop() -> (Outcome, Vec<f64>) {
    let (server, replies) = stalling();
    let plan = Plan {
        shape: Shape::Open(Arrivals::Constant { per_s: PER_S }),
        connections: 10,
        duration: Some(Duration::from_secs(4)),
        ..server.plan()
    };
    let outcome = load::run(&plan, &false.into(), None).unwrap();
    let latencies = by_arithmetic(&replies.lock().unwrap());
    (outcome, latencies)
}

#[test]
fn a_stall_of_a_second_is_in_the_latencies_of_an_open_loop() {
    let _turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
    // What the machine itself does between a reply and its reader is no fault of the generator.
    let begun = Instant::now();
    loop {
        let (outcome, expected) = open_loop();
        assert_eq!(outcome.counts.requests + outcome.counts.unsent, 4_000);
        assert_eq!(outcome.counts.replies, outcome.counts.requests);
        assert_eq!(expected.len() as u64, outcome.counts.replies);
        let rank = |share: f64| expected[((expected.len() as f64 * share).ceil() as usize) - 1];
        let figures = [
            ("p90", outcome.latency.p90, rank(0.9)),
            ("p99", outcome.latency.p99, rank(0.99)),
            ("p99.9", outcome.latency.p99_9, rank(0.999)),
            ("max", outcome.latency.max, rank(1.0)),
        ];
        // Whatever the machine does, the stall is never hidden.
        assert!(outcome.latency.max >= STALL.as_nanos() as f64 * 0.99, "{figures:?}");
        assert!(outcome.latency.p99_9 >= STALL.as_nanos() as f64 * 0.98, "{figures:?}");
        if figures.iter().all(|(_, ours, theirs)| (ours / theirs - 1.0).abs() <= 0.02) {
            // Most of these requests waited for a connection: their service was quick.
            assert!(outcome.service.p90 < outcome.latency.p90 / 2.0, "{:?}", outcome.service.p90);
            assert!(outcome.counts.waited > 500, "{}", outcome.counts.waited);
            return;
        }
        let late = begun.elapsed() > PATIENCE;
        assert!(!late, "more than 2 % off the schedule's arithmetic each time: {figures:?}");
    }
}

#[test]
fn what_is_due_is_sent_then_and_not_at_the_next_millisecond() {
    let _turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
    let server = Server::start(|_| Answer::Send(OK.to_vec()));
    let plan = Plan {
        shape: Shape::Open(Arrivals::Constant { per_s: 1_300.0 }),
        connections: 10,
        duration: Some(Duration::from_millis(300)),
        ..server.plan()
    };
    let late_ns = || {
        let outcome = load::run(&plan, &false.into(), None).unwrap();
        outcome.latency.p50 - outcome.service.p50
    };
    // Rounded up to milliseconds, the middle one would be half of one late on any machine. A busy one
    // may be late by itself.
    let begun = Instant::now();
    let mut tries = vec![late_ns()];
    while tries.iter().all(|&late_ns| late_ns >= 250_000.0) {
        assert!(begun.elapsed() < PATIENCE, "{tries:?}");
        tries.push(late_ns());
    }
}

#[test]
fn a_closed_loop_hides_the_same_stall() {
    let _turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
    let (server, _) = stalling();
    let plan = Plan { connections: 10, duration: None, requests: Some(20_000), ..server.plan() };
    let outcome = load::run(&plan, &false.into(), None).unwrap();
    assert_eq!((outcome.counts.requests, outcome.counts.replies), (20_000, 20_000));
    // At most ten requests were under way when it stood still, of twenty that p99.9 leaves out.
    let stall_ns = STALL.as_nanos() as f64;
    assert!(outcome.latency.p99_9 < stall_ns / 2.0, "{}", outcome.latency.p99_9);
    assert!(outcome.latency.max >= stall_ns * 0.99, "{}", outcome.latency.max);
}
