//! When threads wait, by their states: where the system shows no switches. A thread of this crate looks at the system call
//! that each followed thread is in as often as a clock samples, and copies a part of its stack.
//!
//! So every look at a thread that waits is a sample, and counts as those of CPU time do. What ends a wait is not seen, nor
//! that a thread could run and has no CPU.

use super::processes::Processes;
use super::wait_kind::of_call;
use super::waits::{Reason, WaitSpan};
use crate::threads::threads_below;
use model::WaitKind;
use rustix::process::Pid;
use std::collections::hash_map::Entry;
use std::collections::{BTreeSet, HashMap, HashSet};
use std::fs::{self, File};
use std::io;
use std::os::unix::fs::FileExt;
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::Duration;
use sys::clock::Clock;
use sys::perf::UserState;
use sys::proc;

/// Looks after which threads are listed again.
const LISTED_EACH: u64 = 10;
/// Between two looks is this many times the time of one: it takes no more than a small part of a CPU.
const PAUSE_FACTOR: u32 = 10;
/// Bytes of the stack of a thread that waits: enough to leave the C library.
const STACK_BYTES: usize = 2048;

/// The looks, until it is dropped.
pub(super) struct States {
    shared: Arc<Mutex<Shared>>,
    ends: Sender<()>,
    looks: JoinHandle<()>,
}

#[derive(Default)]
struct Shared {
    roots: BTreeSet<u32>,
    /// What has ended.
    seen: Vec<Seen>,
}

/// A wait, from the first look at it to the last one.
struct Seen {
    begin_ns: u64,
    end_ns: u64,
    /// The looks, those too that did not come in time.
    count: u64,
    pid: u32,
    kind: WaitKind,
    at: At,
    stack: Vec<u8>,
}

/// Where a thread waits.
#[derive(Clone, Debug, PartialEq, Eq)]
struct At {
    /// The system call, and its first argument; absent for a fault.
    call: Option<(i64, u64)>,
    stack_pointer: u64,
    instruction_pointer: u64,
    /// How often it has run, and for how long: the next wait at the same place has another.
    ran: String,
}

impl States {
    /// Begins to look at `root` and what it starts.
    ///
    /// # Errors
    /// The states of its threads may not be read.
    pub fn start(root: Pid, sample_ns: f64) -> io::Result<States> {
        let pid = root.as_raw_pid().cast_unsigned();
        proc::text(pid, "syscall")?;
        let shared =
            Arc::new(Mutex::new(Shared { roots: BTreeSet::from([pid]), seen: Vec::new() }));
        let (ends, ended) = channel();
        let mut look = Look { shared: Arc::clone(&shared), ..Look::default() };
        let interval = Duration::from_nanos(sample_ns as u64);
        let look_on = move || {
            let mut pause = interval;
            while ended.recv_timeout(pause) == Err(RecvTimeoutError::Timeout) {
                let begun_ns = Clock::Monotonic.now();
                look.take(begun_ns, interval);
                let took = Duration::from_nanos(Clock::Monotonic.now().saturating_sub(begun_ns));
                pause = interval.saturating_sub(took).max(PAUSE_FACTOR * took);
            }
            look.end_all();
        };
        let looks = thread::Builder::new().spawn(look_on)?;
        Ok(States { shared, ends, looks })
    }

    /// Looks no more, and returns all waits since the last call.
    pub fn finish(self, processes: &mut Processes) -> Vec<WaitSpan> {
        let States { shared, ends, looks } = self;
        drop(ends);
        // What it saw until it panicked is there.
        let _ = looks.join();
        ended(&shared, processes)
    }

    /// Also looks at this process.
    pub fn attach(&self, pid: u32) {
        self.shared.lock().unwrap_or_else(PoisonError::into_inner).roots.insert(pid);
    }

    /// The waits that have ended since the last call.
    pub fn take(&self, processes: &mut Processes) -> Vec<WaitSpan> {
        ended(&self.shared, processes)
    }
}

/// The threads that wait when it is made, each until it first runs: they were not seen to leave a CPU.
pub(super) struct Still {
    open: HashMap<u32, Seen>,
    interval_ns: f64,
}

impl Still {
    /// Of `root` and what it has started.
    pub fn new(root: Pid, interval_ns: f64) -> Still {
        let roots = BTreeSet::from([root.as_raw_pid().cast_unsigned()]);
        let shared = Arc::new(Mutex::new(Shared { roots, seen: Vec::new() }));
        let mut look = Look { shared, ..Look::default() };
        look.take(Clock::Monotonic.now(), Duration::from_nanos(interval_ns as u64));
        Still { open: look.open, interval_ns }
    }

