//! What a stack is in the kernel for.

use crate::Frame;

/// What the kernel's functions of a system call begin with; the rest is the call's name.
const CALL_PREFIXES: &[&str] = &[
    "__x64_sys_",
    "__ia32_sys_",
    "__arm64_sys_",
    "__riscv_sys_",
    "__do_sys_",
    "__se_sys_",
    "___sys_",
    "__sys_",
    "ksys_",
    "do_sys_",
];
/// What functions of these calls begin with, which the kernel jumps to as its last step, and many others too.
const WEAK_CALL_PREFIX: &str = "do_";
const WEAK_CALLS: &[&str] = &[
    "accept4",
    "epoll_ctl",
    "epoll_wait",
    "eventfd",
    "faccessat",
    "fchmodat",
    "fsync",
    "futex",
    "linkat",
    "madvise",
    "mkdirat",
    "mknodat",
    "msgrcv",
    "msgsnd",
    "pipe2",
    "readlinkat",
    "renameat2",
    "select",
    "semtimedop",
    "sendfile",
    "shmat",
    "signalfd4",
    "splice",
    "symlinkat",
    "tee",
    "timerfd_gettime",
    "timerfd_settime",
    "unlinkat",
];
/// What the functions begin with that a page fault enters the kernel by.
const FAULT_PREFIXES: &[&str] =
    &["asm_exc_page_fault", "exc_page_fault", "do_user_addr_fault", "el0_da", "el0_ia"];
/// And an interrupt.
const INTERRUPT_PREFIXES: &[&str] = &[
    "asm_sysvec_",
    "sysvec_",
    "asm_common_interrupt",
    "common_interrupt",
    "el0_irq",
    "el0t_64_irq",
];
/// What a sample's thread was in the kernel for.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Entry {
    /// It was not in the kernel.
    User,
    /// A system call: `poll`.
    Call(String),
    /// Memory that was not there, or not to be written to.
    PageFault,
    /// An interrupt: it has nothing to do with what it came into.
    Interrupt,
    /// Anything else, such as the first steps of a new thread.
    Kernel,
}

/// What a thread was in the kernel for whose frames these are, the outermost first.
pub fn entry_of<'a>(frames: impl Iterator<Item = &'a Frame>) -> Entry {
    let mut functions =
        frames.filter(|frame| frame.kind.is_kernel()).map(|frame| &*frame.function).peekable();
    if functions.peek().is_none() {
        return Entry::User;
    }
    functions.find_map(entered_by).unwrap_or(Entry::Kernel)
}

fn entered_by(function: &str) -> Option<Entry> {
    let begins = |prefixes: &[&str]| prefixes.iter().any(|prefix| function.starts_with(prefix));
    if begins(FAULT_PREFIXES) {
        return Some(Entry::PageFault);
    }
    if begins(INTERRUPT_PREFIXES) {
        return Some(Entry::Interrupt);
    }
    let weak = || function.strip_prefix(WEAK_CALL_PREFIX).filter(|name| WEAK_CALLS.contains(name));
    let name = CALL_PREFIXES.iter().find_map(|prefix| function.strip_prefix(prefix)).or_else(weak);
    name.map(|name| Entry::Call(name.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::FrameKind;

    fn entry(functions: &[(&str, FrameKind)]) -> Entry {
        let frame = |&(function, kind): &(&str, FrameKind)| Frame {
            function: function.into(),
            module: String::new(),
            kind,
        };
        let frames: Vec<Frame> = functions.iter().map(frame).collect();
        entry_of(frames.iter())
    }

    #[test]
    fn a_stack_is_under_the_call_that_entered_the_kernel() {
        use FrameKind::{Kernel, Process, User};
        let [program, main] = [("knee", Process), ("main", User)];
        let call = |name: &str| Entry::Call(name.to_owned());
        let [enter, switch] =
            [("entry_SYSCALL_64_after_hwframe", Kernel), ("do_syscall_64", Kernel)];
        assert_eq!(entry(&[program, main]), Entry::User);
        let poll = [program, main, enter, switch, ("do_sys_poll", Kernel), ("sock_poll", Kernel)];
        assert_eq!(entry(&poll), call("poll"));
        for (function, name) in [
            ("__x64_sys_exit_group", "exit_group"),
            ("ksys_read", "read"),
            ("do_sys_openat2", "openat2"),
            ("__sys_sendto", "sendto"),
            ("__x64_sys_newfstatat", "newfstatat"),
            ("do_epoll_wait", "epoll_wait"),
        ] {
            assert_eq!(entry(&[program, enter, switch, (function, Kernel)]), call(name));
        }
        let fault = [program, main, ("asm_exc_page_fault", Kernel), ("do_read_fault", Kernel)];
        assert_eq!(entry(&fault), Entry::PageFault);
        let timer = [program, main, ("asm_sysvec_apic_timer_interrupt", Kernel)];
        assert_eq!(entry(&timer), Entry::Interrupt);
        let unlike = [program, enter, switch, ("do_user_addr", Kernel)];
        assert_eq!(entry(&unlike), Entry::Kernel);
        assert_eq!(entry(&[program, ("ret_from_fork_asm", Kernel)]), Entry::Kernel);
        assert_eq!(entry(&[]), Entry::User);
    }
}
