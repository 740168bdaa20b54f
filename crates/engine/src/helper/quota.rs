//! A control group with a CPU quota, for what a cell starts. It is removed at the end of the cell, however that ends: its janitor is
//! that of a cell's files.

use super::scratch::Scratch;
use crate::run::cgroup::{CpuQuota, cpu_quotas};
use model::{QUOTA_PERIOD_US, Throttling};
use std::fs::OpenOptions;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use sys::cgroup::{Version, groups};

/// What lets a user without root have a group.
const REMEDY: &str = "run knee as root, or in a delegated group: systemd-run --user --scope -p Delegate=yes knee run …";

/// A control group whose processes together use no more than its CPU quota. It is removed when this value or its process ends
/// and its processes have ended.
#[derive(Debug)]
pub struct QuotaGroup {
    version: Version,
    directory: Scratch,
}

impl QuotaGroup {
    /// Makes a group of `cpus` CPUs, below the group of this process or the nearest one above it that can have it.
    ///
    /// # Errors
    /// Why there can be none, and what to do about it.
    pub fn new(cpus: f64) -> Result<QuotaGroup, String> {
        let root = Path::new("/");
        let (version, parents) = groups(root, "cpu")
            .ok_or("no control group of this process with the controller `cpu` can be seen")?;
        if let Some(outer) = cpu_quotas(root).into_iter().flatten().next()
            && outer.cpus() < cpus
        {
            return Err(format!("knee itself runs under a quota of {} CPUs", outer.cpus()));
        }
        let mut first_error = None;
        for parent in parents {
            match QuotaGroup::below(version, &parent, cpus) {
                Ok(group) => return Ok(group),
                Err(error) => first_error.get_or_insert(error),
            };
            // Above it, its quota would not hold any more.
            if CpuQuota::read(version, &parent).is_some() {
                break;
            }
        }
        let error = first_error.unwrap_or_else(|| "this process is in no control group".to_owned());
        Err(format!("{error} → {REMEDY}"))
    }

    fn below(version: Version, parent: &Path, cpus: f64) -> Result<QuotaGroup, String> {
        let path = parent.join(format!("knee-{:016x}", fastrand::u64(..)));
        let directory = Scratch::new(&path).map_err(|error| {
            format!("no control group can be made in {}: {error}", parent.display())
        })?;
        let group = QuotaGroup { version, directory };
        let quota_us = (cpus * QUOTA_PERIOD_US as f64).round();
        let settings = match version {
            Version::V1 => vec![
                (path.join("cpu.cfs_period_us"), QUOTA_PERIOD_US.to_string()),
                (path.join("cpu.cfs_quota_us"), quota_us.to_string()),
            ],
            Version::V2 => {
                let enabled = (parent.join("cgroup.subtree_control"), "+cpu".to_owned());
                let is_enabled = path.join("cpu.max").exists();
                let limit = (path.join("cpu.max"), format!("{quota_us} {QUOTA_PERIOD_US}"));
                Some(enabled).filter(|_| !is_enabled).into_iter().chain([limit]).collect()
            }
        };
        for (file, value) in settings {
            write(&file, &value)
                .map_err(|error| format!("writing {value} to {}: {error}", file.display()))?;
        }
        Ok(group)
    }

    /// What a process writes `0` to that goes into the group.
    pub fn entrance(&self) -> PathBuf {
        self.directory.path().join(ENTRANCE)
    }

    /// What the quota did so far.
    ///
    /// # Errors
    /// Where the kernel does not say.
    pub fn throttling(&self) -> io::Result<Throttling> {
        let quota = CpuQuota::read(self.version, self.directory.path());
        let throttling = quota.and_then(|quota| quota.throttling);
        throttling.ok_or_else(|| io::Error::other("the kernel does not say what a CPU quota did"))
    }
}

const ENTRANCE: &str = "cgroup.procs";

/// Takes this process into the group of an [entrance](QuotaGroup::entrance).
pub(super) fn enter(entrance: &Path) -> io::Result<()> {
    write(entrance, "0")
        .map_err(|error| io::Error::new(error.kind(), format!("{}: {error}", entrance.display())))
}

/// Writes to a file that there is.
fn write(file: &Path, text: &str) -> io::Result<()> {
    OpenOptions::new().write(true).open(file)?.write_all(text.as_bytes())
}
