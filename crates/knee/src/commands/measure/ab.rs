//! `knee ab`: two programs or environments, measured in turns, cell by cell, and compared.

pub mod flags;
pub mod gate;
mod query;
mod side;

use super::run;
use crate::commands::keep::push;
use crate::commands::measure::progress::Progress;
use crate::commands::read::compare::bisect;
use crate::commands::read::compare::flags::{FailOn, Output};
use crate::commands::read::compare::{self, GateVerdict};
use crate::commands::record_path;
use crate::exit::{Exit, Trouble, note, stop_on_signals};
use crate::output::print_note;
use archive::{RunWriter, SqliteArchive};
use engine::{Settings, Side};
use flags::Ab;
use model::{NICE, Run, RunState};
use side::Workers;
use std::ffi::OsString;
use std::path::PathBuf;

const WORKERS: &str = "workers";

/// No process is nicer than this.
const NICE_MAX: f64 = 19.0;

pub fn ab(mut ab: Ab, command: &[String]) -> Result<Exit, Trouble> {
    if ab.bisect && ab.judgement.gate().is_none() {
        ab.judgement.fail_on = Some(FailOn::Slower);
    }
    let ab = &ab;
    let output = Output::from_run(&ab.measured);
    compare::check(&ab.judgement, &output)?;
    // Before anything is measured: nothing after that may lose it.
    let record = record_path(&output.record_file)?;
    push::check(ab.measured.push.as_ref())?;
    let (base, new) = in_turns(ab, command)?;
    let recorded = [&base, &new].map(|run| (run, run.summary.number > 0));
    let push = push::Measured::new(ab.measured.push.as_ref(), &recorded);
    // Shown first: an archive may keep us waiting.
    let concluded = concluded(ab, &output, (base, new), record);
    let pushed = push.map_or(Exit::Done, |push| push.push(&output.record_file));
    concluded.map(|exit| match exit {
        // What the archive does not take changes no verdict.
        exit if ab.bisect => bisect::code(exit),
        Exit::Done => pushed,
        exit => exit,
    })
}

fn concluded(
    ab: &Ab,
    output: &Output,
    (base, new): (Run, Run),
    record: PathBuf,
) -> Result<Exit, Trouble> {
    let is_complete = [&base, &new].iter().all(|run| run.summary.state == RunState::Complete);
    let numbers = [base.summary.number, new.summary.number];
    let recorded = numbers.iter().all(|number| *number > 0).then(|| {
        let [base, new] = numbers;
        format!("Record: {} (runs {base} and {new})\n", record.display())
    });
    let comparison = match compare::compared((&base, &new), false, &ab.judgement, output, 1) {
        Ok(comparison) => comparison,
        Err(trouble) if ab.bisect && is_complete => return Ok(bisect::skip(&trouble.to_string())),
        Err(trouble) => return not_compared(&trouble, is_complete, recorded.as_deref(), output),
    };
    let verdict = match compare::verdict(&ab.judgement, &comparison, ab.bisect) {
        _ if !is_complete => GateVerdict { exit: Exit::Interrupted, why: None },
        // Measured and printed, but not wholly recorded: a line on standard error says why.
        _ if new.summary.number == 0 => GateVerdict { exit: Exit::Failed, why: None },
        verdict => verdict,
    };
    compare::conclude(
        &ab.judgement,
        output,
        (base, new),
        &comparison,
        verdict,
        &record.into(),
        recorded,
    )
}

/// What both measured can't be compared, as where every cell failed: the record has it all the same.
fn not_compared(
    why: &Trouble,
    is_complete: bool,
    recorded: Option<&str>,
    output: &Output,
) -> Result<Exit, Trouble> {
    why.say();
    match recorded {
        Some(recorded) if output.json => note(recorded.trim_end()),
        Some(recorded) => print_note(recorded)?,
        None => {}
    }
    Ok(if is_complete { Exit::Failed } else { Exit::Interrupted })
}

