//! The CPU time of another process, to the nanosecond: its CPU-time clock.

use crate::answer::done;
use crate::proc::{Stat, TICK_NS};
use std::io;

/// The CPU time, user and system, of all threads that the process has and had, in nanoseconds. Other
/// than what `/proc` tells it includes the slice that runs at this moment.
///
/// # Errors
/// `ESRCH` or `EINVAL` where there is no such process.
pub fn cpu_ns(pid: i32) -> io::Result<u64> {
    let mut clock = 0;
    // SAFETY: `clock` is valid to write to.
    let error = unsafe { libc::clock_getcpuclockid(pid, &raw mut clock) };
    if error != 0 {
        return Err(io::Error::from_raw_os_error(error));
    }
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: `time` is valid to write to.
    done(unsafe { libc::clock_gettime(clock, &raw mut time) })?;
    Ok(time.tv_sec.unsigned_abs() * 1_000_000_000 + time.tv_nsec.unsigned_abs())
}

/// The same with the CPU time of its children that have ended and that it waited for, which the kernel shows in clock ticks of
/// 10 ms.
///
/// # Errors
/// Where there is no such process.
pub fn cpu_ns_with_ended(pid: i32) -> io::Result<u64> {
    let stat = Stat::read(pid).ok_or(io::ErrorKind::NotFound)?;
    Ok(cpu_ns(pid)? + stat.ended_cpu_ticks * TICK_NS)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::{Command, Stdio};

    #[test]
    fn what_another_process_burns_is_seen_while_it_does() {
        let mut busy = Command::new("sh").args(["-c", "while :; do :; done"]).spawn().unwrap();
        let pid = busy.id().cast_signed();
        let first = cpu_ns(pid).unwrap();
        // Ends when the time has grown, and never if it does not.
        while cpu_ns(pid).unwrap() < first + 5_000_000 {}
        busy.kill().unwrap();
        busy.wait().unwrap();
    }

    #[test]
    fn a_process_that_waits_burns_nothing_and_one_that_is_gone_is_an_error() {
        let mut idle = Command::new("cat").stdin(Stdio::piped()).spawn().unwrap();
        let pid = idle.id().cast_signed();
        assert!(cpu_ns(pid).unwrap() < 1_000_000_000);
        drop(idle.stdin.take());
        idle.wait().unwrap();
        assert!(cpu_ns(pid).is_err());
    }
}
