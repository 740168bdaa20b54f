//! A thread: what it does, where it is, and what it has got.

/// What a thread does, or goes on with when it has a CPU again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Activity {
    /// Its own affairs.
    Outside,
    /// It has been given the lock, or found it free, and is about to have it.
    Taking,
    /// It has the lock.
    Held,
    /// It looks at the lock again and again.
    Spinning,
    /// A system call that puts it to sleep.
    GoesToSleep,
    /// A system call that wakes a thread that sleeps: that one, or the first.
    Wakes(Option<u32>),
}

impl Activity {
    /// Whether it is done in the kernel.
    pub fn is_system(self) -> bool {
        matches!(self, Activity::GoesToSleep | Activity::Wakes(_))
    }
}

/// Where a thread is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RunState {
    /// On a CPU, which is still busy switching to it.
    Switching,
    /// On a CPU.
    Running,
    /// In a CPU's queue: it could run.
    Queued,
    /// Asleep, until somebody wakes it.
    Asleep,
}

/// No end: what goes on until somebody else ends it.
pub const ENDLESS: u64 = u64::MAX;

/// The [`Thread::spot`] of a thread that is not among those that spin.
pub const NO_SPOT: usize = usize::MAX;

/// One thread.
#[derive(Clone, Debug)]
pub struct Thread {
    pub activity: Activity,
    pub run_state: RunState,
    /// The CPU that it is on, or was on last.
    pub cpu: u32,
    /// What is left of what it does, where it does not run.
    pub left_ns: u64,
    /// When what it does ends, where it runs.
    pub ends_ns: u64,
    /// Since when its CPU time has not been counted.
    pub since_ns: u64,
    /// Raised when what it does changes: events with an older stamp mean nothing any more.
    pub stamp: u32,
    /// The CPU time that it has had, by the account of its CPU's queue.
    pub virtual_ns: u64,
    /// When it came to the lock.
    pub arrived_ns: u64,
    /// Whether it slept for the lock this time.
    pub slept: bool,
    /// Whether it was woken and has not run since.
    pub was_woken: bool,
    /// Its place among those that spin.
    pub spot: usize,
    /// Whether it has ever had the lock.
    pub was_served: bool,
    /// How often it had the lock, of those times that count.
    pub acquisitions: u64,
}

impl Thread {
    /// One that has `left_ns` of its own affairs before it, in the queue of `cpu`.
    pub fn new(cpu: u32, left_ns: u64) -> Thread {
        Thread {
            activity: Activity::Outside,
            run_state: RunState::Queued,
            cpu,
            left_ns,
            ends_ns: ENDLESS,
            since_ns: 0,
            stamp: 0,
            virtual_ns: 0,
            arrived_ns: 0,
            slept: false,
            was_woken: false,
            spot: NO_SPOT,
            was_served: false,
            acquisitions: 0,
        }
    }
}
