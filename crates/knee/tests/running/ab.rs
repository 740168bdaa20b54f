//! Two runs whose cells take turns, by workers that are started in two ways.

use crate::common::bisection::bisected;
use crate::common::{Came, Knee, wait_until};
use archive::{Archive, SqliteArchive};
use model::{Outcome, Run, RunState};
use rustix::process::{Pid, Signal, kill_process};
use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt;

/// The runs of the record, in the order in which they were begun.
fn runs(knee: &Knee) -> Vec<Run> {
    let Ok(archive) = SqliteArchive::open_read_only(knee.record()) else { return Vec::new() };
    let Ok(summaries) = archive.runs() else { return Vec::new() };
    summaries.iter().map(|run| archive.load(run.number).unwrap()).collect()
}

/// Something short, under `with`.
fn compared(knee: &Knee, with: &str) -> Came {
    let words = ["--points", "16,32", "--subjects", "linear", "--rounds", "3", "--time", "1ms"];
    let mut all = vec!["ab", with, "--", "known"];
    all.extend(words);
    knee.run(&all)
}

#[test]
fn both_are_runs_of_one_plan_and_only_the_new_one_is_started_so() {
    let knee = Knee::new();
    let with = "env 'KNEE_KNOWN_SLOWER=linear=8'";
    let came = compared(&knee, with);
    assert_eq!(came.code, Some(0), "{came:?}");
    let runs = runs(&knee);
    let [base, new] = runs.as_slice() else { panic!("{} runs", runs.len()) };
    assert_eq!(
        (&base.plan.paired_with, &new.plan.paired_with),
        (&new.summary.id, &base.summary.id)
    );
    assert_eq!((&base.plan.cells, base.plan.seed), (&new.plan.cells, new.plan.seed));
    assert_eq!(base.summary.command, new.summary.command);
    assert_eq!(base.summary.version, new.summary.version, "the other knee was asked");
    assert_eq!(base.summary.labels["workers"], "of this knee");
    assert_eq!(new.summary.labels["workers"], with);
    for (run, injected) in [(base, false), (new, true)] {
        assert_eq!(run.summary.state, RunState::Complete);
        assert_eq!(run.cells.len(), 6);
        for cell in &run.cells {
            assert_eq!(cell.outcome, Outcome::Measured);
            assert_eq!(
                cell.facts.contains_key("injected factor of turns"),
                injected,
                "{:?}",
                cell.facts
            );
        }
    }
    knee.assert_no_process_left();
}

#[test]
fn a_knee_may_stand_at_the_end_of_the_words() {
    let knee = Knee::new();
    let with = format!("env X=1 {}", env!("CARGO_BIN_EXE_knee"));
    let came = compared(&knee, &with);
    assert_eq!(came.code, Some(0), "{came:?}");
    assert_eq!(runs(&knee)[1].summary.labels["workers"], with);
}

#[test]
fn two_sides_are_base_and_new_and_the_machine_has_its_given_name() {
    let knee = Knee::new();
    let sides = ["ab", "env A=1", "env B=2", "--", "null", "--points", "1", "--rounds", "2"];
    let came = knee.run(&[&sides[..], &["--time", "1ms", "--host-name", "lab-7"]].concat());
    assert_eq!(came.code, Some(0), "{came:?}");
    let runs = runs(&knee);
    let labels = runs.iter().map(|run| run.summary.labels["workers"].as_str());
    assert_eq!(labels.collect::<Vec<_>>(), ["env A=1", "env B=2"]);
    for run in &runs {
        assert_eq!(run.host_before.fact(model::HOST_NAME), Some("lab-7"));
    }
}

