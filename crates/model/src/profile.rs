//! What the CPUs did while cells were timed: sampled call stacks, each frame and each stack kept once for
//! a whole run.
//!
//! A profile is measured in a pass of its own after the timed rounds. It belongs to the run, but no figure of
//! a [`Cell`](crate::Cell) comes from it.

use crate::{Cell, CellKey, Outcome, Plan, WorkloadInfo};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::{HashMap, HashSet};

/// Frames of a call stack: the kernel gives some hundred at most. What walks a stack may rely on it.
pub const DEPTH_MAX: u32 = 1024;
/// Samples in a profile: so many can be added up as floats, and as integers of any kind.
const SAMPLES_MAX: u64 = 1 << 53;

/// How a run is to be profiled: part of its plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ProfilePlan {
    /// Samples a second of each running thread.
    pub frequency_hz: u64,
    /// Time that one metric of one cell may spend measuring while it is sampled, in milliseconds.
    pub measure_ms: u64,
}

/// All profiled cells of a run, with the frames and stacks that they share.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Profile {
    /// Functions, or addresses without a symbol.
    pub frames: Vec<Frame>,
    /// Call stacks as a forest: each node is a frame under its caller's node, which stands before it.
    pub stacks: Vec<StackNode>,
    /// In the order in which they ended.
    pub cells: Vec<ProfiledCell>,
    /// The machine code of the functions with the most samples.
    pub code: Vec<FunctionCode>,
}

/// A function in a file, in the kernel, or made at run time.
#[derive(
    Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
pub struct Frame {
    /// Its name, demangled; empty where there is no symbol. For a [`FrameKind::Process`] the program's name.
    pub function: String,
    /// Where its code is: `kernel`, `nf_conntrack`, `libc.so.6`, `knee`; empty where it is not known.
    pub module: String,
    /// What kind of code it is.
    pub kind: FrameKind,
}

/// What kind of code a frame is.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum FrameKind {
    /// The root of each stack: the process, by its program's name.
    Process,
    /// The kernel's own code.
    Kernel,
    /// A module of the kernel.
    KernelModule,
    /// A program or a shared library.
    User,
    /// The kernel's code in user space.
    Vdso,
    /// A BPF program.
    Bpf,
    /// Code that was made at run time, outside of any file.
    Jit,
    /// An address of which nothing is known.
    Unknown,
    /// Of a wait, behind its process: [`WaitKind::name`](crate::WaitKind::name).
    Wait,
    /// Of a wait: the line in the function before it.
    Line,
    /// Of a wait: what follows is the stack of who ended it.
    Waker,
}

impl FrameKind {
    /// Whether it runs in the kernel.
    pub fn is_kernel(self) -> bool {
        matches!(self, Self::Kernel | Self::KernelModule | Self::Bpf)
    }
}

/// A node of the forest of call stacks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
pub struct StackNode {
    /// The index of its caller in [`Profile::stacks`]; absent for a root, which is a [`FrameKind::Process`].
    pub caller: Option<u32>,
    /// The index of its frame in [`Profile::frames`].
    pub frame: u32,
}

/// A cell of the profile pass.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ProfiledCell {
    /// Which cell it is; its round is 0.
    pub key: CellKey,
    /// Whether its samples count.
    pub outcome: Outcome,
    /// Wall time from the start of its worker to its end, in nanoseconds.
    pub elapsed_ns: u64,
    /// What was sampled by.
    pub event: SampledEvent,
    /// The CPU time that one sample stands for, in nanoseconds.
    pub sample_ns: f64,
    /// Time of an operation in this cell over that in the timed rounds, by the medians of the headline: what sampling cost,
    /// and what the machine did meanwhile. Absent where one of them has no figure.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub slow_down: Option<f64>,
    /// What was timed, with its samples; empty when the cell failed.
    pub regions: Vec<ProfiledRegion>,
    /// Samples outside of all timed regions: set-up, warm-up, checks.
    pub samples_outside: u64,
    /// What could not be seen.
    pub limits: Vec<ProfileLimit>,
}

/// What makes the kernel take a sample.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum SampledEvent {
    /// A timer that runs while the thread runs.
    #[default]
    CpuClock,
    /// A hardware counter of CPU cycles.
    Cycles,
}

