//! The directory of a cell's files, and what file system it is on.

use crate::shared::shortage;
use engine::{Cell, Failure, Probe, Scratch};
use rustix::fs::{StatFs, statfs};
use std::io;

/// Makes the directory of a cell and states its file system. It goes with the value.
pub(crate) fn make(cell: &Cell, probe: &mut Probe) -> Result<Scratch, Failure> {
    let directory = Scratch::new(&cell.scratch).map_err(|error| not_made(&error))?;
    let at = statfs(directory.path()).map_err(|error| Failure::call("statfs", error))?;
    probe.fact("file system", file_system(&at));
    Ok(directory)
}

fn not_made(error: &io::Error) -> Failure {
    let at = std::env::temp_dir();
    let what = format!("making a directory in {} (TMPDIR=… names another place)", at.display());
    shortage::failure(&what, error)
}

/// The name of a file system, or its number.
fn file_system(status: &StatFs) -> String {
    const KNOWN: [(u64, &str); 8] = [
        (0xef53, "ext4"),
        (0x0102_1994, "tmpfs"),
        (0x5846_5342, "xfs"),
        (0x9123_683e, "btrfs"),
        (0x794c_7630, "overlay"),
        (0x2fc1_2fc1, "zfs"),
        (0xf2f5_2010, "f2fs"),
        (0x6969, "nfs"),
    ];
    let number = status.f_type as u64;
    let name = KNOWN.iter().find(|(magic, _)| *magic == number);
    name.map_or_else(|| format!("0x{number:x}"), |(_, name)| (*name).to_owned())
}
