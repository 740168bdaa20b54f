//! The flags of `knee simulate lock`, and how their values are read.

use crate::usage;
use clap::Args;
use clap::builder::PossibleValuesParser;
use engine::ROUNDS_MAX;
use quantities::{Value, count_within};
use std::path::PathBuf;
use std::time::Duration;

/// Simulate threads that take turns at a lock
///
/// A model, and no measurement: threads are put on CPUs and preempted as Linux does it, and a lock is
/// what its algorithm makes of that. It shows which locks hold and which collapse on machines that are not
/// at hand. Figures are given as `knee run lock` gives them.
#[derive(Args, Clone, Debug)]
#[command(after_help = MORE)]
pub struct Lock {
    /// CPUs of the machine [default: as many as are here]
    #[arg(long, value_name = "P", allow_hyphen_values = true, value_parser = quantities::count)]
    pub cpus: Option<u64>,
    /// Threads, separated by commas: numbers, or multiples of the CPUs such as 1/2x or 4x
    #[arg(long, value_name = "T", value_delimiter = ',', allow_hyphen_values = true)]
    #[arg(default_value = "1/2x,1x,2x,4x,8x,16x", value_parser = usage::value())]
    pub threads: Vec<Value>,
    /// Locks, separated by commas [default: all that can be simulated]
    #[arg(long = "algorithm", alias = "algorithms", value_name = "NAMES", value_delimiter = ',')]
    #[arg(value_parser = PossibleValuesParser::new(names()), hide_possible_values = true)]
    pub algorithms: Vec<String>,
    /// How long a thread has a CPU while others wait for it
    #[arg(long, value_name = "TIME", default_value = "3ms", value_parser = quantities::time_ns)]
    #[arg(allow_hyphen_values = true)]
    pub slice: u64,
    /// How long a thread has the lock each time: 100ns, 5us
    #[arg(long = "held", value_name = "TIME", default_value = "100ns", value_parser = quantities::time_ns)]
    #[arg(allow_hyphen_values = true)]
    pub held_ns: u64,
    /// How long it works outside in between
    #[arg(long = "outside", value_name = "TIME", default_value = "100ns", value_parser = quantities::time_ns)]
    #[arg(allow_hyphen_values = true)]
    pub outside_ns: u64,
    /// Looks at the lock before a lock that spins first blocks
    #[arg(long, value_name = "N", default_value = "1024", allow_hyphen_values = true)]
    #[arg(value_parser = quantities::count)]
    pub spins: u64,
    /// The time that each cell is simulated for, once every thread has had the lock
    #[arg(long, value_name = "TIME", default_value = "100ms", value_parser = quantities::time_from_ms)]
    #[arg(allow_hyphen_values = true)]
    pub time: Duration,
    /// Passes over all cells, each with a seed of its own
    #[arg(long, value_name = "N", default_value = "5", allow_hyphen_values = true)]
    #[arg(value_parser = count_within::<u32>(1..=ROUNDS_MAX))]
    pub rounds: u32,
    /// Draw at random by this number: the same number gives the same figures
    #[arg(long, value_name = "N", default_value = "1")]
    pub seed: u64,
    /// Write the HTML report to this file
    #[arg(short, long, value_name = "FILE.html")]
    pub output: Option<PathBuf>,
    /// Keep it in this record, marked as simulated [default: it is printed and not kept]
    #[arg(long, value_name = "FILE")]
    pub record: Option<PathBuf>,
    /// Show every table, not the headline metric's only
    #[arg(short, long)]
    pub all: bool,
    /// Print JSON, with every figure
    #[arg(short, long)]
    pub json: bool,
    #[command(flatten)]
    pub costs: Costs,
}

/// What things cost on the machine.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "What things cost on that machine")]
#[expect(clippy::struct_field_names, reason = "units stand last in names")]
pub struct Costs {
    /// A context switch
    #[arg(long = "switch", value_name = "TIME", default_value = "1500ns", value_parser = quantities::time_ns)]
    #[arg(allow_hyphen_values = true)]
    pub switch_ns: u64,
    /// From a wake-up until a CPU that idles begins to run the thread
    #[arg(long = "wake", value_name = "TIME", default_value = "5us", value_parser = quantities::time_ns)]
    #[arg(allow_hyphen_values = true)]
    pub wake_ns: u64,
    /// A system call that puts a thread to sleep or wakes one
    #[arg(long = "call", value_name = "TIME", default_value = "1us", value_parser = quantities::time_ns)]
    #[arg(allow_hyphen_values = true)]
    pub call_ns: u64,
    /// Taking a lock that is free, and releasing it
    #[arg(long = "atomic", value_name = "TIME", default_value = "25ns", value_parser = quantities::time_ns)]
    #[arg(allow_hyphen_values = true)]
    pub atomic_ns: u64,
    /// The way of a cache line from one CPU to another
    #[arg(long = "transfer", value_name = "TIME", default_value = "100ns", value_parser = quantities::time_ns)]
    #[arg(allow_hyphen_values = true)]
    pub transfer_ns: u64,
    /// A look at a lock that is not free, with the pause after it
    #[arg(long = "look", value_name = "TIME", default_value = "20ns", value_parser = quantities::time_ns)]
    #[arg(allow_hyphen_values = true)]
    pub look_ns: u64,
}

const MORE: &str = "\
A measurement and its prediction, on one page:
  knee run lock --record both.db
  knee simulate lock --record both.db
  knee report both.db:1 both.db:2 -o both.html

docs/simulate.md says what the model knows, and what it does not.";

/// Every lock that may be named, also those that can't be simulated: these are refused with the reason.
fn names() -> Vec<&'static str> {
    let simulated = simulate::TABLE.iter().map(|row| row.name);
    simulated.chain(simulate::LEFT_OUT.iter().map(|(name, _)| *name)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_lock_that_is_measured_is_simulated_or_left_out_with_a_reason() {
        let measured: Vec<&str> = locks::TABLE.iter().map(|row| row.name).collect();
        let mut names = names();
        names.sort_by_key(|name| measured.iter().position(|lock| lock == name));
        assert_eq!(names, measured);
    }
}
