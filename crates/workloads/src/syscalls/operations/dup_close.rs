//! `dup` and `close` of a descriptor of each worker's own file: they meet in the table of descriptors.

use super::{Operation, setting_up};
use std::fs::File;
use std::os::fd::{AsFd, AsRawFd};
use sys::plain::{close, dup};

pub(crate) const OPERATION: Operation = Operation {
    name: "dup-close",
    group: "Descriptors",
    summary: "dup and close of an own file's descriptor",
    contends: "the lock of the descriptor table (files->file_lock)",
    shared_by_threads: "the descriptor table",
    prepare: |ground| {
        let directory = ground.directory.clone();
        Ok(Box::new(move |seat| {
            let file = File::create(directory.join(seat.me.to_string())).map_err(setting_up)?;
            seat.repeat(|check| {
                let copy = dup(file.as_fd())?;
                check.that(copy.as_raw_fd() != file.as_raw_fd(), "dup gave the same descriptor")?;
                close(copy)
            })
        }))
    },
};
