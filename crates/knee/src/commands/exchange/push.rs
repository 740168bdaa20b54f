//! `knee record push` and `knee run --push`: runs of this machine into an archive that many machines share.

use crate::commands::record_file::RecordFile;
use crate::commands::{archives, nothing_yet, record_location};
use crate::exit::{Exit, Trouble, complain};
use crate::output::{is_quiet, print_note};
use ::record::{Archive, Error, Location, Merged, Run, RunState, RunSummary};
use findings::format::shell_word;
use printable::{quantity, replace_unprintable};

/// How a run came to be in the archive.
enum Pushed {
    /// It was not there: the number that it has now.
    Now(i64),
    /// So many cells of it were missing.
    Completed(u64),
    Before,
}

/// Pushes the runs of these `names`, or all that have ended. What is there already is passed over, so the same
/// command goes on after an interruption.
pub fn push(to: &Location, names: &[String], record_file: &RecordFile) -> Result<Exit, Trouble> {
    let from = record_location(record_file)?;
    let source = archives::open_read_only(&from);
    let source = source.map_err(|error| nothing_yet(error, record_file.named().is_some()))?;
    let chosen: Result<Vec<i64>, Error> = names.iter().map(|name| source.resolve(name)).collect();
    let chosen = chosen?;
    let runs = source.runs()?;
    let mut archive = archives::open(to)?;
    let (mut before, mut refused) = (0, 0);
    for run in runs.iter().filter(|run| chosen.is_empty() || chosen.contains(&run.number)) {
        if run.state == RunState::Open {
            // One that is being measured is no failure unless it was named.
            refused += usize::from(!chosen.is_empty());
            complain(&format!("knee: run {} is left out: it has not ended", run.number));
            continue;
        }
        match push_recorded(&*source, run, &mut *archive) {
            Ok(Pushed::Now(number)) => {
                let id = replace_unprintable(&run.id);
                print_note(&format!(
                    "Pushed run {} ({id}): it is run {number} there\n",
                    run.number
                ))?;
            }
            Ok(Pushed::Completed(cells)) => {
                let (number, cells) = (run.number, quantity(cells, "cell"));
                print_note(&format!(
                    "Pushed the {cells} of run {number} that were missing there\n"
                ))?;
            }
            Ok(Pushed::Before) => before += 1,
            Err(error @ (Error::RunDiffers { .. } | Error::Damaged { .. })) => {
                complain(&format!("knee: run {} is left out: {error}", run.number));
                refused += 1;
            }
            Err(error) => return Err(error.into()),
        }
    }
    if before > 0 {
        let were = if before == 1 { "run was" } else { "runs were" };
        print_note(&format!("{before} {were} there already\n"))?;
    }
    print_note(&format!("Archive: {to}\n"))?;
    Ok(if refused == 0 { Exit::Done } else { Exit::Failed })
}

fn push_recorded(
    source: &dyn Archive,
    run: &RunSummary,
    archive: &mut dyn Archive,
) -> Result<Pushed, Error> {
    // Comparing every figure would mean loading both.
    let there = archive.find(&run.id)?;
    if there.is_some_and(|there| is_alike(&there, run)) {
        return Ok(Pushed::Before);
    }
    push_run(&source.load(run.number)?, archive)
}

/// Whether two copies of a run have ended alike, with as many cells.
fn is_alike(there: &RunSummary, run: &RunSummary) -> bool {
    (there.state, &there.ended, there.cells_ended) == (run.state, &run.ended, run.cells_ended)
}

fn push_run(run: &Run, archive: &mut dyn Archive) -> Result<Pushed, Error> {
    Ok(match ::record::merge(archive, run)? {
        Merged::Copied(number) => Pushed::Now(number),
        Merged::Completed(cells) => Pushed::Completed(cells),
        Merged::Alike => Pushed::Before,
    })
}

/// Pushes what was just measured, where that was asked for. What fails is said in one line with the command that
/// repeats it: the runs are in the record of this machine.
pub fn push_measured(to: Option<&Location>, runs: &[&Run], record_file: &RecordFile) -> Exit {
    let Some(to) = to else { return Exit::Done };
    let mut archive = None;
    for run in runs {
        if let Err(what) = push_one(to, run, &mut archive) {
            let number = run.summary.number;
            let again = again(to, number, record_file);
            complain(&format!("knee: run {number} is not pushed: {what}; `{again}` does it later"));
            return Exit::Failed;
        }
    }
    Exit::Done
}

fn push_one(
    to: &Location,
    run: &Run,
    archive: &mut Option<Box<dyn Archive>>,
) -> Result<(), String> {
    if run.summary.state != RunState::Complete {
        return Err("it is not complete".to_owned());
    }
    let open = match archive {
        Some(open) => open,
        None => archive.insert(archives::open(to).map_err(|error| error.to_string())?),
    };
    let pushed = push_run(run, &mut **open).map_err(|error| error.to_string())?;
    if let (Pushed::Now(number), false) = (pushed, is_quiet()) {
        complain(&format!("Pushed: {to} (run {number})"));
    }
    Ok(())
}

/// The command that pushes a run. A URL is shown without its password, which the environment may have.
fn again(to: &Location, run: i64, record_file: &RecordFile) -> String {
    let record = record_file.flag();
    let record = record.map(|file| format!(" --record {}", shell_word(&file.to_string_lossy())));
    let to = shell_word(&to.to_string());
    format!("knee record push {to} {run}{}", record.unwrap_or_default())
}

/// Refuses, before anything is measured, an archive that this knee can never push to.
pub fn check(to: Option<&Location>) -> Result<(), Trouble> {
    to.map_or(Ok(()), |to| Ok(archives::check(to)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_that_repeats_a_push_names_record_and_archive_without_a_password() {
        let to = Location::from("postgres://me:secret@host/perf");
        let command = again(&to, 3, &RecordFile::new("my lab.db"));
        assert_eq!(command, "knee record push 'postgres://***@host/perf' 3 --record 'my lab.db'");
    }
}
