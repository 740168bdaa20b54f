//! What the control groups of this process allow it: CPU time and memory, by the files of both versions.
//!
//! A limit of any group above holds as well, so that the tightest counts. In a container, the groups above its own can't be
//! seen.

use model::Throttling;
use std::fmt::Display;
use std::fs::read_to_string;
use std::path::{Path, PathBuf};
use sys::cgroup::{Version, groups, groups_of};

/// The CPU time that a group may use in each period.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CpuQuota {
    /// The group's directory.
    pub directory: PathBuf,
    /// What it may use, over all CPUs.
    pub quota_us: u64,
    /// After this time it may use as much again.
    pub period_us: u64,
    /// What came of it since the group was made; absent where the kernel does not say so.
    pub throttling: Option<Throttling>,
}

impl CpuQuota {
    /// The CPUs that it allows, to a thousandth.
    pub fn cpus(&self) -> f64 {
        (1e3 * self.quota_us as f64 / self.period_us as f64).round() / 1e3
    }

    pub(crate) fn read(version: Version, directory: &Path) -> Option<CpuQuota> {
        let read = |file: &str| read_to_string(directory.join(file)).ok();
        let number = |file: &str| read(file)?.trim().parse().ok();
        let (quota_us, period_us) = match version {
            // Without a quota it is -1.
            Version::V1 => (number("cpu.cfs_quota_us")?, number("cpu.cfs_period_us")?),
            Version::V2 => {
                let text = read("cpu.max")?;
                let (quota, period) = text.trim().split_once(' ')?;
                // Without a quota it is `max`.
                (quota.parse().ok()?, period.parse().ok()?)
            }
        };
        let throttling = read("cpu.stat").and_then(|text| throttling(version, &text));
        let is_limit = quota_us > 0 && period_us > 0;
        let directory = directory.to_path_buf();
        is_limit.then_some(CpuQuota { directory, quota_us, period_us, throttling })
    }
}

/// The CPU quotas of the process's group and of those above it, the tightest first; `None` where its groups can't be seen.
pub fn cpu_quotas(root: &Path) -> Option<Vec<CpuQuota>> {
    cpu_quotas_of("self", root)
}

/// The same of another process.
pub fn cpu_quotas_of(process: impl Display, root: &Path) -> Option<Vec<CpuQuota>> {
    let (version, groups) = groups_of(process, root, "cpu")?;
    let mut quotas: Vec<CpuQuota> =
        groups.iter().filter_map(|group| CpuQuota::read(version, group)).collect();
    quotas.sort_by(|first, second| first.cpus().total_cmp(&second.cpus()));
    Some(quotas)
}

/// The tightest limit of memory, in bytes, of the process's group and of those above it: none without a limit; `None` where
/// its groups can't be seen.
pub fn memory_limit(root: &Path) -> Option<Option<u64>> {
    let (version, groups) = groups(root, "memory")?;
    let file = match version {
        Version::V1 => "memory.limit_in_bytes",
        Version::V2 => "memory.max",
    };
    let limit = |group: &PathBuf| read_to_string(group.join(file)).ok()?.trim().parse().ok();
    // Version 1 has the largest number of whole pages in place of none, which no memory is as large as.
    let limits = groups.iter().filter_map(limit).filter(|bytes: &u64| *bytes < 1 << 62);
    Some(limits.min())
}

