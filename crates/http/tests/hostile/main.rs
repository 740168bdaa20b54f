//! Generated and damaged requests: whatever comes, each reply is whole, of the right
//! length and content, nothing outside of the directory is sent, and nothing is leaked.

mod replies;
mod requests;

use http::fuzzing::Exchange;
use http::{Config, Limits, Server};
use proptest::prelude::*;
use proptest::test_runner::{Config as Cases, RngAlgorithm, TestRng, TestRunner};
use replies::{Site, check, without_boundaries};
use requests::{Input, input};
use std::cell::{Cell, RefCell};
use std::io::{ErrorKind, Read, Write};
use std::net::{Ipv4Addr, Shutdown, SocketAddr, TcpStream};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// Requests without a socket, and with one over each mechanism, unless `$KNEE_REQUESTS` says another number for each: it has
/// been a hundred thousand.
const PLAYS: u32 = 20_000;
const CALLS: u32 = 1_500;
const MECHANISMS: [&str; 6] =
    ["select", "poll", "epoll-level", "epoll-edge", "io_uring-oneshot", "io_uring-completion"];

/// Only a hang takes this long.
const PATIENCE: Duration = Duration::from_secs(60);

/// Held by the test that runs: the memory and the descriptors of the process are counted.
static TURN: Mutex<()> = Mutex::new(());

/// The same cases in each run: what fails here fails everywhere.
fn runner(cases: u32) -> TestRunner {
    let rng = TestRng::deterministic_rng(RngAlgorithm::ChaCha);
    let cases = Cases { cases, failure_persistence: None, ..Cases::default() };
    TestRunner::new_with_rng(cases, rng)
}

fn requests(usual: u32) -> u32 {
    std::env::var("KNEE_REQUESTS").map_or(usual, |requests| requests.parse().unwrap())
}

/// Whether a parser has to expect replies without a body.
fn may_have_heads(input: &Input) -> bool {
    input.bytes.windows(5).any(|five| five == b"HEAD ")
}

#[test]
fn every_reply_is_whole_and_right_and_does_not_depend_on_how_its_request_arrives() {
    let _turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
    let site = Site::new();
    let exchange = RefCell::new(Exchange::new(&site.root()).unwrap());
    let replies = Cell::new(0);
    let plays = requests(PLAYS);
    let outcome = runner(plays).run(&input(), |input| {
        let mut exchange = exchange.borrow_mut();
        let pieces = exchange.play(input.pieces());
        let checked = check(&pieces.output, &site, may_have_heads(&input));
        prop_assert!(checked.is_ok(), "{}", checked.unwrap_err());
        prop_assert_eq!(checked, Ok(pieces.replies as usize));
        let whole = exchange.play([&input.bytes[..]]);
        let text = [&pieces, &whole].map(|played| without_boundaries(&played.output));
        prop_assert!(text[0] == text[1], "in pieces: {}\nat once: {}", text[0], text[1]);
        prop_assert_eq!(pieces.closed, whole.closed, "closed in pieces, or at once, and not both");
        replies.set(replies.get() + pieces.replies);
        Ok(())
    });
    outcome.unwrap_or_else(|error| panic!("{error}"));
    let replies = replies.get();
    assert!(
        replies > u64::from(plays) / 2,
        "{replies} replies: the requests were too wrong to tell"
    );
}

fn limits() -> Limits {
    Limits {
        header: PATIENCE,
        idle: PATIENCE,
        lifetime: PATIENCE * 10,
        stalled: PATIENCE,
        drain: PATIENCE,
        connections: 1_000,
    }
}

fn start(site: &Site, mechanism: &str) -> Result<Server, http::Error> {
    Server::start(Config {
        root: site.root(),
        address: Some(Ipv4Addr::LOCALHOST.into()),
        port: 0,
        mechanism: mechanism.to_owned(),
        sending: "sendfile".to_owned(),
        workers: 1,
        limits: limits(),
        cache_bytes: 1 << 20,
        ..Config::default()
    })
}

/// Sends an input, ends the sending side, and reads until the server closes.
fn called(address: SocketAddr, input: &Input) -> std::io::Result<Vec<u8>> {
    let mut stream = TcpStream::connect(address)?;
    stream.set_read_timeout(Some(PATIENCE))?;
    stream.set_nodelay(true)?;
    for piece in input.pieces() {
        // A server that has refused what came before may have closed.
        if stream.write_all(piece).is_err() {
            break;
        }
    }
    let _ = stream.shutdown(Shutdown::Write);
    let mut output = Vec::new();
    match stream.read_to_end(&mut output) {
        Err(error) if error.kind() != ErrorKind::ConnectionReset => Err(error),
        _ => Ok(output),
    }
}

fn descriptors() -> usize {
    std::fs::read_dir("/proc/self/fd").unwrap().count()
}

fn resident_kib() -> u64 {
    let text = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = text.lines().find(|line| line.starts_with("VmRSS")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse().unwrap()
}

#[test]
fn servers_survive_them_over_every_mechanism_and_leak_nothing() {
    let _turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
    let site = Site::new();
    let calls = requests(CALLS);
    for mechanism in MECHANISMS {
        let server = match start(&site, mechanism) {
            Ok(server) => server,
            Err(why) => {
                eprintln!("SKIPPED in part: {mechanism}: {why}");
                continue;
            }
        };
        let address = server.address();
        let replies = Cell::new(0);
        // Not at once: what is kept is kept by then.
        let before = Cell::new(None);
        let outcome = runner(calls).run(&input(), |input| {
            let output = called(address, &input);
            prop_assert!(output.is_ok(), "{mechanism}: {}", output.unwrap_err());
            let checked = check(&output.unwrap(), &site, may_have_heads(&input));
            prop_assert!(checked.is_ok(), "{mechanism}: {}", checked.unwrap_err());
            replies.set(replies.get() + checked.unwrap_or_default());
            if replies.get() > 200 && before.get().is_none() {
                before.set(Some(resident_kib()));
            }
            Ok(())
        });
        outcome.unwrap_or_else(|error| panic!("{error}"));
        let replies = replies.get();
        assert!(replies > calls as usize / 2, "{mechanism}: {replies} replies");
        let grown = resident_kib().saturating_sub(before.get().unwrap());
        assert!(grown < 16 * 1024, "{mechanism}: {grown} KiB more than at the beginning");
        let start = std::time::Instant::now();
        while server.stopper().counts().open > 0 {
            assert!(start.elapsed() < PATIENCE, "{mechanism}: {:?}", server.stopper().counts());
            std::thread::sleep(Duration::from_millis(1));
        }
        server.stopper().stop();
        server.wait().unwrap();
    }
    let before = descriptors();
    for mechanism in MECHANISMS {
        if let Ok(server) = start(&site, mechanism) {
            called(server.address(), &Input::plain()).unwrap();
            server.stopper().stop();
            server.wait().unwrap();
        }
    }
    assert_eq!(descriptors(), before, "descriptors are left of servers that have ended");
}
