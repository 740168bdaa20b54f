//! How does accepting a connection grow with the connections that are open?
//!
//! One operation is the n-th `accept`, of a connection over loopback that waits for it, while the
//! n - 1 before it stay open at both ends. The client's `connect`, which on loopback does the whole
//! handshake, is timed separately: it has returned before anybody accepts, so what a client measures
//! says nothing of `accept`.

use crate::shared::shortage;
use crate::sockets::tcp::{self, CONNECTIONS, Connections, Family, Listener};
use engine::{About, Cell, Failure, Fit, MetricAbout, Probe, Subject, Workload};

/// The row of the table.
pub(crate) const WORKLOAD: Accept = Accept;

pub(crate) struct Accept;

static ABOUT: About = About {
    name: "accept",
    question: "How does accepting a connection grow with the connections that are open?",
    operation: "the n-th accept of a connection that waits, while those before it stay open",
    not_measured: &[
        "a network: both ends are here",
        "a queue of several that wait, or several processes that accept from one socket",
        "how a server comes to know that somebody waits: poll",
    ],
    parameters: &[CONNECTIONS],
    axis: CONNECTIONS.name,
    metrics: &[
        MetricAbout::time("accept", "call of accept"),
        MetricAbout::time("connect", "call of connect over loopback"),
    ],
    ..About::TRAJECTORY
};

impl Workload for Accept {
    fn about(&self) -> &'static About {
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