/// The timed regions of one metric around one position on the axis, together; or the waits in them, under the name of
/// [`waits_metric`](crate::waits_metric).
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ProfiledRegion {
    /// The metric that they time: `loop`.
    pub metric: String,
    /// The value on the axis: the cell's point, or for a trajectory the end of the stretch that this is.
    pub position: u64,
    /// Operations in them.
    pub operations: u64,
    /// Their wall time, in nanoseconds.
    pub elapsed_ns: u64,
    /// Samples in them, by index in [`Profile::stacks`].
    pub samples: Vec<(u32, u64)>,
    /// The same samples by the instruction that they were taken at.
    pub instructions: Vec<InstructionSamples>,
}

impl ProfiledRegion {
    /// All its samples.
    pub fn sample_count(&self) -> u64 {
        self.samples.iter().map(|(_, count)| count).sum()
    }
}

/// Samples at one instruction of the innermost function.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
pub struct InstructionSamples {
    /// The function's index in [`Profile::frames`].
    pub frame: u32,
    /// Bytes from the function's beginning.
    pub offset: u64,
    /// How many.
    pub count: u64,
}

/// Something that a profile could not see.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", tag = "kind")]
pub enum ProfileLimit {
    /// The system refused samples in the kernel.
    KernelHidden {
        /// `kernel.perf_event_paranoid`; absent where it can't be read.
        perf_level: Option<i64>,
    },
    /// The kernel hides the addresses of its functions (`kernel.kptr_restrict`).
    KernelSymbolsHidden,
    /// The kernel dropped samples, because they came faster than they were read.
    SamplesLost {
        /// How many.
        lost: u64,
    },
    /// The system does not show when threads wait.
    WaitsHidden {
        /// What is in the way.
        error: String,
    },
    /// The system does not show when threads wait, and their states were sampled instead: what ends a wait was not seen, nor
    /// that a thread waits for a CPU.
    WaitsSampled {
        /// What is in the way.
        error: String,
    },
    /// A process that runs already could not be sampled.
    ProcessHidden {
        /// Its program's name.
        program: String,
        /// The operating system's answer.
        error: String,
    },
}

/// The machine code of one function.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FunctionCode {
    /// The function's index in [`Profile::frames`].
    pub frame: u32,
    /// Its code, or why there is none.
    #[serde(with = "CodeJson")]
    #[schemars(with = "CodeJson<MachineCode, CodeFault>")]
    pub code: Result<MachineCode, CodeFault>,
}

/// How a result is written: under `machine` the code, or under `fault` why there is none.
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(remote = "Result")]
enum CodeJson<T, E> {
    #[serde(rename = "machine")]
    Ok(T),
    #[serde(rename = "fault")]
    Err(E),
}

/// Bytes of machine code, and where they come from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct MachineCode {
    /// The architecture, as in `std::env::consts::ARCH`: `x86_64`.
    pub architecture: String,
    /// The address of the first byte, as the samples have it.
    pub address: u64,
    /// Hexadecimal digits, two a byte.
    pub bytes: String,
    /// Source lines by offset, where the file has debug information: `net/socket.c:1380`.
    pub lines: Vec<(u64, String)>,
}

/// Why the code of a function can't be shown.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", tag = "kind")]
pub enum CodeFault {
    /// The kernel's memory can't be read.
    KernelMemoryUnreadable {
        /// The operating system's answer at `/proc/kcore`.
        error: String,
    },
    /// The file can't be read.
    FileUnreadable {
        /// Its path.
        path: String,
        /// The operating system's answer.
        error: String,
    },
    /// Nothing says where the function's code is.
    NoSuchFile,
    /// The time for looking it up was over. A later cell may have it.
    TimedOut,
}

impl Profile {
    /// Whether nothing was profiled.
    pub fn is_empty(&self) -> bool {
        self.cells.is_empty()
    }

    /// The cell of this key, whatever its round.
    pub fn cell(&self, key: &CellKey) -> Option<&ProfiledCell> {
        let key = key.in_first_round();
        self.cells.iter().find(|cell| cell.key == key)
    }

    /// Keeps the code of a function, unless it is there; a reason why there is none only once. A profile only grows: code
    /// that was read after all comes behind the reason, and [`Profile::code`] prefers it.
    pub fn add_code(&mut self, code: FunctionCode) {
        let is_known = match self.code(code.frame) {
            None => false,
            Some(Err(_)) => code.code.is_err(),
            Some(Ok(_)) => true,
        };
        if !is_known {
            self.code.push(code);
        }
    }

