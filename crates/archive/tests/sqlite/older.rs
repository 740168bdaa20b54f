//! Records of older knees: that of schema 1 is read for all time, and those of no released knee are refused.

use crate::common::{assert_unchanged, cells, contents, ending, make_record, profile, run};
use archive::{Archive, SqliteArchive};
use model::RunState;
use rusqlite::Connection;
use std::path::Path;
use std::process::Command;
use tempfile::tempdir;

/// What `sqlite3 knee.db .dump` printed of a record that [`make_record`] made with 6 cells.
const SCHEMA_1: &str = include_str!("schema_1.sql");
const CELLS: u64 = 6;

/// Prints what [`SCHEMA_1`] has: `cargo test -p knee-archive older::prints -- --ignored --nocapture`.
#[test]
#[ignore = "it makes what the others test"]
fn prints_a_record() {
    let directory = tempdir().unwrap();
    let path = directory.path().join("knee.db");
    make_record(&path, CELLS);
    assert!(Command::new("sqlite3").arg(&path).arg(".dump").status().unwrap().success());
}

/// A database with these tables and marks.
fn make(path: &Path, sql: &str, (mark, schema): (i64, i64)) {
    let connection = Connection::open(path).unwrap();
    connection.execute_batch(sql).unwrap();
    connection.pragma_update(None, "application_id", mark).unwrap();
    connection.pragma_update(None, "user_version", schema).unwrap();
}

#[test]
fn a_record_of_schema_1_is_read_as_it_was_kept() {
    let directory = tempdir().unwrap();
    let path = directory.path().join("knee.db");
    make(&path, SCHEMA_1, (0x4b6e_6565, 1));
    let archive = SqliteArchive::open_read_only(&path).unwrap();
    assert_eq!(archive.damaged().unwrap(), [0_i64; 0]);
    let loaded = archive.load(1).unwrap();
    let begun = run("0123456789abcdef", CELLS);
    assert_eq!((&loaded.plan, &loaded.clock), (&begun.plan, &begun.clock));
    assert_eq!(loaded.host_before, begun.host_before);
    let ending = ending(RunState::Complete);
    assert_eq!((loaded.host_after, loaded.warnings), (Some(ending.host_after), ending.warnings));
    assert_eq!(loaded.summary.command, begun.summary.command);
    assert!(loaded.cells == cells(CELLS) && loaded.profile == profile(4));
}

/// What is kept now is what was kept then: the schema has not changed without a new number.
#[test]
fn a_record_that_is_made_now_is_of_schema_1() {
    let directory = tempdir().unwrap();
    let (then, now) = (directory.path().join("then.db"), directory.path().join("now.db"));
    make(&then, SCHEMA_1, (0x4b6e_6565, 1));
    make_record(&now, CELLS);
    let rows = |path: &Path| -> Vec<String> {
        let connection = Connection::open(path).unwrap();
        let sql = "SELECT sql FROM sqlite_schema WHERE type <> 'trigger' AND name NOT LIKE 'sqlite_%' UNION ALL \
             SELECT id || summary || begun || ending || seal FROM run UNION ALL \
             SELECT body || positions || samples || seal FROM cell UNION ALL \
             SELECT key || body || seal FROM profile";
        let mut select = connection.prepare(sql).unwrap();
        select.query_map([], |row| row.get(0)).unwrap().map(Result::unwrap).collect()
    };
    for (then, now) in rows(&then).into_iter().zip(rows(&now)) {
        assert_eq!(then, now);
    }
}

#[test]
fn a_record_of_no_released_knee_is_left_alone() {
    for schema in 1..=7 {
        let directory = tempdir().unwrap();
        let path = directory.path().join("knee.db");
        make(&path, "CREATE TABLE run (number INTEGER PRIMARY KEY)", (0x6b6e_6565, schema));
        let before = contents(directory.path());
        for opened in [SqliteArchive::open(&path), SqliteArchive::open_read_only(&path)] {
            let error = opened.unwrap_err();
            assert!(error.to_string().contains("by a knee before 0.1.0"), "{error}");
            assert_eq!(error.to_string().lines().count(), 1);
        }
        assert_unchanged(directory.path(), &before);
    }
}
