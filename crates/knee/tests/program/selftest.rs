//! The self-test proves what it says, fails where it has to, and leaves nothing behind.

use crate::common::{Came, Knee, came, wait_until};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use std::process::Stdio;

/// The self-test of these controls, with a directory of its own for temporary files.
fn tested(knee: &Knee, controls: &[&str], variables: &[(&str, &str)]) -> (Came, Value) {
    let temporary = knee.directory.path().join("tmp");
    std::fs::create_dir_all(&temporary).unwrap();
    let mut words = vec!["selftest", "--json"];
    words.extend(controls);
    let mut command = knee.command(&words);
    command.env("TMPDIR", &temporary).envs(variables.iter().copied());
    let came = came(&mut command);
    let result = serde_json::from_str(&came.out).unwrap_or_default();
    (came, result)
}

fn state<'a>(result: &'a Value, control: &str) -> &'a str {
    let all = result["controls"].as_array().unwrap();
    let entry = all.iter().find(|entry| entry["control"] == control);
    entry.unwrap()["state"].as_str().unwrap()
}

#[test]
fn what_needs_no_quiet_machine_is_proved_here_and_nothing_is_left() {
    let knee = Knee::new();
    let (came, result) = tested(&knee, &["broken-lock", "dying-workers", "full-disk"], &[]);
    assert_eq!(came.code, Some(0), "{came:?}");
    assert_eq!(result["passed"], true, "{result}");
    assert_eq!(state(&result, "broken-lock"), "proved", "{result}");
    assert_eq!(state(&result, "dying-workers"), "proved", "{result}");
    // Limits to the size of files are everywhere.
    assert_eq!(state(&result, "full-disk"), "proved", "{result}");
    assert_eq!(knee.files(), [] as [String; 0], "neither record nor temporary file");
    knee.assert_no_process_left();
}

#[test]
fn a_slowdown_of_another_size_fails_and_is_reported() {
    let knee = Knee::new();
    // The workers of both sides are slowed, those of the new side by less.
    let slowed = [("KNEE_KNOWN_SLOWER", "linear=6")];
    let (came, result) = tested(&knee, &["slower-2x"], &slowed);
    assert_eq!(came.code, Some(1), "{came:?}");
    assert_eq!(state(&result, "slower-2x"), "failed", "{result}");
    assert_eq!(result["passed"], false);
}

#[test]
fn the_table_shows_what_was_proved_with_the_figures() {
    let knee = Knee::new();
    let came = knee.run(&["selftest", "dying-workers"]);
    assert_eq!(came.code, Some(0), "{came:?}");
    for wanted in ["proved", "dying-workers", "SIGSEGV", "0 processes", "1 proved, in"] {
        assert!(came.out.contains(wanted), "{wanted}: {came:?}");
    }
    assert!(came.out.lines().all(|line| line.chars().count() <= 110), "{came:?}");
    let came = knee.run(&["selftest", "moon"]);
    assert_eq!(came.code, Some(2), "{came:?}");
}

#[test]
fn a_signal_ends_it_and_leaves_nothing() {
    let knee = Knee::new();
    let temporary = knee.directory.path().join("tmp");
    std::fs::create_dir_all(&temporary).unwrap();
    let mut command = knee.command(&["selftest", "--json", "growth", "same-after"]);
    command.env("TMPDIR", &temporary).stdout(Stdio::piped()).stderr(Stdio::null());
    let child = command.spawn().unwrap();
    wait_until("a worker runs", || knee.processes().iter().any(|line| line.contains("__worker")));
    kill_process(Pid::from_child(&child), Signal::INT).unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(130));
    let result: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(
        (&result["passed"], &result["interrupted"]),
        (&false.into(), &true.into()),
        "{result}"
    );
    assert_eq!(result["not_run"], serde_json::json!(["growth", "same-after"]));
    knee.assert_no_process_left();
    assert_eq!(knee.files(), [] as [String; 0]);
}
