//! The threads below some processes, as `/proc` shows them: name, state, and where they wait.

use crate::symbols::maps::Maps;
use rustix::process::Pid;
use std::collections::BTreeSet;
use std::fs;
use std::time::Instant;
use sys::proc::{self, Stat};

/// Threads beyond these get no clocks of their own: there are workloads that start thousands.
pub(crate) const THREADS_MAX: usize = 2048;
/// Threads beyond these are not looked at to find their processes: as many as Linux has by default.
const THREADS_LISTED_MAX: usize = 1 << 17;

/// What to call a process.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProcessName {
    /// The name: `cc1`.
    pub name: String,
    /// Whether it only serves whoever samples, so that a summary leaves it out.
    pub is_helper: bool,
}

impl ProcessName {
    /// By its `comm` and the text of its `cmdline` file. A program that starts itself as `/proc/self/exe` is `exe`
    /// for the kernel, and is called by its subcommand (`knee httpd`); hidden ones (`__park`) that only serve a
    /// worker are [helpers](is_helper), as are those that name themselves so.
    pub fn new(comm: &str, command_line: &str) -> ProcessName {
        let mut words = command_line.split('\0');
        let path = words.next().unwrap_or_default();
        let program = path.rsplit('/').next().unwrap_or_default();
        if comm != "exe" || program.is_empty() {
            return ProcessName::from_comm(comm);
        }
        let is_subcommand = |word: &&str| {
            !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_')
        };
        let Some(word) = words.next().filter(is_subcommand) else {
            return ProcessName::from_comm(program);
        };
        let part = word.strip_prefix("__");
        let is_helper = part.is_some_and(|part| part != "worker");
        ProcessName { name: format!("{program} {}", part.unwrap_or(word)), is_helper }
    }

    /// The name that the kernel has.
    fn from_comm(comm: &str) -> ProcessName {
        ProcessName { name: comm.to_owned(), is_helper: is_helper(comm) }
    }
}

/// Whether a process of this name is the guard of a program or the starter of a command, which name themselves.
pub fn is_helper(name: &str) -> bool {
    matches!(name, "knee guard" | "knee starter")
}

pub(crate) struct Process {
    pub pid: u32,
    pub name: ProcessName,
    /// The file that it runs.
    pub program: String,
    /// As they were when it was last seen alive.
    pub maps: Maps,
}

pub(crate) struct Thread {
    /// Its process, by its index in [`Threads::processes`].
    pub process: usize,
    pub tid: u32,
    /// `R`, `S`, `D`, … when it was found.
    pub state: char,
    pub blocked: Option<Blocked>,
    /// Its CPU time when it was found, where the kernel has it.
    pub cpu_ns: Option<u64>,
    /// Whether it was found after the first scan.
    pub is_later: bool,
}

/// Where a thread waits.
pub(crate) struct Blocked {
    /// The system call: `futex`.
    pub call: String,
    /// The address of its program at which it will go on.
    pub resume_address: Option<u64>,
}

#[derive(Default)]
pub(crate) struct Threads {
    pub processes: Vec<Process>,
    pub list: Vec<Thread>,
    seen: BTreeSet<(u32, u32)>,
    /// Whether there are more than [`THREADS_MAX`], or than could be found in time.
    pub truncated: bool,
}

impl Threads {
    /// Adds the threads of `roots` and of all their descendants that are not known yet, until `until`.
    pub fn scan(&mut self, roots: &[Pid], until: Instant) {
        let is_later = !self.list.is_empty();
        let roots = roots.iter().map(|pid| pid.as_raw_pid().cast_unsigned()).collect();
        // One more than the maximum, so that the excess is noticed.
        walk(roots, THREADS_MAX + 1, |pid, tid| {
            // At least one thread is taken, however late it is.
            let full = self.list.len() >= THREADS_MAX;
            if full || (!self.list.is_empty() && Instant::now() >= until) {
                self.truncated |= full || !is_later;
                return false;
            }
            self.add(pid, tid, is_later);
            true
        });
    }

