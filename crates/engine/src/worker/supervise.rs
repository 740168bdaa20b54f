//! The instrument's side of a worker: starts it, reads its reply, kills it at its deadline, and cleans up.
//!
//! Whatever a worker does (hang, crash, flood its pipes, leave processes behind), when [`supervise`] returns its
//! whole process group is gone, and at worst one cell has failed.

use crate::frame::FRAME_BYTES_MAX;
use crate::helper::scratch;
use crate::probe::usage;
use crate::process::{MARK, adopt_orphans, wait_for_any};
use crate::run::settings::Settings;
use crate::run::stop::Stop;
use crate::tail::Tail;
use crate::worker::frame::{CellOrder, Reply, take_processes};
use crate::worker::marked::{kill_rest, marked_children};
use crate::worker::starter::Starter;
use model::{FailureReason, Usage};
use rustix::event::{PollFd, PollFlags};
use rustix::process::{Pid, PidfdFlags, Signal, kill_process_group, pidfd_open};
use stacks::{Profiler, StackSample};
use std::io::{self, Write};
use std::os::fd::OwnedFd;
use std::os::unix::process::CommandExt;
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};
use sys::process::{End, Resources};

/// How long the stacks of a worker are sampled at its deadline.
const STACK_SAMPLE: Duration = Duration::from_millis(200);
/// Samples are unwound this often: while a program that was started still runs, its files and its name can be read. Not more
/// often, since this takes time from the other side of the worker's core.
const TAKE_INTERVAL: Duration = Duration::from_millis(100);
/// The end of a worker's standard error that is kept.
const STDERR_BYTES_MAX: usize = 4 << 10;

pub(crate) struct Supervised {
    /// What it replied; why its figures don't count, where they don't.
    pub reply: Result<Reply, FailureReason>,
    /// What its threads did at its deadline, and the end of its standard error.
    pub detail: String,
    pub elapsed: Duration,
    pub usage: Usage,
    /// The CPU time of processes that it measured and did not start.
    pub announced_ns: u64,
    /// The samples of the worker and of all that it started; absent where none were taken.
    pub profiler: Option<Profiler>,
}

/// Measures one cell in a worker process of its own. It is sampled, with all that it starts, this often a second: each
/// running thread, or nothing where that is absent. None where somebody asked the run to stop meanwhile.
pub(crate) fn supervise(
    order: &CellOrder,
    settings: &Settings,
    starter: &Starter,
    sample_hz: Option<u64>,
) -> Option<Supervised> {
    adopt_orphans();
    let start = Instant::now();
    let seen = match Worker::start(order, settings, starter, sample_hz) {
        Ok(worker) => worker.see_through(start, order.deadline_ms, settings),
        Err(error) => Some(Supervised {
            reply: Err(FailureReason::NotStarted { error: error.to_string() }),
            detail: String::new(),
            elapsed: start.elapsed(),
            usage: Usage::default(),
            announced_ns: 0,
            profiler: None,
        }),
    };
    let removed = scratch::remove(&order.scratch);
    let mut seen = seen?;
    if let Err(error) = removed {
        let directory = order.scratch.display().to_string();
        seen.reply = Err(FailureReason::FilesLeft { directory, error: error.to_string() });
        seen.detail.clear();
    }
    Some(seen)
}

struct Worker {
    child: Child,
    pid: Pid,
    ended: OwnedFd,
    stdout: Tail,
    stderr: Tail,
    mark: String,
    /// The processes that it measures and did not start, with their CPU time until it reported them.
    announced: Vec<(Pid, u64)>,
    profiler: Option<Profiler>,
}

enum ListenEnd {
    WorkerEnded,
    Deadline,
    OutputTooLong,
    StopRequested,
}

