//! `knee record push` and `knee run --push`: runs into an archive that machines share. What a server does is tested in
//! crate `archive`.

use crate::common::{Came, Knee, alone, wait_until};
use archive::{Archive, RunWriter, SqliteArchive};
use model::{Run, RunState};
use std::path::Path;
use std::process::{Command, Stdio};
#[cfg(feature = "postgres")]
use {
    crate::common::postgres::Postgres,
    rustix::process::{Pid, Signal, kill_process},
    std::io::{BufRead as _, BufReader, Read as _},
    std::process::{Child, ChildStderr},
};

const RUN: [&str; 8] = ["run", "null", "--points", "10", "--rounds", "1", "--time", "1ms"];

fn ids(file: &str) -> Vec<String> {
    let runs = SqliteArchive::open_read_only(file).unwrap().runs().unwrap();
    runs.into_iter().map(|run| run.id).collect()
}

#[test]
fn runs_are_pushed_once_and_those_that_are_there_are_passed_over() {
    let _alone = alone();
    let knee = Knee::new();
    let archive = knee.directory.path().join("archive.db").display().to_string();
    for _ in 0..2 {
        assert_eq!(knee.run(&RUN).code, Some(0));
    }
    let came = knee.run(&["record", "push", &archive, "2"]);
    assert_eq!(came.code, Some(0), "{came:?}");
    assert!(
        came.out.starts_with("Pushed run 2 (") && came.out.contains("it is run 1 there"),
        "{came:?}"
    );
    let came = knee.run(&["record", "push", &archive]);
    assert_eq!(came.code, Some(0), "{came:?}");
    assert!(
        came.out.contains("Pushed run 1 (") && came.out.contains("1 run was there already"),
        "{came:?}"
    );
    let came = knee.run(&["record", "push", &archive]);
    assert_eq!(came.out, format!("2 runs were there already\nArchive: {archive}\n"), "{came:?}");
    let mut own = ids(&knee.record().display().to_string());
    own.reverse();
    assert_eq!(ids(&archive), own);
    let shown = knee.run(&["show", "last", "--record", &archive]);
    assert_eq!(shown.code, Some(0), "{shown:?}");
}

#[test]
fn a_machine_without_runs_makes_the_archive() {
    let knee = Knee::new();
    let archive = knee.directory.path().join("archive.db").display().to_string();
    let came = knee.run(&["record", "push", &archive]);
    assert_eq!(came.code, Some(0), "{came:?}");
    assert!(came.out.starts_with("Nothing to push: "), "{came:?}");
    assert_eq!(ids(&archive), [""; 0]);
    let came = knee.run(&["record", "push", &archive, "last"]);
    assert_ne!(came.code, Some(0), "a run that was named has to be there: {came:?}");
    let came = knee.run(&["record", "push", &archive, "--record", "nowhere.db"]);
    assert_ne!(came.code, Some(0), "so has a record that was named: {came:?}");
}

#[test]
fn a_run_is_pushed_when_it_is_complete() {
    let knee = Knee::new();
    let archive = knee.directory.path().join("archive.db").display().to_string();
    let came = knee.run(&[&RUN[..], &["--push", &archive]].concat());
    assert_eq!(came.code, Some(0), "{came:?}");
    assert!(came.err.contains(&format!("Pushed: {archive} (run 1)")), "{came:?}");
    assert_eq!(ids(&archive), ids(&knee.record().display().to_string()));
}

/// Measures for a long time, one cell after the other.
const LONG: [&str; 8] =
    ["run", "null", "--points", "1,2,3,4,5,6,7,8,9,10", "--rounds", "1000", "--time", "20ms"];

/// The only run of a record, as far as it has come.
fn only_run(file: impl AsRef<Path>) -> Option<Run> {
    SqliteArchive::open_read_only(file).and_then(|archive| archive.load(1)).ok()
}

/// Waits until the record has cells of its only run.
fn wait_for_cells(knee: &Knee) {
    let has_cells = || only_run(knee.record()).is_some_and(|run| run.cells.len() > 2);
    wait_until("it has measured something", has_cells);
}

#[test]
fn a_run_whose_process_was_killed_is_pushed_as_interrupted() {
    let knee = Knee::new();
    let archive = knee.at("archive.db");
    let mut child = knee.start(&LONG);
    wait_for_cells(&knee);
    child.kill().unwrap();
    child.wait().unwrap();
    let own = only_run(knee.record()).unwrap();
    let out = knee.done(&["record", "push", &archive]);
    assert!(out.contains("it is run 1 there, interrupted: its process was killed\n"), "{out}");
    let there = only_run(&archive).unwrap();
    assert_eq!(there.summary.state, RunState::Interrupted);
    assert!(there.summary.ended.is_some() && there.host_after.is_some());
    assert_eq!((&there.cells, &there.plan), (&own.cells, &own.plan));
    assert_eq!(only_run(knee.record()).unwrap(), own, "the record is as it was");
    let out = knee.done(&["record", "push", &archive, "last"]);
    assert!(out.starts_with("1 run was there already\n"), "{out}");
    let shown = knee.done(&["show", "last", "--all", "--record", &archive]);
    assert!(shown.contains("The run was interrupted"), "{shown}");

    // It goes on, and is killed again.
    let mut child = knee.start(&["run", "--resume"]);
    let cells = own.cells.len();
    let has_more = || only_run(knee.record()).is_some_and(|run| run.cells.len() > cells);
    wait_until("it has measured more", has_more);
    child.kill().unwrap();
    child.wait().unwrap();
    let out = knee.done(&["record", "push", &archive]);
    assert!(out.contains(" of run 1 that the archive did not have"), "{out}");
    let (own, there) = (only_run(knee.record()).unwrap(), only_run(&archive).unwrap());
    assert_eq!((there.summary.state, there.cells), (RunState::Interrupted, own.cells));
}

