//! `knee show`: the tables and findings of a run, from the record; of several, machines and runs side by side.

mod like;
mod named;
mod several;

use crate::commands::keep::record_file::RecordFile;
use crate::commands::read::fleet::FleetFlag;
use crate::commands::read::report::write;
use crate::commands::{concluded, read_run};
use crate::exit::{Exit, Trouble};
use crate::output::{is_quiet, print, print_json, style};
use clap::Args;
use findings::format::record_flag;
use findings::{Caveat, Conclusions};
use model::Run;
use report::layout::{Detail, Style};
use report::terminal::{self, Chosen, Pointers};
use std::path::Path;

#[derive(Args, Debug, Default)]
#[command(after_help = MORE)]
pub struct Show {
    /// Runs [default: last]: numbers, beginnings of ids, `last`, `last@HOST`, FILE.db or FILE.db:RUN; names of
    /// workloads before them show these only
    #[arg(value_name = "WORKLOAD|RUN")]
    pub words: Vec<String>,
    /// Show every table, not the headline metric's only
    #[arg(short, long)]
    pub all: bool,
    /// Show where the time of a run went: which share of it timed operations
    #[arg(long, conflicts_with_all = ["all", "json", "profile", "like", "fleet"])]
    pub timing: bool,
    /// Show the profile: the functions of each subject and how they grow; with --all also the hottest
    /// instructions of those that grew, with a name those of that function
    #[arg(long, value_name = "FUNCTION", num_args = 0..=1, require_equals = true)]
    #[arg(default_missing_value = "", conflicts_with_all = ["json", "fleet"])]
    pub profile: Option<String>,
    /// Print JSON: a whole run with every sample, or the comparison of several
    #[arg(short, long)]
    pub json: bool,
    /// Print in the format of a classic benchmark, `lmbench` for several runs too: see `knee list`
    #[arg(long, value_name = "NAME", conflicts_with_all = ["json", "profile", "all", "fleet"])]
    pub like: Option<String>,
    #[command(flatten)]
    pub fleet: FleetFlag,
    #[command(flatten)]
    pub record_file: RecordFile,
}

const MORE: &str = "\
Several runs stand across, the series down, with ratios to the first run and the best
marked where it is significant. docs/compare.md says how.

Examples:
  knee show 7 --all                       # every table of run 7
  knee show poll                          # the last run, poll only
  knee show baseline a.db b.db c.db       # three machines side by side
  knee show --like lmbench a.db b.db      # the same in lmbench's tables
  knee show --fleet last                  # the machines of the newest fleet, the unlike ones named";

pub fn show(ask: &Show) -> Result<Exit, Trouble> {
    let named = named::parse(&ask.words)?;
    if let Some(fleet) = &ask.fleet.fleet {
        return several::show_fleet(ask, fleet, &named);
    }
    if ask.json {
        named.refuse_part(&ask.record_file)?;
    }
    let mut runs = Vec::new();
    for name in &named.runs {
        runs.push(read_run(name, &ask.record_file)?);
    }
    named::narrow(&mut runs, &named.workloads)?;
    if let Some(name) = &ask.like {
        return like::show(name, &runs).map(|()| Exit::Done);
    }
    if runs.len() > 1 {
        return several::show(ask, runs, &named.runs);
    }
    for (name, run) in named.runs.iter().zip(&runs) {
        show_run(ask, name, run)?;
    }
    Ok(Exit::Done)
}

fn show_run(ask: &Show, name: &str, run: &Run) -> Result<(), Trouble> {
    let conclusions = concluded(run, name, &ask.record_file);
    if ask.json {
        return print_json(&report::json::run(run, &conclusions));
    }
    let style = style(ask.all);
    if let Some(function) = &ask.profile {
        return print(&profile(run, &conclusions, &style, function)?);
    }
    if ask.timing {
        return print(&terminal::timing(run, &style));
    }
    let all = if ask.all {
        "see above".to_owned()
    } else {
        format!("{} --all", command(name, ask.record_file.flag()))
    };
    let pointers = Pointers { all, lines: side_by_side(run, name, &ask.record_file) };
    print(&text(run, &conclusions, &style, &pointers))
}

