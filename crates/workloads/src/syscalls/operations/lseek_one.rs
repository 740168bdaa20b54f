//! `lseek` of one open file by all workers: threads and processes take turns at its position.

use super::{Operation, open_file};
use std::os::fd::AsFd;
use sys::plain::seek;

pub(crate) const OPERATION: Operation = Operation {
    name: "lseek-one",
    group: "Files",
    summary: "lseek of one open file, whose position all share",
    contends: "the lock of the position (f_pos_lock)",
    prepare: |ground| {
        let file = open_file(&ground.file("one")?)?;
        Ok(Box::new(move |seat| {
            let offset = (seat.me as u64).cast_signed();
            seat.repeat(|check| {
                let position = seek(file.as_fd(), offset)?;
                check.that(position == offset, "lseek went elsewhere")
            })
        }))
    },
    ..Operation::PLAIN
};
