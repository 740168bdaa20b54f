//! What is simulated: a machine, and the work that its threads do.

/// A machine: CPUs, how they are shared out among threads, and what things cost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Machine {
    /// CPUs, all alike and equally far from each other.
    pub cpus: u32,
    /// How long a thread runs while others want its CPU.
    pub slice_ns: u64,
    /// A context switch: from the moment that one thread stops until the next one goes on.
    pub switch_ns: u64,
    /// How long a CPU that idles takes to hear that it has something to run.
    pub wake_ns: u64,
    /// A system call that puts a thread to sleep, or wakes one.
    pub call_ns: u64,
    /// Taking a lock that is free and whose cache line is here, and releasing it.
    pub atomic_ns: u64,
    /// A cache line's way from one CPU to another.
    pub transfer_ns: u64,
    /// One look at a lock that is not free, with the pause after it.
    pub look_ns: u64,
}

impl Default for Machine {
    /// What a machine of today costs, roughly: a slice of Linux, and caches of one socket.
    fn default() -> Machine {
        Machine {
            cpus: 2,
            slice_ns: 3_000_000,
            switch_ns: 1_500,
            wake_ns: 5_000,
            call_ns: 1_000,
            atomic_ns: 25,
            transfer_ns: 100,
            look_ns: 20,
        }
    }
}

/// What the threads do, and for how long.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Work {
    /// How many threads there are.
    pub threads: u32,
    /// How long a thread has the lock each time.
    pub held_ns: u64,
    /// How long it does something else in between, a tenth more or less.
    pub outside_ns: u64,
    /// How often a lock that spins before it blocks looks before it does.
    pub spins: u32,
    /// For how long all this goes on.
    pub time_ns: u64,
    /// By this all that is left to chance is drawn.
    pub seed: u64,
}

impl Default for Work {
    fn default() -> Work {
        Work {
            threads: 2,
            held_ns: 100,
            outside_ns: 100,
            spins: 1 << 10,
            time_ns: 200_000_000,
            seed: 0,
        }
    }
}

/// Why something can't be simulated, in one line.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Wrong(String);

/// The most of anything that is counted: what the model holds in memory, and what ends some day.
const CPUS_MAX: u32 = 1 << 16;
const THREADS_MAX: u32 = 1 << 20;
const TIME_MAX_NS: u64 = 86_400_000_000_000;

impl Machine {
    /// Whether it can be modelled.
    pub(crate) fn check(&self) -> Result<(), Wrong> {
        between("CPUs", u64::from(self.cpus), 1, u64::from(CPUS_MAX))?;
        // A thread that spends its slice on being switched to does nothing at all.
        between("nanoseconds of a slice", self.slice_ns, 1_000, TIME_MAX_NS)?;
        between("nanoseconds of a switch", self.switch_ns, 0, self.slice_ns / 2)?;
        between("nanoseconds of a wake-up", self.wake_ns, 0, TIME_MAX_NS)?;
        between("nanoseconds of a system call", self.call_ns, 0, TIME_MAX_NS)?;
        // An operation that takes no time at all never lets time go on.
        between("nanoseconds of an atomic operation", self.atomic_ns, 1, TIME_MAX_NS)?;
        between("nanoseconds of a transfer", self.transfer_ns, 1, TIME_MAX_NS)?;
        between("nanoseconds of a look", self.look_ns, 1, TIME_MAX_NS)
    }
}

impl Work {
    /// Whether it can be modelled.
    pub(crate) fn check(&self) -> Result<(), Wrong> {
        between("threads", u64::from(self.threads), 1, u64::from(THREADS_MAX))?;
        between("nanoseconds held", self.held_ns, 0, TIME_MAX_NS)?;
        between("nanoseconds outside", self.outside_ns, 0, TIME_MAX_NS)?;
        between("nanoseconds in all", self.time_ns, 1, TIME_MAX_NS)
    }
}

fn between(what: &str, number: u64, min: u64, max: u64) -> Result<(), Wrong> {
    if (min..=max).contains(&number) {
        return Ok(());
    }
    Err(Wrong(format!("{number} {what} can't be simulated: it has to be {min} to {max}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_can_not_be_is_refused_in_one_line() {
        assert_eq!(Machine::default().check(), Ok(()));
        assert_eq!(Work::default().check(), Ok(()));
        let none = Machine { cpus: 0, ..Machine::default() }.check().unwrap_err();
        assert_eq!(none.to_string(), "0 CPUs can't be simulated: it has to be 1 to 65536");
        assert!(Machine { switch_ns: 2_000_000, ..Machine::default() }.check().is_err());
        assert!(Machine { transfer_ns: 0, ..Machine::default() }.check().is_err());
        assert!(Work { threads: 0, ..Work::default() }.check().is_err());
        assert!(Work { time_ns: 0, ..Work::default() }.check().is_err());
    }
}
