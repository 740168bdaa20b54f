//! The limit behind a refusal to start a process or a thread. The kernel answers `EAGAIN` for half a dozen
//! limits; which limit it was can be seen while all that was started is still there.

use crate::cgroup;
use crate::proc::{self, setting};
use rustix::process::{Resource, geteuid, getrlimit, getuid};
use std::fs::{File, read_to_string};
use std::io::{self, BufRead, BufReader};
use std::path::Path;

/// A limit in words, and what raises it.
pub type Limit = (String, String);

/// Others come and go while it is counted: a limit is met where the count is this near.
const NEAR: u64 = 16;
/// Numbers that the kernel gives to no process once it has gone round (`RESERVED_PIDS`).
const PIDS_RESERVED: u64 = 300;

/// What stands before a command that only root may use.
pub fn sudo(is_root: bool) -> &'static str {
    if is_root { "" } else { "sudo " }
}

/// The reason where the kernel would have `feature`, and something refuses its calls.
pub fn sandboxed(feature: &str) -> String {
    format!(
        "a sandbox refuses the calls of {feature}: a container's seccomp profile has to allow them"
    )
}

/// The limit behind `error`, which came of starting a process or thread with `wanted` of them asked for; none where
/// the error is no shortage.
pub fn of_start(error: &io::Error, wanted: u64) -> Option<Limit> {
    match error.raw_os_error()? {
        libc::EAGAIN => Some(exhausted(wanted).unwrap_or_else(|| {
            let remedy = "look at `ulimit -u`, the control group's pids.max, kernel.pid_max and \
                          kernel.threads-max";
            ("the kernel does not tell which limit it is".into(), remedy.into())
        })),
        libc::ENOMEM => Some(memory()),
        // Programs in memory and this program itself are started by their paths there.
        libc::ENOENT if !Path::new("/proc/self").exists() => {
            let remedy = format!("{}mount -t proc proc /proc", sudo(geteuid().is_root()));
            Some(("/proc is not mounted".into(), remedy))
        }
        _ => None,
    }
}

/// `error`, which came of starting a process or thread, with the limit behind it in its text.
pub fn explained(error: io::Error) -> io::Error {
    /// Some more than one: the next ones shall start, too.
    const WANTED: u64 = 100;
    match of_start(&error, WANTED) {
        Some((limit, remedy)) => {
            io::Error::new(error.kind(), format!("{error}; {limit} → {remedy}"))
        }
        None => error,
    }
}

/// The limit that this many more can't be made for.
fn exhausted(wanted: u64) -> Option<Limit> {
    let tasks = tasks_in_system();
    control_group(wanted)
        .or_else(|| system("kernel.pid_max", tasks + PIDS_RESERVED, "4194304"))
        .or_else(|| system("kernel.threads-max", tasks, "1000000"))
        .or_else(|| user(wanted))
        .or_else(maps)
        .or_else(addresses)
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
        let remedy = if allowed {
            format!("ulimit -u {more}")
        } else {
            format!("{}prlimit --pid $$ --nproc={more}", sudo(geteuid().is_root()))
        };
        (text, remedy)
    })
}

/// The tasks of a user, by what each process says of itself.
fn tasks_of(user: u32) -> u64 {
    let tasks = |pid: u32| -> Option<u64> {
        let status = proc::text(pid, "status").ok()?;
        let is_theirs = proc::number(&status, "Uid:")? == u64::from(user);
        is_theirs.then(|| proc::number(&status, "Threads:").unwrap_or(1))
    };
    proc::pids().filter_map(tasks).sum()
}

/// The limit of the control group, or of one that it is in.
fn control_group(wanted: u64) -> Option<Limit> {
    let (_, groups) = cgroup::groups(Path::new("/"), "pids")?;
    groups.iter().find_map(|directory| {
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

/// A limit of the system that `used` has come near to, with a value that will do.
fn system(name: &str, used: u64, more: &str) -> Option<Limit> {
    let max = setting(name)?;
    (used + NEAR >= max).then(|| sysctl(name, more))
}

/// The processes and threads of the system.
pub fn tasks_in_system() -> u64 {
    proc::tasks(&read_to_string("/proc/loadavg").unwrap_or_default()).unwrap_or(0)
}

/// Memory, of which a process may also have too many maps, or too many addresses.
pub fn memory() -> Limit {
    maps().or_else(addresses).unwrap_or_else(|| {
        if setting("vm.overcommit_memory") == Some(2_u64) {
            let remedy = "sysctl -w vm.overcommit_memory=0";
            return ("all memory is promised (vm.overcommit_memory is 2)".into(), remedy.into());
        }
        ("no memory left".into(), "end what else uses memory".into())
    })
}

/// The limit on maps, if this process is near it. It may be a little below: some maps go so that the message
/// has memory.
fn maps() -> Option<Limit> {
    let maps = File::open("/proc/self/maps");
    let maps = maps.map_or(0, |maps| BufReader::new(maps).lines().map_while(Result::ok).count());
    let max = setting(MAPS_MAX).filter(|max| maps as u64 + 100 >= *max)?;
    Some(sysctl(MAPS_MAX, &max.saturating_mul(4).max(1_000_000).to_string()))
}

/// The limit on addresses, where there is one.
fn addresses() -> Option<Limit> {
    let bytes = getrlimit(Resource::As).current?;
    let text = format!("a process may have {} MiB of addresses", bytes >> 20);
    Some((text, "ulimit -v unlimited".into()))
}

/// How many maps a process may have.
pub const MAPS_MAX: &str = "vm.max_map_count";

/// A sysctl as it is, and the command that sets it to `more`.
pub fn sysctl(name: &str, more: &str) -> Limit {
    let value = setting(name).unwrap_or_else(|| "unknown".to_owned());
    (format!("{name} is {value}"), format!("sysctl -w {name}={more}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refused_start_names_a_limit_and_other_errors_do_not() {
        let limit = |code| of_start(&io::Error::from_raw_os_error(code), 5);
        assert_eq!(limit(libc::EINVAL), None);
        // The program was not found, and /proc is there.
        assert_eq!(limit(libc::ENOENT), None);
        assert!(
            limit(libc::EAGAIN).is_some_and(|(limit, remedy)| limit.len().min(remedy.len()) > 9)
        );
        let text = explained(io::Error::from_raw_os_error(libc::ENOMEM)).to_string();
        assert!(text.contains("(os error 12); ") && text.contains(" → "), "{text}");
    }

    #[test]
    fn this_process_is_among_those_of_its_user() {
        assert!(tasks_of(getuid().as_raw()) >= 1);
        assert!(tasks_in_system() >= 1);
    }
}
