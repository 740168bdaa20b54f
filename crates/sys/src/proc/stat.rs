//! `/proc/PID/stat`, and that of a thread.

use super::{numbers_in, read};
use std::collections::BTreeMap;
use std::fmt::Display;
use std::path::Path;

/// `PF_KTHREAD`, among the flags.
const KERNEL_THREAD: u64 = 0x0020_0000;

/// What `stat` says of a process or a thread.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stat {
    /// Its name.
    pub name: String,
    /// `R`, `S`, `D`, …
    pub state: char,
    /// The process that it is a child of; 0 for none.
    pub parent: u32,
    /// Whether it is a thread of the kernel.
    pub is_kernel_thread: bool,
    /// Its page faults, minor and major.
    pub faults: u64,
    /// Its CPU time, user and system, in ticks.
    pub cpu_ticks: u64,
    /// That of its children that have ended and that it waited for.
    pub ended_cpu_ticks: u64,
    /// How many threads its process has.
    pub threads: u64,
}

impl Stat {
    /// That of a process or thread.
    pub fn read(process: impl Display) -> Option<Stat> {
        Stat::below(Path::new("/proc"), process)
    }

    /// The same where `proc` is in the place of `/proc`.
    pub(super) fn below(proc: &Path, process: impl Display) -> Option<Stat> {
        Stat::parse(&read(&proc.join(format!("{process}/stat"))).ok()?)
    }

    /// Those of all processes, by their numbers, where `proc` is in the place of `/proc`.
    pub fn all(proc: &Path) -> BTreeMap<u32, Stat> {
        numbers_in(proc).filter_map(|pid| Some((pid, Stat::below(proc, pid)?))).collect()
    }

    /// Whether it has ended, and at most waits to be reaped.
    pub fn is_dead(&self) -> bool {
        matches!(self.state, 'Z' | 'X')
    }

    /// `4 (name) S 1 …`: the name may hold anything, brackets too, so counting begins behind the last one.
    fn parse(text: &str) -> Option<Stat> {
        let (head, tail) = text.rsplit_once(')')?;
        let mut words = tail.split_whitespace();
        let state = words.next()?.chars().next()?;
        let parent = words.next()?.parse().ok()?;
        let mut number = |skipped: usize| words.nth(skipped)?.parse::<u64>().ok();
        Some(Stat {
            name: head.split_once('(')?.1.to_owned(),
            state,
            parent,
            is_kernel_thread: number(4)? & KERNEL_THREAD != 0,
            faults: number(0)? + number(1)?,
            cpu_ticks: number(1)? + number(0)?,
            ended_cpu_ticks: number(0)? + number(0)?,
            threads: number(2)?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_are_taken_from_behind_the_name() {
        let text = "7 (a) (b) S 3 7 7 0 -1 4194560 1 2 3 4 5 6 20 30 20 0 9 0 1 2 3";
        let wanted = Stat {
            name: "a) (b".into(),
            state: 'S',
            parent: 3,
            is_kernel_thread: false,
            faults: 4,
            cpu_ticks: 11,
            ended_cpu_ticks: 50,
            threads: 9,
        };
        assert_eq!(Stat::parse(text), Some(wanted.clone()));
        let of_kernel = Stat { is_kernel_thread: true, ..wanted };
        assert_eq!(Stat::parse(&text.replace("4194560", "2129984")), Some(of_kernel));
        for cut in ["", "12", "7 (a", "7 (a) S 3 7", "a) S 3 7 7 0 -1 0 1 2 3 4 5 6 20 30 20 0 9"] {
            assert_eq!(Stat::parse(cut), None, "{cut}");
        }
    }

    #[test]
    fn this_process_runs_and_is_among_all() {
        let own = Stat::read("self").unwrap();
        assert!(!own.is_dead() && !own.is_kernel_thread && own.threads >= 1, "{own:?}");
        assert_eq!(own.parent, std::os::unix::process::parent_id());
        let all = Stat::all(Path::new("/proc"));
        assert_eq!(all[&std::process::id()].name, own.name);
        assert_eq!(Stat::read(u32::MAX), None);
    }

    #[test]
    fn a_child_that_waits_to_be_reaped_is_dead() {
        let mut child = std::process::Command::new("true").spawn().unwrap();
        while Stat::read(child.id()).is_some_and(|stat| !stat.is_dead()) {
            std::thread::yield_now();
        }
        assert!(Stat::read(child.id()).is_some());
        child.wait().unwrap();
    }
}
