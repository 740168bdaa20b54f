//! What a profile could not see.

use super::CaveatKind;
use crate::conclusions::context::Context;
use crate::format::{count, percent};
use crate::thresholds::{LOST_SHARE_MIN, UNNAMED_SHARE_MIN};
use model::{Frame, FrameKind, Outcome, Profile, ProfileLimit, ProfiledCell};
use schemars::JsonSchema;
use serde::Serialize;

/// Something that a profile could not see.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case", tag = "limit")]
pub enum LimitedProfile {
    /// The system refused samples in the kernel.
    KernelHidden {
        /// `kernel.perf_event_paranoid`; absent where it can't be read.
        perf_level: Option<i64>,
    },
    /// The kernel hides the addresses of its functions.
    KernelSymbolsHidden,
    /// The kernel dropped samples.
    SamplesLost {
        /// How many.
        lost: u64,
        /// How many it did not drop.
        samples: u64,
    },
    /// The system does not show when threads wait.
    WaitsHidden {
        /// What is in the way.
        error: String,
    },
    /// A process could not be sampled.
    ProcessHidden {
        /// Its program's name.
        program: String,
        /// The operating system's answer.
        error: String,
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
        let (mut lost, mut samples, mut unnamed) = (0, 0, 0);
        for cell in &profile.cells {
            for limit in &cell.limits {
                match limit {
                    ProfileLimit::SamplesLost { lost: of_cell } => lost += of_cell,
                    limit => all.push(Self::of_limit(limit, 0)),
                }
            }
            let (of_cell, without_symbol) = counted(profile, cell);
            samples += of_cell;
            unnamed += without_symbol;
        }
        if lost as f64 > LOST_SHARE_MIN * (samples + lost) as f64 {
            all.push(Self::SamplesLost { lost, samples });
        }
        if unnamed as f64 > UNNAMED_SHARE_MIN * samples as f64 {
            all.push(Self::Unnamed { share: unnamed as f64 / samples as f64 });
        }
        all.extend(failed(profile));
        all
    }

    fn what(&self) -> String {
        match self {
            Self::KernelHidden { perf_level } => {
                let level =
                    perf_level.map(|level| format!(" (kernel.perf_event_paranoid is {level})"));
                format!("the profile has no samples in the kernel{}", level.unwrap_or_default())
            }
            Self::KernelSymbolsHidden => {
                "the profile has no names of kernel functions (kernel.kptr_restrict)".to_owned()
            }
            Self::SamplesLost { lost, samples } => {
                let (lost, all) = (count(*lost), count(samples + lost));
                format!("{lost} of {all} samples of the profile were lost")
            }
            Self::WaitsHidden { error } => format!("the profile has no waits: {error}"),
            Self::ProcessHidden { program, error } => {
                format!("the profile has no samples of {program}: {error}")
            }
            Self::Unnamed { share } => {
                format!("{} of the profile's samples have no symbol", percent(*share))
            }
            Self::CellsFailed { cells, total, event } => {
                let (cells, total) = (count(*cells), count(*total));
                format!("{cells} of {total} cells of the profile failed: {event}")
            }
        }
    }

    fn remedy(&self) -> String {
        match self {
            Self::KernelHidden { .. } => "sudo sysctl kernel.perf_event_paranoid=1",
            Self::KernelSymbolsHidden => "sudo sysctl kernel.kptr_restrict=0",
            Self::SamplesLost { .. } => "leave a CPU idle while it is profiled",
            Self::ProcessHidden { .. } => "run knee as the user of that process, or as root",
            Self::Unnamed { .. } => "build with symbols, or install the libraries' debug symbols",
            // What hides the waits says itself what fixes it.
            Self::WaitsHidden { .. } | Self::CellsFailed { .. } => "",
        }
        .to_owned()
    }
}

impl LimitedProfile {
    /// What a limit comes to, where `samples` were not lost.
    pub fn of_limit(limit: &ProfileLimit, samples: u64) -> Self {
        match limit {
            ProfileLimit::KernelHidden { perf_level } => {
                Self::KernelHidden { perf_level: *perf_level }
            }
            ProfileLimit::KernelSymbolsHidden => Self::KernelSymbolsHidden,
            ProfileLimit::SamplesLost { lost } => Self::SamplesLost { lost: *lost, samples },
            ProfileLimit::WaitsHidden { error } => Self::WaitsHidden { error: error.clone() },
            ProfileLimit::ProcessHidden { program, error } => {
                Self::ProcessHidden { program: program.clone(), error: error.clone() }
            }
        }
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
