//! The operations. A new one is one file in this directory and one line in the table here.

use crate::shared::crew::{self, Check, Seat};
use crate::shared::shortage;
use engine::Failure;
use rustix::event::{EventfdFlags, eventfd};
use rustix::fs::fstat;
use rustix::net::{AddressFamily, SocketFlags, SocketType, bind, listen, socket_with, sockopt};
use std::ffi::{CStr, CString};
use std::fs::{self, File};
use std::io;
use std::net::{Ipv4Addr, SocketAddrV4, TcpListener, TcpStream};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::Duration;
use sys::plain::{close, open};

/// What is repeated by several threads or processes at once.
pub(crate) struct Operation {
    /// Its name: `dup-close`.
    pub(crate) name: &'static str,
    /// Whether it is the same operation with more workers than CPUs, and no switch from one to the next.
    pub(crate) beyond_cpus: bool,
    /// The heading that it is listed under.
    pub(crate) group: &'static str,
    /// What one operation is, and on what, in one line.
    pub(crate) summary: &'static str,
    /// The lock or structure of the kernel that those who do it at once meet at; empty where there is none.
    pub(crate) contends: &'static str,
    /// Whether the repeated call is the C library's more than the kernel's.
    pub(crate) of_c_library: bool,
    /// Whether it connects over loopback of IPv4.
    pub(crate) over_loopback: bool,
    /// What threads of a process share, and processes don't, that the operation changes; empty where there is nothing.
    pub(crate) shared_by_threads: &'static str,
    /// Sets up what all workers share, and returns what each of them does.
    pub(crate) prepare: fn(&Ground) -> Result<Life, Failure>,
}

type Life = Box<crew::Life<'static>>;

impl Operation {
    /// What most operations have in common: each states only where it differs.
    const PLAIN: Operation = Operation {
        name: "",
        beyond_cpus: true,
        group: "",
        summary: "",
        contends: "",
        of_c_library: false,
        over_loopback: false,
        shared_by_threads: "",
        prepare: |_| Err(Failure::new("an operation without work")),
    };
}

/// Declares each module, and puts its `OPERATION` into the table.
macro_rules! table {
    ($($file:ident,)*) => {
        $(mod $file;)*

        /// Every operation that knee knows.
        pub(crate) static TABLE: &[&Operation] = &[$(&$file::OPERATION,)*];
    };
}

table! {
    getppid,
    dup_close,
    open_close_one,
    open_close_separate,
    read_one,
    pread_one,
    write_one,
    lseek_one,
    stat,
    mmap_munmap,
    mmap_touch_munmap,
    page_fault,
    brk,
    malloc,
    futex_mismatch,
    futex_wake,
    poll,
    epoll_ctl_one,
    epoll_ctl_separate,
    pipe_ping,
    eventfd,
    unix_ping,
    tcp_ping,
    accept_one,
    accept_reuseport,
    fork_exit,
    sched_yield,
    signal_self,
}

/// The directory of a cell.
pub(crate) struct Ground {
    pub(crate) directory: PathBuf,
}

/// What an operation reads or writes at once: a page of a file.
const PAGE: usize = 4_096;
/// A file of so many pages: it stays in the page cache.
const PAGES: usize = 256;

impl Ground {
    /// A new file of zeros with this name.
    fn file(&self, name: &str) -> Result<PathBuf, Failure> {
        file_in(&self.directory, name)
    }

    /// The same of one page: the kernel keeps a larger file in pieces of many pages, and a write to one of them costs four times
    /// as much.
    fn page(&self, name: &str) -> Result<PathBuf, Failure> {
        let path = self.directory.join(name);
        fs::write(&path, [0; PAGE]).map_err(setting_up)?;
        Ok(path)
    }
}

/// Opens a file to read and write.
fn open_file(path: &Path) -> Result<File, Failure> {
    File::options().read(true).write(true).open(path).map_err(setting_up)
}

fn file_in(directory: &Path, name: &str) -> Result<PathBuf, Failure> {
    let path = directory.join(name);
    fs::write(&path, vec![0; PAGE * PAGES]).map_err(setting_up)?;
    Ok(path)
}

/// A path as the kernel takes it.
fn c_path(path: &Path) -> Result<CString, Failure> {
    CString::new(path.as_os_str().as_bytes()).map_err(|error| Failure::call("a path", error))
}

