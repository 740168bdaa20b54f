//! The shape of a profile: samples of call stacks with their times, and what they were named.

pub(crate) mod entry;

use model::{CodeFault, Frame, MachineCode, ProfileLimit, SampledEvent};

/// Call stacks that were sampled over some time.
#[derive(Clone, Debug, Default)]
pub struct SampledStacks {
    /// What was sampled by.
    pub event: SampledEvent,
    /// The CPU time that each sample stands for, in nanoseconds; by cycles, at the speed that a busy CPU had when sampling
    /// began.
    pub sample_ns: f64,
    /// The functions of all stacks, each once.
    pub frames: Vec<Frame>,
    /// In the order of their times.
    pub samples: Vec<TimedSample>,
    /// What could not be seen.
    pub limits: Vec<ProfileLimit>,
    /// The machine code of the functions that most samples were taken in, by their index in
    /// [`SampledStacks::frames`].
    pub code: Vec<(u32, Result<MachineCode, CodeFault>)>,
}

/// A call stack at one moment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TimedSample {
    /// When, by `CLOCK_MONOTONIC`.
    pub time_ns: u64,
    /// Indices in [`SampledStacks::frames`]: the process first, the innermost function last.
    pub stack: Vec<u32>,
    /// Bytes from the beginning of the innermost function; of its file where it has no name.
    pub offset: u64,
}
