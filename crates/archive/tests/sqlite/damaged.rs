//! What the fuzz target tries for minutes, tried for seconds: every seed of it, and inputs that are drawn.

use crate::common::{cells, make_record, run};
use crate::damage::Stage;
use archive::{Archive, Error, RunWriter, SqliteArchive};
use std::fs;
use std::path::Path;
use tempfile::tempdir;

/// Each column of a list in turn: it has both runs, and says which of them is damaged.
#[test]
fn a_run_of_which_a_part_cant_be_read_hides_no_other() {
    for column in ["summary", "origin", "id"] {
        let directory = tempdir().unwrap();
        let path = directory.path().join("knee.db");
        make_record(&path, 3);
        let second =
            SqliteArchive::open(&path).unwrap().begin(&run("fedcba9876543210", 1)).unwrap();
        let plain = rusqlite::Connection::open(&path).unwrap();
        plain.pragma_update(None, "ignore_check_constraints", true).unwrap();
        plain
            .execute(&format!("UPDATE run SET {column} = x'ff' WHERE number = ?1"), [second])
            .unwrap();
        drop(plain);
        let archive = SqliteArchive::open_read_only(&path).unwrap();
        let numbers: Vec<i64> = archive.runs().unwrap().iter().map(|run| run.number).collect();
        assert_eq!(numbers, [1, second], "{column}");
        assert_eq!(archive.damaged().unwrap(), [second], "{column}");
        assert!(matches!(archive.load(second), Err(Error::Damaged { .. })), "{column}");
        assert!(archive.load(1).unwrap().cells == cells(3), "{column}");
    }
}

/// What a fuzzer begins with, and what one found.
#[test]
fn every_seed_of_the_fuzz_target_is_reported_in_one_line_or_shown_as_it_was() {
    let stage = Stage::new();
    let seeds = Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz/seeds");
    let mut count = 0;
    for entry in fs::read_dir(seeds).unwrap() {
        stage.exercise(&fs::read(entry.unwrap().path()).unwrap());
        count += 1;
    }
    assert!(count >= 10, "{count} seeds");
}

#[test]
fn drawn_damage_is_reported_in_one_line_or_shown_as_it_was() {
    let stage = Stage::new();
    let mut random = fastrand::Rng::with_seed(2011);
    for _ in 0..200 {
        let input: Vec<u8> = (0..random.usize(2..40)).map(|_| random.u8(..)).collect();
        stage.exercise(&input);
    }
}
