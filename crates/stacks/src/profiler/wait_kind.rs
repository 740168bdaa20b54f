//! What a wait is for, by the functions that its thread and its waker are in.

use model::{Entry, Frame, WaitKind, entry_of};

/// Functions of the kernel that wait for another's lock in it.
const KERNEL_LOCKS: &[&str] = &["rwsem_down_", "__mutex_lock", "__rt_mutex_", "percpu_rwsem_wait"];
/// Those that wait for storage.
const STORAGE: &[&str] = &["io_schedule", "jbd2_", "wait_on_buffer", "__wait_on_buffer"];
const PIPES: &[&str] = &["pipe_", "anon_pipe_", "fifo_"];
const SOCKETS: &[&str] =
    &["sock_", "__sock_", "unix_", "tcp_", "inet_", "inet6_", "udp_", "sk_", "__skb_"];
/// Those that a thread or a process ends in.
const ENDS: &[&str] = &["do_exit", "exit_mm_release", "mm_release", "do_group_exit"];
/// Functions of programs that wait for the end of a thread.
const JOINS: &[&str] = &["pthread_join", "pthread_clockjoin", "pthread_timedjoin", "thrd_join"];
/// Locks of programs that are made of a notification: that of Python's interpreter.
const LOCKS_BY_NOTIFICATION: &[&str] = &["take_gil"];
/// Those that sleep until there is something to do: Go's scheduler, which also looks around in between.
const POLLS: &[&str] = &["runtime.usleep"];
/// Functions of programs, or parts of their names, that wait for a notification by means of a lock.
const NOTIFICATIONS: &[&str] = &[
    "pthread_cond_",
    "pthread_barrier_",
    "sem_wait",
    "sem_timedwait",
    "sem_clockwait",
    "cnd_wait",
    "cnd_timedwait",
    "condvar",
    "condition_variable",
    "barrier",
    "std::latch",
    "_m_futex_wait",
    "atomic_futex",
    "thread::park",
    "runtime.notesleep",
    "runtime.notetsleep",
    "runtime.stopm",
];

/// What a system call waits for, by its name.
pub(super) fn of_call(call: &str) -> Option<WaitKind> {
    Some(match call {
        "futex" | "futex_wait" | "futex_waitv" => WaitKind::Lock,
        // By vfork, a parent waits until its child runs another program or ends.
        "wait4" | "waitid" | "waitpid" | "vfork" | "clone" | "clone3" => WaitKind::End,
        "nanosleep" | "clock_nanosleep" => WaitKind::Sleep,
        "poll" | "ppoll" | "select" | "pselect6" | "accept" | "accept4" | "epoll_wait"
        | "epoll_pwait" | "epoll_pwait2" | "io_uring_enter" | "io_getevents" => WaitKind::Readiness,
        "pause" | "rt_sigsuspend" | "rt_sigtimedwait" => WaitKind::Notification,
        "fsync" | "fdatasync" | "sync" | "syncfs" | "sync_file_range" | "msync" => WaitKind::File,
        _ => return None,
    })
}

/// What a thread waits for whose frames these are, with those of its waker.
pub(super) fn wait_kind(waiter: &[&Frame], waker: &[&Frame]) -> WaitKind {
    let kernel = |frames: &[&Frame], prefixes: &[&str]| {
        let functions = frames.iter().filter(|frame| frame.kind.is_kernel());
        let mut names = functions.map(|frame| &frame.function);
        names.any(|name| prefixes.iter().any(|prefix| name.starts_with(prefix)))
    };
    if kernel(waiter, KERNEL_LOCKS) {
        return WaitKind::Lock;
    }
    let kind = match entry_of(waiter.iter().copied()) {
        Entry::PageFault => return WaitKind::PageFault,
        Entry::Call(call) => of_call(&call),
        _ => None,
    };
    match kind {
        Some(_) if kernel(waker, ENDS) => WaitKind::End,
        Some(kind) => of_program(kind, waiter),
        None if kernel(waiter, STORAGE) => WaitKind::File,
        None if kernel(waiter, PIPES) => WaitKind::Pipe,
        None if kernel(waiter, SOCKETS) => WaitKind::Socket,
        None => WaitKind::Other,
    }
}

