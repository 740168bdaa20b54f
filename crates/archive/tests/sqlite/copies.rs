//! A record that is copied while it is written: the copy shows what was there at some moment, or is refused
//! in one line. Never does it show as whole what is not.

use crate::common::{assert_child_passed, cell, child, ending, record_of_child, run};
use archive::{Archive, Error, RunWriter, SqliteArchive};
use model::{Cell, RunState};
use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use tempfile::tempdir;

/// Copies of each kind.
const COPIES: usize = 8;
/// Runs that the writer begins: each is taken away again, so that its pages are used again.
const CELLS: u64 = 30;

/// In which order a careless copy takes the files.
const ORDERS: [&[&str]; 4] = [&[""], &["", "-wal"], &["-wal", ""], &["", "-wal", "-shm"]];

#[test]
fn a_copy_made_while_it_is_written_shows_a_moment_or_is_refused() {
    let directory = tempdir().unwrap();
    let path = directory.path().join("knee.db");
    let mut writer = child("copies::child_writes_and_deletes", &path)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(writer.stdout.take().unwrap());
    let mut line = String::new();
    while !line.contains("going") {
        line.clear();
        assert_ne!(lines.read_line(&mut line).unwrap(), 0, "the writer ended early");
    }
    let mut seen = Seen::default();
    for turn in 0..COPIES * ORDERS.len() {
        let copies = tempdir().unwrap();
        let copy = copies.path().join("copy.db");
        for suffix in ORDERS[turn % ORDERS.len()] {
            copy_slowly(&with_suffix(&path, suffix), &with_suffix(&copy, suffix));
        }
        seen.look(&copy);
    }
    // Its end of the pipe tells the writer to end.
    drop(writer.stdin.take());
    let mut ended = writer.wait_with_output().unwrap();
    lines.read_to_end(&mut ended.stdout).unwrap();
    assert_child_passed(&ended);
    println!("{seen:?}");
    assert!(seen.runs >= COPIES, "{seen:?}");
}

/// A few pages at a time, so that the writer gets between. A file that has just gone is a file that a copy lacks.
fn copy_slowly(from: &Path, to: &Path) {
    let Ok(mut from) = fs::File::open(from) else { return };
    let mut to = fs::File::create(to).unwrap();
    let mut page = vec![0; 16 * 4096];
    loop {
        let read = from.read(&mut page).unwrap();
        if read == 0 {
            return;
        }
        to.write_all(&page[..read]).unwrap();
        std::thread::yield_now();
    }
}

/// What became of the copies.
#[derive(Debug, Default)]
struct Seen {
    refused: usize,
    runs: usize,
    runs_refused: usize,
}

impl Seen {
    fn look(&mut self, copy: &Path) {
        let opened = SqliteArchive::open_read_only(copy);
        let listed = opened.and_then(|archive| Ok((archive.runs()?, archive)));
        let (runs, archive) = match listed {
            Ok(listed) => listed,
            Err(error) => {
                assert_clear(&error);
                self.refused += 1;
                return;
            }
        };
        for summary in runs {
            match archive.load(summary.number) {
                Ok(run) => {
                    self.runs += 1;
                    assert_a_moment(&run.cells, run.summary.state);
                }
                Err(error) => {
                    assert_clear(&error);
                    self.runs_refused += 1;
                }
            }
        }
    }
}

/// The cells up to some moment, each as it was; all of them, if the run had ended.
fn assert_a_moment(cells: &[Cell], state: RunState) {
    let count = cells.len() as u64;
    assert!(*cells == (0..count).map(cell).collect::<Vec<_>>(), "{count} cells");
    assert!(state == RunState::Open || count == CELLS, "{count} cells of a run that is {state:?}");
}

fn assert_clear(error: &Error) {
    let is_reported = matches!(
        error,
        Error::Damaged { .. }
            | Error::NoRecord { .. }
            | Error::EmptyRecord { .. }
            | Error::NoSuchRun { .. }
    );
    let text = error.to_string();
    let is_torn = matches!(error, Error::Refused(_) | Error::NotThisFile(_))
        && ["cut short", "not a SQLite database"].iter().any(|what| text.contains(what));
    assert!((is_reported || is_torn) && !text.contains('\n'), "{error:?}");
}

