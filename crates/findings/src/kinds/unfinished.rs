//! Which cells of a series did not finish before their deadline.

use super::prelude::*;
use crate::format::{clauses, trend};
use analysis::{FailedAt, Rate, RateTrend, Row};
use model::FailureReason;

/// The points at which cells did not finish.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Unfinished {
    /// One entry for each point, ascending.
    pub points: Vec<FailedAt>,
    /// The last point with a figure, where the rate has collapsed since nothing finishes beyond it.
    pub collapsed_past: Option<u64>,
}

impl FindingKind for Unfinished {
    const TAG: Tag = Tag::new("did not finish", Tone::High);
    const SECTION: Section = Section::StopsScaling;

    fn find(context: &Context<'_>) -> Vec<Finding> {
        // The other metrics of the same cells did not finish either.
        Finding::of_rows(context.headline_rows(), |table, row| {
            // Elsewhere a caveat says it.
            let multiples = table.shares.as_ref().is_some_and(|shares| shares.multiple);
            let is_finding =
                multiples || context.workload(table).is_some_and(|workload| workload.averages);
            let is_shown = is_finding && row.unfinished().next().is_some();
            is_shown.then(|| Self::new(row))
        })
    }

    fn rank(&self) -> f64 {
        f64::INFINITY
    }

    fn joins(&self, second: &Self) -> bool {
        let points = |all: &Self| all.points.iter().map(|point| point.point).collect::<Vec<u64>>();
        self.event() == second.event() && points(self) == points(second)
    }

    /// `ticket and mcs did not finish within 10 s at 8 and 16 threads (4 and 8 per CPU)`.
    fn sentence(all: &[Self], names: &Names<'_>) -> Sentence {
        let points: Vec<u64> = all[0].points.iter().map(|point| point.point).collect();
        let at = if names.has_one_point() {
            String::new()
        } else {
            format!(" at {}", names.points(&points))
        };
        names.claim(format!(" {}{at}", all[0].event()))
    }

    /// `in 3 of 5 cells, collapses past 2 threads per CPU: 97 % of 400 samples in locks::ticket::Ticket::wait`.
    fn detail(&self, names: &Names<'_>) -> String {
        let cells = self.points.iter().map(|point| point.cells).sum::<u32>();
        let total = self.points.iter().map(|point| point.total).sum::<u32>();
        let often = (cells < total).then(|| format!("in {cells} of {total} cells"));
        let collapses = self
            .collapsed_past
            .map(|point| format!("{} past {}", trend(RateTrend::Collapses), names.point(point)));
        let circumstances = self.points.first().and_then(|point| point.reason.circumstances());
        let circumstances = circumstances.map(|text| text.trim_end_matches('.').to_owned());
        clauses([often, collapses, circumstances])
    }

    fn advised_at(&self) -> Option<u64> {
        Some(self.points.last()?.point)
    }
}

impl Unfinished {
    fn event(&self) -> String {
        let reason = self.points.first().map(|point| &point.reason);
        reason.map_or_else(|| "did not finish".to_owned(), FailureReason::event)
    }

    fn new(row: &Row) -> Self {
        let rate = row.rate.as_ref().filter(|rate| explains(row, rate));
        Self {
            points: row.unfinished().cloned().collect(),
            collapsed_past: rate.map(|rate| rate.from),
        }
    }
}

/// Whether all that `rate` says is that cells did not finish.
pub(super) fn explains(row: &Row, rate: &Rate) -> bool {
    let is_dead = rate.trend == RateTrend::Collapses && rate.factor.value <= 0.0;
    is_dead && row.unfinished().any(|unfinished| unfinished.point == rate.to)
}
