//! The directory that is served, and the only way to what is in it.
//!
//! A path is opened with `openat2` and `RESOLVE_BENEATH`: the kernel itself refuses whatever leads out
//! of the directory (a link, an absolute link, a race with somebody who moves things about). Links that
//! stay inside are followed. Where the kernel has no `openat2`, or a sandbox forbids it, each name of
//! the path is opened on its own and no link is followed at all.
//!
//! Only regular files are served. A name that begins with a dot is a name like any other, as for nginx.

use std::fs::{File, Metadata};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use rustix::fs::{Mode, OFlags, ResolveFlags, fcntl_setfl, openat, openat2};
use rustix::io::Errno;

use crate::Error;
use crate::response::status::Status;

/// Not to wait for the writer of a FIFO, nor to take over a terminal.
const FILE: OFlags =
    OFlags::RDONLY.union(OFlags::NONBLOCK).union(OFlags::NOCTTY).union(OFlags::CLOEXEC);

/// To pass through, not to read.
const DIRECTORY: OFlags =
    OFlags::PATH.union(OFlags::DIRECTORY).union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);

/// Tries of a lookup that the kernel gave up because somebody moved a directory meanwhile.
const TRIES: usize = 16;

/// Which state of which file it is. A file whose stamp is the same is taken to be the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Stamp {
    device: u64,
    inode: u64,
    pub bytes: u64,
    /// Since 1970, in seconds and nanoseconds.
    pub modified: (i64, i64),
    /// The same for whatever changed, the name or the owner among it; it can't be set back.
    pub changed: (i64, i64),
}

impl Stamp {
    pub(crate) fn from_metadata(metadata: &Metadata) -> Stamp {
        Stamp {
            device: metadata.dev(),
            inode: metadata.ino(),
            bytes: metadata.size(),
            modified: (metadata.mtime(), metadata.mtime_nsec()),
            changed: (metadata.ctime(), metadata.ctime_nsec()),
        }
    }
}

#[derive(Debug)]
pub(crate) enum Lookup {
    File(File, Stamp),
    Directory,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Way {
    Beneath,
    Walk,
}

#[derive(Debug)]
pub(crate) struct Root {
    directory: OwnedFd,
    way: Way,
}

impl Root {
    pub(crate) fn open(path: &Path) -> Result<Root, Error> {
        // The one that is named may be a link: only what is in it has to stay in it.
        let flags = DIRECTORY.difference(OFlags::NOFOLLOW);
        let directory = rustix::fs::open(path, flags, Mode::empty())
            .map_err(|errno| Error::Invalid(cannot_serve(path, errno)))?;
        let way = match beneath(directory.as_fd(), b".", DIRECTORY) {
            Err(Errno::NOSYS | Errno::PERM) => Way::Walk,
            _ => Way::Beneath,
        };
        Ok(Root { directory, way })
    }