impl Worker {
    fn start(
        order: &CellOrder,
        settings: &Settings,
        starter: &Starter,
        sample_hz: Option<u64>,
    ) -> io::Result<Worker> {
        let order = serde_json::to_vec(order).map_err(io::Error::other)?;
        // A group of its own: Ctrl-C at the terminal reaches the instrument only, and whatever the worker
        // starts is killed with it.
        let mut child = starter
            .command()
            .env(MARK, &settings.mark)
            .process_group(0)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .map_err(sys::limits::explained)?;
        let pid = Pid::from_child(&child);
        // It waits for its order: whatever it starts later is sampled too.
        let sampled = sample_hz.map(|hz| Profiler::start(pid, hz)).transpose();
        let connected = sampled
            .map_err(io::Error::other)
            .and_then(|profiler| Ok((profiler, Worker::connect(&mut child, pid, &order)?)));
        match connected {
            Ok((profiler, (ended, stdout, stderr))) => {
                let mark = settings.mark.clone();
                let announced = Vec::new();
                Ok(Worker { child, pid, ended, stdout, stderr, mark, announced, profiler })
            }
            Err(error) => {
                child.kill()?;
                child.wait()?;
                Err(error)
            }
        }
    }

    /// Sends the worker its order, and returns a descriptor of its end and its pipes.
    fn connect(child: &mut Child, pid: Pid, order: &[u8]) -> io::Result<(OwnedFd, Tail, Tail)> {
        let piped = || io::Error::other("a pipe of the worker is missing");
        let stdout = Tail::new(child.stdout.take().ok_or_else(piped)?, FRAME_BYTES_MAX)?;
        let stderr = Tail::new(child.stderr.take().ok_or_else(piped)?, STDERR_BYTES_MAX)?;
        // A worker that died already can't read its order; how it ended explains more than this error.
        let _ = child.stdin.take().ok_or_else(piped)?.write_all(order);
        Ok((pidfd_open(pid, PidfdFlags::empty())?, stdout, stderr))
    }

    /// Listens until the worker ends or its time is up, kills it, and judges what it replied.
    fn see_through(
        mut self,
        start: Instant,
        deadline_ms: u64,
        settings: &Settings,
    ) -> Option<Supervised> {
        let listened = self.listen(start + Duration::from_millis(deadline_ms), &settings.stop);
        // Its rings would run over meanwhile.
        if let Some(profiler) = &mut self.profiler {
            profiler.stop();
        }
        let at_deadline = matches!(listened, Ok(ListenEnd::Deadline));
        let sample = at_deadline.then(|| self.sample_stacks(settings.lookup_max));
        // The worker itself is waited for below: until then its pid, and so the group's, is taken.
        let _ = kill_process_group(self.pid, Signal::KILL);
        let (ending, resources) = sys::process::wait(self.child.id())
            .map_or((None, Resources::default()), |(end, used)| (Some(end), used));
        self.stdout.read();
        self.attach_announced();
        self.stderr.read();
        let strays = kill_rest(self.pid, &self.mark);
        let detail = self.detail(sample.as_ref());
        let reply = match listened {
            Err(error) => Err(FailureReason::ListeningFailed { error: error.to_string() }),
            Ok(ListenEnd::StopRequested) => return None,
            Ok(ListenEnd::OutputTooLong) => Err(FailureReason::OutputTooLong),
            Ok(ListenEnd::Deadline) => {
                let activity = sample.unwrap_or_default().summary();
                Err(FailureReason::DeadlineExceeded { deadline_ms, activity })
            }
            Ok(ListenEnd::WorkerEnded) => judge(ending, &self.stdout.bytes, strays),
        };
        let (announced_ns, usage) = (self.announced_ns(), usage(&resources));
        let (elapsed, profiler) = (start.elapsed(), self.profiler);
        Some(Supervised { reply, detail, elapsed, usage, announced_ns, profiler })
    }

    /// The stack sample, if there is one, and the end of standard error.
    fn detail(&self, sample: Option<&StackSample>) -> String {
        let stderr = printable::without_user_info(self.stderr.text().trim()).into_owned();
        match sample {
            None => stderr,
            Some(sample) if stderr.is_empty() => sample.to_string(),
            Some(sample) => format!("{sample}\n{stderr}"),
        }
    }

