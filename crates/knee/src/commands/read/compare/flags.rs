//! The flags of `knee compare`, and those that it shares with `knee ab`.

use super::junit;
use crate::commands::keep::record_file::RecordFile;
use crate::commands::measure::run::flags::Run;
use crate::commands::read::fleet::FleetFlag;
use crate::exit::Trouble;
use crate::files;
use clap::{Args, ValueEnum};
use std::path::PathBuf;

#[derive(Args, Debug)]
#[command(after_help = MORE)]
pub struct Compare {
    /// BASE and NEW [default: last], or several NEW: numbers, beginnings of ids, `last`, `last@HOST`, FILE.db or
    /// FILE.db:RUN
    #[arg(value_name = "RUN")]
    pub runs: Vec<String>,
    /// Compare with the run of this name: see --save-baseline
    #[arg(long, value_name = "NAME")]
    pub baseline: Option<String>,
    /// Compare runs of two machines too
    #[arg(long)]
    pub across: bool,
    #[command(flatten)]
    pub fleet: FleetFlag,
    #[command(flatten)]
    pub judgement: Judgement,
    #[command(flatten)]
    pub output: Output,
}

/// How two runs are judged, and what follows from it.
#[derive(Args, Debug)]
pub struct Judgement {
    /// Name RUN, or the last; with a comparison, name the new run unless the gate fails
    #[arg(long, value_name = "NAME")]
    pub save_baseline: Option<String>,
    /// What counts as no difference: a ratio whose whole CI lies within this is the same
    #[arg(long, value_name = "PERCENT", default_value = "5%", value_parser = quantities::percentage)]
    pub margin: f64,
    /// Exit with 3 where something is surely slower by more than this: its whole CI lies above; with 4 where
    /// the CI of a headline series or point reaches above it
    #[arg(long, value_name = "PERCENT", value_parser = quantities::slowdown)]
    pub fail_above: Option<f64>,
    /// Exit with 3 where something is slower, or changed, by however little, or grows by a worse class; with 4 where
    /// that is undecided. `class` may stand next to --fail-above
    #[arg(long, value_name = "WHAT")]
    pub fail_on: Option<FailOn>,
    /// Let a gate pass though series, points, metrics or workloads of BASE have nothing in NEW to be compared with
    #[arg(long)]
    pub ignore_missing: bool,
    /// Print Markdown, for a pull request
    #[arg(long)]
    pub markdown: bool,
    /// Write what the gate says of each series and point to this file, as test cases
    #[arg(long, value_name = "FILE.xml")]
    pub junit: Option<PathBuf>,
}

/// Where and how much of a comparison is written.
#[derive(Args, Debug)]
pub struct Output {
    /// Write the page of the runs overlaid to this file
    #[arg(short = 'o', long = "output", value_name = "FILE.html")]
    pub page: Option<PathBuf>,
    /// Compare all metrics, and show the medians
    #[arg(short, long)]
    pub all: bool,
    /// Print JSON instead of tables
    #[arg(short, long, conflicts_with = "markdown")]
    pub json: bool,
    #[command(flatten)]
    pub record_file: RecordFile,
}

impl Output {
    pub fn from_run(run: &Run) -> Self {
        let (page, record_file) = (run.output.clone(), run.record_file.clone());
        Self { page, all: run.all, json: run.json, record_file }
    }
}

const MORE: &str = "\
Faster and slower are clear of chance, over all ratios at once; the same is what lies within the margin
with its whole interval; all else is undecided. docs/compare.md says how. `knee ab` measures two programs
or environments in turns, and compares them.

Examples:
  knee compare 7                                    # run 7 with the last
  knee compare 7 9 -o compared.html                 # and a page with both overlaid
  knee compare 7 8 9 a.db:2                         # each further one with run 7
  knee compare --fleet last --fail-above 10%        # exit 3 where a machine is surely 10 % slower
  knee compare --save-baseline main                 # the last run is the one to compare with
  knee compare --baseline main --fail-above 10%     # exit 3 where something is surely 10 % slower
  knee compare --baseline main --fail-on slower     # exit 3 where anything is slower";

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum FailOn {
    /// A headline series or point is slower, or grows or ends worse
    Slower,
    /// Anything that is compared changed, for the worse or the better
    Changed,
    /// A headline series grows by a worse class, such as quadratic instead of linear
    Class,
}

const JUNIT: files::Kind = files::Kind { name: "test cases of knee", mark: junit::BEGINNING };

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Gate {
    pub refused: Refused,
    pub classes: bool,
    pub ignores_missing: bool,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Refused {
    On(FailOn),
    Above(f64),
}

impl Judgement {
    pub fn gate(&self) -> Option<Gate> {
        let refused = self.fail_above.map(Refused::Above).or(self.fail_on.map(Refused::On));
        refused.map(|refused| Gate {
            refused,
            classes: self.fail_on == Some(FailOn::Class),
            ignores_missing: self.ignore_missing,
        })
    }

    /// Refuses two gates of which one would hide the other, and test cases of none.
    pub fn check(&self) -> Result<(), Trouble> {
        if let Some(file) = &self.junit {
            if self.gate().is_none() {
                return Err(Trouble::usage("--junit: name a gate, such as --fail-above 10%"));
            }
            files::check(file, &JUNIT, &[])?;
        }
        match (self.fail_above, self.fail_on) {
            (Some(_), Some(FailOn::Slower | FailOn::Changed)) => Err(Trouble::usage(
                "--fail-above says how much slower is too much: next to it, --fail-on is class or nothing",
            )),
            _ => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use analysis::thresholds::MARGIN;
    use clap::{Command, FromArgMatches};

    #[test]
    fn a_gate_for_classes_may_stand_next_to_a_limit_and_no_other_may() {
        let read = |words: &[&str]| {
            let command = Compare::augment_args(Command::new("compare"));
            let line = [&["compare", "7", "--fail-on"], words].concat();
            let matches = command.try_get_matches_from(line).unwrap();
            let judgement = Compare::from_arg_matches(&matches).unwrap().judgement;
            (judgement.gate().unwrap(), judgement.check().is_ok())
        };
        let gate = |refused, classes| Gate { refused, classes, ignores_missing: false };
        let alone = gate(Refused::On(FailOn::Class), true);
        assert_eq!(read(&["class"]), (alone, true));
        let both = gate(Refused::Above(0.1), true);
        assert_eq!(read(&["class", "--fail-above", "10%"]), (both, true));
        assert!(!read(&["slower", "--fail-above", "10%"]).1);
    }

    #[test]
    fn the_margin_is_the_default_of_every_comparison() {
        let command = Compare::augment_args(Command::new("compare"));
        let matches = command.try_get_matches_from(["compare", "7"]).unwrap();
        let compare = Compare::from_arg_matches(&matches).unwrap();
        assert!((compare.judgement.margin - MARGIN).abs() < f64::EPSILON);
    }
}