    /// Opens what `path` names: from `/` on, without `.` and `..`.
    pub(crate) fn find(&self, path: &[u8]) -> Result<Lookup, Status> {
        let opened = match self.way {
            Way::Beneath => beneath(self.directory.as_fd(), relative(path), FILE),
            Way::Walk => walk(self.directory.as_fd(), path),
        };
        let file = File::from(opened.map_err(status)?);
        let metadata = file.metadata().map_err(|_| Status::InternalError)?;
        match metadata.file_type() {
            kind if kind.is_file() => {
                // From here on it may be waited for: of a file that must not be, io_uring reads only
                // what is in memory, on some file systems.
                fcntl_setfl(&file, OFlags::empty()).map_err(status)?;
                Ok(Lookup::File(file, Stamp::from_metadata(&metadata)))
            }
            kind if kind.is_dir() => Ok(Lookup::Directory),
            _ => Err(Status::NotFound),
        }
    }
}

fn cannot_serve(path: &Path, errno: Errno) -> String {
    format!(
        "can't serve {}: {errno}; name a directory that is there and may be entered",
        path.display()
    )
}

fn relative(path: &[u8]) -> &[u8] {
    match path.strip_prefix(b"/").unwrap_or(path) {
        b"" => b".",
        inner => inner,
    }
}

/// Lets the kernel see to it that the path stays inside.
fn beneath(directory: BorrowedFd<'_>, path: &[u8], flags: OFlags) -> Result<OwnedFd, Errno> {
    let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_MAGICLINKS;
    let mut tries = 1..TRIES;
    loop {
        match openat2(directory, path, flags, Mode::empty(), resolve) {
            Err(Errno::AGAIN | Errno::INTR) if tries.next().is_some() => {}
            opened => return opened,
        }
    }
}

/// Goes one name at a time and through no link, so that there is no way out.
fn walk(directory: BorrowedFd<'_>, path: &[u8]) -> Result<OwnedFd, Errno> {
    let last = FILE.union(OFlags::NOFOLLOW);
    let mut names = path.split(|byte| *byte == b'/').filter(|name| !name.is_empty()).peekable();
    let mut passed: Option<OwnedFd> = None;
    while let Some(name) = names.next() {
        let from = passed.as_ref().map_or(directory, AsFd::as_fd);
        if name == b".." {
            return Err(Errno::XDEV);
        }
        if names.peek().is_none() {
            let flags = if path.ends_with(b"/") { last | OFlags::DIRECTORY } else { last };
            return openat(from, name, flags, Mode::empty());
        }
        passed = Some(openat(from, name, DIRECTORY, Mode::empty())?);
    }
    openat(directory, ".", last, Mode::empty())
}

/// The answer to a client. Of what lies outside it learns nothing, not even whether it is there.
fn status(errno: Errno) -> Status {
    match errno {
        // Nothing of that name; a link that leads out, in a circle or not to be followed; a socket or a
        // device without a driver.
        Errno::NOENT
        | Errno::NOTDIR
        | Errno::NAMETOOLONG
        | Errno::XDEV
        | Errno::LOOP
        | Errno::NXIO
        | Errno::NODEV => Status::NotFound,
        Errno::ACCESS | Errno::PERM => Status::Forbidden,
        Errno::MFILE | Errno::NFILE | Errno::NOMEM | Errno::AGAIN => Status::Unavailable,
        _ => Status::InternalError,
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::io::Read;
    use std::os::unix::fs::symlink;
    use std::os::unix::net::UnixListener;

    use rustix::fs::{CWD, FileType, mknodat};
    use tempfile::TempDir;

    use super::*;

    /// A directory `served` with a file, a directory and links in it, and a secret next to it.
    fn directory() -> (TempDir, Root) {
        let outer = tempfile::tempdir().unwrap();
        let served = outer.path().join("served");
        fs::create_dir_all(served.join("inner/deep")).unwrap();
        fs::write(outer.path().join("secret"), "secret").unwrap();
        fs::write(served.join("file"), "inside").unwrap();
        fs::write(served.join("inner/deep/file"), "inside").unwrap();
        fs::write(served.join(".hidden"), "inside").unwrap();
        symlink("../file", served.join("inner/link")).unwrap();
        symlink("inner", served.join("inner-link")).unwrap();
        symlink("../secret", served.join("out")).unwrap();
        symlink(outer.path().join("secret"), served.join("out-absolute")).unwrap();
        symlink(served.join("file"), served.join("in-absolute")).unwrap();
        symlink("..", served.join("up")).unwrap();
        symlink("/", served.join("all")).unwrap();
        symlink("circle", served.join("circle")).unwrap();
        let root = Root::open(&served).unwrap();
        assert_eq!(root.way, Way::Beneath, "the kernel here is too old for this test");
        (outer, root)
    }

    fn walking(root: Root) -> Root {
        Root { way: Way::Walk, ..root }
    }

    fn content(root: &Root, path: &str) -> Result<String, Status> {
        match root.find(path.as_bytes())? {
            Lookup::Directory => Ok("a directory".into()),
            Lookup::File(mut file, stamp) => {
                let mut text = String::new();
                file.read_to_string(&mut text).unwrap();
                assert_eq!(text.len() as u64, stamp.bytes);
                Ok(text)
            }
        }
    }

    #[test]
    fn what_is_inside_is_found_either_way() {
        let (_outer, root) = directory();
        let check = |root: &Root| {
            for path in ["/file", "/inner/deep/file", "/.hidden"] {
                assert_eq!(content(root, path), Ok("inside".into()), "{path} {:?}", root.way);
            }
            for path in ["/", "/inner", "/inner/", "/inner/deep/"] {
                assert_eq!(content(root, path), Ok("a directory".into()), "{path} {:?}", root.way);
            }
            let long = format!("/{}", "n".repeat(300));
            let longer = "/nnnnnnn".repeat(700);
            for path in ["/none", "/none/file", "/file/", "/file/none", &long, &longer] {
                assert_eq!(content(root, path), Err(Status::NotFound), "{path} {:?}", root.way);
            }
        };
        check(&root);
        check(&walking(root));
    }

    #[test]
    fn no_link_leads_out_either_way() {
        let (_outer, root) = directory();
        let check = |root: &Root| {
            let paths = [
                "/out",
                "/out-absolute",
                "/up/secret",
                "/up",
                "/all",
                "/all/etc/passwd",
                "/circle",
            ];
            for path in paths {
                assert_eq!(content(root, path), Err(Status::NotFound), "{path} {:?}", root.way);
            }
            // Targets are put in order before; should that ever fail, this holds.
            for path in ["/../secret", "/inner/../../secret", "/.."] {
                assert_eq!(content(root, path), Err(Status::NotFound), "{path} {:?}", root.way);
            }
        };
        check(&root);
        check(&walking(root));
    }

    #[test]
    fn links_within_are_followed_where_the_kernel_watches_them() {
        let (_outer, root) = directory();
        assert_eq!(content(&root, "/inner/link"), Ok("inside".into()));
        assert_eq!(content(&root, "/inner-link/deep/file"), Ok("inside".into()));
        // An absolute link starts outside, wherever it ends.
        assert_eq!(content(&root, "/in-absolute"), Err(Status::NotFound));
        let root = walking(root);
        for path in ["/inner/link", "/inner-link/deep/file", "/in-absolute"] {
            assert_eq!(content(&root, path), Err(Status::NotFound), "{path}");
        }
    }

    #[test]
    fn only_regular_files_are_served_and_none_is_waited_for() {
        let (outer, root) = directory();
        let served = outer.path().join("served");
        let mode = Mode::from_raw_mode(0o600);
        mknodat(CWD, served.join("fifo"), FileType::Fifo, mode, 0).unwrap();
        let _listener = UnixListener::bind(served.join("socket")).unwrap();
        let check = |root: &Root| {
            for path in ["/fifo", "/socket"] {
                assert_eq!(content(root, path), Err(Status::NotFound), "{path} {:?}", root.way);
            }
        };
        check(&root);
        check(&walking(root));
    }

    #[test]
    fn errors_become_statuses() {
        assert_eq!(status(Errno::ACCESS), Status::Forbidden);
        assert_eq!(status(Errno::MFILE), Status::Unavailable);
        assert_eq!(status(Errno::IO), Status::InternalError);
    }

    #[test]
    fn a_root_that_is_no_directory_is_named() {
        let (outer, _) = directory();
        let none = Root::open(&outer.path().join("none")).unwrap_err().to_string();
        assert!(none.contains("/none: No such file or directory"), "{none}");
        let file = Root::open(&outer.path().join("secret")).unwrap_err().to_string();
        assert!(file.contains("/secret: Not a directory"), "{file}");
    }
}
