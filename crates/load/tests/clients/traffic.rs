//! Loads of every shape, and every way in which they go wrong, against a server that follows a script.

use crate::common::{Answer, OK, Server, closed_port};
use load::{Arrivals, Errors, IntervalOutcome, Outcome, Plan, Shape, Target, Tick, Watch};
use std::io::{Read, Write};
use std::net::TcpListener;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Barrier};
use std::time::Duration;

fn run(plan: &Plan) -> Outcome {
    load::run(plan, &AtomicBool::new(false), None).unwrap()
}

fn ok() -> Server {
    Server::start(|_| Answer::Send(OK.to_vec()))
}

/// So many requests, however long they take.
fn requests(number: u64, plan: Plan) -> Plan {
    Plan { requests: Some(number), duration: None, ..plan }
}

#[test]
fn a_closed_loop_sends_what_it_was_asked_for_over_its_threads() {
    let server = ok();
    for (threads, connections, pipeline) in [(1, 1, 1), (1, 5, 1), (2, 7, 1), (3, 4, 8)] {
        let plan = Plan { threads, connections, pipeline, ..server.plan() };
        let before = server.requests.load(Ordering::SeqCst);
        let outcome = run(&requests(1_001, plan));
        assert_eq!(outcome.counts.requests, 1_001);
        assert_eq!(outcome.counts.replies, 1_001);
        assert_eq!(outcome.counts.bytes, 1_001 * OK.len() as u64);
        assert_eq!(outcome.counts.statuses, [0, 1_001, 0, 0, 0]);
        assert_eq!(outcome.counts.errors, Errors::default());
        assert_eq!(outcome.counts.connections, connections as u64);
        assert_eq!(server.requests.load(Ordering::SeqCst) - before, 1_001);
        assert_eq!(outcome.latency.count, 1_001);
        let in_series: u64 = outcome.series.iter().map(|tick| tick.requests).sum();
        assert_eq!(in_series, 1_001);
    }
}

#[test]
fn a_number_of_requests_ends_a_load_before_its_time() {
    let server = ok();
    let hour = Some(Duration::from_secs(3_600));
    for shape in [Shape::Closed, Shape::Open(Arrivals::Constant { per_s: 1_000.0 })] {
        let plan = Plan { shape, duration: hour, requests: Some(20), ..server.plan() };
        assert_eq!(run(&plan).counts.replies, 20);
    }
}

#[test]
fn calls_are_counted_for_each_connection() {
    let server = ok();
    let outcome = run(&requests(30, Plan { calls: Some(3), ..server.plan() }));
    assert_eq!((outcome.counts.connections, outcome.counts.replies), (10, 30));
    assert_eq!(server.closing.load(Ordering::SeqCst), 0);
}

#[test]
fn a_load_ends_if_its_first_connections_are_refused_and_the_plan_says_so() {
    let (_socket, address) = closed_port();
    let target = Target::new(address, "localhost", "/");
    let arrivals = Arrivals::Constant { per_s: 100.0 };
    for shape in [Shape::Closed, Shape::Open(arrivals), Shape::Sessions(arrivals)] {
        let plan = Plan {
            shape,
            threads: 2,
            connections: 10,
            duration: Some(Duration::from_secs(3_600)),
            ends_if_refused: true,
            ..Plan::new(target.clone())
        };
        match load::run(&plan, &AtomicBool::new(false), None) {
            Err(load::Error::Refused(refused)) => assert_eq!(refused, address.into()),
            outcome => panic!("{shape:?}: {outcome:?}"),
        }
    }
}

/// A server that ends with its first connection: the first session of the second thread is refused, and so are all
/// later ones.
#[test]
fn a_server_that_answered_one_thread_is_there_for_all() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let serving = std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        drop(listener);
        let read = stream.read(&mut [0; 4096]).unwrap();
        stream.write_all(OK).unwrap();
        read
    });
    let plan = Plan {
        shape: Shape::Sessions(Arrivals::Constant { per_s: 10.0 }),
        calls: Some(1),
        threads: 2,
        connections: 2,
        ends_if_refused: true,
        ..Plan::new(Target::new(address, "localhost", "/"))
    };
    let outcome = run(&requests(20, plan));
    assert!(serving.join().unwrap() > 0);
    assert_eq!(outcome.counts.replies, 1, "{:?}", outcome.counts.errors);
    assert!(outcome.counts.errors.refused > 0, "{:?}", outcome.counts.errors);
}

