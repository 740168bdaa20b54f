//! The instrument's side of a worker: started, listened to, timed out, and cleaned up after.
//!
//! Whatever a worker does (hang, crash, chatter, leave processes behind), when [`supervise`]
//! returns its whole process group is gone and the worst that came of it is one failed cell.

use crate::helper::scratch;
use crate::probe::usage;
use crate::process::{MARK, children_of};
use crate::worker::frame::{Order, REPLY_BYTES_MAX, Reply};
use crate::{Settings, Starter, Stop};
use record::{FailureReason, Usage};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{OFlags, fcntl_getfl, fcntl_setfl};
use rustix::process::{
    Pid, PidfdFlags, Signal, WaitOptions, kill_process, kill_process_group, pidfd_open, waitpgid,
    waitpid,
};
use stacks::{ProcessName, StackSample};
use std::io::{self, Read, Write};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::process::CommandExt;
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};
use sys::process::{End, Resources};

/// How far apart the looks are at a process that is just becoming another program.
const EXEC_LOOK: Duration = Duration::from_micros(250);
/// How long that may take until it has words, and from there to its environment.
const EXEC_MAX: Duration = Duration::from_secs(2);
const EXEC_ENDS_MAX: Duration = Duration::from_millis(10);
/// How long the stacks of a worker are sampled at its deadline.
const STACK_SAMPLE: Duration = Duration::from_millis(200);
/// The last words of a worker that are worth keeping.
const STDERR_BYTES_KEPT: usize = 4 << 10;

/// What came of one worker.
#[derive(Debug)]
pub(crate) struct Supervised {
    pub verdict: Verdict,
    pub elapsed: Duration,
    pub usage: Usage,
}

#[derive(Debug)]
pub(crate) enum Verdict {
    /// It replied, and ended as it should.
    Replied(Reply),
    /// Its figures don't count.
    Failed { reason: FailureReason, detail: String },
    /// Somebody asked the run to stop meanwhile.
    Stopped,
}

/// Measures one cell in a worker process of its own.
pub(crate) fn supervise(
    order: &Order,
    deadline: Duration,
    settings: &Settings,
    starter: &Starter,
) -> Supervised {
    let start = Instant::now();
    let mut outcome = match Worker::start(order, settings, starter) {
        Ok(worker) => worker.see_through(start + deadline, deadline, &settings.stop),
        Err(error) => Supervised {
            verdict: failed(FailureReason::NotStarted { error: error.to_string() }, String::new()),
            elapsed: Duration::ZERO,
            usage: Usage::default(),
        },
    };
    outcome.elapsed = start.elapsed();
    if let Err(error) = scratch::remove(&order.scratch)
        && !matches!(outcome.verdict, Verdict::Stopped)
    {
        let directory = order.scratch.display().to_string();
        let reason = FailureReason::FilesLeft { directory, error: error.to_string() };
        outcome.verdict = failed(reason, String::new());
    }
    outcome
}

fn failed(reason: FailureReason, detail: String) -> Verdict {
    Verdict::Failed { reason, detail }
}

struct Worker {
    child: Child,
    pid: Pid,
    ended: OwnedFd,
    stdout: Pipe,
    stderr: Pipe,
    mark: String,
}

/// Why listening came to its end.
enum Heard {
    TheEnd,
    Deadline,
    TooMuch,
    StopAsked,
}

impl Worker {
    fn start(order: &Order, settings: &Settings, starter: &Starter) -> io::Result<Worker> {
        let order = serde_json::to_vec(order).map_err(io::Error::other)?;
        // A group of its own: Ctrl-C at the terminal reaches the instrument only, and whatever the
        // worker starts can be ended with it.
        let mut child = starter
            .command()
            .env(MARK, settings.mark())
            .process_group(0)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()?;
        let pid = Pid::from_child(&child);
        match Worker::connect(&mut child, pid, &order) {
            Ok((ended, stdout, stderr)) => {
                Ok(Worker { child, pid, ended, stdout, stderr, mark: settings.mark().into() })
            }
            Err(error) => {
                child.kill()?;
                child.wait()?;
                Err(error)
            }
        }
    }

    /// Hands the worker its order, and takes hold of its end and its pipes.
    fn connect(child: &mut Child, pid: Pid, order: &[u8]) -> io::Result<(OwnedFd, Pipe, Pipe)> {
        let piped = || io::Error::other("a pipe of the worker is missing");
        let stdout = Pipe::new(child.stdout.take().ok_or_else(piped)?)?;
        let stderr = Pipe::new(child.stderr.take().ok_or_else(piped)?)?;
        // A worker that died already can't read its order; its end tells more than this error.
        let _ = child.stdin.take().ok_or_else(piped)?.write_all(order);
        Ok((pidfd_open(pid, PidfdFlags::empty())?, stdout, stderr))
    }