    /// The machine code of a function, or why there is none; none where it is not kept.
    pub fn code(&self, frame: u32) -> Option<&Result<MachineCode, CodeFault>> {
        let of_frame = || self.code.iter().filter(|code| code.frame == frame);
        let code = of_frame().find(|code| code.code.is_ok()).or_else(|| of_frame().next());
        code.map(|code| &code.code)
    }

    /// Whether all its numbers are of something that is there: what was read from elsewhere may be damaged.
    ///
    /// # Errors
    /// The first contradiction, in words.
    pub fn check(&self) -> Result<(), String> {
        self.check_stacks()?;
        if let Some(code) = self.code.iter().find(|code| !self.has_frame(code.frame)) {
            return Err(format!(
                "the profile has code of frame {}, which is not there",
                code.frame
            ));
        }
        let mut keys = HashSet::new();
        for cell in &self.cells {
            self.check_cell(cell)
                .and_then(|()| {
                    if keys.insert(&cell.key) { Ok(()) } else { Err("it is there twice".into()) }
                })
                .map_err(|what| {
                    let CellKey { subject, point, .. } = &cell.key;
                    format!("the profile of {subject} at {point}: {what}")
                })?;
        }
        self.check_sums()
    }

    fn check_sums(&self) -> Result<(), String> {
        let regions = self.cells.iter().flat_map(|cell| &cell.regions);
        let taken = regions.flat_map(|region| {
            let instructions = region.instructions.iter().map(|sample| sample.count);
            region.samples.iter().map(|(_, count)| *count).chain(instructions)
        });
        let taken = taken.fold(0, u64::saturating_add);
        let limits = self.cells.iter().flat_map(|cell| &cell.limits);
        let lost = limits.map(|limit| match limit {
            ProfileLimit::SamplesLost { lost } => *lost,
            _ => 0,
        });
        let lost = lost.fold(0, u64::saturating_add);
        if taken > SAMPLES_MAX {
            return Err(format!("the profile has {taken} samples"));
        }
        if lost > SAMPLES_MAX {
            return Err(format!("the profile lost {lost} samples"));
        }
        Ok(())
    }

    fn has_frame(&self, frame: u32) -> bool {
        (frame as usize) < self.frames.len()
    }

    fn check_stacks(&self) -> Result<(), String> {
        let mut depths: Vec<u32> = Vec::with_capacity(self.stacks.len());
        for (index, node) in self.stacks.iter().enumerate() {
            if !self.has_frame(node.frame) {
                return Err(format!("stack {index} of the profile has no frame"));
            }
            let depth = match node.caller.map(|caller| depths.get(caller as usize)) {
                None => 1,
                Some(Some(depth)) if *depth < DEPTH_MAX => depth + 1,
                Some(Some(_)) => return Err(format!("stack {index} of the profile is too deep")),
                Some(None) => {
                    return Err(format!(
                        "the caller of stack {index} of the profile is not before it"
                    ));
                }
            };
            depths.push(depth);
        }
        Ok(())
    }

    fn check_cell(&self, cell: &ProfiledCell) -> Result<(), String> {
        if cell.key.round != 0 {
            return Err(format!("it is of round {}", cell.key.round));
        }
        if !cell.sample_ns.is_finite() || cell.sample_ns < 0.0 {
            return Err(format!("a sample stands for {} ns", cell.sample_ns));
        }
        if let Some(slow_down) = cell.slow_down.filter(|f| !f.is_finite() || *f <= 0.0) {
            return Err(format!("it was slower by a factor of {slow_down}"));
        }
        let has_stack = |stack: u32| (stack as usize) < self.stacks.len();
        let mut distinct = HashSet::new();
        for region in &cell.regions {
            let ProfiledRegion { metric, position, .. } = region;
            if !distinct.insert((metric, position)) {
                return Err(format!("it has {metric} at {position} twice"));
            }
            if let Some((stack, _)) = region.samples.iter().find(|(stack, _)| !has_stack(*stack)) {
                return Err(format!("it has samples of stack {stack}, which is not there"));
            }
            let mut frames = region.instructions.iter().map(|sample| sample.frame);
            if let Some(frame) = frames.find(|&frame| !self.has_frame(frame)) {
                return Err(format!("it has samples of frame {frame}, which is not there"));
            }
        }
        Ok(())
    }

