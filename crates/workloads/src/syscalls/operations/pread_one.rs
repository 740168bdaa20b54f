//! `pread` of one open file by all workers, each at a place of its own: there is no position to share.

use super::{Operation, PAGE, PAGES};
use std::os::fd::AsFd;
use sys::plain::pread;

pub(crate) const OPERATION: Operation = Operation {
    name: "pread-one",
    group: "Files",
    summary: "pread of an own page of one open file",
    contends: "the file's reference count, which threads change at each call (f_count)",
    shared_by_threads: "the descriptor table",
    prepare: |ground| {
        let file = ground.opened("one")?;
        Ok(Box::new(move |seat| {
            let mut page = [1; PAGE];
            let offset = (PAGE * (seat.me % PAGES)) as i64;
            seat.repeat(|check| {
                page[0] = 1;
                let taken = pread(file.as_fd(), &mut page, offset)?;
                check.that(taken == PAGE && page[0] == 0, "pread gave another page")
            })
        }))
    },
};
