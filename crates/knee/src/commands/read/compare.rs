//! `knee compare`: runs next to each other, and whether a gate lets the new ones through.

mod baseline;
pub mod bisect;
pub mod flags;
mod junit;
mod several;
mod verdict;

pub use verdict::{FailedPart, Failure, GateVerdict};

use crate::commands::read::report;
use crate::commands::{concluded_runs, read_run, record_location, record_path};
use crate::exit::{Exit, Trouble, complain, note};
use crate::files;
use crate::output::{print, print_exactly, print_json, print_note, style};
use ::report::matrix::{Matrix, html, json, markdown, terminal};
use analysis::compare::{Comparison, Terms};
use analysis::thresholds::MARGIN;
use archive::{Location, RunRef};
use findings::left_out;
use flags::{Compare, Judgement, Output};
use junit::Case;
use model::Run;
use std::collections::BTreeSet;
use verdict::Evidence;

pub fn compare(compare: &Compare) -> Result<Exit, Trouble> {
    check(&compare.judgement, &compare.output)?;
    if let Some(fleet) = &compare.fleet.fleet {
        return several::compare_fleet(compare, fleet);
    }
    if let (Some(name), Some(run)) = (&compare.judgement.save_baseline, single_run(compare)) {
        refuse_comparing_flags(compare)?;
        return print_note(&baseline::save(&compare.output, name, run)?).map(|()| Exit::Done);
    }
    let names = names(compare)?;
    if names.len() > 2 && compare.judgement.junit.is_some() {
        return Err(Trouble::usage("--junit has the test cases of two runs: leave out the others"));
    }
    let [base, new] = match <[Run; 2]>::try_from(runs(compare, &names)?) {
        Ok(two) => two,
        Err(more) => return several::compare(compare, more, &names),
    };
    let Compare { across, judgement, output, .. } = compare;
    let comparison = compared((&base, &new), *across, judgement, output, 1)?;
    let verdict = verdict(judgement, &comparison, false);
    let holder = holder(&names, output)?;
    conclude(judgement, output, (base, new), &comparison, verdict, &holder, None)
}

/// Refuses a page that can't be written, a name that can't be given and two gates, before anything is measured.
pub fn check(judgement: &Judgement, output: &Output) -> Result<(), Trouble> {
    judgement.check()?;
    if let Some(page) = &output.page {
        report::check(page, record_path(&output.record_file).ok().as_deref())?;
    }
    judgement.save_baseline.as_deref().map_or(Ok(()), baseline::check)
}

/// Compares `base` with `new`, as one of so many `comparisons` that are to hold all at once.
pub fn compared(
    (base, new): (&Run, &Run),
    across: bool,
    judgement: &Judgement,
    output: &Output,
    comparisons: usize,
) -> Result<Comparison, Trouble> {
    let Judgement { margin, fail_above, .. } = *judgement;
    let terms = Terms { margin, fail_above, across, all: output.all };
    analysis::compare::compare_among(base, new, &terms, comparisons).map_err(|refusal| {
        Trouble::usage(format!("these can't be compared: {}", left_out::refusal(&refusal)))
    })
}

pub fn verdict(judgement: &Judgement, comparison: &Comparison, is_bisection: bool) -> GateVerdict {
    judgement.gate().map_or(GateVerdict { exit: Exit::Done, why: None }, |gate| {
        Evidence::new(gate, comparison).verdict(is_bisection)
    })
}

/// What fails and was measured in base, where the gate refuses nothing else.
pub fn only_failures(judgement: &Judgement, comparison: &Comparison) -> BTreeSet<Failure> {
    let gate = judgement.gate();
    gate.map(|gate| Evidence::new(gate, comparison).only_failures()).unwrap_or_default()
}

pub fn conclude(
    judgement: &Judgement,
    output: &Output,
    (base, new): (Run, Run),
    comparison: &Comparison,
    GateVerdict { exit, why }: GateVerdict,
    holder: &Location,
    recorded: Option<String>,
) -> Result<Exit, Trouble> {
    let cases = || judgement.gate().map(|gate| Evidence::new(gate, comparison).cases());
    let compared = Compared {
        json: &|| print_json(&json::comparison(comparison)),
        matrix: &Matrix::pair(&base, &new, comparison),
        page: &|| {
            let runs = concluded_runs([base.clone(), new.clone()]);
            html::page(&runs, &Matrix::pair(&runs[0].0, &runs[1].0, comparison))
        },
        cases: &cases,
        newest: new.summary.number,
        holder: &|| Ok(holder.clone()),
    };
    compared.show(judgement, output, (exit, why.into_iter().collect()), recorded)
}

struct Compared<'a> {
    json: &'a dyn Fn() -> Result<(), Trouble>,
    matrix: &'a Matrix<'a>,
    page: &'a dyn Fn() -> String,
    /// What the gate says of each series and point; none without a gate, or of more than two runs.
    cases: &'a dyn Fn() -> Option<Vec<Case>>,
    /// The number of the run that may be named.
    newest: i64,
    holder: &'a dyn Fn() -> Result<Location, Trouble>,
}

