//! `connect` and `accept`: each worker accepts from a listener of its own on one port (`SO_REUSEPORT`).

use super::{Operation, bound, connect_and_accept, listener, port};

pub(crate) const OPERATION: Operation = Operation {
    name: "accept-reuseport",
    group: "Connections",
    summary: "connect over loopback, accept from an own listener on one port, and close of both ends",
    contends: "the table of ports",
    over_loopback: true,
    shared_by_threads: "the descriptor table",
    prepare: |_| {
        // Bound, but not listening: it keeps the port, and gets no connections.
        let keeper = bound(0)?;
        Ok(Box::new(move |seat| connect_and_accept(&listener(port(&keeper)?)?, seat)))
    },
    ..Operation::PLAIN
};