    fn add(&mut self, pid: u32, tid: u32, is_later: bool) {
        if !self.seen.insert((pid, tid)) {
            return;
        }
        let stat = Stat::read(format_args!("{pid}/task/{tid}"));
        let Some(Stat { name: comm, state, .. }) = stat else { return };
        let process = self.processes.iter().position(|process| process.pid == pid);
        let process = process.unwrap_or_else(|| {
            self.processes.push(Process::new(pid, &comm));
            self.processes.len() - 1
        });
        let blocked = (state != 'R').then(|| blocked(pid, tid)).flatten();
        let cpu_ns = proc::thread_cpu_ns(pid, tid);
        self.list.push(Thread { process, tid, state, blocked, cpu_ns, is_later });
    }
}

impl Process {
    fn new(pid: u32, comm: &str) -> Process {
        let command_line = proc::text(pid, "cmdline").unwrap_or_default();
        let (name, program) = (ProcessName::new(comm, &command_line), program_of(pid));
        Process { pid, name, program, maps: Maps::default() }
    }
}

/// The file that a process runs; empty where that can't be seen.
pub(crate) fn program_of(pid: u32) -> String {
    let link = fs::read_link(format!("/proc/{pid}/exe"));
    link.map_or_else(|_| String::new(), |path| path.display().to_string())
}

/// The threads of a process and of all its descendants, each with its process.
pub(crate) fn threads_below(pid: u32) -> Vec<(u32, u32)> {
    let mut threads = Vec::new();
    walk(vec![pid], THREADS_LISTED_MAX, |pid, tid| {
        threads.push((pid, tid));
        threads.len() < THREADS_LISTED_MAX
    });
    threads
}

/// Visits the threads of these processes and of all their descendants, each with its process, until `visit` is false: of
/// one process, and of the children of one thread, `each_max` at most.
fn walk(mut queue: Vec<u32>, each_max: usize, mut visit: impl FnMut(u32, u32) -> bool) {
    let mut queued: BTreeSet<u32> = queue.iter().copied().collect();
    let mut next = 0;
    while let Some(&pid) = queue.get(next) {
        next += 1;
        for tid in proc::threads(pid).take(each_max) {
            if !visit(pid, tid) {
                return;
            }
            let children = proc::children_of_thread(pid, tid).into_iter().take(each_max);
            queue.extend(children.filter(|&child| queued.insert(child)));
        }
    }
}

fn blocked(pid: u32, tid: u32) -> Option<Blocked> {
    let text = |file| proc::text(format_args!("{pid}/task/{tid}"), file).ok();
    parse_blocked(&text("syscall").unwrap_or_default(), || text("wchan"))
}