/// Writes a byte to `to`, another each time, and reads it from `from`.
#[inline]
fn pass_byte(
    to: BorrowedFd<'_>,
    from: BorrowedFd<'_>,
    byte: &mut u8,
    check: Check,
) -> io::Result<()> {
    *byte = byte.wrapping_add(1);
    let mut passed = [0];
    let written = sys::plain::write(to, &[*byte])?;
    let bytes = sys::plain::read(from, &mut passed)?;
    check.that((written, bytes, passed[0]) == (1, 1, *byte), "another byte came out")
}

/// How often a new descriptor is looked at more closely: each time would be another call to time.
const LOOK_EACH: u64 = 1_024;

/// Closes a new descriptor, which fails where it is not open; sometimes looks before whether it is of the file with this inode.
#[inline]
fn check_and_close(fd: OwnedFd, inode: u64, turn: &mut u64, check: Check) -> io::Result<()> {
    if turn.is_multiple_of(LOOK_EACH) {
        check.that(fstat(&fd)?.st_ino == inode, "the descriptor is of another file")?;
    }
    *turn += 1;
    close(fd)
}

/// Opens and closes the file at `path`, again and again.
fn open_and_close(path: &CStr, inode: u64, seat: &Seat<'_>) -> Result<(), Failure> {
    let mut turn = 0;
    seat.repeat(|check| check_and_close(open(path)?, inode, &mut turn, check))
}

fn inode(path: &Path) -> Result<u64, Failure> {
    Ok(fs::metadata(path).map_err(setting_up)?.ino())
}

/// Adds an eventfd of the worker's own to `set`, and removes it, again and again.
fn add_and_remove(set: BorrowedFd<'_>, seat: &Seat<'_>) -> Result<(), Failure> {
    let own = eventfd(0, EventfdFlags::CLOEXEC).map_err(|error| setting_up(error.into()))?;
    seat.repeat(|check| {
        sys::epoll::add(set, own.as_fd(), 0, 0)?;
        check.that(sys::epoll::remove(set, own.as_fd()).is_ok(), "what was added was not there")
    })
}

/// A socket on a port that others may have as well, or on any where that is 0.
fn bound(port: u16) -> Result<OwnedFd, Failure> {
    let make = || -> rustix::io::Result<OwnedFd> {
        let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
        let socket = socket_with(AddressFamily::INET, SocketType::STREAM, flags, None)?;
        sockopt::set_socket_reuseport(&socket, true)?;
        bind(&socket, &SocketAddrV4::new(Ipv4Addr::LOCALHOST, port))?;
        Ok(socket)
    };
    make().map_err(|error| setting_up(error.into()))
}

/// The port of a socket.
fn port(socket: &OwnedFd) -> Result<u16, Failure> {
    let copy = socket.try_clone().map_err(setting_up)?;
    Ok(TcpListener::from(copy).local_addr().map_err(setting_up)?.port())
}

/// A listener that answers at once where no connection waits.
fn listener(port: u16) -> Result<TcpListener, Failure> {
    let socket = bound(port)?;
    listen(&socket, BACKLOG).map_err(|error| setting_up(error.into()))?;
    Ok(socket.into())
}

/// More than workers whose listener others connect to while they wait for a CPU.
const BACKLOG: i32 = 4_096;

/// Connects to the port of `listener`, accepts what waits there, and closes all of it: the connections that were
/// accepted count. A connection ends with a reset, so that its port is free again.
fn connect_and_accept(listener: &TcpListener, seat: &Seat<'_>) -> Result<(), Failure> {
    let to = listener.local_addr().map_err(setting_up)?;
    seat.repeat_counted(|check| {
        let client = TcpStream::connect(to)?;
        sockopt::set_socket_linger(&client, Some(Duration::ZERO))?;
        let mut accepted = 0;
        loop {
            match listener.accept() {
                Ok((_, peer)) => check.that(peer.ip() == to.ip(), "a stranger connected")?,
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(accepted),
                Err(error) => return Err(error),
            }
            accepted += 1;
        }
    })
}

