//! The guard's side of a [`Runner`](super::Runner).

use super::{ProcessIo, Ran, Reply, RunEnd, RunnerCommand, RunnerOutput};
use crate::descriptors::restore_caller_limit;
use crate::helper::guard::{outlive_session, without_own_variables};
use crate::helper::watch::{Before, PROCESSES_MAX, WaitEnd, watch};
use crate::process::{MARK, own_children};
use crate::tail::Tail;
use crate::worker::marked::GUARD_MARK;
use rustix::io::{FdFlags, fcntl_setfd};
use rustix::process::{
    Signal, getpgid, getpid, kill_process, kill_process_group, set_child_subreaper, setsid,
};
use std::fs::{self, File};
use std::io::{self, BufRead, PipeReader, Read, Write};
use std::os::fd::AsRawFd;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};
use sys::process::{End, Resources, reap};

const OUTPUT_BYTES_MAX: usize = 256 << 10;
const ERROR_BYTES_MAX: usize = 8 << 10;
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
    let starter = Starter { clock, descriptor: starter, before: Before::now() };
    let mut out = io::stdout();
    loop {
        let mut line = String::new();
        if io::stdin().lock().read_line(&mut line)? == 0 {
            return Ok(());
        }
        let command: RunnerCommand = serde_json::from_str(&line).map_err(io::Error::other)?;
        let not_started = |error: io::Error| Reply::NotStarted {
            code: error.raw_os_error(),
            error: error.to_string(),
        };
        let reply =
            run(&command, &starter).map_or_else(not_started, |ran| Reply::Ran(Box::new(ran)));
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
    before: Before,
}

fn run(order: &RunnerCommand, starter: &Starter<'_>) -> io::Result<Ran> {
    let (report, report_writer) = io::pipe()?;
    // The starter has it under the same number, and keeps it from the command.
    fcntl_setfd(&report_writer, FdFlags::empty())?;
    let mut command = Command::new(format!("/proc/self/fd/{}", starter.descriptor));
    command.arg0("starter").arg(starter.clock).arg(report_writer.as_raw_fd().to_string());
    command.arg(starter.descriptor).arg(order.group.as_deref().unwrap_or(Path::new("")));
    command.arg(order.call_tracepoint.map(counters).unwrap_or_default());
    let (output, errors) = prepare(&mut command, order)?;
    let mut tails = [Tail::new(errors, ERROR_BYTES_MAX)?, Tail::new(output, OUTPUT_BYTES_MAX)?];
    // One that goes elsewhere ends now, and not while the command runs.
    tails.iter_mut().for_each(Tail::read);
    let mut child = command.spawn().map_err(sys::limits::explained)?;
    // The writing ends of the pipes are open in here.
    drop((command, report_writer));
    let end = order.time_limit.map(|limit| Instant::now() + limit);
    let mut look = || Ok(starter.before.has_too_many_processes());
    let waited = watch(&child, end, &mut tails, end.is_some().then_some(&mut look));
    if !matches!(waited, Ok(WaitEnd::Ended)) {
        child.kill()?;
    }
    child.wait()?;
    let mut orphans = Resources::default();
    let (left, left_cpu_ns) = kill_what_is_left(&mut orphans);
    tails.iter_mut().for_each(Tail::read);
    let [errors, output] = tails.each_ref().map(Tail::text);
    let killed = |end| Ran { end, ..Ran::default() };
    let ran = match waited? {
        WaitEnd::StarterGone => return Err(io::ErrorKind::BrokenPipe.into()),
        WaitEnd::TimeLimit => killed(RunEnd::TimeLimit),
        WaitEnd::Processes => killed(RunEnd::Processes(PROCESSES_MAX)),
        WaitEnd::Ended => Ran { orphans, output, ..read_report(report)? },
    };
    Ok(Ran { errors, left, left_cpu_ns, ..ran })
}

/// What the starter takes as the system calls to count.
fn counters(tracepoint: u64) -> String {
    let numbers = observe::COUNTED_CALLS.iter().map(|(_, number)| number.to_string());
    format!("{tracepoint}:{}", numbers.collect::<Vec<_>>().join(","))
}

/// What the starter reports of a command, without what the command wrote and left.
fn read_report(mut report: PipeReader) -> io::Result<Ran> {
    let mut line = String::new();
    report.read_to_string(&mut line)?;
    if let Some(code) = line.strip_prefix("failed ").and_then(|code| code.trim().parse().ok()) {
        return Err(sys::limits::explained(io::Error::from_raw_os_error(code)));
    }
    if let Some(code) = line.strip_prefix("outside ").and_then(|code| code.trim().parse().ok()) {
        let error = io::Error::from_raw_os_error(code);
        return Err(io::Error::other(format!("entering its control group: {error}")));
    }
    if let Some(code) = line.strip_prefix("uncounted ").and_then(|code| code.trim().parse().ok()) {
        let error = io::Error::from_raw_os_error(code);
        return Err(io::Error::other(format!("counting its system calls: {error}")));
    }
    let unexpected = || io::Error::other(format!("the starter's report: {line:?}"));
    parse_report(&line).ok_or_else(unexpected)
}

