//! What a profile could not see.

use super::prelude::*;
use crate::format::{count, percent};
use crate::thresholds::{LOST_SHARE_MIN, UNNAMED_SHARE_MIN};
use model::{Frame, FrameKind, Outcome, Profile, ProfileLimit as Limit, ProfiledCell};

/// Something that a profile could not see.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case", tag = "cause")]
pub enum LimitedProfile {
    /// The system let it see only so much.
    System {
        /// What was in the way.
        limit: Limit,
        /// How many samples there are, where some were lost.
        samples: u64,
    },
    /// Samples have no symbol.
    Unnamed {
        /// Their share of all samples.
        share: f64,
    },
    /// Cells of the profile failed.
    CellsFailed {
        /// How many.
        cells: u64,
        /// Of how many.
        total: u64,
        /// Why the first of them did.
        event: String,
    },
}

impl CaveatKind for LimitedProfile {
    fn find(context: &Context<'_>) -> Vec<Self> {
        let profile = &context.run.profile;
        let mut all: Vec<Self> = Vec::new();
        let (mut lost_in_all, mut samples, mut unnamed) = (0, 0, 0);
        for cell in &profile.cells {
            for limit in &cell.limits {
                match limit {
                    Limit::SamplesLost { lost } => lost_in_all += lost,
                    limit => all.push(Self::System { limit: limit.clone(), samples: 0 }),
                }
            }
            let (of_cell, without_symbol) = counted(profile, cell);
            samples += of_cell;
            unnamed += without_symbol;
        }
        if lost_in_all as f64 > LOST_SHARE_MIN * (samples + lost_in_all) as f64 {
            let limit = Limit::SamplesLost { lost: lost_in_all };
            all.push(Self::System { limit, samples });
        }
        if unnamed as f64 > UNNAMED_SHARE_MIN * samples as f64 {
            all.push(Self::Unnamed { share: unnamed as f64 / samples as f64 });
        }
        all.extend(failed(profile));
        all
    }

    /// What is missing, and what shows it; an error says that itself.
    fn warning(&self) -> Warning {
        let (what, remedy) = match self {
            Self::System { limit: Limit::KernelHidden { perf_level }, .. } => {
                let level = "kernel.perf_event_paranoid";
                let level = perf_level.map(|is| format!(" ({level} is {is})")).unwrap_or_default();
                let what = format!("the profile has no samples in the kernel{level}");
                (what, "sudo sysctl kernel.perf_event_paranoid=1")
            }
            Self::System { limit: Limit::KernelSymbolsHidden, .. } => {
                let what = "the profile has no names of kernel functions (kernel.kptr_restrict)";
                (what.to_owned(), "sudo sysctl kernel.kptr_restrict=0")
            }
            Self::System { limit: Limit::SamplesLost { lost }, samples } => {
                let (lost, all) = (count(*lost), count(samples + lost));
                let what = format!("{lost} of {all} samples of the profile were lost");
                (what, "leave a CPU idle while it is profiled")
            }
            Self::System { limit: Limit::WaitsHidden { error }, .. } => {
                (format!("the profile has no waits: {error}"), "")
            }
            Self::System { limit: Limit::WaitsSampled { error }, .. } => {
                let what = "the profile does not say what ends waits, nor has it those for a CPU";
                (format!("{what}: {error}"), "")
            }
            Self::System { limit: Limit::ProcessHidden { program, error }, .. } => {
                let what = format!("the profile has no samples of {program}: {error}");
                (what, "run knee as the user of that process, or as root")
            }
            Self::Unnamed { share } => {
                let what = format!("{} of the profile's samples have no symbol", percent(*share));
                (what, "build with symbols, or install the libraries' debug symbols")
            }
            Self::CellsFailed { cells, total, event } => {
                let (cells, total) = (count(*cells), count(*total));
                (format!("{cells} of {total} cells of the profile failed: {event}"), "")
            }
        };
        Warning { what, remedy: remedy.to_owned() }
    }
}

/// The samples of a cell, and those without a symbol.
fn counted(profile: &Profile, cell: &ProfiledCell) -> (u64, u64) {
    let is_unnamed = |stack: u32| {
        let node = profile.stacks.get(stack as usize);
        let frame = node.and_then(|node| profile.frames.get(node.frame as usize));
        frame.is_none_or(|frame: &Frame| {
            frame.function.is_empty() || frame.kind == FrameKind::Process
        })
    };
    let samples = || cell.regions.iter().flat_map(|region| &region.samples);
    let unnamed = samples().filter(|(stack, _)| is_unnamed(*stack));
    (samples().map(|(_, count)| count).sum(), unnamed.map(|(_, count)| count).sum())
}

fn failed(profile: &Profile) -> Option<LimitedProfile> {
    let mut reasons = profile.cells.iter().filter_map(|cell| match &cell.outcome {
        Outcome::Failed { reason, .. } => Some(reason),
        Outcome::Measured => None,
    });
    let event = reasons.next()?.event();
    let (cells, total) = (1 + reasons.count() as u64, profile.cells.len() as u64);
    Some(LimitedProfile::CellsFailed { cells, total, event })
}
