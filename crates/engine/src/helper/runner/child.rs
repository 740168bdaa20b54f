//! The guard's side of a [`Runner`](super::Runner).

use super::tail::Tail;
use super::{RanReply, Reply, RunEnd, RunnerCommand, RunnerOutput, numbers};
use crate::descriptors::restore_caller_limit;
use crate::helper::guard::{outlive_session, without_own_variables};
use crate::process::{MARK, own_children};
use crate::worker::marked::GUARD_MARK;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::{FdFlags, fcntl_setfd};
use rustix::process::{
    Pid, PidfdFlags, Signal, getpgid, getpid, kill_process, kill_process_group, pidfd_open,
    set_child_subreaper, setsid,
};
use std::fs::File;
use std::io::{self, BufRead, PipeReader, Read, Write};
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};
use sys::process::{End, Resources, reap};

/// The end of standard output that is kept.
const OUTPUT_BYTES_MAX: usize = 256 << 10;
/// The end of standard error that is kept.
const ERROR_BYTES_MAX: usize = 8 << 10;
/// Processes that a command may have at once: one that forks for ever would take all ids of the machine.
pub(crate) const PROCESSES_MAX: usize = 4_096;
/// How often they are counted.
const COUNT_PERIOD: Duration = Duration::from_millis(100);
/// How long what a command leaves may take to die: more is a kernel that is stuck.
const KILL_MAX: Duration = Duration::from_secs(20);
/// Runs each command that standard input holds, until its end. The words are the clock's name and the descriptor
/// of the program that starts each.
pub(crate) fn main(words: &[String]) -> io::Result<()> {
    let [clock, starter] = words else { return Err(io::Error::other("nothing to run")) };
    outlive_session()?;
    restore_caller_limit();
    // A command that reads or writes the terminal has none.
    setsid()?;
    set_child_subreaper(Some(getpid()))?;
    let starter = Starter { clock, descriptor: starter };
    let mut out = io::stdout();
    loop {
        let mut line = String::new();
        if io::stdin().lock().read_line(&mut line)? == 0 {
            return Ok(());
        }
        let command: RunnerCommand = serde_json::from_str(&line).map_err(io::Error::other)?;
        let reply = run(&command, &starter).unwrap_or_else(|error| Reply::NotStarted {
            code: error.raw_os_error(),
            error: error.to_string(),
        });
        let reply = serde_json::to_string(&reply).map_err(io::Error::other)?;
        match writeln!(out, "{reply}").and_then(|()| out.flush()) {
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => return Ok(()),
            result => result?,
        }
    }
}

/// The program that starts and times one command.
struct Starter<'a> {
    clock: &'a str,
    descriptor: &'a str,
}

/// Why waiting for a command ended.
enum WaitEnd {
    Ended,
    TimeLimit,
    Processes,
    StarterGone,
}

fn run(order: &RunnerCommand, starter: &Starter<'_>) -> io::Result<Reply> {
    let (report, report_writer) = io::pipe()?;
    // The starter has it under the same number, and keeps it from the command.
    fcntl_setfd(&report_writer, FdFlags::empty())?;
    let mut command = Command::new(format!("/proc/self/fd/{}", starter.descriptor));
    command.arg0("starter").arg(starter.clock).arg(report_writer.as_raw_fd().to_string());
    command.arg(starter.descriptor);
    let (output, errors) = prepare(&mut command, order)?;
    let mut tails = [Some(Tail::new(errors, ERROR_BYTES_MAX)?), None];
    tails[1] = output.map(|output| Tail::new(output, OUTPUT_BYTES_MAX)).transpose()?;
    let mut child = command.spawn().map_err(sys::limits::explained)?;
    // The writing ends of the pipes are open in here.
    drop((command, report_writer));
    let waited = watch(&child, Instant::now() + order.time_limit, &mut tails);
    if !matches!(waited, Ok(WaitEnd::Ended)) {
        child.kill()?;
    }
    child.wait()?;
    let mut orphans = Resources::default();
    let (left, left_cpu_ns) = kill_what_is_left(&mut orphans);
    for tail in tails.iter_mut().flatten() {
        tail.read();
    }
    let text = |tail: &Option<Tail>| tail.as_ref().map(Tail::text).unwrap_or_default();
    let [errors, output] = tails.each_ref().map(text);
    let killed =
        |end| RanReply { end, left, left_cpu_ns, errors: errors.clone(), ..RanReply::default() };
    Ok(Reply::Ran(match waited? {
        WaitEnd::StarterGone => return Err(io::ErrorKind::BrokenPipe.into()),
        WaitEnd::TimeLimit => killed(RunEnd::TimeLimit),
        WaitEnd::Processes => killed(RunEnd::Processes(PROCESSES_MAX)),
        WaitEnd::Ended => {
            let (reported, used) = read_report(report)?;
            orphans.add(&used);
            RanReply {
                used: numbers(&orphans),
                output,
                left,
                left_cpu_ns,
                errors: errors.clone(),
                ..reported
            }
        }
    }))
}

