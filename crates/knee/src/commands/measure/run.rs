//! `knee run`: from what was asked for to a plan, to cells in the record, to tables and findings.

pub mod custom;
pub mod flags;
pub mod labels;
mod outline;
mod own_record;
mod planned;

pub use planned::{planned, planned_in_turns};

use crate::commands::keep::claim::Claim;
use crate::commands::keep::push;
use crate::commands::measure::launchers::{self, typed_host};
use crate::commands::measure::progress::Progress;
use crate::commands::measure::run::flags::Run as Asked;
use crate::commands::measure::run::labels::labels;
use crate::commands::read::report;
use crate::commands::read::show;
use crate::commands::{nothing_yet, record_path};
use crate::exit::{Exit, Trouble, complain, names_the_wrong_thing, stop_on_signals};
use crate::originals;
use crate::output::{is_quiet, print, print_json, style};
use crate::remedies::explained;
use ::report::layout::Detail;
use ::report::terminal::{self, Pointers};
use analysis::compare::{Terms, compare};
use analysis::thresholds::MARGIN;
use archive::{Archive, Error, RunWriter, SqliteArchive};
use engine::{Calibrated, Settings, Side, Starter, Unsaved};
use findings::caveats::failed_cells::FailedCells;
use findings::caveats::run_incomplete::Completion;
use findings::format::{list, quantity};
use findings::grouping::{distinct, grouped};
use findings::resuming::obstacle;
use findings::{Caveat, Conclusions, Reader};
use model::{Outcome, Plan, Run, RunState, RunSummary, WorkloadInfo};
use std::cmp::Reverse;
use std::path::{Path, PathBuf};

/// A run that is measured by this process and no other.
pub struct ClaimedRun {
    pub run: Run,
    /// Absent when it can't be written: then it is measured and printed all the same.
    archive: Option<SqliteArchive>,
    _claims: Vec<Claim>,
}

pub fn run(asked: &Asked, command: Vec<String>) -> Result<Exit, Trouble> {
    if asked.plan {
        return outline::print(asked, &record_path(&asked.record_file)?);
    }
    push::check(asked.push.as_ref())?;
    let asked = &own_record::with_own_record(asked)?;
    let (claimed, unsaved) = measured(asked, command)?;
    let is_recorded = claimed.archive.is_some() && unsaved.is_none();
    let push = push::Measured::new(asked.push.as_ref(), &[(&claimed.run, is_recorded)]);
    // Shown first: an archive may keep us waiting.
    let concluded = conclude(asked, &record_path(&asked.record_file)?, claimed, unsaved.as_ref());
    let pushed = push.map_or(Exit::Done, |push| push.push(&asked.record_file));
    concluded.map(|exit| if exit == Exit::Done { pushed } else { exit })
}

/// Measures what was asked for, or completes what was interrupted; with what the record could not take.
pub fn measured(
    asked: &Asked,
    command: Vec<String>,
) -> Result<(ClaimedRun, Option<Unsaved>), Trouble> {
    let stop = stop_on_signals()?;
    engine::raise_descriptors_max();
    let file = record_path(&asked.record_file)?;
    if let Some(page) = &asked.output {
        report::check(page, Some(&file))?;
    }
    let mut settings = Settings::new(engine::calibrate(), stop);
    let mut claimed = match &asked.resume {
        Some(name) => resumed(&file, name, asked.record_file.named().is_some())?,
        None => begun(asked, command, &file, &mut settings)?,
    };

    let mut progress = Progress::for_plan(&claimed.run.plan, 1).with_verdicts();
    let archive = claimed.archive.as_mut().map(|archive| archive as &mut dyn RunWriter);
    let judge = |run: &Run| analysis::trust::by_cell(run);
    let run = &mut claimed.run;
    let mut workers = Starter::default();
    let side = Side { run, archive, instrument: &mut workers, judge: Some(&judge) };
    let unsaved = engine::run(vec![side], &settings, &mut progress);
    progress.done();
    Ok((claimed, unsaved.into_iter().flatten().next()))
}

fn begun(
    asked: &Asked,
    command: Vec<String>,
    file: &Path,
    settings: &mut Settings,
) -> Result<ClaimedRun, Trouble> {
    let labels = labels(&asked.labels)?;
    let fleet = launchers::facts(&asked.fleet)?;
    let (plan, secrets) = planned(asked)?;
    settings.secrets = secrets;
    let mut run = new_run(asked, plan, command, &settings.clock);
    run.summary.labels = labels;
    // A name that was typed stands.
    let facts = fleet.into_iter().chain(typed_host(asked.host_name.as_ref()));
    run.host_before.facts.extend(facts);
    let (mut archives, claims) = begin([&mut run], file)?;
    Ok(ClaimedRun { run, archive: archives.pop(), _claims: claims })
}

