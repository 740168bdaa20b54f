//! What the server takes of a machine: memory for idle connections, descriptors, and time where they have
//! run out.

mod common;

use common::http::Httpd;
use common::{PATIENCE, wait_until};
use rustix::process::{Pid, Resource, Rlimit, Signal, getrlimit, kill_process, prlimit, setrlimit};
use std::io::{Read, Write};
use std::net::TcpStream;
use std::process::Command;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tempfile::TempDir;

/// Idle connections whose memory is measured, over these mechanisms and the others.
const IDLE: (usize, usize) = (5_000, 1_000);
const MANY_OVER: [&str; 3] = ["epoll-level", "epoll-edge", "io_uring-completion"];

/// The most that an idle connection may take in user space.
const IDLE_BYTES: u64 = 1_024;

/// More CPU time than a server takes for some tries in vain, and less than one gets that tries without end,
/// in 300 ms and even with as many of its kind as there are mechanisms.
const QUIET_NS: u64 = 20_000_000;

/// Held by the test that runs: each takes most of the descriptors that this process may have.
static TURN: Mutex<()> = Mutex::new(());

fn turn() -> MutexGuard<'static, ()> {
    let Rlimit { current, maximum } = getrlimit(Resource::Nofile);
    if current != maximum {
        setrlimit(Resource::Nofile, Rlimit { current: maximum, maximum }).unwrap();
    }
    TURN.lock().unwrap_or_else(PoisonError::into_inner)
}

fn directory() -> TempDir {
    let directory = tempfile::tempdir().unwrap();
    std::fs::write(directory.path().join("small"), [b'a'; 128]).unwrap();
    std::fs::write(directory.path().join("big"), vec![b'b'; 3_000_000]).unwrap();
    directory
}

fn mechanisms() -> Vec<&'static str> {
    let all = http::mechanisms().into_iter();
    all.filter(|row| http::available(row.name).is_ok()).map(|row| row.name).collect()
}

