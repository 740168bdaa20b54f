//! Runs that a budget ends.

use crate::common::{Knee, wait_until};
use archive::{Archive, SqliteArchive};
use model::{CellKey, Run, RunState};
use rustix::process::{Pid, Signal, kill_process};
use std::collections::HashMap;

/// How often each place was measured.
fn rounds(run: &Run) -> Vec<usize> {
    let mut cells_by_group: HashMap<CellKey, usize> = HashMap::new();
    for cell in &run.cells {
        *cells_by_group.entry(cell.key.in_first_round()).or_default() += 1;
    }
    cells_by_group.into_values().collect()
}

#[test]
fn a_precision_that_is_soon_reached_ends_it_after_the_fewest_rounds() {
    let knee = Knee::new();
    let words =
        ["run", "poll", "--points", "10,100", "--subjects", "poll,epoll-level", "--time", "2ms"];
    // No interval of what takes microseconds is that wide on any machine, but one may be nearly.
    let came = knee.run(&[&words[..], &["--precision", "99%"]].concat());
    assert_eq!(came.code, Some(0), "{came:?}");
    let run = knee.last_run();
    assert_eq!(run.summary.state, RunState::Complete);
    assert!(run.cells.len() < run.plan.cells.len(), "{} cells", run.cells.len());
    assert!(rounds(&run).iter().all(|&rounds| rounds >= 6), "{:?}", rounds(&run));
    assert!(came.out.contains("Budget of ±99 %: "), "{}", came.out);
    assert!(!came.out.contains("was interrupted"), "{}", came.out);
    let listed = knee.run(&["record", "list"]);
    let ended = run.cells.len().to_string();
    assert!(
        listed.out.contains(&ended) && listed.out.contains(&format!("{ended}/{ended}")),
        "{}",
        listed.out
    );
}

#[test]
fn rounds_are_the_most_that_there_may_be() {
    let knee = Knee::new();
    let words = ["run", "null", "--points", "1,2", "--time", "1ms", "--precision", "0.0001%"];
    let came = knee.run(&[&words[..], &["--rounds", "8"]].concat());
    assert_eq!(came.code, Some(0), "{came:?}");
    let run = knee.last_run();
    assert_eq!(rounds(&run).into_iter().max(), Some(8));
}

#[test]
fn a_time_that_is_too_short_measures_one_round_and_says_so() {
    let knee = Knee::new();
    let words = ["run", "null", "--points", "1,2,3", "--time", "1ms", "--budget", "1ms"];
    let came = knee.run(&words);
    assert_eq!(came.code, Some(0), "{came:?}");
    let run = knee.last_run();
    assert!(rounds(&run).iter().all(|&rounds| rounds == 1), "{:?}", rounds(&run));
    assert_eq!(run.summary.state, RunState::Complete);
    assert!(came.out.contains("Budget of 1 ms: 1 round, which took "), "{}", came.out);
}

#[test]
fn an_interrupted_run_goes_on_within_its_budget() {
    let knee = Knee::new();
    let words = [
        "run",
        "null",
        "--points",
        "1,2,3",
        "--time",
        "1ms",
        "--precision",
        "0.0001%",
        "--rounds",
        "60",
    ];
    let mut child = knee.start(&words);
    wait_until("some cells ended", || {
        let Ok(archive) = SqliteArchive::open_read_only(knee.record()) else { return false };
        archive.runs().unwrap().last().is_some_and(|run| run.cells_ended >= 4)
    });
    kill_process(Pid::from_child(&child), Signal::INT).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(130));
    assert_eq!(knee.last_run().summary.state, RunState::Interrupted);
    let came = knee.run(&["run", "--resume"]);
    assert_eq!(came.code, Some(0), "{came:?}");
    let run = knee.last_run();
    assert_eq!(run.summary.state, RunState::Complete);
    let mut keys: Vec<&CellKey> = run.cells.iter().map(|cell| &cell.key).collect();
    keys.sort();
    assert!(keys.windows(2).all(|pair| pair[0] != pair[1]), "each cell once");
    assert!(rounds(&run).iter().all(|&rounds| rounds >= 6), "{:?}", rounds(&run));
}
