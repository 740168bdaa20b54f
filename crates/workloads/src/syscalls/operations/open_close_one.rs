//! `open` and `close` of one file by all workers: they meet at its directory entry and its inode.

use super::{Operation, c_path, inode, open_and_close};

pub(crate) const OPERATION: Operation = Operation {
    name: "open-close-one",
    group: "Files",
    summary: "open and close of one file by all",
    contends: "the reference counts of the file's directory entry (d_lockref), and the descriptor table",
    shared_by_threads: "the descriptor table",
    prepare: |ground| {
        let file = ground.file("one")?;
        let (path, inode) = (c_path(&file)?, inode(&file)?);
        Ok(Box::new(move |seat| open_and_close(&path, inode, seat)))
    },
    ..Operation::PLAIN
};
