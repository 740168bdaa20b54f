//! However a run is ended, what was measured is kept, nothing is left behind, and it can go on.

mod common;

use archive::{Archive, SqliteArchive};
use common::{Came, Knee, wait_until};
use model::{Run, RunState};
use rustix::process::{Pid, Signal, kill_process};
use std::collections::HashSet;
use std::process::{Child, Stdio};
use std::time::Duration;

fn cells(knee: &Knee) -> usize {
    // Until the first commit there is no record, or none with a run.
    let Ok(archive) = SqliteArchive::open_read_only(knee.record()) else { return 0 };
    let runs = archive.runs().unwrap();
    runs.last().map_or(0, |run| run.cells_ended as usize)
}

fn kill(child: &Child, signal: Signal) {
    kill_process(Pid::from_child(child), signal).unwrap();
}

/// Starts a plan that no test waits for the end of. Watching 600 takes 1,200 descriptors, so that some are
/// parked.
fn start_long(knee: &Knee) -> Child {
    let words = "run poll --subjects epoll-level,poll --points 10,600 --rounds 500";
    let script = format!("ulimit -n 1000; exec \"$KNEE\" {words}");
    knee.shell(&script).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap()
}

#[test]
fn a_signal_ends_it_in_good_order() {
    for signal in [Signal::INT, Signal::TERM, Signal::HUP] {
        let knee = Knee::new();
        let mut child = start_long(&knee);
        wait_until("four cells ended", || cells(&knee) >= 4);
        kill(&child, signal);
        assert_eq!(child.wait().unwrap().code(), Some(130), "{signal:?}");
        knee.assert_no_process_left();
        let run = knee.last_run();
        assert_eq!(run.summary.state, RunState::Interrupted);
        assert!(run.cells.len() >= 4 && run.host_after.is_some());
        let report = knee.files().into_iter().any(|file| file.contains(".html"));
        assert!(report, "what is done is reported: {:?}", knee.files());
    }
}

#[test]
fn nothing_is_left_behind_when_the_instrument_is_killed() {
    let knee = Knee::new();
    let mut child = start_long(&knee);
    // The instrument, a worker, and a holder of parked descriptors.
    wait_until("a holder runs", || knee.processes().iter().any(|line| line.contains("__park")));
    kill(&child, Signal::KILL);
    child.wait().unwrap();
    knee.assert_no_process_left();
    let strange = |file: &String| !file.starts_with("knee/knee.db");
    assert_eq!(knee.files().into_iter().filter(strange).collect::<Vec<_>>(), [] as [String; 0]);
}

/// A run that is killed again and again, and how far it came.
struct Killed {
    knee: Knee,
    child: Child,
    cells_before: usize,
    completed: usize,
}

/// Enough rounds for some kills, and so few that fifty kills nearly always see a run to its end.
const WORDS: [&str; 8] = ["run", "null", "--points", "1,2,3", "--rounds", "20", "--time", "1ms"];
const CELLS: usize = 3 * 20;

impl Killed {
    fn begin(knee: Knee) -> Killed {
        let child = knee.start(&WORDS);
        Killed { knee, child, cells_before: 0, completed: 0 }
    }

    /// A moment that is random in what the instrument is just doing: a number of its cells, and then a
    /// little more, up to the length of a cell.
    fn kill(&mut self, random: &mut fastrand::Rng) {
        let more = (self.cells_before + random.usize(0..4)).min(CELLS);
        let all_were_there = self.cells_before == CELLS;
        wait_until("some cells ended", || {
            ended(&mut self.child) || (self.cells() >= more && !all_were_there)
        });
        std::thread::sleep(Duration::from_micros(random.u64(0..8_000)));
        let _ = self.child.kill();
        self.child.wait().unwrap();
        let run = load_or_none(&self.knee, self.completed);
        let now = run.as_ref().map_or(0, |run| run.cells.len());
        assert!(
            now >= self.cells_before.max(more),
            "{now} cells of {} to {more}",
            self.cells_before
        );
        self.cells_before = now;
        self.child = match run {
            Some(run) => self.go_on(&run),
            None => self.knee.start(&WORDS),
        };
    }

