//! `eventfd`: each worker adds a number, another each time, to its own, and reads it.

use super::{Operation, setting_up};
use rustix::event::{EventfdFlags, eventfd};
use std::os::fd::AsFd;
use sys::plain::{read, write};

pub(crate) const OPERATION: Operation = Operation {
    name: "eventfd",
    group: "Passing a byte",
    summary: "write to an own eventfd, and read of it",
    prepare: |_| {
        Ok(Box::new(|seat| {
            let counter =
                eventfd(0, EventfdFlags::CLOEXEC).map_err(|error| setting_up(error.into()))?;
            let (mut added, mut taken) = (0_u64, [0; 8]);
            seat.repeat(|check| {
                added = added % 1_000 + 1;
                let written = write(counter.as_fd(), &added.to_ne_bytes())?;
                let bytes = read(counter.as_fd(), &mut taken)?;
                check.that(
                    (written, bytes, u64::from_ne_bytes(taken)) == (8, 8, added),
                    "the eventfd lost its count",
                )
            })
        }))
    },
    ..Operation::PLAIN
};
