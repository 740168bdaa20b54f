//! A byte through a pipe of each worker's own: written, and read back by the same.

use super::{Operation, pass_byte, setting_up};
use std::os::fd::AsFd;

pub(crate) const OPERATION: Operation = Operation {
    name: "pipe-ping",
    group: "Passing a byte",
    summary: "write of a byte to an own pipe, and read of it",
    contends: "the clock of each inode's times, and nothing else in common",
    prepare: |_| {
        Ok(Box::new(|seat| {
            let (reader, writer) = std::io::pipe().map_err(setting_up)?;
            let mut byte = 0_u8;
            seat.repeat(|check| pass_byte(writer.as_fd(), reader.as_fd(), &mut byte, check))
        }))
    },
    ..Operation::PLAIN
};
