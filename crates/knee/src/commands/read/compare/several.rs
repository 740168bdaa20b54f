//! More than two runs: each further one against the first.

use super::flags::{Compare, Judgement, Output};
use super::{baseline, ended, print_notes, verdict};
use crate::commands::read::fleet;
use crate::commands::read::report;
use crate::commands::{read_run, record_location, record_path};
use crate::exit::{Exit, Trouble, complain, note};
use crate::files;
use crate::output::{print, print_exactly, style};
use ::report::side_by_side::{self, SideBySide};
use analysis::compare::{Several, Terms, compare_several};
use archive::{Location, RunRef};
use findings::{Conclusions, left_out};
use model::Run;
use std::path::Path;

/// Compares the runs of these `names`, the first of which is the base.
pub fn compare(compare: &Compare, names: &[String]) -> Result<Exit, Trouble> {
    let Compare { judgement, output, across, .. } = compare;
    let runs = analysed(names, output)?;
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
    let side = SideBySide { runs: &runs, several: &several, words: names, fleet: None };
    let exit = exit(judgement, &several);
    let text = || side_by_side::compared(&side, &style(output.all));
    conclude(compare, &side, (exit, None), names, text)
}

/// Compares the machines of a fleet with the median machine.
pub fn compare_fleet(compare: &Compare, name: &str) -> Result<Exit, Trouble> {
    let Compare { judgement, output, .. } = compare;
    let given = [
        (!compare.runs.is_empty(), "the names of runs"),
        (compare.baseline.is_some(), "--baseline"),
        (judgement.save_baseline.is_some(), "--save-baseline"),
    ];
    if let Some((_, what)) = given.into_iter().find(|(given, _)| *given) {
        let what = format!("--fleet compares the runs of a fleet: leave out {what}");
        return Err(Trouble::usage(what));
    }
    let Judgement { margin, fail_above, .. } = *judgement;
    let terms = Terms { margin, fail_above, across: true, all: output.all };
    let machines = fleet::machines(name, &output.record_file, &terms, |_| Ok(()))?;
    let (side, several) = (machines.side(), &machines.fleet.several);
    let exit = exit(judgement, several);
    // A machine without a run may be slower.
    let is_open = exit == Exit::Done && machines.ranks_missing > 0 && judgement.gate().is_some();
    let exit = if is_open { Exit::Inconclusive } else { exit };
    let text = || side_by_side::fleet(&side, &machines.head, &style(output.all));
    let open = is_open.then(|| {
        let missing = printable::quantity(machines.ranks_missing as u64, "rank");
        format!("knee: {missing} without figures: the gate can't pass them")
    });
    conclude(compare, &side, (exit, open), &machines.head.names, text)
}

/// Prints the comparison, by `text` for people; keeps what was asked for, and says why it ends as it does, and what is `open`.
fn conclude(
    compare: &Compare,
    side: &SideBySide<'_>,
    (exit, open): (Exit, Option<String>),
    names: &[String],
    text: impl FnOnce() -> String,
) -> Result<Exit, Trouble> {
    let Compare { judgement, output, .. } = compare;
    let printed = if output.json {
        print_exactly(&format!("{:#}\n", side_by_side::json(side)))
    } else if judgement.markdown {
        print_exactly(&side_by_side::markdown(side))
    } else {
        print(&text())
    };
    let mut notes = String::new();
    let kept = keep(compare, side, exit, names, &mut notes);
    let noted = print_notes(&notes, output.json || judgement.markdown);
    say_why(judgement, exit, names, side.several);
    if let Some(open) = open {
        complain(&open);
    }
    kept?;
    ended(exit, printed.and(noted))
}

/// The runs with what is concluded from each; none twice.
fn analysed(names: &[String], output: &Output) -> Result<Vec<(Run, Conclusions)>, Trouble> {
    let mut runs: Vec<(Run, Conclusions)> = Vec::new();
    for name in names {
        let run = read_run(name, &output.record_file)?;
        let is_twice = runs.iter().any(|(earlier, _)| earlier.summary.id == run.summary.id);
        if is_twice {
            return Err(Trouble::usage(format!(
                "{name}: run {} ({}) is named twice",
                run.summary.number, run.summary.id
            )));
        }
        let conclusions = findings::conclude(&run);
        runs.push((run, conclusions));
    }
    Ok(runs)
}

/// The worst end of all comparisons: something different, else something that could not be decided.
fn exit(judgement: &Judgement, several: &Several) -> Exit {
    let exits = several.comparisons.iter().flatten();
    let exits: Vec<Exit> =
        exits.map(|comparison| verdict::exit(judgement.gate(), comparison)).collect();
    let ranked = [Exit::Different, Exit::Inconclusive];
    ranked.into_iter().find(|exit| exits.contains(exit)).unwrap_or(Exit::Done)
}

/// Says of each run why it ends as it does.
fn say_why(judgement: &Judgement, exit: Exit, names: &[String], several: &Several) {
    let say = if exit == Exit::Done { note } else { complain };
    for (name, comparison) in names[1..].iter().zip(&several.comparisons) {
        let Ok(comparison) = comparison else { continue };
        let own = verdict::exit(judgement.gate(), comparison);
        if let Some(why) = verdict::why(judgement.gate(), own, comparison) {
            say(&format!("knee: {name}: {why}"));
        }
    }
}

/// Writes the page, and then names the last run where the gate let all through. Each adds a line to `notes`;
/// where the page can't be written, no run is named.
fn keep(
    compare: &Compare,
    side: &SideBySide<'_>,
    exit: Exit,
    names: &[String],
    notes: &mut String,
) -> Result<(), Trouble> {
    let Compare { judgement, output, .. } = compare;
    let left = |name: &String| format!("Baseline {name}: left as it was\n");
    if let Some(page) = &output.page {
        let written = write(page, output, side);
        if written.is_err() {
            notes.extend(judgement.save_baseline.as_ref().map(left));
            return written;
        }
        notes.push_str(&["Report: ", &page.display().to_string(), "\n"].concat());
    }
    match &judgement.save_baseline {
        Some(name) if exit == Exit::Done => {
            let number = side.runs.last().map_or(0, |(run, _)| run.summary.number);
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

fn write(file: &Path, output: &Output, side: &SideBySide<'_>) -> Result<(), Trouble> {
    report::check(file, record_path(&output.record_file).ok().as_deref())?;
    let page = side_by_side::page(side);
    files::write(file, |out| out.write_all(page.as_bytes()))
}
