//! `mmap` and `munmap` of memory that is not touched: threads change one list of maps.

use super::Operation;
use sys::map::{Behind, Map};

/// So much is mapped at once.
const BYTES: usize = 128 << 20;

pub(crate) const OPERATION: Operation = Operation {
    name: "mmap-munmap",
    group: "Memory",
    summary: "mmap and munmap of 128 MiB that are not touched",
    contends: "the lock of the address space (mmap_lock)",
    shared_by_threads: "the address space",
    prepare: |_| {
        Ok(Box::new(|seat| {
            seat.repeat(|check| {
                let map = Map::new(Behind::Memory, BYTES)?;
                check.that(map.unmap().is_ok(), "munmap was refused")
            })
        }))
    },
    ..Operation::PLAIN
};
