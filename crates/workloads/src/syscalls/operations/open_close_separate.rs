//! `open` and `close` of a file of each worker's own, in a directory of its own.

use super::{Operation, c_path, file_in, inode, open_and_close, setting_up};

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
            let file = file_in(&own, "file")?;
            open_and_close(&c_path(&file)?, inode(&file)?, seat)
        }))
    },
    ..Operation::PLAIN
};
