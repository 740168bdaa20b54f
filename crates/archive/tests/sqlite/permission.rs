//! Files and directories that the user may not read or write, tried as somebody who is not root.

use crate::common::{RECORD, arguments, assert_child_passed, cells, make_record, record_of_child};
use archive::{Archive, Error, SqliteArchive};
use std::env;
use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;
use tempfile::tempdir;

fn set_mode(path: &Path, mode: u32) {
    fs::set_permissions(path, Permissions::from_mode(mode)).unwrap();
}

#[test]
fn what_may_not_be_read_or_written_is_named() {
    let directory = tempdir().unwrap();
    set_mode(directory.path(), 0o777);
    let record = directory.path().join("records/knee.db");
    let is_root = Command::new("id").arg("-u").output().is_ok_and(|id| id.stdout == b"0\n");
    if !is_root {
        return try_permissions(&record);
    }
    // Nothing is forbidden to root, so somebody else tries; and needs the binary where it may go.
    let binary = directory.path().join("archive");
    // Not by this process, whose other tests start children: one that is not yet another program would
    // still have the file open for writing, and it could not be run.
    let copied = Command::new("cp").arg(env::current_exe().unwrap()).arg(&binary).status();
    assert!(copied.unwrap().success());
    set_mode(&binary, 0o755);
    let without_privileges = ["--reuid=65534", "--regid=65534", "--clear-groups"];
    if !Command::new("setpriv")
        .args(without_privileges)
        .arg("true")
        .status()
        .is_ok_and(|done| done.success())
    {
        eprintln!("SKIPPED: root can't become somebody else here (setpriv is refused)");
        return;
    }
    let name = "permission::child_tries_permissions";
    let output = Command::new("setpriv")
        .args(without_privileges)
        .arg(&binary)
        .args(arguments(name))
        .env(RECORD, &record)
        .output()
        .unwrap();
    assert_child_passed(&output);
}

#[test]
#[ignore = "the child's part of another test"]
fn child_tries_permissions() {
    if let Some(record) = record_of_child() {
        try_permissions(&record);
    }
}

fn try_permissions(record: &Path) {
    let directory = record.parent().unwrap();
    make_record(record, 3);
    let bytes = fs::read(record).unwrap();

    set_mode(record, 0o000);
    let line = format!(
        "no permission to read {}; see `ls -ld` on it and on its directories",
        record.display()
    );
    assert_eq!(SqliteArchive::open(record).unwrap_err().to_string(), line);
    assert_eq!(SqliteArchive::open_read_only(record).unwrap_err().to_string(), line);

    set_mode(record, 0o444);
    assert_eq!(
        SqliteArchive::open(record).unwrap_err().to_string(),
        format!("{} is read-only", record.display())
    );
    assert_readable(record);

    set_mode(record, 0o644);
    set_mode(directory, 0o555);
    let line = format!("the directory {} is read-only", directory.display());
    assert_eq!(SqliteArchive::open(record).unwrap_err().to_string(), line);
    let new = directory.join("new.db");
    assert_eq!(SqliteArchive::open(new).unwrap_err().to_string(), line);
    assert_readable(record);
    let deeper = SqliteArchive::open(directory.join("deeper/new.db")).unwrap_err();
    assert!(matches!(deeper, Error::NoDirectory { .. }), "{deeper}");

    set_mode(directory, 0o000);
    let hidden = SqliteArchive::open(record).unwrap_err();
    assert!(hidden.to_string().starts_with("no permission to read"), "{hidden}");

    set_mode(directory, 0o755);
    assert!(fs::read(record).unwrap() == bytes, "changed");
    assert_eq!(fs::read_dir(directory).unwrap().count(), 1, "a journal stays behind");
}

fn assert_readable(record: &Path) {
    let archive = SqliteArchive::open_read_only(record).unwrap();
    assert_eq!(archive.load(1).unwrap().cells, cells(3));
}