/// What the starter reports of a command, without what the command wrote and left.
fn read_report(mut report: PipeReader) -> io::Result<(RanReply, Resources)> {
    let mut line = String::new();
    report.read_to_string(&mut line)?;
    if let Some(code) = line.strip_prefix("failed ").and_then(|code| code.trim().parse().ok()) {
        return Err(sys::limits::explained(io::Error::from_raw_os_error(code)));
    }
    let unexpected = || io::Error::other(format!("the starter's report: {line:?}"));
    parse_report(&line).ok_or_else(unexpected)
}

fn parse_report(line: &str) -> Option<(RanReply, Resources)> {
    let mut words = line.strip_prefix("ran ")?.split_whitespace();
    let (before, after) = (words.next()?.parse().ok()?, words.next()?.parse().ok()?);
    let (how, code) = (words.next()?, words.next()?.parse().ok()?);
    let end = match how {
        "exited" => RunEnd::Exited(code),
        "killed" => RunEnd::Killed(code),
        _ => return None,
    };
    let numbers: Option<Vec<u64>> = words.map(|word| word.parse().ok()).collect();
    let [user_us, system_us, voluntary, involuntary, minor, major, rss_kib] = numbers?[..] else {
        return None;
    };
    let used = Resources {
        user_ns: user_us * 1_000,
        system_ns: system_us * 1_000,
        switches_voluntary: voluntary,
        switches_involuntary: involuntary,
        faults_minor: minor,
        faults_major: major,
        rss_max_bytes: rss_kib * 1_024,
    };
    Some((RanReply { before, after, end, ..RanReply::default() }, used))
}

/// Adds the command to its starter. Returns the pipes of its standard output, if that is kept, and of its standard
/// error.
fn prepare(
    command: &mut Command,
    order: &RunnerCommand,
) -> io::Result<(Option<PipeReader>, PipeReader)> {
    let named = |what: &str, error: io::Error| io::Error::other(format!("{what}: {error}"));
    let path = |path| order.directory.join(path);
    command.args(&order.words).current_dir(&order.directory);
    without_own_variables(command);
    if let Some(mark) = std::env::var_os(GUARD_MARK) {
        command.env(MARK, mark).env_remove(GUARD_MARK);
    }
    command.stdin(match &order.input {
        None => Stdio::null(),
        Some(file) => {
            let input = File::open(path(file));
            input.map_err(|error| named(&format!("its input {}", file.display()), error))?.into()
        }
    });
    let output = match &order.output {
        RunnerOutput::Null => (Stdio::null(), None),
        RunnerOutput::File(file) | RunnerOutput::Append(file) => {
            let append = matches!(order.output, RunnerOutput::Append(_));
            let mut options = File::options();
            options.append(append).write(true).truncate(!append).create(!append);
            let output = options.open(path(file));
            let output =
                output.map_err(|error| named(&format!("its output {}", file.display()), error));
            (output?.into(), None)
        }
        RunnerOutput::Kept => {
            let (reader, writer) = io::pipe()?;
            (Stdio::from(writer), Some(reader))
        }
    };
    let (errors, errors_writer) = io::pipe()?;
    command.stdout(output.0).stderr(errors_writer);
    Ok((output.1, errors))
}

