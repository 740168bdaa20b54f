//! Which record a rank of a fleet measures into, where that would be on a network file system: SQLite's journal needs memory
//! that all processes share, and machines share none.

use crate::commands::keep::record_file::RecordFile;
use crate::commands::measure::launchers;
use crate::commands::measure::run::flags::Run as Asked;
use crate::commands::record_path;
use crate::exit::{Trouble, note};
use model::{FleetMember, HOST_NAME, Host};
use rustix::fs::statfs;
use std::path::{Path, PathBuf};

/// Network file systems, by the number that the kernel gives them in `statfs`.
const NETWORK: &[(u32, &str)] = &[
    (0x6969, "NFS"),
    (0xFF53_4D42, "CIFS"),
    (0xFE53_4D42, "SMB"),
    (0x517B, "SMB"),
    (0x0102_1997, "9p"),
    (0x00C3_6400, "Ceph"),
    (0x0BD0_0BD0, "Lustre"),
    (0x5346_414F, "AFS"),
    (0x4750_4653, "GPFS"),
    (0x1983_0326, "BeeGFS"),
];

/// The same request with a record that no other machine opens.
pub fn with_own_record(asked: &Asked) -> Result<Asked, Trouble> {
    let file = record_path(&asked.record_file)?;
    let mut own = asked.clone();
    let Some(system) = network_file_system(&file) else { return Ok(own) };
    let started = Host { facts: launchers::facts(&asked.fleet)?, ..Host::default() };
    let Some(member) = among_others(&started) else { return Ok(own) };
    let typed = asked.host_name.clone().or_else(|| started.fact(HOST_NAME).map(str::to_owned));
    let host = typed.unwrap_or_else(|| rustix::system::uname().nodename().to_string_lossy().into());
    if asked.record_file.named().is_some() {
        refuse_shared(&file, &host, member.rank, system)?;
        return Ok(own);
    }
    let file = of_host(&file, &host);
    note(&format!("Record: {} (several machines can't share one on {system})", file.display()));
    own.record_file = RecordFile::at(Some(file.into()));
    Ok(own)
}

/// The position of a process in its fleet, where others may have been started along with it.
fn among_others(started: &Host) -> Option<FleetMember> {
    started.fleet().filter(|member| member.size != Some(1))
}

fn network_file_system(file: &Path) -> Option<&'static str> {
    let existing = file.ancestors().find_map(|path| {
        let path = if path.as_os_str().is_empty() { Path::new(".") } else { path };
        statfs(path).ok()
    })?;
    // Some systems extend the sign of the 32 bits.
    let kind = existing.f_type as u32;
    NETWORK.iter().find(|(number, _)| *number == kind).map(|(_, name)| *name)
}

/// The file of this host next to the one that all would share.
fn of_host(file: &Path, host: &str) -> PathBuf {
    let is_plain = |c: char| c.is_alphanumeric() || "-_.".contains(c);
    let host: String = host.chars().map(|c| if is_plain(c) { c } else { '_' }).collect();
    file.with_file_name(format!("knee-{host}.db"))
}

/// Refuses a record whose path does not distinguish this rank from the others.
fn refuse_shared(file: &Path, host: &str, rank: Option<u32>, system: &str) -> Result<(), Trouble> {
    let path = file.to_string_lossy().to_lowercase();
    let host = host.split('.').next().unwrap_or(host).to_lowercase();
    let mut numbers = path.split(|c: char| !c.is_ascii_digit());
    let has_rank = rank.is_some_and(|rank| numbers.any(|number| number == rank.to_string()));
    if has_rank || !host.is_empty() && path.contains(&host) {
        return Ok(());
    }
    Err(Trouble::usage(format!(
        "{}: several machines can't share a record on {system}; name one for each, with the rank or the host in its path \
         (docs/fleet.md)",
        file.display()
    )))
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::{FLEET_ID, FLEET_SIZE, Fact};

    #[test]
    fn a_rank_has_others_unless_it_is_the_only_one() {
        let has_others = |facts: &[(&'static str, Fact)]| {
            among_others(&fixtures::host("", facts.iter().cloned())).is_some()
        };
        let id = (FLEET_ID, Fact::from("a"));
        let [three, single] = [3, 1].map(|size| (FLEET_SIZE, size.into()));
        assert!(has_others(&[id.clone(), three]) && has_others(std::slice::from_ref(&id)));
        assert!(!has_others(&[]) && !has_others(&[id, single]));
    }

    #[test]
    fn each_host_has_a_file_of_its_own() {
        let file = Path::new("/home/me/.local/share/knee/knee.db");
        let own = of_host(file, "n5.lab/../x");
        assert_eq!(own, Path::new("/home/me/.local/share/knee/knee-n5.lab_.._x.db"));
    }

    #[test]
    fn a_named_record_is_of_one_rank_or_host() {
        let refused = |path: &str| {
            let refused = refuse_shared(Path::new(path), "N5.lab", Some(3), "NFS");
            refused.err().map(|trouble| trouble.to_string())
        };
        for own in ["/shared/rank-3.db", "/shared/n5.db", "/scratch/n5/knee.db"] {
            assert_eq!(refused(own), None, "{own}");
        }
        for shared in ["/shared/lab.db", "/shared/rank-13.db"] {
            let line = refused(shared).unwrap();
            assert!(line.contains("can't share a record on NFS"), "{line}");
        }
    }

    /// No test can mount a network file system everywhere; this one is on a disk or in memory.
    #[test]
    fn the_file_system_is_that_of_the_nearest_directory() {
        let directory = tempfile::tempdir().unwrap();
        assert_eq!(network_file_system(&directory.path().join("a/b/knee.db")), None);
        assert_eq!(network_file_system(Path::new("/proc/none")), None);
    }
}
