//! Samples of the processes of a cell, brought together with what it timed when.

use crate::probe::Region;
use model::{
    CellKey, FailureReason, Frame, FrameKind, FunctionCode, InstructionSamples, Interner, Outcome,
    Profile, ProfileLimit, ProfiledCell, ProfiledRegion, Wait, WaitKind, waits_metric,
};
use stacks::{SampledStacks, SampledWait};
use std::collections::BTreeMap;

/// What the names of workers end with: `knee worker`.
const WORKER: &str = " worker";
/// So many operations are no part of one wait: one more or less is a hundredth of them.
const OPERATIONS_MANY: u64 = 100;

/// A profiled cell while its workers come in.
pub(super) struct Pool {
    pub cell: ProfiledCell,
    counts: Vec<Counts>,
}

#[derive(Default)]
struct Counts {
    region: ProfiledRegion,
    stacks: BTreeMap<u32, u64>,
    /// By frame and offset.
    instructions: BTreeMap<(u32, u64), u64>,
}

impl Pool {
    pub fn new(key: CellKey) -> Pool {
        Pool { cell: ProfiledCell { key, ..ProfiledCell::default() }, counts: Vec::new() }
    }

    /// Adds a worker: what it timed when, and its samples, whose frames and stacks come to be in `profile`.
    pub fn add(
        &mut self,
        regions: &[Region],
        sampled: &SampledStacks,
        profile: &mut Profile,
        interner: &mut Interner,
    ) {
        self.cell.event = sampled.event;
        self.cell.sample_ns = sampled.sample_ns;
        sampled.limits.iter().for_each(|limit| self.add_limit(limit));
        let frames = &sampled.frames;
        let indices: Vec<usize> = regions.iter().map(|region| self.index(region)).collect();
        for sample in &sampled.samples {
            let time_ns = sample.time_ns;
            let inside =
                regions.iter().zip(&indices).filter(|(region, _)| region.meets(time_ns, time_ns));
            let inside: Vec<usize> = inside.map(|(_, &index)| index).collect();
            let stack_frames = sample.stack.iter().filter_map(|&index| frames.get(index as usize));
            if stack_frames.clone().any(is_of_helper) {
                continue;
            }
            let Some(stack) = interner.stack(profile, stack_frames) else { continue };
            let innermost = profile.stacks[stack as usize].frame;
            for index in inside {
                let counts = &mut self.counts[index];
                *counts.stacks.entry(stack).or_default() += 1;
                *counts.instructions.entry((innermost, sample.offset)).or_default() += 1;
            }
        }
        self.add_waits(regions, sampled, profile, interner);
        for (index, code) in &sampled.code {
            let Some(frame) = frames.get(*index as usize) else { continue };
            let frame = interner.frame(profile, frame);
            profile.add_code(FunctionCode { frame, code: code.clone() });
        }
    }

    /// The waits in each region, as regions of their own.
    fn add_waits(
        &mut self,
        regions: &[Region],
        sampled: &SampledStacks,
        profile: &mut Profile,
        interner: &mut Interner,
    ) {
        for region in regions {
            let counted = sampled.waits.iter().filter_map(|wait| {
                let count = region.samples_of_wait(wait, sampled.sample_ns);
                (count > 0).then_some((wait, count))
            });
            let counted: Vec<(&SampledWait, u64)> = counted.collect();
            if counted.is_empty() {
                continue;
            }
            let metric = waits_metric(&region.metric);
            let index = self.index(&Region { metric, ..region.clone() });
            for (wait, count) in counted {
                let frames = wait.stack.iter();
                let frames = frames.filter_map(|&index| sampled.frames.get(index as usize));
                let frames: Vec<&Frame> = frames.collect();
                if is_of_instrument(&frames) || is_of_no_operation(region, wait, &frames) {
                    continue;
                }
                let Some(stack) = interner.stack(profile, frames) else { continue };
                *self.counts[index].stacks.entry(stack).or_default() += count;
            }
        }
    }

    /// Where a region's samples are counted, with its operations and its time added.
    fn index(&mut self, region: &Region) -> usize {
        let is_same = |counts: &Counts| {
            counts.region.metric == region.metric && counts.region.position == region.position
        };
        let index = self.counts.iter().position(is_same).unwrap_or_else(|| {
            let (metric, position) = (region.metric.clone(), region.position);
            let empty = ProfiledRegion { metric, position, ..ProfiledRegion::default() };
            self.counts.push(Counts { region: empty, ..Counts::default() });
            self.counts.len() - 1
        });
        self.counts[index].region.operations += region.operations;
        self.counts[index].region.elapsed_ns += region.elapsed_ns();
        index
    }

