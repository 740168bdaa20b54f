//! What one process, one user or one group of processes may have of something.

use super::needs::{MAPS, OWN, PROCESSES, SOCKETS};
use super::{Check, Diagnosis, Group, Machine, Remedy, Unknown};
use printable::count;
use sys::cgroup;

/// The family.
pub static GROUP: Group = Group {
    name: "Limits",
    distorts_times: false,
    checks: &[
        Check {
            name: "descriptors",
            looks_at: "descriptors that a process may have (RLIMIT_NOFILE)",
            why: "each socket, pipe or file is a descriptor; beyond the limit points are left out",
            workloads: &[
                "poll",
                "pipetest",
                "socket",
                "bind",
                "accept",
                "close",
                "open",
                "manyfiles",
            ],
            fix_risk: None,
            look: descriptors,
        },
        Check {
            name: "processes",
            looks_at: "processes and threads that a user may have (RLIMIT_NPROC)",
            why: "all children live at the same time",
            workloads: &["fork", "reap", "thread"],
            fix_risk: None,
            look: |machine| inherited(machine, &NPROC),
        },
        Check {
            name: "pids-cgroup",
            looks_at: "processes and threads that the cgroup may have (pids.max)",
            why: "all children live at the same time, in the cgroup of the shell or container",
            workloads: &["fork", "reap", "thread"],
            fix_risk: Some("an administrator or a container set that limit for the cgroup"),
            look: pids,
        },
        Check {
            name: "pid-max",
            looks_at: "the largest process id (kernel.pid_max)",
            why: "each process and thread on the machine has an id of its own",
            workloads: &["fork", "reap", "thread"],
            fix_risk: None,
            look: |machine| tasks(machine, "/proc/sys/kernel/pid_max", 32_768),
        },
        Check {
            name: "threads-max",
            looks_at: "threads of the whole machine (kernel.threads-max)",
            why: "each process is at least a thread",
            workloads: &["fork", "reap", "thread"],
            fix_risk: None,
            look: |machine| tasks(machine, "/proc/sys/kernel/threads-max", 32_768),
        },
        Check {
            name: "map-count",
            looks_at: "maps that a process may have (vm.max_map_count)",
            why: "no two of the maps lie side by side, so each counts; a thread's stack is one too",
            workloads: &["mmap", "touch", "munmap", "manyfiles", "thread"],
            fix_risk: None,
            look: maps,
        },
        Check {
            name: "locked-memory",
            looks_at: "memory that a process may lock (RLIMIT_MEMLOCK)",
            why: "kernels before 5.12 count io_uring's rings as locked",
            workloads: &["poll", "pipetest"],
            fix_risk: None,
            look: locked_memory,
        },
        Check {
            name: "pending-signals",
            looks_at: "signals that may wait for a user's processes (RLIMIT_SIGPENDING)",
            why: "sigio and signalfd queue one for each active descriptor; an overflow \
                  fails the cell",
            workloads: &["poll", "pipetest"],
            fix_risk: None,
            look: |machine| inherited(machine, &SIGPENDING),
        },
    ],
};

/// A limit that each process inherits, and that knee takes as it is.
struct ProcessLimit {
    /// Its name in `/proc/self/limits`.
    line: &'static str,
    /// The letter of `ulimit`, and what that counts in.
    flag: char,
    flag_unit: u64,
    /// Writes a number of it.
    format: fn(u64) -> String,
    /// The option of `prlimit`.
    option: &'static str,
    /// What is wanted, and below what no default can be measured.
    wanted: u64,
    required: u64,
    what: &'static str,
    /// Whether the kernel lets root have more.
    spares_root: bool,
}

