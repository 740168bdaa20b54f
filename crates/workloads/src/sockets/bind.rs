//! How does finding a free port grow with the ports that are taken?
//!
//! Felix von Leitner's bind benchmark (2003). One operation is the n-th call of `bind` to port 0, each
//! on a socket of its own that was opened before: the kernel chooses a port of
//! `net.ipv4.ip_local_port_range` that is free.

use crate::shared::shortage;
use crate::sockets::tcp::{self, Family};
use engine::{
    About, Cell, Failure, Fit, MetricInfo, Original, Parameter, Print, Probe, Subject, Workload,
    WorkloadInfo, strings,
};
use std::os::fd::{AsFd, OwnedFd};
use std::sync::LazyLock;

/// The row of the table.
pub(crate) const WORKLOAD: Bind = Bind;

pub(crate) struct Bind;

const SOCKETS: Parameter = tcp::axis("sockets", "sockets that are opened", "bound sockets");

static ABOUT: LazyLock<About> = LazyLock::new(|| About {
    info: WorkloadInfo {
        name: "bind".into(),
        question: "How does finding a free port grow with the ports that are taken?".into(),
        operation: "the n-th bind to port 0, while those before it keep their ports".into(),
        not_measured: strings([
            "binding to a port that the program names, or SO_REUSEADDR and SO_REUSEPORT",
            "the port that connect chooses",
        ]),
        metrics: vec![MetricInfo::time("bind", "bind to port 0")],
        ..About::trajectory().info
    },
    parameters: vec![SOCKETS],
    originals: &[Original {
        name: "bindbench",
        original: "Felix von Leitner's bindbench (gatling, 2003), five times: bindbench [-6] -c 10000",
        subjects: &["ipv4", "ipv6"],
        points: &["10k"],
        parameters: &[],
        rounds: Some(5),
        print: Print::Calls(&[("socket", "socket"), ("bind", "bind")]),
        also: &[],
        hides: &[
            "after the fiftieth line the original closes a low descriptor and opens it again at each \
             step, untimed: its next socket looks for a free number from there on, ours from the last",
            "in the original socket and bind take turns, so that its socket finds bound ports, and the \
             caches as bind left them; here each is measured by itself, bind on sockets that are all open",
            "whole microseconds (cycles on i386, which are comparable at one clock frequency only): of a \
             call of one or two, nobody sees how it varies",
            "no port is named, no socket listens or connects: the kernel takes any port that is free",
        ],
    }],
    ..About::trajectory()
});

impl Workload for Bind {
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
        let sockets: Result<Vec<OwnedFd>, _> = (0..count).map(|_| family.socket()).collect();
        let sockets = sockets.map_err(shortage::during("socket"))?;
        let anywhere = family.anywhere();
        probe.trajectory("bind", count, |n| {
            let bound = sys::tcp::bind(sockets[n as usize - 1].as_fd(), &anywhere);
            bound.map_err(shortage::during("bind to port 0"))
        })
    }
}