    /// How many cells the run has.
    fn cells(&self) -> usize {
        match SqliteArchive::open_read_only(self.knee.record()) {
            Ok(archive) => {
                let runs = archive.runs().unwrap();
                runs.get(self.completed).map_or(0, |run| run.cells_ended as usize)
            }
            Err(_) => 0,
        }
    }

    fn go_on(&mut self, run: &Run) -> Child {
        assert_each_once(run);
        if run.summary.state != RunState::Complete {
            return self.knee.start(&["run", "--resume"]);
        }
        assert_eq!(run.cells.len(), CELLS);
        self.completed += 1;
        self.cells_before = 0;
        self.knee.start(&WORDS)
    }
}
#[test]
fn killed_at_a_hundred_moments_it_holds_every_finished_cell_and_resumes() {
    // Two at a time: most of it is waiting for one to end and for another to begin.
    std::thread::scope(|scope| {
        for seed in 1..=2 {
            scope.spawn(move || killed_at_fifty_moments(&mut fastrand::Rng::with_seed(seed)));
        }
    });
}

fn killed_at_fifty_moments(random: &mut fastrand::Rng) {
    let mut killed = Killed::begin(Knee::new());
    let mut kills = 0;
    // A kill leaves a cell and a half more, on average: fifty nearly always see a run to its end.
    while kills < 50 || killed.completed == 0 {
        killed.kill(random);
        kills += 1;
    }
    killed.child.kill().unwrap();
    killed.child.wait().unwrap();
    let Killed { knee, completed, .. } = killed;
    if load_or_none(&knee, completed).is_some_and(|run| run.summary.state != RunState::Complete) {
        let came: Came = knee.run(&["run", "--resume"]);
        assert_eq!(came.code, Some(0), "{came:?}");
    }
    let archive = SqliteArchive::open_read_only(knee.record()).unwrap();
    for summary in archive.runs().unwrap() {
        let run = archive.load(summary.number).unwrap();
        assert_eq!(run.summary.state, RunState::Complete);
        assert_eq!(run.cells.len(), run.plan.cells.len());
        assert_each_once(&run);
    }
    knee.assert_no_process_left();
}

fn ended(child: &mut Child) -> bool {
    child.try_wait().unwrap().is_some()
}

/// The run that was begun after so many others.
fn load_or_none(knee: &Knee, other_runs: usize) -> Option<Run> {
    let archive = match SqliteArchive::open_read_only(knee.record()) {
        Ok(archive) => archive,
        Err(archive::Error::NoRecord { .. } | archive::Error::EmptyRecord { .. }) => return None,
        Err(error) => panic!("the record does not open: {error}"),
    };
    let runs = archive.runs().unwrap();
    Some(archive.load(runs.get(other_runs)?.number).unwrap())
}

fn assert_each_once(run: &Run) {
    let distinct: HashSet<u64> = run.cells.iter().map(|cell| cell.sequence).collect();
    assert_eq!(distinct.len(), run.cells.len(), "a cell is there twice");
    for cell in &run.cells {
        assert_eq!(cell.key, run.plan.cells[cell.sequence as usize]);
        assert!(cell.metrics.iter().all(|metric| !metric.samples.is_empty()));
        assert_eq!(cell.metrics.len(), 3, "half a cell: {cell:?}");
    }
}

#[test]
fn a_run_is_measured_by_one_process_at_a_time() {
    let knee = Knee::new();
    let mut child = start_long(&knee);
    wait_until("a cell ended", || cells(&knee) >= 1);
    let came = knee.run(&["run", "--resume"]);
    assert_eq!(came.code, Some(1), "{came:?}");
    assert!(came.err.contains("is being measured by another process"), "{came:?}");
    let came = knee.run(&["record", "delete", "last"]);
    assert_eq!(came.code, Some(1), "{came:?}");
    kill(&child, Signal::INT);
    child.wait().unwrap();
    assert_eq!(knee.run(&["record", "delete", "last"]).code, Some(0));
    let came = knee.run(&["run", "--resume"]);
    assert_eq!(came.code, Some(1), "{came:?}");
    assert!(came.err.contains("no runs yet") || came.err.contains("complete"), "{came:?}");
}
