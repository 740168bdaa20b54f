//! Whether QEMU emulated the machine of some runs: what their figures are then good for. The record says it in one
//! fact ([`model::ACCELERATOR`]), and everything that shows figures asks here.

use model::{ACCELERATOR, EMULATOR, Fact, Run};
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::BTreeMap;

/// Which of several runs QEMU emulated.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Emulation {
    /// The only run.
    One,
    /// Each of them.
    All,
    /// Some, and others not.
    Some,
}

impl Emulation {
    /// That of `runs`; `None` where none was emulated.
    pub fn from_runs<'a>(runs: impl IntoIterator<Item = &'a Run>) -> Option<Self> {
        Self::from_facts(runs.into_iter().map(|run| &run.host_before.facts))
    }

    /// The same of machines, by their facts.
    pub fn from_facts<'a>(
        machines: impl IntoIterator<Item = &'a BTreeMap<String, Fact>>,
    ) -> Option<Self> {
        let is_emulated =
            |facts: &BTreeMap<String, Fact>| facts.get(ACCELERATOR) == Some(&EMULATOR.into());
        let emulated: Vec<bool> = machines.into_iter().map(is_emulated).collect();
        match (emulated.iter().filter(|&&is| is).count(), emulated.len()) {
            (0, _) => None,
            (1, 1) => Some(Self::One),
            (number, all) if number == all => Some(Self::All),
            _ => Some(Self::Some),
        }
    }

    /// What a reader has to know.
    pub fn sentence(self) -> &'static str {
        match self {
            Self::One => {
                "QEMU emulated this machine: only ratios between such runs mean something."
            }
            Self::All => {
                "QEMU emulated these machines: only the ratios between them mean something."
            }
            Self::Some => {
                "QEMU emulated the machine of some runs and not of others: a ratio between the two means nothing."
            }
        }
    }
}

/// Behind the name of a machine that was emulated.
pub const EMULATED: &str = "emulated: ratios only";