    fn sample_stacks(&self, lookup_max: Duration) -> StackSample {
        let orphans = marked_children(&self.mark).into_iter().filter(|&pid| pid != self.pid);
        let roots: Vec<Pid> = std::iter::once(self.pid).chain(orphans).collect();
        stacks::sample(&stacks::StackRequest {
            roots: &roots,
            duration: STACK_SAMPLE,
            sampled: &|| {
                // What can't be halted competes for the CPUs until it is killed, a moment later.
                let _ = kill_process_group(self.pid, Signal::STOP);
            },
            lookup_max,
        })
    }

    /// Collects what the worker writes until it ends, or until there is a reason not to wait.
    fn listen(&mut self, end: Instant, stop: &Stop) -> io::Result<ListenEnd> {
        loop {
            let now = Instant::now();
            if now >= end {
                return Ok(ListenEnd::Deadline);
            }
            let has_ended = self.wait(end - now, stop)?;
            if let Some(profiler) = &mut self.profiler {
                profiler.take();
            }
            if stop.is_requested() {
                return Ok(ListenEnd::StopRequested);
            }
            self.stdout.read();
            self.attach_announced();
            self.stderr.read();
            if self.stdout.is_over_full() {
                return Ok(ListenEnd::OutputTooLong);
            }
            if has_ended {
                return Ok(ListenEnd::WorkerEnded);
            }
        }
    }

    /// Notes the processes that the worker measures and did not start, and samples them.
    fn attach_announced(&mut self) {
        for pid in take_processes(&mut self.stdout.bytes) {
            self.announced.extend(cpu_ns_of(pid).map(|before_ns| (pid, before_ns)));
            if let Some(profiler) = &mut self.profiler {
                profiler.attach(pid);
            }
        }
    }

    /// What these processes have used since, without those that have ended.
    fn announced_ns(&self) -> u64 {
        let used_ns =
            |&(pid, before_ns): &(Pid, u64)| Some(cpu_ns_of(pid)?.saturating_sub(before_ns));
        self.announced.iter().filter_map(used_ns).sum()
    }

    /// Waits until it writes something or has ended. Returns whether it has ended.
    fn wait(&self, rest: Duration, stop: &Stop) -> io::Result<bool> {
        let mut fds = vec![
            PollFd::from_borrowed_fd(stop.wakeup(), PollFlags::IN),
            PollFd::new(&self.ended, PollFlags::IN),
        ];
        for pipe in [&self.stdout, &self.stderr] {
            fds.extend(pipe.descriptor().map(|fd| PollFd::from_borrowed_fd(fd, PollFlags::IN)));
        }
        let rest = if self.profiler.is_some() { rest.min(TAKE_INTERVAL) } else { rest };
        wait_for_any(&mut fds, Some(rest))?;
        Ok(!fds[1].revents().is_empty())
    }
}

fn cpu_ns_of(pid: Pid) -> Option<u64> {
    sys::cputime::cpu_ns_with_ended(pid.as_raw_pid()).ok()
}

/// What a worker replied that ended by itself, and left `strays` processes.
fn judge(ending: Option<End>, output: &[u8], strays: usize) -> Result<Reply, FailureReason> {
    let reply = match (ending, Reply::decode(output)) {
        (Some(End::Exited(0)), reply) => {
            reply.map_err(|fault| FailureReason::BadReply { fault })?
        }
        (Some(End::Exited(code)), reply) => {
            return Err(FailureReason::ExitedWith { code, reply: reply.err() });
        }
        (Some(End::Killed(signal)), _) => {
            return Err(FailureReason::KilledBySignal { signal: signal_name(signal) });
        }
        (None, reply) => return Err(FailureReason::EndUnknown { reply: reply.err() }),
    };
    if let Some(reason) = reply.failure {
        return Err(reason);
    }
    if strays > 0 {
        return Err(FailureReason::ProcessesLeft { count: strays as u64 });
    }
    Ok(reply)
}

fn signal_name(signal: i32) -> String {
    let name = signal_hook::low_level::signal_name(signal);
    name.map_or_else(|| format!("signal {signal}"), str::to_owned)
}
