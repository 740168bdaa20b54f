//! A byte through a TCP connection of each worker's own over loopback: written, and read back by the same.

use super::{Operation, pass_byte, setting_up};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::os::fd::AsFd;

pub(crate) const OPERATION: Operation = Operation {
    name: "tcp-ping",
    group: "Passing a byte",
    summary: "write of a byte to an own TCP connection over loopback, and read of it",
    contends: "the queues of the loopback device, one for each CPU",
    over_loopback: true,
    prepare: |_| {
        Ok(Box::new(|seat| {
            let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).map_err(setting_up)?;
            let to = listener.local_addr().map_err(setting_up)?;
            let writer = TcpStream::connect(to).map_err(setting_up)?;
            let (reader, _) = listener.accept().map_err(setting_up)?;
            // Else the next byte waits for the acknowledgement of the last.
            writer.set_nodelay(true).map_err(setting_up)?;
            let mut byte = 0_u8;
            seat.repeat(|check| pass_byte(writer.as_fd(), reader.as_fd(), &mut byte, check))
        }))
    },
    ..Operation::PLAIN
};
