//! Which interrupted run goes on where none is named, and which never does.

use crate::common::{Knee, came, wait_until};
use archive::{Archive, RunWriter, SqliteArchive};
use model::{Ending, Host, Run, RunState};
use rustix::process::{Pid, Signal, kill_process};

/// Measures a little and interrupts it; the number of cells that ended.
fn interrupted(knee: &Knee, label: &str) -> usize {
    let before = if knee.record().exists() { numbers(knee).len() } else { 0 };
    let words = ["run", "null", "--points", "1,2", "--rounds", "100", "--time", "1ms", "--label"];
    let mut child = knee.start(&[&words[..], &[label]].concat());
    wait_until("two cells ended", || {
        let Ok(archive) = SqliteArchive::open_read_only(knee.record()) else { return false };
        let runs = archive.runs().unwrap_or_default();
        runs.len() > before && runs.last().is_some_and(|run| run.cells_ended >= 2)
    });
    kill_process(Pid::from_child(&child), Signal::INT).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(130));
    knee.last_run().cells.len()
}

fn numbers(knee: &Knee) -> Vec<i64> {
    let archive = SqliteArchive::open_read_only(knee.record()).unwrap();
    archive.runs().unwrap().iter().map(|run| run.number).collect()
}

fn load(knee: &Knee, number: i64) -> Run {
    SqliteArchive::open_read_only(knee.record()).unwrap().load(number).unwrap()
}

/// A run that was interrupted at its beginning, in a record of its own, of a command that makes a file.
fn strangers(knee: &Knee, change: fn(&mut Run)) -> (String, std::path::PathBuf) {
    let made = knee.directory.path().join("made-by-a-stranger");
    let mut run = load(knee, 1);
    run.summary.id = "feedfeedfeedfeed".into();
    run.cells.clear();
    let command = format!("touch {}", made.display());
    for key in &mut run.plan.cells {
        key.workload = "build".into();
        key.subject = "half".into();
        key.parameters.insert("command".into(), command.as_str().into());
    }
    change(&mut run);
    let file = knee.directory.path().join("strange.db");
    let mut archive = SqliteArchive::open(&file).unwrap();
    let number = archive.begin(&run).unwrap();
    let ending = Ending {
        state: RunState::Interrupted,
        ended: run.summary.started.clone(),
        host_after: Host::default(),
        warnings: Vec::new(),
    };
    archive.finish(number, &ending).unwrap();
    (file.display().to_string(), made)
}

#[test]
fn what_began_elsewhere_is_passed_over_and_refused_by_name() {
    let knee = Knee::new();
    interrupted(&knee, "mine=1");
    let file = knee.record().display().to_string();
    for (words, wanted) in [
        (&["show", "1"][..], "→ knee run --resume=1\n".to_owned()),
        (&["show", "1", "--record", &file], format!("→ knee run --resume=1 --record {file}")),
        (&["show", &format!("{file}:1")], format!("→ knee run --resume=1 --record {file}")),
    ] {
        let shown = came(knee.command(words).env("COLUMNS", "300"));
        assert!(shown.out.contains(&wanted), "{words:?}: {}", shown.out);
    }
    let (file, made) = strangers(&knee, |_| {});
    let merged = knee.run(&["record", "merge", &file]);
    assert_eq!(merged.code, Some(0), "{merged:?}");
    assert_eq!(numbers(&knee), [1, 2]);
    let named = knee.run(&["run", "--resume=2"]);
    assert_eq!(named.code, Some(1), "{named:?}");
    assert!(named.err.contains("run 2 can't go on: it began elsewhere"), "{named:?}");
    assert_eq!(named.err.lines().count(), 1, "{named:?}");
    let bare = knee.run(&["run", "--resume"]);
    assert_eq!(bare.code, Some(0), "{bare:?}");
    assert_eq!(
        load(&knee, 1).summary.state,
        RunState::Complete,
        "mine goes on, though it is older"
    );
    let again = knee.run(&["run", "--resume"]);
    assert_eq!(again.code, Some(1), "{again:?}");
    assert!(again.err.contains("every run that can go on is complete"), "{again:?}");
    assert_eq!(load(&knee, 2).cells.len(), 0);
    assert!(!made.exists(), "the stranger's command was run");
}

#[test]
fn commands_of_a_file_that_names_no_machine_are_not_run() {
    let knee = Knee::new();
    interrupted(&knee, "mine=1");
    let (file, made) = strangers(&knee, |run| run.host_before.facts.clear());
    let came = knee.run(&["run", "--resume=1", "--record", &file]);
    assert_eq!(came.code, Some(1), "{came:?}");
    assert!(came.err.contains("nothing says that it began on this machine"), "{came:?}");
    assert!(!made.exists(), "the stranger's command was run");
    let shown = knee.run(&["show", "1", "--record", &file]);
    assert!(!shown.out.contains("--resume"), "{shown:?}");
}

/// Changes a byte of the record where `text` stands, as a failing disk does.
fn damage(knee: &Knee, text: &str) {
    let mut bytes = std::fs::read(knee.record()).unwrap();
    let positions: Vec<usize> =
        (0..bytes.len()).filter(|&at| bytes[at..].starts_with(text.as_bytes())).collect();
    assert!(!positions.is_empty(), "{text} is nowhere in the file");
    for at in positions {
        bytes[at] ^= 1;
    }
    std::fs::write(knee.record(), bytes).unwrap();
}

#[test]
fn a_damaged_run_is_passed_over_and_named() {
    let knee = Knee::new();
    interrupted(&knee, "mark=sound");
    interrupted(&knee, "mark=hit-by-a-ray");
    damage(&knee, "hit-by-a-ray");
    let came = knee.run(&["history", "null"]);
    assert_eq!(came.code, Some(0), "{came:?}");
    assert!(came.err.contains("knee: run 2 is left out: "), "{came:?}");
    assert!(came.err.contains("is damaged"), "{came:?}");
    assert_eq!(came.err.lines().count(), 1, "{came:?}");
    let came = knee.run(&["run", "--resume"]);
    assert_eq!(came.code, Some(0), "{came:?}");
    assert!(came.err.contains("knee: run 2 is passed over: "), "{came:?}");
    assert_eq!(load(&knee, 1).summary.state, RunState::Complete);
    let named = knee.run(&["run", "--resume=2"]);
    assert!(named.code != Some(0) && named.err.contains("is damaged"), "{named:?}");
}
