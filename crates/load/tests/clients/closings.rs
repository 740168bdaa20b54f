//! What a server is seen to do: it ends connections, or its replies wait for acknowledgements.

use crate::common::{Answer, OK, Server};
use load::{Arrivals, Closings, Misfit, Outcome, Plan, Shape, Statuses, delayed_reply, pipelines};
use std::sync::atomic::AtomicBool;
use std::time::Duration;

fn closings(script: impl Fn(u64) -> Answer + Send + Sync + 'static, keep_alive: bool) -> Closings {
    let server = Server::start(script);
    let duration = Some(Duration::from_secs(60));
    let plan = Plan { requests: Some(60), connections: 1, keep_alive, duration, ..server.plan() };
    let outcome = load::run(&plan, &AtomicBool::new(false), None).unwrap();
    assert_eq!((outcome.counts.replies, outcome.counts.errors.total()), (60, 0));
    outcome.counts.closings
}

const LAST: &[u8] = b"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\nhi";
const OLD: &[u8] = b"HTTP/1.0 200 OK\r\nContent-Length: 2\r\n\r\nhi";
const UNTIL_THE_END: &[u8] = b"HTTP/1.1 200 OK\r\n\r\nhi";

#[test]
fn connections_that_the_server_ends_are_counted_with_their_replies() {
    let each = |reply: &'static [u8]| closings(move |_| Answer::Last(reply.to_vec()), true);
    let single = Closings { announced: 60, replies_min: 1, replies_max: 1, ..Closings::default() };
    assert_eq!(each(LAST), single);
    assert_eq!(each(OLD), Closings { http_10: 60, ..single });
    assert_eq!(each(UNTIL_THE_END), Closings { announced: 0, unannounced: 60, ..single });
    let tenth = |number| match number % 10 {
        9 => Answer::Last(LAST.to_vec()),
        _ => Answer::Send(OK.to_vec()),
    };
    let ten = Closings { announced: 6, replies_min: 10, replies_max: 10, ..Closings::default() };
    assert_eq!(closings(tenth, true), ten);
}

#[test]
fn a_connection_that_lasts_or_whose_end_was_asked_for_is_no_closing() {
    assert_eq!(closings(|_| Answer::Send(OK.to_vec()), true), Closings::default());
    assert_eq!(closings(|_| Answer::Last(LAST.to_vec()), false), Closings::default());
}

#[test]
fn a_reply_that_waits_for_an_acknowledgement_differs_from_a_slow_one() {
    let split = Server::start(|_| Answer::Pieces(OK.to_vec(), 38));
    // Whatever else takes time on this machine, an immediate acknowledgement saves most of the delay.
    let delayed = (0..20).find_map(|_| delayed_reply(&split.target(), 41e6).unwrap());
    let delayed = delayed.expect("a delay of 40 ms in one of twenty looks");
    assert!(delayed.delayed_ms > 36.0 && delayed.immediate_ms < 20.0, "{delayed:?}");
    // Such a median only is looked into.
    assert_eq!(delayed_reply(&split.target(), 1e6).unwrap(), None);
    let slow = Server::start(|_| {
        std::thread::sleep(Duration::from_millis(41));
        Answer::Send(OK.to_vec())
    });
    assert_eq!(delayed_reply(&slow.target(), 41e6).unwrap(), None);
}

fn load_on(server: &Server, plan: Plan) -> Outcome {
    let plan = Plan { target: server.target(), ..plan };
    load::run(&plan, &AtomicBool::new(false), None).unwrap()
}

fn answering(reply: &'static [u8]) -> Server {
    Server::start(move |_| Answer::Send(reply.to_vec()))
}

#[test]
fn a_silent_close_after_each_reply_is_one_of_the_server() {
    let server = Server::start(|_| Answer::Last(OK.to_vec()));
    let plan = Plan { requests: Some(40), connections: 2, duration: None, ..server.plan() };
    let counts = load_on(&server, plan).counts;
    let Closings { unannounced, announced, replies_min, replies_max, .. } = counts.closings;
    assert_eq!((announced, replies_min, replies_max), (0, 1, 1), "{counts:?}");
    assert!(unannounced > 0 && counts.replies > 0, "{counts:?}");
    // What was in flight then is no reset of a connection that never served.
    assert_eq!(counts.errors.total(), counts.errors.closed, "{counts:?}");
}

