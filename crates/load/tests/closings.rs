//! What a server is seen to do: it ends connections, or its replies wait for acknowledgements.

mod common;

use common::{Answer, OK, Server};
use load::{Closings, Plan, delayed_reply};
use std::sync::atomic::AtomicBool;
use std::time::Duration;

fn closings(script: impl Fn(u64) -> Answer + Send + Sync + 'static, keep_alive: bool) -> Closings {
    let server = Server::start(script);
    let plan = Plan { requests: Some(60), connections: 1, keep_alive, ..server.plan() };
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
    assert_eq!(each(UNTIL_THE_END), single);
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
