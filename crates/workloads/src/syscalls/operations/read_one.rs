//! `read` of one open file by all workers: they take turns at its position.

use super::{Operation, PAGE};
use std::os::fd::AsFd;
use sys::plain::{read, seek};

pub(crate) const OPERATION: Operation = Operation {
    name: "read-one",
    group: "Files",
    summary: "read of a page of one open file, at its common position",
    contends: "the lock of the position (f_pos_lock)",
    shared_by_threads: "",
    prepare: |ground| {
        let file = ground.opened("one")?;
        Ok(Box::new(move |seat| {
            let mut page = [1; PAGE];
            seat.repeat_counted(|check| {
                page[0] = 1;
                let taken = read(file.as_fd(), &mut page)?;
                // At the end of the file all begin anew.
                if taken == 0 {
                    return seek(file.as_fd(), 0).map(|_| 0);
                }
                check.that(taken == PAGE && page[0] == 0, "read gave another page")?;
                Ok(1)
            })
        }))
    },
};
