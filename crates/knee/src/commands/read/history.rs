//! `knee history`: the runs of a record over time, and where a level changed.

mod gate;

use crate::commands::keep::record_file::RecordFile;
use crate::commands::read::report::check;
use crate::commands::{concluded_runs, loaded, opened, record_location};
use crate::exit::{Exit, Trouble};
use crate::files;
use crate::output::{print, print_json, style};
use crate::usage;
use ::report::matrix::{Matrix, html, json, terminal};
use analysis::compare;
use analysis::history::across::{RunOfValue, across, choose, narrow};
use analysis::history::{Measured, Terms, Wanted, history as join, measured};
use clap::{Args, ValueEnum};
use gate::Gate;
use jiff::Timestamp;
use jiff::civil::Date;
use model::{Run, RunSummary, WorkloadInfo};
use std::path::PathBuf;

#[derive(Args, Debug)]
#[command(after_help = MORE)]
pub struct History {
    /// The workload: one that was measured, see `knee record list`
    #[arg(value_name = "WORKLOAD")]
    pub workload: String,
    /// Only these subjects, separated by commas; a family stands for its members: epoll
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    pub subjects: Vec<String>,
    /// Only these points, separated by commas: 100,1k
    #[arg(long, value_name = "NUMBERS", value_delimiter = ',', value_parser = quantities::count)]
    pub points: Vec<u64>,
    /// Only the newest N runs of the workload
    #[arg(long, value_name = "N", value_parser = quantities::count_within::<u32>(1..=u32::MAX.into()))]
    pub last: Option<u32>,
    /// Only runs from this day on: 2026-11-20
    #[arg(long, value_name = "DATE", value_parser = day)]
    pub since: Option<Date>,
    /// Only runs with this label, or with this value of it; where a level changes, it is named
    #[arg(long, value_name = "KEY[=VALUE]", value_parser = wanted_label)]
    pub label: Option<Label>,
    /// Compare across the values of a fact or a label, one run for each, versions in their order: kernel
    #[arg(long, value_name = "FACT|LABEL", conflicts_with_all = ["fail_above", "fail_on"])]
    pub by: Option<String>,
    /// Leave out changes of less than this
    #[arg(long, value_name = "PERCENT", default_value = "2%", value_parser = quantities::percentage)]
    pub margin: f64,
    /// Exit with 3 where the newest run makes certain that something is slower by more than this: its whole
    /// CI lies above; with 4 where it shows that without being certain, or a line has too few runs to tell
    #[arg(long, value_name = "PERCENT", value_parser = quantities::percentage, conflicts_with = "fail_on")]
    pub fail_above: Option<f64>,
    /// Exit with 3 where the newest run makes certain that something is slower; with 4 where it shows that
    /// without being certain, or a line has too few runs to tell
    #[arg(long, value_name = "WHAT")]
    pub fail_on: Option<FailOn>,
    /// All metrics, not the headline metric only, and the lines that did not change
    #[arg(short, long)]
    pub all: bool,
    /// Print JSON
    #[arg(short, long)]
    pub json: bool,
    /// Write a page, with every line drawn
    #[arg(short, long, value_name = "FILE.html")]
    pub output: Option<PathBuf>,
    #[command(flatten)]
    pub record_file: RecordFile,
}

const MORE: &str = "\
Runs are joined where they are comparable with the newest: the same version of the workload, along the
same axis, on the same machine. What is left out is named. docs/history.md says how changes are found.