    fn see_through(mut self, end: Instant, deadline: Duration, stop: &Stop) -> Supervised {
        let heard = self.listen(end, stop);
        let sample = matches!(heard, Ok(Heard::Deadline)).then(|| self.sample_stacks());
        // The worker itself is waited for below: until then its pid, and so the group's, is taken.
        let _ = kill_process_group(self.pid, Signal::KILL);
        let (ending, resources) = sys::process::wait(self.child.id())
            .map_or((None, Resources::default()), |(end, used)| (Some(end), used));
        self.stdout.drain();
        self.stderr.drain();
        let strays = clean_up(self.pid, &self.mark);
        let mut said = String::from_utf8_lossy(&self.stderr.kept).trim().to_owned();
        if let Some(sample) = &sample {
            said = if said.is_empty() { sample.to_string() } else { format!("{sample}\n{said}") };
        }
        let verdict = match heard {
            Err(error) => failed(FailureReason::ListeningFailed { error: error.to_string() }, said),
            Ok(Heard::StopAsked) => Verdict::Stopped,
            Ok(Heard::TooMuch) => failed(FailureReason::OutputTooLong, said),
            Ok(Heard::Deadline) => {
                let activity = sample.unwrap_or_default().summary().to_string();
                let deadline_ms = deadline.as_millis() as u64;
                failed(FailureReason::DeadlineExceeded { deadline_ms, activity }, said)
            }
            Ok(Heard::TheEnd) => judge(ending, &self.stdout.kept, strays, said),
        };
        Supervised { verdict, elapsed: Duration::ZERO, usage: usage(&resources) }
    }

    /// Samples the worker and all that it started.
    fn sample_stacks(&self) -> StackSample {
        // Its orphans were handed to this process.
        let orphans = children_of("self")
            .into_iter()
            .filter(|&pid| pid != self.pid && bears(pid, &self.mark));
        let roots: Vec<Pid> = std::iter::once(self.pid).chain(orphans).collect();
        stacks::sample(&stacks::Request {
            roots: &roots,
            duration: STACK_SAMPLE,
            name: &process_name,
            sampled: &|| {
                // What can't be halted competes for the CPUs until it is killed, a moment later.
                let _ = kill_process_group(self.pid, Signal::STOP);
            },
        })
    }

    /// Collects what the worker writes until it ends, or until there is a reason not to wait.
    fn listen(&mut self, end: Instant, stop: &Stop) -> io::Result<Heard> {
        loop {
            let now = Instant::now();
            if now >= end {
                return Ok(Heard::Deadline);
            }
            let ready = self.wait(end - now, stop)?;
            if stop.is_requested() {
                return Ok(Heard::StopAsked);
            }
            if ready[0] {
                self.stdout.drain();
            }
            if ready[1] {
                self.stderr.drain();
                self.stderr.keep_last(STDERR_BYTES_KEPT);
            }
            if self.stdout.kept.len() > REPLY_BYTES_MAX {
                return Ok(Heard::TooMuch);
            }
            if ready[2] {
                return Ok(Heard::TheEnd);
            }
        }
    }

