//! Which limit processes and threads meet. The kernel says EAGAIN for half a dozen of them; which one
//! it was can be seen while all that was made is still there.

use crate::shared::shortage::{self, Limit, MAPS_MAX, setting};
use engine::{Failure, Fit, LimitCause, SkipCause};
use rustix::io::Errno;
use rustix::process::{
    PidfdFlags, Resource, WaitId, WaitIdOptions, getpid, getrlimit, getuid, pidfd_open, waitid,
};
use std::fs::{read_dir, read_to_string};
use std::os::fd::AsFd;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

/// Others come and go while it is counted: a limit is met where the count is this near.
const NEAR: u64 = 16;
/// Numbers that the kernel gives to no process once it has gone round (`RESERVED_PIDS`).
const PIDS_RESERVED: u64 = 300;

/// The failure of `what`, with `wanted` of them asked for: where it is a limit, what was measured up
/// to there counts, and the limit is named. Call it while all that was made is still there.
pub(crate) fn met(what: &str, errno: i32, words: &str, wanted: u64) -> Failure {
    let words = words.split(" (os error").next().unwrap_or_default();
    let limit = match Errno::from_raw_os_error(errno) {
        Errno::AGAIN => exhausted(wanted).unwrap_or_else(|| {
            let remedy = "look at `ulimit -u`, the control group's pids.max, kernel.pid_max and \
                          kernel.threads-max";
            ("the kernel does not tell which limit it is".into(), remedy.into())
        }),
        Errno::NOMEM => shortage::memory(),
        _ => return Failure::call(what, words),
    };
    Failure::ran_out(what, words, limit)
}

/// The limit that this many more can't be made for.
fn exhausted(wanted: u64) -> Option<Limit> {
    let tasks = tasks_in_system();
    control_group(wanted)
        .or_else(|| sysctl("kernel.pid_max", tasks + PIDS_RESERVED, "4194304"))
        .or_else(|| sysctl("kernel.threads-max", tasks, "1000000"))
        .or_else(|| user(wanted))
        .or_else(shortage::maps)
        .or_else(shortage::addresses)
}

/// The limit of the user, `RLIMIT_NPROC`. Who is exempt from it is far above.
fn user(wanted: u64) -> Option<Limit> {
    let limits = getrlimit(Resource::Nproc);
    let limit = limits.current?;
    let user = getuid().as_raw();
    let used = tasks_of(user);
    (used.abs_diff(limit) <= NEAR).then(|| {
        let text = format!("user {user} may have {limit} processes and threads");
        let more = limit.saturating_add(wanted);
        let allowed = limits.maximum.is_none_or(|max| more <= max);
        let remedy = if allowed { "ulimit -u " } else { "sudo prlimit --pid $$ --nproc=" };
        (text, format!("{remedy}{more}"))
    })
}

/// The tasks of a user, by what each process says of itself.
fn tasks_of(user: u32) -> u64 {
    let tasks = |status: String| -> Option<u64> {
        let field = |name: &str| {
            let line = status.lines().find_map(|line| line.strip_prefix(name))?;
            line.split_whitespace().next()?.parse::<u64>().ok()
        };
        (field("Uid:")? == u64::from(user)).then(|| field("Threads:").unwrap_or(1))
    };
    let entries = read_dir("/proc").into_iter().flatten().flatten();
    // `self` and `thread-self` are there too, and would count this process three times.
    let processes =
        entries.filter(|entry| entry.file_name().as_encoded_bytes()[0].is_ascii_digit());
    let statuses = processes.filter_map(|entry| read_to_string(entry.path().join("status")).ok());
    statuses.filter_map(tasks).sum()
}

/// The limit of the control group, or of one that it is in.
fn control_group(wanted: u64) -> Option<Limit> {
    let own = read_to_string("/proc/self/cgroup").ok()?;
    let mounts = read_to_string("/proc/self/mountinfo").ok()?;
    let directory = group_directory(&own, &mounts)?;
    directory.ancestors().find_map(|directory| {
        let number = |file| read_to_string(directory.join(file)).ok()?.trim().parse::<u64>().ok();
        let (max, used) = (number("pids.max")?, number("pids.current")?);
        (used + NEAR >= max).then(|| {
            let (file, more) = (directory.join("pids.max"), max.saturating_add(wanted));
            let limit =
                format!("the control group {} may have {max} processes", directory.display());
            (limit, format!("as root: echo {more} > {}", file.display()))
        })
    })
}

/// The directory of the control group that counts this process, in either version.
fn group_directory(own: &str, mounts: &str) -> Option<PathBuf> {
    let group_of = |wanted: &str| {
        own.lines().find_map(|line| {
            let mut parts = line.splitn(3, ':').skip(1);
            let (controllers, path) = (parts.next()?, parts.next()?);
            controllers.split(',').any(|name| name == wanted).then_some(path)
        })
    };
    let (group, kind, option) = match group_of("pids") {
        Some(group) => (group, "cgroup", "pids"),
        None => (group_of("")?, "cgroup2", ""),
    };
    // A mount shows its own root at its place; see proc_pid_mountinfo(5).
    let (root, mount_point) = mounts.lines().find_map(|line| {
        let (mount, system) = line.split_once(" - ")?;
        let mut system = system.split(' ');
        let of_kind = system.next()? == kind;
        let has = option.is_empty() || system.nth(1)?.split(',').any(|word| word == option);
        let mut mount = mount.split(' ').skip(3);
        (of_kind && has).then(|| mount.next().zip(mount.next()))?
    })?;
    let within = Path::new(group).strip_prefix(root).unwrap_or(Path::new(""));
    Some(Path::new(mount_point).join(within))
}

