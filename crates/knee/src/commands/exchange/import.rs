//! `knee import`: runs that were exported back into a record, and tables from elsewhere as runs.

use crate::commands::exchange::table_flags::TableFlags;
use crate::commands::keep::claim::Claim;
use crate::commands::keep::record_file::RecordFile;
use crate::commands::measure::run::labels::labels;
use crate::commands::record_location;
use crate::exit::{Exit, Trouble, complain};
use crate::output::print_note;
use crate::remedies::explained;
use crate::usage;
use archive::{Archive, Error, Merged};
use clap::Args;
use foreign_tables::{Input, TableRequest};
use jiff::{Timestamp, civil, tz::TimeZone};
use model::Run;
use report::json::BYTES_MAX;
use std::path::{Path, PathBuf};

#[derive(Args, Debug)]
#[command(after_help = MORE)]
pub struct Import {
    /// Runs as JSON (`knee export --format json`), or tables with a line of column names, separated by
    /// commas, semicolons or tabs; - is standard input
    #[arg(value_name = "FILE", required = true)]
    pub files: Vec<PathBuf>,
    #[command(flatten)]
    pub table: TableFlags,
    /// What the table's workload is called [default: as the file]
    #[arg(long, value_name = "WORKLOAD", value_parser = name)]
    pub name: Option<String>,
    /// Keep this with the table's run, to distinguish it: commit=3701d31; may be repeated
    #[arg(long = "label", value_name = "KEY=VALUE", value_parser = usage::label)]
    pub labels: Vec<(String, String)>,
    /// When the table was measured: 2010-05-12, or 2010-05-12T14:02:11+00:00 [default: when the file
    /// was last changed]
    #[arg(long, value_name = "DATE", value_parser = moment)]
    pub started: Option<String>,
    #[command(flatten)]
    pub record_file: RecordFile,
}

const MORE: &str = "\
A run comes back as it was, under its own id: what is in the record already is not added again. Tables
need --x and --y; what they mean is in `knee help analyse`. Nothing is imported of a file that has
something wrong with it, nor of the other files.

Examples:
  knee import run.json
  knee import latencies.csv --x clients --y p50_us --by server --round day --label commit=3701d31";

fn name(typed: &str) -> Result<String, String> {
    let name = typed.trim();
    let plain = !name.is_empty() && !name.chars().any(char::is_control);
    // A workload of that name would be taken for the harness's control.
    if plain && name != foreign_tables::RESERVED_NAME {
        return Ok(name.to_owned());
    }
    Err(format!("`{name}` can't be the name of a workload"))
}

/// Reads a day or a moment; a day alone begins in UTC.
fn moment(typed: &str) -> Result<String, String> {
    let day = typed.parse::<civil::Date>().ok();
    let day = day.filter(|_| !typed.contains(['T', 't', ' ', ':']));
    let day = day.and_then(|day| day.to_zoned(TimeZone::UTC).ok()).map(|zoned| zoned.timestamp());
    match day.map_or_else(|| typed.parse::<Timestamp>().ok(), Some) {
        Some(moment) => Ok(moment.to_string()),
        None => {
            Err(format!("`{typed}` is no date (such as 2010-05-12 or 2010-05-12T14:02:11+00:00)"))
        }
    }
}

/// A run from a file is not resumed: its plan may hold commands of unknown origin.
const IMPORT: &str = "import";

struct Read {
    name: String,
    run: Run,
    is_table: bool,
}

/// Imports every file, or none where one has something wrong with it.
pub fn import(ask: &Import, words: &[String]) -> Result<Exit, Trouble> {
    let mut bytes_left = BYTES_MAX;
    let mut all = Vec::new();
    for file in &ask.files {
        let words = alone(words, file);
        let mut read = read(ask, Input::open(file)?, words, &mut bytes_left)?;
        IMPORT.clone_into(&mut read.run.summary.origin);
        all.push(read);
    }
    if !all.iter().any(|read| read.is_table)
        && let Some(flag) = flag_for_tables(ask)
    {
        let name = &all[0].name;
        return Err(Trouble::usage(format!(
            "{flag} is for tables, and {name} is a run, which brings all of it along; leave it away"
        )));
    }
    let mut into = archive::open(&record_location(&ask.record_file)?)?;
    let mut refused = false;
    for read in &all {
        refused |= !add(&mut *into, read)?;
    }
    print_note(&format!("Record: {}\n", into.location()))?;
    Ok(if refused { Exit::Failed } else { Exit::Done })
}

/// The command line that imports this file alone: the program, `import`, the file, the flags.
fn alone(words: &[String], file: &Path) -> Vec<String> {
    let is_flag = |word: &String| word.len() > 1 && word.starts_with('-');
    let mut alone: Vec<String> = words.iter().take(2).cloned().collect();
    alone.push(file.to_string_lossy().into_owned());
    let mut value_follows = false;
    for word in words.iter().skip(2) {
        // Every flag has a value, behind an equals sign or as the next word; the others are files.
        if value_follows || is_flag(word) {
            alone.push(word.clone());
        }
        value_follows = !value_follows && is_flag(word) && !word.contains('=');
    }
    alone
}

