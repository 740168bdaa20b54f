//! Processes and threads: every way of making and ending them is measured, a limit that is met keeps
//! what was measured, and whatever is killed, nothing is left.

use crate::common::{Came, Knee, alone, came, has_control_group, wait_until};
use model::{Cell, Outcome};
use rustix::process::{Pid, Signal, kill_process};
use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Child;
use std::sync::atomic::{AtomicU32, Ordering};

fn positions<'a>(cell: &'a Cell, metric: &str) -> &'a [u64] {
    let recorded = cell.metrics.iter().find(|candidate| candidate.name == metric);
    let recorded =
        recorded.unwrap_or_else(|| panic!("{metric} of {:?}: {:?}", cell.key, cell.outcome));
    assert_eq!(recorded.samples.len(), recorded.positions.len());
    assert!(recorded.samples.iter().all(|&ns| ns > 0.0), "{metric}: {:?}", recorded.samples);
    &recorded.positions
}

#[test]
fn each_way_of_making_and_ending_is_timed_call_by_call() {
    let knee = Knee::new();
    let came = knee.run(&["run", "fork", "reap", "thread", "--points", "20", "--rounds", "1"]);
    assert_eq!(came.code, Some(0), "{came:?}");
    knee.assert_no_process_left();
    let run = knee.last_run();
    let (up, down): (Vec<u64>, Vec<u64>) = ((1..=20).collect(), (1..=20).rev().collect());
    for cell in &run.cells {
        assert_eq!(cell.outcome, Outcome::Measured, "{:?}", cell.key);
        assert_eq!(cell.short, None, "{:?}", cell.key);
        match cell.key.workload.as_str() {
            "fork" => assert_eq!(positions(cell, "fork"), up),
            "reap" => assert_eq!(positions(cell, "reap"), down),
            _ => {
                assert_eq!(positions(cell, "thread"), up);
                assert_eq!(positions(cell, "join"), down);
            }
        }
    }
    for lacking in &run.plan.unavailable {
        eprintln!("SKIPPED in part: {} {}: {}", lacking.workload, lacking.subject, lacking.reason);
    }
    assert_eq!(run.cells.len() + run.plan.unavailable.len(), 11, "{:?}", run.plan.unavailable);
}

#[test]
fn the_parent_can_be_the_axis() {
    let knee = Knee::new();
    let words = ["run", "fork", "--axis", "parent", "--points", "1,8", "--processes", "20"];
    let came = knee.run(&[&words[..], &["--subjects", "dynamic,vfork", "--rounds", "1"]].concat());
    assert_eq!(came.code, Some(0), "{came:?}");
    let run = knee.last_run();
    assert!(!run.plan.workloads[0].trajectory, "each cell stays at its point");
    let points: Vec<u64> = run.cells.iter().map(|cell| cell.key.point).collect();
    assert_eq!(points.iter().filter(|&&point| point == 8).count(), 2, "{points:?}");
    assert_eq!(run.cells.len(), 4);
    for cell in &run.cells {
        assert!(cell.metrics[0].positions.is_empty() && cell.metrics[0].samples.len() == 20);
    }
}

#[test]
fn a_larger_parent_is_as_large_as_it_says() {
    let knee = Knee::new();
    let words = ["run", "fork", "--subjects", "dynamic", "--points", "3", "--rounds", "1"];
    let came = knee.run(&[&words[..], &["--parent", "0,64"]].concat());
    assert_eq!(came.code, Some(0), "{came:?}");
    for cell in knee.last_run().cells {
        let asked = cell.key.parameters["parent"].number().unwrap();
        let mib = cell.facts["resident memory of the parent_mib"].number().unwrap() as u64;
        assert!((asked..asked + 16).contains(&mib), "{mib} for {asked}");
    }
}

/// A control group that may have `processes_max` processes; none where it can't be made.
struct Group(PathBuf);

impl Group {
    fn new(processes_max: u64) -> Option<Group> {
        // Tests of one process make several.
        static MADE: AtomicU32 = AtomicU32::new(0);
        let number = MADE.fetch_add(1, Ordering::Relaxed);
        let name = format!("knee-test-{}-{number}", std::process::id());
        let roots = ["/sys/fs/cgroup/pids", "/sys/fs/cgroup"];
        let root = roots.iter().map(Path::new).find(|root| root.join("cgroup.procs").exists())?;
        let group = Group(root.join(name));
        std::fs::create_dir(&group.0).ok()?;
        std::fs::write(group.0.join("pids.max"), processes_max.to_string()).ok()?;
        Some(group)
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir(&self.0);
    }
}

const LIMITED: &str = "run fork reap thread --subjects dynamic,std --points 1k --rounds 1";

