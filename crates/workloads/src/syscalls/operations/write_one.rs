//! `pwrite` of one page of one file by all workers: one at a time may write to a file.

use super::{Operation, PAGE, open_file};
use std::os::fd::AsFd;
use sys::plain::pwrite;

pub(crate) const OPERATION: Operation = Operation {
    name: "write-one",
    group: "Files",
    summary: "pwrite of one file of a page, opened by each",
    contends: "the lock of the file (i_rwsem)",
    prepare: |ground| {
        let path = ground.page("one")?;
        Ok(Box::new(move |seat| {
            let (file, page) = (open_file(&path)?, [0; PAGE]);
            seat.repeat(|check| {
                let written = pwrite(file.as_fd(), &page, 0)?;
                check.that(written == PAGE, "pwrite took a part of the page")
            })
        }))
    },
    ..Operation::PLAIN
};
