//! The shape of a profile: samples of call stacks with their times, and what they were named.

use model::{
    CodeFault, Entry, Frame, FrameKind, MachineCode, ProfileLimit, SampledEvent, entry_of,
};

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
    /// How many samples were not wanted.
    pub unwanted: u64,
    /// When threads did not run: those with a sample, in no order.
    pub waits: Vec<SampledWait>,
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

/// A time in which a thread did not run. It has a sample each time that the thread has not run for
/// [`SampledStacks::sample_ns`], all its waits together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SampledWait {
    /// When it began, by `CLOCK_MONOTONIC`.
    pub begin_ns: u64,
    /// When it ended.
    pub end_ns: u64,
    /// The time of its first sample; the others follow at the interval of samples.
    pub first_ns: u64,
    /// Its samples, one at least.
    pub count: u64,
    /// Indices in [`SampledStacks::frames`], as [`model::Wait::read`] takes their frames.
    pub stack: Vec<u32>,
}

impl SampledStacks {
    /// What the thread of `sample` was in the kernel for.
    pub fn entry(&self, sample: &TimedSample) -> Entry {
        entry_of(sample.stack.iter().filter_map(|&frame| self.frames.get(frame as usize)))
    }

    /// The program that `sample` is of.
    pub fn program(&self, sample: &TimedSample) -> &str {
        let root = sample.stack.first().and_then(|&frame| self.frames.get(frame as usize));
        root.filter(|frame| frame.kind == FrameKind::Process).map_or("", |frame| &frame.function)
    }
}

impl SampledWait {
    /// How many of its samples are from one time to another, where they come at this interval.
    pub fn samples_between(&self, begin_ns: u64, end_ns: u64, sample_ns: f64) -> u64 {
        let interval_ns = (sample_ns as u64).max(1);
        // Those before a time.
        let before = |time_ns: u64| {
            let since_first = time_ns.saturating_sub(self.first_ns);
            since_first.div_ceil(interval_ns).min(self.count)
        };
        before(end_ns.saturating_add(1)).saturating_sub(before(begin_ns))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_samples_of_a_wait_are_where_they_were_taken() {
        let wait =
            SampledWait { begin_ns: 90, end_ns: 350, first_ns: 100, count: 3, stack: vec![] };
        let between = |begin_ns, end_ns| wait.samples_between(begin_ns, end_ns, 100.0);
        assert_eq!([between(0, 1_000), between(100, 300), between(101, 299)], [3, 3, 1]);
        assert_eq!([between(0, 99), between(0, 100), between(301, 900)], [0, 1, 0]);
        assert_eq!(between(900, 100), 0);
    }
}
