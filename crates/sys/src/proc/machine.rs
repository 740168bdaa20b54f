//! What `/proc` shows of the machine: its CPUs, its memory and its tasks.

use super::{field, number};
use std::fs::read_to_string;
use std::path::Path;
use std::str::FromStr;

/// How long a tick is, in nanoseconds, wherever Linux shows one to user space.
pub const TICK_NS: u64 = 10_000_000;

/// Ticks of all CPUs since boot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CpuTicks {
    /// Nothing ran, or what would have waited for a disk.
    pub idle: u64,
    /// The hypervisor took them away.
    pub steal: u64,
    /// All of them.
    pub total: u64,
}

impl CpuTicks {
    /// Those of this moment, from the file `stat` in `proc`.
    pub fn read(proc: &Path) -> Option<CpuTicks> {
        // user nice system idle iowait irq softirq steal
        let stat = read_to_string(proc.join("stat")).ok()?;
        let words = stat.lines().next()?.split_whitespace().skip(1).take(8);
        let ticks: Vec<u64> = words.filter_map(|tick| tick.parse().ok()).collect();
        let &[_, _, _, idle, waiting, _, _, steal] = ticks.as_slice() else { return None };
        Some(CpuTicks { idle: idle + waiting, steal, total: ticks.iter().sum() })
    }
}

/// A figure of `/proc/meminfo`, in KiB: `MemAvailable:`.
pub fn memory_kib(name: &str) -> Option<u64> {
    number(&read_to_string("/proc/meminfo").ok()?, name)
}

/// The value of a sysctl: `kernel.pid_max`; none where the kernel does not have it.
pub fn setting<T: FromStr>(name: &str) -> Option<T> {
    let path = format!("/proc/sys/{}", name.replace('.', "/"));
    read_to_string(path).ok()?.trim().parse().ok()
}

/// Whether the CPUs that the text of `/proc/cpuinfo` is of have a feature; none where it lists none.
pub fn has_cpu_flag(cpuinfo: &str, flag: &str) -> Option<bool> {
    Some(field(cpuinfo, "flags")?.split_whitespace().any(|word| word == flag))
}

/// The processes and threads of the system, from the text of `/proc/loadavg`: the part of
/// `0.12 0.30 0.43 2/1234 5678` after the stroke.
pub fn tasks(loadavg: &str) -> Option<u64> {
    loadavg.split_whitespace().nth(3)?.split_once('/')?.1.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_of_the_machine_are_read() {
        assert_eq!(tasks("0.12 0.30 0.43 2/1234 5678\n"), Some(1_234));
        assert_eq!(tasks("0.12 0.30"), None);
        let cpuinfo = "model name : X\nflags\t\t: fpu hypervisor\n";
        assert_eq!(has_cpu_flag(cpuinfo, "hypervisor"), Some(true));
        assert_eq!(has_cpu_flag(cpuinfo, "hyper"), Some(false));
        assert_eq!(has_cpu_flag("Features : fp asimd\n", "fp"), None);
        let (available, total) = (memory_kib("MemAvailable:"), memory_kib("MemTotal:"));
        assert!(available.unwrap() <= total.unwrap());
        assert!(setting("kernel.pid_max").is_some_and(|max: u64| max > 300));
        let release: Option<String> = setting("kernel.osrelease");
        assert!(release.is_some_and(|release| release.trim() == release));
        assert_eq!(setting::<String>("kernel.none"), None);
        let ticks = CpuTicks::read(Path::new("/proc")).unwrap();
        assert!(ticks.idle + ticks.steal <= ticks.total);
    }
}
