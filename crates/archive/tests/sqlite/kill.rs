//! Killed at any moment, a record opens, is whole, holds every cell that was acknowledged, and its
//! run can be resumed.

use crate::common::{cell, cells, child, ending, integrity, record_of_child, run};
use archive::{Archive, RunWriter, SqliteArchive};
use model::RunState;
use std::fs;
use std::io::{BufRead, BufReader, Write, stdout};
use std::path::Path;
use std::process::Stdio;
use std::thread::sleep;
use std::time::Duration;
use tempfile::tempdir;

const RECORDS: u64 = 20;
const KILLS_PER_RECORD: u64 = 5;
const CELLS_PLANNED: u64 = 1_000_000;

#[test]
fn a_hundred_kills_lose_no_acknowledged_cell() {
    let mut random = fastrand::Rng::with_seed(2003);
    let (mut acknowledged_in_all, mut unborn) = (0, 0);
    for _ in 0..RECORDS {
        let directory = tempdir().unwrap();
        let path = directory.path().join("knee.db");
        let mut kept = 0;
        for _ in 0..KILLS_PER_RECORD {
            // Some die while they make or open the record, some in the midst of commits, some
            // after the journal was folded in.
            let wait_for = [0, 0, 1, 5, 40][random.usize(..5)];
            let acknowledged = kill_a_writer(&path, wait_for, random.u64(..12_000));
            acknowledged_in_all += acknowledged.len();
            assert!(acknowledged.is_sorted());
            let at_least = acknowledged.last().map_or(kept, |last| last + 1);
            kept = assert_whole(&path, at_least);
            unborn += u32::from(kept == 0);
        }
        resume_and_finish(&path, kept);
    }
    println!("{acknowledged_in_all} cells were acknowledged; {unborn} kills came before the first");
}

/// Starts a writer, lets it acknowledge some cells, waits a little, kills it, and returns all that
/// it acknowledged.
fn kill_a_writer(path: &Path, wait_for: usize, delay_us: u64) -> Vec<u64> {
    let name = "kill::child_commits_until_killed";
    let mut writer =
        child(name, path).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(writer.stdout.take().unwrap()).lines();
    let mut acknowledged = Vec::new();
    while acknowledged.len() < wait_for {
        let line = lines.next().expect("a writer ends only when it is killed").unwrap();
        acknowledged.extend(acknowledgement(&line));
    }
    // Not for anything to happen: only for the moment to be any moment.
    sleep(Duration::from_micros(delay_us));
    writer.kill().unwrap();
    acknowledged.extend(lines.filter_map(|line| acknowledgement(&line.unwrap())));
    let ended = writer.wait_with_output().unwrap();
    let complaint = String::from_utf8_lossy(&ended.stderr).into_owned();
    assert!(ended.status.code().is_none(), "it ended by itself: {complaint}");
    acknowledged
}

/// The sequence in a whole line such as `committed 7.`, wherever in it the test harness put it.
fn acknowledgement(line: &str) -> Option<u64> {
    line.split_once("committed ")?.1.strip_suffix('.')?.parse().ok()
}

/// Makes sure that the record is whole and holds the first cells, `at_least` so many, each as it
/// was committed. Returns how many.
fn assert_whole(path: &Path, at_least: u64) -> u64 {
    if fs::metadata(path).map_or(0, |metadata| metadata.len()) == 0 {
        assert_eq!(at_least, 0);
        return 0;
    }
    let archive = SqliteArchive::open(path).unwrap();
    let Ok(number) = archive.resolve("last") else {
        assert_eq!(at_least, 0);
        return 0;
    };
    assert_eq!(archive.runs().unwrap().len(), 1);
    let run = archive.load(number).unwrap();
    assert_eq!(run.summary.state, RunState::Open);
    let kept = run.cells.len() as u64;
    assert!(kept >= at_least, "{kept} of {at_least} acknowledged cells");
    assert!(run.cells == cells(kept), "a cell is not as it was committed");
    drop(archive);
    assert_eq!(integrity(path), "ok");
    kept
}

fn resume_and_finish(path: &Path, kept: u64) {
    let mut archive = SqliteArchive::open(path).unwrap();
    let number = match archive.resolve("last") {
        Ok(number) => number,
        Err(_) => archive.begin(&run("0123456789abcdef", CELLS_PLANNED)).unwrap(),
    };
    archive.reopen(number).unwrap();
    archive.commit(number, &cell(kept)).unwrap();
    archive.finish(number, &ending(RunState::Complete)).unwrap();
    assert!(archive.load(number).unwrap().cells == cells(kept + 1));
}

#[test]
#[ignore = "the child's part of another test"]
fn child_commits_until_killed() {
    let Some(path) = record_of_child() else { return };
    let mut archive = SqliteArchive::open(path).unwrap();
    let number = match archive.resolve("last") {
        Ok(number) => number,
        Err(_) => archive.begin(&run("0123456789abcdef", CELLS_PLANNED)).unwrap(),
    };
    archive.reopen(number).unwrap();
    let first = archive.runs().unwrap()[0].cells_ended;
    let mut out = stdout().lock();
    for sequence in first..CELLS_PLANNED {
        archive.commit(number, &cell(sequence)).unwrap();
        writeln!(out, "committed {sequence}.").unwrap();
        out.flush().unwrap();
    }
}
