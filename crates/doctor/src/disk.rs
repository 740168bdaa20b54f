//! Room for the files of workloads and for the record.

use super::memory::bytes;
use super::needs::{FILE_BYTES, FILES, OWN};
use super::{ALL, Check, Found, Group, Machine, Remedy, Unknown};
use findings::format::count;
use rustix::fs::{Access, AtFlags, CWD, StatVfsMountFlags, accessat, statvfs};
use std::path::{Path, PathBuf};

/// The family.
pub static GROUP: Group = Group {
    name: "Disk",
    checks: &[
        Check {
            name: "temporary-files",
            looks_at: "the folder of temporary files: its room and its file system",
            why: "a cell's files lie there: one of 200 MB, or 10,000 small ones",
            workloads: &["mmap", "touch", "munmap", "open", "manyfiles"],
            by_name: None,
            look: |machine| Ok(temporary(&room(machine, &machine.temporary)?)),
        },
        Check {
            name: "record",
            looks_at: "the folder of the record: its room, and whether it can be written",
            why: "each cell is kept there as it ends",
            workloads: ALL,
            by_name: None,
            look: |machine| Ok(record(&room(machine, &machine.record)?)),
        },
    ],
};

/// A record that grows by less than this is the rule; what a long one of trajectories takes.
const RECORD_BYTES: u64 = 100_000_000;
/// Less than this is no room for any run.
const RECORD_BYTES_MIN: u64 = 5_000_000;

/// File systems that keep files in memory.
const IN_MEMORY: &[&str] = &["tmpfs", "ramfs"];
/// The beginnings of the names of those that ask another machine or a program.
const ELSEWHERE: &[&str] = &["nfs", "cifs", "smb", "9p", "fuse", "ceph", "virtiofs", "sshfs"];

/// What there is where a folder is, or is going to be.
#[derive(Clone, Debug)]
struct Room {
    folder: PathBuf,
    /// The type of the file system; absent where it is not known.
    kind: Option<String>,
    free: u64,
    /// Files that can still be made; absent where the file system does not count them.
    files: Option<u64>,
    writable: bool,
}

fn room(machine: &Machine, folder: &Path) -> Result<Room, Unknown> {
    // A folder that is not there yet will be in the one that is.
    let there = folder.ancestors().find(|above| above.exists()).unwrap_or(Path::new("."));
    let unknown = |error| Unknown(format!("{} can't be looked at: {error}", there.display()));
    let stat = statvfs(there).map_err(|error| unknown(std::io::Error::from(error)))?;
    let real = there.canonicalize().map_err(unknown)?;
    let access = accessat(CWD, there, Access::WRITE_OK | Access::EXEC_OK, AtFlags::EACCESS);
    Ok(Room {
        folder: folder.into(),
        kind: machine.read("/proc/self/mountinfo").ok().and_then(|mounts| kind(&mounts, &real)),
        free: stat.f_bavail * stat.f_frsize,
        files: Some(stat.f_favail).filter(|_| stat.f_files > 0),
        writable: access.is_ok() && !stat.f_flag.contains(StatVfsMountFlags::RDONLY),
    })
}

/// The type of the file system that is mounted on `path` or the nearest folder above it.
fn kind(mounts: &str, path: &Path) -> Option<String> {
    let all = mounts.lines().filter_map(|line| {
        let (head, tail) = line.split_once(" - ")?;
        // Blanks in a path are written as \040.
        let at = PathBuf::from(head.split_whitespace().nth(4)?.replace("\\040", " "));
        Some((at, tail.split_whitespace().next()?))
    });
    // Of several on one folder the last is on top.
    let on = all.filter(|(at, _)| path.starts_with(at));
    on.max_by_key(|(at, _)| at.components().count()).map(|(_, kind)| kind.to_owned())
}

fn value(room: &Room) -> String {
    let kind = room.kind.as_ref().map_or_else(String::new, |kind| format!(" ({kind})"));
    format!("{} free in {}{kind}", bytes(room.free), room.folder.display())
}

fn temporary(room: &Room) -> Found {
    let elsewhere = || Remedy::type_in("TMPDIR=/a/folder/with/room knee run");
    let value = value(room);
    let is = |kinds: &[&str]| {
        room.kind.as_ref().is_some_and(|kind| kinds.iter().any(|known| kind.starts_with(known)))
    };
    let files = FILES + OWN;
    if !room.writable {
        Found::bad(value, "it can't be written", elsewhere())
    } else if room.free < FILE_BYTES {
        Found::bad(value, format!("{} are needed", bytes(FILE_BYTES)), elsewhere())
    } else if let Some(few) = room.files.filter(|&few| few < files) {
        let says = format!("it has room for {} files, and {} are needed", count(few), count(files));
        Found::bad(value, says, elsewhere())
    } else if is(IN_MEMORY) {
        Found::mind(value, "its files are in memory, and on no disk", elsewhere())
    } else if is(ELSEWHERE) {
        Found::mind(value, "its files are with another machine or program", elsewhere())
    } else {
        Found::ok(value)
    }
}

fn record(room: &Room) -> Found {
    let remedy = || Remedy::type_in("knee run --record /a/folder/with/room/knee.db");
    let value = value(room);
    if !room.writable {
        Found::bad(value, "it can't be written", remedy())
    } else if room.free < RECORD_BYTES_MIN {
        Found::bad(value, format!("{} are needed", bytes(RECORD_BYTES_MIN)), remedy())
    } else if room.free < RECORD_BYTES {
        Found::mind(value, format!("{} are safe", bytes(RECORD_BYTES)), remedy())
    } else {
        Found::ok(value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::State;
    use crate::fake::Fake;

    fn roomy(kind: &str) -> Room {
        Room {
            folder: "/tmp".into(),
            kind: Some(kind.into()),
            free: 50_000_000_000,
            files: Some(1_000_000),
            writable: true,
        }
    }

    #[test]
    fn files_need_room_that_is_on_a_disk_of_this_machine() {
        assert_eq!(temporary(&roomy("ext4")).state, State::Ok);
        assert_eq!(temporary(&Room { files: None, ..roomy("btrfs") }).state, State::Ok);
        for (room, wanted, says) in [
            (roomy("tmpfs"), State::Mind, "in memory"),
            (roomy("nfs4"), State::Mind, "another machine"),
            (roomy("fuse.sshfs"), State::Mind, "another machine"),
            (Room { free: 299_000_000, ..roomy("ext4") }, State::Bad, "300 MB are needed"),
            (Room { files: Some(10_000), ..roomy("ext4") }, State::Bad, "room for 10,000 files"),
            (Room { writable: false, ..roomy("ext4") }, State::Bad, "can't be written"),
        ] {
            let found = temporary(&room);
            assert_eq!(found.state, wanted, "{found:?}");
            assert!(found.says.contains(says), "{found:?}");
        }
    }

    #[test]
    fn the_record_needs_some_room_on_anything() {
        assert_eq!(record(&roomy("tmpfs")).state, State::Ok);
        assert_eq!(record(&Room { free: 99_000_000, ..roomy("ext4") }).state, State::Mind);
        assert_eq!(record(&Room { free: 4_000_000, ..roomy("ext4") }).state, State::Bad);
        assert_eq!(record(&Room { writable: false, ..roomy("ext4") }).state, State::Bad);
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
    fn a_folder_that_is_not_there_yet_has_the_room_of_the_one_above() {
        let fake = Fake::new();
        let found = room(&fake.machine(), &fake.folder.path().join("not/there/yet")).unwrap();
        assert!(found.free > 0 && found.writable, "{found:?}");
    }
}