fn throttling(version: Version, text: &str) -> Option<Throttling> {
    let number = |name: &str| {
        let line = text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' '));
        line?.trim().parse::<u64>().ok()
    };
    let throttled_us = match version {
        Version::V1 => number("throttled_time")? / 1_000,
        Version::V2 => number("throttled_usec")?,
    };
    let (periods, throttled_periods) = (number("nr_periods")?, number("nr_throttled")?);
    Some(Throttling { periods, throttled_periods, throttled_us })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::{create_dir_all, write};

    /// A file system with this own group, these mounts and these files.
    fn root(own: &str, mounts: &str, files: &[(&str, &str)]) -> tempfile::TempDir {
        let root = tempfile::tempdir().unwrap();
        let all = [("proc/self/cgroup", own), ("proc/self/mountinfo", mounts)];
        for (file, text) in all.iter().chain(files) {
            let path = root.path().join(file);
            create_dir_all(path.parent().unwrap()).unwrap();
            write(path, format!("{text}\n")).unwrap();
        }
        root
    }

    fn quotas(root: &tempfile::TempDir) -> Option<Vec<(u64, u64, Option<Throttling>)>> {
        let all = cpu_quotas(root.path())?.into_iter();
        Some(all.map(|quota| (quota.quota_us, quota.period_us, quota.throttling)).collect())
    }

    const V2: &str =
        "30 23 0:26 / /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 cgroup2 rw,nsdelegate";
    const STAT_V2: &str = "usage_usec 9\nuser_usec 9\nsystem_usec 0\nnr_periods 40\nnr_throttled 30\n\
                           throttled_usec 2400000\nnr_bursts 0";
    const STAT_V1: &str = "nr_periods 40\nnr_throttled 30\nthrottled_time 2400000000\nnr_bursts 0";
    const STOPPED: Option<Throttling> =
        Some(Throttling { periods: 40, throttled_periods: 30, throttled_us: 2_400_000 });

    #[test]
    fn the_tightest_quota_of_version_2_counts_and_those_above_are_seen() {
        let root = root(
            "0::/user.slice/job",
            V2,
            &[
                ("sys/fs/cgroup/cgroup.controllers", "cpu memory"),
                ("sys/fs/cgroup/user.slice/cpu.max", "20000 100000"),
                ("sys/fs/cgroup/user.slice/cpu.stat", STAT_V2),
                ("sys/fs/cgroup/user.slice/memory.max", "536870912"),
                ("sys/fs/cgroup/user.slice/job/cpu.max", "150000 100000"),
                ("sys/fs/cgroup/user.slice/job/memory.max", "max"),
            ],
        );
        assert_eq!(quotas(&root), Some(vec![(20_000, 100_000, STOPPED), (150_000, 100_000, None)]));
        assert_eq!(memory_limit(root.path()), Some(Some(512 << 20)));
        let all = cpu_quotas(root.path()).unwrap();
        assert_eq!([&all[0], &all[1]].map(|quota| quota.cpus().to_string()), ["0.2", "1.5"]);
    }

    #[test]
    fn a_namespace_of_groups_shows_its_own_group_as_the_root() {
        let files =
            [("sys/fs/cgroup/cpu.max", "50000 100000"), ("sys/fs/cgroup/cpu.stat", STAT_V2)];
        assert_eq!(quotas(&root("0::/", V2, &files)), Some(vec![(50_000, 100_000, STOPPED)]));
        // A process that was moved out of its namespace.
        assert_eq!(quotas(&root("0::/../other", V2, &files)), None);
    }

    #[test]
    fn a_group_of_version_1_is_found_at_the_mount_of_its_controller() {
        let own = "5:cpu,cpuacct:/docker/7f\n4:memory:/docker/7f\n1:name=systemd:/docker/7f\n0::/";
        let mounts = format!(
            "{V2}\n32 31 0:29 /docker/7f /sys/fs/cgroup/memory ro - cgroup cgroup rw,memory\n\
             33 31 0:30 /docker/7f /sys/fs/cgroup/cpu,cpuacct ro,nosuid master:9 - cgroup cgroup rw,cpu,cpuacct"
        );
        let files = |quota| {
            [
                ("sys/fs/cgroup/cpu,cpuacct/cpu.cfs_quota_us", quota),
                ("sys/fs/cgroup/cpu,cpuacct/cpu.cfs_period_us", "100000"),
                ("sys/fs/cgroup/cpu,cpuacct/cpu.stat", STAT_V1),
                ("sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712"),
                // Of the other version, which has not the controller.
                ("sys/fs/cgroup/cpu.max", "1000 100000"),
            ]
        };
        let limited = root(own, &mounts, &files("20000"));
        assert_eq!(quotas(&limited), Some(vec![(20_000, 100_000, STOPPED)]));
        assert_eq!(memory_limit(limited.path()), Some(None));
        assert_eq!(quotas(&root(own, &mounts, &files("-1"))), Some(Vec::new()));
    }

    #[test]
    fn what_can_not_be_seen_is_not_known() {
        assert_eq!(quotas(&root("0::/", "", &[])), None);
        assert_eq!(quotas(&root("", V2, &[])), None);
        // The group is not below what is mounted.
        let elsewhere = "33 31 0:30 /docker/7f /sys/fs/cgroup/cpu ro - cgroup cgroup rw,cpu";
        assert_eq!(quotas(&root("5:cpu:/docker/8a", elsewhere, &[])), None);
        // The root of version 2 has no file for it.
        let bare = root("0::/", V2, &[("sys/fs/cgroup/cgroup.controllers", "cpu")]);
        assert_eq!((quotas(&bare), memory_limit(bare.path())), (Some(Vec::new()), Some(None)));
    }
}
