//! What the CPUs did while cells were timed: sampled call stacks, each frame and each stack kept once for
//! a whole run.
//!
//! A profile is measured in a pass of its own after the timed rounds. It belongs to the run, but no figure of
//! a [`Cell`](crate::Cell) comes from it.

use crate::{CellKey, Outcome};
use serde::{Deserialize, Serialize};
use std::collections::HashMap;

/// How a run is to be profiled: part of its plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProfilePlan {
    /// Samples a second of each running thread.
    pub frequency_hz: u64,
    /// Time that one metric of one cell may spend measuring while it is sampled, in milliseconds.
    pub measure_ms: u64,
}

/// All profiled cells of a run, with the frames and stacks that they share.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
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
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Frame {
    /// Its name, demangled; empty where there is no symbol. For a [`FrameKind::Process`] the program's name.
    pub function: String,
    /// Where its code is: `kernel`, `nf_conntrack`, `libc.so.6`, `knee`; empty where it is not known.
    pub module: String,
    /// What kind of code it is.
    pub kind: FrameKind,
}

/// What kind of code a frame is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
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
}

impl FrameKind {
    /// Whether it runs in the kernel.
    pub fn is_kernel(self) -> bool {
        matches!(self, Self::Kernel | Self::KernelModule | Self::Bpf)
    }
}

/// A node of the forest of call stacks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct StackNode {
    /// The index of its caller in [`Profile::stacks`]; absent for a root, which is a [`FrameKind::Process`].
    pub caller: Option<u32>,
    /// The index of its frame in [`Profile::frames`].
    pub frame: u32,
}

/// A cell of the profile pass.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
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
    /// What was timed, with its samples; empty when the cell failed.
    pub regions: Vec<ProfiledRegion>,
    /// Samples outside of all timed regions: set-up, warm-up, checks.
    pub samples_outside: u64,
    /// What could not be seen.
    pub limits: Vec<ProfileLimit>,
}

/// What makes the kernel take a sample.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SampledEvent {
    /// A timer that runs while the thread runs.
    CpuClock,
    /// A hardware counter of CPU cycles.
    Cycles,
}

/// The timed regions of one metric around one position on the axis, together.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
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
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct InstructionSamples {
    /// The function's index in [`Profile::frames`].
    pub frame: u32,
    /// Bytes from the function's beginning.
    pub offset: u64,
    /// How many.
    pub count: u64,
}

/// Something that a profile could not see.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
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
    /// A process that runs already could not be sampled.
    ProcessHidden {
        /// Its program's name.
        program: String,
        /// The operating system's answer.
        error: String,
    },
}

/// The machine code of one function.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FunctionCode {
    /// The function's index in [`Profile::frames`].
    pub frame: u32,
    /// Its code, or why there is none.
    pub code: Result<MachineCode, CodeFault>,
}

/// Bytes of machine code, and where they come from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
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
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
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
}

impl Profile {
    /// Whether nothing was profiled.
    pub fn is_empty(&self) -> bool {
        self.cells.is_empty()
    }

    /// The cell of this key, whatever its round.
    pub fn cell(&self, key: &CellKey) -> Option<&ProfiledCell> {
        let key = CellKey { round: 0, ..key.clone() };
        self.cells.iter().find(|cell| cell.key == key)
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

    /// The index of `frame` in `profile`.
    pub fn frame(&mut self, profile: &mut Profile, frame: &Frame) -> u32 {
        if let Some(&index) = self.frames.get(frame) {
            return index;
        }
        let index = profile.frames.len() as u32;
        profile.frames.push(frame.clone());
        self.frames.insert(frame.clone(), index);
        index
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
            let index = self.stacks.get(&node).copied().unwrap_or_else(|| {
                let index = profile.stacks.len() as u32;
                profile.stacks.push(node);
                self.stacks.insert(node, index);
                index
            });
            caller = Some(index);
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
    fn a_damaged_stack_ends() {
        let looping = StackNode { caller: Some(1), frame: 0 };
        let profile = Profile { stacks: vec![looping, looping], ..Profile::default() };
        assert_eq!(profile.path(1), [1]);
        assert!(profile.path(7).is_empty());
    }
}
