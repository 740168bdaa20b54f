//! `malloc` and `free` of the C library: no system call, but what lies above some. glibc keeps a freed block of this size for the
//! thread that freed it, so threads meet nowhere.

use super::Operation;
use sys::heap::malloc_free;

/// So much is taken at once.
const BYTES: usize = 1_024;

pub(crate) const OPERATION: Operation = Operation {
    name: "malloc",
    group: "Memory",
    summary: "malloc and free of 1 KiB in the C library",
    of_c_library: true,
    prepare: |_| {
        Ok(Box::new(|seat| {
            // No other worker's.
            let mark = seat.me as u8;
            seat.repeat(|check| check.that(malloc_free(BYTES, mark)?, "memory lost a byte"))
        }))
    },
    ..Operation::PLAIN
};
