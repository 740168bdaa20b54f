//! `knee doctor`: what keeps workloads from running here or figures from being repeatable, and what
//! fixes it.

mod terminal;

use crate::commands::keep::record_file::RecordFile;
use crate::commands::record_path;
use crate::exit::{Exit, Trouble};
use crate::output::{print, print_json, style};
use ::doctor::{self as checks, Examined, Machine, Outcome, State};
use clap::Args;
use clap::builder::PossibleValuesParser;
use report::layout::wrapped_whole;
use std::fmt::Write;
use std::path::Path;

/// The flags of `knee doctor`.
#[derive(Args, Debug)]
#[command(after_help = more())]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of its own")]
pub struct Doctor {
    /// Fix what can be fixed without harm and without a reboot; or these checks only, separated by
    /// commas
    #[arg(long, value_name = "CHECKS", num_args = 0.., value_delimiter = ',')]
    #[arg(value_parser = PossibleValuesParser::new(checks::checks().map(|check| check.name)), hide_possible_values = true)]
    pub fix: Option<Vec<String>>,
    /// Put back what --fix changed, the latest first
    #[arg(long, conflicts_with = "fix")]
    pub undo: bool,
    /// Put it back even where another program or person has changed it since
    #[arg(long, requires = "undo")]
    pub force: bool,
    /// Say of every check why it matters, and for which workloads
    #[arg(short, long)]
    pub all: bool,
    /// Print JSON
    #[arg(short, long)]
    pub json: bool,
    #[command(flatten)]
    pub record_file: RecordFile,
}

const NAMES_WIDTH: usize = 56;

fn more() -> String {
    let mut text = String::from("Checks:\n");
    for group in checks::GROUPS {
        let names: Vec<&str> = group.checks.iter().map(|check| check.name).collect();
        for (number, line) in wrapped_whole(&names.join(", "), NAMES_WIDTH, 0, 0).iter().enumerate()
        {
            let head = if number == 0 { group.name } else { "" };
            let _ = writeln!(text, "  {head:<18} {line}");
        }
    }
    text.push_str(
        "\nStates: ok; warn: it may distort figures; bad: a workload can't do here \
         what it\ndoes by default, or its figures are worth nothing; unknown: it can't be read, and \
         why.\n\n--fix changes these only where they are named:\n",
    );
    for check in checks::checks() {
        if let Some(why) = check.fix_risk {
            let _ = writeln!(text, "  {:<18} {why}", check.name);
        }
    }
    text.push_str(
        "\nThe old settings are saved next to the record (knee-doctor.json) before the first change. A \
         reboot\nputs them back, too.\n\nExit codes: 0 nothing is bad; 5 a check is bad; 1 a setting could not be \
         changed or put back.",
    );
    text
}

pub fn doctor(flags: &Doctor) -> Result<Exit, Trouble> {
    let record = record_path(&flags.record_file)?;
    let saved = checks::state_file(&record);
    if flags.undo {
        return undo(flags, &record, &saved);
    }
    let machine = Machine::here(&record);
    let examined = checks::examine(&machine);
    if let Some(names) = &flags.fix {
        return fix(flags, &machine, &examined, names, &saved);
    }
    if flags.json {
        print_json(&checks::json(&machine, &examined, None, None))?;
    } else {
        print(&terminal::examined(&machine, &examined, &style(flags.all)))?;
    }
    Ok(exit(&examined))
}

fn fix(
    flags: &Doctor,
    machine: &Machine,
    examined: &[Examined],
    names: &[String],
    saved: &Path,
) -> Result<Exit, Trouble> {
    let results = checks::fix(machine, examined, names, saved)?;
    let after = checks::examine(machine);
    if flags.json {
        print_json(&checks::json(machine, &after, Some(&results), None))?;
    } else {
        print(&terminal::fixed(&results, &after, saved, &style(false)))?;
    }
    let left = results.iter().any(|result| matches!(result.outcome, Outcome::Left { .. }));
    Ok(if left { Exit::Failed } else { exit(&after) })
}

fn undo(flags: &Doctor, record: &Path, saved: &Path) -> Result<Exit, Trouble> {
    // Only the JSON says who else uses the machine, and watching takes time.
    let machine = if flags.json { Machine::here(record) } else { Machine::unwatched(record) };
    let report = checks::undo(&machine, saved, flags.force)?;
    if flags.json {
        let examined = checks::examine(&machine);
        print_json(&checks::json(&machine, &examined, None, Some(&report.settings)))?;
    } else {
        print(&terminal::undone(&report, saved, machine.is_root, &style(false)))?;
    }
    let left = report.settings.iter().any(|setting| setting.left.is_some());
    Ok(if left { Exit::Failed } else { Exit::Done })
}

fn exit(examined: &[Examined]) -> Exit {
    let bad = examined.iter().any(|examined| examined.diagnosis.state == State::Bad);
    if bad { Exit::NotPossibleHere } else { Exit::Done }
}
