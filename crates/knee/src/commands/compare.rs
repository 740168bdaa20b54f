//! `knee compare`: two runs beside each other, and whether a gate lets the new one through.

mod baseline;
pub mod flags;
mod verdict;

use crate::commands::compare::flags::{Compare, MARGIN};
use crate::commands::{interleave, read, record_path, report};
use crate::exit::{Exit, Trouble, complain};
use crate::files;
use crate::output::{print, print_exactly, style};
use ::record::{Run, RunState};
use ::report::comparison::{self, Pair};
use analysis::compare::{Comparison, Terms};
use std::path::Path;

/// Compares two runs; or only names one.
pub fn compare(ask: &Compare, command: Vec<String>) -> Result<Exit, Trouble> {
    let record = record_path(&ask.run.record_file).ok();
    if let Some(page) = &ask.run.output {
        report::check(page, record.as_deref())?;
    }
    if let Some(name) = &ask.save_baseline {
        baseline::check(name)?;
        if let Some(run) = named_only(ask) {
            nothing_else(ask)?;
            return print(&baseline::save(ask, name, run)?).map(|()| Exit::Done);
        }
    }
    let (base, new) = runs(ask, command)?;
    let terms = Terms { margin: ask.margin, across: ask.across, all: ask.run.all };
    let comparison = analysis::compare::compare(&base, &new, &terms)
        .map_err(|refused| Trouble::usage(format!("these can't be compared: {refused}")))?;
    let interrupted = [&base, &new].iter().any(|run| run.summary.state != RunState::Complete);
    let exit = match verdict::exit(ask.fail_on, &comparison) {
        _ if interrupted && ask.interleave.is_some() => Exit::Interrupted,
        // Measured and told, but not wholly recorded: why was said.
        _ if ask.interleave.is_some() && new.summary.number == 0 => Exit::Failed,
        exit => exit,
    };
    conclude(ask, (base, new), &comparison, exit)
}

/// Writes the page and the name, and says what came of it. What is printed comes last: a reader that has
/// gone away changes nothing of the rest.
fn conclude(
    ask: &Compare,
    (base, new): (Run, Run),
    comparison: &Comparison,
    exit: Exit,
) -> Result<Exit, Trouble> {
    let text = told(ask, &Pair { base: &base, new: &new, comparison });
    let mut notes = recorded(ask, &base, &new);
    if let Some(name) = &ask.save_baseline {
        let note = match exit {
            Exit::Done => baseline::save_number(ask, name, &new)?,
            _ => format!("Baseline {name}: left as it was\n"),
        };
        notes.push_str(&note);
    }
    if let Some(page) = &ask.run.output {
        write(page, ask, vec![base, new], comparison)?;
        notes.push_str(&["Report: ", &page.display().to_string(), "\n"].concat());
    }
    let said = if ask.run.json || ask.markdown {
        // Standard output is for whoever reads that form.
        notes.lines().for_each(complain);
        print_exactly(&text)
    } else {
        let gap = if notes.is_empty() { "" } else { "\n" };
        print(&[&text, gap, &notes].concat())
    };
    if let Some(why) = verdict::why(ask.fail_on, exit, comparison) {
        complain(&format!("knee: {why}"));
    }
    match said {
        Err(trouble) if exit == Exit::Done => Err(trouble),
        _ => Ok(exit),
    }
}

/// The comparison in the form that was asked for.
fn told(ask: &Compare, pair: &Pair) -> String {
    if ask.run.json {
        format!("{:#}\n", comparison::json(pair))
    } else if ask.markdown {
        comparison::markdown(pair)
    } else {
        comparison::terminal(pair, &style(ask.run.all))
    }
}

/// The run that is to be named, where nothing is to be compared.
fn named_only(ask: &Compare) -> Option<&str> {
    let alone = ask.baseline.is_none() && ask.interleave.is_none();
    match ask.run.workloads.as_slice() {
        [] if alone => Some("last"),
        [only] if alone => Some(only),
        _ => None,
    }
}

/// Where a run is only named, nothing is asked for that needs a comparison.
fn nothing_else(ask: &Compare) -> Result<(), Trouble> {
    let flags = [
        (ask.fail_on.is_some(), "--fail-on"),
        (ask.markdown, "--markdown"),
        (ask.run.json, "--json"),
        (ask.run.output.is_some(), "--output"),
        (ask.run.all, "--all"),
        (ask.across, "--across"),
        ((ask.margin - MARGIN).abs() > f64::EPSILON, "--margin"),
    ];
    let Some((_, flag)) = flags.into_iter().find(|(given, _)| *given) else { return Ok(()) };
    Err(Trouble::usage(format!(
        "{flag} compares, but --save-baseline with a single run only names it: name both (BASE NEW), or \
         --baseline NAME"
    )))
}

/// Both runs, from the record or measured now.
fn runs(ask: &Compare, command: Vec<String>) -> Result<(Run, Run), Trouble> {
    if let Some(with) = &ask.interleave {
        return interleave::interleaved(&ask.run, with, command);
    }
    let named = &ask.run.workloads;
    let (base, new) = match (&ask.baseline, named.as_slice()) {
        (Some(name), []) => (baseline::run(ask, name)?, "last"),
        (Some(name), [new]) => (baseline::run(ask, name)?, new.as_str()),
        (None, [base]) => (base.clone(), "last"),
        (None, [base, new]) => (base.clone(), new.as_str()),
        (None, []) => {
            return Err(Trouble::usage(
                "which runs? `knee compare BASE [NEW]`, --baseline NAME, or --interleave CMD WORKLOAD",
            ));
        }
        (Some(_), more) => {
            let count = more.len();
            return Err(Trouble::usage(format!(
                "--baseline names one of the two runs already, and {count} are named besides"
            )));
        }
        (None, more) => {
            return Err(Trouble::usage(format!(
                "two runs are compared, and {} are named; `knee report` overlays several",
                more.len()
            )));
        }
    };
    let (base, new) = (read(&base, &ask.run.record_file)?, read(new, &ask.run.record_file)?);
    if base.summary.id == new.summary.id {
        return Err(Trouble::usage(format!(
            "both are run {} ({}); name another, or measure one: `knee run`",
            new.summary.number, new.summary.id
        )));
    }
    Ok((base, new))
}

/// Where runs that were measured just now are found again.
fn recorded(ask: &Compare, base: &Run, new: &Run) -> String {
    let numbers = [base.summary.number, new.summary.number];
    match record_path(&ask.run.record_file) {
        Ok(file) if ask.interleave.is_some() && numbers.iter().all(|number| *number > 0) => {
            let [base, new] = numbers;
            format!("Record: {} (runs {base} and {new})\n", file.display())
        }
        _ => String::new(),
    }
}

/// Writes the page of both, whole or not at all.
fn write(
    file: &Path,
    ask: &Compare,
    runs: Vec<Run>,
    comparison: &Comparison,
) -> Result<(), Trouble> {
    // The record may have come to be since the file was looked at.
    report::check(file, record_path(&ask.run.record_file).ok().as_deref())?;
    let analysed = runs.into_iter().map(|run| {
        let conclusions = findings::conclude(&run);
        (run, conclusions)
    });
    let page = comparison::page(&analysed.collect::<Vec<_>>(), comparison);
    files::write(file, |out| out.write_all(page.as_bytes()))
}
