//! The shape of a profile: samples of call stacks with their times, and what they were named.

pub(crate) mod entry;

use std::fmt::{self, Display, Formatter};

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

/// A function in a file, in the kernel, or made at run time.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Frame {
    /// Its name, demangled; empty where there is no symbol. For a [`FrameKind::Process`] the program's name.
    pub function: String,
    /// Where its code is: `kernel`, `nf_conntrack`, `libc.so.6`; empty where that is not known.
    pub module: String,
    /// What kind of code it is.
    pub kind: FrameKind,
}

/// What kind of code a frame is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
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

/// What makes the kernel take a sample.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SampledEvent {
    /// A timer that runs while the CPU is in use.
    #[default]
    CpuClock,
    /// A hardware counter of CPU cycles.
    Cycles,
}

/// Something that a profile could not see.
#[derive(Clone, Debug, PartialEq, Eq)]
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
        /// How many. Where every CPU is sampled, other processes' are dropped as well, and this is estimated.
        lost: u64,
    },
    /// A process that runs already could not be sampled, or only some of its threads.
    ProcessHidden {
        /// Its program's name.
        program: String,
        /// The operating system's answer.
        error: String,
    },
}

impl Display for ProfileLimit {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            ProfileLimit::KernelHidden { perf_level } => {
                f.write_str("the kernel's part: the system refuses it")?;
                if let Some(level) = perf_level {
                    write!(f, " (kernel.perf_event_paranoid is {level})")?;
                }
                f.write_str(" → run as root")
            }
            ProfileLimit::KernelSymbolsHidden => f.write_str(
                "the names of the kernel's functions: kernel.kptr_restrict hides them → \
                 run as root, with kernel.kptr_restrict at most 1",
            ),
            ProfileLimit::SamplesLost { lost } => {
                write!(f, "{} that the kernel dropped", printable::quantity(*lost, "sample"))
            }
            ProfileLimit::ProcessHidden { program, error } => {
                write!(f, "{program}: {}", printable::one_line(error))
            }
        }
    }
}

/// The machine code of one function.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MachineCode {
    /// The architecture, as in [`std::env::consts::ARCH`].
    pub architecture: String,
    /// The address of the first byte: in the kernel, or as the file was linked.
    pub address: u64,
    /// The code.
    pub bytes: Vec<u8>,
    /// Source lines by offset, where the file has debug information: `net/socket.c:1380`.
    pub lines: Vec<(u64, String)>,
}

/// Why the code of a function can't be shown.
#[derive(Clone, Debug, PartialEq, Eq)]
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
