//! `open` and `close` of a file of each worker's own, in a directory of its own.

use super::{Operation, c_path, file_in, setting_up};
use std::os::fd::AsRawFd;
use sys::plain::{close, open};

pub(crate) const OPERATION: Operation = Operation {
    name: "open-close-separate",
    group: "Files",
    summary: "open and close of an own file in an own directory",
    contends: "the descriptor table, and the directories above",
    shared_by_threads: "the descriptor table",
    prepare: |ground| {
        let directory = ground.directory.clone();
        Ok(Box::new(move |seat| {
            let own = directory.join(seat.me.to_string());
            std::fs::create_dir(&own).map_err(setting_up)?;
            let path = c_path(&file_in(&own, "file")?)?;
            seat.repeat(|check| {
                let file = open(&path)?;
                check.that(file.as_raw_fd() > 2, "open gave a standard descriptor")?;
                close(file)
            })
        }))
    },
};