fn parse_report(line: &str) -> Option<Ran> {
    let mut words = line.strip_prefix("ran ")?.split_whitespace();
    let (before, after) = (words.next()?.parse().ok()?, words.next()?.parse().ok()?);
    let (how, code) = (words.next()?, words.next()?.parse().ok()?);
    let end = match how {
        "exited" => RunEnd::Exited(code),
        "killed" => RunEnd::Killed(code),
        _ => return None,
    };
    let mut next = || words.next()?.parse::<u64>().ok();
    let [user_us, system_us] = [next()?, next()?];
    let [voluntary, involuntary, minor, major, rss_kib] =
        [next()?, next()?, next()?, next()?, next()?];
    let io = match words.next()? {
        "-" => None,
        io => {
            let io: Option<Vec<u64>> = io.split(',').map(|count| count.parse().ok()).collect();
            let [bytes_read, bytes_written, reads, writes] = io?[..] else { return None };
            Some(ProcessIo { bytes_read, bytes_written, reads, writes })
        }
    };
    let calls = words.map(|word| word.parse().ok()).collect::<Option<_>>()?;
    let used = Resources {
        user_ns: user_us * 1_000,
        system_ns: system_us * 1_000,
        switches_voluntary: voluntary,
        switches_involuntary: involuntary,
        faults_minor: minor,
        faults_major: major,
        rss_max_bytes: rss_kib * 1_024,
    };
    Some(Ran { before, after, end, used, io, calls, ..Ran::default() })
}

/// Adds the command to its starter. Returns the pipes of its standard output and of its standard error, which end at once
/// where they go elsewhere.
fn prepare(command: &mut Command, order: &RunnerCommand) -> io::Result<(PipeReader, PipeReader)> {
    let opened = |role: &str, options: &fs::OpenOptions, file: &Path| {
        let opened = options.open(order.directory.join(file));
        opened.map_err(|error| io::Error::other(format!("its {role} {}: {error}", file.display())))
    };
    command.args(&order.words).current_dir(&order.directory);
    without_own_variables(command);
    if let Some(mark) = std::env::var_os(GUARD_MARK) {
        command.env(MARK, mark).env_remove(GUARD_MARK);
    }
    command.stdin(match &order.input {
        None => Stdio::null(),
        Some(file) => opened("input", File::options().read(true), file)?.into(),
    });
    let (errors, errors_writer) = io::pipe()?;
    let (output, output_writer) = io::pipe()?;
    command.stderr(errors_writer);
    let made = || File::options().write(true).create(true).truncate(true).clone();
    let appended = || File::options().append(true).clone();
    match &order.output {
        RunnerOutput::Null => command.stdout(Stdio::null()),
        RunnerOutput::File(file) => command.stdout(opened("output", &made(), file)?),
        RunnerOutput::Append(file) => command.stdout(opened("output", &appended(), file)?),
        RunnerOutput::Log(file) => {
            opened("output", &made(), file)?;
            let log = opened("output", &appended(), file)?;
            command.stdout(log.try_clone()?).stderr(log)
        }
        RunnerOutput::Kept => command.stdout(output_writer),
    };
    Ok((output, errors))
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
        let ran = parse_report("ran 10 20 exited 3 1 2 3 4 5 6 7 9,8,2,1 30 20\n").unwrap();
        let used = ran.used;
        assert_eq!((ran.before, ran.after, ran.end), (10, 20, RunEnd::Exited(3)));
        assert_eq!((used.user_ns, used.system_ns, used.rss_max_bytes), (1_000, 2_000, 7_168));
        let io = ProcessIo { bytes_read: 9, bytes_written: 8, reads: 2, writes: 1 };
        assert_eq!((ran.io, ran.calls), (Some(io), vec![30, 20]));
        let unknown = parse_report("ran 1 2 killed 9 1 2 3 4 5 6 7 -\n").unwrap();
        assert_eq!((unknown.io, unknown.calls), (None, Vec::new()));
        for wrong in ["", "ran", "ran 1 2 exited 0 1 2 3", "ran 1 2 left 0 1 2 3 4 5 6 7 -"] {
            assert!(parse_report(wrong).is_none(), "{wrong}");
        }
    }
}
