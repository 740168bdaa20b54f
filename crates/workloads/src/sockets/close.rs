//! How does closing a connection grow with the connections that are open?
//!
//! One operation is the close of an accepted TCP connection over loopback, in the order in which they
//! were accepted, while its other end stays open: the kernel takes the descriptor back and tells the
//! other end. The sample of a close that finds n of them open stands at n, so the axis is read from
//! its far end.

use crate::shared::shortage;
use crate::sockets::tcp::{self, CONNECTIONS, Connections, Family, Listener};
use engine::{
    About, Cell, Failure, Fit, MetricInfo, Probe, Subject, Workload, WorkloadInfo, strings,
};
use std::sync::LazyLock;

/// The row of the table.
pub(crate) const WORKLOAD: Close = Close;

pub(crate) struct Close;

static ABOUT: LazyLock<About> = LazyLock::new(|| About {
    info: WorkloadInfo {
        name: "close".into(),
        question: "How does closing a connection grow with the connections that are open?".into(),
        operation: "close of an accepted connection, the oldest first, until none is open".into(),
        not_measured: strings([
            "what follows: the other end's close, TIME_WAIT",
            "a connection with data that is still to be sent or read",
        ]),
        metrics: vec![MetricInfo::time("close", "call of close")],
        ..About::trajectory().info
    },
    parameters: vec![CONNECTIONS],
    ..About::trajectory()
});

impl Workload for Close {
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
        let connected = (0..cell.number(CONNECTIONS.name)?).try_for_each(|_| {
            let connect = || {
                let client = listener.client()?;
                listener.connect(&client)?;
                Ok((listener.accept(false)?, client))
            };
            let ends = connect().map_err(|error: std::io::Error| {
                shortage::failure("connecting over loopback", &error)
            });
            let (accepted, client) = ends?;
            open.keep(accepted, client)
        });
        let oldest_first = std::mem::take(&mut open.accepted);
        let count = oldest_first.len() as u64;
        let mut rest = oldest_first.into_iter();
        probe.countdown("close", count, |_| {
            drop(rest.next());
            Ok(())
        })?;
        open.close()?;
        // Fewer than were asked for could be opened: what there were are measured.
        connected
    }
}
