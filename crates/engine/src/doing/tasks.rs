//! The threads below some processes, as `/proc` tells of them: name, state, and where they wait.

use super::spots::Memory;
use rustix::process::Pid;
use std::collections::BTreeSet;
use std::fs;
use std::time::Instant;

/// Of more threads nothing is looked at: there are workloads that start thousands.
const TASKS_MAX: usize = 2048;
/// So many bytes of a file in `/proc` say enough.
const TEXT_BYTES_MAX: u64 = 1 << 20;

/// A process that was looked at.
pub(super) struct Process {
    pub pid: u32,
    /// `cc1`, or `knee worker` for what the instrument starts itself with.
    pub name: String,
    /// Whether it is one of the instrument's own that only serve the worker.
    pub helper: bool,
    /// The file that it runs.
    pub program: String,
    pub memory: Memory,
}

/// A thread that was looked at.
pub(super) struct Task {
    /// Its process, by its place in the list.
    pub process: usize,
    pub tid: u32,
    /// `R`, `S`, `D`, … at the first look.
    pub state: char,
    pub waits: Option<Wait>,
    /// How long it had run on a CPU at the first look, where the kernel tells.
    pub ran_ns: Option<u64>,
    /// Whether it came while others were looked at.
    pub later: bool,
}

/// Where a thread waits.
pub(super) struct Wait {
    /// `futex`.
    pub call: String,
    /// The address of its program that it will go on at.
    pub counter: Option<u64>,
}

/// What was found so far.
#[derive(Default)]
pub(super) struct Found {
    pub processes: Vec<Process>,
    pub tasks: Vec<Task>,
    known: BTreeSet<(u32, u32)>,
    /// Whether there was more than may be looked at, or could be in the time.
    pub more: bool,
}

impl Found {
    /// Adds the threads of `roots` and of all their descendants that are not known yet, until
    /// `until`.
    pub fn look(&mut self, roots: &[Pid], until: Instant) {
        let later = !self.tasks.is_empty();
        let mut queue: Vec<u32> =
            roots.iter().map(|pid| pid.as_raw_pid().cast_unsigned()).collect();
        let mut queued: BTreeSet<u32> = queue.iter().copied().collect();
        let mut next = 0;
        while let Some(&pid) = queue.get(next) {
            next += 1;
            for tid in threads(pid) {
                // One at least, however late it is.
                let full = self.tasks.len() >= TASKS_MAX;
                if full || (!self.tasks.is_empty() && Instant::now() >= until) {
                    self.more |= full || !later;
                    return;
                }
                self.add(pid, tid, later);
                queue.extend(children(pid, tid).into_iter().filter(|&child| queued.insert(child)));
            }
        }
    }

    fn add(&mut self, pid: u32, tid: u32, later: bool) {
        if !self.known.insert((pid, tid)) {
            return;
        }
        let Some((comm, state)) = stat(pid, tid) else { return };
        let process = self.processes.iter().position(|process| process.pid == pid);
        let process = process.unwrap_or_else(|| {
            self.processes.push(Process::new(pid, &comm));
            self.processes.len() - 1
        });
        let waits = (state != 'R').then(|| wait(pid, tid)).flatten();
        let ran_ns = ran_ns(pid, tid);
        self.tasks.push(Task { process, tid, state, waits, ran_ns, later });
    }
}

impl Process {
    fn new(pid: u32, comm: &str) -> Process {
        let words = read(&format!("/proc/{pid}/cmdline")).unwrap_or_default();
        let (name, helper) = name_of(comm, &words);
        let program = fs::read_link(format!("/proc/{pid}/exe"));
        let program = program.map_or_else(|_| String::new(), |path| path.display().to_string());
        Process { pid, name, helper, program, memory: Memory::default() }
    }
}

/// What to call a process, and whether it is a helper of the instrument's. The instrument starts
/// itself as `/proc/self/exe`, which the kernel calls `exe`.
fn name_of(comm: &str, command_line: &str) -> (String, bool) {
    let mut words = command_line.split('\0');
    let first = words.next().unwrap_or_default();
    let program = first.rsplit('/').next().unwrap_or_default();
    if comm != "exe" || program.is_empty() {
        return (comm.to_owned(), false);
    }
    match words.next().and_then(|word| word.strip_prefix("__")) {
        Some(part) => (format!("{program} {part}"), part != "worker"),
        None => (program.to_owned(), false),
    }
}

/// The start of a text file, whatever it holds.
pub(super) fn read(path: &str) -> Option<String> {
    use std::io::Read;
    // Most of these files fit: two reads, where an empty buffer would be grown by many.
    let mut bytes = Vec::with_capacity(4096);
    fs::File::open(path).ok()?.take(TEXT_BYTES_MAX).read_to_end(&mut bytes).ok()?;
    Some(String::from_utf8_lossy(&bytes).into_owned())
}

fn threads(pid: u32) -> Vec<u32> {
    let Ok(entries) = fs::read_dir(format!("/proc/{pid}/task")) else { return Vec::new() };
    let number = |entry: fs::DirEntry| entry.file_name().to_str()?.parse().ok();
    // One more than may be looked at, so that it is noticed.
    entries.flatten().filter_map(number).take(TASKS_MAX + 1).collect()
}

fn children(pid: u32, tid: u32) -> Vec<u32> {
    let list = read(&format!("/proc/{pid}/task/{tid}/children")).unwrap_or_default();
    list.split_whitespace().filter_map(|word| word.parse().ok()).take(TASKS_MAX).collect()
}