#[test]
fn what_starts_no_knee_is_refused_in_one_line_before_anything_is_measured() {
    let knee = Knee::new();
    // A shell that stays is the parent of what it starts.
    let parent = "sh -c 'KNEE=$0; \"$KNEE\" \"$@\"; exit $?'";
    for (with, wanted) in [
        ("", "name what workers are to be started through"),
        ("env 'X=1", "a quote is not closed"),
        ("/no/such/program", "no worker could be started through it"),
        ("true", "it ended without a reply"),
        ("env X=1 /no/such/knee", "/no/such/knee"),
        ("echo", "its output is no reply"),
        (parent, "has to become a knee"),
        ("./mything", "whose name begins with knee"),
    ] {
        let came = compared(&knee, with);
        assert_eq!(came.code, Some(2), "{with}: {came:?}");
        assert!(came.err.contains(wanted), "{with}: {came:?}");
        assert_eq!(came.err.lines().count(), 1, "{with}: {came:?}");
        assert_eq!(came.out, "", "{with}");
    }
    assert_eq!(runs(&knee).len(), 0);
    knee.assert_no_process_left();
}

#[test]
fn a_knee_that_says_nothing_readable_of_itself_is_refused() {
    let knee = Knee::new();
    let program = knee.directory.path().join("knee-other");
    for (question, wanted) in [
        ("--version", "`--version` of the knee there prints no version"),
        ("list", "`list workloads --json` of the knee there prints no list of workloads"),
    ] {
        let this = env!("CARGO_BIN_EXE_knee");
        let script = format!("#!/bin/sh\n[ \"$1\" = {question} ] && exit 0\nexec {this} \"$@\"\n");
        std::fs::write(&program, script).unwrap();
        std::fs::set_permissions(&program, Permissions::from_mode(0o755)).unwrap();
        let came = compared(&knee, program.to_str().unwrap());
        assert_eq!(came.code, Some(2), "{came:?}");
        assert!(came.err.contains(wanted) && came.err.lines().count() == 1, "{came:?}");
    }
    assert_eq!(runs(&knee).len(), 0);
}

#[test]
fn runs_that_can_t_be_compared_are_recorded_and_named() {
    let knee = Knee::new();
    let sides = ["ab", "env X=1", "--", "fault", "--subjects", "fails", "--rounds", "1"];
    let came = knee.run(&sides);
    assert_eq!(came.code, Some(1), "measured, so no wrong usage: {came:?}");
    assert!(came.err.contains("these can't be compared: "), "{came:?}");
    assert!(came.out.ends_with(" (runs 1 and 2)\n"), "{came:?}");
    let states = runs(&knee).iter().map(|run| run.summary.state).collect::<Vec<_>>();
    assert_eq!(states, [RunState::Complete; 2]);
}

#[test]
fn what_cannot_be_kept_or_is_no_plan_of_a_pair_is_refused_before_anything_is_measured() {
    let knee = Knee::new();
    let pair = ["ab", "env X=1", "--", "null", "--points", "1", "--time", "1ms"];
    for (more, wanted) in [
        (["--label", "workers=mine"].as_slice(), "--label workers: knee ab writes"),
        (&["--label", "a=1", "--label", "a=2"], "--label a is given twice"),
        (&["--budget", "1s"], "leave out --budget and --precision"),
        (&["--plan"], "--plan"),
    ] {
        let came = knee.run(&[&pair[..], more].concat());
        assert_eq!(came.code, Some(2), "{more:?}: {came:?}");
        assert!(came.err.contains(wanted), "{more:?}: {came:?}");
    }
    assert!(!knee.record().exists());
}

#[test]
fn a_suite_with_a_budget_is_measured_whole() {
    let knee = Knee::new();
    let file = knee.directory.path().join("suite.toml");
    let suite = "[suite.a]\nworkloads = ['null']\nbudget = '1ms'\nprecision = '50%'\nrounds = 2";
    std::fs::write(&file, suite).unwrap();
    let words = ["ab", "env X=1", "--", "--suite", "a", "--time", "1ms", "--config"];
    let came = knee.run(&[&words[..], &[file.to_str().unwrap()]].concat());
    assert_eq!(came.code, Some(0), "{came:?}");
    assert!(came.err.contains("the suite's budget and precision are left out"), "{came:?}");
    for run in runs(&knee) {
        assert!(run.plan.budget.is_none() && run.plan.rounds == 2);
        assert_eq!(run.cells.len(), run.plan.cells.len());
    }
}

/// More than any test waits for.
const LONG: &[&str] =
    &["ab", "env X=1", "--", "null", "--points", "1,2", "--rounds", "500", "--time", "1ms"];

