//! Processes that bear the mark of a run's workers, and how they are killed.

use crate::process::{MARK, own_children};
use rustix::process::{Pid, Signal, WaitOptions, kill_process, waitpgid, waitpid};
use std::time::{Duration, Instant};
use sys::proc::{self, Stat};

/// The pause between two looks at a process that is becoming another program.
const EXEC_PAUSE: Duration = Duration::from_micros(250);
/// How long such a process may take until it has a command line, and from there to its environment.
const EXEC_MAX: Duration = Duration::from_secs(2);
const EXEC_ENDS_MAX: Duration = Duration::from_millis(10);

/// The variable in the environment by which a guard is known that has to clean up before it ends.
pub(crate) const GUARD_MARK: &str = "KNEE_GUARD";
/// How long such a guard may take.
const GUARD_MAX: Duration = Duration::from_secs(30);

/// Waits for the rest of a worker's group, which was killed, and kills whatever else of the worker's came to
/// this process. Returns how many processes there were.
///
/// A child without the mark is not killed: a shell may have started it before it became this program.
pub(super) fn kill_rest(group: Pid, mark: &str) -> usize {
    let mut count = 0;
    // As the reaper of orphans (see `run`), this process can wait for all of the group.
    while let Ok(Some(_)) = waitpgid(group, WaitOptions::empty()) {
        count += 1;
    }
    wait_for_guards(mark);
    loop {
        let left = marked_children(mark);
        if left.is_empty() {
            // Janitors of workers that were killed: they bear no mark, and end when they are done.
            while let Ok(Some(_)) = waitpid(None, WaitOptions::NOHANG) {}
            return count;
        }
        for pid in left {
            let _ = kill_process(pid, Signal::KILL);
            if let Ok(Some(_)) = waitpid(Some(pid), WaitOptions::empty()) {
                count += 1;
            }
        }
    }
}

/// Waits for guards, whose starter is gone: each kills what it guards, and ends. One that does not is killed.
fn wait_for_guards(mark: &str) {
    let end = Instant::now() + GUARD_MAX;
    for pid in own_children().into_iter().filter(|&pid| has_mark(pid, GUARD_MARK, mark)) {
        while let Ok(None) = waitpid(Some(pid), WaitOptions::NOHANG) {
            if Instant::now() > end {
                let _ = kill_process(pid, Signal::KILL);
                let _ = waitpid(Some(pid), WaitOptions::empty());
                break;
            }
            std::thread::sleep(EXEC_PAUSE);
        }
    }
}

/// The children of this process that bear the mark, orphans that were handed to it included.
pub(super) fn marked_children(mark: &str) -> Vec<Pid> {
    own_children().into_iter().filter(|&pid| has_mark(pid, MARK, mark)).collect()
}

/// Whether a process was started with this value of the variable `name` in its environment, by a worker or what
/// it started.
fn has_mark(pid: Pid, name: &str, mark: &str) -> bool {
    let pid = pid.as_raw_pid();
    let is_dead = || Stat::read(pid).is_none_or(|stat| stat.is_dead());
    let begun = Instant::now();
    // While a process becomes another program, it seems to have no environment, and at first no command line
    // either. One that has a command line and no environment in the end was started without one.
    let environment = loop {
        let environment = proc::text(pid, "environ");
        let is_empty = environment.as_ref().is_ok_and(String::is_empty);
        let has_no_command = proc::text(pid, "cmdline").is_ok_and(|line| line.is_empty());
        let wait_max = if has_no_command { EXEC_MAX } else { EXEC_ENDS_MAX };
        if !is_empty || is_dead() || begun.elapsed() > wait_max {
            break environment;
        }
        std::thread::sleep(EXEC_PAUSE);
    };
    let marked = format!("{name}={mark}");
    environment.is_ok_and(|text| text.split('\0').any(|variable| variable == marked))
}
