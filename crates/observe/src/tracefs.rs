//! Where the kernel describes its tracepoints, and the two that are watched here: every system call's
//! beginning and end.
//!
//! Where tracefs is not mounted and we may mount it, it is opened as a mount that is attached
//! nowhere (`fsopen`, `fsmount`): no other process sees it, and it goes away with its descriptor.

use std::fs::File;
use std::io::{self, Read as _};
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};

use rustix::fs::{CWD, Mode, OFlags, openat};
use rustix::io::Errno;
use rustix::mount::{FsMountFlags, FsOpenFlags, MountAttrFlags, fsconfig_create, fsmount, fsopen};

use crate::error::{Error, as_root};
use crate::format::Field;

/// A tracepoint of system calls: its id, and where its raw data has the call's number and the
/// arguments or the answer.
#[derive(Clone, Copy, Debug)]
pub struct Tracepoint {
    pub id: u64,
    pub call: Field,
    pub value: Field,
}

/// The tracepoints at a system call's beginning and end.
#[derive(Clone, Copy, Debug)]
pub struct Tracepoints {
    pub enter: Tracepoint,
    pub exit: Tracepoint,
}

/// Usual places, before those that the mount table names.
const PLACES: [&str; 2] = ["/sys/kernel/tracing", "/sys/kernel/debug/tracing"];
const MOUNT: &str = "`sudo mount -t tracefs nodev /sys/kernel/tracing`";
const LENGTH_MAX: u64 = 64 * 1024;

/// Whether this process can read the tracepoints of system calls.
///
/// # Errors
/// Why it can't, and what fixes that.
pub fn check() -> Result<(), (String, String)> {
    match Tracepoints::find() {
        Ok(_) => Ok(()),
        Err(Error::NoTracepoints { why, remedy }) => Err((why, remedy)),
        Err(error) => Err((error.to_string(), as_root().to_owned())),
    }
}

/// What the kernel writes about a tracepoint.
#[derive(Clone, Debug)]
pub struct Description {
    /// Its `id`, a number.
    pub id: String,
    /// Its `format`: see [`Field::find`].
    pub format: String,
}

/// What the kernel writes about these tracepoints, `sched/sched_switch`, in their order.
///
/// # Errors
/// [`Error::NoTracepoints`] with what is in the way and what fixes it, or what else the system answers.
pub fn described(names: &[&str]) -> Result<Vec<Description>, Error> {
    let mounts = std::fs::read("/proc/self/mounts").unwrap_or_default();
    let mounts = String::from_utf8_lossy(&mounts);
    let mut denied = None;
    for path in PLACES.map(PathBuf::from).into_iter().chain(mounted(&mounts)) {
        match directory(CWD, &path).and_then(|directory| read(&directory, names)) {
            Ok(descriptions) => return Ok(descriptions),
            Err(error) if error.kind() == io::ErrorKind::PermissionDenied => denied = Some(path),
            // Nothing is mounted there, or not all of it.
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(Error::io(format!("can't read {}", path.display()), error)),
        }
    }
    match (detached(), denied) {
        (Ok(root), _) => read(&root, names).map_err(unusable),
        (Err(_), Some(path)) => Err(Error::NoTracepoints {
            why: format!("the kernel's tracepoints in {} may not be read", path.display()),
            remedy: as_root().into(),
        }),
        (Err(error), None) => Err(not_mounted(error)),
    }
}

fn read(root: &OwnedFd, names: &[&str]) -> io::Result<Vec<Description>> {
    let text = |path: String| {
        let file = openat(root, &path, OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty())?;
        let mut text = String::new();
        File::from(file).take(LENGTH_MAX).read_to_string(&mut text)?;
        io::Result::Ok(text)
    };
    let description = |name: &&str| {
        let [id, format] = ["id", "format"].map(|file| text(format!("events/{name}/{file}")));
        Ok(Description { id: id?, format: format? })
    };
    names.iter().map(description).collect()
}

