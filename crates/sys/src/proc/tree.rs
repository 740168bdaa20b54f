//! Which process started which: processes, their threads, children and ancestors.

use super::{Stat, text};
use std::fmt::Display;
use std::fs::read_dir;
use std::path::Path;

/// The numbers among the names in a directory, as it lists them; none where it can't be read.
pub fn numbers_in(directory: impl AsRef<Path>) -> impl Iterator<Item = u32> {
    let entries = read_dir(directory).into_iter().flatten().flatten();
    entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok())
}

/// All processes that this user sees.
pub fn pids() -> impl Iterator<Item = u32> {
    numbers_in("/proc")
}

/// The threads of a process.
pub fn threads(process: impl Display) -> impl Iterator<Item = u32> {
    numbers_in(format!("/proc/{process}/task"))
}

/// What a thread started and that still is its child.
pub fn children_of_thread(process: impl Display, tid: u32) -> Vec<u32> {
    let list = text(format_args!("{process}/task/{tid}"), "children").unwrap_or_default();
    list.split_whitespace().filter_map(|pid| pid.parse().ok()).collect()
}

/// The children of a process, of whatever thread, orphans that were handed to it included.
pub fn children(process: impl Display) -> Vec<u32> {
    threads(&process).flat_map(|tid| children_of_thread(&process, tid)).collect()
}

/// All that a process started and that still runs, what these started included: its own children first. They are
/// followed no further once there are more than `max`.
pub fn descendants(process: impl Display, max: usize) -> Vec<u32> {
    let mut all = children(process);
    let mut next = 0;
    while next < all.len() && all.len() <= max {
        all.extend(children(all[next]));
        next += 1;
    }
    all
}

/// A process, its parent, the parent of that, and so on, where `proc` is in the place of `/proc`. Numbers that are
/// used again could make a circle: whoever collects them takes a bounded number.
pub fn ancestors(proc: &Path, pid: u32) -> impl Iterator<Item = u32> {
    let parent = |pid: &u32| Some(Stat::below(proc, *pid)?.parent).filter(|parent| *parent > 0);
    std::iter::successors(Some(pid), parent)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::{Command, Stdio, id};
    use std::time::{Duration, Instant};

    #[test]
    fn ancestors_are_those_that_the_system_lists() {
        let all: Vec<u32> = ancestors(Path::new("/proc"), id()).take(1_000).collect();
        assert_eq!(all[..2], [id(), std::os::unix::process::parent_id()]);
        assert!(all.len() < 1_000);
    }

    #[test]
    fn what_a_child_starts_is_a_descendant_and_no_child() {
        let script = "sleep 1000 & read end; kill $!; wait";
        let mut shell =
            Command::new("sh").args(["-c", script]).stdin(Stdio::piped()).spawn().unwrap();
        let begun = Instant::now();
        while children(shell.id()).is_empty() {
            assert!(begun.elapsed() < Duration::from_secs(60), "the shell starts nothing");
            std::thread::yield_now();
        }
        let sleep = children(shell.id())[0];
        assert_eq!(Stat::read(sleep).unwrap().parent, shell.id());
        let own = children("self");
        assert!(own.contains(&shell.id()) && !own.contains(&sleep));
        let all = descendants(id(), usize::MAX);
        assert!(all.contains(&shell.id()) && all.contains(&sleep));
        assert!(!descendants(id(), 0).contains(&sleep), "followed beyond the maximum");
        drop(shell.stdin.take());
        shell.wait().unwrap();
        assert!(children(shell.id()).is_empty());
    }

    #[test]
    fn this_thread_is_among_those_of_this_process() {
        let own = rustix::thread::gettid().as_raw_nonzero().get().cast_unsigned();
        assert!(threads("self").any(|tid| tid == own));
        assert!(pids().any(|pid| pid == id()));
        assert_eq!(threads(u32::MAX).count(), 0);
    }
}