fn read(
    ask: &Import,
    mut input: Input,
    words: Vec<String>,
    bytes_left: &mut usize,
) -> Result<Read, Trouble> {
    let name = input.name.clone();
    if input.is_run()? {
        let bytes = input.read_up_to(*bytes_left)?;
        let run = json(&name, &bytes, *bytes_left)?;
        *bytes_left -= bytes.len();
        return Ok(Read { name, run, is_table: false });
    }
    let request = TableRequest {
        name: ask.name.clone(),
        labels: labels(&ask.labels)?,
        started: ask.started.clone(),
        ..ask.table.request()
    };
    let run = foreign_tables::read(&request, input, words)?.with_numbers(&name)?;
    Ok(Read { name, run, is_table: true })
}

fn json(name: &str, bytes: &[u8], bytes_max: usize) -> Result<Run, Trouble> {
    const INSTEAD: &str = "export it again (`knee export --format json`), or bring its record in with \
                           `knee record merge`";
    if bytes.len() > bytes_max {
        let mib_max = BYTES_MAX >> 20;
        return Err(Trouble::usage(format!(
            "{name}: more than {mib_max} MiB of JSON; bring its record in with `knee record merge`"
        )));
    }
    report::json::read(bytes)
        .map_err(|error| Trouble::usage(format!("{}; {INSTEAD}", error.in_file(name))))
}

fn flag_for_tables(ask: &Import) -> Option<&'static str> {
    let TableFlags { x, y, by, better, wheres, per, whole, round, sd, n: _, unit, decimal } =
        &ask.table;
    let given = [
        ("--x", x.is_some()),
        ("--y", y.is_some()),
        ("--by", !by.is_empty()),
        ("--better", better.is_some()),
        ("--where", !wheres.is_empty()),
        ("--per", !per.is_empty()),
        ("--of", whole.is_some()),
        ("--round", round.is_some()),
        ("--sd", sd.is_some()),
        ("--unit", unit.is_some()),
        ("--decimal", decimal.is_some()),
        ("--name", ask.name.is_some()),
        ("--label", !ask.labels.is_empty()),
        ("--started", ask.started.is_some()),
    ];
    given.iter().find(|(_, given)| *given).map(|(flag, _)| *flag)
}

/// Adds a run, wholly or not at all, and prints the outcome; returns whether it was added or there.
fn add(into: &mut dyn Archive, read: &Read) -> Result<bool, Trouble> {
    let Read { name, run, is_table } = read;
    let id = &run.summary.id;
    let existing = into.find(id)?;
    // The id of a table stands for all that is in it.
    if let Some(existing) = existing.as_ref().filter(|_| *is_table) {
        print_note(&format!("{name} was there already: run {} ({id})\n", existing.number))?;
        return Ok(true);
    }
    let _claim = Claim::new(id, into.location().file())?;
    match archive::merge(into, run) {
        Ok(Merged::Copied(number)) => {
            print_note(&format!("Imported {name}: run {number} ({id})\n"))?;
        }
        Ok(Merged::Completed(cells)) => {
            print_note(&format!("Completed {id} with {cells} cells of {name}\n"))?;
        }
        Ok(Merged::Alike) => {
            let number = existing.map_or(0, |existing| existing.number);
            print_note(&format!("{name} was there already: run {number} ({id})\n"))?;
        }
        Err(error @ Error::RunDiffers { .. }) => {
            complain(&format!("knee: {name}: {}", explained(&error)));
            return Ok(false);
        }
        Err(error) => return Err(error.into()),
    }
    Ok(true)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_has_the_command_line_of_its_own_file() {
        let typed = ["knee", "import", "a.csv", "--x=n", "b.csv", "--y", "b.csv", "--by", "who"];
        let wanted = ["knee", "import", "b.csv", "--x=n", "--y", "b.csv", "--by", "who"];
        assert_eq!(alone(&typed.map(String::from), Path::new("b.csv")), wanted);
    }

    #[test]
    fn days_and_moments_are_read() {
        assert_eq!(moment("2010-05-12"), Ok("2010-05-12T00:00:00Z".into()));
        assert_eq!(moment("2010-05-12T14:02:11+02:00"), Ok("2010-05-12T12:02:11Z".into()));
        for wrong in ["", "yesterday", "2010-13-01", "2010-05-12T14:02:11"] {
            assert!(moment(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_workload_has_a_name_and_is_not_the_control() {
        assert_eq!(name(" latencies "), Ok("latencies".into()));
        for wrong in ["", "a\u{1b}[1m", foreign_tables::RESERVED_NAME] {
            assert!(name(wrong).is_err(), "{wrong}");
        }
    }
}
