//! The life of runs in a record: begun, interrupted, resumed, complete, named, deleted.

use crate::common::{
    RECORD, arguments, assert_unchanged, cell, cells, contents, ending, integrity, make_record, run,
};
use record::{Archive, Error, RunState, RunWriter, SqliteArchive, default_path};
use std::env;
use std::fs;
use std::process::Command;
use tempfile::tempdir;

#[test]
fn an_interrupted_run_is_resumed() {
    let directory = tempdir().unwrap();
    let path = directory.path().join("knee.db");
    let mut archive = SqliteArchive::open(&path).unwrap();
    let number = archive.begin(&run("0123456789abcdef", 4)).unwrap();
    archive.commit(number, &cell(2)).unwrap();
    archive.commit(number, &cell(0)).unwrap();
    archive.finish(number, &ending(RunState::Interrupted)).unwrap();
    drop(archive);

    let mut archive = SqliteArchive::open(&path).unwrap();
    assert!(matches!(
        archive.commit(number, &cell(1)),
        Err(Error::RunNotOpen { state: RunState::Interrupted, .. })
    ));
    archive.reopen(number).unwrap();
    let resumed = archive.load(number).unwrap();
    assert_eq!(resumed.cells, [cell(2), cell(0)], "in the order in which they ended");
    assert_eq!(resumed.summary.state, RunState::Open);
    assert_eq!((resumed.summary.ended, resumed.host_after), (None, None));
    assert_eq!(resumed.warnings, ending(RunState::Interrupted).warnings);
    archive.commit(number, &cell(1)).unwrap();
    archive.commit(number, &cell(3)).unwrap();
    archive.finish(number, &ending(RunState::Complete)).unwrap();

    let whole = archive.load(number).unwrap();
    assert_eq!(whole.cells, [cell(2), cell(0), cell(1), cell(3)]);
    assert_eq!(whole.summary.cells_ended, 4);
    assert!(matches!(archive.reopen(number), Err(Error::RunComplete { .. })));
    assert!(matches!(
        archive.finish(number, &ending(RunState::Interrupted)),
        Err(Error::RunNotOpen { state: RunState::Complete, .. })
    ));
}

#[test]
fn the_same_cell_or_run_is_never_there_twice() {
    let directory = tempdir().unwrap();
    let mut archive = SqliteArchive::open(directory.path().join("knee.db")).unwrap();
    let number = archive.begin(&run("0123456789abcdef", 4)).unwrap();
    archive.commit(number, &cell(0)).unwrap();
    let mut again = cell(0);
    again.elapsed_ns = 7;
    assert!(matches!(archive.commit(number, &again), Err(Error::CellTwice { sequence: 0, .. })));
    assert!(matches!(
        archive.begin(&run("0123456789abcdef", 4)),
        Err(Error::RunTwice { id, .. }) if id == "0123456789abcdef"
    ));
    let second_run = archive.begin(&run("fedcba9876543210", 4)).unwrap();
    archive.commit(second_run, &cell(0)).unwrap();
    assert_eq!(archive.load(number).unwrap().cells, [cell(0)]);
    assert_eq!(archive.load(second_run).unwrap().cells, [cell(0)]);
}

#[test]
fn what_is_not_there_is_reported_as_absent() {
    let directory = tempdir().unwrap();
    let mut archive = SqliteArchive::open(directory.path().join("knee.db")).unwrap();
    assert!(matches!(archive.resolve("last"), Err(Error::EmptyRecord { .. })));
    let absent = |result: Result<(), Error>| matches!(result, Err(Error::NoSuchRun { run, .. }) if run == "7");
    assert!(absent(archive.commit(7, &cell(0))));
    assert!(absent(archive.finish(7, &ending(RunState::Complete))));
    assert!(absent(archive.reopen(7)));
    assert!(absent(archive.delete(7)));
    assert!(absent(archive.load(7).map(drop)));
}

#[test]
fn runs_are_named_by_number_id_and_last() {
    let directory = tempdir().unwrap();
    let mut archive = SqliteArchive::open(directory.path().join("knee.db")).unwrap();
    for id in ["a3f1000000000000", "a3f2000000000000", "7777000000000000"] {
        archive.begin(&run(id, 0)).unwrap();
    }
    assert_eq!(archive.resolve("last").unwrap(), 3);
    assert_eq!(archive.resolve("2").unwrap(), 2);
    assert_eq!(archive.resolve("a3f1").unwrap(), 1);
    assert!(
        matches!(archive.resolve("a3f"), Err(Error::AmbiguousRun { matches, .. }) if matches.len() == 2)
    );
    archive.delete(3).unwrap();
    assert_eq!(archive.resolve("last").unwrap(), 2);
    assert!(matches!(archive.resolve("3"), Err(Error::NoSuchRun { .. })));
    assert_eq!(archive.begin(&run("0123456789abcdef", 0)).unwrap(), 4, "3 is not given again");
}

#[test]
fn a_deleted_run_is_gone_and_its_pages_are_free() {
    let directory = tempdir().unwrap();
    let path = directory.path().join("knee.db");
    make_record(&path, 4);
    let before = fs::metadata(&path).unwrap().len();

    let mut archive = SqliteArchive::open(&path).unwrap();
    let mut secret = run("5ec2e7ed00000000", 0);
    secret.summary.command.push("a secret that must not stay".into());
    let number = archive.begin(&secret).unwrap();
    for cell in cells(60) {
        archive.commit(number, &cell).unwrap();
    }
    archive.delete(number).unwrap();
    for (file, bytes) in contents(directory.path()) {
        let needle = b"a secret that must not stay";
        let is_present = bytes.windows(needle.len()).any(|window| window == needle);
        assert!(!is_present, "still in {}", file.display());
    }
    let after = fs::metadata(&path).unwrap().len();
    assert!(after <= before + 8192, "{before} bytes before, {after} after");
    assert_eq!(archive.load(1).unwrap().cells, cells(4), "the other run is whole");
    drop(archive);
    assert_eq!(integrity(&path), "ok");
}

