//! `connect` and `accept`: all workers accept from one listener.

use super::{Operation, connect_and_accept, listener};

pub(crate) const OPERATION: Operation = Operation {
    name: "accept-one",
    group: "Connections",
    summary: "connect over loopback, accept from one listener of all, and close of both ends",
    contends: "the queue of the listener, and the table of ports",
    over_loopback: true,
    shared_by_threads: "the descriptor table",
    prepare: |_| {
        let common = listener(0)?;
        Ok(Box::new(move |seat| connect_and_accept(&common, seat)))
    },
    ..Operation::PLAIN
};