/// Asserts that a push of all runs leaves the only one out without failing, and that one that names it fails.
fn assert_left_out(knee: &Knee, why: &str) {
    let archive = knee.at("archive.db");
    for (name, code) in [(None, 0), (Some("last"), 1)] {
        let words: Vec<&str> = ["record", "push", &archive].into_iter().chain(name).collect();
        let came = knee.run(&words);
        assert_eq!(came.code, Some(code), "{came:?}");
        let line = format!("knee: run 1 is left out: it has not ended{why}\n");
        assert_eq!(came.err, line, "{came:?}");
    }
    assert_eq!(ids(&archive), [""; 0]);
}

#[test]
fn a_run_that_goes_on_is_not_pushed_whatever_network_it_is_in() {
    for may_be_elsewhere in [false, true] {
        let knee = Knee::new();
        let mut command = knee.command(&LONG);
        if may_be_elsewhere {
            if !Command::new("unshare")
                .args(["--net", "true"])
                .status()
                .is_ok_and(|status| status.success())
            {
                eprintln!("SKIPPED in part: no network namespace can be made here");
                return;
            }
            let words = LONG.join(" ");
            command = knee.shell(&format!("exec unshare --net \"$KNEE\" {words}"));
        }
        let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        wait_for_cells(&knee);
        assert_left_out(&knee, ": it is being measured");
        let deleted = knee.run(&["record", "delete", "1"]);
        assert!(deleted.err.contains("is being measured by another process"), "{deleted:?}");
        child.kill().unwrap();
        child.wait().unwrap();
        knee.done(&["record", "push", &knee.at("archive.db")]);
    }
}

/// An open run in a record on a network file system may be measured by another machine.
#[test]
fn an_open_run_of_another_machine_is_not_pushed() {
    let knee = Knee::new();
    let host =
        fixtures::host("2026-11-21T14:02:11+00:00", [("host.machine_id", "7"), ("host.boot", "7")]);
    let (run, _) = fixtures::run(fixtures::workload("null")).host_before(host).begun();
    std::fs::create_dir_all(knee.record().parent().unwrap()).unwrap();
    SqliteArchive::open(knee.record()).unwrap().begin(&run).unwrap();
    assert_left_out(&knee, ", and nothing shows that it began on this machine: push it from there");
}

/// Asserts that a run was measured and kept, and that one line has the command that pushes it.
fn assert_kept(knee: &Knee, came: &Came, push: &str) {
    assert_eq!(came.code, Some(1), "{came:?}");
    let lines: Vec<&str> = came.err.lines().filter(|line| line.contains("is not pushed")).collect();
    assert_eq!(lines.len(), 1, "{came:?}");
    assert!(lines[0].contains(&format!("`knee record push {push} 1` does it later")), "{came:?}");
    assert_eq!(ids(&knee.record().display().to_string()).len(), 1);
}

#[test]
fn a_run_that_can_not_be_pushed_is_kept() {
    let knee = Knee::new();
    let archive = knee.directory.path().display().to_string();
    let came = knee.run(&[&RUN[..], &["--push", &archive]].concat());
    assert_kept(&knee, &came, &archive);
}

#[test]
fn both_runs_of_ab_that_can_not_be_pushed_are_in_one_command_behind_the_result() {
    let knee = Knee::new();
    let archive = knee.directory.path().display().to_string();
    let words =
        ["ab", "-q", "env X=1", "--", "null", "--points", "10", "--rounds", "2", "--time", "1ms"];
    let came = knee.run(&[&words[..], &["--push", &archive]].concat());
    assert_eq!(came.code, Some(1), "{came:?}");
    assert!(came.err.contains("runs 1 and 2 are not pushed: "), "{came:?}");
    assert!(
        came.err.contains(&format!("`knee record push {archive} 1 2` does it later")),
        "{came:?}"
    );
    assert!(!came.out.is_empty(), "{came:?}");
}

