//! `open` and `close` of one file by all workers: they meet at its directory entry and its inode.

use super::{Operation, c_path};
use std::os::fd::AsRawFd;
use sys::plain::{close, open};

pub(crate) const OPERATION: Operation = Operation {
    name: "open-close-one",
    group: "Files",
    summary: "open and close of one file by all",
    contends: "the reference counts of the file's directory entry (d_lockref), and the descriptor table",
    shared_by_threads: "the descriptor table",
    prepare: |ground| {
        let path = c_path(&ground.file("one")?)?;
        Ok(Box::new(move |seat| {
            seat.repeat(|check| {
                let file = open(&path)?;
                check.that(file.as_raw_fd() > 2, "open gave a standard descriptor")?;
                close(file)
            })
        }))
    },
};
