//! What the kernel counts for processes, how one ended (rusage and wait4), and this program started again.

use crate::answer::counted;
use std::io;
use std::mem::MaybeUninit;
use std::os::unix::process::CommandExt;
use std::process::Command;

/// The file of this program as it was started, also when another has taken its path meanwhile.
pub const THIS_PROGRAM: &str = "/proc/self/exe";

/// A command that starts this program again, called `knee` in lists of processes.
pub fn this_program() -> Command {
    let mut command = Command::new(THIS_PROGRAM);
    command.arg0("knee");
    command
}

/// Resources that the kernel counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Resources {
    /// CPU time in user mode, in nanoseconds (the kernel rounds to microseconds).
    pub user_ns: u64,
    /// CPU time in the kernel, in nanoseconds (the kernel rounds to microseconds).
    pub system_ns: u64,
    /// Context switches because the process waited.
    pub switches_voluntary: u64,
    /// Context switches because the kernel took the CPU away.
    pub switches_involuntary: u64,
    /// Page faults served without input or output.
    pub faults_minor: u64,
    /// Page faults that needed input or output.
    pub faults_major: u64,
    /// The largest resident set, in bytes (the kernel counts whole pages).
    pub rss_max_bytes: u64,
}

/// Ticks that show how CPU time is split between user mode and the kernel: to ten of a hundred.
const SPLIT_TICKS_MIN: u64 = 25;
/// Ticks of each process, since all of a process that no tick hit counts as user mode.
const PROCESS_TICKS_MIN: u64 = 2;

/// Whether this much CPU time of so many processes has a split between user mode and the kernel: the kernel counts the sum
/// exactly, and splits it by where its ticks hit.
pub fn is_cpu_time_split(cpu_ns: u64, processes: u64) -> bool {
    cpu_ns >= tick_ns() * SPLIT_TICKS_MIN.max(PROCESS_TICKS_MIN * processes)
}

/// The time between two ticks of the kernel: 1 to 10 ms.
fn tick_ns() -> u64 {
    #[cfg(any(target_os = "linux", target_os = "android"))]
    {
        use rustix::time::{ClockId, clock_getres};
        // The coarse clock goes on at each tick.
        clock_getres(ClockId::MonotonicCoarse).tv_nsec.cast_unsigned()
    }
    #[cfg(not(any(target_os = "linux", target_os = "android")))]
    {
        10_000_000
    }
}

impl Resources {
    /// What was used since `before`; of what the kernel has counted down since, nothing.
    #[must_use]
    pub fn since(&self, before: &Resources) -> Resources {
        let more = |count: fn(&Resources) -> u64| count(self).saturating_sub(count(before));
        Resources {
            user_ns: more(|all| all.user_ns),
            system_ns: more(|all| all.system_ns),
            switches_voluntary: more(|all| all.switches_voluntary),
            switches_involuntary: more(|all| all.switches_involuntary),
            faults_minor: more(|all| all.faults_minor),
            faults_major: more(|all| all.faults_major),
            // A maximum has no difference.
            rss_max_bytes: self.rss_max_bytes,
        }
    }

    /// Adds what another process used.
    pub fn add(&mut self, more: &Resources) {
        self.user_ns += more.user_ns;
        self.system_ns += more.system_ns;
        self.switches_voluntary += more.switches_voluntary;
        self.switches_involuntary += more.switches_involuntary;
        self.faults_minor += more.faults_minor;
        self.faults_major += more.faults_major;
        self.rss_max_bytes = self.rss_max_bytes.max(more.rss_max_bytes);
    }
}

/// How a process ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// With this exit code.
    Exited(i32),
    /// By this signal.
    Killed(i32),
}

/// The resources of this process until now.
pub fn resources() -> Resources {
    resources_of(libc::RUSAGE_SELF)
}

/// The resources of this thread until now.
#[cfg(target_os = "linux")]
pub fn thread_resources() -> Resources {
    resources_of(libc::RUSAGE_THREAD)
}

fn resources_of(target: libc::c_int) -> Resources {
    let mut usage = MaybeUninit::<libc::rusage>::zeroed();
    // SAFETY: `usage` is valid to write to; all zeroes is a valid rusage, should the call fail.
    let usage = unsafe {
        libc::getrusage(target, usage.as_mut_ptr());
        usage.assume_init()
    };
    convert(&usage)
}