/// Every cell came to nearly 500, kept all of that, and says which limit it met and what raises it.
fn assert_ended_at_500(knee: &Knee, came: &Came, limit: &str, remedy: &str) {
    assert_eq!(came.code, Some(0), "{came:?}");
    knee.assert_no_process_left();
    let run = knee.last_run();
    assert_eq!(run.cells.len(), 3);
    for cell in &run.cells {
        assert_eq!(cell.outcome, Outcome::Measured, "{:?}", cell.key);
        let short = cell.short.as_ref().unwrap_or_else(|| panic!("{:?} is whole", cell.key));
        assert!((300..500).contains(&short.reached), "{short:?}");
        let reached = positions(cell, &cell.key.workload);
        assert_eq!(reached.len() as u64, short.reached);
        assert_eq!(reached.iter().max(), Some(&short.reached));
        assert!(short.reason.cause().contains("Resource temporarily unavailable"), "{short:?}");
        assert!(short.reason.cause().contains(limit), "{short:?}");
        assert!(short.reason.remedy().contains(remedy), "{short:?}");
        if cell.key.workload == "thread" {
            let ended: Vec<u64> = (1..=short.reached).rev().collect();
            assert_eq!(positions(cell, "join"), ended, "those that there were are joined");
        }
    }
    // The report wraps its lines.
    let words = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(words(&came.out).contains(limit), "the reason is reported: {}", came.out);
    assert!(words(&came.out).contains(remedy), "with its remedy: {}", came.out);
}

/// What runs a program as a user that is not root, which limits do not hold for; `None` where that can't be.
fn another_user(knee: &Knee) -> Option<&'static str> {
    let user = "setpriv --reuid=54321 --regid=54321 --clear-groups";
    std::fs::set_permissions(knee.directory.path(), Permissions::from_mode(0o777)).unwrap();
    let possible = came(&mut knee.shell(&format!("{user} \"$KNEE\" --version")));
    if possible.code != Some(0) {
        eprintln!("SKIPPED: the program can't be run as another user here: {}", possible.err);
    }
    (possible.code == Some(0)).then_some(user)
}

#[test]
fn a_user_who_may_have_500_processes_keeps_what_was_measured() {
    let knee = Knee::new();
    let Some(user) = another_user(&knee) else { return };
    let script = format!("exec {user} prlimit --nproc=500 \"$KNEE\" {LIMITED}");
    let came = came(&mut knee.shell(&script));
    assert_ended_at_500(&knee, &came, "user 54321 may have 500 processes", "--nproc=1500");
}

#[test]
fn without_a_control_group_the_cell_says_why_there_is_no_quota() {
    let knee = Knee::new();
    let Some(user) = another_user(&knee) else { return };
    let words = "run command --command 'true {n}' --points 1 --rounds 1 --quota 0.5";
    came(&mut knee.shell(&format!("exec {user} \"$KNEE\" {words}")));
    let Outcome::Failed { reason, .. } = &knee.last_run().cells[0].outcome else {
        panic!("another user made a control group");
    };
    let reason = reason.to_string();
    assert!(reason.starts_with("no CPU quota: no control group can be made in /sys/"), "{reason}");
    assert!(reason.contains("→ run knee as root"), "{reason}");
}

#[test]
fn a_control_group_with_a_quota_goes_with_a_knee_that_is_killed() {
    let knee = Knee::new();
    let file = knee.at("group");
    let command = format!("sh -c 'cat /proc/self/cgroup > {file}; exec sleep 1000' {{n}}");
    let words = ["run", "command", "--command", &command, "--quota", "0.5", "--points", "1"];
    let mut running = knee.start(&words);
    let group = || {
        let text = std::fs::read_to_string(&file).unwrap_or_default();
        let (_, name) = text.split_once("/knee-")?;
        Some(format!("knee-{}", name.lines().next()?))
    };
    let has_ended = |child: &mut Child| child.try_wait().unwrap().is_some();
    wait_until("the command runs", || group().is_some() || has_ended(&mut running));
    let Some(group) = group() else {
        eprintln!("SKIPPED: no control group can be made here");
        return;
    };
    assert!(has_control_group(&group));
    running.kill().unwrap();
    running.wait().unwrap();
    wait_until("the group is gone", || !has_control_group(&group));
    knee.assert_no_process_left();
}

#[test]
fn a_control_group_of_500_processes_keeps_what_was_measured() {
    let Some(group) = Group::new(500) else {
        eprintln!("SKIPPED: no control group can be made here");
        return;
    };
    let knee = Knee::new();
    let directory = group.0.display();
    let script = format!("echo $$ > {directory}/cgroup.procs; exec \"$KNEE\" {LIMITED}");
    let came = came(&mut knee.shell(&script));
    let limit = format!("control group {directory} may have 500 processes");
    assert_ended_at_500(&knee, &came, &limit, &format!("echo 1500 > {directory}/pids.max"));
}