/// Claims new runs, and begins them in the record. A file that is no record is refused before anything is measured; where
/// only the disk is in the way, there are no archives, and they are measured and printed all the same.
pub fn begin<const N: usize>(
    runs: [&mut Run; N],
    file: &Path,
) -> Result<(Vec<SqliteArchive>, Vec<Claim>), Trouble> {
    // The file is there then, if it can be.
    let opened: Result<Vec<SqliteArchive>, Error> =
        runs.iter().map(|_| SqliteArchive::open(file)).collect();
    let claim = |run: &&mut Run| Claim::new(&run.summary.id, Some(file));
    let claims: Vec<Claim> = runs.iter().map(claim).collect::<Result<_, _>>()?;
    let begun = opened.and_then(|mut archives| {
        let numbers = runs.iter().zip(&mut archives).map(|(run, archive)| archive.begin(run));
        let numbers: Vec<i64> = numbers.collect::<Result<_, _>>()?;
        Ok((archives, numbers))
    });
    match begun {
        Ok((archives, numbers)) => {
            runs.into_iter().zip(numbers).for_each(|(run, number)| run.summary.number = number);
            Ok((archives, claims))
        }
        Err(error) if names_the_wrong_thing(&error) => Err(Trouble::usage(explained(&error))),
        Err(error) => {
            let these = if N == 1 { "this run" } else { "these runs" };
            let why = explained(&error);
            complain(&format!("knee: {these} will be printed but not recorded: {why}"));
            Ok((Vec::new(), claims))
        }
    }
}

pub fn new_run(asked: &Asked, plan: Plan, command: Vec<String>, clock: &Calibrated) -> Run {
    let mut run = engine::new_run(plan, command, env!("CARGO_PKG_VERSION"), clock);
    run.host_before.facts.extend(typed_host(asked.host_name.as_ref()));
    run
}

/// The interrupted run of this `name`; if that is empty, the latest that no process is measuring.
fn resumed(file: &Path, name: &str, named: bool) -> Result<ClaimedRun, Trouble> {
    // Opening it to write would make one where there is none.
    drop(SqliteArchive::open_read_only(file).map_err(|error| nothing_yet(error, named))?);
    let mut archive = SqliteArchive::open(file)?;
    let (number, claim) = claimed(&archive, name)?;
    let run = archive.load(number)?;
    check_resumable(&run)?;
    if let Some(profile) = run.plan.profile {
        engine::check_profile(profile).map_err(Trouble::not_possible)?;
    }
    archive.reopen(number)?;
    // Another process may have added cells before this one claimed the run.
    let interrupted = run;
    let mut run = archive.load(number)?;
    if run.cells.len() == interrupted.cells.len() {
        // An open run has none in the record; where only the profile is left, this one stays.
        run.host_after = interrupted.host_after;
    }
    Ok(ClaimedRun { run, archive: Some(archive), _claims: vec![claim] })
}

fn claimed(archive: &SqliteArchive, name: &str) -> Result<(i64, Claim), Trouble> {
    let runs = archive.runs()?;
    let number = (!name.is_empty()).then(|| archive.resolve(name)).transpose()?;
    let mut taken = None;
    for run in runs.iter().rev() {
        let meant = match number {
            Some(number) => number == run.number,
            None => goes_on(archive, run),
        };
        if !meant {
            continue;
        }
        match Claim::new(&run.id, Some(archive.path())) {
            Ok(claim) => return Ok((run.number, claim)),
            Err(trouble) => taken = taken.or(Some(trouble)),
        }
    }
    let path = archive.path().display();
    let none = || Trouble::failed(format!("{path}: every run that can go on is complete already"));
    Err(taken.unwrap_or_else(none))
}

/// Whether an unnamed run can be resumed: interrupted, begun here, and not in turns with another run.
fn goes_on(archive: &SqliteArchive, run: &RunSummary) -> bool {
    if run.state == RunState::Complete || !run.origin.is_empty() {
        return false;
    }
    match archive.load(run.number) {
        Ok(run) => run.plan.paired_with.is_empty() && !run.host_before.is_guest() && !run.is_load(),
        Err(error) => {
            complain(&format!("knee: run {} is passed over: {}", run.number, explained(&error)));
            false
        }
    }
}

/// Refuses to resume a run on another machine, or with workloads that measure something else.
fn check_resumable(run: &Run) -> Result<(), Trouble> {
    let number = run.summary.number;
    let refused = |what: String| {
        Err(Trouble::failed(format!("run {number} can't go on: {what}; begin a new one")))
    };
    if let Some((why, _)) = obstacle(run, Some(&engine::host())) {
        return refused(why);
    }
    for workload in &run.plan.workloads {
        let mark = |info: &WorkloadInfo| (info.version, info.command_parameters.clone());
        let here = workloads::find(&workload.name);
        if here.is_none_or(|row| mark(&row.about().info) != mark(workload)) {
            return refused(format!("this knee measures {} otherwise", workload.name));
        }
    }
    Ok(())
}

