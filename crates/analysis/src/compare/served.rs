//! Who was served in the loads of two runs: a rate and a latency count successes only, and at a given rate they are the
//! same however many requests fail.

use super::results::{ChangeDetail, Direction, Share, Unserved};
use crate::Table;
use crate::stats::student::two_sided_quantile;
use crate::thresholds::{FALSE_ALARM, UNSERVED_SHARE_MIN};
use model::{LoadCounts, Run};

/// What the loads of one table of two runs had to serve.
pub(super) struct Served<'a> {
    runs: [&'a Run; 2],
    tables: [&'a Table; 2],
}

impl<'a> Served<'a> {
    pub(super) fn new(runs: [&'a Run; 2], tables: [&'a Table; 2]) -> Self {
        Self { runs, tables }
    }

    /// Where `subject` serves a lesser or a larger share of its requests or connections than in base.
    pub(super) fn changes(&self, subject: &str) -> Vec<(Direction, ChangeDetail)> {
        let counts = |point: &u64| {
            let [base, new] = [0, 1].map(|run| self.counts(run, subject, *point));
            Some((*point, [base?, new?]))
        };
        let pairs: Vec<(u64, Unserved, [Share; 2])> = self.tables[1]
            .points
            .iter()
            .filter_map(counts)
            .flat_map(|(point, counts)| shares(counts).map(|(what, both)| (point, what, both)))
            .collect();
        let chance = FALSE_ALARM / pairs.len().max(1) as f64;
        let change = |(point, what, [base, new]): (u64, Unserved, [Share; 2])| {
            let direction = direction([base, new], chance)?;
            Some((direction, ChangeDetail::Served { what, point, base, new }))
        };
        pairs.into_iter().filter_map(change).collect()
    }

    /// The counts of one load of base (0) or new (1).
    fn counts(&self, run: usize, subject: &str, point: u64) -> Option<&'a LoadCounts> {
        let table = self.tables[run];
        let mut cells = self.runs[run].cells.iter().filter(|cell| {
            let key = &cell.key;
            let is_of_table = key.workload == table.workload && key.parameters == table.parameters;
            is_of_table && key.subject == subject && key.point == point
        });
        cells.find_map(|cell| Some(&cell.load.as_ref()?.counts))
    }
}

/// The shares of requests and of connections that were not served, in base and in new.
fn shares(counts: [&LoadCounts; 2]) -> [(Unserved, [Share; 2]); 2] {
    let of_requests = counts.map(|counts| Share {
        count: counts.failures + counts.without_reply(),
        all: counts.requests + counts.unsent,
    });
    let of_connections = counts.map(|counts| Share { count: counts.unserved, all: counts.asked });
    [(Unserved::Requests, of_requests), (Unserved::Connections, of_connections)]
}

/// Which way a share changed: by more than chance and by more than [`UNSERVED_SHARE_MIN`], if it did.
fn direction([base, new]: [Share; 2], chance: f64) -> Option<Direction> {
    let more = new.share()? - base.share()?;
    let pooled = (base.count + new.count) as f64 / (base.all + new.all) as f64;
    let error = (pooled * (1.0 - pooled) * (1.0 / base.all as f64 + 1.0 / new.all as f64)).sqrt();
    // Beyond a hundred Student's t is the normal distribution.
    let freedom = (base.all + new.all).clamp(3, 102) as usize - 2;
    let change_min = (two_sided_quantile(chance, freedom) * error).max(UNSERVED_SHARE_MIN);
    match more {
        more if more > change_min => Some(Direction::Worse),
        more if -more > change_min => Some(Direction::Better),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_share_is_another_beyond_chance_only() {
        let share = |count, all| Share { count, all };
        let direction = |base, new| direction([base, new], 0.025);
        assert_eq!(direction(share(0, 30_000), share(18_000, 30_000)), Some(Direction::Worse));
        assert_eq!(direction(share(18_000, 30_000), share(0, 30_000)), Some(Direction::Better));
        // A few of many, a few more of few, and the connections of a load that asked none.
        assert_eq!(direction(share(0, 30_000), share(20, 30_000)), None);
        assert_eq!(direction(share(3, 100), share(7, 100)), None);
        assert_eq!(direction(share(0, 0), share(6, 10)), None);
        assert_eq!(direction(share(0, 10), share(6, 10)), Some(Direction::Worse));
    }
}
