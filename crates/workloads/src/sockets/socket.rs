//! How does opening a socket grow with the sockets that are open?
//!
//! Felix von Leitner's socket benchmark (2003). One operation is the n-th call of `socket`, timed on
//! its own, while the n - 1 before it stay open: the kernel makes a socket, and finds the lowest
//! descriptor that is free.

use crate::shared::shortage;
use crate::sockets::tcp::{self, Family};
use engine::{
    About, Cell, Failure, Fit, MetricInfo, Parameter, Probe, Subject, Workload, WorkloadInfo,
    strings,
};
use std::sync::LazyLock;

/// The row of the table.
pub(crate) const WORKLOAD: Socket = Socket;

pub(crate) struct Socket;

const SOCKETS: Parameter = tcp::axis("sockets", "sockets that are opened", "open sockets");

static ABOUT: LazyLock<About> = LazyLock::new(|| About {
    info: WorkloadInfo {
        name: "socket".into(),
        question: "How does opening a socket grow with the sockets that are open?".into(),
        operation: "the n-th call of socket, while those before it stay open".into(),
        not_measured: strings([
            "binding, connecting or closing it",
            "a process whose free descriptors lie scattered, or whose threads share them",
        ]),
        metrics: vec![MetricInfo::time("socket", "call of socket")],
        ..About::trajectory().info
    },
    parameters: vec![SOCKETS],
    ..About::trajectory()
});

impl Workload for Socket {
    fn about(&self) -> &About {
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