impl Compared<'_> {
    /// Prints first: what can't be written, or a reader that has gone away, costs nothing that was measured.
    fn show(
        &self,
        judgement: &Judgement,
        output: &Output,
        (exit, reasons): (Exit, Vec<String>),
        recorded: Option<String>,
    ) -> Result<Exit, Trouble> {
        let printed = if output.json {
            (self.json)()
        } else if judgement.markdown {
            print_exactly(&markdown::text(self.matrix))
        } else {
            print(&terminal::text(self.matrix, &style(output.all)))
        };
        let mut notes = recorded.unwrap_or_default();
        let kept = self.keep(judgement, output, exit, &mut notes);
        let noted = print_notes(&notes, output.json || judgement.markdown);
        let say = if exit == Exit::Done { note } else { complain };
        for why in &reasons {
            say(&format!("knee: {why}"));
        }
        kept?;
        // A reader that has gone away matters only where nothing else was wrong.
        match printed.and(noted) {
            Err(trouble) if exit == Exit::Done => Err(trouble),
            _ => Ok(exit),
        }
    }

    /// Writes the page and the test cases, and then names the newest run where the gate let it through.
    fn keep(
        &self,
        judgement: &Judgement,
        output: &Output,
        exit: Exit,
        notes: &mut String,
    ) -> Result<(), Trouble> {
        let left = |name: &String| format!("Baseline {name}: left as it was\n");
        if let Some(page) = &output.page {
            let record = record_path(&output.record_file).ok();
            if let Err(trouble) = report::write(page, record.as_deref(), &(self.page)()) {
                notes.extend(judgement.save_baseline.as_ref().map(left));
                return Err(trouble);
            }
            notes.push_str(&["Report: ", &page.display().to_string(), "\n"].concat());
        }
        if let (Some(file), Some(cases)) = (&judgement.junit, (self.cases)()) {
            files::write(file, |out| junit::write(out, &cases))?;
            notes.push_str(&["Test cases: ", &file.display().to_string(), "\n"].concat());
        }
        match &judgement.save_baseline {
            Some(name) if exit == Exit::Done => {
                notes.push_str(&baseline::save_number(&(self.holder)()?, name, self.newest)?);
            }
            name => notes.extend(name.as_ref().map(left)),
        }
        Ok(())
    }
}

/// Prints lines about the files that were written: on standard error where standard output has a form for programs alone.
fn print_notes(notes: &str, is_for_programs: bool) -> Result<(), Trouble> {
    if notes.is_empty() {
        return Ok(());
    }
    if is_for_programs {
        notes.lines().for_each(note);
        return Ok(());
    }
    print_note(&["\n", notes].concat())
}

/// The run that is to be named, where nothing is to be compared.
fn single_run(compare: &Compare) -> Option<&str> {
    match compare.runs.as_slice() {
        [] if compare.baseline.is_none() => Some("last"),
        [only] if compare.baseline.is_none() => Some(only),
        _ => None,
    }
}

/// Where a run is only named, no flag needs a comparison.
fn refuse_comparing_flags(compare: &Compare) -> Result<(), Trouble> {
    let (judgement, output) = (&compare.judgement, &compare.output);
    let flags = [
        (judgement.fail_on.is_some(), "--fail-on"),
        (judgement.fail_above.is_some(), "--fail-above"),
        (judgement.markdown, "--markdown"),
        (judgement.junit.is_some(), "--junit"),
        (output.json, "--json"),
        (output.page.is_some(), "--output"),
        (output.all, "--all"),
        (compare.across, "--across"),
        ((judgement.margin - MARGIN).abs() > f64::EPSILON, "--margin"),
    ];
    let Some((_, flag)) = flags.into_iter().find(|(given, _)| *given) else { return Ok(()) };
    Err(Trouble::usage(format!(
        "{flag} compares, but --save-baseline with a single run only names it: name both (BASE NEW), or \
         --baseline NAME"
    )))
}

/// The names of the runs, the base first; where one is named, the last run is compared with it.
fn names(compare: &Compare) -> Result<Vec<String>, Trouble> {
    let base = compare.baseline.as_ref().map(|name| baseline::run(&compare.output, name));
    let mut names: Vec<String> = base.transpose()?.into_iter().collect();
    names.extend(compare.runs.iter().cloned());
    match names.len() {
        0 => Err(Trouble::usage("which runs? `knee compare BASE [NEW…]`, or --baseline NAME")),
        1 => {
            names.push("last".to_owned());
            Ok(names)
        }
        _ => Ok(names),
    }
}

/// The runs of these names, each another one.
fn runs(compare: &Compare, names: &[String]) -> Result<Vec<Run>, Trouble> {
    let mut runs: Vec<Run> = Vec::new();
    for name in names {
        let run = read_run(name, &compare.output.record_file)?;
        if runs.iter().any(|earlier| earlier.summary.id == run.summary.id) {
            let run = format!("run {} ({})", run.summary.number, run.summary.id);
            return Err(Trouble::usage(match names.len() {
                2 => format!("both are {run}; name another, or measure one: `knee run`"),
                _ => format!("{name}: {run} is named twice"),
            }));
        }
        runs.push(run);
    }
    Ok(runs)
}

/// The record that the last of these runs is in: that of its own name, or the one in use.
fn holder(names: &[String], output: &Output) -> Result<Location, Trouble> {
    let last = names.last().map(|name| RunRef::parse(name)).transpose()?;
    last.and_then(|last| last.record).map_or_else(|| record_location(&output.record_file), Ok)
}
