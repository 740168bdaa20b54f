//! `pread` of one page of one file by all workers, each with an open file of its own: they meet at the page.

use super::{Operation, PAGE, open_file};
use std::os::fd::AsFd;
use sys::plain::pread;

pub(crate) const OPERATION: Operation = Operation {
    name: "pread-one",
    group: "Files",
    summary: "pread of the first page of one file, opened by each",
    contends: "the reference count of the page",
    prepare: |ground| {
        let path = ground.file("one")?;
        Ok(Box::new(move |seat| {
            let (file, mut page) = (open_file(&path)?, [1; PAGE]);
            seat.repeat(|check| {
                page[0] = 1;
                let taken = pread(file.as_fd(), &mut page, 0)?;
                check.that(taken == PAGE && page[0] == 0, "pread gave another page")
            })
        }))
    },
    ..Operation::PLAIN
};