Examples:
  knee run poll --label commit=$(git rev-parse --short HEAD)
  knee history poll -o poll.html
  knee history poll --last 30 --label commit --fail-above 5%
  knee history poll --by kernel -o kernels.html     # a kernel a column, and which step is significant";

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum FailOn {
    /// A series is slower, or otherwise worse, and only the newest run shows it
    Slower,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Label {
    key: String,
    value: Option<String>,
}

fn wanted_label(typed: &str) -> Result<Label, String> {
    if typed.contains('=') {
        let (key, value) = usage::label(typed)?;
        return Ok(Label { key, value: Some(value) });
    }
    let key = typed.trim();
    if key.is_empty() {
        return Err("an empty word is no label (such as commit or commit=3701d31)".to_owned());
    }
    Ok(Label { key: key.to_owned(), value: None })
}

fn day(typed: &str) -> Result<Date, String> {
    typed.trim().parse().map_err(|_| format!("`{typed}` is not a day (such as 2026-11-20)"))
}

pub fn history(ask: &History) -> Result<Exit, Trouble> {
    if let Some(page) = &ask.output {
        check(page, Some(record_location(&ask.record_file)?.shown()))?;
    }
    if let Some(key) = &ask.by {
        return across_values(ask, key);
    }
    let terms =
        Terms { margin: ask.margin, label: ask.label.as_ref().map(|label| label.key.clone()) };
    let (runs, without_figures) = runs(ask)?;
    let history = join(runs, &terms);
    let Some(history) = history.filter(|history| !history.lines.is_empty()) else {
        return Err(nothing(ask));
    };
    shown(
        ask,
        || report::history::html::page(&history),
        || print_json(&report::history::json::value(&history)),
        || report::history::terminal::text(&history, &style(ask.all)),
    )?;
    let gate = Gate::new(ask);
    Ok(gate.map_or(Exit::Done, |gate| gate.exit(&history, &without_figures)))
}

fn shown(
    ask: &History,
    page: impl FnOnce() -> String,
    json: impl FnOnce() -> Result<(), Trouble>,
    text: impl FnOnce() -> String,
) -> Result<(), Trouble> {
    if let Some(file) = &ask.output {
        let page = page();
        files::write(file, |out| out.write_all(page.as_bytes()))?;
    }
    if ask.json {
        return json();
    }
    let mut text = text();
    if let Some(file) = &ask.output {
        text.push_str(&["Report: ", &file.display().to_string(), "\n"].concat());
    }
    print(&text)
}

fn across_values(ask: &History, key: &str) -> Result<Exit, Trouble> {
    let chosen = choose(runs(ask)?.0, key).ok_or_else(|| nothing(ask))?;
    if chosen.values.is_empty() {
        return Err(Trouble::usage(format!(
            "--by {key}: no run of {} has such a label or fact; `knee show --json` shows what a run has",
            ask.workload
        )));
    }
    let archive = opened(&ask.record_file)?;
    let load = |value: &RunOfValue| archive.load(value.run.summary.number);
    let mut with_samples: Vec<Run> = chosen.values.iter().map(load).collect::<Result<_, _>>()?;
    let terms = compare::Terms { margin: ask.margin, fail_above: None, across: true, all: ask.all };
    let newest = with_samples.iter().max_by_key(|run| run.summary.number);
    let wanted = newest.map(|run| wanted(ask, run)).unwrap_or_default();
    for run in &mut with_samples {
        narrow(run, &ask.workload, &wanted);
    }
    let across = across(chosen, &with_samples.iter().collect::<Vec<_>>(), &terms);
    let runs = concluded_runs(with_samples);
    let matrix = Matrix::across(&runs, &across);
    shown(
        ask,
        || html::page(&runs, &matrix),
        || print_json(&json::matrix(&matrix)),
        || terminal::text(&matrix, &style(ask.all)),
    )?;
    Ok(Exit::Done)
}

/// The wanted part of each run, and the newer runs without a figure. One at a time is in memory with its samples.
fn runs(ask: &History) -> Result<(Vec<Measured>, Vec<i64>), Trouble> {
    let archive = opened(&ask.record_file)?;
    let mut summaries: Vec<RunSummary> =
        archive.runs()?.into_iter().filter(|run| is_wanted(ask, run)).collect();
    // Merged records are in no order of time; offsets differ from one place to another.
    summaries.sort_by_cached_key(|run| (run.started.parse::<Timestamp>().ok(), run.number));
    let runs_max = ask.last.map_or(usize::MAX, |last| last as usize);
    let (mut runs, mut without_figures) = (Vec::new(), Vec::new());
    for summary in summaries.iter().rev() {
        if runs.len() == runs_max {
            break;
        }
        let run = loaded(&*archive, summary.number);
        // A run of another workload is none of this history.
        let is_other = |info: &WorkloadInfo| info.name != ask.workload;
        if run.as_ref().is_some_and(|run| run.plan.workloads.iter().all(is_other)) {
            continue;
        }
        let part = run.and_then(|run| measured(&run, &ask.workload, &wanted(ask, &run)));
        match part.filter(|part| !part.figures.is_empty()) {
            Some(part) => runs.push(part),
            None if runs.is_empty() => without_figures.push(summary.number),
            None => {}
        }
    }
    runs.reverse();
    Ok((runs, without_figures))
}

/// The figures that are wanted of a run, with its own members of each family of subjects.
fn wanted(ask: &History, run: &Run) -> Wanted {
    let workload = run.plan.workloads.iter().filter(|info| info.name == ask.workload);
    let names: Vec<&str> =
        workload.flat_map(|info| &info.subjects).map(|subject| subject.name.as_str()).collect();
    Wanted {
        subjects: quantities::expanded(&ask.subjects, &names),
        points: ask.points.clone(),
        all: ask.all,
    }
}

fn is_wanted(ask: &History, run: &RunSummary) -> bool {
    let day = || run.started.get(..10)?.parse::<Date>().ok();
    let labelled = |label: &Label| match (run.labels.get(&label.key), &label.value) {
        (Some(recorded), Some(value)) => recorded == value,
        (recorded, None) => recorded.is_some(),
        (None, Some(_)) => false,
    };
    ask.since.is_none_or(|since| day().is_some_and(|day| day >= since))
        && ask.label.as_ref().is_none_or(labelled)
}

fn nothing(ask: &History) -> Trouble {
    let narrowed = !ask.subjects.is_empty()
        || !ask.points.is_empty()
        || ask.since.is_some()
        || ask.label.is_some();
    let name = &ask.workload;
    if narrowed {
        return Trouble::usage(format!(
            "no run of {name} is like that; `knee history {name}` shows all that there is"
        ));
    }
    if workloads::find(name).is_some() {
        return Trouble::not_possible(format!(
            "nothing of {name} is recorded; `knee run {name}` measures it"
        ));
    }
    Trouble::usage(format!(
        "nothing recorded is called `{name}`; `knee record list` shows what there is"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_and_days_are_read_as_people_write_them() {
        let label = |key: &str, value: Option<&str>| Label {
            key: key.to_owned(),
            value: value.map(str::to_owned),
        };
        assert_eq!(wanted_label("commit"), Ok(label("commit", None)));
        assert_eq!(wanted_label("commit = 3701d31"), Ok(label("commit", Some("3701d31"))));
        assert!(wanted_label("").is_err() && wanted_label("=x").is_err());
        assert_eq!(day("2026-11-20"), Ok(Date::constant(2026, 11, 20)));
        assert!(day("20.11.2026").is_err() && day("soon").is_err());
    }
}
