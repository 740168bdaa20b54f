//! The command line: every command and flag, and nothing of what they do.
//!
//! Flags of parameters, and the names that completions know, come from the table of workloads.

use crate::commands::compare::{self, Compare};
use crate::commands::exchange::export::Export;
use crate::commands::exchange::import::Import;
use crate::commands::exchange::table_flags::TableFlags;
use crate::commands::history::History;
use crate::commands::machine::doctor::Doctor;
use crate::commands::machine::selftest::Selftest;
use crate::commands::serve::httpd::Httpd;
use crate::commands::serve::load::Load;
use crate::commands::simulate::Simulate;
use crate::exit::{CODES, Trouble};
use crate::usage;
use clap::builder::PossibleValuesParser;
use clap::{Arg, ArgAction, ArgMatches, Args, CommandFactory, FromArgMatches, Parser, Subcommand};
use engine::{Parameter, RunRequest, Values};
use record::Value;
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fmt::Write;
use std::path::PathBuf;
use std::time::Duration;

/// Finds where a system stops scaling.
///
/// Measures how the primitives that network servers live on grow as the work grows, and says in
/// plain words what it found. Without a workload, `knee run` measures the quick suite in about two
/// minutes.
#[derive(Debug, Parser)]
#[command(name = "knee", version, propagate_version = true, arg_required_else_help = true)]
pub struct Line {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
pub enum Command {
    /// Measure workloads, and print tables and findings
    Run(Run),
    /// List what there is, and what is unavailable here and why
    List(List),
    /// Show the tables and findings of a run
    Show(Show),
    /// Write the HTML report of one run, or of several overlaid
    Report(Report),
    /// Compare two runs: what is faster, slower or the same, and what else changed
    Compare(Box<Compare>),
    /// Show the runs of a workload over time, and where a level changed
    History(Box<History>),
    /// Export a run for other programs: as a table, a gnuplot script, Markdown, …
    Export(Export),
    /// Import runs that were exported, or tables from elsewhere as runs
    Import(Import),
    /// Analyse a table from elsewhere as if it were a run
    Analyse(Analyse),
    /// Advise which mechanism to use, from what was measured on this machine
    Advise(Advise),
    /// Simulate a workload on a machine that one does not have
    Simulate(Simulate),
    /// Say what limits and disturbs measuring on this machine, and mend it
    Doctor(Doctor),
    /// Hold knee, on this machine, against what is known: a table of what was proved, and what not
    Selftest(Selftest),
    /// Serve a folder over HTTP, by a mechanism of your choice
    Httpd(Httpd),
    /// Put load on a server, and say how it bears it
    Load(Load),
    /// List, locate or delete what is recorded
    Record(Record),
    /// Print completions for a shell
    Completions {
        /// The shell
        shell: clap_complete::Shell,
    },
    /// Print the manual page, or write the pages of all commands
    Man {
        /// Write one page a command into this folder
        #[arg(long = "folder", value_name = "DIR")]
        folder: Option<PathBuf>,
    },
}

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
    /// Suites are in this file [default: knee.toml in this folder, or the nearest one above]
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
    /// Write the HTML report to this file [default: beside the record]
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
    pub place: Place,
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

#[derive(Args, Debug)]
pub struct List {
    /// What to list
    #[arg(value_name = "WHAT", default_value = "all")]
    pub what: What,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum What {
    /// Workloads, mechanisms, locks, likes and suites
    All,
    /// What can be exercised
    Workloads,
    /// Readiness mechanisms
    Mechanisms,
    /// Locks: who comes next, and what those do that wait
    Locks,
    /// Classic benchmarks whose settings and output `knee run --like` uses
    #[value(alias = "likes")]
    Originals,
    /// Suites of knee.toml: see `knee run --suite`
    Suites,
}

#[derive(Args, Debug)]
pub struct Show {
    /// A number, the beginning of an id, `last`, FILE.db or FILE.db:RUN
    #[arg(value_name = "RUN", default_value = "last")]
    pub run: String,
    /// Show every table, not the headline metric's only
    #[arg(long)]
    pub all: bool,
    /// Print JSON, with every sample
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    pub place: Place,
}

#[derive(Args, Debug)]
pub struct Report {
    /// Numbers, beginnings of ids, `last`, FILE.db or FILE.db:RUN
    #[arg(value_name = "RUN", default_value = "last")]
    pub runs: Vec<String>,
    /// Where to write it
    #[arg(short, long, value_name = "FILE.html")]
    pub output: PathBuf,
    #[command(flatten)]
    pub place: Place,
}

#[derive(Args, Debug)]
#[command(after_help = ANALYSE_MORE)]
pub struct Analyse {
    /// The table: a file with a line of column names, separated by commas, semicolons or tabs; - is
    /// standard input
    #[arg(long = "csv", value_name = "FILE", allow_hyphen_values = true)]
    pub file: PathBuf,
    #[command(flatten)]
    pub table: TableFlags,
    /// The column of standard deviations, where each figure is a mean: gives intervals where --x is words
    #[arg(long, value_name = "COL", requires = "n", allow_hyphen_values = true)]
    pub sd: Option<String>,
    /// How many figures each mean is of
    #[arg(long, value_name = "N", requires = "sd", value_parser = quantities::count_within::<u64>(2..=quantities::COUNT_MAX))]
    pub n: Option<u64>,
    /// Write the HTML report to this file
    #[arg(short, long, value_name = "FILE.html")]
    pub output: Option<PathBuf>,
    /// Show every table and every finding
    #[arg(long)]
    pub all: bool,
    /// Print JSON, with every figure
    #[arg(long)]
    pub json: bool,
}

/// What `knee help analyse` says below its flags.
const ANALYSE_MORE: &str = "\
Rows with the same subject and x in one table are repetitions: their median is shown, with its
interval. A figure that is empty, -, – or n/a is none; other text in its place, such as `aborted
after 6 hours`, is the reason why there is none. x may be written 10000, 10,000, 10k, 0.5 or 10%.
Nothing is recorded.

Where x is words, such as `half load`, nothing grows: at each of them the others are compared with
the first, and where there are standard deviations (--sd, --n), with an interval.

Examples:
  knee analyse --csv pipetest.csv --x threads --y tokens_per_s --by mechanism --of pipes \\
      --per machine,pipes -o pipetest.html
  knee analyse --csv kernbench.csv --x load --y elapsed_s --by lock --sd elapsed_sd --n 5";

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
    /// What to choose from, separated by commas [default: all that were measured]
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    pub mechanisms: Vec<String>,
    /// Measure the spot where nothing recorded covers it
    #[arg(long)]
    pub measure: bool,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    pub place: Place,
}

#[derive(Args, Debug)]
pub struct Record {
    #[command(subcommand)]
    pub action: RecordAction,
}

#[derive(Debug, Subcommand)]
pub enum RecordAction {
    /// List the runs
    List {
        /// Print JSON
        #[arg(long)]
        json: bool,
        #[command(flatten)]
        place: Place,
    },
    /// Print where the record is
    Path {
        #[command(flatten)]
        place: Place,
    },
    /// Bring the runs of other records into this one: what is there stays, what is missing is added
    Merge {
        /// Records to bring them from
        #[arg(value_name = "FILE", required = true)]
        files: Vec<PathBuf>,
        #[command(flatten)]
        place: Place,
    },
    /// Remove runs for good
    Delete {
        /// Numbers, beginnings of ids, or `last`
        #[arg(value_name = "RUN", required = true)]
        runs: Vec<String>,
        #[command(flatten)]
        place: Place,
    },
}

#[derive(Args, Clone, Debug, Default)]
pub struct Place {
    /// The record [default: knee/knee.db in the user's data folder]
    #[arg(long = "record", value_name = "FILE")]
    pub file: Option<PathBuf>,
}

/// The whole command line, with what the tables add to it.
pub fn command() -> clap::Command {
    let flags: Vec<Arg> =
        parameters().into_iter().map(|(name, workloads)| flag(name, &workloads)).collect();
    let names: Vec<&str> = workloads::TABLE.iter().map(|row| row.about().name).collect();
    let mut subjects: Vec<&str> = Vec::new();
    for subject in workloads::TABLE.iter().flat_map(|row| row.subjects()) {
        if !subjects.contains(&subject.name) {
            subjects.push(subject.name);
        }
    }
    let axes: Vec<&str> = parameters()
        .into_iter()
        .filter(|(_, workloads)| workloads.iter().any(|(_, of)| of.sweep.is_some()))
        .map(|(name, _)| name)
        .collect();
    let originals: Vec<&str> = crate::like::all().map(|(_, like)| like.name).collect();
    let line = Line::command().after_help(exit_codes());
    // What a table can't do without; of `import` only where what is imported is a table.
    let line = line.mut_subcommand("analyse", |analyse| {
        ["x", "y", "by"]
            .into_iter()
            .fold(analyse, |analyse, flag| analyse.mut_arg(flag, |arg| arg.required(true)))
    });
    let line =
        line.mut_subcommand("compare", |command| compare::adapted(command.args(flags.clone())));
    line.mut_subcommand("run", |run| {
        run.args(flags)
            .mut_arg("workloads", |arg| {
                arg.value_parser(PossibleValuesParser::new(names)).hide_possible_values(true)
            })
            .mut_arg("subjects", |arg| {
                arg.value_parser(PossibleValuesParser::new(subjects.clone()))
                    .hide_possible_values(true)
            })
            .mut_arg("without", |arg| {
                arg.value_parser(PossibleValuesParser::new(subjects)).hide_possible_values(true)
            })
            .mut_arg("like", |arg| {
                arg.value_parser(PossibleValuesParser::new(originals)).hide_possible_values(true)
            })
            .mut_arg("axis", |arg: Arg| {
                arg.value_parser(PossibleValuesParser::new(axes)).hide_possible_values(true)
            })
    })
}

/// Reads the command line.
pub fn parse<W>(words: &[W]) -> Result<Command, Trouble>
where
    W: Into<OsString> + Clone,
{
    let said = |error| usage::said(&error, &usage::typed(&command(), words));
    let matches = command().try_get_matches_from(words.iter().cloned()).map_err(said)?;
    let line = Line::from_arg_matches(&matches).map_err(said)?;
    Ok(match (line.command, matches.subcommand()) {
        (Command::Run(run), Some((_, given))) => {
            Command::Run(Run { parameters: given_parameters(given), ..run })
        }
        (Command::Compare(mut ask), Some((_, given))) => {
            ask.run.parameters = given_parameters(given);
            Command::Compare(ask)
        }
        (command, _) => command,
    })
}

/// A workload's name and its parameter of one name.
type Of = (&'static str, &'static Parameter);

/// The name of every parameter once, with the workloads that have it.
fn parameters() -> Vec<(&'static str, Vec<Of>)> {
    let mut all: Vec<(&'static str, Vec<Of>)> = Vec::new();
    for about in workloads::TABLE.iter().map(|row| row.about()) {
        for parameter in about.parameters {
            let of = (about.name, parameter);
            match all.iter_mut().find(|(name, _)| *name == parameter.name) {
                Some((_, workloads)) => workloads.push(of),
                None => all.push((parameter.name, vec![of])),
            }
        }
    }
    all
}

fn flag(name: &'static str, workloads: &[Of]) -> Arg {
    let names: Vec<&str> = workloads.iter().map(|(workload, _)| *workload).collect();
    // A text may hold commas itself: several are told apart by the flag.
    let text = workloads
        .iter()
        .any(|(_, parameter)| matches!(parameter.values, Values::Text | Values::FolderOr(_)));
    let several = if text { "the flag once for each" } else { "separated by commas" };
    let arg = Arg::new(name)
        .long(name)
        .value_name(if text { "TEXT" } else { "VALUES" })
        .allow_hyphen_values(true)
        .action(ArgAction::Append)
        .conflicts_with("resume")
        .help_heading(format!("Parameters of {} (several values: {several})", names.join(", ")))
        .help(flag_help(workloads));
    if text { arg } else { arg.value_delimiter(',') }
}

/// What the parameter is and may be, and its default in each workload.
fn flag_help(workloads: &[Of]) -> String {
    let Some((_, first)) = workloads.first() else { return String::new() };
    let possible = match first.values {
        Values::OneOf(words) => format!(" [possible: {}]", words.join(", ")),
        _ => String::new(),
    };
    let default = |of: &Of| default_of(*of);
    let mut defaults: Vec<String> = workloads.iter().map(default).collect();
    defaults.dedup();
    let told = if let [only] = defaults.as_slice() {
        only.clone()
    } else {
        let each = workloads.iter().map(|of| format!("{} {}", of.0, default_of(*of)));
        each.collect::<Vec<String>>().join("; ")
    };
    format!("{} [default: {told}]{possible}", first.about)
}

fn default_of((workload, parameter): Of) -> String {
    let about = workloads::TABLE.iter().map(|row| row.about()).find(|about| about.name == workload);
    let (quick, full) = (parameter.default.quick.join(","), parameter.default.full.join(","));
    let own = if quick == full { full } else { format!("{full}; {quick} with --quick") };
    if about.is_some_and(|about| about.axis == parameter.name) {
        return format!("the axis; where it is not, {own}");
    }
    own
}

fn given_parameters(given: &ArgMatches) -> BTreeMap<String, Vec<Value>> {
    parameters()
        .into_iter()
        .filter_map(|(name, workloads)| {
            let (_, parameter) = workloads.first()?;
            let texts = given.get_many::<String>(name)?;
            Some((name.to_owned(), texts.map(|text| parameter.read(text)).collect()))
        })
        .collect()
}

fn exit_codes() -> String {
    let mut text = String::from("Exit codes:\n");
    for (code, meaning) in CODES {
        // Writing to a String can't fail.
        let _ = writeln!(text, "  {code:>3}  {meaning}");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_line_is_consistent() {
        command().debug_assert();
    }

    #[test]
    fn the_tables_parameters_are_flags() {
        let help = command().find_subcommand_mut("run").unwrap().render_long_help().to_string();
        // Lines are broken anywhere.
        let help = help.split_whitespace().collect::<Vec<&str>>().join(" ");
        for (name, workloads) in parameters() {
            assert!(help.contains(&format!("--{name} ")), "{help}");
            assert!(help.contains(&default_of(workloads[0])), "{help}");
        }
    }

    /// The commands in a document's shell blocks.
    fn commands(document: &str) -> Vec<String> {
        let mut blocks = document.split("```sh\n").skip(1).map(|rest| rest.split("```").next());
        let lines = blocks.by_ref().flatten().flat_map(str::lines);
        lines
            .map(|line| line.split(" #").next().unwrap_or(line).trim())
            .filter_map(|line| {
                line.strip_prefix("cargo run --release -- ").or(line.strip_prefix("knee "))
            })
            .map(|words| format!("knee {words}"))
            .collect()
    }

    #[test]
    fn the_commands_in_the_documents_are_understood() {
        let documents = [
            include_str!("../../../README.md"),
            include_str!("../../../CONTRIBUTING.md"),
            include_str!("../../../ARCHITECTURE.md"),
            include_str!("../../../docs/published.md"),
            include_str!("../../../docs/budget.md"),
            include_str!("../../../docs/build.md"),
            include_str!("../../../docs/compare.md"),
            include_str!("../../../docs/doctor.md"),
            include_str!("../../../docs/export.md"),
            include_str!("../../../docs/history.md"),
            include_str!("../../../docs/httpd.md"),
            include_str!("../../../docs/import.md"),
            include_str!("../../../docs/load.md"),
            include_str!("../../../docs/selftest.md"),
            include_str!("../../../docs/simulate.md"),
            include_str!("../../../docs/suites.md"),
        ];
        let commands: Vec<String> =
            documents.iter().flat_map(|document| commands(document)).collect();
        assert!(commands.len() >= 10, "{commands:?}");
        for command in commands {
            let words = shlex::split(&command).unwrap();
            assert!(parse(&words).is_ok(), "{command}");
        }
    }

    #[test]
    fn the_readme_has_every_workload_in_its_own_words() {
        for about in workloads::TABLE.iter().map(|row| row.about()) {
            let row = format!("| `{}` | {} | {} |", about.name, about.question, about.operation);
            assert!(include_str!("../../../README.md").contains(&row), "{row}");
        }
    }

    #[test]
    fn values_of_parameters_are_read_by_their_kind() {
        let words = ["knee", "run", "poll", "--active", "1,1k", "--timeout", "0,-1"];
        let Command::Run(run) = parse(&words.map(String::from)).unwrap() else { panic!() };
        assert_eq!(run.parameters["active"], ["1", "1000"]);
        assert_eq!(run.parameters["timeout"], ["0", "-1"]);
        assert!(!run.parameters.contains_key("object"));
    }
}