/// Waits for the child `pid` to end, and takes its resources, those of the children that it waited
/// for included.
pub fn wait(pid: u32) -> io::Result<(End, Resources)> {
    let ended = wait_with(pid.cast_signed(), 0)?;
    ended.ok_or_else(|| io::Error::other("wait4 returned without a process"))
}

/// Takes away any child that has ended, with its resources; none where no child has.
pub fn reap() -> io::Result<Option<(End, Resources)>> {
    wait_with(-1, libc::WNOHANG)
}

fn wait_with(pid: libc::pid_t, options: libc::c_int) -> io::Result<Option<(End, Resources)>> {
    let mut status = 0;
    let mut usage = MaybeUninit::<libc::rusage>::zeroed();
    loop {
        // SAFETY: both pointers are valid to write to for the length of the call.
        match counted(unsafe { wait4(pid, &raw mut status, options, usage.as_mut_ptr()) }) {
            Ok(0) => return Ok(None),
            Ok(_) => break,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    // SAFETY: wait4 filled it in; all zeroes would be valid too.
    let usage = unsafe { usage.assume_init() };
    let end = if libc::WIFSIGNALED(status) {
        End::Killed(libc::WTERMSIG(status))
    } else {
        End::Exited(libc::WEXITSTATUS(status))
    };
    Ok(Some((end, convert(&usage))))
}

#[cfg(not(any(target_os = "solaris", target_os = "illumos")))]
use libc::wait4;

// The libc crate does not declare it for these systems.
// SAFETY: the types are those of wait4(3C).
#[cfg(any(target_os = "solaris", target_os = "illumos"))]
unsafe extern "C" {
    fn wait4(
        pid: libc::pid_t,
        status: *mut libc::c_int,
        options: libc::c_int,
        usage: *mut libc::rusage,
    ) -> libc::pid_t;
}

/// What `ru_maxrss` counts, in bytes.
const RSS_UNIT: u64 = if cfg!(target_vendor = "apple") { 1 } else { 1_024 };

fn convert(usage: &libc::rusage) -> Resources {
    let ns = |time: libc::timeval| time.tv_sec as u64 * 1_000_000_000 + time.tv_usec as u64 * 1_000;
    Resources {
        user_ns: ns(usage.ru_utime),
        system_ns: ns(usage.ru_stime),
        switches_voluntary: usage.ru_nvcsw as u64,
        switches_involuntary: usage.ru_nivcsw as u64,
        faults_minor: usage.ru_minflt as u64,
        faults_major: usage.ru_majflt as u64,
        rss_max_bytes: usage.ru_maxrss as u64 * RSS_UNIT,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::Command;

    #[test]
    #[expect(clippy::zombie_processes, reason = "`wait` takes the ended children away")]
    fn a_child_is_waited_for_with_how_it_ended() {
        let child = Command::new("sh").args(["-c", "exit 7"]).spawn().unwrap();
        assert_eq!(wait(child.id()).unwrap().0, End::Exited(7));
        let child = Command::new("sh").args(["-c", "kill -9 $$"]).spawn().unwrap();
        assert_eq!(wait(child.id()).unwrap().0, End::Killed(libc::SIGKILL));
    }

    #[test]
    fn resources_of_two_processes_are_added_and_the_larger_resident_set_counts() {
        let mut first = Resources { user_ns: 1, rss_max_bytes: 9, ..Resources::default() };
        first.add(&Resources { user_ns: 2, rss_max_bytes: 5, ..Resources::default() });
        assert_eq!((first.user_ns, first.rss_max_bytes), (3, 9));
        assert!(resources().rss_max_bytes > 4_096);
    }

    #[test]
    fn waiting_for_what_is_no_child_is_an_error() {
        assert_eq!(wait(1).unwrap_err().raw_os_error(), Some(libc::ECHILD));
    }

    #[test]
    fn work_is_counted() {
        let before = resources();
        let mut sum = 0_u64;
        while resources().user_ns + resources().system_ns
            <= before.user_ns + before.system_ns + 2_000_000
        {
            sum = std::hint::black_box(sum.wrapping_add(1));
        }
        assert!(resources().faults_minor >= before.faults_minor);
    }
}
