//! The flags of `knee advise`.

use crate::commands::keep::record_file::RecordFile;
use crate::usage;
use clap::Args;
use model::Value;
use std::time::Duration;

/// Advise which mechanism to use, from what was measured on this machine
///
/// Either for a number of watched descriptors and of those among them that are active at a time, or
/// for a live process, whose waits are looked at for some seconds.
#[derive(Args, Clone, Debug)]
pub struct Advise {
    /// Descriptors that are watched: 1000, 9k
    #[arg(long, value_name = "N", requires = "active", required_unless_present = "pid")]
    #[arg(allow_hyphen_values = true, value_parser = usage::value())]
    pub total: Option<Value>,
    /// Those of them that are active at a time: 50, or a percentage: 5%
    #[arg(long, value_name = "M", requires = "total", allow_hyphen_values = true)]
    #[arg(value_parser = usage::value())]
    pub active: Option<Value>,
    /// Look at this process instead: what its waits watch, and how many events they return
    #[arg(long, value_name = "PID", conflicts_with_all = ["total", "active"])]
    #[arg(allow_hyphen_values = true)]
    pub pid: Option<u32>,
    /// How long to look at the process: 5s, 500ms, or a number of seconds
    #[arg(long, value_name = "TIME", requires = "pid", default_value = "5")]
    #[arg(value_parser = quantities::seconds)]
    pub seconds: Duration,
    /// Sample its call stacks instead: the functions that its CPU time goes to
    #[arg(long, requires = "pid", conflicts_with_all = ["total", "mechanisms", "measure"])]
    pub profile: bool,
    /// Mechanisms to choose from, separated by commas; a family stands for its members: epoll; with --pid
    /// also the one in use [default: all that were measured]
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    pub mechanisms: Vec<String>,
    /// Measure the spot where nothing recorded covers it
    #[arg(long)]
    pub measure: bool,
    /// Print JSON
    #[arg(short, long)]
    pub json: bool,
    #[command(flatten)]
    pub record_file: RecordFile,
}