    /// The nodes of a stack from its root to `stack`; empty where there is no such stack.
    pub fn path(&self, stack: u32) -> Vec<u32> {
        let mut nodes = Vec::new();
        let mut next = Some(stack);
        while let Some(index) = next
            && let Some(node) = self.stacks.get(index as usize)
        {
            nodes.push(index);
            // A caller stands before what it calls: whatever a damaged record says, this ends.
            next = node.caller.filter(|&caller| caller < index);
        }
        nodes.reverse();
        nodes
    }
}

impl Plan {
    /// The cells of the profile pass, in order: each subject at each point once, controls never; none where it is
    /// not profiled.
    pub fn profiled_cells(&self) -> Vec<CellKey> {
        let is_control = |key: &CellKey| {
            let info = self.workload(&key.workload);
            info.is_some_and(WorkloadInfo::is_control)
                || self.controls().any(|control| control == (&*key.workload, &*key.subject))
        };
        let mut distinct = HashSet::new();
        let keys = self.cells.iter().filter(|key| self.profile.is_some() && !is_control(key));
        keys.map(CellKey::in_first_round).filter(|key| distinct.insert(key.clone())).collect()
    }

    /// Those of them that a round measured: what failed in all rounds would again.
    pub fn measured_profiled_cells<'a>(
        &self,
        cells: impl IntoIterator<Item = &'a Cell>,
    ) -> Vec<CellKey> {
        let measured = cells.into_iter().filter(|cell| cell.outcome == Outcome::Measured);
        let measured: HashSet<CellKey> = measured.map(|cell| cell.key.in_first_round()).collect();
        let mut keys = self.profiled_cells();
        keys.retain(|key| measured.contains(key));
        keys
    }
}

/// Finds the index of a frame or a stack, and adds what is new.
#[derive(Debug, Default)]
pub struct Interner {
    frames: HashMap<Frame, u32>,
    stacks: HashMap<StackNode, u32>,
}

impl Interner {
    /// Knows what `profile` has.
    pub fn new(profile: &Profile) -> Interner {
        let frames = profile.frames.iter().cloned().zip(0..).collect();
        let stacks = profile.stacks.iter().copied().zip(0..).collect();
        Interner { frames, stacks }
    }

    /// The index of `frame` in `profile`. Its names are made printable: a symbol may be any bytes.
    pub fn frame(&mut self, profile: &mut Profile, frame: &Frame) -> u32 {
        if let Some(&index) = self.frames.get(frame) {
            return index;
        }
        let printable = Frame {
            function: printable::replace_unprintable(&frame.function),
            module: printable::replace_unprintable(&frame.module),
            kind: frame.kind,
        };
        let index = *self.frames.entry(printable).or_insert_with_key(|printable| {
            profile.frames.push(printable.clone());
            profile.frames.len() as u32 - 1
        });
        self.frames.insert(frame.clone(), index);
        index
    }

    /// The cells of `source` with their numbers as they are in `profile`, which gets the frames, stacks and code of `source`
    /// that it has not. `source` passes [`Profile::check`].
    pub fn adopt(&mut self, profile: &mut Profile, source: &Profile) -> Vec<ProfiledCell> {
        let frames: Vec<u32> =
            source.frames.iter().map(|frame| self.frame(profile, frame)).collect();
        let mut stacks: Vec<u32> = Vec::with_capacity(source.stacks.len());
        for node in &source.stacks {
            let caller = node.caller.map(|caller| stacks[caller as usize]);
            let frame = frames[node.frame as usize];
            stacks.push(self.node(profile, StackNode { caller, frame }));
        }
        for code in &source.code {
            let frame = frames[code.frame as usize];
            profile.add_code(FunctionCode { frame, ..code.clone() });
        }
        let mut cells = source.cells.clone();
        for region in cells.iter_mut().flat_map(|cell| &mut cell.regions) {
            region.samples.iter_mut().for_each(|(stack, _)| *stack = stacks[*stack as usize]);
            for sample in &mut region.instructions {
                sample.frame = frames[sample.frame as usize];
            }
        }
        cells
    }

    fn node(&mut self, profile: &mut Profile, node: StackNode) -> u32 {
        *self.stacks.entry(node).or_insert_with(|| {
            profile.stacks.push(node);
            profile.stacks.len() as u32 - 1
        })
    }