#[test]
fn without_keep_alive_each_request_has_a_connection_and_says_so() {
    let server = Server::start(|_| Answer::Last(OK.to_vec()));
    let plan = Plan { keep_alive: false, connections: 3, ..server.plan() };
    let outcome = run(&requests(50, plan));
    assert_eq!((outcome.counts.replies, outcome.counts.errors), (50, Errors::default()));
    assert!(outcome.counts.connections >= 50, "{}", outcome.counts.connections);
    assert_eq!(server.closing.load(Ordering::SeqCst), 50);
}

#[test]
fn an_open_loop_sends_what_is_due_and_warms_up_before() {
    let server = ok();
    let arrivals = Arrivals::Constant { per_s: 500.0 };
    let plan = Plan {
        shape: Shape::Open(arrivals),
        connections: 20,
        threads: 2,
        duration: Some(Duration::from_millis(400)),
        warm_up: Duration::from_millis(200),
        ..server.plan()
    };
    let mut ticks = 0;
    let outcome =
        load::run(&plan, &AtomicBool::new(false), Some(&mut |_: &Tick| ticks += 1)).unwrap();
    assert_eq!(outcome.counts.requests + outcome.counts.unsent, 200);
    assert_eq!(outcome.counts.replies, outcome.counts.requests);
    let served = server.requests.load(Ordering::SeqCst);
    assert!(served >= outcome.counts.requests + 90, "warming up is served too: {served}");
    assert_eq!(outcome.series.len(), 4);
    assert!(ticks >= 3, "{ticks}");
    assert_eq!(outcome.reply_rate.samples, 4);
    assert_eq!(outcome.service.count, outcome.latency.count);
}

#[test]
fn intervals_are_final_while_the_load_goes_on() {
    #[derive(Default)]
    struct Kept(Vec<IntervalOutcome>);
    impl Watch for Kept {
        fn interval(&mut self, interval: IntervalOutcome) {
            self.0.push(interval);
        }
    }
    let server = ok();
    let plan = Plan {
        shape: Shape::Open(Arrivals::Constant { per_s: 500.0 }),
        connections: 20,
        threads: 2,
        duration: Some(Duration::from_millis(430)),
        interval: Duration::from_millis(50),
        keeps_intervals: true,
        ..server.plan()
    };
    let mut kept = Kept::default();
    let outcome = load::run(&plan, &AtomicBool::new(false), Some(&mut kept)).unwrap();
    // Eight are whole, and the ninth is cut short.
    assert_eq!((outcome.intervals.len(), kept.0.len()), (8, 7));
    for (early, late) in kept.0.iter().zip(&outcome.intervals) {
        assert_eq!((early.tick.requests, early.length_s), (late.tick.requests, late.length_s));
        assert_eq!(early.latency.histogram, late.latency.histogram);
        assert_eq!(early.service.histogram, late.service.histogram);
    }
}

#[test]
fn sessions_open_as_planned_and_call_in_turn() {
    let server = ok();
    let plan = Plan {
        shape: Shape::Sessions(Arrivals::Poisson { per_s: 200.0 }),
        seed: 3,
        connections: 50,
        calls: Some(4),
        think: Duration::from_millis(2),
        ..server.plan()
    };
    let outcome = run(&requests(40, plan));
    assert_eq!(
        (outcome.counts.connections, outcome.counts.requests, outcome.counts.replies),
        (10, 40, 40)
    );
    assert_eq!(server.accepted.load(Ordering::SeqCst), 10);
}

#[test]
fn thinking_takes_its_time() {
    let server = ok();
    let think = Duration::from_millis(20);
    let outcome = run(&requests(5, Plan { think, ..server.plan() }));
    assert_eq!(outcome.counts.replies, 5);
    // Four pauses between five requests, at least.
    assert!(outcome.elapsed_s >= 0.08, "{}", outcome.elapsed_s);
}

#[test]
fn a_reply_may_end_with_its_connection() {
    let server = Server::start(|_| Answer::Last(b"HTTP/1.1 200 OK\r\n\r\nuntil the end".to_vec()));
    let outcome = run(&requests(5, server.plan()));
    assert_eq!((outcome.counts.replies, outcome.counts.connections), (5, 5));
    assert_eq!(outcome.counts.errors, Errors::default());
}

/// What comes of ten requests that are all answered in one way, where replies are waited for so long: the
/// errors.
fn errors_of(answer: impl Fn() -> Answer + Send + Sync + 'static, timeout: Duration) -> Errors {
    let server = Server::start(move |_| answer());
    let outcome = run(&requests(10, Plan { timeout, ..server.plan() }));
    assert_eq!(outcome.counts.requests, 10);
    let given_up = outcome.latency_at_least.map_or(0, |all| all.count - outcome.latency.count);
    // A reply that is no success was not given up.
    assert_eq!(outcome.counts.replies + given_up + outcome.counts.errors.status, 10);
    outcome.counts.errors
}

