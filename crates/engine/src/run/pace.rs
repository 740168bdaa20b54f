//! The time left of a run.

use crate::run::progress::RunProgress;
use model::{Cell, CellKey, Run};
use std::collections::HashMap;
use std::time::{Duration, Instant};

/// Estimates the time left: a cell takes what the others of its workload and point took.
pub(super) struct Pace {
    began: Instant,
    groups: HashMap<(String, u64), Group>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Group {
    total: u32,
    ended: u32,
    took: Duration,
}

impl Pace {
    pub fn new(run: &Run) -> Pace {
        let mut pace = Pace { began: Instant::now(), groups: HashMap::new() };
        run.plan.cells.iter().for_each(|key| pace.group(key).total += 1);
        run.cells.iter().for_each(|cell| pace.add(cell));
        pace
    }

    fn group(&mut self, key: &CellKey) -> &mut Group {
        self.groups.entry((key.workload.clone(), key.point)).or_default()
    }

    pub fn add(&mut self, cell: &Cell) {
        let group = self.group(&cell.key);
        group.ended += 1;
        group.took += Duration::from_nanos(cell.elapsed_ns);
    }

    pub fn progress(&self) -> RunProgress {
        let mut all = Group::default();
        for group in self.groups.values() {
            all.total += group.total;
            all.ended += group.ended;
            all.took += group.took;
        }
        let rest = self.groups.values().map(|group| {
            let measured = if group.ended > 0 { group } else { &all };
            (measured.took / measured.ended.max(1)) * group.total.saturating_sub(group.ended)
        });
        // An estimate from the first cells would be wrong most of the time.
        let is_predictable = all.ended >= 5 || self.began.elapsed() > Duration::from_secs(3);
        let left = (is_predictable && all.ended > 0).then(|| rest.sum());
        let (done, total) = (u64::from(all.ended), u64::from(all.total));
        RunProgress { is_profile: false, done, total, left }
    }
}
