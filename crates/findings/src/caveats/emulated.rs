//! QEMU emulated the machine.

use super::prelude::*;
use crate::emulation::Emulation;

/// The run is of a guest whose instructions QEMU emulated.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Emulated {
    /// How many runs that holds for.
    pub runs: Emulation,
}

impl CaveatKind for Emulated {
    fn find(context: &Context<'_>) -> Vec<Self> {
        Emulation::from_runs([context.run]).map(|runs| Self { runs }).into_iter().collect()
    }

    fn warning(&self) -> Warning {
        let what = self.runs.sentence().trim_end_matches('.').to_owned();
        Warning { what, remedy: "measure where KVM works, or read ratios only".into() }
    }
}
