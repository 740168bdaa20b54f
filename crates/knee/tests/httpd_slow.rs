//! Thousands of clients that are slow on purpose, and one that isn't: it is served, the others are
//! bounded in time and in memory, and closed.

mod common;

use common::PATIENCE;
use common::http::{Client, Httpd};
use std::io::{self, ErrorKind, Read, Write};
use std::net::TcpStream;
use std::sync::{LazyLock, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// As many connections as `wanted`, or as the limit of descriptors leaves.
fn affordable(wanted: usize) -> usize {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
    let limit = getrlimit(Resource::Nofile);
    let _ = setrlimit(Resource::Nofile, Rlimit { current: limit.maximum, ..limit });
    // Other tests of this program may run at the same time, and need some too.
    let descriptors_max = getrlimit(Resource::Nofile)
        .current
        .map_or(wanted, |descriptors_max| descriptors_max as usize / 2);
    if descriptors_max < wanted {
        eprintln!(
            "only {descriptors_max} slow clients instead of {wanted}: that is half of `ulimit -Hn`"
        );
    }
    wanted.min(descriptors_max)
}

fn connect(server: &Httpd) -> TcpStream {
    TcpStream::connect_timeout(&server.address, PATIENCE).unwrap()
}

/// Held by the test that runs: each takes much of the kernel's memory for sockets.
static TURN: Mutex<()> = Mutex::new(());

fn turn() -> MutexGuard<'static, ()> {
    TURN.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A client that wants no harm gets its file, on a connection of its own.
fn assert_served(server: &Httpd) {
    let mut client = server.connect();
    let reply =
        client.ask(b"GET /fine.txt HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n").unwrap();
    assert_eq!((reply.status, reply.body.as_slice()), (200, &b"fine"[..]));
}

/// Whether a server has closed; what it says before is thrown away.
fn is_closed(mut stream: &TcpStream) -> bool {
    let mut bytes = [0; 1024];
    loop {
        match stream.read(&mut bytes) {
            Ok(0) => return true,
            Ok(_) => {}
            Err(error) if error.kind() == ErrorKind::WouldBlock => return false,
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => {
                assert!(is_gone(&error), "{error}");
                return true;
            }
        }
    }
}

fn is_gone(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::ConnectionReset | ErrorKind::BrokenPipe)
}

/// Heads that never end, a byte now and then.
fn slow_heads(mechanism: &str) {
    let _turn = turn();
    let directory = tempfile::tempdir().unwrap();
    std::fs::write(directory.path().join("fine.txt"), "fine").unwrap();
    let words = ["--mechanism", mechanism, "--header-timeout", "2s", "--connections", "15000"];
    let mut server = Httpd::start(directory.path(), &words);
    let descriptors = server.descriptors();
    assert_served(&server);
    let memory = server.kilobytes("VmRSS");
    let count = affordable(5_000);
    let mut slow = Vec::new();
    for number in 0..count {
        let mut stream = connect(&server);
        stream.write_all(b"GET /fine.txt HTTP/1.1\r\nHost: x\r\nX-Slow: ").unwrap();
        stream.set_nonblocking(true).unwrap();
        slow.push(stream);
        if number % 500 == 0 {
            assert_served(&server);
        }
    }
    let start = Instant::now();
    let mut grown = 0;
    while !slow.is_empty() {
        assert!(start.elapsed() < PATIENCE, "{} of {count} slow clients are left", slow.len());
        // A byte now and then.
        std::thread::sleep(Duration::from_millis(100));
        assert_served(&server);
        slow.retain(|stream| {
            let written = (&mut &*stream).write(b"a");
            let lost = written.is_err_and(|error| is_gone(&error));
            !lost && !is_closed(stream)
        });
        grown = grown.max(server.kilobytes("VmRSS").saturating_sub(memory));
    }
    assert!(server.is_running());
    assert!(grown < 8 * count as u64, "{grown} kB for {count} slow clients");
    common::wait_until("its descriptors are closed", || server.descriptors() <= descriptors);
    assert_served(&server);
    let counts = server.end();
    assert_eq!(counts["open"], 0, "{counts}");
    assert!(counts["accepted"].as_u64().unwrap() >= count as u64, "{counts}");
}

#[test]
fn slow_heads_leave_others_served_epoll_edge() {
    slow_heads("epoll-edge");
}