fn text(run: &Run, conclusions: &Conclusions, style: &Style, pointers: &Pointers) -> String {
    let answer = terminal::answer(run, conclusions, style, pointers);
    tables(run, conclusions, style) + &answer + &terminal::top_functions(run, conclusions, style)
}

/// Shows a run that a model or another program made: writes its page, and prints its JSON, or its tables below `head`.
pub fn show_analysed(
    analysed: (Run, Conclusions),
    head: &str,
    [page, record]: [Option<&Path>; 2],
    (all, json): (bool, bool),
) -> Result<Exit, Trouble> {
    let analysed = [analysed];
    if let Some(page) = page {
        write(page, record, &report::html::page(&analysed))?;
    }
    let [(run, conclusions)] = &analysed;
    if json {
        return print_json(&report::json::run(run, conclusions)).map(|()| Exit::Done);
    }
    let number = run.summary.number;
    let page = page.map(|file| format!("Report: {}", file.display()));
    let record = record.map(|file| format!("Record: {} (run {number})", file.display()));
    let files: Vec<String> = page.into_iter().chain(record).collect();
    let lines = if files.is_empty() || is_quiet() { vec![] } else { vec![files.join("    ")] };
    let pointers = Pointers { all: "--all".to_owned(), lines };
    print(&(head.to_owned() + &text(run, conclusions, &style(all), &pointers)))?;
    Ok(Exit::Done)
}

/// The command that sets a run next to those of other machines, where its figures are no series.
pub fn side_by_side(run: &Run, name: &str, file: &RecordFile) -> Vec<String> {
    let is_list = |info: &&model::WorkloadInfo| {
        let mut cells = run.cells.iter().filter(|cell| cell.key.workload == info.name);
        let first = cells.next().map(|cell| cell.key.point);
        // A trajectory has one point, and all positions on its way.
        info.has_separate_subjects()
            && !info.trajectory
            && first.is_some()
            && cells.all(|cell| Some(cell.key.point) == first)
    };
    let workloads = run.plan.workloads.iter().filter(is_list);
    let record = record_flag(file.flag());
    let line = |info: &model::WorkloadInfo| {
        format!("Next to another machine's: knee show {} {name} OTHER.db{record}", info.name)
    };
    workloads.map(line).collect()
}

const LOOKED_INTO: usize = 3;

fn profile(
    run: &Run,
    conclusions: &Conclusions,
    style: &Style,
    function: &str,
) -> Result<String, Trouble> {
    if run.profile.is_empty() {
        let why = "the run has no profile; `knee run --profile` measures one";
        return Err(Trouble::usage(format!("--profile: {why}")));
    }
    if !function.is_empty() {
        let chosen = Chosen::Named(function);
        return terminal::hot_instructions(run, conclusions, style, chosen).map_err(|names| {
            let names: Vec<&str> = names.iter().map(String::as_str).collect();
            let alike = quantities::nearest(function, &names);
            let shown = if alike.is_empty() { names.into_iter().take(8).collect() } else { alike };
            let function = printable::one_line(function);
            Trouble::usage(format!(
                "--profile: the run has no samples of a function `{function}` in the last cell of a \
                 subject; it has some of {}",
                shown.join(", ")
            ))
        });
    }
    let mut out = terminal::profiles(run, conclusions, style);
    if style.detail == Detail::All {
        let chosen = Chosen::Grown(LOOKED_INTO);
        out.push_str(
            &terminal::hot_instructions(run, conclusions, style, chosen).unwrap_or_default(),
        );
    }
    let limits = conclusions.caveats.iter();
    for limit in limits.filter(|caveat| matches!(caveat, Caveat::LimitedProfile(_))) {
        out.push_str(&limit.line());
        out.push('\n');
    }
    Ok(out)
}

/// What stands above an answer, with an empty line behind it; with `--quiet` nothing.
fn tables(run: &Run, conclusions: &Conclusions, style: &Style) -> String {
    if style.detail == Detail::Answer {
        return String::new();
    }
    let mut tables = terminal::tables(run, conclusions, style);
    if !tables.is_empty() {
        tables.push('\n');
    }
    tables
}

pub fn command(run: &str, file: Option<&Path>) -> String {
    format!("knee show {run}{}", record_flag(file))
}
