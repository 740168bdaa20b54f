//! Watching as somebody who is not root.

use crate::server::Server;
use observe::{Error, observe};
use std::env;
use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::process::Command;
use std::time::Duration;

const OTHERS: &str = "OBSERVE_PID";

/// Runs the test program's ignored test as the user `nobody`. `None` if we are not root, or may not.
fn unprivileged(test: &str, pid: u32) -> Option<()> {
    if !rustix::process::geteuid().is_root() {
        eprintln!("SKIPPED: only root can become somebody else");
        return None;
    }
    let without_privileges = ["--reuid=65534", "--regid=65534", "--clear-groups"];
    if !Command::new("setpriv")
        .args(without_privileges)
        .arg("true")
        .status()
        .is_ok_and(|done| done.success())
    {
        eprintln!("SKIPPED: root can't become somebody else here (setpriv is refused)");
        return None;
    }
    // The binary has to be where the user `nobody` may read it.
    let directory = tempfile::tempdir().unwrap();
    fs::set_permissions(directory.path(), Permissions::from_mode(0o755)).unwrap();
    let binary = directory.path().join("live");
    // By another program: a copy that this one holds open for writing can't be executed, and a child
    // that some other test starts just now would hold it open too.
    let copied = Command::new("cp").arg(env::current_exe().unwrap()).arg(&binary).status();
    assert!(copied.is_ok_and(|done| done.success()));
    fs::set_permissions(&binary, Permissions::from_mode(0o755)).unwrap();
    let output = Command::new("setpriv")
        .args(without_privileges)
        .arg(&binary)
        .args(["--exact", test, "--ignored", "--nocapture", "--test-threads=1"])
        .env(OTHERS, pid.to_string())
        .current_dir("/")
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    let erred = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && text.contains("1 passed"), "{text}{erred}");
    Some(())
}

#[test]
fn another_users_process_is_named_with_its_owner() {
    let server = Server::start("idle");
    unprivileged("permission::without_privileges_root_is_not_watched", server.pid());
}

#[test]
#[ignore = "the child's part of another test"]
fn without_privileges_root_is_not_watched() {
    let pid: u32 = env::var(OTHERS).unwrap().parse().unwrap();
    let error = observe(pid, Duration::from_millis(10), &|| false).unwrap_err();
    assert!(matches!(error, Error::NotPermitted { .. }), "{error:?}");
    let text = error.to_string();
    assert!(text.starts_with(&format!("process {pid} (")), "{text}");
    assert!(text.ends_with(") belongs to another user (root): run as root (sudo)"), "{text}");
}

#[test]
fn without_tracepoints_the_remedy_is_named() {
    unprivileged("permission::without_privileges_a_process_of_the_same_user_is_watched", 0);
}

#[test]
#[ignore = "the child's part of another test"]
fn without_privileges_a_process_of_the_same_user_is_watched() {
    let server = Server::start("idle");
    match observe(server.pid(), Duration::from_millis(100), &|| false) {
        Err(error @ (Error::NoTracepoints { .. } | Error::NotPermitted { .. })) => {
            let text = error.to_string();
            assert!(text.contains("run as root") && !text.contains('\n'), "{text}");
        }
        // Where each user may read the tracepoints, they may watch their own processes.
        seen => assert_eq!(seen.unwrap().waiters.len(), 2),
    }
}
