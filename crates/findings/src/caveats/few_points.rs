//! Series with so few points that n log n and n can't be distinguished.

use super::{CaveatKind, is_foreign};
use crate::context::Context;
use analysis::Class;
use analysis::growth::thresholds::POINTS_MIN;
use serde::Serialize;

/// Some series is linear by too few points.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct FewPoints {
    /// Whether the figures come from a table, which needs more of them.
    pub is_foreign: bool,
}

impl CaveatKind for FewPoints {
    /// With few points *linear* covers n log n: see [`analysis::growth::classify`].
    fn find(context: &Context<'_>) -> Vec<Self> {
        let tables = context.analysis.tables.iter().filter(|table| {
            // A trajectory's growth is judged by more positions than its table shows.
            !table.trajectory && !context.workload(table).is_some_and(|workload| workload.averages)
        });
        let is_linear_by_few = tables.flat_map(|table| &table.rows).any(|row| {
            let points = row.cells.iter().flatten().count();
            let linear = row.growth.as_ref().is_some_and(|growth| growth.class == Class::Linear);
            linear && points < POINTS_MIN
        });
        let caveat = Self { is_foreign: is_foreign(context.run) };
        if is_linear_by_few { vec![caveat] } else { Vec::new() }
    }

    fn what(&self) -> String {
        "With fewer than five points, n log n and n can't be distinguished: linear stands for both"
            .to_owned()
    }

    fn remedy(&self) -> String {
        let remedy = if self.is_foreign {
            "figures at five points or more"
        } else {
            "the same with --points 10,30,100,300,1k,3k,10k"
        };
        remedy.to_owned()
    }
}
