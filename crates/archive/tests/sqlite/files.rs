//! Files that are not a record, or a damaged one: reported in one line, and never touched.

use crate::common::{assert_unchanged, cell, cells, contents, integrity, make_record, run};
use archive::{Archive, Error, RunWriter, SqliteArchive};
use rusqlite::Connection;
use std::fs;
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};
use std::process::Command;
use tempfile::{TempDir, tempdir};

/// A directory with one file `name` of those bytes.
fn directory_with(name: &str, bytes: &[u8]) -> (TempDir, PathBuf) {
    let directory = tempdir().unwrap();
    let path = directory.path().join(name);
    fs::write(&path, bytes).unwrap();
    (directory, path)
}

/// The bytes of a good record.
fn good_record() -> Vec<u8> {
    let directory = tempdir().unwrap();
    let path = directory.path().join("knee.db");
    make_record(&path, 12);
    fs::read(path).unwrap()
}

/// Opens `path` in both ways. Both must be refused with the same line, and change nothing.
fn refusal(path: &Path) -> (Error, String) {
    let directory = path.parent().unwrap();
    let before = contents(directory);
    let written = SqliteArchive::open(path).unwrap_err();
    assert_unchanged(directory, &before);
    let read = SqliteArchive::open_read_only(path).unwrap_err();
    assert_unchanged(directory, &before);
    assert_eq!(written.to_string(), read.to_string());
    let line = written.to_string().replace(&path.display().to_string(), "PATH");
    assert!(!line.contains('\n'), "{line}");
    (written, line)
}

#[test]
fn a_file_that_is_not_sqlite_is_left_alone() {
    let long = "A letter, by no means a database. ".repeat(500);
    for bytes in [&b"hello"[..], long.as_bytes(), &[0; 8192], b"SQLite format 3\0"] {
        let (_directory, path) = directory_with("letter.txt", bytes);
        assert_eq!(
            refusal(&path).1,
            "PATH is not a record (not a SQLite database) and was left alone"
        );
    }
}

#[test]
fn another_programs_database_is_left_alone() {
    let expected = "PATH is another program's SQLite database, not a record, and was left alone";
    let directory = tempdir().unwrap();
    for (name, application_id) in [("none.db", 0), ("other.db", 42), ("negative.db", -7)] {
        let path = directory.path().join(name);
        let foreign = Connection::open(&path).unwrap();
        foreign.pragma_update(None, "application_id", application_id).unwrap();
        foreign.execute_batch("CREATE TABLE run (number); INSERT INTO run VALUES (1);").unwrap();
        drop(foreign);
        assert_eq!(refusal(&path).1, expected, "{name}");
    }
}

#[test]
fn another_programs_journal_is_left_alone() {
    let directory = tempdir().unwrap();
    let live = directory.path().join("live.db");
    let foreign = Connection::open(&live).unwrap();
    foreign.execute_batch("PRAGMA journal_mode = WAL; CREATE TABLE song (name);").unwrap();
    let copies = tempdir().unwrap();
    for suffix in ["", "-wal"] {
        let from = directory.path().join(format!("live.db{suffix}"));
        fs::copy(from, copies.path().join(format!("copy.db{suffix}"))).unwrap();
    }
    let copy = copies.path().join("copy.db");
    assert!(refusal(&copy).1.contains("another program's"));
}

#[test]
fn a_newer_schema_is_left_alone() {
    let (_directory, path) = directory_with("knee.db", &good_record());
    let newer = Connection::open(&path).unwrap();
    newer.pragma_update(None, "user_version", 2).unwrap();
    drop(newer);
    assert_eq!(
        refusal(&path).1,
        "PATH was written by a newer knee (schema 2, this one reads up to 1) and was left alone; \
         update knee"
    );
}

#[test]
fn a_record_that_is_cut_short_is_left_alone() {
    let whole = good_record();
    let last = whole.len() - 1;
    for length in [60, 99, 100, 511, 512, 4095, 4096, 5000, whole.len() / 2, last - 4096, last] {
        let (_directory, path) = directory_with("knee.db", &whole[..length]);
        let (error, line) = refusal(&path);
        assert!(matches!(error, Error::Refused { .. }), "{length}: {line}");
        assert_eq!(
            line,
            "PATH is cut short and was left alone; restore it from a copy, or name another file"
        );
    }
    let (_directory, path) = directory_with("knee.db", &whole);
    assert_eq!(SqliteArchive::open(path).unwrap().load(1).unwrap().cells, cells(12));
}

