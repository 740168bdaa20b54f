//! `knee record push` and `knee run --push`: runs of this machine into an archive that many machines share.

mod killed;
mod retries;

use crate::commands::keep::record_file::RecordFile;
use crate::commands::{nothing_yet, record_location};
use crate::exit::{Exit, Trouble, complain};
use crate::output::{is_quiet, print_note};
use crate::remedies::explained;
use archive::{Archive, Error, Location, Merged, ServerFault, pick};
use engine::Stop;
use findings::format::{record_flag, shell_word};
use killed::push_killed;
use model::{Run, RunState, RunSummary};
use printable::{quantity, replace_unprintable};
use retries::Pusher;
use std::cell::LazyCell;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::{Duration, Instant};

const LOOK_EVERY: Duration = Duration::from_millis(100);
/// Until a push of one run is given up.
const PUSH_MAX: Duration = Duration::from_secs(600);
/// Of a run: longer than its attempts take, so that the reason of the last one is shown.
const GIVEN_UP_AFTER: Duration = PUSH_MAX.saturating_add(Duration::from_secs(300));

/// How a run came to be in the archive; of one that has not ended, and may go on, what there is to say of that.
type Pushed = Result<Merged, &'static str>;

/// Pushes the runs of these `names`, or all. What is there is passed over, so the same command goes on after an interruption.
pub fn push(to: &Location, names: &[String], record_file: &RecordFile) -> Result<Exit, Trouble> {
    let from = record_location(record_file)?;
    // Before the record is read, so that a machine without runs can make the archive.
    let mut archive = archive::open(to)?;
    let source = match archive::open_read_only(&from) {
        Err(Error::NoRecord { .. } | Error::EmptyRecord { .. })
            if names.is_empty() && record_file.named().is_none() =>
        {
            return print_note(&format!("Nothing to push: {from} has no runs yet\n"))
                .map(|()| Exit::Done);
        }
        source => source.map_err(|error| nothing_yet(error, record_file.named().is_some()))?,
    };
    let runs = source.runs()?;
    let picked = |name: &String| pick(&runs, name, source.location().shown());
    let chosen = names.iter().map(picked).collect::<Result<Vec<i64>, Error>>()?;
    let (mut before, mut refused) = (0, 0);
    let here = LazyCell::new(engine::host);
    for run in runs.iter().filter(|run| chosen.is_empty() || chosen.contains(&run.number)) {
        let is_open = run.state == RunState::Open;
        let pushed = if is_open {
            push_killed(&*source, run, &mut *archive, &here)
        } else {
            push_recorded(&*source, run, &mut *archive).map(Ok)
        };
        match pushed {
            Ok(Ok(Merged::Copied(number))) => {
                let id = replace_unprintable(&run.id);
                let killed = if is_open { ", interrupted: its process was killed" } else { "" };
                print_note(&format!(
                    "Pushed run {} ({id}): it is run {number} there{killed}\n",
                    run.number
                ))?;
            }
            Ok(Err(why)) => {
                // One that is being measured is no failure unless it was named.
                refused += usize::from(!chosen.is_empty());
                complain(&format!("knee: run {} is left out: it has not ended{why}", run.number));
            }
            Ok(Ok(Merged::Completed(cells))) => {
                let (number, cells) = (run.number, quantity(cells, "cell"));
                print_note(&format!(
                    "Pushed the {cells} of run {number} that the archive did not have\n"
                ))?;
            }
            Ok(Ok(Merged::Alike)) => before += 1,
            // What is wrong with one run says nothing of the next.
            Err(error) if is_of_run(&error) => {
                complain(&format!("knee: run {} is left out: {}", run.number, explained(&error)));
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

/// Whether the error is about this run alone. Where the archive can't be used, no other run can be pushed either.
fn is_of_run(error: &Error) -> bool {
    match error {
        Error::Server { fault, .. } => {
            use ServerFault as F;
            matches!(fault, F::Other { .. } | F::Canceled { .. } | F::NameTooLong { .. })
        }
        Error::RunDiffers { .. }
        | Error::Damaged { .. }
        | Error::Invalid { .. }
        | Error::RunTwice { .. }
        | Error::CellTwice { .. }
        | Error::NoSuchRun { .. } => true,
        _ => false,
    }
}

fn push_recorded(
    source: &dyn Archive,
    run: &RunSummary,
    archive: &mut dyn Archive,
) -> Result<Merged, Error> {
    // Comparing every figure would mean loading both.
    let there = archive.find(&run.id)?;
    if there.is_some_and(|there| is_alike(&there, run)) {
        return Ok(Merged::Alike);
    }
    archive::merge(archive, &source.load(run.number)?)
}

fn is_alike(there: &RunSummary, run: &RunSummary) -> bool {
    (there.state, &there.ended, there.cells_ended) == (run.state, &run.ended, run.cells_ended)
}

/// Runs that were just measured and are to be pushed when they have been shown.
pub struct Measured {
    to: Location,
    /// Each run, and whether the record has all of it.
    runs: Vec<(Run, bool)>,
}

impl Measured {
    pub fn new(to: Option<&Location>, runs: &[(&Run, bool)]) -> Option<Measured> {
        let runs = runs.iter().map(|&(run, is_recorded)| (run.clone(), is_recorded));
        to.map(|to| Measured { to: to.clone(), runs: runs.collect() })
    }

    /// Pushes them. What fails is reported in one line, with the command that repeats it. A signal ends the waiting.
    pub fn push(self, record_file: &RecordFile) -> Exit {
        let unpushed: Vec<(i64, bool)> =
            self.runs.iter().map(|(run, is_recorded)| (run.summary.number, *is_recorded)).collect();
        let to = self.to.clone();
        let (results, is_interrupted) = match Stop::on_signals() {
            Ok(stop) => self.wait(&stop),
            Err(error) => (vec![Err(format!("listening for signals: {error}"))], false),
        };
        let mut left = Unpushed::default();
        for (index, number) in unpushed.into_iter().enumerate() {
            match results.get(index).or_else(|| results.last().filter(|last| last.is_err())) {
                Some(Ok(Merged::Copied(number))) if !is_quiet() => {
                    complain(&format!("Pushed: {to} (run {number})"));
                }
                Some(Ok(_)) => {}
                Some(Err(what)) => left.add(number, what),
                None => left.add(number, "the push ended early"),
            }
        }
        left.say(&to, record_file);
        if left.runs.is_empty() {
            Exit::Done
        } else if is_interrupted {
            Exit::Interrupted
        } else {
            Exit::Failed
        }
    }

    /// Pushes in a thread of its own: a server that does not answer is waited for only so long. The results come in
    /// the order of the runs, and an error that is the last holds for those behind it.
    fn wait(self, stop: &Stop) -> (Vec<Result<Merged, String>>, bool) {
        let count = self.runs.len();
        let (sender, receiver) = mpsc::channel();
        let body = move || {
            let mut pusher = Pusher::new(|| archive::open(&self.to));
            for (run, _) in &self.runs {
                if sender.send(pusher.push(run)).is_err() {
                    return;
                }
            }
        };
        if let Err(error) = thread::Builder::new().spawn(body) {
            return (vec![Err(Trouble::no_thread(error).to_string())], false);
        }
        let mut results = Vec::new();
        let mut begun = Instant::now();
        while results.len() < count {
            match receiver.recv_timeout(LOOK_EVERY) {
                Ok(result) => {
                    results.push(result);
                    begun = Instant::now();
                }
                Err(RecvTimeoutError::Disconnected) => break,
                Err(RecvTimeoutError::Timeout) if stop.is_requested() => {
                    results.push(Err("interrupted".to_owned()));
                    return (results, true);
                }
                Err(RecvTimeoutError::Timeout) if begun.elapsed() > GIVEN_UP_AFTER => {
                    let minutes = GIVEN_UP_AFTER.as_secs() / 60;
                    results.push(Err(format!("the archive took more than {minutes} minutes")));
                    return (results, false);
                }
                Err(RecvTimeoutError::Timeout) => {}
            }
        }
        (results, false)
    }
}

#[derive(Default)]
struct Unpushed {
    runs: Vec<(i64, bool)>,
    reasons: Vec<String>,
}

impl Unpushed {
    fn add(&mut self, run: (i64, bool), reason: &str) {
        self.runs.push(run);
        if !self.reasons.iter().any(|listed| listed == reason) {
            self.reasons.push(reason.to_owned());
        }
    }

    fn say(&self, to: &Location, record_file: &RecordFile) {
        if !self.runs.is_empty() {
            complain(&format!("knee: {}", self.line(to, record_file)));
        }
    }

    fn line(&self, to: &Location, record_file: &RecordFile) -> String {
        let reasons = self.reasons.join("; ");
        let is_left = |&&(number, is_recorded): &&(i64, bool)| number > 0 && is_recorded;
        let left: Vec<String> =
            self.runs.iter().filter(is_left).map(|(number, _)| number.to_string()).collect();
        let recorded = (!left.is_empty()).then(|| {
            let again = again(to, &left.join(" "), record_file);
            let (what, are) = if left.len() == 1 { ("run", "is") } else { ("runs", "are") };
            let numbers = left.join(" and ");
            format!("{what} {numbers} {are} not pushed: {reasons}; `{again}` does it later")
        });
        let lost = self.runs.len() - left.len();
        let lost = (lost > 0).then(|| {
            let because = if left.is_empty() { format!(": {reasons}") } else { String::new() };
            let what = if lost == 1 { "this run is" } else { "these runs are" };
            let what = if left.is_empty() { what } else { "the other run is" };
            format!("{what} not pushed{because}; the record does not have all of it either: only what was printed is left")
        });
        let lines: Vec<String> = recorded.into_iter().chain(lost).collect();
        lines.join("; ")
    }
}

/// The command that pushes runs. A URL is shown without its password, which the environment may have.
fn again(to: &Location, runs: &str, record_file: &RecordFile) -> String {
    let to = shell_word(&to.to_string());
    format!("knee record push {to} {runs}{}", record_flag(record_file.flag()))
}

/// Refuses, before anything is measured, an archive that this knee can never push to.
pub fn check(to: Option<&Location>) -> Result<(), Trouble> {
    to.map_or(Ok(()), |to| Ok(archive::check(to)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_that_repeats_a_push_names_record_and_archive_without_a_password() {
        let to = Location::from("postgres://me:secret@host/perf");
        let command = again(&to, "3", &RecordFile::new("my lab.db"));
        assert_eq!(command, "knee record push postgres://me@host/perf 3 --record 'my lab.db'");
    }

    #[test]
    fn what_is_not_pushed_is_one_line_with_one_command() {
        let to = Location::from("archive.db");
        let line = |runs: &[((i64, bool), &str)]| {
            let mut left = Unpushed::default();
            for &(run, why) in runs {
                left.add(run, why);
            }
            left.line(&to, &RecordFile::new("lab.db"))
        };
        assert_eq!(
            line(&[((3, true), "gone"), ((4, true), "gone")]),
            "runs 3 and 4 are not pushed: gone; `knee record push archive.db 3 4 --record lab.db` does it later"
        );
        for lost in [(0, true), (0, false), (5, false)] {
            let line = line(&[(lost, "gone")]);
            assert!(
                line.contains("only what was printed") && !line.contains("knee record"),
                "{line}"
            );
        }
        let line = line(&[((3, true), "gone"), ((0, true), "gone")]);
        assert!(
            line.contains("archive.db 3 --record") && line.contains("the other run is"),
            "{line}"
        );
    }

    #[test]
    fn a_fault_of_one_run_leaves_the_others_to_be_pushed() {
        let server = |fault| Error::Server { path: "a".into(), fault };
        let cause = || "x".to_owned();
        assert!(is_of_run(&server(ServerFault::Other(cause()))));
        assert!(is_of_run(&server(ServerFault::Canceled(cause()))));
        assert!(is_of_run(&Error::Invalid { path: "a".into(), what: cause() }));
        assert!(!is_of_run(&server(ServerFault::Lost(cause()))));
        assert!(!is_of_run(&server(ServerFault::DiskFull)));
    }

    #[test]
    fn a_stop_ends_the_waiting_for_an_archive() {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let to = Location::from(format!("postgres://u@127.0.0.1:{port}/d").as_str());
        let run = fixtures::run(fixtures::workload("null")).complete();
        let stop = Stop::never().unwrap();
        stop.requested.store(true, std::sync::atomic::Ordering::Relaxed);
        let (results, is_interrupted) =
            Measured::new(Some(&to), &[(&run, true)]).unwrap().wait(&stop);
        // Without the feature the archive is refused at once.
        assert_eq!(is_interrupted, cfg!(feature = "postgres"));
        assert!(matches!(results[..], [Err(_)]));
    }
}
