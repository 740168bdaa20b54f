//! What can't be watched, each reported in one line.

use crate::server::Server;
use crate::watch;
use observe::{Error, NoWaits, observe};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

const SHORT: Duration = Duration::from_millis(100);

fn trouble_with(pid: u32) -> String {
    let text = observe(pid, SHORT, &|| false).unwrap_err().to_string();
    assert!(!text.contains('\n') && text.len() < 400, "{text}");
    text
}

#[test]
fn what_is_no_process() {
    // Linux gives no number beyond 4,194,304.
    assert_eq!(trouble_with(4_200_000), "there is no process 4200000");
    assert_eq!(trouble_with(u32::MAX), "there is no process 4294967295");
    assert_eq!(trouble_with(0), "0 can't be watched: no process has that number");
    let own = trouble_with(std::process::id());
    assert!(own.ends_with("that is the program that would watch"), "{own}");
}

#[test]
fn a_thread_is_not_taken_for_its_process() {
    let server = Server::start("idle");
    let tasks = std::fs::read_dir(format!("/proc/{}/task", server.pid())).unwrap();
    let thread = tasks
        .filter_map(|task| task.unwrap().file_name().to_str()?.parse().ok())
        .find(|&tid: &u32| tid != server.pid())
        .unwrap();
    let text = trouble_with(thread);
    assert!(text.contains(&format!("it is a thread of process {}", server.pid())), "{text}");
}

#[test]
fn a_process_whose_parent_has_not_noticed_its_end() {
    let mut server = Server::start("quiet");
    server.kill();
    // Its end closes its output, but it is a zombie only a little later.
    let text = loop {
        let text = trouble_with(server.pid());
        if text.contains("has not noticed yet") {
            break text;
        }
        std::thread::yield_now();
    };
    assert!(text.contains("has ended, and its parent"), "{text}");
    assert_eq!(observe::check_alive(server.pid()).unwrap_err().to_string(), text);
    assert!(observe::check_alive(std::process::id()).is_ok());
}

#[test]
fn a_thread_of_the_kernel() {
    let comm = std::fs::read_to_string("/proc/2/comm").unwrap_or_default();
    if comm != "kthreadd\n" {
        eprintln!("SKIPPED: the kernel's threads can't be seen here");
        return;
    }
    assert_eq!(trouble_with(2), "2 can't be watched: kthreadd is a thread of the kernel");
}

#[test]
fn a_process_that_ends_before_it_has_waited() {
    let mut child = Command::new("cat").stdin(Stdio::piped()).spawn().unwrap();
    let stdin = std::sync::Mutex::new(child.stdin.take());
    let asked = AtomicU32::new(0);
    // It ends when it is being watched.
    let stop = || {
        if asked.fetch_add(1, Ordering::Relaxed) == 3 {
            drop(stdin.lock().unwrap().take());
        }
        false
    };
    let seen = watch(child.id(), crate::PATIENCE, &stop);
    drop(stdin.lock().unwrap().take());
    child.wait().unwrap();
    let Some(seen) = seen else { return };
    let text = seen.unwrap_err().to_string();
    assert_eq!(text, format!("process {} has ended", child.id()));
}

fn no_waits(mode: &str) -> Option<NoWaits> {
    let server = Server::start(mode);
    match watch(server.pid(), SHORT, &|| false)? {
        Err(Error::NoWaits(none)) => Some(*none),
        outcome => panic!("{outcome:?}"),
    }
}

#[test]
fn a_process_that_only_has_children() {
    let Some(none) = no_waits("parent") else { return };
    let [child] = none.children.as_slice() else { panic!("{none:?}") };
    assert_eq!(child.name, "cat");
    let text = none.to_string();
    assert!(text.contains("made no call of epoll, poll or select in "), "{text}");
    assert!(text.ends_with(&format!("is meant: {} (cat)", child.pid)), "{text}");
    assert!(!none.uring);
}

#[test]
fn a_process_that_waits_in_an_io_uring() {
    if let Err(error) = io_uring::IoUring::new(4) {
        eprintln!("SKIPPED: no io_uring here ({error})");
        return;
    }
    let Some(none) = no_waits("uring") else { return };
    assert!(none.uring && none.children.is_empty(), "{none:?}");
    assert!(none.to_string().contains("it has an io_uring"), "{none}");
}
