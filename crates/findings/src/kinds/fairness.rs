//! Which subject is fast at the expense of some: a rate says nothing of how it is shared.
//!
//! Jain's index of N shares is 1 where all have the same, and 1/N where one has all. A series among the
//! fastest at some point whose index is clearly low there is a finding, at the point where it is lowest.

use super::prelude::*;
use crate::format::{self, clauses, ratio};
use crate::thresholds::{FAST_FACTOR_MAX, INDEX_FAIR_MIN, OWN_SHARE_MIN, WAIT_NS_MIN};
use analysis::{Estimate, Row, Table};
use model::MetricRole;

/// A fast and unfair series, at the point where it is most unfair.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Fairness {
    /// The point.
    pub point: u64,
    /// Its rate as a share of the best one there.
    pub of_best: f64,
    /// Jain's index.
    pub index: Estimate,
    /// The longest wait there, in nanoseconds, where it is long.
    pub max_wait_ns: Option<f64>,
}

impl FindingKind for Fairness {
    const TAG: Tag = Tag::new("fairness", Tone::Middle);

    fn find(context: &Context<'_>) -> Vec<Finding> {
        Finding::of_rows(context.headline_rows(), |table, row| {
            // Elsewhere nothing is shared.
            table.shares.as_ref().filter(|shares| shares.multiple)?;
            // What is no alternative to the others has no best one among them.
            context.workload(table).filter(|workload| !workload.has_separate_subjects())?;
            Self::new(context, table, row)
        })
    }

    /// Of a rate that one of N has, the others lack N − 1 parts.
    fn rank(&self) -> f64 {
        1.0 / self.index.value
    }

    fn joins(&self, second: &Self) -> bool {
        self.point == second.point
    }

    /// `byte and ticket are fast and unfair at 8 threads per CPU: Jain's index 0.31 to 0.60`.
    fn sentence(all: &[Self], names: &Names<'_>) -> Sentence {
        let indices = Range::new(all.iter().map(|fairness| fairness.index.value)).format(ratio);
        let (be, at) = (names.verb("is", "are"), names.point(all[0].point));
        names.claim(format!(" {be} fast and unfair at {at}: Jain's index {indices}"))
    }

    /// `0.31 (95 % CI 0.22–0.40), ×0.51 of the best rate, one wait lasted 1.20 s`.
    fn detail(&self, names: &Names<'_>) -> String {
        let index = names.with_ci(&ratio(self.index.value), self.index, ratio);
        let speed = if self.of_best < 1.0 {
            format!("×{} of the best rate", ratio(self.of_best))
        } else {
            "the best rate".to_owned()
        };
        let wait = self.max_wait_ns.map(|wait| format!("one wait lasted {}", format::time(wait)));
        clauses([Some(index), Some(speed), wait])
    }
}

impl Fairness {
    fn new(context: &Context<'_>, table: &Table, row: &Row) -> Option<Self> {
        let indices = context
            .sibling(table, MetricRole::Fairness)
            .filter(|fairness| !fairness.metric.lower_is_better)?;
        let indices = indices.row(&row.subject)?.cells.iter().flatten();
        let (worst, of_best) = indices
            .filter(|index| index.median.high < INDEX_FAIR_MIN)
            .filter_map(|index| Some((index, share_of_best(table, row, index.point)?)))
            .filter(|(_, of_best)| of_best * FAST_FACTOR_MAX >= 1.0)
            .min_by(|a, b| a.0.median.value.total_cmp(&b.0.median.value))?;
        let waits = context.sibling(table, MetricRole::MaxWait);
        let max_wait_ns =
            waits.and_then(|waits| Some(waits.row(&row.subject)?.at(worst.point)?.max));
        Some(Self {
            point: worst.point,
            of_best,
            index: worst.median,
            max_wait_ns: max_wait_ns.filter(|wait| *wait >= WAIT_NS_MIN),
        })
    }
}

/// The rate of `row` at `point` as a share of the best one there.
fn share_of_best(table: &Table, row: &Row, point: u64) -> Option<f64> {
    let all = table.rows.iter().filter_map(|row| Some(row.at(point)?.median.value));
    let best = all.fold(0.0, f64::max);
    let own = row.at(point)?.median.value;
    let peak = row.cells.iter().flatten().map(|cell| cell.median.value).fold(0.0, f64::max);
    (best > 0.0 && own >= OWN_SHARE_MIN * peak).then_some(own / best)
}