/// Measures the request twice, in turns. Runs that are not wholly in the record come back with the number 0.
fn in_turns(ab: &Ab, command: &[String]) -> Result<(Run, Run), Trouble> {
    let programs = ab.programs.as_ref().map(gate::Programs::new).transpose()?;
    let sides = programs.as_ref().map_or_else(|| workers(&ab.sides), |two| Ok(two.workers()))?;
    let measured = &ab.measured;
    if measured.budget.is_some() || measured.precision.is_some() {
        let what = "knee ab measures every round of both: leave out --budget and --precision";
        return Err(Trouble::usage(what));
    }
    let labels = run::labels::labels(&measured.labels)?;
    if labels.contains_key(WORKERS) {
        let what = format!("--label {WORKERS}: knee ab writes how workers were started there");
        return Err(Trouble::usage(format!("{what}; take another key")));
    }
    let stop = stop_on_signals()?;
    engine::raise_descriptors_max();
    let file = record_path(&measured.record_file)?;
    let own_path = || std::env::var_os("PATH").unwrap_or_default();
    let paths =
        sides.each_ref().map(|side| side.search_path().map_or_else(own_path, OsString::from));
    let (plan, secrets) = run::planned_in_turns(measured, paths)?;
    let mut settings = Settings::new(engine::calibrate(), stop);
    settings.secrets = secrets;
    let begun = |side: &Workers| -> Result<Run, Trouble> {
        let mut run = run::new_run(measured, plan.clone(), command.to_vec(), &settings.clock);
        run.summary.labels.extend(labels.clone());
        run.summary.labels.insert(WORKERS.to_owned(), side.label());
        run.summary.version = side.version(&plan, &settings)?;
        if let Some(more) = side.niceness() {
            let nice = run.host_before.number(NICE).unwrap_or(0.0) + f64::from(more);
            run.host_before.facts.insert(NICE.to_owned(), nice.min(NICE_MAX).into());
        }
        Ok(run)
    };
    let skipped = |trouble: Trouble| if ab.bisect { trouble.skipped() } else { trouble };
    let (mut base, mut new) = (begun(&sides[0])?, begun(&sides[1]).map_err(skipped)?);
    base.plan.paired_with.clone_from(&new.summary.id);
    new.plan.paired_with.clone_from(&base.summary.id);
    let (mut archives, _claims) = run::begin([&mut base, &mut new], &file)?;
    measure([&mut base, &mut new], &mut archives, sides, &settings);
    if [&base, &new].iter().any(|run| run.cells.is_empty()) {
        return Err(Trouble::interrupted("interrupted before there was anything to compare"));
    }
    Ok((base, new))
}

/// The workers of base and new: where one side is named, the base is this knee.
fn workers(typed: &[String]) -> Result<[Workers; 2], Trouble> {
    match typed {
        [new] => Ok([Workers::default(), Workers::through(new)?]),
        [base, new] => Ok([Workers::through(base)?, Workers::through(new)?]),
        _ => Err(Trouble::usage("name one or two sides: knee ab [BASE] NEW -- WORKLOAD")),
    }
}

fn measure(
    [base, new]: [&mut Run; 2],
    archives: &mut [SqliteArchive],
    workers: [Workers; 2],
    settings: &Settings,
) {
    let mut progress = Progress::for_plan(&base.plan, 2);
    let mut archives = archives.iter_mut().map(|archive| archive as &mut dyn RunWriter);
    let mut starters = workers.map(|workers| workers.starter);
    let runs = [&mut *base, &mut *new].into_iter();
    let sides = runs.zip(&mut starters).map(|(run, instrument)| Side {
        run,
        archive: archives.next(),
        instrument,
        judge: None,
    });
    let unsaved = engine::run(sides.collect(), settings, &mut progress);
    progress.done();
    for (side, unsaved) in ["base", "new run"].iter().zip(&unsaved) {
        let Some(unsaved) = unsaved else { continue };
        Trouble::failed(format!("the {side}: {}", run::lost(unsaved))).say();
        base.summary.number = 0;
        new.summary.number = 0;
    }
}

fn refused(typed: &str, why: &str) -> Trouble {
    Trouble::usage(format!("knee ab '{typed}': {why}"))
}