#[test]
fn a_full_control_group_is_named_by_all_that_start_something() {
    let Some(group) = Group::new(12) else {
        eprintln!("SKIPPED: no control group can be made here");
        return;
    };
    let knee = Knee::new();
    let directory = group.0.display();
    let limit = |max: u32| format!("the control group {directory} may have {max} processes");
    let limited = |words: &str, max: u32| {
        std::fs::write(group.0.join("pids.max"), max.to_string()).unwrap();
        let script = format!(
            "echo $$ > {directory}/cgroup.procs; exec \"$KNEE\" run {words} --rounds 1 --time 1ms"
        );
        came(&mut knee.shell(&script)).err
    };
    for (words, max) in [
        ("lock --subjects std --threads 16", 12),
        ("syscalls --subjects getppid --threads 16 --by threads", 12),
        ("syscalls --subjects getppid --threads 16 --by processes", 12),
        // The helper between a worker and a server, and the worker itself.
        ("dead --subjects poll --points 10", 4),
        ("null --points 1", 1),
    ] {
        let err = limited(words, max);
        assert!(err.contains(&limit(max)), "{words}: {err}");
        assert!(err.contains("pids.max"), "with its remedy: {words}: {err}");
    }
    knee.assert_no_process_left();
}

/// Starts cells of 5,000 processes, and waits until 1,000 of one are there.
fn started(knee: &Knee, subject: &str, more: &[&str]) -> Child {
    let words = ["run", "fork", "--points", "5k", "--subjects", subject];
    let child = knee.start(&[&words[..], more].concat());
    let made = || knee.processes().iter().filter(|line| line.contains(": forker ")).count();
    wait_until("1,000 processes wait", || made() > 1_000);
    child
}

#[test]
fn an_interrupt_leaves_none_of_a_thousand_processes() {
    let _alone = alone();
    // One that copies its parent, and one that starts a program anew.
    for subject in ["dynamic", "posix_spawn"] {
        let knee = Knee::new();
        let mut child = started(&knee, subject, &["--rounds", "500"]);
        kill_process(Pid::from_child(&child), Signal::INT).unwrap();
        assert_eq!(child.wait().unwrap().code(), Some(130));
        knee.assert_no_process_left();
    }
}

#[test]
fn nothing_is_left_of_a_thousand_processes_when_the_instrument_is_killed() {
    let _alone = alone();
    for subject in ["dynamic", "posix_spawn"] {
        let knee = Knee::new();
        let mut child = started(&knee, subject, &["--rounds", "500"]);
        child.kill().unwrap();
        child.wait().unwrap();
        knee.assert_no_process_left();
    }
}

/// The children of the first process whose command line begins with `words`. There are thousands, and
/// little time: none of them is looked at by itself.
fn children_of(knee: &Knee, words: &str) -> Vec<Pid> {
    let all = knee.processes();
    let mut children = all.iter().filter_map(|line| {
        let (pid, own) = line.split_once(": ")?;
        let threads =
            own.starts_with(words).then(|| std::fs::read_dir(format!("/proc/{pid}/task")));
        let lists = threads?.ok()?.flatten().map(|thread| thread.path().join("children"));
        let lists: String = lists.filter_map(|list| std::fs::read_to_string(list).ok()).collect();
        let pids = lists.split_whitespace().filter_map(|pid| Pid::from_raw(pid.parse().ok()?));
        Some(pids.collect::<Vec<Pid>>()).filter(|pids| !pids.is_empty())
    });
    children.next().unwrap_or_else(|| panic!("{words} has no children in {all:?}"))
}

/// One cell of a parent so large that there is time to look at who is there.
const SLOW: &[&str] = &["--rounds", "1", "--parent", "16"];

/// Why the one cell of the run failed.
fn failure_reason(knee: &Knee, mut child: Child) -> String {
    child.wait().unwrap();
    knee.assert_no_process_left();
    match &knee.last_run().cells[..] {
        [Cell { outcome: Outcome::Failed { reason, .. }, .. }] => reason.to_string(),
        cells => {
            panic!("one failed cell is expected: {:?}", cells.first().map(|cell| &cell.outcome))
        }
    }
}

#[test]
fn whoever_is_killed_voids_the_cell_and_takes_all_along() {
    let _alone = alone();
    let knee = Knee::new();
    let child = started(&knee, "dynamic", SLOW);
    let forker = children_of(&knee, "knee __worker");
    kill_process(forker[0], Signal::KILL).unwrap();
    assert!(failure_reason(&knee, child).contains("the forker ended early"));

    let knee = Knee::new();
    let child = started(&knee, "dynamic", SLOW);
    let worker = children_of(&knee, env!("CARGO_BIN_EXE_knee"));
    kill_process(worker[0], Signal::KILL).unwrap();
    assert!(failure_reason(&knee, child).contains("killed by SIGKILL"));

    let knee = Knee::new();
    let child = started(&knee, "dynamic", SLOW);
    let some = children_of(&knee, "forker");
    kill_process(some[some.len() / 2], Signal::TERM).unwrap();
    let reason = failure_reason(&knee, child);
    assert!(reason.contains("ended before") || reason.contains("ended early"), "{reason}");
}
