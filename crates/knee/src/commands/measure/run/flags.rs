//! The flags of `knee run`, and the request that they come to.

use super::custom::CustomFlags;
use crate::commands::keep::record_file::{RecordFile, archive};
use crate::commands::measure::launchers::FleetFlags;
use crate::usage;
use archive::Location;
use clap::Args;
use engine::{ProfileRate, RunRequest};
use model::Value;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

#[derive(Args, Clone, Debug, Default)]
#[command(after_help = MORE)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of its own")]
pub struct Run {
    /// Workloads to measure [default: the quick suite]
    #[arg(value_name = "WORKLOAD")]
    pub workloads: Vec<String>,
    /// Subjects to compare, with commas; a family too: epoll [default: all]
    #[arg(short, long, value_name = "NAMES", value_delimiter = ',')]
    pub subjects: Vec<String>,
    /// Subjects to leave out, with commas
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    pub without: Vec<String>,
    /// Points on the axis: 100,1k,10k or 1%,50%
    ///
    /// A percentage is of the parameter that the axis is a part of. By default the workload's own points.
    #[arg(short, long, value_name = "NUMBERS", value_delimiter = ',', allow_hyphen_values = true)]
    #[arg(value_parser = usage::point())]
    pub points: Vec<Value>,
    /// Parameter that grows [default: the workload's own]
    #[arg(long, value_name = "PARAMETER")]
    pub axis: Option<String>,
    /// Passes over all cells [default: by workload]
    ///
    /// 5 to 9 by default, 10 with --full.
    #[arg(short, long, value_name = "N", allow_hyphen_values = true)]
    #[arg(value_parser = quantities::count_within::<u32>(1..=engine::ROUNDS_MAX))]
    pub rounds: Option<u32>,
    /// Time for all rounds: 2m; spent where CIs are wide
    ///
    /// --rounds is then the maximum.
    #[arg(long, value_name = "TIME", value_parser = quantities::time_from_ms)]
    pub budget: Option<Duration>,
    /// Add rounds until the 95 % CI is within ±P: 2%
    ///
    /// P is a part of the median. --rounds is then the maximum, 30 by default.
    #[arg(long, value_name = "P", value_parser = quantities::percentage)]
    pub precision: Option<f64>,
    /// Few points, and a short time for each
    #[arg(long, conflicts_with = "full")]
    pub quick: bool,
    /// All points, more rounds, a longer time for each
    #[arg(long)]
    pub full: bool,
    /// Time that one metric of one cell is measured for: 30ms, 1s
    #[arg(long, hide_short_help = true, value_name = "TIME", value_parser = quantities::time_from_ms)]
    pub time: Option<Duration>,
    /// Kill a worker after this time; its cell counts as failed [default: 30s and ten times --time]
    #[arg(long, hide_short_help = true, value_name = "TIME", value_parser = quantities::time_from_ms)]
    pub deadline: Option<Duration>,
    /// After the last round, sample each cell once: which functions take the time, and which grow
    ///
    /// The figures of the rounds stay as they are. HZ is samples a second of each running thread [default: as many as
    /// take 1 % of a CPU here, 997 at most].
    #[arg(long, value_name = "HZ", num_args = 0..=1, default_missing_value = USUAL, require_equals = true)]
    #[arg(value_parser = profile_rate)]
    pub profile: Option<ProfileRate>,
    /// Pin workers to these CPUs: 0,2
    #[arg(long, value_name = "CPUS", value_delimiter = ',', value_parser = usage::cpu)]
    pub pin: Vec<usize>,
    /// Shuffle the cells and draw random numbers by this seed [default: drawn]
    #[arg(long, hide_short_help = true, value_name = "N")]
    pub seed: Option<u64>,
    /// Complete an interrupted run [default: the latest]
    #[arg(long, value_name = "RUN", num_args = 0..=1, default_missing_value = "", require_equals = true)]
    pub resume: Option<String>,
    /// Measure this suite of knee.toml; flags override it
    #[arg(long, value_name = "NAME", conflicts_with = "like")]
    pub suite: Option<String>,
    /// File with the suites [default: knee.toml in this directory or the nearest above]
    #[arg(long, hide_short_help = true, value_name = "FILE", requires = "suite")]
    pub config: Option<PathBuf>,
    /// Print the plan and its time, and measure nothing
    #[arg(long)]
    pub plan: bool,
    /// Record a label: commit=3701d31; may be repeated
    #[arg(short, long = "label", value_name = "KEY=VALUE", value_parser = usage::label)]
    pub labels: Vec<(String, String)>,
    /// Name of this machine in the record and in reports [default: its host name]
    #[arg(long, value_name = "NAME", hide_short_help = true)]
    pub host_name: Option<String>,
    #[command(flatten)]
    pub fleet: FleetFlags,
    /// File of the HTML report [default: by the record]
    #[arg(short, long, value_name = "FILE.html")]
    pub output: Option<PathBuf>,
    /// Settings and output format of a classic benchmark
    ///
    /// `knee list originals` shows them.
    #[arg(long, value_name = "PROGRAM", conflicts_with_all = ["workloads", "axis", "json"])]
    pub like: Option<String>,
    /// Show every table, not the headline metric's only
    #[arg(short, long)]
    pub all: bool,
    /// Show also where the time of the run went: which share of it timed operations
    #[arg(long, conflicts_with_all = ["json", "like"])]
    pub timing: bool,
    /// Print JSON instead of tables
    #[arg(short, long)]
    pub json: bool,
    #[command(flatten)]
    pub record_file: RecordFile,
    /// Push the complete run to this archive too: `postgres://USER@HOST/DATABASE`
    #[arg(long, value_name = "URL", hide_short_help = true, value_parser = archive())]
    pub push: Option<Location>,
    #[command(flatten)]
    pub custom: CustomFlags,
    /// Values of parameters by name, from the flags that the table of workloads gave.
    #[arg(skip)]
    pub parameters: BTreeMap<String, Vec<Value>>,
}

/// The arguments of a resumed run. All others conflict with `--resume`: its plan is in the record.
pub const FOR_RESUMED: [&str; 7] =
    ["resume", "output", "all", "timing", "json", "location", "push"];

const MORE: &str = "\
Workloads: knee list workloads. Parameters of one: knee run WORKLOAD --help.
All flags: knee run --help.";

/// What `--profile` without a rate stands for.
const USUAL: &str = "usual";

fn profile_rate(typed: &str) -> Result<ProfileRate, quantities::Error> {
    if typed == USUAL {
        return Ok(ProfileRate::Usual);
    }
    quantities::count_within(1..=engine::PROFILE_HZ_MAX)(typed).map(ProfileRate::Hz)
}

impl Run {
    pub fn request(&self) -> RunRequest {
        RunRequest {
            workloads: self.workloads.clone(),
            subjects: self.subjects.clone(),
            without: self.without.clone(),
            axis: self.axis.clone(),
            points: self.points.clone(),
            parameters: self.parameters.clone(),
            rounds: self.rounds,
            quick: self.quick,
            full: self.full,
            time: self.time,
            deadline: self.deadline,
            budget: self.budget,
            precision: self.precision,
            profile: self.profile,
            pinned_cpus: self.pin.clone(),
            seed: self.seed,
            custom: None,
            overrides: BTreeMap::new(),
        }
    }
}
