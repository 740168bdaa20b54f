//! Dead connections: as many as asked for, seen from both sides, and gone without a trace.

mod common;

use common::{Answer, OK, Server, closed_port};
use load::{Dead, Holding, Housing};
use std::collections::{BTreeSet, HashSet};
use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};
use sys::sockets::established_at;

static NEVER: AtomicBool = AtomicBool::new(false);

fn threads(server: &Server, count: usize) -> Holding {
    Holding { housing: Housing::Threads, ..Holding::new(&server.target(), count) }
}

/// Waits until so many are left: the end of the last may be on its way still.
fn wait_for(wanted: u64, mut left: impl FnMut() -> u64) {
    let start = Instant::now();
    loop {
        let remaining = left();
        if remaining == wanted {
            return;
        }
        assert!(start.elapsed() < Duration::from_secs(60), "{remaining} are left, not {wanted}");
        std::thread::sleep(Duration::from_millis(1));
    }
}

#[test]
fn they_are_open_on_both_sides_and_leave_nothing() {
    let server = Server::start(|_| Answer::Send(OK.to_vec()));
    // The port may have been another program's, whose connections wait.
    let waiting_before = waiting_at(server.address);
    let mut dead = Dead::open(&server.target(), 300, &threads(&server, 300), &NEVER).unwrap();
    assert_eq!(
        (dead.outcome.asked, dead.outcome.opened, dead.outcome.errors.total()),
        (300, 300, 0)
    );
    assert_eq!(server.requests.load(Ordering::SeqCst), 300);
    assert_eq!(dead.alive().unwrap(), 300);
    assert_eq!(established_at(server.address).unwrap(), Some(300));
    assert_eq!(dead.close().unwrap(), 300);
    wait_for(0, || established_at(server.address).unwrap().unwrap());
    // Reset, none is kept waiting by the kernel on the side that closed it.
    assert!(waiting_at(server.address).is_subset(&waiting_before));
}

/// Both ends of the connections of a port that are closed and kept waiting, as the kernel writes them.
fn waiting_at(address: SocketAddr) -> BTreeSet<[String; 2]> {
    let port = format!(":{:04X}", address.port());
    let lines = std::fs::read_to_string("/proc/net/tcp").unwrap();
    let ends = |line: &str| {
        let mut words = line.split_whitespace().skip(1).map(str::to_owned);
        let ends = [words.next()?, words.next()?];
        let is_waiting = words.next()? == "06" && ends.iter().any(|end| end.ends_with(&port));
        is_waiting.then_some(ends)
    };
    lines.lines().filter_map(ends).collect()
}

#[test]
fn those_that_the_server_drops_are_missed() {
    // Every fourth is answered with a last reply, which its client can't tell from the others.
    let server = Server::start(|number| match number % 4 {
        3 => Answer::Last(OK.to_vec()),
        _ => Answer::Send(OK.to_vec()),
    });
    let mut dead = Dead::open(&server.target(), 100, &threads(&server, 100), &NEVER).unwrap();
    assert!(dead.outcome.opened + dead.outcome.errors.total() == 100);
    wait_for(75, || dead.alive().unwrap());
}

#[test]
fn how_long_the_server_lets_them_be_idle_is_measured() {
    let (pause, count) = (Duration::from_millis(300), 20);
    let server = Server::start(move |_| Answer::LastAfter(OK.to_vec(), pause));
    let mut dead = Dead::open(&server.target(), count, &threads(&server, count), &NEVER).unwrap();
    assert_eq!((dead.outcome.opened, dead.outcome.closed_idle), (count as u64, None));
    wait_for(0, || dead.alive().unwrap());
    let idle = dead.outcome.closed_idle.unwrap();
    assert_eq!(idle.count, count as u64);
    // The server begins to wait a little before its reply has come.
    assert!(idle.min_ms >= 200, "{idle:?}");
    assert!(idle.median_ms < 20_000 && idle.min_ms <= idle.median_ms, "{idle:?}");
    assert!(idle.median_ms <= idle.max_ms, "{idle:?}");
}

#[test]
fn a_silent_close_after_the_reply_is_no_idle_time() {
    let server = Server::start(|_| Answer::Last(OK.to_vec()));
    let mut dead = Dead::open(&server.target(), 100, &threads(&server, 100), &NEVER).unwrap();
    wait_for(0, || dead.alive().unwrap());
    let outcome = dead.outcome;
    // A machine that is very busy sees some of them late.
    let idle = outcome.closed_idle.map_or(0, |idle| idle.count);
    let at_once = outcome.closings.unannounced;
    assert_eq!(at_once + idle, outcome.opened, "{outcome:?}");
    assert!(at_once > 0 && !outcome.closings.is_announced(), "{outcome:?}");
    assert_eq!(outcome.can_not_be_held(), idle == 0, "{outcome:?}");
}