    /// Which of standard output, standard error and the worker's end have something to say.
    fn wait(&self, rest: Duration, stop: &Stop) -> io::Result<[bool; 3]> {
        let mut fds = vec![
            PollFd::from_borrowed_fd(stop.wakeup(), PollFlags::IN),
            PollFd::new(&self.ended, PollFlags::IN),
        ];
        for pipe in [&self.stdout, &self.stderr] {
            fds.extend(pipe.open().map(|fd| PollFd::from_borrowed_fd(fd, PollFlags::IN)));
        }
        let timeout = Timespec {
            tv_sec: rest.as_secs().cast_signed(),
            tv_nsec: i64::from(rest.subsec_nanos()),
        };
        match poll(&mut fds, Some(&timeout)) {
            Ok(_) | Err(rustix::io::Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
        // Reading a pipe that has nothing costs nothing: which of the two it was needs no telling.
        let piped = fds[2..].iter().any(|fd| !fd.revents().is_empty());
        Ok([piped, piped, !fds[1].revents().is_empty()])
    }
}

/// What to call a process. This program starts itself as `/proc/self/exe`, which the kernel calls `exe`;
/// those of its hidden subcommands that only serve a worker are helpers.
fn process_name(comm: &str, command_line: &str) -> ProcessName {
    let mut words = command_line.split('\0');
    let path = words.next().unwrap_or_default();
    let program = path.rsplit('/').next().unwrap_or_default();
    if comm != "exe" || program.is_empty() {
        return ProcessName::from_comm(comm);
    }
    match words.next().and_then(|word| word.strip_prefix("__")) {
        Some(part) => {
            ProcessName { name: format!("{program} {part}"), is_helper: part != "worker" }
        }
        None => ProcessName::from_comm(program),
    }
}

/// What a worker that ended by itself has to show for it.
fn judge(ending: Option<End>, output: &[u8], strays: usize, said: String) -> Verdict {
    let reply = Reply::decode(output);
    let reply = match (ending, reply) {
        (Some(End::Killed(signal)), _) => {
            let signal = signal_name(signal);
            return failed(FailureReason::KilledBySignal { signal }, said);
        }
        (Some(End::Exited(0)), Ok(reply)) => reply,
        (Some(End::Exited(0)), Err(fault)) => {
            return failed(FailureReason::BadReply { fault }, said);
        }
        (Some(End::Exited(code)), reply) => {
            return failed(FailureReason::ExitedWith { code, reply: reply.err() }, said);
        }
        (None, reply) => return failed(FailureReason::EndUnknown { reply: reply.err() }, said),
    };
    if let Some(reason) = reply.failure {
        return failed(reason, said);
    }
    if strays > 0 {
        return failed(FailureReason::ProcessesLeft { count: strays as u64 }, said);
    }
    Verdict::Replied(reply)
}

fn signal_name(signal: i32) -> String {
    let name = signal_hook::low_level::signal_name(signal);
    name.map_or_else(|| format!("signal {signal}"), str::to_owned)
}

/// Waits for the rest of the worker's group, which was killed, and ends whatever else of the
/// worker's was left to this process. Returns how many processes there were.
///
/// A child that does not bear the worker's mark is none of ours to end: a shell may have started it
/// before it became this program.
fn clean_up(group: Pid, mark: &str) -> usize {
    let mut strays = 0;
    // As the reaper of orphans (see `run`), this process can wait for all of the group.
    while let Ok(Some(_)) = waitpgid(group, WaitOptions::empty()) {
        strays += 1;
    }
    loop {
        let left: Vec<Pid> =
            children_of("self").into_iter().filter(|&pid| bears(pid, mark)).collect();
        if left.is_empty() {
            // Janitors of workers that were ended: they bear no mark, and end when they are done.
            while let Ok(Some(_)) = waitpid(None, WaitOptions::NOHANG) {}
            return strays;
        }
        for pid in left {
            let _ = kill_process(pid, Signal::KILL);
            if let Ok(Some(_)) = waitpid(Some(pid), WaitOptions::empty()) {
                strays += 1;
            }
        }
    }
}

/// Whether a process was started with the mark in its environment, by a worker or what it started.
fn bears(pid: Pid, mark: &str) -> bool {
    let pid = pid.as_raw_pid();
    let read = |what| std::fs::read(format!("/proc/{pid}/{what}"));
    let is_empty = |what| read(what).is_ok_and(|bytes| bytes.is_empty());
    let begun = Instant::now();
    // While a process becomes another program, it seems to have no environment, and at first no words either.
    // One that has words and no environment in the end was started without one.
    let environment = loop {
        let environment = read("environ");
        let most = if is_empty("cmdline") { EXEC_MAX } else { EXEC_ENDS_MAX };
        let is_told = !environment.as_ref().is_ok_and(Vec::is_empty);
        if is_told || is_dead(pid) || begun.elapsed() > most {
            break environment;
        }
        std::thread::sleep(EXEC_LOOK);
    };
    let wanted = format!("{MARK}={mark}");
    let mut variables = environment.iter().flat_map(|bytes| bytes.split(|&byte| byte == 0));
    variables.any(|variable| variable == wanted.as_bytes())
}

/// Whether a process has ended, and waits to be reaped at the most.
fn is_dead(pid: i32) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    // Its name, in brackets, may have anything in it.
    stat.rsplit_once(") ").is_none_or(|(_, rest)| rest.starts_with(['Z', 'X']))
}

/// One of the worker's pipes, and what came out of it.
struct Pipe {
    from: Option<Box<dyn ReadFd>>,
    kept: Vec<u8>,
}

trait ReadFd: Read + AsFd {}
impl<T: Read + AsFd> ReadFd for T {}

impl Pipe {
    fn new(from: impl ReadFd + 'static) -> io::Result<Pipe> {
        let flags = fcntl_getfl(&from)?;
        fcntl_setfl(&from, flags | OFlags::NONBLOCK)?;
        Ok(Pipe { from: Some(Box::new(from)), kept: Vec::new() })
    }

    fn open(&self) -> Option<BorrowedFd<'_>> {
        self.from.as_ref().map(|from| from.as_fd())
    }

    /// Takes what is there now, and forgets the pipe at its end.
    fn drain(&mut self) {
        let Some(from) = &mut self.from else { return };
        let mut buffer = [0; 16 << 10];
        while self.kept.len() <= REPLY_BYTES_MAX {
            match from.read(&mut buffer) {
                Ok(0) => break,
                Ok(count) => self.kept.extend_from_slice(&buffer[..count]),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return,
                Err(_) => break,
            }
        }
        if self.kept.len() <= REPLY_BYTES_MAX {
            self.from = None;
        }
    }

    fn keep_last(&mut self, bytes: usize) {
        let excess = self.kept.len().saturating_sub(bytes);
        self.kept.drain(..excess);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_instruments_own_processes_have_names() {
        let name = |comm, command_line| {
            let name = process_name(comm, command_line);
            (name.name, name.is_helper)
        };
        assert_eq!(name("exe", "knee\0__worker\0"), ("knee worker".into(), false));
        assert_eq!(name("exe", "knee\0__park\x001\0"), ("knee park".into(), true));
        assert_eq!(name("exe", "/opt/knee\0httpd\0"), ("knee".into(), false));
        assert_eq!(name("exe", ""), ("exe".into(), false));
        assert_eq!(name("cc1", "/usr/lib/cc1\0-quiet\0"), ("cc1".into(), false));
    }
}