const NOFILE: ProcessLimit = ProcessLimit {
    line: "Max open files",
    flag: 'n',
    flag_unit: 1,
    format: count,
    option: "nofile",
    wanted: SOCKETS + OWN,
    required: SOCKETS + OWN,
    what: "10,000 sockets",
    spares_root: false,
};
const NPROC: ProcessLimit = ProcessLimit {
    line: "Max processes",
    flag: 'u',
    flag_unit: 1,
    format: count,
    option: "nproc",
    wanted: PROCESSES + OWN,
    required: PROCESSES + OWN,
    what: "5,000 children",
    spares_root: true,
};
const MEMLOCK: ProcessLimit = ProcessLimit {
    line: "Max locked memory",
    flag: 'l',
    flag_unit: 1024,
    format: printable::bytes,
    option: "memlock",
    wanted: 1 << 20,
    required: 0,
    what: "io_uring on an old kernel",
    spares_root: true,
};
const SIGPENDING: ProcessLimit = ProcessLimit {
    line: "Max pending signals",
    flag: 'i',
    flag_unit: 1,
    format: count,
    option: "sigpending",
    wanted: SOCKETS,
    required: 1,
    what: "10,000 active descriptors",
    spares_root: false,
};

/// Soft and hard; absent where there is no limit.
type Pair = (Option<u64>, Option<u64>);

fn pair(machine: &Machine, line: &str) -> Result<Pair, Unknown> {
    let limits = machine.read("/proc/self/limits")?;
    let mut words = sys::proc::field(&limits, line).unwrap_or_default().split_whitespace();
    let mut next = || match words.next()? {
        "unlimited" => Some(None),
        number => number.parse().ok().map(Some),
    };
    next()
        .zip(next())
        .ok_or_else(|| Unknown(format!("/proc/self/limits has no line `{line}` that can be read")))
}

fn text(limit: &ProcessLimit, number: Option<u64>) -> String {
    number.map_or_else(|| "unlimited".to_owned(), limit.format)
}

/// knee raises the soft limit itself, so the hard one decides.
fn descriptors(machine: &Machine) -> Result<Diagnosis, Unknown> {
    let (soft, hard) = pair(machine, NOFILE.line)?;
    let value = if soft == hard {
        text(&NOFILE, hard)
    } else {
        format!("{}, which knee raises to {}", text(&NOFILE, soft), text(&NOFILE, hard))
    };
    Ok(diagnose(machine, &NOFILE, value, hard, hard))
}

fn inherited(machine: &Machine, limit: &ProcessLimit) -> Result<Diagnosis, Unknown> {
    let (soft, hard) = pair(machine, limit.line)?;
    if limit.spares_root && machine.is_root {
        return Ok(Diagnosis::ok(format!("{}, which does not bind root", text(limit, soft))));
    }
    Ok(diagnose(machine, limit, text(limit, soft), soft, hard))
}

fn diagnose(
    machine: &Machine,
    limit: &ProcessLimit,
    value: String,
    counts: Option<u64>,
    hard: Option<u64>,
) -> Diagnosis {
    let Some(number) = counts.filter(|&number| number < limit.wanted) else {
        return Diagnosis::ok(value);
    };
    let ProcessLimit { wanted, flag, option, what, .. } = *limit;
    // A process's own limits can't be changed from a child of it: the shell has to.
    let by_shell = machine.is_root || hard.is_none_or(|hard| hard >= wanted);
    let command = if by_shell {
        format!("ulimit -{flag} {}", wanted.div_ceil(limit.flag_unit))
    } else {
        format!("sudo prlimit --pid $$ --{option}={wanted}:{wanted}")
    };
    let says = format!("{what} need {}; in the shell that starts knee", (limit.format)(wanted));
    let remedy = Remedy::command(command);
    if number < limit.required {
        Diagnosis::bad(value, says, remedy)
    } else {
        Diagnosis::warn(value, says, remedy)
    }
}

/// Of io_uring's rings, which count as locked up to that kernel.
fn locked_memory(machine: &Machine) -> Result<Diagnosis, Unknown> {
    let release = machine.read("/proc/sys/kernel/osrelease").unwrap_or_default();
    if sys::kernel::is_at_least(&release, sys::kernel::URING_IS_NOT_LOCKED) {
        let (soft, _) = pair(machine, MEMLOCK.line)?;
        let value = text(&MEMLOCK, soft);
        return Ok(Diagnosis::ok(format!(
            "{value}, which Linux {release} does not apply to rings"
        )));
    }
    inherited(machine, &MEMLOCK)
}

