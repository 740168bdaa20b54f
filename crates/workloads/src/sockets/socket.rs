//! How does opening a socket grow with the sockets that are open?
//!
//! Felix von Leitner's socket benchmark (2003). One operation is the n-th call of `socket`, timed on
//! its own, while the n - 1 before it stay open: the kernel makes a socket, and finds the lowest
//! descriptor that is free.

use crate::shared::shortage;
use crate::sockets::tcp::{self, Family};
use engine::{About, Cell, Failure, Fit, MetricAbout, Parameter, Probe, Subject, Workload};

/// The row of the table.
pub(crate) const WORKLOAD: Socket = Socket;

pub(crate) struct Socket;

const SOCKETS: Parameter = tcp::axis("sockets", "sockets that are opened", "open sockets");

static ABOUT: About = About {
    name: "socket",
    question: "How does opening a socket grow with the sockets that are open?",
    operation: "the n-th call of socket, while those before it stay open",
    not_measured: &[
        "binding, connecting or closing it",
        "a process whose free descriptors lie scattered, or whose threads share them",
    ],
    parameters: &[SOCKETS],
    axis: SOCKETS.name,
    metrics: &[MetricAbout::time("socket", "call of socket")],
    ..About::TRAJECTORY
};

impl Workload for Socket {
    fn about(&self) -> &'static About {
        &ABOUT
    }

    fn subjects(&self) -> Vec<Subject> {
        tcp::subjects()
    }

    fn fit(&self, cell: &Cell) -> Fit {
        shortage::descriptors(cell, SOCKETS.name)
    }

    fn measure(&self, cell: &Cell, probe: &mut Probe) -> Result<(), Failure> {
        let (family, count) = (Family::from_cell(cell)?, cell.number(SOCKETS.name)?);
        let mut open = Vec::with_capacity(count as usize);
        probe.trajectory("socket", count, |_| {
            let socket = family.socket();
            open.push(socket.map_err(shortage::during("socket"))?);
            Ok(())
        })
    }
}