    /// The wait of a thread that has a CPU again, where it was one of these.
    pub fn resumed(
        &mut self,
        tid: u32,
        now_ns: u64,
        processes: &mut Processes,
    ) -> Option<WaitSpan> {
        let seen = self.open.remove(&tid)?;
        let count = (now_ns.saturating_sub(seen.begin_ns) as f64 / self.interval_ns).round() as u64;
        (count > 0).then(|| span(Seen { end_ns: now_ns, count, ..seen }, processes))?
    }

    /// The waits that have not ended.
    pub fn finish(mut self, now_ns: u64, processes: &mut Processes) -> Vec<WaitSpan> {
        let tids: Vec<u32> = self.open.keys().copied().collect();
        tids.into_iter().filter_map(|tid| self.resumed(tid, now_ns, processes)).collect()
    }
}

fn ended(shared: &Mutex<Shared>, processes: &mut Processes) -> Vec<WaitSpan> {
    let mut shared = shared.lock().unwrap_or_else(PoisonError::into_inner);
    let seen = std::mem::take(&mut shared.seen);
    drop(shared);
    seen.into_iter().filter_map(|seen| span(seen, processes)).collect()
}

fn span(seen: Seen, processes: &mut Processes) -> Option<WaitSpan> {
    let Seen { begin_ns, end_ns, count, pid, kind, at, stack } = seen;
    let user = UserState {
        instruction_pointer: at.instruction_pointer,
        stack_pointer: at.stack_pointer,
        // Not known: code that needs it ends the stack.
        frame_pointer: 0,
        stack: &stack,
    };
    let (node, reason) = (processes.node_of_user(pid, &user)?, Reason::Is(kind));
    Some(WaitSpan { begin_ns, end_ns, first_ns: begin_ns, count, reason, node, waker: None })
}

#[derive(Default)]
struct Look {
    shared: Arc<Mutex<Shared>>,
    looks: u64,
    last_ns: u64,
    /// With their processes.
    threads: BTreeSet<(u32, u32)>,
    /// Waits that go on, by thread.
    open: HashMap<u32, Seen>,
    memory: HashMap<u32, File>,
}

impl Look {
    fn take(&mut self, now_ns: u64, interval: Duration) {
        let mut ended: Vec<Seen> = Vec::new();
        if self.looks.is_multiple_of(LISTED_EACH) {
            let roots = self.shared.lock().unwrap_or_else(PoisonError::into_inner).roots.clone();
            self.threads = roots.into_iter().flat_map(threads_below).collect();
            let (pids, tids): (HashSet<u32>, HashSet<u32>) = self.threads.iter().copied().unzip();
            self.memory.retain(|pid, _| pids.contains(pid));
            let gone = self.open.extract_if(|tid, _| !tids.contains(tid));
            ended.extend(gone.map(|(_, seen)| seen));
        }
        let interval_ns = (interval.as_nanos() as u64).max(1);
        let since_ns = if self.looks == 0 { 0 } else { now_ns.saturating_sub(self.last_ns) };
        let count = (since_ns / interval_ns).max(1);
        (self.looks, self.last_ns) = (self.looks + 1, now_ns);
        for &(pid, tid) in &self.threads {
            let text =
                |file| proc::text(format_args!("{pid}/task/{tid}"), file).unwrap_or_default();
            let at = parsed(&text("syscall"), text("schedstat"));
            if let (Some(open), Some(at)) = (self.open.get_mut(&tid), &at)
                && open.at == *at
            {
                (open.end_ns, open.count) = (now_ns, open.count + count);
                continue;
            }
            ended.extend(self.open.remove(&tid));
            let Some(at) = at else { continue };
            let stack = copied(&mut self.memory, pid, at.stack_pointer).unwrap_or_default();
            let (begin_ns, end_ns, kind) = (now_ns, now_ns, kind(pid, at.call));
            self.open.insert(tid, Seen { begin_ns, end_ns, count, pid, kind, at, stack });
        }
        self.shared.lock().unwrap_or_else(PoisonError::into_inner).seen.extend(ended);
    }

    /// Ends what goes on still.
    fn end_all(&mut self) {
        let ended = self.open.drain().map(|(_, seen)| seen);
        self.shared.lock().unwrap_or_else(PoisonError::into_inner).seen.extend(ended);
    }
}