/// A limit of the whole machine on processes and threads, of which some are taken.
fn tasks(machine: &Machine, file: &str, usual: u64) -> Result<Diagnosis, Unknown> {
    let (max, taken) = (machine.number(file)?, machine.tasks()?);
    let value = format!("{}, of which {} are taken", count(max), count(taken));
    let wanted = PROCESSES + OWN + taken;
    if max >= wanted {
        return Ok(Diagnosis::ok(value));
    }
    let says = format!("5,000 children need {}", count(wanted));
    Ok(Diagnosis::bad(value, says, Remedy::setting(file, wanted.max(usual))))
}

fn maps(machine: &Machine) -> Result<Diagnosis, Unknown> {
    let file = "/proc/sys/vm/max_map_count";
    let max = machine.number(file)?;
    if max >= MAPS + OWN {
        return Ok(Diagnosis::ok(count(max)));
    }
    let says = format!("25,000 maps need {}", count(MAPS + OWN));
    Ok(Diagnosis::bad(count(max), says, Remedy::setting(file, 65_530)))
}

/// The tightest limit of the cgroups that this process is in.
fn pids(machine: &Machine) -> Result<Diagnosis, Unknown> {
    let hidden = || {
        Unknown(
            "the process's control group is not mounted here, so a limit would not be seen".into(),
        )
    };
    let root = machine.path("/");
    let (_, groups) = cgroup::groups(&root, "pids").ok_or_else(hidden)?;
    let mut tightest: Option<(u64, u64, String)> = None;
    for group in groups {
        let Ok(below) = group.strip_prefix(&root) else { continue };
        let directory = format!("/{}", below.display());
        let Ok(max) = machine.number(&format!("{directory}/pids.max")) else { continue };
        let taken = machine.number(&format!("{directory}/pids.current")).unwrap_or(0);
        let left = |&(max, taken, _): &(u64, u64, String)| max.saturating_sub(taken);
        let this = (max, taken, directory);
        if tightest.as_ref().is_none_or(|old| left(&this) < left(old)) {
            tightest = Some(this);
        }
    }
    let Some((max, taken, directory)) = tightest else { return Ok(Diagnosis::ok("no limit")) };
    let value = format!("{}, of which {} are taken", count(max), count(taken));
    let wanted = PROCESSES + OWN + taken;
    if max >= wanted {
        return Ok(Diagnosis::ok(value));
    }
    let says = format!("5,000 children need {}", count(wanted));
    Ok(Diagnosis::bad(value, says, Remedy::setting(format!("{directory}/pids.max"), wanted)))
}

#[cfg(test)]
mod tests {
    use crate::State;
    use crate::fake::{Fake, finds};

    fn limits(line: &str, soft: &str, hard: &str) -> Fake {
        let head = "Limit                     Soft Limit           Hard Limit           Units";
        Fake::new().with("/proc/self/limits", &format!("{head}\n{line:<26}{soft:<21}{hard:<21}x\n"))
    }

    #[test]
    fn few_descriptors_are_bad_and_a_soft_limit_alone_is_not() {
        let fake = limits("Max open files", "1024", "524288");
        let (state, output, command) = fake.finds("descriptors");
        assert_eq!((state, command.as_str()), (State::Ok, ""));
        assert!(output.starts_with("1,024, which knee raises to 524,288"), "{output}");
        let fake = limits("Max open files", "64", "64");
        let (state, output, command) = fake.finds("descriptors");
        assert_eq!((state, command.as_str()), (State::Bad, "ulimit -n 10400"));
        assert!(output.contains("10,000 sockets need 10,400"), "{output}");
        let mut machine = fake.machine();
        machine.is_root = false;
        let (_, _, command) = finds(&machine, "descriptors");
        assert_eq!(command, "sudo prlimit --pid $$ --nofile=10400:10400");
    }

