//! More than two runs: each further one against the first.

use super::flags::{Compare, Judgement, Output};
use super::{Verdict, baseline, ended, print_notes, print_text, verdict};
use crate::commands::read::fleet;
use crate::commands::read::report;
use crate::commands::{concluded_runs, read_run, record_location, record_path};
use crate::exit::{Exit, Trouble, complain, note};
use crate::files;
use crate::output::print_json;
use ::report::matrix::{Matrix, html, json};
use analysis::compare::{Comparison, Several, Terms, compare_several};
use archive::{Location, RunRef};
use findings::{Conclusions, left_out};
use model::Run;
use std::path::Path;

/// Compares the runs of these `names`, the first of which is the base.
pub fn compare(compare: &Compare, names: &[String]) -> Result<Exit, Trouble> {
    let Compare { judgement, output, across, .. } = compare;
    let runs = concluded_runs(read(names, output)?);
    let Judgement { margin, fail_above, .. } = *judgement;
    let terms = Terms { margin, fail_above, across: *across, all: output.all };
    let several = compare_several(&runs.iter().map(|(run, _)| run).collect::<Vec<_>>(), &terms);
    for (name, result) in names[1..].iter().zip(&several.comparisons) {
        if let Err(refusal) = result {
            let why = left_out::refusal(refusal);
            return Err(Trouble::usage(format!(
                "{} and {name} can't be compared: {why}",
                names[0]
            )));
        }
    }
    let matrix = Matrix::several(&runs, &several, names);
    let verdicts = verdicts(judgement, names, &several);
    conclude(compare, (&runs, &matrix), verdicts, names)
}

/// Compares the machines of a fleet with the median machine.
pub fn compare_fleet(compare: &Compare, name: &str) -> Result<Exit, Trouble> {
    let Compare { judgement, output, .. } = compare;
    let given = [
        (!compare.runs.is_empty(), "the names of runs"),
        (compare.baseline.is_some(), "--baseline"),
        (judgement.save_baseline.is_some(), "--save-baseline"),
        (judgement.junit.is_some(), "--junit"),
    ];
    if let Some((_, what)) = given.into_iter().find(|(given, _)| *given) {
        let what = format!("--fleet compares the runs of a fleet: leave out {what}");
        return Err(Trouble::usage(what));
    }
    let Judgement { margin, fail_above, .. } = *judgement;
    let terms = Terms { margin, fail_above, across: true, all: output.all };
    let machines = fleet::machines(name, &output.record_file, &terms, |_| Ok(()))?;
    let mut verdicts = verdicts(judgement, &machines.head.names, &machines.fleet.several);
    // A machine without a run may be slower.
    if machines.ranks_missing > 0 && judgement.gate().is_some() {
        let missing = printable::quantity(machines.ranks_missing as u64, "rank");
        let why = Some(format!("{missing} without figures: the gate can't pass them"));
        verdicts.push(Verdict { exit: Exit::Inconclusive, why });
    }
    conclude(compare, (&machines.runs, &machines.matrix()), verdicts, &machines.head.names)
}

/// How the comparison of each further run ends; each reason begins with the run's name.
fn verdicts(judgement: &Judgement, names: &[String], several: &Several) -> Vec<Verdict> {
    let compared = names[1..].iter().zip(&several.comparisons);
    let verdict = |(name, comparison): (&String, &Result<Comparison, _>)| {
        let Verdict { exit, why } = verdict(judgement, comparison.as_ref().ok()?, false);
        Some(Verdict { exit, why: why.map(|why| format!("{name}: {why}")) })
    };
    compared.filter_map(verdict).collect()
}

/// Runs with what was concluded from each, and their matrix.
type Compared<'m, 'a> = (&'a [(Run, Conclusions)], &'m Matrix<'a>);

/// Prints the comparison, keeps what was asked for, and ends as the worst of `verdicts` does, each of which says why.
fn conclude(
    compare: &Compare,
    compared: Compared<'_, '_>,
    verdicts: Vec<Verdict>,
    names: &[String],
) -> Result<Exit, Trouble> {
    let Compare { judgement, output, .. } = compare;
    let ranked = [Exit::Different, Exit::Inconclusive].into_iter();
    let mut worst = ranked.filter(|exit| verdicts.iter().any(|verdict| verdict.exit == *exit));
    let exit = worst.next().unwrap_or(Exit::Done);
    let printed = if output.json {
        print_json(&json::matrix(compared.1))
    } else {
        print_text(judgement, output, compared.1)
    };
    let mut notes = String::new();
    let kept = keep(compare, compared, exit, names, &mut notes);
    let noted = print_notes(&notes, output.json || judgement.markdown);
    let say = if exit == Exit::Done { note } else { complain };
    verdicts
        .into_iter()
        .filter_map(|verdict| verdict.why)
        .for_each(|why| say(&format!("knee: {why}")));
    kept?;
    ended(exit, printed.and(noted))
}

/// The runs; none twice.
fn read(names: &[String], output: &Output) -> Result<Vec<Run>, Trouble> {
    let mut runs: Vec<Run> = Vec::new();
    for name in names {
        let run = read_run(name, &output.record_file)?;
        let is_twice = runs.iter().any(|earlier| earlier.summary.id == run.summary.id);
        if is_twice {
            return Err(Trouble::usage(format!(
                "{name}: run {} ({}) is named twice",
                run.summary.number, run.summary.id
            )));
        }
        runs.push(run);
    }
    Ok(runs)
}

/// Writes the page, and then names the last run where the gate let all through. Each adds a line to `notes`;
/// where the page can't be written, no run is named.
fn keep(
    compare: &Compare,
    compared: Compared<'_, '_>,
    exit: Exit,
    names: &[String],
    notes: &mut String,
) -> Result<(), Trouble> {
    let Compare { judgement, output, .. } = compare;
    let left = |name: &String| format!("Baseline {name}: left as it was\n");
    if let Some(page) = &output.page {
        let written = write(page, output, compared);
        if written.is_err() {
            notes.extend(judgement.save_baseline.as_ref().map(left));
            return written;
        }
        notes.push_str(&["Report: ", &page.display().to_string(), "\n"].concat());
    }
    match &judgement.save_baseline {
        Some(name) if exit == Exit::Done => {
            let number = compared.0.last().map_or(0, |(run, _)| run.summary.number);
            let holder = holder(names, output)?;
            notes.push_str(&baseline::save_number(&holder, name, number)?);
        }
        name => notes.extend(name.as_ref().map(left)),
    }
    Ok(())
}

/// The record that the last run is in.
fn holder(names: &[String], output: &Output) -> Result<Location, Trouble> {
    let last = names.last().map(|name| RunRef::parse(name)).transpose()?;
    last.and_then(|last| last.record).map_or_else(|| record_location(&output.record_file), Ok)
}

fn write(file: &Path, output: &Output, (runs, matrix): Compared<'_, '_>) -> Result<(), Trouble> {
    report::check(file, record_path(&output.record_file).ok().as_deref())?;
    let page = html::page(runs, matrix);
    files::write(file, |out| out.write_all(page.as_bytes()))
}