#[test]
#[ignore = "the child's part of another test"]
fn child_writes_and_deletes() {
    let Some(path) = record_of_child() else { return };
    let mut archive = SqliteArchive::open(path).unwrap();
    let ends = std::thread::spawn(|| std::io::stdin().read_to_end(&mut Vec::new()));
    for turn in 0.. {
        let number = archive.begin(&run(&format!("{turn:016x}"), CELLS)).unwrap();
        for sequence in 0..CELLS {
            archive.commit(number, &cell(sequence)).unwrap();
        }
        archive.finish(number, &ending(RunState::Complete)).unwrap();
        if number > 3 {
            archive.delete(number - 3).unwrap();
        }
        if turn == 3 {
            println!("going");
        }
        if ends.is_finished() {
            return;
        }
    }
}

/// The way that SCHEMA.md names.
#[test]
fn a_backup_by_sqlite_is_a_moment() {
    let directory = tempdir().unwrap();
    let path = directory.path().join("knee.db");
    let mut archive = SqliteArchive::open(&path).unwrap();
    let number = archive.begin(&run("0123456789abcdef", CELLS)).unwrap();
    for sequence in 0..CELLS {
        archive.commit(number, &cell(sequence)).unwrap();
        if sequence % 5 != 0 {
            continue;
        }
        let copy = directory.path().join(format!("{sequence}.db"));
        let backup = format!(".backup '{}'", copy.display());
        let Ok(output) = Command::new("sqlite3").arg(&path).arg(backup).output() else {
            eprintln!("SKIPPED: there is no sqlite3 command here");
            return;
        };
        assert!(output.status.success(), "{output:?}");
        let loaded = SqliteArchive::open_read_only(&copy).unwrap().load(number).unwrap();
        assert!(loaded.cells == (0..=sequence).map(cell).collect::<Vec<_>>());
    }
}

/// What a copy may bring together and SQLite does not notice: rows of two moments.
#[test]
fn rows_of_another_moment_are_not_taken_for_those_that_were_kept() {
    let changes = [
        (
            "UPDATE cell SET samples = '[[1.5],[2.5]]' WHERE number = 1",
            "cell 0 is not as it was kept",
        ),
        ("UPDATE cell SET positions = '[[],[]]' WHERE number = 1", "cell 0 is not as it was kept"),
        (
            "UPDATE cell SET body = json_set(body, '$.key.point', 7) WHERE number = 2",
            "cell 1 is not as it was kept",
        ),
        ("UPDATE cell SET sequence = 99 WHERE number = 2", "cell 99 is not as it was kept"),
        ("UPDATE cell SET seal = 0 WHERE number = 2", "cell 1 is not as it was kept"),
        ("DELETE FROM cell WHERE number = 3", "11 of 12 cells of run 1 are there"),
        ("UPDATE run SET begun = replace(begun, '5', '6')", "run 1 is not as it was kept"),
        ("UPDATE run SET ending = replace(ending, 'busy', 'idle')", "run 1 is not as it was kept"),
        (
            "UPDATE run SET summary = replace(summary, 'complete', 'open')",
            "run 1 is not as it was kept",
        ),
        ("UPDATE run SET origin = 'import'", "run 1 is not as it was kept"),
    ];
    for (change, expected) in changes {
        let directory = tempdir().unwrap();
        let path = directory.path().join("knee.db");
        crate::common::make_record(&path, 12);
        rusqlite::Connection::open(&path).unwrap().execute_batch(change).unwrap();
        let mut archive = SqliteArchive::open(&path).unwrap();
        let error = archive.load(1).unwrap_err();
        assert!(matches!(&error, Error::Damaged { detail, .. } if detail == expected), "{error}");
        archive.delete(1).unwrap();
        assert_eq!(archive.runs().unwrap(), [], "it can be taken away");
    }
}

fn with_suffix(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    name.into()
}
