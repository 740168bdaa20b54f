//! Space for the files of workloads and for the record.

use super::needs::{FILE_BYTES, FILES, OWN};
use super::{ALL, Check, Diagnosis, Group, Machine, Remedy, Unknown};
use printable::{bytes, count};
use rustix::fs::{Access, AtFlags, CWD, StatVfsMountFlags, accessat, statvfs};
use std::path::{Path, PathBuf};

/// The family.
pub static GROUP: Group = Group {
    name: "Disk",
    distorts_times: false,
    checks: &[
        Check {
            name: "temporary-files",
            looks_at: "the directory of temporary files: its free space and its file system",
            why: "a cell's files lie there: one of 200 MB, or 10,000 small ones",
            workloads: &["mmap", "touch", "munmap", "open", "manyfiles"],
            fix_risk: None,
            look: |machine| Ok(temporary(&space(machine, &machine.temporary)?)),
        },
        Check {
            name: "record",
            looks_at: "the directory of the record: its free space, and whether it can be written",
            why: "each cell is kept there as it ends",
            workloads: ALL,
            fix_risk: None,
            look: |machine| Ok(record(&space(machine, &machine.record)?)),
        },
    ],
};

/// What a long run of trajectories adds to a record; most runs add less.
const RECORD_BYTES: u64 = 100_000_000;
/// Less than this is too little for any run.
const RECORD_BYTES_MIN: u64 = 5_000_000;

/// File systems that keep files in memory.
const IN_MEMORY: &[&str] = &["tmpfs", "ramfs"];
/// The beginnings of the names of those that ask another machine or a program.
const ELSEWHERE: &[&str] = &["nfs", "cifs", "smb", "9p", "fuse", "ceph", "virtiofs", "sshfs"];

/// The space where a directory is, or will be.
#[derive(Clone, Debug)]
struct Space {
    directory: PathBuf,
    /// The type of the file system; absent where it is not known.
    kind: Option<String>,
    free: u64,
    /// Files that can still be made; absent where the file system does not count them.
    files: Option<u64>,
    writable: bool,
}

fn space(machine: &Machine, directory: &Path) -> Result<Space, Unknown> {
    // A directory that is not there yet will be in the one that is.
    let there = directory.ancestors().find(|above| above.exists()).unwrap_or(Path::new("."));
    let unknown = |error| Unknown(format!("{} can't be looked at: {error}", there.display()));
    let stat = statvfs(there).map_err(|error| unknown(std::io::Error::from(error)))?;
    let real = there.canonicalize().map_err(unknown)?;
    let access = accessat(CWD, there, Access::WRITE_OK | Access::EXEC_OK, AtFlags::EACCESS);
    Ok(Space {
        directory: directory.into(),
        kind: machine.read("/proc/self/mountinfo").ok().and_then(|mounts| kind(&mounts, &real)),
        free: stat.f_bavail * stat.f_frsize,
        files: Some(stat.f_favail).filter(|_| stat.f_files > 0),
        writable: access.is_ok() && !stat.f_flag.contains(StatVfsMountFlags::RDONLY),
    })
}

/// The type of the file system that is mounted on `path` or the nearest directory above it.
fn kind(mounts: &str, path: &Path) -> Option<String> {
    let all = mounts.lines().filter_map(|line| {
        let (head, tail) = line.split_once(" - ")?;
        // Blanks in a path are written as \040.
        let at = PathBuf::from(head.split_whitespace().nth(4)?.replace("\\040", " "));
        Some((at, tail.split_whitespace().next()?))
    });
    // Of several on one directory the last is on top.
    let on = all.filter(|(at, _)| path.starts_with(at));
    on.max_by_key(|(at, _)| at.components().count()).map(|(_, kind)| kind.to_owned())
}

fn value(space: &Space) -> String {
    let kind = space.kind.as_ref().map_or_else(String::new, |kind| format!(" ({kind})"));
    format!("{} free in {}{kind}", bytes(space.free), space.directory.display())
}