    #[test]
    fn the_limits_that_knee_inherits_are_compared_with_its_needs() {
        let cases = [
            ("processes", "Max processes", "500", State::Bad, "ulimit -u 5400"),
            ("locked-memory", "Max locked memory", "65536", State::Warn, "ulimit -l 1024"),
            ("pending-signals", "Max pending signals", "100", State::Warn, "ulimit -i 10000"),
            ("pending-signals", "Max pending signals", "0", State::Bad, "ulimit -i 10000"),
        ];
        for (name, line, few, wanted, typed) in cases {
            let look = |soft: &str| {
                let fake = limits(line, soft, "unlimited");
                let mut machine = fake.machine();
                machine.is_root = false;
                finds(&machine, name)
            };
            let (state, output, command) = look(few);
            assert_eq!((state, command.as_str()), (wanted, typed), "{name}: {output}");
            assert_eq!(look("unlimited").0, State::Ok, "{name}");
        }
        let (state, output, _) = limits("Max processes", "500", "500").finds("processes");
        assert_eq!(state, State::Ok, "{output}");
        let (state, output, _) = limits("Max processes", "many", "500").finds("processes");
        assert_eq!(state, State::Unknown, "{output}");
    }

    #[test]
    fn ids_and_threads_have_to_suffice_for_all_that_runs() {
        for (name, file) in [("pid-max", "pid_max"), ("threads-max", "threads-max")] {
            let file = format!("/proc/sys/kernel/{file}");
            let fake = Fake::new().with("/proc/loadavg", "0.1 0.2 0.3 2/800 4711\n");
            fake.set(&file, "6200\n");
            assert_eq!(fake.finds(name).0, State::Ok);
            fake.set(&file, "6199\n");
            let (state, output, command) = fake.finds(name);
            assert_eq!(state, State::Bad, "{output}");
            assert!(command.starts_with("sysctl -w kernel."), "{command}");
            assert!(command.ends_with("=32768"), "{command}");
        }
    }

    #[test]
    fn maps_have_to_suffice_for_every_second_page() {
        let fake = Fake::new().with("/proc/sys/vm/max_map_count", "65530\n");
        assert_eq!(fake.finds("map-count").0, State::Ok);
        fake.set("/proc/sys/vm/max_map_count", "20000\n");
        let (state, _, command) = fake.finds("map-count");
        assert_eq!((state, command.as_str()), (State::Bad, "sysctl -w vm.max_map_count=65530"));
    }

    #[test]
    fn the_tightest_cgroup_counts_in_both_versions() {
        let two = Fake::new()
            .with("/proc/self/cgroup", "0::/user/shell\n")
            .with("/proc/self/mountinfo", "30 23 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n")
            .with("/sys/fs/cgroup/user/shell/pids.max", "max\n");
        assert_eq!(two.finds("pids-cgroup").0, State::Ok);
        two.set("/sys/fs/cgroup/user/pids.max", "5000\n");
        two.set("/sys/fs/cgroup/user/pids.current", "30\n");
        let (state, output, command) = two.finds("pids-cgroup");
        assert_eq!(state, State::Bad, "{output}");
        assert_eq!(command, "echo 5430 | tee /sys/fs/cgroup/user/pids.max");
        let first = Fake::new()
            .with("/proc/self/cgroup", "8:pids:/jobs\n1:cpu:/\n")
            .with(
                "/proc/self/mountinfo",
                "1 0 0:1 / /sys/fs/cgroup/pids rw - cgroup cgroup rw,pids\n",
            )
            .with("/sys/fs/cgroup/pids/jobs/pids.max", "100\n");
        let (state, output, _) = first.finds("pids-cgroup");
        assert_eq!(state, State::Bad, "{output}");
        first.set("/sys/fs/cgroup/pids/jobs/pids.max", "10000\n");
        assert_eq!(first.finds("pids-cgroup").0, State::Ok);
    }
}