#[test]
fn a_run_can_be_deleted_while_somebody_reads() {
    let directory = tempdir().unwrap();
    let path = directory.path().join("knee.db");
    make_record(&path, 4);
    let reader = SqliteArchive::open_read_only(&path).unwrap();
    assert_eq!(reader.load(1).unwrap().cells, cells(4));
    SqliteArchive::open(&path).unwrap().delete(1).unwrap();
    assert_eq!(reader.runs().unwrap(), []);
}

#[test]
fn a_finished_run_is_in_the_file_itself() {
    let directory = tempdir().unwrap();
    let path = directory.path().join("knee.db");
    let mut archive = SqliteArchive::open(&path).unwrap();
    let number = archive.begin(&run("0123456789abcdef", 3)).unwrap();
    for cell in cells(3) {
        archive.commit(number, &cell).unwrap();
    }
    archive.finish(number, &ending(RunState::Complete)).unwrap();
    let copy = directory.path().join("copy.db");
    fs::copy(&path, &copy).unwrap();
    assert_eq!(SqliteArchive::open_read_only(&copy).unwrap().load(1).unwrap().cells, cells(3));
    drop(archive);
    fs::remove_file(copy).unwrap();
    let left: Vec<_> = contents(directory.path()).into_keys().collect();
    assert_eq!(left, [path], "no journal stays behind");
}

#[test]
fn a_reader_changes_nothing() {
    let directory = tempdir().unwrap();
    let path = directory.path().join("knee.db");
    make_record(&path, 3);
    let before = contents(directory.path());
    let mut archive = SqliteArchive::open_read_only(&path).unwrap();
    assert!(matches!(archive.begin(&run("fedcba9876543210", 0)), Err(Error::ReadOnly { .. })));
    assert!(matches!(archive.delete(1), Err(Error::ReadOnly { .. })));
    assert_eq!(archive.load(1).unwrap().cells, cells(3));
    drop(archive);
    assert_unchanged(directory.path(), &before);
}

#[test]
fn directories_are_made_and_odd_names_are_files() {
    let directory = tempdir().unwrap();
    for name in ["a/b/c.db", ":memory:", "file:x?mode=memory", "per%41cent #1 ä.db", "-", "'q\""] {
        let path = directory.path().join(name);
        make_record(&path, 1);
        assert!(fs::metadata(&path).unwrap().len() > 0, "{name}");
        let archive = SqliteArchive::open_read_only(&path).unwrap();
        assert_eq!(archive.load(1).unwrap().cells, cells(1), "{name}");
        assert_eq!(archive.path(), path);
    }
}

#[test]
fn a_link_leads_to_the_record() {
    let directory = tempdir().unwrap();
    let path = directory.path().join("there/knee.db");
    make_record(&path, 1);
    let link = directory.path().join("link.db");
    std::os::unix::fs::symlink(&path, &link).unwrap();
    let mut archive = SqliteArchive::open(&link).unwrap();
    archive.begin(&run("fedcba9876543210", 0)).unwrap();
    drop(archive);
    assert_eq!(SqliteArchive::open_read_only(&path).unwrap().runs().unwrap().len(), 2);
}

#[test]
fn the_record_is_in_the_users_data_directory() {
    let shown = |variables: &[(&str, &str)]| {
        let mut command = Command::new(env::current_exe().unwrap());
        command.args(arguments("lifecycle::child_shows_the_default_path"));
        command.env_remove("XDG_DATA_HOME").env("HOME", "/home/somebody").env(RECORD, "unused");
        let output = command.envs(variables.iter().copied()).output().unwrap();
        let printed = String::from_utf8(output.stdout).unwrap();
        printed.lines().find_map(|line| Some(line.split_once("default: ")?.1.to_owned())).unwrap()
    };
    assert_eq!(shown(&[]), "/home/somebody/.local/share/knee/knee.db");
    assert_eq!(shown(&[("XDG_DATA_HOME", "/data")]), "/data/knee/knee.db");
    let relative = shown(&[("XDG_DATA_HOME", "data")]);
    assert_eq!(relative, "/home/somebody/.local/share/knee/knee.db", "the standard says so");
}

#[test]
#[ignore = "the child's part of another test"]
fn child_shows_the_default_path() {
    if env::var_os(RECORD).is_some() {
        println!("default: {}", default_path().unwrap().display());
    }
}

#[test]
fn a_baseline_is_one_run_until_another_takes_its_name_or_it_is_deleted() {
    let directory = tempdir().unwrap();
    let path = directory.path().join("knee.db");
    let mut archive = SqliteArchive::open(&path).unwrap();
    let first = archive.begin(&run("0123456789abcdef", 4)).unwrap();
    let second = archive.begin(&run("fedcba9876543210", 4)).unwrap();
    assert_eq!(archive.baselines().unwrap(), []);
    archive.set_baseline("release", first).unwrap();
    archive.set_baseline("main", first).unwrap();
    archive.set_baseline("main", second).unwrap();
    let named = [("main".to_owned(), second), ("release".to_owned(), first)];
    assert_eq!(SqliteArchive::open_read_only(&path).unwrap().baselines().unwrap(), named);
    assert!(matches!(archive.set_baseline("x", 99), Err(Error::NoSuchRun { .. })));
    archive.delete(first).unwrap();
    assert_eq!(archive.baselines().unwrap(), [("main".to_owned(), second)]);
}
