//! `fork`, `_exit` and `wait4`: threads copy one address space, which keeps all others from changing it; and in a process with
//! threads glibc's `fork` also holds the locks of its streams and arenas meanwhile.

use super::Operation;
use sys::fork::fork_exit;

pub(crate) const OPERATION: Operation = Operation {
    name: "fork-exit",
    group: "Processes",
    summary: "fork of a child that ends at once, and wait for it",
    contends: "the lock of the address space (mmap_lock), the C library's locks, the list of processes and the numbers of processes",
    of_c_library: true,
    prepare: |_| {
        Ok(Box::new(|seat| {
            seat.repeat(|check| check.that(fork_exit().is_ok(), "a child did not end well"))
        }))
    },
    ..Operation::PLAIN
};
