//! Several processes and connections on one record at a time.

use crate::common::{
    assert_child_passed, cell, cells, child, ending, integrity, make_record, record_of_child, run,
};
use archive::{Archive, Error, RunWriter, SqliteArchive};
use model::RunState;
use std::collections::BTreeSet;
use std::env;
use std::fs;
use std::io::{BufRead, BufReader, Read, Write, stdin};
use std::path::Path;
use std::process::{Child, ChildStdout, Output, Stdio};
use std::sync::Barrier;
use std::thread;
use tempfile::tempdir;

const CELLS: u64 = 120;
const ID: &str = "KNEE_TEST_RUN";

#[test]
fn two_processes_write_at_once() {
    let directory = tempdir().unwrap();
    let path = directory.path().join("knee.db");
    let ids = ["aaaa000000000000", "bbbb000000000000"];
    let start = |id: &str| {
        let mut command = child("writers::child_writes_a_run", &path);
        command.env(ID, id).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command.spawn().unwrap()
    };
    let mut writers = ids.map(start);
    // Let go together, so that they also race for making the file.
    let mut outputs: Vec<_> = writers.iter_mut().map(wait_until_ready).collect();
    for writer in &mut writers {
        writer.stdin.take().unwrap().write_all(b"go\n").unwrap();
    }
    // Reading meanwhile sees whole cells, never fewer than before, and delays no writer.
    let mut seen = [0; 2];
    while writers.iter_mut().any(|writer| writer.try_wait().unwrap().is_none()) {
        match SqliteArchive::open_read_only(&path) {
            Ok(reader) => seen = look(&reader, ids, seen),
            Err(Error::NoRecord { .. } | Error::EmptyRecord { .. }) => {}
            Err(error) => panic!("{error}"),
        }
    }
    for (writer, output) in writers.into_iter().zip(&mut outputs) {
        let mut ended = writer.wait_with_output().unwrap();
        output.read_to_end(&mut ended.stdout).unwrap();
        assert_child_passed(&ended);
    }
    let archive = SqliteArchive::open(&path).unwrap();
    assert_eq!(look(&archive, ids, seen), [CELLS; 2]);
    assert!(archive.runs().unwrap().iter().all(|run| run.state == RunState::Complete));
    drop(archive);
    assert_eq!(integrity(&path), "ok");
}

fn wait_until_ready(writer: &mut Child) -> BufReader<ChildStdout> {
    let mut output = BufReader::new(writer.stdout.take().unwrap());
    let mut line = String::new();
    while !line.contains("ready") {
        line.clear();
        assert_ne!(output.read_line(&mut line).unwrap(), 0, "a writer ended early");
    }
    output
}

/// Counts the cells of each run, and makes sure that they are whole and none was lost.
fn look(archive: &SqliteArchive, ids: [&str; 2], seen: [u64; 2]) -> [u64; 2] {
    let mut now = [0; 2];
    for summary in archive.runs().unwrap() {
        let which = ids.iter().position(|id| *id == summary.id).unwrap();
        let loaded = archive.load(summary.number).unwrap();
        now[which] = loaded.cells.len() as u64;
        assert!(loaded.cells == cells(now[which]));
        assert_eq!(loaded.summary.cells_ended, now[which], "of one moment");
    }
    assert!(now[0] >= seen[0] && now[1] >= seen[1], "{seen:?} {now:?}");
    now
}

#[test]
#[ignore = "the child's part of another test"]
fn child_writes_a_run() {
    let Some(path) = record_of_child() else { return };
    println!("ready");
    let mut line = String::new();
    stdin().read_line(&mut line).unwrap();
    let mut archive = SqliteArchive::open(path).unwrap();
    let number = archive.begin(&run(&env::var(ID).unwrap(), CELLS)).unwrap();
    for cell in cells(CELLS) {
        archive.commit(number, &cell).unwrap();
    }
    archive.finish(number, &ending(RunState::Complete)).unwrap();
}

#[test]
fn many_may_make_the_same_record_at_once() {
    for _ in 0..10 {
        let directory = tempdir().unwrap();
        let path = directory.path().join("a/knee.db");
        let barrier = Barrier::new(6);
        thread::scope(|scope| {
            for writer in 0..6 {
                let (path, barrier) = (&path, &barrier);
                scope.spawn(move || {
                    barrier.wait();
                    let mut archive = SqliteArchive::open(path).unwrap();
                    let number = archive.begin(&run(&format!("{writer:016x}"), 1)).unwrap();
                    archive.commit(number, &cell(0)).unwrap();
                });
            }
        });
        let archive = SqliteArchive::open(&path).unwrap();
        assert_eq!(archive.runs().unwrap().len(), 6);
        for number in 1..=6 {
            assert_eq!(archive.load(number).unwrap().cells, cells(1));
        }
    }
}

/// POSIX locks belong to a process: closing any descriptor of a file drops all that the process
/// holds on it. Another process, with an older SQLite at least, then takes itself for the last one
/// and removes the journal.
#[test]
fn a_second_look_in_the_same_process_keeps_the_locks_of_the_first() {
    let directory = tempdir().unwrap();
    let path = directory.path().join("knee.db");
    make_record(&path, 1);
    let mut archive = SqliteArchive::open(&path).unwrap();
    let number = archive.begin(&run("fedcba9876543210", 2)).unwrap();
    archive.commit(number, &cell(0)).unwrap();
    let before = locks(&path);
    assert!(!before.is_empty() || !cfg!(target_os = "linux"));
    drop(SqliteArchive::open_read_only(&path).unwrap());
    drop(SqliteArchive::open(&path).unwrap());
    assert_eq!(locks(&path), before);
    assert_eq!(cells_seen_by_another_process(&path), 1);
    archive.commit(number, &cell(1)).unwrap();
    assert_eq!(cells_seen_by_another_process(&path), 2);
}

/// This process's locks on a file, as far as the system tells. The table of all locks, `/proc/locks`,
/// is read a page at a time while others come and go, and may show one twice or not at all.
fn locks(path: &Path) -> BTreeSet<String> {
    let path = path.canonicalize().unwrap();
    let descriptors = fs::read_dir("/proc/self/fd").into_iter().flatten().flatten();
    let of_file =
        descriptors.filter(|entry| fs::read_link(entry.path()).is_ok_and(|to| to == path));
    let lines = of_file.filter_map(|entry| {
        fs::read_to_string(Path::new("/proc/self/fdinfo").join(entry.file_name())).ok()
    });
    lines
        .flat_map(|text| {
            text.lines()
                .filter_map(|line| line.strip_prefix("lock:").map(str::to_owned))
                .collect::<Vec<_>>()
        })
        .collect()
}

fn cells_seen_by_another_process(path: &Path) -> u64 {
    let output: Output = child("writers::child_counts_the_last_runs_cells", path).output().unwrap();
    assert_child_passed(&output);
    let printed = String::from_utf8(output.stdout).unwrap();
    printed.lines().find_map(|line| line.split_once("cells: ")?.1.parse().ok()).unwrap()
}

#[test]
#[ignore = "the child's part of another test"]
fn child_counts_the_last_runs_cells() {
    let Some(path) = record_of_child() else { return };
    let archive = SqliteArchive::open(path).unwrap();
    println!("cells: {}", archive.runs().unwrap().last().unwrap().cells_ended);
}