fn stat(pid: u32, tid: u32) -> Option<(String, char)> {
    let text = read(&format!("/proc/{pid}/task/{tid}/stat"))?;
    // The name stands in brackets, and may hold brackets itself.
    let (before, after) = text.rsplit_once(')')?;
    let (_, name) = before.split_once('(')?;
    Some((name.to_owned(), after.trim_start().chars().next()?))
}

/// How long a thread has run on a CPU.
pub(super) fn ran_ns(pid: u32, tid: u32) -> Option<u64> {
    let text = read(&format!("/proc/{pid}/task/{tid}/schedstat"))?;
    text.split_whitespace().next()?.parse().ok()
}

fn wait(pid: u32, tid: u32) -> Option<Wait> {
    let call = read(&format!("/proc/{pid}/task/{tid}/syscall")).unwrap_or_default();
    place_of(&call, || read(&format!("/proc/{pid}/task/{tid}/wchan")))
}

/// From what `syscall` and `wchan` say.
fn place_of(call: &str, channel: impl Fn() -> Option<String>) -> Option<Wait> {
    let in_kernel = || {
        let name = channel()?;
        let name = Some(name.trim()).filter(|name| !name.is_empty() && *name != "0");
        name.map(|name| format!("the kernel's {name}"))
    };
    let words: Vec<&str> = call.split_whitespace().collect();
    let [number, .., counter] = words[..] else {
        // It may not be looked at, or goes on just now.
        return Some(Wait { call: in_kernel()?, counter: None });
    };
    let counter = u64::from_str_radix(counter.trim_start_matches("0x"), 16).ok();
    let number: i64 = number.parse().ok()?;
    let call = match sys::calls::name(number) {
        Some(name) => name.to_owned(),
        None if number >= 0 => format!("system call {number}"),
        // A page fault, for one.
        None => in_kernel().unwrap_or_else(|| "the kernel".to_owned()),
    };
    Some(Wait { call, counter })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn where_a_thread_waits_comes_from_what_the_kernel_tells() {
        let told = |call: &str, channel: &str| {
            let channel = || Some(channel.to_owned());
            place_of(call, channel).map(|wait| (wait.call, wait.counter))
        };
        let futex = "202 0x1 0x80 0x0 0x0 0x0 0xffffffff 0x7ffd0000 0x7f00001d\n";
        assert_eq!(told(futex, "futex_wait_queue"), Some(("futex".into(), Some(0x7f00_001d))));
        let odd = "9999 0x1 0x80 0x0 0x0 0x0 0x0 0x7ffd0000 0x10";
        assert_eq!(told(odd, ""), Some(("system call 9999".into(), Some(0x10))));
        let fault = "-1 0x7ffd0000 0x20";
        let in_kernel = |name: &str| Some((name.to_owned(), Some(0x20)));
        assert_eq!(told(fault, "folio_wait_bit"), in_kernel("the kernel's folio_wait_bit"));
        assert_eq!(told(fault, "0"), in_kernel("the kernel"));
        assert_eq!(told("", "do_wait\n"), Some(("the kernel's do_wait".into(), None)));
        assert_eq!(told("running\n", "0"), None);
        assert_eq!(told("", ""), None);
    }

    #[test]
    fn the_instruments_own_processes_have_names() {
        assert_eq!(name_of("exe", "knee\0__worker\0"), ("knee worker".into(), false));
        assert_eq!(name_of("exe", "knee\0__park\x001\0"), ("knee park".into(), true));
        assert_eq!(name_of("exe", "/opt/knee\0httpd\0"), ("knee".into(), false));
        assert_eq!(name_of("exe", ""), ("exe".into(), false));
        assert_eq!(name_of("cc1", "/usr/lib/cc1\0-quiet\0"), ("cc1".into(), false));
    }

    #[test]
    fn a_process_is_found_with_its_threads_and_children_and_what_has_gone_is_passed_over() {
        let mut child = std::process::Command::new("sleep").arg("1000").spawn().unwrap();
        let mut found = Found::default();
        let later = Instant::now() + std::time::Duration::from_secs(60);
        let me = rustix::process::getpid();
        let gone = Pid::from_raw(0x3fff_fff0).unwrap();
        found.look(&[gone, me], later);
        let told = found.tasks.iter().any(|task| found.processes[task.process].pid == child.id());
        let mine = found.processes.iter().find(|process| process.pid == std::process::id());
        let program = mine.map(|process| process.program.clone());
        let count = found.tasks.len();
        found.look(&[me], later);
        child.kill().unwrap();
        child.wait().unwrap();
        assert!(told, "the child was found");
        let own = std::env::current_exe().unwrap();
        assert_eq!(program, Some(own.display().to_string()));
        let pairs: BTreeSet<_> = found.tasks.iter().map(|task| (task.process, task.tid)).collect();
        assert_eq!(pairs.len(), found.tasks.len(), "nobody twice");
        assert!(found.tasks[..count].iter().all(|task| !task.later));
        assert!(found.tasks[count..].iter().all(|task| task.later));
        assert!(!found.more);
    }

    #[test]
    fn looking_ends_when_its_time_is_up() {
        let mut found = Found::default();
        // There are two threads at least: the harness's own, and this one.
        let (done, wait) = std::sync::mpsc::channel::<()>();
        let other = std::thread::spawn(move || wait.recv());
        found.look(&[rustix::process::getpid()], Instant::now());
        drop(done);
        assert!(other.join().is_ok());
        assert_eq!(found.tasks.len(), 1);
        assert!(found.more);
    }
}
