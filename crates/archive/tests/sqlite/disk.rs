//! Disks that are full or can't be written: real ones, small file systems in a private namespace.

use crate::common::{
    RECORD, arguments, assert_child_passed, cell, cells, contents, ending, integrity, make_record,
    record_of_child, run,
};
use archive::{Archive, Error, RunWriter, SqliteArchive};
use model::RunState;
use std::env;
use std::fs::{self, File};
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::process::Command;
use tempfile::tempdir;

/// Runs the ignored test `name` on a record in an empty file system of 8 MiB that only it sees and
/// that goes with it. Says so and returns where the kernel allows no such thing.
fn on_a_small_disk(name: &str) {
    for privileges in [&["--mount"][..], &["--user", "--map-root-user", "--mount"]] {
        let allowed = Command::new("unshare")
            .args(privileges)
            .args(["mount", "-t", "tmpfs", "none", "/mnt"])
            .output()
            .is_ok_and(|output| output.status.success());
        if !allowed {
            continue;
        }
        let directory = tempdir().unwrap();
        let script = "mount -t tmpfs -o size=8m none \"$DISK\" && exec \"$@\"";
        let output = Command::new("unshare")
            .args(privileges)
            .args(["sh", "-c", script, "sh"])
            .arg(env::current_exe().unwrap())
            .args(arguments(name))
            .env("DISK", directory.path())
            .env(RECORD, directory.path().join("knee.db"))
            .output()
            .unwrap();
        return assert_child_passed(&output);
    }
    eprintln!("SKIPPED: no file system can be mounted here (unshare --mount is refused)");
}

/// Mounts the child's disk again, `ro` or `rw`.
fn remount(record: &Path, mode: &str) {
    let disk = record.parent().unwrap();
    let options = format!("remount,bind,{mode}");
    let mounted = Command::new("mount").args(["-o", &options]).arg(disk).status().unwrap();
    assert!(mounted.success(), "{mode}");
}

/// Fills the disk to the last byte and returns the file that does.
fn fill(record: &Path) -> PathBuf {
    let path = record.with_file_name("ballast");
    let mut ballast = File::create(&path).unwrap();
    for size in [65536, 4096, 1] {
        let error = loop {
            if let Err(error) = ballast.write_all(&vec![7; size]) {
                break error;
            }
        };
        assert_eq!(error.kind(), ErrorKind::StorageFull);
    }
    path
}

#[test]
fn a_full_disk_loses_nothing_that_was_committed() {
    on_a_small_disk("disk::child_fills_the_disk");
}

#[test]
#[ignore = "the child's part of another test"]
fn child_fills_the_disk() {
    let Some(path) = record_of_child() else { return };
    let filler = path.with_file_name("other");
    fs::write(&filler, vec![7; 2 << 20]).unwrap();
    let mut archive = SqliteArchive::open(&path).unwrap();
    let number = archive.begin(&run("0123456789abcdef", 1000)).unwrap();
    let mut committed = 0;
    let error = loop {
        match archive.commit(number, &cell(committed)) {
            Ok(()) => committed += 1,
            Err(error) => break error,
        }
    };
    assert_eq!(error.to_string(), format!("no room left on the disk for {}", path.display()));
    assert!(committed > 5, "{committed}");

    // What was committed is there for this process and for another one.
    assert!(archive.load(number).unwrap().cells == cells(committed));
    let ballast = fill(&path);
    assert!(matches!(archive.commit(number, &cell(committed)), Err(Error::DiskFull { .. })));
    let reader = SqliteArchive::open_read_only(&path).unwrap();
    assert!(reader.load(number).unwrap().cells == cells(committed));
    drop(reader);
    drop(archive);

    // With room again it goes on.
    fs::remove_file(ballast).unwrap();
    fs::remove_file(filler).unwrap();
    let mut archive = SqliteArchive::open(&path).unwrap();
    archive.reopen(number).unwrap();
    assert!(archive.load(number).unwrap().cells == cells(committed));
    archive.commit(number, &cell(committed)).unwrap();
    archive.finish(number, &ending(RunState::Interrupted)).unwrap();
    archive.delete(number).unwrap();
    let number = archive.begin(&run("fedcba9876543210", 3)).unwrap();
    archive.commit(number, &cell(0)).unwrap();
    drop(archive);
    assert_eq!(integrity(&path), "ok");
}

#[test]
fn no_record_is_made_on_a_full_disk() {
    on_a_small_disk("disk::child_opens_on_a_full_disk");
}

