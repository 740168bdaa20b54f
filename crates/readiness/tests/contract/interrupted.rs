//! A wait that is interrupted goes on: stopping and continuing a process interrupts some calls.

use std::io::{BufRead, BufReader, Read, Write};
use std::os::fd::AsFd;
use std::process::{Child, Command, Stdio};

use readiness::{Interest, Token};
use rustix::process::{Pid, Signal, kill_process};

use crate::{rows, started};

const CHILD: &str = "READINESS_CONTRACT_INTERRUPTED";

#[test]
fn a_stopped_process_goes_on_waiting() {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command
        .args(["interrupted::waits_for_a_byte_with_every_row", "--exact", "--ignored"])
        .arg("--nocapture")
        .env(CHILD, "1")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped());
    let mut child = started(&mut command);
    let output = converse(&mut child);
    let status = child.wait().unwrap();
    assert!(status.success(), "{output}");
    assert!(output.contains("1 passed"), "{output}");
    let waited = output.lines().filter(|line| line.starts_with("waiting: ")).count();
    assert_eq!(waited, rows().count(), "{output}");
}

/// Stops and continues the child whenever it says that it is about to wait, then sends it a byte.
fn converse(child: &mut Child) -> String {
    let pid = Pid::from_child(child);
    let mut input = child.stdin.take().unwrap();
    let mut output = String::new();
    for line in BufReader::new(child.stdout.take().unwrap()).lines() {
        let line = line.unwrap();
        if line.starts_with("waiting: ") {
            for _ in 0..3 {
                kill_process(pid, Signal::STOP).unwrap();
                wait_until_stopped(pid);
                kill_process(pid, Signal::CONT).unwrap();
            }
            input.write_all(b"!").unwrap();
        }
        output.push_str(&line);
        output.push('\n');
    }
    output
}

fn wait_until_stopped(pid: Pid) {
    use rustix::process::{WaitId, WaitIdOptions, waitid};
    waitid(WaitId::Pid(pid), WaitIdOptions::STOPPED).unwrap();
}

#[test]
#[ignore = "run by a_stopped_process_goes_on_waiting, in a process of its own"]
fn waits_for_a_byte_with_every_row() {
    if std::env::var_os(CHILD).is_none() {
        return;
    }
    let mut input = std::io::stdin();
    println!();
    for row in rows() {
        let mut watcher = (row.open)(1).unwrap();
        watcher.add(input.as_fd(), Token(1), Interest::Readable).unwrap();
        println!("waiting: {}", row.name);
        let mut ready = Vec::new();
        watcher.wait(&mut ready, None).unwrap_or_else(|error| panic!("{}: {error}", row.name));
        assert_eq!(ready.len(), 1, "{}", row.name);
        assert!(ready[0].readable, "{}", row.name);
        input.read_exact(&mut [0]).unwrap();
        watcher.remove(input.as_fd()).unwrap();
    }
}
