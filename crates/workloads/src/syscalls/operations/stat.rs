//! `stat` of one path by all workers: they meet at the directory entries on the way.

use super::{Operation, PAGE, PAGES, c_path};
use sys::plain::stat_size;

pub(crate) const OPERATION: Operation = Operation {
    name: "stat",
    group: "Files",
    summary: "stat of one path by all",
    contends: "the reference count of the file's directory entry (d_lockref)",
    prepare: |ground| {
        let path = c_path(&ground.file("one")?)?;
        Ok(Box::new(move |seat| {
            let bytes = (PAGE * PAGES) as u64;
            seat.repeat(|check| check.that(stat_size(&path)? == bytes, "stat gave another size"))
        }))
    },
    ..Operation::PLAIN
};
