//! How does accepting a connection grow with the connections that are open?
//!
//! One operation is the n-th `accept`, of a connection over loopback that waits for it, while the
//! n - 1 before it stay open at both ends. The client's `connect`, which on loopback does the whole
//! handshake, is timed separately: it has returned before anybody accepts, so what a client measures
//! says nothing of `accept`.

use crate::shared::shortage;
use crate::sockets::tcp::{self, CONNECTIONS, Connections, Family, Listener};
use engine::{
    About, Cell, Failure, Fit, MetricInfo, Probe, Subject, Workload, WorkloadInfo, strings,
};
use std::sync::LazyLock;

/// The row of the table.
pub(crate) const WORKLOAD: Accept = Accept;

pub(crate) struct Accept;

static ABOUT: LazyLock<About> = LazyLock::new(|| About {
    info: WorkloadInfo {
        name: "accept".into(),
        question: "How does accepting a connection grow with the connections that are open?".into(),
        operation: "the n-th accept of a connection that waits, while those before it stay open"
            .into(),
        not_measured: strings([
            "a network: both ends are here",
            "a queue of several that wait, or several processes that accept from one socket",
            "how a server comes to know that somebody waits: poll",
        ]),
        metrics: vec![
            MetricInfo::time("accept", "call of accept"),
            MetricInfo::time("connect", "call of connect over loopback"),
        ],
        ..About::trajectory().info
    },
    parameters: vec![CONNECTIONS],
    ..About::trajectory()
});

impl Workload for Accept {
    fn about(&self) -> &About {
        &ABOUT
    }

    fn subjects(&self) -> Vec<Subject> {
        tcp::subjects()
    }

    fn fit(&self, cell: &Cell) -> Fit {
        shortage::descriptors(cell, CONNECTIONS.name)
    }

    fn measure(&self, cell: &Cell, probe: &mut Probe) -> Result<(), Failure> {
        let listener = Listener::open(Family::from_cell(cell)?)?;
        let mut open = Connections::default();
        let count = cell.number(CONNECTIONS.name)?;
        let outcome = probe.trajectory_in_parts(count, &["accept", "connect"], None, |_, laps| {
            let client = listener.client().map_err(shortage::during("socket"))?;
            laps.time(1, || listener.connect(&client)).map_err(shortage::during("connect"))?;
            let accepted = laps.time(0, || listener.accept(false));
            open.keep(accepted.map_err(shortage::during("accept"))?, client)
        });
        open.close()?;
        outcome
    }
}
