//! `mmap`, a first write and `munmap` of a page: threads change one list of maps, and tell the other CPUs.

use super::{Operation, PAGE};
use sys::map::{Behind, Map};

pub(crate) const OPERATION: Operation = Operation {
    name: "mmap-touch-munmap",
    group: "Memory",
    summary: "mmap, first write and munmap of a page",
    contends: "the lock of the address space (mmap_lock), and the other CPUs' TLBs",
    shared_by_threads: "the address space",
    prepare: |_| {
        Ok(Box::new(|seat| {
            seat.repeat(|check| {
                let mut map = Map::new(Behind::Memory, PAGE)?;
                check.that(map.write_first(0)?, "the page was not new")?;
                map.unmap()
            })
        }))
    },
    ..Operation::PLAIN
};