#[test]
fn a_damaged_record_is_reported_as_damaged() {
    let whole = good_record();
    let mut damaged = 0;
    for page in 1..whole.len() / 4096 {
        for filler in [0x00, 0x5a, 0xff] {
            let mut bytes = whole.clone();
            bytes[page * 4096..(page + 1) * 4096].fill(filler);
            let (_directory, path) = directory_with("knee.db", &bytes);
            let loaded = SqliteArchive::open_read_only(&path).and_then(|archive| archive.load(1));
            match loaded {
                // Pages that only views and free space use are not missed.
                Ok(run) => assert_eq!(run.cells.len(), 12),
                Err(Error::Damaged { .. }) => damaged += 1,
                Err(foreign) => panic!("page {page} filled with {filler:#x}: {foreign}"),
            }
        }
    }
    assert!(damaged > whole.len() / 4096, "{damaged}");
}

#[test]
fn columns_that_contradict_the_schema_are_reported_as_damaged() {
    let changes = [
        "UPDATE run SET begun = '{'",
        "UPDATE run SET ending = x'ff'",
        "UPDATE run SET summary = x'ff'",
        "UPDATE cell SET sequence = -1 WHERE number = 1",
        "UPDATE cell SET seal = 'long'",
        "UPDATE cell SET samples = '[null]'",
        "UPDATE cell SET positions = x'00'",
    ];
    for change in changes {
        let (_directory, path) = directory_with("knee.db", &good_record());
        Connection::open(&path).unwrap().execute_batch(change).unwrap();
        let error = SqliteArchive::open(&path).unwrap().load(1).unwrap_err();
        assert!(matches!(error, Error::Damaged { .. }), "{change}: {error}");
    }
}

#[test]
fn what_is_not_a_file_is_left_alone() {
    let directory = tempdir().unwrap();
    let inner = directory.path().join("directory");
    fs::create_dir(&inner).unwrap();
    let pipe = directory.path().join("pipe");
    assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let socket = directory.path().join("socket");
    let _listener = UnixListener::bind(&socket).unwrap();
    for (path, what) in [
        (inner.as_path(), "a directory"),
        (pipe.as_path(), "a pipe"),
        (socket.as_path(), "a socket"),
        (Path::new("/dev/null"), "a device"),
    ] {
        for error in [
            SqliteArchive::open(path).unwrap_err(),
            SqliteArchive::open_read_only(path).unwrap_err(),
        ] {
            assert_eq!(
                error.to_string(),
                format!("{} is {what}, not a file that can hold a record", path.display())
            );
        }
    }
}

#[test]
fn a_directory_that_can_not_be_made_is_named() {
    let (_directory, letter) = directory_with("letter.txt", b"hello");
    let error = SqliteArchive::open(letter.join("deeper/knee.db")).unwrap_err();
    let message = error.to_string();
    let deeper = letter.join("deeper");
    assert!(
        message.starts_with(&format!("the directory {} can't be made (", deeper.display())),
        "{message}"
    );
}

#[test]
fn there_is_nothing_to_read_where_nothing_was_written() {
    let directory = tempdir().unwrap();
    let absent = directory.path().join("knee.db");
    let error = SqliteArchive::open_read_only(&absent).unwrap_err();
    assert_eq!(error.to_string(), format!("there is no record at {}", absent.display()));
    assert!(!absent.exists());

    let (directory, empty) = directory_with("empty.db", b"");
    let before = contents(directory.path());
    let error = SqliteArchive::open_read_only(&empty).unwrap_err();
    assert!(matches!(error, Error::EmptyRecord { .. }), "{error}");
    assert_unchanged(directory.path(), &before);
}

#[test]
fn an_empty_file_becomes_a_record() {
    let (_directory, path) = directory_with("empty.db", b"");
    make_record(&path, 2);
    assert_eq!(SqliteArchive::open_read_only(&path).unwrap().load(1).unwrap().cells, cells(2));
    assert_eq!(integrity(&path), "ok");
}

#[test]
fn the_latest_cells_of_a_killed_process_are_read_from_its_journal() {
    let directory = tempdir().unwrap();
    let live = directory.path().join("live.db");
    let mut archive = SqliteArchive::open(&live).unwrap();
    let number = archive.begin(&run("0123456789abcdef", 9)).unwrap();
    archive.commit(number, &cell(0)).unwrap();
    // What a process leaves behind that can't close its record.
    let copies = tempdir().unwrap();
    let copy = copies.path().join("copy.db");
    fs::copy(&live, &copy).unwrap();
    fs::copy(directory.path().join("live.db-wal"), copies.path().join("copy.db-wal")).unwrap();
    let loaded = SqliteArchive::open_read_only(&copy).unwrap().load(number).unwrap();
    assert_eq!(loaded.cells, [cell(0)]);
    let left: Vec<_> = contents(copies.path()).into_keys().collect();
    assert_eq!(left, [copy], "the journal is folded in");
}