fn temporary(space: &Space) -> Diagnosis {
    let elsewhere = || Remedy::command("TMPDIR=/directory/with/space knee run");
    let value = value(space);
    let is = |kinds: &[&str]| {
        space
            .kind
            .as_ref()
            .is_some_and(|kind| kinds.iter().any(|beginning| kind.starts_with(beginning)))
    };
    let files = FILES + OWN;
    if !space.writable {
        Diagnosis::bad(value, "it can't be written", elsewhere())
    } else if space.free < FILE_BYTES {
        Diagnosis::bad(value, format!("{} are needed", bytes(FILE_BYTES)), elsewhere())
    } else if let Some(few) = space.files.filter(|&few| few < files) {
        let says =
            format!("there is space for {} files, and {} are needed", count(few), count(files));
        Diagnosis::bad(value, says, elsewhere())
    } else if is(IN_MEMORY) {
        Diagnosis::warn(value, "its files are in memory, and on no disk", elsewhere())
    } else if is(ELSEWHERE) {
        Diagnosis::warn(value, "its files are with another machine or program", elsewhere())
    } else {
        Diagnosis::ok(value)
    }
}

fn record(space: &Space) -> Diagnosis {
    let remedy = || Remedy::command("knee run --record /directory/with/space/knee.db");
    let value = value(space);
    if !space.writable {
        Diagnosis::bad(value, "it can't be written", remedy())
    } else if space.free < RECORD_BYTES_MIN {
        Diagnosis::bad(value, format!("{} are needed", bytes(RECORD_BYTES_MIN)), remedy())
    } else if space.free < RECORD_BYTES {
        Diagnosis::warn(value, format!("{} are safe", bytes(RECORD_BYTES)), remedy())
    } else {
        Diagnosis::ok(value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::State;
    use crate::fake::Fake;

    fn roomy(kind: &str) -> Space {
        Space {
            directory: "/tmp".into(),
            kind: Some(kind.into()),
            free: 50_000_000_000,
            files: Some(1_000_000),
            writable: true,
        }
    }

    #[test]
    fn files_need_space_that_is_on_a_disk_of_this_machine() {
        assert_eq!(temporary(&roomy("ext4")).state, State::Ok);
        assert_eq!(temporary(&Space { files: None, ..roomy("btrfs") }).state, State::Ok);
        for (space, wanted, says) in [
            (roomy("tmpfs"), State::Warn, "in memory"),
            (roomy("nfs4"), State::Warn, "another machine"),
            (roomy("fuse.sshfs"), State::Warn, "another machine"),
            (Space { free: 299_000_000, ..roomy("ext4") }, State::Bad, "300 MB are needed"),
            (Space { files: Some(10_000), ..roomy("ext4") }, State::Bad, "space for 10,000 files"),
            (Space { writable: false, ..roomy("ext4") }, State::Bad, "can't be written"),
        ] {
            let diagnosis = temporary(&space);
            assert_eq!(diagnosis.state, wanted, "{diagnosis:?}");
            assert!(diagnosis.message.contains(says), "{diagnosis:?}");
        }
    }

    #[test]
    fn the_record_needs_some_space_on_anything() {
        assert_eq!(record(&roomy("tmpfs")).state, State::Ok);
        assert_eq!(record(&Space { free: 99_000_000, ..roomy("ext4") }).state, State::Warn);
        assert_eq!(record(&Space { free: 4_000_000, ..roomy("ext4") }).state, State::Bad);
        assert_eq!(record(&Space { writable: false, ..roomy("ext4") }).state, State::Bad);
    }

    #[test]
    fn the_file_system_is_that_of_the_nearest_mount_and_the_topmost_there() {
        let mounts = "21 1 254:0 / / rw shared:1 - ext4 /dev/vda rw\n\
                      30 21 0:26 / /tmp rw - xfs /dev/vdb rw\n\
                      31 30 0:27 / /tmp rw,nosuid - tmpfs tmpfs rw\n\
                      32 21 0:28 / /home/a\\040b rw - nfs4 host:/ rw\n";
        for (path, wanted) in
            [("/var/x", "ext4"), ("/tmp/x", "tmpfs"), ("/tmpfoo", "ext4"), ("/home/a b/c", "nfs4")]
        {
            assert_eq!(kind(mounts, Path::new(path)).as_deref(), Some(wanted), "{path}");
        }
        assert_eq!(kind("", Path::new("/")), None);
    }

    #[test]
    fn a_missing_directory_has_the_space_of_the_one_above() {
        let fake = Fake::new();
        let space_there =
            space(&fake.machine(), &fake.directory.path().join("not/there/yet")).unwrap();
        assert!(space_there.free > 0 && space_there.writable, "{space_there:?}");
    }
}
