//! Intervals that are too wide to say much.

use super::more_rounds::MoreRounds;
use super::prelude::*;
use super::{figures, headline_tables};
use crate::format::count;
use crate::thresholds::WIDE_CI_SHARE_MIN;
use analysis::PointSummary;

/// How many medians have wide intervals.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct WideIntervals {
    /// Medians with a wide interval.
    pub wide: usize,
    /// All medians.
    pub medians: usize,
    /// What narrows them.
    pub more: MoreRounds,
    /// Whether something else may have run at the time, which could be ended.
    pub may_be_disturbed: bool,
}

impl CaveatKind for WideIntervals {
    fn find(context: &Context<'_>) -> Vec<Self> {
        let run = context.run;
        let is_wide = |figure: &&PointSummary| {
            let width = figure.median.high - figure.median.low;
            width > WIDE_CI_SHARE_MIN * figure.median.value.abs()
        };
        let all = || headline_tables(context).flat_map(|table| figures(table, &table.rows));
        let (wide, medians) = (all().filter(is_wide).count(), all().count());
        if wide == 0 {
            return Vec::new();
        }
        let more = MoreRounds::new(run);
        // A model has no disturbing programs to end, and neither has an imported run.
        let may_be_disturbed = !analysis::is_predicted(run) && !run.is_foreign();
        vec![Self { wide, medians, more, may_be_disturbed }]
    }

    fn warning(&self) -> Warning {
        let (wide, all) = (count(self.wide as u64), count(self.medians as u64));
        let what = format!("{wide} of {all} medians have a 95 % CI wider than ±25 %");
        let quiet = if self.may_be_disturbed { "end what else runs, then " } else { "" };
        Warning { what, remedy: format!("{quiet}{}", self.more.remedy()) }
    }
}
