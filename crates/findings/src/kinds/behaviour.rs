//! What a server of the user's own is seen to do to connections and replies.

pub(crate) mod server;

use super::prelude::*;
use crate::kinds::behaviour::server::GrowthPerConnection;
use crate::thresholds::WARM_FACTOR_MIN;
use model::{Cell, server_facts};

pub use server::ServerBehaviour as Behaviour;

impl FindingKind for Behaviour {
    fn find(context: &Context<'_>) -> Vec<Finding> {
        Finding::of_rows(context.headline_rows(), |table, row| {
            let mut cells: Vec<&Cell> = table.cells(context.run, &row.subject).collect();
            // What is seen with the most connections says the most.
            cells.sort_by_key(|cell| std::cmp::Reverse(cell.key.point));
            let kinds: [fn(&Cell) -> Option<Self>; 4] = [closes, delays, grows, divides];
            let seen = kinds.iter().filter_map(|kind| cells.iter().find_map(|cell| kind(cell)));
            seen.chain(warms_up(&cells)).collect::<Vec<_>>()
        })
    }

    /// How much longer a reply takes than it would.
    fn rank(&self) -> f64 {
        match *self {
            Self::DelayedReply { delayed_ms, immediate_ms } => stake(delayed_ms / immediate_ms),
            Self::WarmsUp { cold_per_s, warm_per_s, .. } => stake(warm_per_s / cold_per_s.max(1.0)),
            _ => 1.0,
        }
    }

    /// `python grows a thread for each connection: 1 thread, then 1,001 with 1,000 connections`
    fn sentence(all: &[Self], names: &Names<'_>) -> Sentence {
        names.claim(format!(" {}", all[0].sentence()))
    }

    fn tag(all: &[Self]) -> Tag {
        Tag { word: all[0].words().0, tone: Tone::Open }
    }
}

/// A fact of a cell, which is a number.
fn fact(cell: &Cell, name: &str) -> Option<f64> {
    cell.facts.get(name)?.number()
}

fn closes(cell: &Cell) -> Option<Behaviour> {
    let replies = fact(cell, server_facts::REPLIES_PER_CONNECTION)? as u64;
    let http_10 = fact(cell, server_facts::HTTP_10) == Some(1.0);
    let is_announced = fact(cell, server_facts::UNANNOUNCED) != Some(1.0);
    Behaviour::of_closings((1, 1), is_announced, http_10, (replies, replies))
}

fn delays(cell: &Cell) -> Option<Behaviour> {
    Some(Behaviour::DelayedReply {
        delayed_ms: fact(cell, server_facts::DELAYED_MS)?,
        immediate_ms: fact(cell, server_facts::IMMEDIATE_MS)?,
    })
}

/// By most of its cells: in one of them, a server may have had no CPU for a while. The figures are of the cell with the
/// median time.
fn warms_up(cells: &[&Cell]) -> Option<Behaviour> {
    let warm_up = |cell: &&Cell| {
        let seconds = fact(cell, server_facts::WARM_UP_S)?;
        let cold_per_s = fact(cell, server_facts::COLD_PER_S)?;
        let warm_per_s = fact(cell, server_facts::WARM_PER_S)?;
        (warm_per_s >= WARM_FACTOR_MIN * cold_per_s).then_some((seconds, cold_per_s, warm_per_s))
    };
    let mut slow_at_first: Vec<_> = cells.iter().filter_map(warm_up).collect();
    if 2 * slow_at_first.len() <= cells.len() {
        return None;
    }
    slow_at_first.sort_by(|a, b| a.0.total_cmp(&b.0));
    let (seconds, cold_per_s, warm_per_s) = slow_at_first[slow_at_first.len() / 2];
    Some(Behaviour::WarmsUp { seconds, cold_per_s, warm_per_s })
}

fn divides(cell: &Cell) -> Option<Behaviour> {
    Behaviour::of_workers(
        fact(cell, server_facts::WORKERS)? as u64,
        fact(cell, server_facts::WORKERS_ENDED)? as u64,
        fact(cell, server_facts::WORKERS_CPU_S)?,
        fact(cell, server_facts::BUSIEST_SHARE)?,
    )
}

fn grows(cell: &Cell) -> Option<Behaviour> {
    let growth = |before, after| {
        Some(GrowthPerConnection {
            before: fact(cell, before)? as u64,
            after: fact(cell, after)? as u64,
            connections: fact(cell, server_facts::DEAD)? as u64,
        })
    };
    let processes = growth(server_facts::PROCESSES_BEFORE, server_facts::PROCESSES_AFTER)?;
    let threads = growth(server_facts::THREADS_BEFORE, server_facts::THREADS_AFTER)?;
    Behaviour::of_growth(processes, threads)
}