/// Waits until the child has ended, or until there is a reason not to wait.
fn watch(child: &Child, end: Instant, tails: &mut [Option<Tail>; 2]) -> io::Result<WaitEnd> {
    let ended = pidfd_open(Pid::from_child(child), PidfdFlags::empty())?;
    let mut count_at = Instant::now() + COUNT_PERIOD;
    loop {
        let now = Instant::now();
        if now >= end {
            return Ok(WaitEnd::TimeLimit);
        }
        if now >= count_at {
            if has_more_processes_than(PROCESSES_MAX) {
                return Ok(WaitEnd::Processes);
            }
            count_at = Instant::now() + COUNT_PERIOD;
        }
        let [has_ended, is_starter_gone] = wait_for(&ended, end.min(count_at) - now, tails)?;
        if has_ended {
            return Ok(WaitEnd::Ended);
        }
        if is_starter_gone {
            return Ok(WaitEnd::StarterGone);
        }
        for tail in tails.iter_mut().flatten() {
            tail.read();
        }
    }
}

/// Waits for a moment. Returns whether the child has ended, and whether the starter is gone.
fn wait_for(ended: &OwnedFd, rest: Duration, tails: &[Option<Tail>; 2]) -> io::Result<[bool; 2]> {
    let stdin = io::stdin();
    let mut fds = vec![PollFd::new(ended, PollFlags::IN), PollFd::new(&stdin, PollFlags::empty())];
    let open = tails.iter().flatten().filter(|tail| !tail.has_ended);
    fds.extend(open.map(|tail| PollFd::new(tail.pipe(), PollFlags::IN)));
    let timeout =
        Timespec { tv_sec: rest.as_secs().cast_signed(), tv_nsec: i64::from(rest.subsec_nanos()) };
    match poll(&mut fds, Some(&timeout)) {
        Ok(_) => Ok([!fds[0].revents().is_empty(), !fds[1].revents().is_empty()]),
        Err(rustix::io::Errno::INTR) => Ok([false; 2]),
        Err(error) => Err(error.into()),
    }
}

/// Whether this process has more descendants than `max`.
pub(crate) fn has_more_processes_than(max: usize) -> bool {
    sys::proc::descendants("self", max).len() > max
}

/// Kills every process that a command left, and every orphan that comes of it. Returns how many there were, and the
/// CPU time that they had used; what those used that had ended by themselves is added to `used`.
fn kill_what_is_left(used: &mut Resources) -> (u64, u64) {
    let end = Instant::now() + KILL_MAX;
    let (mut killed, mut cpu_ns) = (0, 0);
    loop {
        while let Ok(Some((process_end, resources))) = reap() {
            if process_end == End::Killed(Signal::KILL.as_raw()) {
                killed += 1;
                cpu_ns += resources.user_ns + resources.system_ns;
            } else {
                used.add(&resources);
            }
        }
        let left = own_children();
        if left.is_empty() || Instant::now() > end {
            return (killed, cpu_ns);
        }
        for pid in left {
            // All of its group at once: one that forks for ever is faster than a list of its processes.
            match getpgid(Some(pid)) {
                Ok(group) if group != getpid() => {
                    let _ = kill_process_group(group, Signal::KILL);
                }
                _ => {}
            }
            let _ = kill_process(pid, Signal::KILL);
        }
        std::thread::yield_now();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_report_of_the_starter_is_read() {
        let (ran, used) = parse_report("ran 10 20 exited 3 1 2 3 4 5 6 7\n").unwrap();
        assert_eq!((ran.before, ran.after, ran.end), (10, 20, RunEnd::Exited(3)));
        assert_eq!((used.user_ns, used.system_ns, used.rss_max_bytes), (1_000, 2_000, 7_168));
        for wrong in ["", "ran", "ran 1 2 exited 0 1 2 3", "ran 1 2 left 0 1 2 3 4 5 6 7"] {
            assert!(parse_report(wrong).is_none(), "{wrong}");
        }
    }
}
