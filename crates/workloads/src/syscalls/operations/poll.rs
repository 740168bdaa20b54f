//! `poll` of a descriptor of each worker's own that is always ready.

use super::{Operation, setting_up};
use std::fs::File;
use std::os::fd::AsFd;
use sys::plain::is_writable;

pub(crate) const OPERATION: Operation = Operation {
    name: "poll",
    group: "Waiting",
    summary: "poll of an own file, which is always ready",
    prepare: |ground| {
        let directory = ground.directory.clone();
        Ok(Box::new(move |seat| {
            let file = File::create(directory.join(seat.me.to_string())).map_err(setting_up)?;
            seat.repeat(|check| check.that(is_writable(file.as_fd())?, "the file was not ready"))
        }))
    },
    ..Operation::PLAIN
};