/// Prints last: a reader that has gone away changes nothing of the rest.
fn conclude(
    asked: &Asked,
    file: &Path,
    claimed: ClaimedRun,
    unsaved: Option<&Unsaved>,
) -> Result<Exit, Trouble> {
    let recorded = claimed.archive.is_some();
    let reader = Reader { record: asked.record_file.flag().map(Path::to_path_buf), host: None };
    let conclusions = findings::conclude_for(&claimed.run, &reader);
    let exit = exit(&claimed.run, recorded);
    // A build that was aborted is a finding.
    let is_empty = exit == Exit::Failed && conclusions.findings.is_empty();
    let asks_for_none = asked.output.is_none() && !asked.json && asked.like.is_none();
    if is_empty && asks_for_none && unsaved.is_none() && recorded && file.exists() {
        return Err(nothing_measured(&conclusions));
    }
    let page = asked.output.clone().unwrap_or_else(|| page(&claimed.run, file, recorded));
    let pages = [(claimed.run, conclusions)];
    let written = report::write(&page, Some(file), &::report::html::page(&pages));
    let [(run, conclusions)] = pages;

    let mut files = Vec::new();
    if written.is_ok() {
        files.push(format!("Report: {}", page.display()));
    }
    if recorded {
        files.push(format!("Record: {} (run {})", file.display(), run.summary.number));
    }
    let printed = printed(asked, &run, &conclusions, &files.join("    "));

    if let Some(unsaved) = unsaved {
        return Err(lost(unsaved));
    }
    if recorded && !file.exists() {
        let what = format!("{} was removed during the run: nothing is recorded", file.display());
        return Err(Trouble::failed(what));
    }
    written?;
    if exit == Exit::Interrupted && recorded {
        complain(&interrupted(&conclusions));
    }
    if exit == Exit::Failed && recorded {
        return Err(nothing_measured(&conclusions));
    }
    match printed {
        Err(trouble) if exit == Exit::Done => Err(trouble),
        // Of a run that was cut off, the signal says more.
        Ok(()) if exit == Exit::Done => failed_cells(&run, &conclusions).map_or(Ok(exit), Err),
        _ => Ok(exit),
    }
}

/// Reasons for which every cell failed; further ones are counted.
const REASONS_MAX: usize = 3;

/// That every cell failed, and why: each reason once, with its cells.
fn nothing_measured(conclusions: &Conclusions) -> Trouble {
    let groups = conclusions.caveats.iter().filter_map(|caveat| match caveat {
        Caveat::FailedCells(group) => Some((group.event.as_str(), group)),
        _ => None,
    });
    let cells = |groups: &[&FailedCells]| groups.iter().map(|group| group.cells).sum::<usize>();
    let mut reasons = grouped(groups);
    reasons.sort_by_key(|(_, groups)| Reverse(cells(groups)));
    let more = reasons.split_off(reasons.len().min(REASONS_MAX)).len();
    let reason = |(event, groups): &(&str, Vec<&FailedCells>)| {
        let subjects = distinct(groups.iter().map(|group| group.series.subject.clone()));
        let cells = quantity(cells(groups) as u64, "cell");
        format!("{cells} of {}: {event}", list(&subjects))
    };
    let mut why: Vec<String> = reasons.iter().map(reason).collect();
    why.extend((more > 0).then(|| quantity(more as u64, "more reason")));
    let why = if why.is_empty() { String::new() } else { format!("; {}", why.join("; ")) };
    Trouble::failed(format!("nothing was measured: every cell failed{why}"))
}

/// Whether cells of the user's own commands failed: a script must not take what is left for the whole.
fn failed_cells(run: &Run, conclusions: &Conclusions) -> Option<Trouble> {
    let is_own =
        |name: &str| run.plan.workload(name).is_some_and(|workload| workload.custom.is_some());
    let groups = conclusions.caveats.iter().filter_map(|caveat| match caveat {
        Caveat::FailedCells(group) if is_own(&group.series.workload) => {
            Some((group.cells, caveat.warning().what))
        }
        _ => None,
    });
    let (numbers, mut lines): (Vec<usize>, Vec<String>) = groups.unzip();
    let first = lines.drain(..).next()?;
    let (failed, all) = (numbers.iter().sum::<usize>(), run.cells.len());
    Some(Trouble::failed(format!("{failed} of {all} cells failed; {first}")))
}