/// Starts a command, and waits until it prints that it pushes again. Returns it with its output until then.
#[cfg(feature = "postgres")]
fn pushing_again(knee: &Knee, to: &str) -> (Child, BufReader<ChildStderr>, String) {
    let mut command = knee.command(&[&RUN[..], &["--push", to]].concat());
    let mut child = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(child.stderr.take().unwrap());
    let mut text = String::new();
    while !text.contains("trying again") {
        assert_ne!(lines.read_line(&mut text).unwrap(), 0, "{text}");
    }
    (child, lines, text)
}

#[test]
#[cfg(feature = "postgres")]
fn a_run_is_kept_where_no_server_answers_and_no_password_is_shown() {
    let knee = Knee::new();
    let (mut child, mut lines, mut err) =
        pushing_again(&knee, "postgres://me:secret@127.0.0.1:1/perf");
    kill_process(Pid::from_child(&child), Signal::INT).unwrap();
    lines.read_to_string(&mut err).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(130), "{err}");
    assert!(err.contains("`knee record push postgres://me@127.0.0.1:1/perf 1` does it"), "{err}");
    assert!(err.contains("no PostgreSQL server answers") && !err.contains("secret"), "{err}");
    let bytes = std::fs::read(knee.record()).unwrap();
    assert!(!bytes.windows(6).any(|window| window == b"secret"));
}

#[test]
#[cfg(feature = "postgres")]
fn a_server_that_has_no_free_connection_gets_the_run_as_soon_as_it_has_one() {
    let (knee, Some(server)) = (Knee::new(), Postgres::new()) else { return };
    knee.done(&["record", "push", &server.url()]);
    server.execute(
        "CREATE ROLE writer LOGIN CONNECTION LIMIT 0; GRANT pg_read_all_data, pg_write_all_data TO writer",
    );
    let (mut child, mut lines, mut err) =
        pushing_again(&knee, &server.url().replace("knee@", "writer@"));
    server.execute("ALTER ROLE writer CONNECTION LIMIT -1");
    lines.read_to_string(&mut err).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(0), "{err}");
    assert!(err.contains("too many connections") && err.contains("(run 1)"), "{err}");
}

#[test]
#[cfg(not(feature = "postgres"))]
fn a_knee_without_postgresql_says_so_before_it_measures() {
    let knee = Knee::new();
    let url = "postgres://me:secret@127.0.0.1:1/perf";
    for words in [&[&RUN[..], &["--push", url]].concat()[..], &["show", "--record", url]] {
        let came = knee.run(words);
        assert_eq!(came.code, Some(2), "{came:?}");
        assert!(
            came.err.contains("built without PostgreSQL") && came.err.lines().count() == 1,
            "{came:?}"
        );
        assert!(!format!("{came:?}").contains("secret"), "{came:?}");
    }
    assert!(!knee.record().exists(), "nothing was measured");
}

#[test]
fn what_measures_refuses_a_database_as_its_record() {
    let knee = Knee::new();
    let came = knee.run(&[&RUN[..], &["--record", "postgres://me:secret@host/perf"]].concat());
    assert_eq!(came.code, Some(2), "{came:?}");
    assert!(came.err.contains("postgres://me@host/perf is a database"), "{came:?}");
}

#[test]
fn old_runs_are_pruned_and_baselines_stay() {
    let _alone = alone();
    let knee = Knee::new();
    for _ in 0..2 {
        assert_eq!(knee.run(&RUN).code, Some(0));
    }
    let file = knee.record().display().to_string();
    // Both began long ago, like everything that the builders make.
    let old = fixtures::run(fixtures::workload("poll").time("loop").build()).complete();
    for (n, started) in [(1, "2020-01-01T00:00:00Z"), (2, "2020-06-01T00:00:00+02:00")] {
        let mut run = old.clone();
        run.summary.id = format!("{n:016x}");
        started.clone_into(&mut run.summary.started);
        archive::merge(&mut SqliteArchive::open(&file).unwrap(), &run).unwrap();
    }
    SqliteArchive::open(&file).unwrap().set_baseline("main", 3).unwrap();
    assert_eq!(knee.run(&["record", "prune", "--keep", "90"]).code, Some(2), "days have a unit");
    let came = knee.run(&["record", "prune", "--keep", "90d"]);
    assert_eq!(came.out, format!("Deleted 1 run of 4: {file}\n"), "{came:?}");
    let numbers = SqliteArchive::open_read_only(&file).unwrap().runs().unwrap();
    assert_eq!(numbers.iter().map(|run| run.number).collect::<Vec<_>>(), [1, 2, 3]);
}

#[test]
fn keywords_instead_of_a_url_are_refused_without_their_password() {
    let knee = Knee::new();
    let words = "host=db.lab password=secret";
    let run = |flag: &str| knee.run(&[&RUN[..], &[flag, words]].concat());
    for came in [run("--push"), run("--record"), knee.run(&["record", "push", words])] {
        assert_eq!(came.code, Some(2), "{came:?}");
        assert!(came.err.contains("postgres://USER@HOST"), "{came:?}");
        assert!(!came.err.contains("secret") && knee.files().is_empty(), "{came:?}");
    }
}