/// From the text of `syscall`, and of `wchan` where that is needed.
fn parse_blocked(syscall: &str, wchan: impl Fn() -> Option<String>) -> Option<Blocked> {
    let in_kernel = || {
        let text = wchan()?;
        let function = text.trim();
        (!function.is_empty() && function != "0").then(|| format!("the kernel's {function}"))
    };
    let words: Vec<&str> = syscall.split_whitespace().collect();
    let [number, .., resume_address] = words[..] else {
        // The file may not be read, or the thread runs just now.
        return Some(Blocked { call: in_kernel()?, resume_address: None });
    };
    let resume_address = u64::from_str_radix(resume_address.trim_start_matches("0x"), 16).ok();
    let number: i64 = number.parse().ok()?;
    let call = match sys::calls::name(number) {
        Some(name) => name.to_owned(),
        None if number >= 0 => format!("system call {number}"),
        // No system call: a page fault, for one.
        None => in_kernel().unwrap_or_else(|| "the kernel".to_owned()),
    };
    Some(Blocked { call, resume_address })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_instruments_own_processes_have_names() {
        let name = |comm, command_line| {
            let name = ProcessName::new(comm, command_line);
            (name.name, name.is_helper)
        };
        assert_eq!(name("exe", "knee\0__worker\0"), ("knee worker".into(), false));
        assert_eq!(name("exe", "knee\0__park\x001\0"), ("knee park".into(), true));
        assert_eq!(name("exe", "/opt/knee\0httpd\0"), ("knee httpd".into(), false));
        assert_eq!(name("exe", "/opt/knee\0--file\0"), ("knee".into(), false));
        assert_eq!(name("exe", ""), ("exe".into(), false));
        assert_eq!(name("knee starter", "starter\0tsc\0"), ("knee starter".into(), true));
        // Of one that ends the kernel has no command line any more.
        assert_eq!(name("knee guard", ""), ("knee guard".into(), true));
        assert_eq!(name("cc1", "/usr/lib/cc1\0-quiet\0"), ("cc1".into(), false));
    }

    #[test]
    fn a_blocked_thread_has_its_call_and_its_address() {
        let parse = |call: &str, channel: &str| {
            parse_blocked(call, || Some(channel.to_owned()))
                .map(|blocked| (blocked.call, blocked.resume_address))
        };
        let futex = "202 0x1 0x80 0x0 0x0 0x0 0xffffffff 0x7ffd0000 0x7f00001d\n";
        assert_eq!(parse(futex, "futex_wait_queue"), Some(("futex".into(), Some(0x7f00_001d))));
        let odd = "9999 0x1 0x80 0x0 0x0 0x0 0x0 0x7ffd0000 0x10";
        assert_eq!(parse(odd, ""), Some(("system call 9999".into(), Some(0x10))));
        let fault = "-1 0x7ffd0000 0x20";
        let in_kernel = |name: &str| Some((name.to_owned(), Some(0x20)));
        assert_eq!(parse(fault, "folio_wait_bit"), in_kernel("the kernel's folio_wait_bit"));
        assert_eq!(parse(fault, "0"), in_kernel("the kernel"));
        assert_eq!(parse("", "do_wait\n"), Some(("the kernel's do_wait".into(), None)));
        assert_eq!(parse("running\n", "0"), None);
        assert_eq!(parse("", ""), None);
    }

    #[test]
    fn a_process_is_found_with_its_threads_and_children_and_what_has_gone_is_passed_over() {
        let mut child = std::process::Command::new("sleep").arg("1000").spawn().unwrap();
        let mut threads = Threads::default();
        let deadline = Instant::now() + std::time::Duration::from_secs(60);
        let me = rustix::process::getpid();
        let gone = Pid::from_raw(0x3fff_fff0).unwrap();
        threads.scan(&[gone, me], deadline);
        let child_found =
            threads.list.iter().any(|thread| threads.processes[thread.process].pid == child.id());
        let mine = threads.processes.iter().find(|process| process.pid == std::process::id());
        let program = mine.map(|process| process.program.clone());
        let count = threads.list.len();
        threads.scan(&[me], deadline);
        child.kill().unwrap();
        child.wait().unwrap();
        assert!(child_found);
        let own = std::env::current_exe().unwrap();
        assert_eq!(program, Some(own.display().to_string()));
        let pairs: BTreeSet<_> =
            threads.list.iter().map(|thread| (thread.process, thread.tid)).collect();
        assert_eq!(pairs.len(), threads.list.len(), "no thread twice");
        assert!(threads.list[..count].iter().all(|thread| !thread.is_later));
        assert!(threads.list[count..].iter().all(|thread| thread.is_later));
        assert!(!threads.truncated);
    }

    #[test]
    fn scanning_ends_when_its_time_is_up() {
        let mut threads = Threads::default();
        // There are two threads at least: the harness's own, and this one.
        let (done, wait) = std::sync::mpsc::channel::<()>();
        let waiting = std::thread::spawn(move || wait.recv());
        threads.scan(&[rustix::process::getpid()], Instant::now());
        drop(done);
        assert!(waiting.join().is_ok());
        assert_eq!(threads.list.len(), 1);
        assert!(threads.truncated);
    }
}