#[test]
fn a_signal_ends_both_in_good_order_and_neither_goes_on_alone() {
    let knee = Knee::new();
    let mut child = knee.start(LONG);
    let ended = || runs(&knee).iter().map(|run| run.cells.len()).sum::<usize>();
    wait_until("six cells ended", || ended() >= 6);
    kill_process(Pid::from_child(&child), Signal::INT).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(130));
    knee.assert_no_process_left();
    let runs = runs(&knee);
    for run in &runs {
        assert_eq!(run.summary.state, RunState::Interrupted);
        assert!(run.host_after.is_some());
    }
    let [base, new] = [&runs[0], &runs[1]].map(|run| run.cells.len());
    assert!(base.abs_diff(new) <= 1, "they took turns: {base} and {new}");
    for (flag, wanted) in [
        ("--resume", "every run that can go on is complete already"),
        ("--resume=1", "its cells took turns with those of run"),
        ("--resume=2", "its cells took turns with those of run"),
    ] {
        let came = knee.run(&["run", flag]);
        assert_eq!(came.code, Some(1), "{came:?}");
        assert!(came.err.contains(wanted), "{came:?}");
    }
}

#[test]
fn nothing_is_left_when_the_instrument_is_killed() {
    let knee = Knee::new();
    let mut child = knee.start(LONG);
    wait_until("a cell of each ended", || {
        runs(&knee).iter().filter(|run| !run.cells.is_empty()).count() == 2
    });
    child.kill().unwrap();
    child.wait().unwrap();
    knee.assert_no_process_left();
    assert_eq!(runs(&knee).len(), 2);
}

/// A program that prints what it costs: another load on the machine does not change that.
fn costing(turns: u32) -> String {
    format!("echo turns={turns}\n")
}

#[test]
fn git_bisect_run_ends_at_the_commit_that_slows_an_own_program() {
    let knee = Knee::new();
    let (fast, slow) = (costing(100), costing(1_000));
    std::fs::write(knee.directory.path().join("good.sh"), &fast).unwrap();
    let judge = r#"
        [ "$(cat version)" != 2 ] || exit 125 # as where it can't be built
        exec "$KNEE" ab --bisect --fail-above 300% "env PROG=$KNEE_TEST_MARK/good.sh" 'env PROG=./prog.sh' \
            -- command --command 'prog=sh $PROG {n}' --extract 'turns=([0-9]+)' --headline turns --better lower \
            --points 1 --rounds 5 --time 5ms"#;
    let versions = [&fast, &fast, &fast, &fast, &slow, &slow].map(String::as_str);
    let (first_bad, came) = bisected(&knee, ("prog.sh", &versions), judge, |_| {});
    assert_eq!(first_bad, Some(4), "{came:?}");
    for verdict in
        ["knee: good: no series is slower by more than 300 %", "knee: bad: slower by more"]
    {
        assert!(came.err.contains(verdict), "{verdict}: {}", came.err);
    }
    knee.assert_no_process_left();
}

/// What says nothing of the new side is no verdict on it.
#[test]
fn a_bisection_by_ab_skips_and_ends_by_what_is_at_fault() {
    let knee = Knee::new();
    let ab = |sides: &[&str], flags: &[&str]| {
        let tiny = ["--", "null", "--rounds", "1", "--time", "1ms"];
        let came = knee.run(&[&["ab", "--bisect"], flags, sides, &tiny].concat());
        (came.code, came.err)
    };
    let (code, text) = ab(&["env X=1", "/no/such/knee"], &[]);
    assert_eq!(code, Some(125), "{text}");
    assert!(text.starts_with("knee: can't tell: knee ab '/no/such/knee': "), "{text}");
    let (code, text) = ab(&["/no/such/knee", "env X=1"], &[]);
    assert_eq!(code, Some(128), "{text}");
    let (code, text) = ab(&["env X=1"], &["--margin", "much"]);
    assert_eq!(code, Some(128), "{text}");
    // A single round decides nothing within 5 %.
    let (code, text) = ab(&["env X=1"], &[]);
    assert_eq!(code, Some(125), "{text}");
    assert!(text.contains("can't tell: ") && text.contains("may be slower"), "{text}");
}