/// A limit of the system that `used` has come near to, with a value that will do.
fn sysctl(name: &str, used: u64, more: &str) -> Option<Limit> {
    let max = setting(name)?;
    (used + NEAR >= max).then(|| (format!("{name} is {max}"), format!("sysctl -w {name}={more}")))
}

/// The processes and threads of the system: the part of `0.12 0.30 0.43 2/1234 5678` after the stroke.
fn tasks_in_system() -> u64 {
    let line = read_to_string("/proc/loadavg").unwrap_or_default();
    let tasks = line.split(' ').nth(3).and_then(|part| part.split_once('/'));
    tasks.and_then(|(_, all)| all.parse().ok()).unwrap_or(0)
}

/// Maps of a thread: its stack and the one for signals, each with a guard page.
const MAPS_OF_A_THREAD: u64 = 4;
/// Maps that the rest of the process may need.
const MAPS_BESIDES: u64 = 1_000;

/// Whether there are maps for so many threads. A thread that gets none for its signal stack ends the
/// whole process, with all that was measured: so this can't be left to happen.
pub(crate) fn maps_for_threads(threads: u64) -> Fit {
    let Some(limit) = setting(MAPS_MAX) else { return Fit::Measure };
    let max = limit.saturating_sub(MAPS_BESIDES) / MAPS_OF_A_THREAD;
    if threads <= max {
        return Fit::Measure;
    }
    Fit::AtMost {
        parameter: "threads",
        max,
        cause: LimitCause::Maps {
            setting: MAPS_MAX.into(),
            max: limit,
            maps_per_thread: MAPS_OF_A_THREAD,
        },
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
    let available_mib = available_kib >> 10;
    if max == 0 {
        let cause = SkipCause::ParentTooLarge { parent_mib, available_mib };
        return Fit::Leave { cause, remedy: "ask for a smaller --parent".into() };
    }
    let cause = LimitCause::Memory { available_mib, each_kib };
    let remedy = "end what else uses memory, or ask for fewer: --points 1k".to_owned();
    Fit::AtMost { parameter: super::parameters::PROCESSES.name, max, cause, remedy }
}

/// Whether there are ids for so many processes, and some left for all others.
pub(crate) fn ids_for(processes: u64) -> Fit {
    let max = ids_left();
    if processes <= max {
        return Fit::Measure;
    }
    let cause = LimitCause::ProcessIds { left: max };
    let remedy = format!("sysctl -w kernel.pid_max={}", processes.saturating_mul(2).min(4_194_304));
    Fit::AtMost { parameter: super::parameters::PROCESSES.name, max, cause, remedy }
}

/// How many processes can be made so that others can still make theirs.
fn ids_left() -> u64 {
    const FOR_OTHERS: u64 = 2_000;
    static LEFT: OnceLock<u64> = OnceLock::new();
    *LEFT.get_or_init(|| {
        let number = |file| read_to_string(file).ok()?.trim().parse::<u64>().ok();
        let limits = ["/proc/sys/kernel/pid_max", "/proc/sys/kernel/threads-max"];
        let max = limits.iter().filter_map(number).min().unwrap_or(u64::MAX);
        max.saturating_sub(tasks_in_system() + FOR_OTHERS).max(1)
    })
}

/// Whether the kernel can wait for the end of a process by its descriptor.
pub(super) fn waits_for_pidfds() -> bool {
    let Ok(own) = pidfd_open(getpid(), PidfdFlags::empty()) else { return false };
    // Nobody is their own child: a kernel that knows the question says so.
    let answer = waitid(WaitId::PidFd(own.as_fd()), WaitIdOptions::EXITED | WaitIdOptions::NOHANG);
    matches!(answer, Err(Errno::CHILD))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_control_group_is_found_in_both_versions() {
        let version_1 = "1 0 0:1 / /sys/fs/cgroup/pids rw - cgroup cgroup rw,pids\n";
        let own = "8:pids:/a/b\n4:cpu,cpuacct:/c\n0::/d\n";
        let directory = |own, mounts| group_directory(own, mounts).unwrap();
        assert_eq!(directory(own, version_1), Path::new("/sys/fs/cgroup/pids/a/b"));
        let version_2 = "30 23 0:26 / /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 cgroup2 rw\n";
        assert_eq!(
            directory("0::/user.slice/x\n", version_2),
            Path::new("/sys/fs/cgroup/user.slice/x")
        );
        let container = "1 0 0:1 /docker/1 /sys/fs/cgroup/pids ro - cgroup cgroup rw,pids\n";
        assert_eq!(directory("8:pids:/docker/1\n", container), Path::new("/sys/fs/cgroup/pids"));
        assert_eq!(group_directory("", version_2), None);
    }

    #[test]
    fn a_shortage_keeps_what_was_measured_and_other_errors_do_not() {
        let invalid = met("fork", Errno::INVAL.raw_os_error(), "Invalid argument", 5);
        assert_eq!(invalid, Failure::call("fork", "Invalid argument"));
        let memory = met("fork", Errno::NOMEM.raw_os_error(), "Cannot allocate memory", 5);
        assert!(memory.to_string().starts_with("fork: Cannot allocate memory; "), "{memory}");
        assert_ne!(memory, Failure::new(memory.to_string()), "it has a remedy");
    }

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

    #[test]
    fn this_process_is_among_those_of_its_user() {
        assert!(tasks_of(getuid().as_raw()) >= 1);
        assert!(tasks_in_system() >= 1);
    }
}
