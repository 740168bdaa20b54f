//! The names of system calls that a thread may be found waiting in.

macro_rules! names {
    ($($(#[$where:meta])* $call:ident $name:ident)*) => {
        /// What the system call of this number is called, for those in which threads wait. Numbers
        /// differ between architectures: this is for processes of our own.
        pub fn name(number: i64) -> Option<&'static str> {
            $(
                $(#[$where])*
                if number == i64::from(libc::$call) {
                    return Some(stringify!($name));
                }
            )*
            None
        }
    };
}

names! {
    SYS_read read
    SYS_write write
    SYS_readv readv
    SYS_writev writev
    SYS_pread64 pread64
    SYS_pwrite64 pwrite64
    SYS_close close
    SYS_openat openat
    SYS_ioctl ioctl
    SYS_fcntl fcntl
    SYS_flock flock
    SYS_fsync fsync
    SYS_fdatasync fdatasync
    SYS_sync sync
    SYS_fallocate fallocate
    SYS_ftruncate ftruncate
    SYS_copy_file_range copy_file_range
    SYS_sendfile sendfile
    SYS_splice splice
    SYS_getdents64 getdents64
    SYS_statx statx
    SYS_unlinkat unlinkat
    SYS_mmap mmap
    SYS_munmap munmap
    SYS_mprotect mprotect
    SYS_madvise madvise
    SYS_msync msync
    SYS_clone clone
    SYS_clone3 clone3
    SYS_execve execve
    SYS_wait4 wait4
    SYS_waitid waitid
    SYS_exit exit
    SYS_exit_group exit_group
    SYS_futex futex
    SYS_futex_waitv futex_waitv
    SYS_nanosleep nanosleep
    SYS_clock_nanosleep clock_nanosleep
    SYS_restart_syscall restart_syscall
    SYS_sched_yield sched_yield
    SYS_rt_sigsuspend rt_sigsuspend
    SYS_rt_sigtimedwait rt_sigtimedwait
    SYS_ppoll ppoll
    SYS_pselect6 pselect6
    SYS_epoll_pwait epoll_pwait
    SYS_epoll_pwait2 epoll_pwait2
    SYS_io_getevents io_getevents
    SYS_io_uring_enter io_uring_enter
    SYS_accept accept
    SYS_accept4 accept4
    SYS_connect connect
    SYS_sendto sendto
    SYS_sendmsg sendmsg
    SYS_recvfrom recvfrom
    SYS_recvmsg recvmsg
    SYS_msgrcv msgrcv
    SYS_semtimedop semtimedop
    #[cfg(target_arch = "x86_64")]
    SYS_newfstatat newfstatat
    #[cfg(target_arch = "x86_64")]
    SYS_open open
    #[cfg(target_arch = "x86_64")]
    SYS_poll poll
    #[cfg(target_arch = "x86_64")]
    SYS_select select
    #[cfg(target_arch = "x86_64")]
    SYS_epoll_wait epoll_wait
    #[cfg(target_arch = "x86_64")]
    SYS_pause pause
    #[cfg(target_arch = "x86_64")]
    SYS_fork fork
    #[cfg(target_arch = "x86_64")]
    SYS_vfork vfork
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_are_named_by_number() {
        assert_eq!(name(libc::SYS_futex), Some("futex"));
        assert_eq!(name(libc::SYS_wait4), Some("wait4"));
        assert_eq!(name(-1), None);
        assert_eq!(name(100_000), None);
    }
}
