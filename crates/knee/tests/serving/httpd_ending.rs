//! The log of `knee httpd`, and its end, with readers that are absent, slow or gone.

use crate::common::PATIENCE;
use crate::common::http::Httpd;
use rustix::fs::{CWD, FileType, Mode, mknodat};
use rustix::process::{Pid, Signal, kill_process};
use std::fs::{self, File};
use std::io::{ErrorKind, Read, Write};
use std::net::TcpStream;
use std::os::fd::AsFd;
use std::os::unix::fs::OpenOptionsExt;
use std::path::PathBuf;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};
use tempfile::TempDir;

const GET: &[u8] = b"GET /small HTTP/1.1\r\nHost: x\r\n\r\n";

/// More than sockets hold of it on the way.
const BIG_BYTES: u64 = 64 << 20;

fn directory() -> TempDir {
    let directory = tempfile::tempdir().unwrap();
    fs::write(directory.path().join("small"), "small").unwrap();
    File::create(directory.path().join("big")).unwrap().set_len(BIG_BYTES).unwrap();
    directory
}

fn fifo(directory: &TempDir) -> PathBuf {
    let path = directory.path().join("log");
    mknodat(CWD, &path, FileType::Fifo, Mode::from_raw_mode(0o600), 0).unwrap();
    path
}

fn nonblocking_reader(path: &std::path::Path) -> File {
    let flags = rustix::fs::OFlags::NONBLOCK.bits().cast_signed();
    File::options().read(true).custom_flags(flags).open(path).unwrap()
}

/// All that can be read now.
fn drain(mut file: &File) -> Vec<u8> {
    let mut bytes = vec![0; 1 << 20];
    let mut length = 0;
    loop {
        match file.read(&mut bytes[length..]) {
            Ok(0) => break,
            Ok(count) => length += count,
            Err(error) if error.kind() == ErrorKind::WouldBlock => break,
            Err(error) => panic!("{error}"),
        }
    }
    bytes.truncate(length);
    bytes
}

fn request_small(server: &Httpd, count: usize) {
    let mut stream = TcpStream::connect_timeout(&server.address, PATIENCE).unwrap();
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    let mut copy = stream.try_clone().unwrap();
    let writer = std::thread::spawn(move || {
        copy.write_all(&GET.repeat(count)).unwrap();
        copy.shutdown(std::net::Shutdown::Write).unwrap();
    });
    let mut replies = Vec::new();
    stream.read_to_end(&mut replies).unwrap();
    writer.join().unwrap();
    assert_eq!(replies.windows(9).filter(|bytes| *bytes == b"\r\n\r\nsmall").count(), count);
}

#[test]
fn a_log_without_a_reader_delays_no_client_and_each_line_is_written_or_counted() {
    for has_reader in [false, true] {
        let directory = directory();
        let log = fifo(&directory);
        let silent = has_reader.then(|| nonblocking_reader(&log));
        let words = ["--log", log.to_str().unwrap(), "--workers", "1"];
        let server = Httpd::start(directory.path(), &words);
        request_small(&server, 10_000);
        let reader = silent.unwrap_or_else(|| nonblocking_reader(&log));
        let counts = server.end();
        let lines = drain(&reader).split(|byte| *byte == b'\n').count() as u64 - 1;
        assert_eq!(counts["replies"], 10_000);
        let unlogged = counts["unlogged"].as_u64().unwrap();
        assert!(unlogged > 0 && lines > 0, "{counts}");
        assert_eq!(lines + unlogged, 10_000);
    }
}

#[test]
fn a_client_that_leaves_is_logged_with_what_it_was_sent() {
    for mechanism in ["epoll-level", "epoll-edge", "io_uring-completion"] {
        if http::available(mechanism).is_err() {
            eprintln!("SKIPPED in part: {mechanism} is unavailable here");
            continue;
        }
        let directory = directory();
        let log = directory.path().join("log");
        let words = ["--log", log.to_str().unwrap(), "--mechanism", mechanism];
        let server = Httpd::start(directory.path(), &words);
        request_small(&server, 2);
        let mut stream = TcpStream::connect_timeout(&server.address, PATIENCE).unwrap();
        stream.write_all(b"GET /big HTTP/1.1\r\nHost: x\r\n\r\n").unwrap();
        stream.read_exact(&mut [0; 100]).unwrap();
        drop(stream);
        let counts = server.end();
        let text = fs::read_to_string(&log).unwrap();
        assert_eq!((&counts["replies"], &counts["aborted"]), (&2.into(), &1.into()), "{text}");
        assert_eq!(text.lines().count(), 3, "{text}");
        let (_, sent) = text.trim_end().rsplit_once(" 200 ").unwrap();
        let sent: u64 = sent.parse().unwrap();
        assert!((1..BIG_BYTES).contains(&sent), "{mechanism}: {text}");
        let bytes = counts["bytes"].as_u64().unwrap();
        assert!(sent < bytes && bytes < sent + 2_000, "{sent} in the log, {bytes} at the end");
    }
}