    /// The index in `profile` of the stack of these frames, which begins at its root; none without frames.
    pub fn stack<'a>(
        &mut self,
        profile: &mut Profile,
        frames: impl IntoIterator<Item = &'a Frame>,
    ) -> Option<u32> {
        let mut caller = None;
        for frame in frames {
            let node = StackNode { caller, frame: self.frame(profile, frame) };
            caller = Some(self.node(profile, node));
        }
        caller
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frame(function: &str) -> Frame {
        Frame { function: function.into(), module: "kernel".into(), kind: FrameKind::Kernel }
    }

    #[test]
    fn frames_and_stacks_are_kept_once() {
        let mut profile = Profile::default();
        let mut interner = Interner::default();
        let [main, poll, sock] = ["main", "do_sys_poll", "sock_poll"].map(frame);
        let deep = interner.stack(&mut profile, [&main, &poll, &sock]).unwrap();
        let again = interner.stack(&mut profile, [&main, &poll, &sock]).unwrap();
        let recursive = interner.stack(&mut profile, [&main, &poll, &sock, &sock]).unwrap();
        assert_eq!(deep, again);
        assert_eq!((profile.frames.len(), profile.stacks.len()), (3, 4));
        assert_eq!(profile.path(deep), [0, 1, 2]);
        assert_eq!(profile.path(recursive), [0, 1, 2, 3]);
        // One that begins with what was loaded goes on with the same numbers.
        let mut interner = Interner::new(&profile);
        assert_eq!(interner.stack(&mut profile, [&main, &poll]), Some(1));
        assert_eq!(interner.stack(&mut profile, []), None);
    }

    #[test]
    fn what_another_profile_has_is_adopted_under_other_numbers() {
        let [main, poll, sock] = ["main", "do_sys_poll", "sock_poll"].map(frame);
        let (mut profile, mut interner) = (Profile::default(), Interner::default());
        interner.stack(&mut profile, [&main, &sock]);
        let mut source = Profile::default();
        let stack = Interner::default().stack(&mut source, [&main, &poll, &sock]).unwrap();
        source.code = vec![FunctionCode { frame: 1, code: Err(CodeFault::NoSuchFile) }];
        let region = ProfiledRegion {
            samples: vec![(stack, 7)],
            instructions: vec![InstructionSamples { frame: 2, offset: 9, count: 7 }],
            ..ProfiledRegion::default()
        };
        source.cells = vec![cell(vec![region])];
        let adopted = interner.adopt(&mut profile, &source);
        let region = &adopted[0].regions[0];
        assert_eq!(profile.path(region.samples[0].0), [0, 2, 3]);
        assert_eq!((region.instructions[0].frame, profile.code[0].frame), (1, 2));
        assert_eq!(interner.adopt(&mut profile, &source), adopted);
        assert_eq!((profile.frames.len(), profile.stacks.len(), profile.code.len()), (3, 4, 1));
    }

    fn cell(regions: Vec<ProfiledRegion>) -> ProfiledCell {
        let key = CellKey {
            workload: "poll".into(),
            subject: "select".into(),
            parameters: crate::Parameters::new(),
            point: 100,
            round: 0,
        };
        ProfiledCell {
            key,
            outcome: Outcome::Measured,
            elapsed_ns: 0,
            event: SampledEvent::CpuClock,
            sample_ns: 1e6,
            slow_down: Some(1.02),
            regions,
            samples_outside: 0,
            limits: Vec::new(),
        }
    }

    #[test]
    fn a_symbol_of_any_bytes_is_printable() {
        let (mut profile, mut interner) = (Profile::default(), Interner::default());
        let strange = frame("evil\u{1b}[2J");
        let index = interner.frame(&mut profile, &strange);
        assert!(profile.frames[0].function.chars().all(printable::is_printable));
        assert_eq!(interner.frame(&mut profile, &strange), index);
        let clean = profile.frames[0].clone();
        assert_eq!(interner.frame(&mut profile, &clean), index);
        assert_eq!(profile.frames.len(), 1);
    }

    #[test]
    fn numbers_of_nothing_are_found() {
        let node = |caller, frame| StackNode { caller, frame };
        let whole = |stacks: Vec<StackNode>, samples: Vec<(u32, u64)>| Profile {
            frames: vec![frame("main")],
            stacks,
            cells: vec![cell(vec![ProfiledRegion { samples, ..ProfiledRegion::default() }])],
            code: Vec::new(),
        };
        let good = whole(vec![node(None, 0), node(Some(0), 0)], vec![(1, 7)]);
        assert_eq!(good.check(), Ok(()));
        let deep = (0..=DEPTH_MAX).map(|n| node(n.checked_sub(1), 0)).collect();
        let mut twice = good.clone();
        twice.cells.push(twice.cells[0].clone());
        let mut endless = good.clone();
        endless.cells[0].sample_ns = f64::INFINITY;
        let mut later = good.clone();
        later.cells[0].key.round = 1;
        let mut again = good.clone();
        let region = again.cells[0].regions[0].clone();
        again.cells[0].regions.push(region);
        let mut lossy = good.clone();
        lossy.cells[0].limits = vec![ProfileLimit::SamplesLost { lost: u64::MAX }];
        let mut code = good.clone();
        code.code = vec![FunctionCode { frame: 1, code: Err(CodeFault::NoSuchFile) }];
        for (bad, expected) in [
            (whole(vec![node(None, 1)], vec![]), "stack 0 of the profile has no frame"),
            (whole(vec![node(Some(0), 0)], vec![]), "is not before it"),
            (whole(deep, vec![]), "is too deep"),
            (whole(vec![node(None, 0)], vec![(1, 7)]), "stack 1, which is not there"),
            (whole(vec![node(None, 0)], vec![(0, u64::MAX)]), "samples"),
            (twice, "the profile of select at 100: it is there twice"),
            (endless, "a sample stands for inf ns"),
            (later, "it is of round 1"),
            (code, "code of frame 1"),
            (again, "the profile of select at 100: it has  at 0 twice"),
            (lossy, "the profile lost 18446744073709551615 samples"),
        ] {
            let error = bad.check().unwrap_err();
            assert!(error.contains(expected), "{error}");
        }
    }

    #[test]
    fn code_is_written_under_what_it_is() {
        let code = FunctionCode { frame: 3, code: Err(CodeFault::NoSuchFile) };
        let text = serde_json::to_string(&code).unwrap();
        assert_eq!(text, r#"{"frame":3,"code":{"fault":{"kind":"no-such-file"}}}"#);
        assert_eq!(serde_json::from_str::<FunctionCode>(&text).unwrap(), code);
    }

    fn measured(key: CellKey) -> Cell {
        Cell { key, ..Cell::default() }
    }

    #[test]
    fn the_pass_has_each_subject_at_each_point_once() {
        let key = |point, round| CellKey { point, round, ..cell(vec![]).key };
        let cells = vec![key(100, 0), key(10, 0), key(10, 1), key(100, 1)];
        let profile = Some(ProfilePlan { frequency_hz: 997, measure_ms: 500 });
        let plan = Plan { cells: cells.clone(), profile, ..Plan::default() };
        assert_eq!(plan.profiled_cells(), &cells[..2]);
        let measured = measured(key(10, 1));
        assert_eq!(plan.measured_profiled_cells([&measured]), &cells[1..2]);
        assert!(plan.measured_profiled_cells([]).is_empty());
        assert!(Plan { cells, ..Plan::default() }.profiled_cells().is_empty());
    }

    #[test]
    fn code_that_was_read_after_all_replaces_why_it_was_not() {
        let machine = || MachineCode {
            architecture: "x86_64".into(),
            address: 0,
            bytes: "c3".into(),
            lines: Vec::new(),
        };
        let mut profile = Profile::default();
        let faults = [CodeFault::TimedOut, CodeFault::NoSuchFile];
        for fault in faults {
            profile.add_code(FunctionCode { frame: 2, code: Err(fault) });
        }
        assert_eq!(profile.code(2), Some(&Err(CodeFault::TimedOut)));
        for _ in 0..2 {
            profile.add_code(FunctionCode { frame: 2, code: Ok(machine()) });
        }
        profile.add_code(FunctionCode { frame: 2, code: Err(CodeFault::NoSuchFile) });
        assert_eq!(profile.code(2), Some(&Ok(machine())));
        assert_eq!((profile.code.len(), profile.code(3)), (2, None));
    }

    #[test]
    fn a_damaged_stack_ends() {
        let looping = StackNode { caller: Some(1), frame: 0 };
        let profile = Profile { stacks: vec![looping, looping], ..Profile::default() };
        assert_eq!(profile.path(1), [1]);
        assert!(profile.path(7).is_empty());
    }
}
