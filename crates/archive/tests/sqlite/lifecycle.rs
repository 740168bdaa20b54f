//! The life of a record in a file: made, read, deleted from. What every archive does with runs is tested for files and
//! databases alike, in `tests/postgres/contract.rs`.

use crate::common::{
    RECORD, arguments, assert_unchanged, cells, contents, ending, integrity, make_record, run,
};
use archive::{Archive, Error, RunWriter, SqliteArchive, default_path};
use model::RunState;
use std::env;
use std::fs;
use std::process::Command;
use tempfile::tempdir;

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
