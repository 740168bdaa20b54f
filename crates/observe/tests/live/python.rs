//! Somebody else's event loop: Python's selectors over epoll, poll and select.

use crate::server::Server;
use crate::{PATIENCE, only, watch};
use observe::Call;
use std::process::Command;

/// Ten pipes, two of them active each round; a wait without events between rounds.
const PROGRAM: &str = "
import os, selectors, sys
selector = getattr(selectors, sys.argv[1])()
pipes = [os.pipe() for _ in range(10)]
for reader, _ in pipes:
    selector.register(reader, selectors.EVENT_READ)
print('READY', flush=True)
count = 0
while True:
    for _, writer in pipes[:2]:
        os.write(writer, b'!')
    assert len(selector.select()) == 2
    for reader, _ in pipes[:2]:
        os.read(reader, 1)
    assert len(selector.select(0.002)) == 0
    count += 1
    if count % 100 == 0:
        print('more', flush=True)
";

fn selector(name: &str, calls: &[Call]) {
    if Command::new("python3").arg("--version").output().is_err() {
        eprintln!("SKIPPED: there is no python3 here");
        return;
    }
    let mut command = Command::new("python3");
    command.args(["-c", PROGRAM, name]);
    let server = Server::total(command);
    let Some(seen) = watch(server.pid(), PATIENCE, &server.done(3)) else { return };
    let seen = seen.unwrap();
    let waiter = only(&seen);
    assert!(calls.contains(&waiter.call), "{waiter:?}");
    let watched = waiter.watched.unwrap();
    assert!(watched.exact && watched.min == 10 && watched.max == 10, "{waiter:?}");
    assert!((waiter.ratio.unwrap().value - 0.2).abs() < 1e-9, "{waiter:?}");
    assert!(waiter.empty > 0 && waiter.waits > waiter.empty, "{waiter:?}");
}

#[test]
fn epoll() {
    selector("EpollSelector", &[Call::EpollWait, Call::EpollPwait]);
}

#[test]
fn poll() {
    selector("PollSelector", &[Call::Poll, Call::Ppoll]);
}

#[test]
fn select() {
    selector("SelectSelector", &[Call::Select, Call::Pselect6]);
}