/// Each mechanism by itself, all at the same time: what they wait for in silence is waited for once. None
/// takes more than 250 descriptors of this process.
fn with_each(test: impl Fn(&'static str) + Sync) {
    let limit = getrlimit(Resource::Nofile).current.unwrap_or(u64::MAX);
    let at_once = usize::try_from(limit / 500).unwrap_or(usize::MAX).max(1);
    for some in mechanisms().chunks(at_once) {
        std::thread::scope(|scope| {
            for &mechanism in some {
                scope.spawn(|| test(mechanism));
            }
        });
    }
}

fn connect(server: &Httpd) -> TcpStream {
    let stream = TcpStream::connect(server.address).unwrap();
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    stream
}

/// One request over a connection, and its reply.
fn ask(mut stream: &TcpStream) {
    stream.write_all(b"GET /small HTTP/1.1\r\nHost: x\r\n\r\n").unwrap();
    let mut reply = Vec::new();
    while !reply.ends_with(&[b'a'; 128]) {
        let mut some = [0; 1_000];
        let came = stream.read(&mut some).unwrap();
        assert_ne!(came, 0, "{:?}", String::from_utf8_lossy(&reply));
        reply.extend(&some[..came]);
    }
}

/// CPU time of all threads, in nanoseconds.
fn cpu_ns(server: &Httpd) -> u64 {
    let tasks = std::fs::read_dir(format!("/proc/{}/task", server.pid())).unwrap();
    let read = |task: std::fs::DirEntry| {
        let text = std::fs::read_to_string(task.path().join("schedstat")).unwrap_or_default();
        text.split(' ').next().and_then(|ns| ns.parse().ok()).unwrap_or(0_u64)
    };
    tasks.flatten().map(read).sum()
}

/// The program, with a limit of 64 descriptors from its beginning.
fn limited() -> Command {
    let mut command = Command::new("sh");
    command.args(["-c", "ulimit -n 64; exec \"$0\" \"$@\"", env!("CARGO_BIN_EXE_knee")]);
    command
}

fn limit_descriptors(server: &Httpd, limit: u64) {
    let pid = Pid::from_raw(server.pid().cast_signed());
    let limit = Rlimit { current: Some(limit), maximum: getrlimit(Resource::Nofile).maximum };
    prlimit(pid, Resource::Nofile, limit).unwrap();
}

fn signal(server: &Httpd, signal: Signal) {
    kill_process(Pid::from_raw(server.pid().cast_signed()).unwrap(), signal).unwrap();
}

#[test]
fn an_idle_connection_takes_less_than_a_kilobyte() {
    let _turn = turn();
    let directory = directory();
    let limit = getrlimit(Resource::Nofile).current.unwrap_or(u64::MAX);
    let descriptors_max = usize::try_from(limit).unwrap_or(usize::MAX) / 2;
    for mechanism in mechanisms() {
        let idle =
            if MANY_OVER.contains(&mechanism) { IDLE.0 } else { IDLE.1 }.min(descriptors_max);
        let server = Httpd::start(directory.path(), &["--mechanism", mechanism]);
        // What the first requests of any kind take is not an idle connection's.
        for _ in 0..300 {
            ask(&connect(&server));
        }
        let before = server.kilobytes("VmRSS");
        let streams: Vec<TcpStream> = (0..idle).map(|_| connect(&server)).collect();
        streams.iter().for_each(ask);
        let each = server.kilobytes("VmRSS").saturating_sub(before) * 1_024 / idle as u64;
        eprintln!("{mechanism}: {each} bytes for each of {idle} idle connections");
        assert!(each <= IDLE_BYTES, "{mechanism}: {each} bytes for each idle connection");
        drop(streams);
        assert_eq!(server.end()["replies"], idle + 300, "{mechanism}");
    }
}

#[test]
fn where_descriptors_run_out_accepting_pauses_and_nothing_spins() {
    let _turn = turn();
    let directory = directory();
    with_each(|mechanism| {
        // With few of them, io_uring-completion accepts each on its own, under the limit of that moment.
        let words = ["--mechanism", mechanism, "--connections", "4000"];
        let server = Httpd::start(directory.path(), &words);
        ask(&connect(&server));
        let without = server.descriptors();
        // Only now, so that the server does not know it and meets the error.
        limit_descriptors(&server, 64);
        let streams: Vec<TcpStream> = (0..70).map(|_| connect(&server)).collect();
        wait_until("descriptors run out", || server.descriptors() >= 60);
        let before = cpu_ns(&server);
        // The silence lasts as long as the server needs to try in vain a few times.
        let mut quiet = connect(&server);
        quiet.set_read_timeout(Some(Duration::from_millis(600))).unwrap();
        assert!(quiet.read(&mut [0]).is_err(), "{mechanism}: nobody can be accepted");
        let burnt_ns = cpu_ns(&server).saturating_sub(before);
        assert!(burnt_ns < QUIET_NS, "{mechanism}: {burnt_ns} ns of CPU for nothing");
        // As some go, the others come.
        let rest = streams.into_iter().skip(60).collect::<Vec<_>>();
        // No more can come than have gone: there are descriptors left to look at the file with.
        wait_until("some are closed", || server.descriptors() <= without + rest.len() + 1);
        rest.iter().for_each(ask);
        drop(rest);
        ask(&quiet);
        drop(quiet);
        let counts = server.end();
        assert!(counts["pauses"].as_u64() > Some(0), "{mechanism}: {counts}");
        assert_eq!(counts["replies"], 12, "{mechanism}: {counts}");
    });
}

#[test]
fn a_server_that_knows_its_limit_keeps_descriptors_for_files() {
    let _turn = turn();
    let directory = directory();
    with_each(|mechanism| {
        let words = ["--cache", "0", "--mechanism", mechanism];
        let server = Httpd::start_by(&mut limited(), directory.path(), &words);
        // All at once, as far as the server can tell.
        signal(&server, Signal::STOP);
        let streams: Vec<TcpStream> = (0..100).map(|_| connect(&server)).collect();
        signal(&server, Signal::CONT);
        // Each opens a file, while all descriptors for connections are taken.
        streams[..48].iter().for_each(ask);
        drop(streams);
        let counts = server.end();
        assert!(counts["pauses"].as_u64() > Some(0), "{mechanism}: {counts}");
    });
}

#[test]
fn who_sends_no_more_and_takes_nothing_costs_no_time_and_no_thread() {
    let _turn = turn();
    let directory = directory();
    with_each(|mechanism| {
        let server = Httpd::start(directory.path(), &["--mechanism", mechanism]);
        let threads = || std::fs::read_dir(format!("/proc/{}/task", server.pid())).unwrap().count();
        wait_until("all threads run", || threads() == 3);
        // More than any socket takes, from a file and from memory.
        let streams: Vec<TcpStream> = [("big", 20), ("small", 100_000)]
            .map(|(file, times)| {
                let mut stream = connect(&server);
                let request = format!("GET /{file} HTTP/1.1\r\nHost: x\r\n\r\n");
                // A client that is not listened to either can't say all of it.
                stream.set_nonblocking(true).unwrap();
                let _ = stream.write(request.repeat(times).as_bytes());
                stream.shutdown(std::net::Shutdown::Write).unwrap();
                stream
            })
            .into();
        // One that goes on trying is never quiet.
        wait_until("the server is quiet", || {
            let before = cpu_ns(&server);
            std::thread::sleep(Duration::from_millis(300));
            cpu_ns(&server).saturating_sub(before) < QUIET_NS
        });
        assert_eq!(threads(), 3, "{mechanism}: a thread for a client");
        drop(streams);
    });
}

/// Connections that end before, in and after a request or a reply.
fn storm(server: &Httpd) {
    let requests = "GET /big HTTP/1.1\r\nHost: x\r\n\r\n".repeat(3);
    for moment in 0..200 {
        let mut stream = connect(server);
        stream.write_all(&requests.as_bytes()[..moment.min(requests.len())]).unwrap();
        if moment > 60 {
            stream.read_exact(&mut vec![0; moment * 100]).unwrap();
        }
    }
}

#[test]
fn no_descriptor_is_left_of_connections_that_ended_in_any_way() {
    let _turn = turn();
    let directory = directory();
    with_each(|mechanism| {
        let server = Httpd::start(directory.path(), &["--mechanism", mechanism, "--workers", "2"]);
        // Two workers, the thread that waits for them, and the one that waits for signals.
        let tasks = format!("/proc/{}/task", server.pid());
        wait_until("all threads run", || std::fs::read_dir(&tasks).unwrap().count() == 4);
        let before = server.descriptors();
        storm(&server);
        wait_until("all are closed", || server.descriptors() <= before);
        let counts = server.end();
        assert_eq!((&counts["accepted"], &counts["open"]), (&200.into(), &0.into()), "{mechanism}");
    });
}

#[test]
fn a_second_signal_ends_it_at_once() {
    let _turn = turn();
    let directory = directory();
    for first in [Signal::TERM, Signal::INT] {
        let server = Httpd::start(directory.path(), &["--drain", "1h"]);
        let mut stream = connect(&server);
        stream.write_all(&b"GET /big HTTP/1.1\r\nHost: x\r\n\r\n".repeat(5)).unwrap();
        stream.read_exact(&mut [0; 100]).unwrap();
        signal(&server, first);
        wait_until("it listens no more", || TcpStream::connect(server.address).is_err());
        let counts = server.end();
        assert_eq!(counts["open"], 0, "{counts}");
    }
}
