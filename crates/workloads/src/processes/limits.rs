//! Whether this machine holds the processes and threads that a cell asks for.

use crate::shared::shortage;
use engine::{Fit, LimitCause};
use rustix::io::Errno;
use rustix::process::{PidfdFlags, WaitId, WaitIdOptions, getpid, pidfd_open, waitid};
use std::os::fd::AsFd;
use std::sync::OnceLock;
use sys::limits::{MAPS_MAX, tasks_in_system};
use sys::proc::setting;

/// Maps of a thread: its stack and the one for signals, each with a guard page.
const MAPS_OF_A_THREAD: u64 = 4;
/// Maps that the rest of the process may need.
const MAPS_BESIDES: u64 = 1_000;

/// Whether there are maps for so many threads. A thread that gets none for its signal stack ends the
/// whole process, with all that was measured: so this can't be left to happen.
pub(crate) fn maps_for_threads(threads: u64) -> Fit {
    let Some(limit) = setting::<u64>(MAPS_MAX) else { return Fit::Measure };
    let max = limit.saturating_sub(MAPS_BESIDES) / MAPS_OF_A_THREAD;
    if threads <= max {
        return Fit::Measure;
    }
    Fit::AtMost {
        parameter: "threads",
        max,
        cause: LimitCause::Setting { setting: MAPS_MAX.into(), max: limit, each: MAPS_OF_A_THREAD },
        remedy: format!(
            "sysctl -w {MAPS_MAX}={}",
            threads.saturating_mul(MAPS_OF_A_THREAD).saturating_add(MAPS_BESIDES)
        ),
    }
}

/// Memory of a small process that sleeps: its kernel stack, tables, and the pages that it wrote to.
const PROCESS_KIB: u64 = 200;
/// The page tables of a mebibyte in pages of 4 KiB.
const TABLES_KIB_PER_MIB: u64 = 2;

/// Whether there is memory for so many processes of a parent of that size.
pub(crate) fn memory_for(processes: u64, parent_mib: u64) -> Fit {
    let available_kib = shortage::available_kib();
    let each_kib = PROCESS_KIB + TABLES_KIB_PER_MIB * parent_mib;
    let max = available_kib.saturating_sub(parent_mib << 10) / each_kib;
    if processes <= max {
        return Fit::Measure;
    }
    let cause = LimitCause::Memory { available_mib: available_kib >> 10, each_kib };
    if max == 0 {
        let what = format!("A parent of {parent_mib} MiB");
        return Fit::Leave { what, cause, remedy: "ask for a smaller --parent".into() };
    }
    let remedy = "end what else uses memory, or ask for fewer: --points 1k".to_owned();
    Fit::AtMost { parameter: super::parameters::PROCESSES.name, max, cause, remedy }
}

/// Whether there are ids for so many processes, and some left for all others.
pub(crate) fn ids_for(processes: u64) -> Fit {
    let max = ids_left();
    if processes <= max {
        return Fit::Measure;
    }
    let clause = format!("all processes of the machine share {max} more ids (kernel.pid_max)");
    let cause = LimitCause::Other { clause };
    let remedy = format!("sysctl -w kernel.pid_max={}", processes.saturating_mul(2).min(4_194_304));
    Fit::AtMost { parameter: super::parameters::PROCESSES.name, max, cause, remedy }
}

/// How many processes can be made so that others can still make theirs.
fn ids_left() -> u64 {
    const FOR_OTHERS: u64 = 2_000;
    static LEFT: OnceLock<u64> = OnceLock::new();
    *LEFT.get_or_init(|| {
        let limits = ["kernel.pid_max", "kernel.threads-max"];
        let max = limits.into_iter().filter_map(setting).min().unwrap_or(u64::MAX);
        max.saturating_sub(tasks_in_system() + FOR_OTHERS).max(1)
    })
}

/// Whether the kernel can wait for the end of a process by its descriptor.
pub(super) fn waits_for_pidfds() -> Result<(), String> {
    let own = match pidfd_open(getpid(), PidfdFlags::empty()) {
        Ok(own) => own,
        Err(Errno::PERM | Errno::ACCESS) => return Err(sys::limits::sandboxed("pidfds")),
        Err(_) => return Err(TOO_OLD.into()),
    };
    // No process is its own child: a kernel that knows the question says so.
    match waitid(WaitId::PidFd(own.as_fd()), WaitIdOptions::EXITED | WaitIdOptions::NOHANG) {
        Err(Errno::CHILD) => Ok(()),
        _ => Err(TOO_OLD.into()),
    }
}

const TOO_OLD: &str = "the kernel does not wait for pidfds (Linux 5.4 or later does)";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_and_maps_say_what_they_hold() {
        assert_eq!(ids_for(1), Fit::Measure);
        assert!(matches!(ids_for(u64::MAX / 2), Fit::AtMost { .. }));
        assert_eq!(memory_for(1, 0), Fit::Measure);
        assert!(matches!(memory_for(u64::MAX / 2, 0), Fit::AtMost { .. }));
        assert!(matches!(memory_for(1, 1 << 40), Fit::Leave { .. }));
        assert_eq!(maps_for_threads(1), Fit::Measure);
        let Fit::AtMost { max, .. } = maps_for_threads(u64::MAX / 8) else { panic!("all fit") };
        assert_eq!(maps_for_threads(max), Fit::Measure);
    }
}