/// The failure of what an operation needs.
#[expect(clippy::needless_pass_by_value, reason = "for map_err")]
fn setting_up(error: io::Error) -> Failure {
    shortage::failure("setting up the operation", &error)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shared::cpus;
    use crate::shared::crew::{By, Crew, Ending};
    use std::sync::atomic::{AtomicU64, Ordering};
    use std::time::Duration;
    use sys::clock::Clock;

    /// A directory that goes with the value.
    struct Directory(PathBuf);

    impl Directory {
        fn new() -> Directory {
            static NEXT: AtomicU64 = AtomicU64::new(0);
            let number = NEXT.fetch_add(1, Ordering::Relaxed);
            let name = format!("knee-operations-{}-{number}", std::process::id());
            let path = std::env::temp_dir().join(name);
            fs::create_dir(&path).unwrap();
            Directory(path)
        }
    }

    impl Drop for Directory {
        fn drop(&mut self) {
            let _ = fs::remove_dir_all(&self.0);
        }
    }

    /// How many operations so many threads did.
    fn counted(operation: &Operation, workers: usize, right: bool) -> Result<u64, Failure> {
        counted_after(operation, workers, right, |_| ())
    }

    /// The same where something was done with the directory after it was prepared.
    fn counted_after(
        operation: &Operation,
        workers: usize,
        right: bool,
        spoil: impl FnOnce(&Path),
    ) -> Result<u64, Failure> {
        let directory = Directory::new();
        let life = (operation.prepare)(&Ground { directory: directory.0.clone() })?;
        spoil(&directory.0);
        let (clock, ending) = (Clock::Monotonic, Ending::After(Duration::from_millis(2)));
        let cpus = cpus::allowed()?;
        let crew = Crew { workers, life: &life, cpus, clock, ending, right };
        crew.count(By::Threads).map(|counted| counted.operations())
    }

    #[test]
    fn every_operation_makes_progress_with_one_thread_and_with_several() {
        for operation in TABLE {
            for workers in [1, 2, 5] {
                let done = counted(operation, workers, true);
                assert!(done.as_ref().is_ok_and(|done| *done > 0), "{}: {done:?}", operation.name);
            }
        }
    }

    #[test]
    fn a_file_that_is_not_as_it_was_prepared_is_noticed() {
        type Spoilt<'a> = (&'a str, &'a dyn Fn(&Path), &'a str);
        let ones = |directory: &Path| {
            fs::write(directory.join("one"), vec![1; PAGE * PAGES]).unwrap();
        };
        let short = |directory: &Path| {
            File::options().write(true).open(directory.join("one")).unwrap().set_len(10).unwrap();
        };
        let another = |directory: &Path| {
            fs::rename(file_in(directory, "another").unwrap(), directory.join("one")).unwrap();
        };
        let spoilt: [Spoilt<'_>; 6] = [
            ("open-close-one", &another, "the descriptor is of another file"),
            ("read-one", &ones, "read gave another page"),
            ("read-one", &short, "read gave another page"),
            ("pread-one", &ones, "pread gave another page"),
            ("pread-one", &short, "pread gave another page"),
            ("stat", &short, "stat gave another size"),
        ];
        for (name, spoil, wrong) in spoilt {
            let operation = TABLE.iter().find(|operation| operation.name == name).unwrap();
            let failure = counted_after(operation, 1, true, spoil).expect_err(name).to_string();
            assert_eq!(failure, format!("operation 1 of worker 1: {wrong}"));
        }
    }

    #[test]
    fn a_descriptor_that_is_not_open_or_of_another_file_is_noticed() {
        let check = Check { right: true };
        let file = || File::open("/dev/null").unwrap();
        let own = inode(Path::new("/dev/null")).unwrap();
        let mut turn = 0;
        check_and_close(file().into(), own, &mut turn, check).unwrap();
        // Most turns leave it to close.
        check_and_close(file().into(), own + 1, &mut turn, check).unwrap();
        turn = LOOK_EACH;
        assert!(check_and_close(file().into(), own + 1, &mut turn, check).is_err());
    }

    #[test]
    fn another_byte_or_none_is_noticed() {
        let (reader, writer) = io::pipe().unwrap();
        let pass =
            |byte: &mut u8| pass_byte(writer.as_fd(), reader.as_fd(), byte, Check { right: true });
        pass(&mut 5).unwrap();
        sys::plain::write(writer.as_fd(), &[9]).unwrap();
        assert_eq!(pass(&mut 5).unwrap_err().to_string(), "another byte came out");
    }

    #[test]
    fn every_operation_heeds_its_check() {
        for operation in TABLE {
            let failure = counted(operation, 1, false).expect_err(operation.name).to_string();
            assert!(
                failure.starts_with("operation 1 of worker 1: "),
                "{}: {failure}",
                operation.name
            );
        }
    }

    #[test]
    fn every_operation_is_described() {
        for operation in TABLE {
            let name = operation.name;
            assert!(!operation.summary.is_empty() && !operation.group.is_empty(), "{name}");
            let is_alone = operation.contends.is_empty();
            assert!(!is_alone || operation.shared_by_threads.is_empty(), "{name}");
            let file = name.replace('-', "_");
            let text = concat!(env!("CARGO_MANIFEST_DIR"), "/src/syscalls/operations/");
            assert!(
                Path::new(text).join(format!("{file}.rs")).exists(),
                "{name} has a file of its name"
            );
        }
    }
}
