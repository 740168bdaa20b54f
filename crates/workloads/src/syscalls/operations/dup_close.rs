//! `dup` and `close` of a descriptor of each worker's own file: they meet in the table of descriptors.

use super::{Operation, check_and_close, inode, setting_up};
use std::fs::File;
use std::os::fd::AsFd;
use sys::plain::dup;

pub(crate) const OPERATION: Operation = Operation {
    name: "dup-close",
    group: "Descriptors",
    summary: "dup and close of an own file's descriptor",
    contends: "the lock of the descriptor table (files->file_lock)",
    shared_by_threads: "the descriptor table",
    prepare: |ground| {
        let directory = ground.directory.clone();
        Ok(Box::new(move |seat| {
            let path = directory.join(seat.me.to_string());
            let file = File::create(&path).map_err(setting_up)?;
            let (inode, mut turn) = (inode(&path)?, 0);
            seat.repeat(|check| check_and_close(dup(file.as_fd())?, inode, &mut turn, check))
        }))
    },
    ..Operation::PLAIN
};
