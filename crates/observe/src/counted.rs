//! The system calls that are counted by name, exactly: by counters of the kernel's tracepoint, not by samples.

use crate::error::Error;
use crate::tracefs::described;
use std::ffi::CString;
use std::io;
use sys::perf::{Event, Wanted};

/// Names and numbers of the calls that programs make most, on this machine.
pub const COUNTED_CALLS: &[(&str, i64)] = &[
    #[cfg(target_arch = "x86_64")]
    ("epoll_wait", libc::SYS_epoll_wait),
    #[cfg(target_arch = "x86_64")]
    ("fork", libc::SYS_fork),
    #[cfg(target_arch = "x86_64")]
    ("open", libc::SYS_open),
    #[cfg(target_arch = "x86_64")]
    ("poll", libc::SYS_poll),
    #[cfg(target_arch = "x86_64")]
    ("select", libc::SYS_select),
    #[cfg(target_arch = "x86_64")]
    ("stat", libc::SYS_stat),
    #[cfg(target_arch = "x86_64")]
    ("vfork", libc::SYS_vfork),
    ("accept4", libc::SYS_accept4),
    ("brk", libc::SYS_brk),
    ("clock_nanosleep", libc::SYS_clock_nanosleep),
    ("clone", libc::SYS_clone),
    ("clone3", libc::SYS_clone3),
    ("close", libc::SYS_close),
    ("connect", libc::SYS_connect),
    ("epoll_ctl", libc::SYS_epoll_ctl),
    ("epoll_pwait", libc::SYS_epoll_pwait),
    ("execve", libc::SYS_execve),
    ("fcntl", libc::SYS_fcntl),
    ("fdatasync", libc::SYS_fdatasync),
    ("fstat", libc::SYS_fstat),
    ("fsync", libc::SYS_fsync),
    ("futex", libc::SYS_futex),
    ("getdents64", libc::SYS_getdents64),
    ("io_uring_enter", libc::SYS_io_uring_enter),
    ("ioctl", libc::SYS_ioctl),
    ("lseek", libc::SYS_lseek),
    ("madvise", libc::SYS_madvise),
    ("mmap", libc::SYS_mmap),
    ("mprotect", libc::SYS_mprotect),
    ("munmap", libc::SYS_munmap),
    ("nanosleep", libc::SYS_nanosleep),
    ("newfstatat", libc::SYS_newfstatat),
    ("openat", libc::SYS_openat),
    ("ppoll", libc::SYS_ppoll),
    ("pread64", libc::SYS_pread64),
    ("pwrite64", libc::SYS_pwrite64),
    ("read", libc::SYS_read),
    ("readv", libc::SYS_readv),
    ("recvfrom", libc::SYS_recvfrom),
    ("recvmsg", libc::SYS_recvmsg),
    ("rt_sigaction", libc::SYS_rt_sigaction),
    ("rt_sigprocmask", libc::SYS_rt_sigprocmask),
    ("sched_yield", libc::SYS_sched_yield),
    ("sendmsg", libc::SYS_sendmsg),
    ("sendto", libc::SYS_sendto),
    ("socket", libc::SYS_socket),
    ("statx", libc::SYS_statx),
    ("unlinkat", libc::SYS_unlinkat),
    ("wait4", libc::SYS_wait4),
    ("write", libc::SYS_write),
    ("writev", libc::SYS_writev),
];

/// The id of the tracepoint that each system call passes at its beginning.
///
/// # Errors
/// [`Error::NoTracepoints`] with what is in the way and what fixes it, or what else the system answers.
pub fn call_tracepoint() -> Result<u64, Error> {
    let tracepoint = described(&["raw_syscalls/sys_enter"])?;
    let id = tracepoint.first().and_then(|tracepoint| tracepoint.id.trim().parse().ok());
    id.ok_or_else(|| Error::NoTracepoints {
        why: "the kernel's description of its tracepoints is not known".to_owned(),
        remedy: "use a knee that is made for this kernel".to_owned(),
    })
}

/// Counts the system calls of threads, and of all that they start from then on. Each call takes longer: each counter looks at it.
#[derive(Debug)]
pub struct CallCounters {
    /// Of each thread: of all calls, then of each in [`COUNTED_CALLS`].
    threads: Vec<Vec<Event>>,
}

impl CallCounters {
    /// Counts from now on, by the tracepoint of this id.
    ///
    /// # Errors
    /// What the kernel answers where these threads may not be counted, or where no descriptor is left: a thread takes one for
    /// each call.
    pub fn start(tracepoint: u64, tids: impl IntoIterator<Item = u32>) -> io::Result<Self> {
        let count = |tid: u32, number: Option<i64>| {
            let event = Event::tracepoint(tracepoint, tid, Wanted::CountDescent)?;
            if let Some(number) = number {
                // Digits hold no zero byte.
                let filter = CString::new(format!("id=={number}")).unwrap_or_default();
                event.filter(&filter)?;
            }
            event.enable()?;
            Ok(event)
        };
        let numbers = || std::iter::once(None).chain(COUNTED_CALLS.iter().map(|call| Some(call.1)));
        let of_thread = |tid| numbers().map(|number| count(tid, number)).collect();
        let threads = tids.into_iter().map(of_thread).collect::<io::Result<_>>()?;
        Ok(Self { threads })
    }

    /// All calls until now, then those of each in [`COUNTED_CALLS`].
    ///
    /// # Errors
    /// If a counter can't be read.
    pub fn counts(&self) -> io::Result<Vec<u64>> {
        let mut sums = vec![0; 1 + COUNTED_CALLS.len()];
        for events in &self.threads {
            for (sum, event) in sums.iter_mut().zip(events) {
                *sum += event.count()?;
            }
        }
        Ok(sums)
    }
}