#[test]
fn a_server_that_ends_each_connection_is_not_asked_for_all_of_them() {
    let reply = b"HTTP/1.0 200 OK\r\nContent-Length: 2\r\n\r\nhi";
    let server = Server::start(|_| Answer::Last(reply.to_vec()));
    let dead = Dead::open(&server.target(), 5_000, &threads(&server, 5_000), &NEVER).unwrap();
    let closings = dead.outcome.closings;
    assert_eq!((dead.outcome.opened, closings.replies_min, closings.replies_max), (0, 1, 1));
    assert!((200..1_000).contains(&closings.announced), "{closings:?}");
    assert_eq!(closings.http_10, closings.announced);
    assert!(server.requests.load(Ordering::SeqCst) < 1_000);
}

#[test]
fn what_can_not_be_opened_is_counted_by_its_kind() {
    let refusing =
        Server::start(|_| Answer::Send(b"HTTP/1.1 503 No\r\nContent-Length: 0\r\n\r\n".to_vec()));
    let dead = Dead::open(&refusing.target(), 20, &threads(&refusing, 20), &NEVER).unwrap();
    assert_eq!((dead.outcome.opened, dead.outcome.errors.status), (0, 20));
    let silent = Server::start(|_| Answer::Silence);
    let holding = Holding { timeout: Duration::from_millis(100), ..threads(&silent, 5) };
    let dead = Dead::open(&silent.target(), 5, &holding, &NEVER).unwrap();
    assert_eq!((dead.outcome.opened, dead.outcome.errors.timeout), (0, 5));
    let (_kept, address) = closed_port();
    let target = load::Target { address: address.into(), ..silent.target() };
    let dead = Dead::open(&target, 7, &holding, &NEVER).unwrap();
    assert_eq!((dead.outcome.opened, dead.outcome.errors.refused), (0, 7));
}

#[test]
fn only_time_outs_in_a_row_end_the_opening() {
    // Every fourth is left without a reply: far more than any number in a row.
    let server = Server::start(|number| match number % 4 {
        3 => Answer::Silence,
        _ => Answer::Send(OK.to_vec()),
    });
    let count = 1_200;
    // A busy machine may take half a second to reply.
    let holding = Holding { timeout: Duration::from_secs(1), ..threads(&server, count) };
    let dead = Dead::open(&server.target(), count, &holding, &NEVER).unwrap();
    assert_eq!(dead.outcome.untried, 0, "{:?}", dead.outcome.errors);
    assert_eq!(dead.outcome.opened + dead.outcome.errors.total(), count as u64);
    assert!(dead.outcome.errors.timeout >= 200, "{:?}", dead.outcome.errors);
    // Those that are given up are counted too.
    let silent = Server::start(|_| Answer::Silence);
    let holding = Holding { timeout: Duration::from_millis(100), ..threads(&silent, 1_000) };
    let dead = Dead::open(&silent.target(), 1_000, &holding, &NEVER).unwrap();
    assert_eq!(dead.outcome.errors.timeout + dead.outcome.untried, 1_000);
    assert!(dead.outcome.untried >= 600, "{}", dead.outcome.untried);
}

#[test]
fn they_may_come_from_several_addresses() {
    let server = Server::start(|_| Answer::Send(OK.to_vec()));
    let sources = load::loopback_sources(3);
    let holding = Holding { sources, ..threads(&server, 30) };
    let mut dead = Dead::open(&server.target(), 30, &holding, &NEVER).unwrap();
    assert_eq!((dead.outcome.opened, dead.alive().unwrap()), (30, 30));
    // The client's ends, by their addresses as the kernel writes them: 127.0.0.2 to 127.0.0.4.
    let lines = std::fs::read_to_string("/proc/net/tcp").unwrap();
    let peer = format!("0100007F:{:04X} 01", server.address.port());
    for last in 2..5_u32 {
        let local = format!("{:08X}:", u32::from_ne_bytes([127, 0, 0, last as u8]));
        let own = lines.lines().filter(|line| line.contains(&peer));
        let ends =
            own.filter_map(|line| line.split_whitespace().find(|end| end.starts_with(&local)));
        // While connections of other tests come and go, the kernel's list has some lines twice.
        assert_eq!(ends.collect::<HashSet<_>>().len(), 10, "127.0.0.{last}");
    }
}