    /// Adds what could not be seen: lost samples of several workers are added up.
    fn add_limit(&mut self, limit: &ProfileLimit) {
        if let ProfileLimit::SamplesLost { lost: more } = limit {
            for kept in &mut self.cell.limits {
                if let ProfileLimit::SamplesLost { lost } = kept {
                    *lost += more;
                    return;
                }
            }
        }
        if !self.cell.limits.contains(limit) {
            self.cell.limits.push(limit.clone());
        }
    }

    /// The cell whose worker failed: no sample of it counts.
    pub fn failed(self, reason: FailureReason, detail: String) -> ProfiledCell {
        let outcome = Outcome::Failed { reason, detail };
        ProfiledCell { outcome, samples_outside: 0, ..self.cell }
    }

    /// The cell, with its regions by metric in the order in which they were timed, and then by position.
    pub fn finish(self) -> ProfiledCell {
        let Pool { mut cell, counts } = self;
        cell.regions = counts.into_iter().map(Counts::finish).collect();
        let metrics: Vec<String> =
            cell.regions.iter().map(|region| region.metric.clone()).collect();
        let first = |name: &str| metrics.iter().position(|metric| metric == name);
        cell.regions.sort_by_key(|region| (first(&region.metric), region.position));
        cell
    }
}

/// Whether a frame is a process that only serves a worker.
fn is_of_helper(frame: &Frame) -> bool {
    frame.kind == FrameKind::Process && stacks::is_helper(&frame.function)
}

/// Whether a wait is of a helper or until one does something, or between a worker and what is measured, whose own waits
/// count.
fn is_of_instrument(frames: &[&Frame]) -> bool {
    if frames.iter().any(|frame| is_of_helper(frame)) {
        return true;
    }
    let processes = frames.iter().filter(|frame| frame.kind == FrameKind::Process);
    let names: Vec<&str> = processes.map(|frame| frame.function.as_str()).collect();
    matches!(names[..], [waiter, waker] if waiter != waker
        && [waiter, waker].iter().any(|name| name.ends_with(WORKER)))
}

/// Whether a thread waits for half of a range in which many operations are done, which no second wait can: one that gave them to
/// others, and sleeps or listens until they are. For a lock or a CPU it may wait as long since others keep it.
fn is_of_no_operation(region: &Region, wait: &SampledWait, frames: &[&Frame]) -> bool {
    let is_many = region.operations / region.ranges.len().max(1) as u64 >= OPERATIONS_MANY;
    let kind = Wait::read(frames).map(|wait| wait.kind);
    let is_kept = kind.is_some_and(|kind| kind == WaitKind::Lock || kind.is_for_cpu());
    is_many && !is_kept && region.share_of_wait(wait) >= 0.5
}

