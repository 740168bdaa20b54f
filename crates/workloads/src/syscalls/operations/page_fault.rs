//! The first write to a page of memory: threads read one list of maps, and all take pages from the kernel.

use super::{Operation, PAGE};
use std::io;
use sys::map::{Behind, Map};

/// So much is mapped and touched before it is given back.
const BYTES: usize = 16 << 20;

pub(crate) const OPERATION: Operation = Operation {
    name: "page-fault",
    group: "Memory",
    summary: "the first write to a page of a map of 16 MiB",
    contends: "the lock of the map (mmap_lock where it is not of its own), and the list of free pages",
    shared_by_threads: "the address space",
    prepare: |_| {
        Ok(Box::new(|seat| {
            let mut current: Option<Map> = None;
            let mut next = BYTES;
            seat.repeat(|check| {
                if next >= BYTES {
                    next = 0;
                    current.take().map_or(Ok(()), Map::unmap)?;
                    let map = Map::new(Behind::Memory, BYTES)?;
                    map.on_plain_pages();
                    current = Some(map);
                }
                let map = current.as_mut().ok_or_else(|| io::Error::other("there is no map"))?;
                let was_new = map.write_first(next)?;
                next += PAGE;
                check.that(was_new, "the page was not new")
            })
        }))
    },
    ..Operation::PLAIN
};