#[test]
fn slow_heads_leave_others_served_poll() {
    slow_heads("poll");
}

#[test]
fn slow_heads_leave_others_served_io_uring() {
    slow_heads("io_uring-completion");
}

const LARGE: usize = 8 << 20;

/// Made once for all tests.
static CONTENT: LazyLock<Vec<u8>> =
    LazyLock::new(|| (0..LARGE).map(|at| (at * 7 % 251) as u8).collect());

/// Readers of a large file, who don't read yet, and their server.
struct Readers {
    server: Httpd,
    slow: Vec<TcpStream>,
    /// Descriptors and memory of the server before they came.
    descriptors: usize,
    anonymous_kb: u64,
    /// What is served, as long as this is kept.
    directory: tempfile::TempDir,
}

impl Readers {
    fn come(wanted: usize, words: &[&str]) -> Readers {
        let directory = tempfile::tempdir().unwrap();
        std::fs::write(directory.path().join("fine.txt"), "fine").unwrap();
        std::fs::write(directory.path().join("large.bin"), &*CONTENT).unwrap();
        let server = Httpd::start(directory.path(), words);
        // Who has been served may leave a moment before the server lets go of its connection.
        let descriptors = server.descriptors();
        assert_served(&server);
        let anonymous_kb = server.kilobytes("RssAnon");
        let mut slow = Vec::new();
        for number in 0..affordable(wanted) {
            let mut stream = connect(&server);
            stream.write_all(b"GET /large.bin HTTP/1.1\r\nHost: x\r\n\r\n").unwrap();
            slow.push(stream);
            if number % 100 == 0 {
                assert_served(&server);
            }
        }
        Readers { server, slow, descriptors, anonymous_kb, directory }
    }
}

/// Many who ask for a large file and don't read it: the server holds little for each, and those who begin
/// to read at last get all of it.
fn slow_readers(count: usize, each_kb: u64, words: &[&str]) {
    let _turn = turn();
    let words = [words, &["--stall-timeout", "1h", "--lifetime", "1h"]].concat();
    let Readers { server, mut slow, anonymous_kb, directory: _kept, .. } =
        Readers::come(count, &words);
    assert_served(&server);
    // What is its own: the file's pages, mapped or not, are shared.
    let grown = server.kilobytes("RssAnon").saturating_sub(anonymous_kb);
    let count = slow.len() as u64;
    assert!(grown < each_kb * count + 16 * 1024, "{grown} kB for {count} slow readers");
    for stream in slow.drain(..slow.len().min(10)) {
        let reply = Client::new(stream).reply(false).unwrap();
        assert!(reply.status == 200 && reply.body == *CONTENT, "{} bytes", reply.body.len());
        assert_served(&server);
    }
}

#[test]
fn slow_readers_leave_others_served_sendfile() {
    slow_readers(1_000, 8, &["--mechanism", "epoll-level", "--send", "sendfile"]);
}

#[test]
fn slow_readers_leave_others_served_mmap() {
    slow_readers(100, 8, &["--mechanism", "epoll-edge", "--send", "mmap"]);
}

#[test]
fn slow_readers_leave_others_served_splice() {
    slow_readers(100, 8, &["--mechanism", "poll", "--send", "splice"]);
}

#[test]
fn slow_readers_leave_others_served_io_uring() {
    // It has a piece of the file for each in memory of its own.
    slow_readers(100, 300, &["--mechanism", "io_uring-completion"]);
}

/// Who takes nothing for too long is closed, and so has less than was promised.
#[test]
fn readers_that_sleep_are_closed() {
    let _turn = turn();
    // At the same time: all that they do is to wait.
    std::thread::scope(|scope| {
        for mechanism in ["epoll-edge", "poll", "io_uring-completion"] {
            scope.spawn(|| sleepers_are_closed(mechanism));
        }
    });
}

fn sleepers_are_closed(mechanism: &str) {
    let words = ["--mechanism", mechanism, "--stall-timeout", "1s"];
    let Readers { server, slow, descriptors, directory: _kept, .. } = Readers::come(100, &words);
    common::wait_until("readers that sleep are closed", || {
        assert_served(&server);
        server.descriptors() <= descriptors
    });
    for mut stream in slow {
        let mut taken = Vec::new();
        let read = stream.read_to_end(&mut taken);
        assert!(read.is_err() || taken.len() < LARGE, "one that slept was waited for");
    }
}