/// What a server makes of some bytes, the bytes, and the errors of ten such answers.
type Kind = (fn(&[u8]) -> Answer, &'static [u8], Errors);

#[test]
fn what_goes_wrong_is_counted_by_its_kind() {
    let none = Errors::default();
    let half: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Length: 50\r\n\r\nhalf";
    let foreign: &[u8] = b"220 ready when you are\r\n";
    let missing: &[u8] = b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n";
    let kinds: [Kind; 6] = [
        (|_| Answer::Reset, b"", Errors { reset: 10, ..none }),
        (|half| Answer::Last(half.to_vec()), half, Errors { short: 10, ..none }),
        (|start| Answer::Last(start.to_vec()), b"HTT", Errors { short: 10, ..none }),
        (|foreign| Answer::Send(foreign.to_vec()), foreign, Errors { malformed: 10, ..none }),
        (|missing| Answer::Send(missing.to_vec()), missing, Errors { status: 10, ..none }),
        (|_| Answer::Silence, b"", Errors { timeout: 10, ..none }),
    ];
    // At the same time: most of it is waiting, before another attempt and for replies.
    std::thread::scope(|scope| {
        for (answer, bytes, errors) in kinds {
            // Who stands still for a moment is not to run out of time elsewhere.
            let timeout = Duration::from_millis(if errors.timeout > 0 { 200 } else { 60_000 });
            scope.spawn(move || assert_eq!(errors_of(move || answer(bytes), timeout), errors));
        }
    });
}

#[test]
fn unasked_bytes_are_malformed() {
    let server = Server::start(|_| Answer::Send([OK, OK].concat()));
    let outcome = run(&requests(3, server.plan()));
    assert!(outcome.counts.errors.malformed > 0, "{:?}", outcome.counts.errors);
}

#[test]
fn a_closed_port_refuses_and_does_not_spin() {
    let (_kept, address) = closed_port();
    let target = Target::new(address, "x", "/");
    for shape in [Shape::Closed, Shape::Open(Arrivals::Constant { per_s: 100.0 })] {
        let duration = Some(Duration::from_millis(300));
        let outcome = run(&Plan { shape, duration, ..Plan::new(target.clone()) });
        assert_eq!((outcome.counts.replies, outcome.counts.requests), (0, 0));
        // The pauses double: ten attempts take a second.
        assert!((1..=10).contains(&outcome.counts.errors.refused), "{:?}", outcome.counts.errors);
        if let Shape::Open(_) = shape {
            assert_eq!(outcome.counts.unsent, 30);
            assert_eq!(outcome.latency_at_least.unwrap().count, 30);
        }
    }
    // By number alone it ends, too.
    let plan = Plan { timeout: Duration::from_millis(50), ..Plan::new(target) };
    let outcome = run(&requests(5, plan));
    assert_eq!((outcome.counts.requests, outcome.counts.unsent), (0, 5));
}

#[test]
fn a_connection_that_fails_is_made_again() {
    let server = Server::start(|number| match number % 5 {
        4 => Answer::Reset,
        _ => Answer::Send(OK.to_vec()),
    });
    let outcome = run(&requests(50, Plan { connections: 2, ..server.plan() }));
    // A connection that had served before is one that the server closes, whatever the packet.
    let Errors { reset, closed, .. } = outcome.counts.errors;
    assert_eq!((outcome.counts.requests, outcome.counts.replies, reset + closed), (50, 40, 10));
    assert!(closed > 0, "{:?}", outcome.counts.errors);
    assert_eq!(outcome.counts.requests, outcome.counts.replies + outcome.counts.errors.total());
}

#[test]
fn late_and_unsent_requests_are_reported() {
    // One connection, and no answer: the first request is under way, the others wait.
    let server = Server::start(|_| Answer::Silence);
    let plan = Plan {
        shape: Shape::Open(Arrivals::Constant { per_s: 100.0 }),
        duration: Some(Duration::from_millis(200)),
        timeout: Duration::from_millis(300),
        ..server.plan()
    };
    let outcome = run(&plan);
    assert_eq!((outcome.counts.requests, outcome.counts.unsent), (1, 19));
    assert_eq!((outcome.counts.errors.timeout, outcome.counts.replies), (1, 0));
    let at_least = outcome.latency_at_least.unwrap();
    assert_eq!(at_least.count, 20);
    // The first waited for the whole time-out, the second for nineteen twentieths of the time.
    assert!(at_least.max >= 300e6 * 0.99, "{}", at_least.max);
    assert!(at_least.p90 >= 170e6 * 0.99, "{}", at_least.p90);
}

#[test]
fn what_warms_up_is_not_of_the_number_that_was_asked_for() {
    let server = ok();
    let warm_up = Duration::from_millis(100);
    let outcome = run(&requests(20, Plan { warm_up, connections: 2, ..server.plan() }));
    assert_eq!(
        (outcome.counts.requests, outcome.counts.replies, outcome.counts.unsent),
        (20, 20, 0)
    );
    let warm_up_replies = server.requests.load(Ordering::SeqCst) - 20;
    assert!(warm_up_replies > 0);
    assert_eq!(outcome.counts.warm_up_replies, warm_up_replies);
}

#[test]
fn a_load_by_number_goes_on_however_rare_its_requests_are() {
    let server = ok();
    let plan = Plan {
        shape: Shape::Open(Arrivals::Constant { per_s: 1.0 }),
        timeout: Duration::from_millis(500),
        ..server.plan()
    };
    assert_eq!(run(&requests(2, plan)).counts.replies, 2);
}

#[test]
fn what_waits_for_a_connection_is_not_called_late() {
    const CONNECTIONS: usize = 20;
    let all = Barrier::new(CONNECTIONS);
    let server = Server::start(move |number| {
        if number < CONNECTIONS as u64 {
            all.wait();
            // What is due meanwhile has to wait, which is what is counted.
            std::thread::sleep(Duration::from_millis(30));
        }
        Answer::Send(OK.to_vec())
    });
    let plan = Plan {
        shape: Shape::Open(Arrivals::Constant { per_s: 1_000.0 }),
        connections: CONNECTIONS,
        ..server.plan()
    };
    let outcome = run(&requests(200, plan));
    assert!(
        outcome.counts.waited >= 28,
        "{} waited, {} were late",
        outcome.counts.waited,
        outcome.counts.late
    );
}

#[test]
fn a_session_that_can_not_begin_has_waited() {
    let (_kept, address) = closed_port();
    let target = Target::new(address, address.to_string(), "/");
    let plan = Plan {
        shape: Shape::Sessions(Arrivals::Constant { per_s: 100.0 }),
        calls: Some(1),
        connections: 10,
        duration: Some(Duration::from_millis(100)),
        ..Plan::new(target)
    };
    let outcome = run(&plan);
    assert_eq!((outcome.counts.errors.refused, outcome.counts.unsent), (10, 0));
    assert_eq!(outcome.latency_at_least.unwrap().count, 10);
}

#[test]
fn stopped_early_it_says_what_came_until_then() {
    let stop = Arc::new(AtomicBool::new(false));
    let asked = Arc::clone(&stop);
    let server = Server::start(move |number| {
        if number == 100 {
            asked.store(true, Ordering::SeqCst);
            return Answer::Silence;
        }
        Answer::Send(OK.to_vec())
    });
    let plan = Plan { duration: Some(Duration::from_secs(3_600)), ..server.plan() };
    let outcome = load::run(&plan, &stop, None).unwrap();
    assert!(outcome.counts.stopped);
    assert_eq!(
        (outcome.counts.requests, outcome.counts.replies, outcome.counts.unfinished),
        (101, 100, 1)
    );
}

#[test]
fn histograms_say_what_the_quantiles_say() {
    let server = ok();
    let outcome = run(&requests(500, server.plan()));
    let bytes = base64_of(&outcome.latency.histogram);
    let mut reader = hdrhistogram::serialization::Deserializer::new();
    let read: hdrhistogram::Histogram<u64> = reader.deserialize(&mut &bytes[..]).unwrap();
    assert_eq!(read.len(), 500);
    assert_eq!(read.value_at_quantile(0.99), outcome.latency.p99 as u64);
    assert_eq!(read.max(), outcome.latency.max as u64);
}

fn base64_of(text: &str) -> Vec<u8> {
    use base64::Engine;
    base64::engine::general_purpose::STANDARD.decode(text).unwrap()
}

#[test]
fn a_plan_that_can_not_be_is_refused() {
    let server = ok();
    let plan = server.plan();
    let wrong = [
        Plan { connections: 0, ..plan.clone() },
        Plan { duration: None, ..plan.clone() },
        Plan { calls: Some(0), ..plan.clone() },
        Plan { shape: Shape::Open(Arrivals::Constant { per_s: 0.0 }), ..plan.clone() },
        Plan { shape: Shape::Open(Arrivals::Constant { per_s: f64::NAN }), ..plan.clone() },
        Plan { pin: vec![100_000], ..plan.clone() },
    ];
    for plan in wrong {
        let message = load::run(&plan, &AtomicBool::new(false), None).unwrap_err().to_string();
        assert!(!message.is_empty() && !message.contains('\n'), "{message}");
    }
}