fn printed(
    asked: &Asked,
    run: &Run,
    conclusions: &Conclusions,
    files: &str,
) -> Result<(), Trouble> {
    if asked.json {
        return print_json(&::report::json::run(run, conclusions));
    }
    if let Some(name) = &asked.like {
        return print(&originals::output(name, run, conclusions, files));
    }
    print(&on_screen(asked, run, conclusions, files))
}

/// The answer, below the tables of a single workload, or below everything with `--all`.
fn on_screen(asked: &Asked, run: &Run, conclusions: &Conclusions, files: &str) -> String {
    let style = style(asked.all);
    let is_single =
        run.plan.workloads.iter().filter(|workload| !workload.is_control()).count() <= 1;
    let above = match (asked.all, is_single) {
        (true, _) => terminal::tables(run, conclusions, &style) + "\n",
        _ if style.detail == Detail::Answer => String::new(),
        (false, true) => terminal::figures(run, &conclusions.analysis, &style),
        (false, false) => String::new(),
    };
    let all = if asked.all {
        "see above".to_owned()
    } else if run.summary.number > 0 {
        let show = show::command(&run.summary.number.to_string(), asked.record_file.flag());
        format!("{show} --all")
    } else {
        "the same with --all".to_owned()
    };
    let left_out = match (asked.all, is_single) {
        _ if is_quiet() => None,
        (true, _) => None,
        (false, true) => Some(format!("Other metrics, findings and caveats: {all}")),
        (false, false) => Some(format!("Tables, findings and caveats: {all}")),
    };
    let files = (!files.is_empty() && !is_quiet()).then(|| files.to_owned());
    let sight = sight(run, "Another run like this one shows").filter(|_| !is_quiet());
    let next_to = match run.summary.number {
        number if number > 0 && !is_quiet() => {
            show::side_by_side(run, &number.to_string(), &asked.record_file)
        }
        _ => Vec::new(),
    };
    let lines = left_out.into_iter().chain(next_to).chain(sight).chain(files).collect();
    let pointers = Pointers { all, lines };
    let mut answer = above + &terminal::answer(run, conclusions, &style, &pointers);
    if asked.timing {
        answer.push_str(&terminal::timing(run, &style));
    }
    if style.detail == Detail::Answer {
        return answer;
    }
    answer + &terminal::top_functions(run, conclusions, &style)
}

/// What another run like this one would show, compared with it. `subject` begins the sentence.
fn sight(run: &Run, subject: &str) -> Option<String> {
    let terms = Terms { margin: MARGIN, fail_above: None, across: true, all: false };
    ::report::matrix::of_another_run(&compare(run, run, &terms).ok()?, run, subject)
}

fn interrupted(conclusions: &Conclusions) -> String {
    let resume = conclusions.caveats.iter().find_map(|caveat| match caveat {
        Caveat::RunIncomplete(run) if run.completion == Completion::Resume => {
            Some(caveat.warning().remedy)
        }
        _ => None,
    });
    resume.map_or_else(
        || "knee: interrupted".to_owned(),
        |resume| format!("knee: interrupted; `{resume}` goes on from here"),
    )
}

fn exit(run: &Run, recorded: bool) -> Exit {
    let measured = run.cells.iter().any(|cell| cell.outcome == Outcome::Measured);
    match run.summary.state {
        RunState::Open | RunState::Interrupted => Exit::Interrupted,
        RunState::Complete if recorded && measured => Exit::Done,
        RunState::Complete => Exit::Failed,
    }
}

pub fn lost(unsaved: &Unsaved) -> Trouble {
    let what = match unsaved.cells {
        0 => "the end of the run was".to_owned(),
        1 => "1 cell was".to_owned(),
        cells => format!("{cells} cells were"),
    };
    Trouble::failed(format!("{what} measured but not recorded: {}", explained(&unsaved.error)))
}

/// The default file of the report. The run's id is in its name, so that no two runs share one.
fn page(run: &Run, file: &Path, recorded: bool) -> PathBuf {
    let names: Vec<&str> = run.plan.workloads.iter().map(|row| row.name.as_str()).collect();
    // All of them would make a name that no line holds.
    let names = match names.len() {
        0..=4 => names.join("-"),
        many => format!("{many}-workloads"),
    };
    let day = run.summary.started.get(..10).unwrap_or_default();
    let id = run.summary.id.get(..8).unwrap_or_default();
    let of_record = recorded.then(|| file.parent().map(PathBuf::from)).flatten();
    let directory = of_record.unwrap_or_else(std::env::temp_dir);
    directory.join(format!("{names}-{day}-{id}.html"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_is_no_record_is_refused_but_a_full_disk_is_not() {
        let path = PathBuf::from("x.db");
        assert!(names_the_wrong_thing(&Error::NotThisFile(String::new())));
        assert!(!names_the_wrong_thing(&Error::DiskFull(path.clone())));
        assert!(!names_the_wrong_thing(&Error::ReadOnly(path)));
    }
}
