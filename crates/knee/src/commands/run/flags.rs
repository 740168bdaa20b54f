//! The flags of `knee run`, and the request that they come to.

use crate::commands::record_file::RecordFile;
use crate::usage;
use clap::Args;
use engine::RunRequest;
use record::Value;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

#[derive(Args, Clone, Debug, Default)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of its own")]
pub struct Run {
    /// What to exercise: see `knee list workloads` [default: the suite and its control]
    #[arg(value_name = "WORKLOAD")]
    pub workloads: Vec<String>,
    /// What to compare, separated by commas [default: all that are available]
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    pub subjects: Vec<String>,
    /// What not to compare, separated by commas
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    pub without: Vec<String>,
    /// Of `build`, leave out the maximal load, as kernbench's -M did: the same as --without maximal
    #[arg(short = 'M', long)]
    pub no_max: bool,
    /// Points on the axis, separated by commas: 100,1k,10k; or, where it is a part of something,
    /// percentages: 1%,50% [default: the workload's own]
    #[arg(long, value_name = "NUMBERS", value_delimiter = ',', allow_hyphen_values = true)]
    #[arg(value_parser = usage::value())]
    pub points: Vec<Value>,
    /// The parameter that grows: see `knee list workloads` [default: the workload's own]
    #[arg(long, value_name = "PARAMETER")]
    pub axis: Option<String>,
    /// Passes over all cells [default: what is usual for each workload, 5 to 9; --full 10]
    #[arg(long, value_name = "N", allow_hyphen_values = true)]
    #[arg(value_parser = quantities::count_within::<u32>(1..=engine::ROUNDS_MAX))]
    pub rounds: Option<u32>,
    /// Time for all of it: rounds go where intervals are still wide, until it is spent; --rounds is then the
    /// most of them
    #[arg(long, value_name = "TIME", value_parser = quantities::time_from_ms, conflicts_with = "resume")]
    pub budget: Option<Duration>,
    /// Stop adding rounds once the 95 % CI is within ±P % of the median; --rounds is then the maximum
    /// [default: 30]
    #[arg(long, value_name = "PERCENTAGE", value_parser = quantities::percentage, conflicts_with = "resume")]
    pub precision: Option<f64>,
    /// The short list of points, and little time for each
    #[arg(long, conflicts_with = "full")]
    pub quick: bool,
    /// All points, more rounds, and more time for each
    #[arg(long)]
    pub full: bool,
    /// Time that one figure of one cell is measured for: 30ms, 1s
    #[arg(long, value_name = "TIME", value_parser = quantities::time_from_ms)]
    pub time: Option<Duration>,
    /// Kill a worker after this time; its cell counts as failed [default: 30s and ten
    /// times --time]
    #[arg(long, value_name = "TIME", value_parser = quantities::time_from_ms)]
    pub deadline: Option<Duration>,
    /// Pin workers to these CPUs, separated by commas
    #[arg(long, value_name = "CPUS", value_delimiter = ',', value_parser = usage::cpu)]
    pub pin: Vec<usize>,
    /// Shuffle the cells by this number, and draw at random by it [default: drawn]
    #[arg(long, value_name = "N")]
    pub seed: Option<u64>,
    /// Complete a run that was interrupted [default: the latest such]
    #[arg(
        long,
        value_name = "RUN",
        num_args = 0..=1,
        default_missing_value = "",
        require_equals = true,
        conflicts_with_all = [
            "workloads", "subjects", "without", "no_max", "points", "axis", "rounds", "quick", "full", "time", "deadline", "pin",
            "seed",
        ]
    )]
    pub resume: Option<String>,
    /// Measure this suite of knee.toml; what flags say besides wins
    #[arg(long, value_name = "NAME", conflicts_with_all = ["resume", "like"])]
    pub suite: Option<String>,
    /// Suites are in this file [default: knee.toml in this directory, or the nearest one above]
    #[arg(long, value_name = "FILE", requires = "suite")]
    pub config: Option<PathBuf>,
    /// Show the plan and the time that it takes, and measure nothing
    #[arg(long, conflicts_with = "resume")]
    pub plan: bool,
    /// Keep this with the run, to tell it from others: commit=3701d31; may be repeated
    #[arg(long = "label", value_name = "KEY=VALUE", value_parser = usage::label, conflicts_with = "resume")]
    pub labels: Vec<(String, String)>,
    /// Call this machine NAME in the record and in reports [default: its host name]
    #[arg(long, value_name = "NAME", conflicts_with = "resume", hide_short_help = true)]
    pub host_name: Option<String>,
    /// Write the HTML report to this file [default: in the record's directory]
    #[arg(short, long, value_name = "FILE.html")]
    pub output: Option<PathBuf>,
    /// Use a classic benchmark's settings and output format: see `knee list originals`
    #[arg(long, value_name = "PROGRAM", conflicts_with_all = ["workloads", "axis", "json", "resume"])]
    pub like: Option<String>,
    /// Show every table, not the headline metric's only
    #[arg(long)]
    pub all: bool,
    /// Print JSON instead of tables
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    pub record_file: RecordFile,
    /// Values of parameters by name, from the flags that the table of workloads gave.
    #[arg(skip)]
    pub parameters: BTreeMap<String, Vec<Value>>,
}

impl Run {
    /// What the flags ask of a run.
    pub fn request(&self) -> RunRequest {
        let maximal = self.no_max.then(|| "maximal".to_owned());
        RunRequest {
            workloads: self.workloads.clone(),
            subjects: self.subjects.clone(),
            without: self.without.iter().cloned().chain(maximal).collect(),
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
            pinned_cpus: self.pin.clone(),
            seed: self.seed,
            overrides: BTreeMap::new(),
        }
    }
}