#[test]
fn an_idle_connection_that_ends_is_no_failed_request() {
    for connections in [1, 2] {
        let server = Server::start(|_| Answer::LastAfter(OK.to_vec(), Duration::from_millis(300)));
        let plan = Plan {
            shape: Shape::Open(Arrivals::Constant { per_s: 1.0 }),
            duration: Some(Duration::from_millis(2_500)),
            ..server.plan()
        };
        let counts = load_on(&server, Plan { connections, ..plan }).counts;
        assert_eq!((counts.errors.total(), counts.replies), (0, 3), "{counts:?}");
        let Closings { idle, idle_ms_min, .. } = counts.closings;
        assert!(idle >= 2 && idle_ms_min >= 250, "{counts:?}");
    }
}

#[test]
fn connections_that_never_get_a_reply_are_counted() {
    // The first three requests come over three of ten connections.
    let server = Server::start(|number| match number {
        0..3 => Answer::Send(OK.to_vec()),
        _ => Answer::Silence,
    });
    let plan = Plan {
        connections: 10,
        duration: Some(Duration::from_millis(200)),
        timeout: Duration::from_secs(1),
        ..server.plan()
    };
    let counts = load_on(&server, plan).counts;
    assert_eq!((counts.asked, counts.replies), (10, 3), "{counts:?}");
    assert!((7..=9).contains(&counts.unserved), "{counts:?}");
    let served = answering(OK);
    let plan = Plan { connections: 10, requests: Some(200), duration: None, ..served.plan() };
    let counts = load_on(&served, plan).counts;
    assert_eq!((counts.asked, counts.unserved), (10, 0));
}

#[test]
fn replies_that_are_no_success_are_in_no_rate_and_no_latency() {
    const MISSING: &[u8] = b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n";
    let server =
        Server::start(|number| Answer::Send(if number % 5 < 3 { MISSING } else { OK }.to_vec()));
    let plan = Plan { requests: Some(100), duration: None, ..server.plan() };
    let outcome = load_on(&server, plan.clone());
    assert_eq!((outcome.counts.replies, outcome.counts.errors.status), (40, 60));
    assert_eq!((outcome.latency.count, outcome.counts.statuses), (40, [0, 40, 0, 60, 0]));
    let meant = Plan { success: "200,404".parse::<Statuses>().unwrap(), ..plan };
    let counts = load_on(&server, meant).counts;
    assert_eq!((counts.replies, counts.errors.total()), (100, 0));
}

#[test]
fn a_redirect_and_another_protocol_are_named() {
    let once = |reply: &'static [u8]| {
        let server = answering(reply);
        load_on(&server, Plan { requests: Some(2), duration: None, ..server.plan() }).counts
    };
    let moved = once(b"HTTP/1.1 301 Moved\r\nLocation: /elsewhere\r\nContent-Length: 0\r\n\r\n");
    assert_eq!((moved.redirects_to.as_deref(), moved.replies), (Some("/elsewhere"), 2));
    assert_eq!(once(&[21, 3, 3, 0, 2, 2, 40]).misfit, Some(Misfit::Tls));
    let settings = once(&[0, 0, 0, 4, 0, 0, 0, 0, 0]);
    assert_eq!((settings.misfit, settings.replies), (Some(Misfit::Http2), 0));
    let mail = Some(Misfit::Foreign { start: "220 ready when you are".into() });
    assert_eq!(once(b"220 ready when you are\r\n").misfit, mail);
    let surplus = Some(Misfit::Surplus { start: "more".into() });
    assert_eq!(once(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\nmore").misfit, surplus);
}

#[test]
fn a_time_without_a_reply_is_measured() {
    let server = Server::start(|number| {
        if number == 100 {
            std::thread::sleep(Duration::from_millis(700));
        }
        Answer::Send(OK.to_vec())
    });
    let plan = Plan { requests: Some(200), duration: None, ..server.plan() };
    let counts = load_on(&server, plan).counts;
    let stalls = counts.stalls.as_ref().unwrap();
    assert!(stalls.iter().any(|stall| stall.length_s >= 0.69), "{counts:?}");
}

#[test]
fn a_server_that_answers_one_of_two_requests_does_not_pipeline() {
    assert_eq!(pipelines(&answering(OK).target()), Some(true));
    // The second of each pair is forgotten.
    let forgets = Server::start(|number| match number % 2 {
        0 => Answer::Send(OK.to_vec()),
        _ => Answer::Silence,
    });
    assert_eq!(pipelines(&forgets.target()), Some(false));
    assert_eq!(pipelines(&answering(LAST).target()), None);
}