#[test]
#[ignore = "the child's part of another test"]
fn child_opens_on_a_full_disk() {
    let Some(path) = record_of_child() else { return };
    let ballast = fill(&path);
    assert!(matches!(SqliteArchive::open(&path), Err(Error::DiskFull { .. })));
    fs::remove_file(ballast).unwrap();
    // The attempt may leave an empty file; a record can be made of it.
    make_record(&path, 2);
    let ballast = fill(&path);
    assert!(matches!(SqliteArchive::open(&path), Err(Error::DiskFull { .. })), "no room to write");
    let reader = SqliteArchive::open_read_only(&path).unwrap();
    assert!(reader.load(1).unwrap().cells == cells(2), "room to read");
    fs::remove_file(ballast).unwrap();
}

#[test]
fn a_run_that_can_not_be_closed_stays_open_and_is_closed_later() {
    on_a_small_disk("disk::child_finishes_on_a_full_disk");
}

#[test]
#[ignore = "the child's part of another test"]
fn child_finishes_on_a_full_disk() {
    let Some(path) = record_of_child() else { return };
    let mut archive = SqliteArchive::open(&path).unwrap();
    let number = archive.begin(&run("0123456789abcdef", 9)).unwrap();
    for cell in cells(9) {
        archive.commit(number, &cell).unwrap();
    }
    let ballast = fill(&path);
    // What is left of the journal's last block may hold a little more.
    let refused = loop {
        match archive.finish(number, &ending(RunState::Interrupted)) {
            Ok(()) => archive.reopen(number),
            Err(error) => break error,
        }
        .unwrap_or_else(|error| assert!(matches!(error, Error::DiskFull { .. }), "{error}"));
        if archive.runs().unwrap()[0].state == RunState::Interrupted {
            break Error::DiskFull(path.clone());
        }
    };
    assert!(matches!(refused, Error::DiskFull { .. }), "{refused}");
    assert!(archive.load(number).unwrap().cells == cells(9));
    fs::remove_file(ballast).unwrap();
    archive.reopen(number).unwrap();
    archive.finish(number, &ending(RunState::Complete)).unwrap();
    let whole = archive.load(number).unwrap();
    assert!(whole.summary.state == RunState::Complete && whole.cells == cells(9));
    drop(archive);
    assert_eq!(integrity(&path), "ok");
}

#[test]
fn a_read_only_medium_can_be_read() {
    on_a_small_disk("disk::child_reads_a_read_only_medium");
}

#[test]
#[ignore = "the child's part of another test"]
fn child_reads_a_read_only_medium() {
    let Some(path) = record_of_child() else { return };
    make_record(&path, 4);
    let before = contents(path.parent().unwrap());
    remount(&path, "ro");
    let error = SqliteArchive::open(&path).unwrap_err();
    assert!(matches!(error, Error::ReadOnlyFileSystem { .. }), "{error}");
    assert!(!error.to_string().contains("chmod"), "{error}");
    let new = path.with_file_name("new.db");
    let error = SqliteArchive::open(new).unwrap_err();
    assert!(matches!(error, Error::ReadOnlyFileSystem { .. }), "{error}");
    let error = SqliteArchive::open(path.with_file_name("directory").join("new.db")).unwrap_err();
    assert!(matches!(error, Error::NoDirectory { .. }), "{error}");

    let mut reader = SqliteArchive::open_read_only(&path).unwrap();
    assert!(reader.load(1).unwrap().cells == cells(4));
    assert!(matches!(reader.delete(1), Err(Error::ReadOnlyFileSystem { .. })));
    assert!(contents(path.parent().unwrap()) == before);
}

#[test]
fn a_journal_on_a_read_only_medium_is_read_or_named() {
    on_a_small_disk("disk::child_reads_a_journal_on_a_read_only_medium");
}

#[test]
#[ignore = "the child's part of another test"]
fn child_reads_a_journal_on_a_read_only_medium() {
    let Some(path) = record_of_child() else { return };
    let live = path.with_file_name("live.db");
    let mut archive = SqliteArchive::open(&live).unwrap();
    let number = archive.begin(&run("0123456789abcdef", 3)).unwrap();
    archive.commit(number, &cell(0)).unwrap();
    for suffix in ["", "-wal"] {
        let from = path.with_file_name(format!("live.db{suffix}"));
        fs::copy(from, path.with_file_name(format!("knee.db{suffix}"))).unwrap();
    }
    drop(archive);
    remount(&path, "ro");
    let error = SqliteArchive::open_read_only(&path).unwrap_err();
    assert!(error.to_string().contains("copy both files"), "{error}");

    // With its shared-memory file the journal can be read there too.
    remount(&path, "rw");
    fs::write(path.with_file_name("knee.db-shm"), []).unwrap();
    remount(&path, "ro");
    let reader = SqliteArchive::open_read_only(&path).unwrap();
    assert!(reader.load(number).unwrap().cells == cells(1));
    drop(reader);
    remount(&path, "rw");
    assert!(SqliteArchive::open(&path).unwrap().load(number).unwrap().cells == cells(1));
}