fn serve(directory: &TempDir, words: &[&str], output: impl Into<Stdio>) -> Child {
    Command::new(env!("CARGO_BIN_EXE_knee"))
        .arg("httpd")
        .arg(directory.path())
        .args(["--port", "0", "--bind", "127.0.0.1"])
        .args(words)
        .stdin(Stdio::null())
        .stdout(output)
        .stderr(Stdio::piped())
        .spawn()
        .unwrap()
}

fn terminate(child: &Child) {
    let pid = Pid::from_raw(child.id().cast_signed()).unwrap();
    kill_process(pid, Signal::TERM).unwrap();
}

/// Its status and what it wrote on standard error; it is killed if it does not end.
fn wait(mut child: Child) -> (Option<ExitStatus>, String) {
    let begun = Instant::now();
    let mut status = None;
    while status.is_none() && begun.elapsed() < PATIENCE {
        status = child.try_wait().unwrap();
        std::thread::sleep(Duration::from_millis(10));
    }
    let _ = child.kill();
    let mut text = String::new();
    child.stderr.take().unwrap().read_to_string(&mut text).unwrap();
    let _ = child.wait();
    (status, text)
}

#[test]
fn a_server_whose_address_goes_unread_fails_with_a_message() {
    let directory = directory();
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    let (status, text) = wait(serve(&directory, &[], writer));
    assert_eq!(status.unwrap().code(), Some(1), "{text}");
    assert!(text.contains("nothing was served") && text.lines().count() == 1, "{text}");
}

/// Fills a pipe, so that the next one who writes to it waits.
fn fill(pipe: &std::io::PipeWriter) {
    rustix::io::ioctl_fionbio(pipe.as_fd(), true).unwrap();
    let mut writer = pipe;
    for chunk in [4096, 1] {
        while writer.write(&vec![b' '; chunk]).is_ok() {}
    }
    rustix::io::ioctl_fionbio(pipe.as_fd(), false).unwrap();
}

/// A set of signals of a process, a bit each.
fn signals_of(child: &Child, set: &str) -> Option<u64> {
    let text = fs::read_to_string(format!("/proc/{}/status", child.id())).ok()?;
    let mask = text.lines().find_map(|line| line.strip_prefix(set)?.strip_prefix(":\t"))?;
    u64::from_str_radix(mask, 16).ok()
}

fn has_term(mask: u64) -> bool {
    mask >> (Signal::TERM.as_raw() - 1) & 1 == 1
}

#[test]
fn signals_end_a_server_that_hangs_in_its_output() {
    // The last line, after a drain; the first line, by the second signal.
    for (drain, hangs_at_start, signals) in [("100ms", false, 1), ("1h", true, 2)] {
        let directory = directory();
        let (mut reader, writer) = std::io::pipe().unwrap();
        if hangs_at_start {
            fill(&writer);
        }
        let child = serve(&directory, &["--drain", drain], writer.try_clone().unwrap());
        if hangs_at_start {
            let catches = || signals_of(&child, "SigCgt").is_some_and(has_term);
            crate::common::wait_until("the server catches signals", catches);
        } else {
            let mut byte = [0];
            while byte != *b"\n" {
                reader.read_exact(&mut byte).unwrap();
            }
            fill(&writer);
        }
        for _ in 0..signals {
            terminate(&child);
            // A signal that comes while it waits for one of its kind is lost.
            let pending = || signals_of(&child, "ShdPnd").is_some_and(has_term);
            crate::common::wait_until("the signal has come", || !pending());
        }
        let (status, text) = wait(child);
        assert_eq!(status.and_then(|status| status.code()), Some(1), "{text}");
        assert!(text.contains("did not end within"), "{text}");
    }
}
