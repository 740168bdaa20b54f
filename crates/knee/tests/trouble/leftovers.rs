//! Whatever ends a run, nothing that it made stays behind: no file, no directory, no process.

use crate::common::{Knee, wait_until};
use rustix::process::{Pid, Signal, kill_process};
use std::path::PathBuf;
use std::process::{Child, Stdio};

/// Workloads that make files, and so many rounds that no test waits for the end.
const LONG: &[&str] = &["run", "mmap", "manyfiles", "open", "--quick", "--rounds", "300"];

/// A knee with a directory of its own for temporary files.
struct Tidy {
    knee: Knee,
    directory: PathBuf,
}

impl Tidy {
    fn new() -> Tidy {
        let knee = Knee::new();
        let directory = knee.directory.path().join("temporary");
        std::fs::create_dir(&directory).unwrap();
        Tidy { knee, directory }
    }

    fn start(&self, words: &[&str]) -> Child {
        let mut command = self.knee.command(words);
        command.env("TMPDIR", &self.directory).stdout(Stdio::null()).stderr(Stdio::null());
        command.spawn().unwrap()
    }

    /// What is in the directory for temporary files.
    fn left(&self) -> Vec<String> {
        let entries = std::fs::read_dir(&self.directory).unwrap().flatten();
        entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect()
    }

    /// Starts a long run, and waits until some worker has made files.
    fn under_way(&self) -> Child {
        let child = self.start(LONG);
        let files = |directory: &PathBuf| std::fs::read_dir(directory).map_or(0, Iterator::count);
        wait_until("a worker has made files", || {
            self.left().iter().any(|name| files(&self.directory.join(name)) > 0)
        });
        child
    }

    /// Starts a long run over servers, and waits until one of them serves in the worker's directory.
    fn serving(&self, words: &[&str]) -> Child {
        let child = self.start(words);
        wait_until("a server was started", || !self.servers().is_empty());
        child
    }

    /// The processes that are at home in the directory for temporary files: servers are, and some of them
    /// write over their environment.
    fn servers(&self) -> Vec<String> {
        let home = |pid: &str| std::fs::read_link(format!("/proc/{pid}/cwd")).unwrap_or_default();
        let all = std::fs::read_dir("/proc").unwrap().flatten();
        all.map(|entry| entry.file_name().to_string_lossy().into_owned())
            .filter(|name| name.starts_with(|first: char| first.is_ascii_digit()))
            .filter(|pid| home(pid).starts_with(&self.directory))
            .collect()
    }

    fn assert_nothing_is_left(&self) {
        wait_until("the servers are gone", || self.servers().is_empty());
        wait_until("the files are gone", || self.left().is_empty());
        self.knee.assert_no_process_left();
    }

    fn worker(&self) -> Option<Pid> {
        let all = self.knee.processes();
        let line = all.iter().find(|line| line.contains("__worker"))?;
        Pid::from_raw(line.split(':').next()?.parse().ok()?)
    }
}

fn kill(child: &Child, signal: Signal) {
    kill_process(Pid::from_child(child), signal).unwrap();
}

#[test]
fn a_run_that_ends_leaves_nothing() {
    let tidy = Tidy::new();
    let words =
        ["run", "mmap", "touch", "munmap", "open", "manyfiles", "--points", "300", "--rounds", "2"];
    assert!(tidy.start(&words).wait().unwrap().success());
    assert_eq!(tidy.left(), [] as [String; 0]);
    tidy.knee.assert_no_process_left();
}

#[test]
fn a_run_that_is_interrupted_leaves_nothing() {
    for signal in [Signal::INT, Signal::TERM] {
        let tidy = Tidy::new();
        let mut child = tidy.under_way();
        kill(&child, signal);
        assert_eq!(child.wait().unwrap().code(), Some(130));
        assert_eq!(tidy.left(), [] as [String; 0], "{signal:?}");
        tidy.knee.assert_no_process_left();
    }
}

#[test]
fn an_instrument_that_is_killed_leaves_nothing() {
    let tidy = Tidy::new();
    let mut child = tidy.under_way();
    kill(&child, Signal::KILL);
    child.wait().unwrap();
    wait_until("the files are gone", || tidy.left().is_empty());
    tidy.knee.assert_no_process_left();
}

#[test]
fn a_worker_that_is_killed_leaves_nothing() {
    let tidy = Tidy::new();
    let mut child = tidy.under_way();
    let first = tidy.left();
    if let Some(worker) = tidy.worker() {
        // It may have ended by itself in between: then the next one is as good.
        let _ = kill_process(worker, Signal::KILL);
    }
    wait_until("the run went on", || first.iter().all(|name| !tidy.left().contains(name)));
    kill(&child, Signal::INT);
    child.wait().unwrap();
    assert_eq!(tidy.left(), [] as [String; 0]);
    tidy.knee.assert_no_process_left();
}

/// Servers with dead connections, and so many rounds that no test waits for the end.
const SERVED: &[&str] =
    &["run", "dead", "--points", "50", "--rounds", "300", "--time", "20ms", "--subjects"];

/// Of those that are installed, and of ours.
const SERVERS: [&str; 3] = ["epoll-level", "nginx", "lighttpd"];

#[test]
fn servers_are_gone_whatever_ends_the_instrument() {
    for server in SERVERS {
        if let Err(why) = workloads::drivers::find(server).unwrap().available() {
            eprintln!("SKIPPED in part: {server}: {why}");
            continue;
        }
        for signal in [Signal::KILL, Signal::TERM] {
            let tidy = Tidy::new();
            let mut child = tidy.serving(&[SERVED, &[server, "--workers", "2"]].concat());
            kill(&child, signal);
            child.wait().unwrap();
            tidy.assert_nothing_is_left();
        }
    }
}

#[test]
fn servers_are_gone_with_their_worker() {
    for server in SERVERS {
        if workloads::drivers::find(server).unwrap().available().is_err() {
            eprintln!("SKIPPED in part: {server} is not installed");
            continue;
        }
        let tidy = Tidy::new();
        let mut child = tidy.serving(&[SERVED, &[server]].concat());
        let first = tidy.servers();
        if let Some(worker) = tidy.worker() {
            // It may have ended by itself in between: then the next one is as good.
            let _ = kill_process(worker, Signal::KILL);
        }
        wait_until("its server is gone", || first.iter().all(|pid| !tidy.servers().contains(pid)));
        kill(&child, Signal::INT);
        child.wait().unwrap();
        tidy.assert_nothing_is_left();
    }
}
