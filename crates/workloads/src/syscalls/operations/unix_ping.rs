//! A byte through a pair of unix sockets of each worker's own: written, and read back by the same.

use super::{Operation, pass_byte, setting_up};
use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;

pub(crate) const OPERATION: Operation = Operation {
    name: "unix-ping",
    group: "Passing a byte",
    summary: "write of a byte to an own unix socket, and read of it at the other end",
    contends: "the allocation of buffers",
    prepare: |_| {
        Ok(Box::new(|seat| {
            let (writer, reader) = UnixStream::pair().map_err(setting_up)?;
            let mut byte = 0_u8;
            seat.repeat(|check| pass_byte(writer.as_fd(), reader.as_fd(), &mut byte, check))
        }))
    },
    ..Operation::PLAIN
};
