//! What processes did at a moment: the shape of a stack sample; and what could not be seen, and why.

mod display;
pub(crate) mod sampler;
mod summary;

use std::collections::BTreeMap;
use std::time::Duration;

/// What some processes did while they were sampled.
#[derive(Clone, Debug, Default)]
pub struct StackSample {
    /// The programs, the one that used most CPU time first.
    pub programs: Vec<Program>,
    /// How many samples there are.
    pub samples: u64,
    /// How long it took, finding the threads included.
    pub duration: Duration,
    /// What could not be seen, and why.
    pub limitations: Vec<Limitation>,
}

/// All processes of one name.
#[derive(Clone, Debug, Default)]
pub struct Program {
    /// The name: `cc1`.
    pub name: String,
    /// Whether it is the target itself, and not only started by it.
    pub is_target: bool,
    /// Whether it only serves whoever samples.
    pub is_helper: bool,
    /// How many processes there were at the first scan.
    pub processes: usize,
    /// How many processes began later.
    pub processes_later: usize,
    /// What the threads of the first scan did.
    pub threads: BTreeMap<ThreadState, usize>,
    /// CPU time of all its threads.
    pub cpu_ns: u64,
    /// How many samples of the whole fell into it.
    pub samples: u64,
    /// The functions with most samples, most first.
    pub functions: Vec<(Function, u64)>,
}

/// What a thread did.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ThreadState {
    /// It ran on a CPU.
    Running,
    /// It could have run, but others did.
    WaitingForCpu,
    /// It waited in the kernel.
    Blocked {
        /// The system call: `futex`.
        call: String,
        /// The function that made the call.
        caller: Option<Function>,
    },
    /// A signal stopped it.
    Stopped,
    /// It has ended, and nothing has waited for its end.
    Exited,
}

/// A function, or what is known in its place.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Function {
    /// Its name, where the file has symbols.
    pub name: Option<String>,
    /// The file that it is in, unless that is the program itself.
    pub module: Option<String>,
    /// The offset in the function with most samples; in the file, if the name is not known.
    pub offset: Option<u64>,
}

/// Something that could not be seen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Limitation {
    /// There were more threads than these.
    ThreadsMissing(usize),
    /// All processes, or one, could not be sampled: why, and what allows it.
    Unsampled(String),
    /// The system refused samples in the kernel. With `kernel.perf_event_paranoid`, where that can be read.
    KernelHidden(Option<i64>),
    /// The kernel dropped samples.
    SamplesLost {
        /// How many.
        lost: u64,
        /// How many are there.
        samples: u64,
    },
}
