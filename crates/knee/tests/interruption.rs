//! However a run is ended, what was measured is kept, nothing is left behind, and it can go on.

mod common;

use common::{Came, Knee, wait_until};
use record::{Archive, Run, RunState, SqliteArchive};
use rustix::process::{Pid, Signal, kill_process};
use std::collections::HashSet;
use std::process::Child;
use std::time::Duration;

fn load(knee: &Knee) -> Run {
    let archive = SqliteArchive::open_read_only(knee.record()).unwrap();
    archive.load(archive.resolve("last").unwrap()).unwrap()
}

fn cells(knee: &Knee) -> usize {
    // Until the first commit there is no record, or none with a run.
    let Ok(archive) = SqliteArchive::open_read_only(knee.record()) else { return 0 };
    let runs = archive.runs().unwrap();
    runs.last().map_or(0, |run| run.cells_ended as usize)
}

fn kill(child: &Child, signal: Signal) {
    kill_process(Pid::from_child(child), signal).unwrap();
}

/// A plan that no test waits for the end of, with descriptors parked while it lasts.
const LONG: &[&str] =
    &["run", "poll", "--subjects", "epoll-level,poll", "--points", "10,11k", "--rounds", "500"];

#[test]
fn a_signal_ends_it_in_good_order() {
    for signal in [Signal::INT, Signal::TERM, Signal::HUP] {
        let knee = Knee::new();
        let mut child = knee.start(LONG);
        wait_until("four cells ended", || cells(&knee) >= 4);
        kill(&child, signal);
        assert_eq!(child.wait().unwrap().code(), Some(130), "{signal:?}");
        knee.assert_no_process_left();
        let run = load(&knee);
        assert_eq!(run.summary.state, RunState::Interrupted);
        assert!(run.cells.len() >= 4 && run.host_after.is_some());
        let report = knee.files().into_iter().any(|file| file.contains(".html"));
        assert!(report, "what is done is reported: {:?}", knee.files());
    }
}

#[test]
fn nothing_is_left_behind_when_the_instrument_is_killed() {
    let knee = Knee::new();
    let mut child = knee.start(LONG);
    // The instrument, a worker, and a holder of parked descriptors.
    wait_until("a holder runs", || knee.processes().iter().any(|line| line.contains("__park")));
    kill(&child, Signal::KILL);
    child.wait().unwrap();
    knee.assert_no_process_left();
    let strange = |file: &String| !file.starts_with("knee/knee.db");
    assert_eq!(knee.files().into_iter().filter(strange).collect::<Vec<_>>(), [] as [String; 0]);
}

#[test]
fn killed_at_a_hundred_moments_it_holds_every_finished_cell_and_resumes() {
    let knee = Knee::new();
    let words = ["run", "null", "--points", "1,2,3", "--rounds", "700", "--time", "1ms"];
    let mut random = fastrand::Rng::with_seed(1);
    let mut child = knee.start(&words);
    let mut held = 0;
    for kill_number in 0..100 {
        // A moment that is random in what the instrument is just doing: a number of its cells, and
        // then a little more, up to the length of a cell.
        let more = held + random.usize(0..4);
        wait_until("some cells ended", || cells(&knee) >= more || ended(&mut child));
        std::thread::sleep(Duration::from_micros(random.u64(0..8_000)));
        let _ = child.kill();
        child.wait().unwrap();

        if !knee.record().exists() {
            assert_eq!(held, 0);
            child = knee.start(&words);
            continue;
        }
        let run = load_or_none(&knee);
        let now = run.as_ref().map_or(0, |run| run.cells.len());
        assert!(now >= held.max(more), "kill {kill_number}: {now} cells of {held} to {more}");
        if let Some(run) = &run {
            assert_each_once(run);
        }
        held = now;
        child = match run {
            Some(_) => knee.start(&["run", "--resume"]),
            None => knee.start(&words),
        };
    }
    child.kill().unwrap();
    child.wait().unwrap();
    let came: Came = knee.run(&["run", "--resume"]);
    assert_eq!(came.code, Some(0), "{came:?}");
    let run = load(&knee);
    assert_eq!(run.summary.state, RunState::Complete);
    assert_eq!(run.cells.len(), run.plan.cells.len());
    assert_each_once(&run);
    knee.assert_no_process_left();
}

fn ended(child: &mut Child) -> bool {
    child.try_wait().unwrap().is_some()
}

fn load_or_none(knee: &Knee) -> Option<Run> {
    let archive = match SqliteArchive::open_read_only(knee.record()) {
        Ok(archive) => archive,
        Err(record::Error::EmptyRecord { .. }) => return None,
        Err(error) => panic!("the record does not open: {error}"),
    };
    let runs = archive.runs().unwrap();
    let last = runs.last()?;
    Some(archive.load(last.number).unwrap())
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
    let mut child = knee.start(LONG);
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
