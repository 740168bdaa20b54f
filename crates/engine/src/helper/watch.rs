//! How a guard waits for the program that it started.

use crate::process::wait_for_any;
use crate::tail::Tail;
use rustix::event::{PollFd, PollFlags};
use rustix::process::{Pid, PidfdFlags, pidfd_open};
use rustix::system::sysinfo;
use std::io;
use std::process::Child;
use std::time::{Duration, Instant};

/// Processes that a program may have at once: one that forks for ever would take all ids of the machine.
pub(crate) const PROCESSES_MAX: usize = 4_096;
const PERIOD: Duration = Duration::from_millis(100);

pub(super) enum WaitEnd {
    Ended,
    TimeLimit,
    Processes,
    StarterGone,
}

/// What a guard looks at now and then; returns whether the program has too many processes.
pub(super) type Look<'a> = &'a mut dyn FnMut() -> io::Result<bool>;

/// Waits until `child` has ended or the starter is gone, or until there is a reason not to wait. Takes what it writes
/// meanwhile.
pub(super) fn watch(
    child: &Child,
    end: Option<Instant>,
    tails: &mut [Tail],
    mut look: Option<Look<'_>>,
) -> io::Result<WaitEnd> {
    let ended = pidfd_open(Pid::from_child(child), PidfdFlags::empty())?;
    let mut look_at = Instant::now() + PERIOD;
    loop {
        let now = Instant::now();
        if end.is_some_and(|end| now >= end) {
            return Ok(WaitEnd::TimeLimit);
        }
        if let Some(look) = look.as_mut().filter(|_| now >= look_at) {
            if look()? {
                return Ok(WaitEnd::Processes);
            }
            look_at = Instant::now() + PERIOD;
        }
        let next = end.into_iter().chain(look.is_some().then_some(look_at)).min();
        let stdin = io::stdin();
        // Its starter writes nothing meanwhile: only the end of the pipe is of interest.
        let mut fds =
            vec![PollFd::new(&ended, PollFlags::IN), PollFd::new(&stdin, PollFlags::empty())];
        let open = tails.iter().filter_map(Tail::descriptor);
        fds.extend(open.map(|pipe| PollFd::from_borrowed_fd(pipe, PollFlags::IN)));
        wait_for_any(&mut fds, next.map(|next| next.saturating_duration_since(now)))?;
        let [has_ended, is_starter_gone] = [0, 1].map(|at: usize| !fds[at].revents().is_empty());
        if has_ended {
            return Ok(WaitEnd::Ended);
        }
        if is_starter_gone {
            return Ok(WaitEnd::StarterGone);
        }
        tails.iter_mut().for_each(Tail::read);
    }
}

/// What the machine had running before a program was started, other users' processes included.
#[derive(Clone, Copy)]
pub(super) struct Before {
    /// The kernel counts no further than to 65,535, and begins again.
    threads: u16,
    processes: usize,
}

impl Before {
    pub fn now() -> Before {
        Before { threads: sysinfo().procs, processes: sys::proc::pids().count() }
    }

    /// Whether this process has too many descendants by now.
    pub fn has_too_many_processes(self) -> bool {
        // Following all that a program started costs time, which is the program's. Others may have ended meanwhile.
        let threads_more = sysinfo().procs.wrapping_sub(self.threads).cast_signed();
        let is_possible = usize::try_from(threads_more).is_ok_and(|more| more >= PROCESSES_MAX / 2);
        if !is_possible || sys::proc::pids().count() < self.processes + PROCESSES_MAX / 2 {
            return false;
        }
        sys::proc::descendants("self", PROCESSES_MAX).len() > PROCESSES_MAX
    }
}
