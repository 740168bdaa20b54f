//! `read` of one file by all workers, each with an open file, and so a position, of its own.

use super::{Operation, PAGE, open_file};
use std::os::fd::AsFd;
use sys::plain::{read, seek};

pub(crate) const OPERATION: Operation = Operation {
    name: "read-one",
    group: "Files",
    summary: "read of the next page of one file, opened by each",
    contends: "the reference counts of the pages",
    prepare: |ground| {
        let path = ground.file("one")?;
        Ok(Box::new(move |seat| {
            let (file, mut page) = (open_file(&path)?, [1; PAGE]);
            seat.repeat_counted(|check| {
                page[0] = 1;
                let taken = read(file.as_fd(), &mut page)?;
                // At its end it begins anew.
                if taken == 0 {
                    return seek(file.as_fd(), 0).map(|_| 0);
                }
                check.that(taken == PAGE && page[0] == 0, "read gave another page")?;
                Ok(1)
            })
        }))
    },
    ..Operation::PLAIN
};
