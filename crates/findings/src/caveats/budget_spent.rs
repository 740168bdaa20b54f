//! What became of a run's budget.

use super::figures;
use super::more_rounds::MoreRounds;
use super::prelude::*;
use crate::finding::names::point_of;
use crate::format::{count, counted, duration, percent};
use analysis::trust;
use analysis::{Estimate, Table};
use model::{Budget, RunState};

/// The rounds and the precision that a budget led to.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct BudgetSpent {
    /// The budget.
    pub budget: Budget,
    /// The rounds of the point that has the fewest.
    pub rounds_min: u32,
    /// The rounds of the point that has the most.
    pub rounds_max: u32,
    /// The time that one round took, where one took the whole budget.
    pub elapsed_ms: Option<u64>,
    /// Points whose interval is within the precision that was asked for.
    pub points_within: usize,
    /// All points.
    pub points: usize,
    /// The point with the widest interval.
    pub widest: Option<Width>,
    /// What would narrow the intervals; absent where all are narrow enough.
    pub more: Option<MoreRounds>,
}

/// How wide the interval of a median is.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Width {
    /// Half of it, as a share of the median.
    pub half: f64,
    /// The workload.
    pub workload: String,
    /// The subject's label.
    pub label: String,
    /// The point, as tables name it.
    pub at: String,
}

impl CaveatKind for BudgetSpent {
    fn find(context: &Context<'_>) -> Vec<Self> {
        let run = context.run;
        let Some(budget) = run.plan.budget else { return Vec::new() };
        let widths = all_widths(&context.analysis.tables);
        let is_within = |width: &&(f64, &Table, &str, u64)| {
            budget.precision > 0.0 && width.0 <= budget.precision
        };
        let (points_within, points) = (widths.iter().filter(is_within).count(), widths.len());
        let (rounds_min, rounds_max) = trust::rounds(run, None);
        let is_one = budget.time_ms > 0 && rounds_max == 1;
        let elapsed_ms = (is_one && run.summary.state == RunState::Complete)
            .then(|| run.cells.iter().map(|cell| cell.elapsed_ns).sum::<u64>() / 1_000_000);
        let is_done = points == 0 || (budget.precision > 0.0 && points_within == points);
        let more = (!is_done).then(|| {
            MoreRounds::with_budget(budget.time_ms, run.plan.rounds, (rounds_min, rounds_max))
        });
        let widest = widths.first().map(|(half, table, label, point)| Width {
            half: *half,
            workload: table.workload.clone(),
            label: (*label).to_owned(),
            at: point_of(table, *point),
        });
        vec![Self {
            budget,
            rounds_min,
            rounds_max,
            elapsed_ms,
            points_within,
            points,
            widest,
            more,
        }]
    }

    /// `Budget of 2 min or ±2 %: 3 to 18 rounds; 40 of 42 points within ±2 %; the widest: …`.
    fn warning(&self) -> Warning {
        let time = (self.budget.time_ms > 0).then(|| duration(self.budget.time_ms));
        let asked = self.budget.precision;
        let precision = (asked > 0.0).then(|| format!("±{}", percent(asked)));
        let limits: Vec<String> = time.into_iter().chain(precision).collect();
        let rounds = match (self.rounds_min, self.rounds_max) {
            (min, max) if min == max => counted(&max.to_string(), "rounds"),
            (min, max) => format!("{min} to {max} rounds"),
        };
        let mut what = match limits.as_slice() {
            // What ends such a run is a comparison, which the run does not know.
            [] => format!("Ended when a comparison was decided: {rounds}"),
            limits => format!("Budget of {}: {rounds}", limits.join(" or ")),
        };
        if let Some(elapsed) = self.elapsed_ms {
            what = format!("{what}, which took {}", duration(elapsed));
        }
        if asked > 0.0 {
            let [within, all] =
                [self.points_within, self.points].map(|points| count(points as u64));
            what = format!("{what}; {within} of {all} points within ±{}", percent(asked));
        }
        if let Some(Width { half, workload, label, at }) = &self.widest {
            what = format!("{what}; the widest: {workload} {label} at {at}, ±{}", percent(*half));
        }
        Warning { what, remedy: self.more.map(MoreRounds::remedy).unwrap_or_default() }
    }
}

/// The width of each figure of a headline metric, the widest first.
fn all_widths(tables: &[Table]) -> Vec<(f64, &Table, &str, u64)> {
    let mut all = Vec::new();
    for table in tables.iter().filter(|table| table.headline) {
        for row in &table.rows {
            let of_row = figures(table, std::slice::from_ref(row));
            all.extend(of_row.filter_map(|figure| {
                let Estimate { value, low, high } = figure.median;
                let half = (value > 0.0).then(|| (high - low) / 2.0 / value)?;
                Some((half, table, row.label.as_str(), figure.point))
            }));
        }
    }
    all.sort_by(|a, b| b.0.total_cmp(&a.0));
    all
}
