//! The time left of a run.

use crate::run::progress::RunProgress;
use model::{Cell, Run};
use std::collections::HashMap;
use std::time::{Duration, Instant};

/// Estimates the time left: a cell takes what the others of its workload and point took.
pub(super) struct Pace {
    total: u64,
    done: u64,
    began: Instant,
    left: HashMap<(String, u64), u64>,
    took: HashMap<(String, u64), (u64, Duration)>,
}

impl Pace {
    pub fn new(run: &Run) -> Pace {
        let mut left: HashMap<(String, u64), u64> = HashMap::new();
        for key in &run.plan.cells {
            *left.entry((key.workload.clone(), key.point)).or_default() += 1;
        }
        let total = run.plan.cells.len() as u64;
        let mut pace = Pace { total, done: 0, began: Instant::now(), left, took: HashMap::new() };
        for cell in &run.cells {
            pace.add(cell);
        }
        pace
    }

    pub fn add(&mut self, cell: &Cell) {
        let group = (cell.key.workload.clone(), cell.key.point);
        self.done += 1;
        if let Some(left) = self.left.get_mut(&group) {
            *left = left.saturating_sub(1);
        }
        let took = self.took.entry(group).or_default();
        took.0 += 1;
        took.1 += Duration::from_nanos(cell.elapsed_ns);
    }

    pub fn progress(&self) -> RunProgress {
        let cells: u64 = self.took.values().map(|took| took.0).sum();
        let spent: Duration = self.took.values().map(|took| took.1).sum();
        let mean = |(count, sum): (u64, Duration)| sum.div_f64(count as f64);
        let rest = self.left.iter().map(|(group, &count)| {
            let each = self.took.get(group).copied().map_or_else(|| mean((cells, spent)), mean);
            each.mul_f64(count as f64)
        });
        // An estimate from the first cells would be wrong most of the time.
        let is_predictable = cells >= 5 || self.began.elapsed() > Duration::from_secs(3);
        let left = (is_predictable && cells > 0).then(|| rest.sum());
        RunProgress { done: self.done, total: self.total, left }
    }
}
