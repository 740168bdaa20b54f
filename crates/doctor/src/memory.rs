//! Memory: whether there is enough, and in which pages it comes.

use super::{Check, Diagnosis, Group, Machine, Remedy, Unknown, setting};
use printable::bytes;

/// The family.
pub static GROUP: Group = Group {
    name: "Memory",
    distorts_times: true,
    checks: &[
        Check {
            name: "memory",
            looks_at: "memory that is free for programs",
            why: "5,000 children have a stack and page tables each, and a file of 200 MB is to stay in \
                  the page cache",
            workloads: &["fork", "reap", "thread", "mmap", "touch"],
            fix_risk: None,
            look: available,
        },
        Check {
            name: "thp",
            looks_at: "whether memory comes in huge pages (THP)",
            why: "a fork copies fewer page tables then, and a first touch clears 2 MB: a mode of its \
                  own",
            workloads: &["fork", "thread", "touch"],
            fix_risk: None,
            look: huge_pages,
        },
        Check {
            name: "swap",
            looks_at: "whether pages were moved out to a disk",
            why: "a page that comes back from a disk takes a thousand times as long",
            workloads: &["fork", "mmap", "touch"],
            fix_risk: None,
            look: swap,
        },
    ],
};

const KIB: u64 = 1024;
const MIB: u64 = 1024 * KIB;

fn available(machine: &Machine) -> Result<Diagnosis, Unknown> {
    let info = machine.read("/proc/meminfo")?;
    let field = |name: &str| sys::proc::number(&info, name).map(|kib| kib * KIB);
    let (Some(free), Some(total)) = (field("MemAvailable:"), field("MemTotal:")) else {
        return Err(Unknown("/proc/meminfo does not say what is available".into()));
    };
    let limit = engine::memory_limit(&machine.path("/")).flatten().filter(|&limit| limit < total);
    let limited = limit.map(|limit| format!(", and a control group allows {}", bytes(limit)));
    let value = format!("{} of {}{}", bytes(free), bytes(total), limited.unwrap_or_default());
    let free = limit.map_or(free, |limit| free.min(limit));
    let remedy = Remedy::advice("end what holds it: ps -eo pid,rss,comm --sort=-rss | head -n 4");
    Ok(if free < 512 * MIB {
        Diagnosis::bad(value, "512 MiB are needed", remedy)
    } else if free < 1024 * MIB {
        Diagnosis::warn(value, "1 GiB is safe", remedy)
    } else {
        Diagnosis::ok(value)
    })
}

fn huge_pages(machine: &Machine) -> Result<Diagnosis, Unknown> {
    let file = "/sys/kernel/mm/transparent_hugepage/enabled";
    let now = setting::current(machine, file)?;
    Ok(if now == "always" {
        Diagnosis::warn(now, "pages of two sizes mix", Remedy::setting(file, "madvise"))
    } else {
        Diagnosis::ok(now)
    })
}

fn swap(machine: &Machine) -> Result<Diagnosis, Unknown> {
    let table = machine.read("/proc/swaps")?;
    let mut used = 0;
    let mut areas = 0;
    for line in table.lines().skip(1) {
        let number = line.split_whitespace().nth(3).and_then(|field| field.parse::<u64>().ok());
        let Some(kib) = number else {
            return Err(Unknown(format!("/proc/swaps has a line that is not known: {line}")));
        };
        used += kib * KIB;
        areas += 1;
    }
    Ok(match (areas, used) {
        (0, _) => Diagnosis::ok("none"),
        (_, 0) => Diagnosis::ok("not in use"),
        _ => {
            let remedy = Remedy::command(format!("{0}swapoff -a && {0}swapon -a", machine.sudo()));
            Diagnosis::warn(format!("{} in use", bytes(used)), "pages lie on a disk", remedy)
        }
    })
}

#[cfg(test)]
mod tests {
    use crate::State;
    use crate::fake::Fake;

    #[test]
    fn memory_has_to_suffice_for_the_children() {
        for (kib, wanted) in [(4_000_000, State::Ok), (800_000, State::Warn), (400_000, State::Bad)]
        {
            let text = format!("MemTotal:  8000000 kB\nMemFree: 1 kB\nMemAvailable: {kib} kB\n");
            let (state, output, _) = Fake::new().with("/proc/meminfo", &text).finds("memory");
            assert_eq!(state, wanted, "{output}");
            assert!(output.contains("of 8.19 GB"), "{output}");
        }
    }

    #[test]
    fn a_limit_of_the_control_group_counts() {
        let fake = Fake::new()
            .with("/proc/meminfo", "MemTotal:  8000000 kB\nMemAvailable: 4000000 kB\n")
            .with("/proc/self/cgroup", "0::/job\n")
            .with("/proc/self/mountinfo", "30 23 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n")
            .with("/sys/fs/cgroup/job/memory.max", "268435456\n");
        let (state, output, _) = fake.finds("memory");
        assert!(
            state == State::Bad && output.contains("a control group allows 268 MB"),
            "{output}"
        );
    }

    #[test]
    fn huge_pages_everywhere_are_a_warning() {
        let file = "/sys/kernel/mm/transparent_hugepage/enabled";
        let fake = Fake::new().with(file, "[always] madvise never");
        let (state, _, command) = fake.finds("thp");
        assert_eq!((state, command), (State::Warn, format!("echo madvise | tee {file}")));
        for text in ["always [madvise] never", "always madvise [never]"] {
            fake.set(file, text);
            assert_eq!(fake.finds("thp").0, State::Ok, "{text}");
        }
    }

    #[test]
    fn swap_is_a_warning_only_where_it_is_used() {
        let head = "Filename Type Size Used Priority\n";
        let fake = Fake::new().with("/proc/swaps", head);
        assert_eq!(fake.finds("swap").0, State::Ok);
        fake.set("/proc/swaps", &format!("{head}/dev/sda2 partition 8000 0 -2\n"));
        assert_eq!(fake.finds("swap").0, State::Ok);
        fake.set("/proc/swaps", &format!("{head}/dev/sda2 partition 8000000 500000 -2\n"));
        let (state, output, command) = fake.finds("swap");
        assert!(state == State::Warn && output.starts_with("512 MB in use"), "{output}");
        assert_eq!(command, "swapoff -a && swapon -a");
    }
}
