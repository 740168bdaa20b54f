//! What could not be seen, and why.

/// Something that could not be seen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Limitation {
    /// There were more threads than these.
    ThreadsMissing {
        /// How many were found.
        threads: usize,
    },
    /// No more threads could be given a clock.
    ClocksMissing {
        /// How many have one.
        sampled: usize,
        /// How many threads were found.
        threads: usize,
        /// Why: `no more descriptors may be open (ulimit -n)`.
        reason: String,
    },
    /// The system refused to sample some threads.
    Denied {
        /// How many.
        denied: usize,
        /// How many threads were found.
        threads: usize,
        /// The error, and what allows it.
        reason: String,
    },
    /// The system refused samples in the kernel.
    KernelHidden {
        /// What the system allows: `kernel.perf_event_paranoid is 2`.
        perf_level: Option<String>,
    },
    /// The kernel dropped samples.
    SamplesLost {
        /// How many.
        lost: u64,
        /// How many are there.
        samples: u64,
    },
}