/// The text of `syscall`: a number, six arguments, the stack pointer and the program counter; -1 and the latter two outside of
/// a call; a word for a thread that runs. With it goes that of `schedstat`.
fn parsed(text: &str, ran: String) -> Option<At> {
    let words: Vec<&str> = text.split_whitespace().collect();
    let [number, ref arguments @ .., stack_pointer, instruction_pointer] = words[..] else {
        return None;
    };
    let hexadecimal = |word: &str| u64::from_str_radix(word.strip_prefix("0x")?, 16).ok();
    let number: i64 = number.parse().ok()?;
    let first = arguments.first().and_then(|word| hexadecimal(word));
    Some(At {
        call: first.filter(|_| number >= 0).map(|first| (number, first)),
        stack_pointer: hexadecimal(stack_pointer)?,
        instruction_pointer: hexadecimal(instruction_pointer)?,
        ran,
    })
}

/// The stack of a thread from there on; none where its memory may not be read.
fn copied(memory: &mut HashMap<u32, File>, pid: u32, stack_pointer: u64) -> Option<Vec<u8>> {
    let memory = match memory.entry(pid) {
        Entry::Occupied(entry) => entry.into_mut(),
        Entry::Vacant(entry) => entry.insert(File::open(format!("/proc/{pid}/mem")).ok()?),
    };
    let mut stack = vec![0; STACK_BYTES];
    let length = memory.read_at(&mut stack, stack_pointer).ok()?;
    stack.truncate(length);
    Some(stack)
}

/// What a system call waits for: by its name, or by what its descriptor is.
fn kind(pid: u32, call: Option<(i64, u64)>) -> WaitKind {
    let Some((number, first)) = call else { return WaitKind::PageFault };
    let name = sys::calls::name(number).unwrap_or_default();
    if let Some(kind) = of_call(name) {
        return kind;
    }
    let link = fs::read_link(format!("/proc/{pid}/fd/{first}"));
    match link.map(|link| link.to_string_lossy().into_owned()).unwrap_or_default() {
        link if link.starts_with("pipe:") => WaitKind::Pipe,
        link if link.starts_with("socket:") => WaitKind::Socket,
        link if link.starts_with('/') => WaitKind::File,
        _ => WaitKind::Other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::{Command, Stdio};

    #[test]
    fn a_thread_that_runs_is_in_no_call() {
        let parsed = |text: &str| super::parsed(text, String::new());
        assert_eq!(parsed("running\n"), None);
        assert_eq!(parsed(""), None);
        let at = parsed("202 0x7f01 0x80 0x2 0x0 0x0 0x0 0x7ffd 0x7f22\n").unwrap();
        assert_eq!(at.call, Some((202, 0x7f01)));
        assert_eq!((at.stack_pointer, at.instruction_pointer), (0x7ffd, 0x7f22));
        assert_eq!(parsed("-1 0x7ffd 0x7f22\n").unwrap().call, None);
    }

    #[test]
    fn a_child_that_reads_from_a_pipe_waits_once_until_something_comes() {
        let mut child = Command::new("cat").stdin(Stdio::piped()).spawn().unwrap();
        let waits = |pid| {
            let link = fs::read_link(format!("/proc/{pid}/exe")).unwrap();
            let text = proc::text(pid, "syscall").unwrap();
            link.ends_with("cat") && text.starts_with("0 0x0 ")
        };
        while !waits(child.id()) {
            thread::yield_now();
        }
        let mut still = Still::new(Pid::from_child(&child), 1e6);
        let states = States::start(Pid::from_child(&child), 1e6).unwrap();
        let mut processes = Processes::default();
        processes.follow(child.id());
        let begun_ns = Clock::Monotonic.now();
        while Clock::Monotonic.now() < begun_ns + 20_000_000 {
            thread::yield_now();
        }
        assert!(states.take(&mut processes).is_empty(), "it goes on");
        let spans = states.finish(&mut processes);
        let [span] = spans[..] else { panic!("{spans:?}") };
        assert_eq!(span.reason, Reason::Is(WaitKind::Pipe));
        assert!(span.count > 0 && span.begin_ns <= span.end_ns, "{span:?}");
        let later_ns = begun_ns + 20_000_000;
        let whole = still.resumed(child.id(), later_ns, &mut processes).unwrap();
        assert!(whole.reason == span.reason && whole.count >= 20, "{whole:?}");
        assert_eq!(whole.end_ns, later_ns, "until it ran again");
        assert_eq!(still.finish(2 * later_ns, &mut processes), []);
        drop(child.stdin.take());
        child.wait().unwrap();
    }
}
