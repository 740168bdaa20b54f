//! What was warned of when the run was planned and measured.

use super::prelude::*;

/// A warning of the run or of its plan.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Recorded(pub Warning);

impl CaveatKind for Recorded {
    fn find(context: &Context<'_>) -> Vec<Self> {
        let run = context.run;
        run.warnings.iter().cloned().chain(run.plan.warnings()).map(Self).collect()
    }

    fn warning(&self) -> Warning {
        self.0.clone()
    }
}