/// What a wait of this kind is in these functions of a program.
pub(super) fn of_program(kind: WaitKind, waiter: &[&Frame]) -> WaitKind {
    let is_in = |parts: &[&str]| {
        let functions = waiter.iter().filter(|frame| !frame.kind.is_kernel());
        let mut names = functions.map(|frame| frame.function.to_lowercase());
        names.any(|name| parts.iter().any(|part| name.contains(part)))
    };
    match kind {
        WaitKind::Lock if is_in(LOCKS_BY_NOTIFICATION) => WaitKind::Lock,
        WaitKind::Lock if is_in(JOINS) => WaitKind::End,
        WaitKind::Lock if is_in(NOTIFICATIONS) => WaitKind::Notification,
        WaitKind::Sleep if is_in(POLLS) => WaitKind::Notification,
        kind => kind,
    }
}

/// Whether a thread was interrupted there: it did not do what the kernel did meanwhile.
pub(super) fn is_interrupt(frames: &[&Frame]) -> bool {
    frames.iter().any(|frame| entry_of(std::iter::once(*frame)) == Entry::Interrupt)
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::FrameKind::{self, Kernel, User};

    fn kind(waiter: &[(&str, FrameKind)], waker: &[(&str, FrameKind)]) -> WaitKind {
        let frames = |names: &[(&str, FrameKind)]| -> Vec<Frame> {
            let frame = |&(function, kind): &(&str, FrameKind)| Frame {
                function: function.into(),
                module: String::new(),
                kind,
            };
            names.iter().map(frame).collect()
        };
        let (waiter, waker) = (frames(waiter), frames(waker));
        wait_kind(&waiter.iter().collect::<Vec<_>>(), &waker.iter().collect::<Vec<_>>())
    }

    #[test]
    fn a_wait_is_of_its_system_call_or_of_what_the_kernel_does_in_it() {
        let futex = [("__x64_sys_futex", Kernel), ("futex_do_wait", Kernel)];
        let user = |name| [&[(name, User)], &futex[..]].concat();
        assert_eq!(kind(&user("pthread_mutex_lock"), &[]), WaitKind::Lock);
        assert_eq!(kind(&user("pthread_cond_wait"), &[]), WaitKind::Notification);
        let nap = [("__x64_sys_nanosleep", Kernel)];
        assert_eq!(kind(&[&[("main.nap", User)], &nap[..]].concat(), &[]), WaitKind::Sleep);
        let spare = [&[("runtime.usleep.abi0", User)], &nap[..]].concat();
        assert_eq!(kind(&spare, &[]), WaitKind::Notification);
        assert_eq!(kind(&spare, &[("do_group_exit", Kernel)]), WaitKind::End);
        let gil = [&[("take_gil", User)], &user("pthread_cond_timedwait")[..]].concat();
        assert_eq!(kind(&gil, &[]), WaitKind::Lock);
        let rust = "std::sys::sync::condvar::futex::Condvar::wait_optional_timeout";
        assert_eq!(kind(&user(rust), &[]), WaitKind::Notification);
        assert_eq!(kind(&user("rw_latch_acquire"), &[]), WaitKind::Lock, "so databases call locks");
        let future = "std::__atomic_futex_unsigned_base::_M_futex_wait_until";
        assert_eq!(kind(&user(future), &[]), WaitKind::Notification);
        let exit = [("__x64_sys_exit", Kernel), ("do_exit", Kernel), ("futex_wake", Kernel)];
        assert_eq!(kind(&user("pthread_join"), &exit), WaitKind::End);
        for (functions, wanted) in [
            (["ksys_read", "anon_pipe_read"], WaitKind::Pipe),
            (["ksys_read", "sock_read_iter"], WaitKind::Socket),
            (["__x64_sys_pread64", "io_schedule"], WaitKind::File),
            (["__x64_sys_fsync", "ext4_sync_file"], WaitKind::File),
            (["ksys_read", "n_tty_read"], WaitKind::Other),
            (["asm_exc_page_fault", "io_schedule"], WaitKind::PageFault),
            (["asm_exc_page_fault", "rwsem_down_read_slowpath"], WaitKind::Lock),
            (["__x64_sys_wait4", "do_wait"], WaitKind::End),
            (["__do_sys_clone3", "wait_for_completion_state"], WaitKind::End),
            (["__x64_sys_clock_nanosleep", "do_nanosleep"], WaitKind::Sleep),
            (["__x64_sys_epoll_wait", "ep_poll"], WaitKind::Readiness),
            (["__sys_accept4", "inet_csk_accept"], WaitKind::Readiness),
            (["kthread", "kcompactd"], WaitKind::Other),
        ] {
            assert_eq!(kind(&functions.map(|name| (name, Kernel)), &[]), wanted, "{functions:?}");
        }
    }
}