impl Tracepoints {
    /// Finds them on this machine.
    pub fn find() -> Result<Self, Error> {
        let both = described(&["raw_syscalls/sys_enter", "raw_syscalls/sys_exit"])?;
        Self::parse(&both[0], &both[1])
            .ok_or_else(|| unusable(io::Error::other("its format is not known")))
    }

    /// From what the kernel writes about the beginning and the end.
    pub fn parse(enter: &Description, exit: &Description) -> Option<Self> {
        let tracepoint = |Description { id, format }: &Description, value| {
            let (call, value) = (Field::find(format, "id")?, Field::find(format, value)?);
            Some(Tracepoint { id: id.trim().parse().ok()?, call, value })
        };
        Some(Tracepoints { enter: tracepoint(enter, "args")?, exit: tracepoint(exit, "ret")? })
    }
}

fn directory(at: impl std::os::fd::AsFd, path: &Path) -> io::Result<OwnedFd> {
    Ok(openat(at, path, OFlags::DIRECTORY | OFlags::PATH | OFlags::CLOEXEC, Mode::empty())?)
}

/// Where the mount table has tracefs.
fn mounted(mounts: &str) -> Vec<PathBuf> {
    let lines = mounts.lines().filter_map(|line| {
        let mut words = line.split(' ');
        let (path, kind) = (words.nth(1)?, words.next()?);
        // A blank in a path is written \040.
        (kind == "tracefs").then(|| PathBuf::from(path.replace("\\040", " ")))
    });
    lines.collect()
}

/// tracefs in a mount that is attached nowhere.
fn detached() -> Result<OwnedFd, Errno> {
    let context = fsopen("tracefs", FsOpenFlags::FSOPEN_CLOEXEC)?;
    fsconfig_create(&context)?;
    fsmount(&context, FsMountFlags::FSMOUNT_CLOEXEC, MountAttrFlags::empty())
}

fn not_mounted(error: Errno) -> Error {
    let (why, remedy) = match error {
        Errno::PERM | Errno::ACCESS if !rustix::process::geteuid().is_root() => {
            ("the kernel's tracepoints are for root alone".to_owned(), as_root().to_owned())
        }
        Errno::NODEV => (
            "this kernel has no tracefs".to_owned(),
            "it takes a kernel with CONFIG_FTRACE_SYSCALLS".to_owned(),
        ),
        _ => (
            format!("tracefs is not mounted and can't be mounted from here ({error})"),
            format!("{MOUNT}, outside of any container"),
        ),
    };
    Error::NoTracepoints { why, remedy }
}

fn unusable(error: io::Error) -> Error {
    if error.kind() == io::ErrorKind::NotFound {
        return Error::NoTracepoints {
            why: "this kernel has no tracepoints for system calls".into(),
            remedy: "it takes a kernel with CONFIG_FTRACE_SYSCALLS".into(),
        };
    }
    Error::io("can't read the tracepoints for system calls", error)
}

#[cfg(test)]
mod tests {
    use super::*;

    const ENTER: &str = include_str!("../tests/recorded/sys_enter.format");
    const EXIT: &str = include_str!("../tests/recorded/sys_exit.format");

    #[test]
    fn both_tracepoints_are_needed_whole() {
        let parse = |enter: (&str, &str), exit: (&str, &str)| {
            let [enter, exit] = [enter, exit]
                .map(|(id, format)| Description { id: id.into(), format: format.into() });
            Tracepoints::parse(&enter, &exit)
        };
        let points = parse(("443\n", ENTER), ("442\n", EXIT)).unwrap();
        assert_eq!((points.enter.id, points.exit.id), (443, 442));
        assert!(parse(("", ENTER), ("442", EXIT)).is_none());
        assert!(parse(("443", EXIT), ("442", EXIT)).is_none());
        assert!(parse(("443", ENTER), ("442", &EXIT[..300])).is_none());
        assert!(parse(("443", ENTER), ("-1", EXIT)).is_none());
    }

    #[test]
    fn the_mount_table_names_other_places() {
        let table = "proc /proc proc rw 0 0\ntracefs /mnt/of\\040mine tracefs rw 0 0\nbroken\n\n";
        assert_eq!(mounted(table), [Path::new("/mnt/of mine")]);
    }
}