impl Counts {
    fn finish(self) -> ProfiledRegion {
        let instruction = |((frame, offset), count)| InstructionSamples { frame, offset, count };
        ProfiledRegion {
            samples: self.stacks.into_iter().collect(),
            instructions: self.instructions.into_iter().map(instruction).collect(),
            ..self.region
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::SampledEvent;
    use stacks::TimedSample;

    fn region(metric: &str, position: u64, ranges: &[(u64, u64)]) -> Region {
        Region { metric: metric.into(), position, operations: 10, ranges: ranges.into() }
    }

    fn sampled(samples: &[(u64, &[u32], u64)]) -> SampledStacks {
        let frame = |function: &str, kind| Frame {
            function: function.into(),
            module: "kernel".into(),
            kind,
        };
        let samples = samples.iter().map(|&(time_ns, stack, offset)| TimedSample {
            time_ns,
            stack: stack.into(),
            offset,
        });
        SampledStacks {
            event: SampledEvent::CpuClock,
            sample_ns: 1e6,
            frames: vec![frame("knee", FrameKind::Process), frame("do_poll", FrameKind::Kernel)],
            samples: samples.collect(),
            unwanted: 0,
            waits: vec![SampledWait {
                begin_ns: 12,
                end_ns: 32,
                first_ns: 19,
                count: 1,
                stack: vec![0, 1],
            }],
            limits: vec![ProfileLimit::SamplesLost { lost: 3 }],
            code: Vec::new(),
        }
    }

    fn key() -> CellKey {
        CellKey {
            workload: "poll".into(),
            subject: "poll".into(),
            parameters: model::Parameters::new(),
            point: 100,
            round: 0,
        }
    }

    #[test]
    fn samples_count_where_they_were_timed_and_workers_add_up() {
        let (mut profile, mut interner) = (Profile::default(), Interner::default());
        let mut pool = Pool::new(key());
        let regions = [
            region("answer", 200, &[(50, 60)]),
            region("answer", 100, &[(10, 20), (30, 40)]),
            region("served", 100, &[(10, 40)]),
        ];
        let samples: [(u64, &[u32], u64); 4] =
            [(15, &[0, 1], 4), (25, &[0], 0), (35, &[0, 1], 4), (55, &[0, 1], 8)];
        for _ in 0..2 {
            pool.add(&regions, &sampled(&samples), &mut profile, &mut interner);
            pool.cell.samples_outside += 1;
        }
        let cell = pool.finish();
        let counts: Vec<(&str, u64, u64, u64)> = cell
            .regions
            .iter()
            .map(|region| {
                (region.metric.as_str(), region.position, region.sample_count(), region.elapsed_ns)
            })
            .collect();
        assert_eq!(
            counts,
            [
                ("answer", 100, 4, 40),
                ("answer", 200, 2, 20),
                ("served", 100, 6, 60),
                ("answer waits", 100, 2, 40),
                ("served waits", 100, 2, 60),
            ]
        );
        assert_eq!(cell.samples_outside, 2);
        assert_eq!(cell.regions[2].operations, 20);
        assert_eq!(cell.limits, [ProfileLimit::SamplesLost { lost: 6 }]);
        assert_eq!((profile.frames.len(), profile.stacks.len()), (2, 2), "each is kept once");
        let hottest = InstructionSamples { frame: 1, offset: 4, count: 4 };
        assert_eq!(cell.regions[0].instructions, [hottest]);
    }

    #[test]
    fn what_a_worker_and_another_process_wait_for_is_of_the_instrument() {
        let is = |processes: &[&str]| {
            let frame = |name: &&str| Frame {
                function: (*name).to_owned(),
                module: String::new(),
                kind: FrameKind::Process,
            };
            let frames: Vec<Frame> = processes.iter().map(frame).collect();
            is_of_instrument(&frames.iter().collect::<Vec<_>>())
        };
        assert!(is(&["knee worker", "knee guard"]) && is(&["nginx", "knee worker"]));
        assert!(is(&["knee guard"]) && is(&["knee starter", "sort"]));
        assert!(!is(&["knee worker", "knee worker"]) && !is(&["knee worker"]));
        assert!(!is(&["sort", "cat"]) && !is(&[]));
    }

    #[test]
    fn a_thread_that_sleeps_while_others_work_waits_for_no_operation() {
        let frame = |(function, kind): (&str, FrameKind)| Frame {
            function: function.into(),
            module: String::new(),
            kind,
        };
        let is = |kind: WaitKind, operations, end_ns| {
            let frames = [("mt", FrameKind::Process), (kind.name(), FrameKind::Wait)].map(frame);
            let wait =
                SampledWait { begin_ns: 0, end_ns, first_ns: 0, count: 1, stack: Vec::new() };
            let region = Region { operations, ..region("rate", 2, &[(0, 1_000)]) };
            is_of_no_operation(&region, &wait, &frames.iter().collect::<Vec<_>>())
        };
        assert!(is(WaitKind::Sleep, 100, 990));
        assert!(!is(WaitKind::Sleep, 100, 90), "it sleeps again and again");
        assert!(!is(WaitKind::Sleep, 1, 990), "it is all that is done");
        assert!(!is(WaitKind::Lock, 100, 990), "it starves");
    }

    #[test]
    fn a_failed_worker_has_no_samples() {
        let (mut profile, mut interner) = (Profile::default(), Interner::default());
        let mut pool = Pool::new(key());
        let regions = [region("loop", 100, &[(10, 20)])];
        pool.add(&regions, &sampled(&[(15, &[0], 0), (99, &[0], 0)]), &mut profile, &mut interner);
        let cell = pool.failed(FailureReason::OutputTooLong, String::new());
        assert!(cell.regions.is_empty() && cell.samples_outside == 0);
        assert!(matches!(cell.outcome, Outcome::Failed { .. }));
    }
}
