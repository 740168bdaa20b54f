//! The profile pass: every workload has samples of what it times, and what is cut off or fails loses nothing.

use crate::common::{Came, Knee, wait_until};
use crate::own_servers::running_httpd;
use archive::{Archive, SqliteArchive};
use model::{Outcome, Profile, ProfilePlan, ProfiledCell, Run, RunState};
use rustix::process::{Pid, Signal, kill_process};
use std::collections::BTreeSet;
use std::path::Path;

/// Whether this machine allows samples; says so where it does not.
pub fn is_possible() -> bool {
    match engine::check_profile(ProfilePlan { frequency_hz: 1, measure_ms: 1 }) {
        Ok(()) => true,
        Err(error) => {
            eprintln!("SKIPPED: {error}");
            false
        }
    }
}

/// Something short with a profile of it.
fn profiled(knee: &Knee, words: &[&str]) -> (Came, Run) {
    let short = ["--rounds", "1", "--time", "1ms", "--quick", "--profile=2k"];
    let came = knee.run(&[&["run"], words, &short].concat());
    knee.assert_no_process_left();
    assert!(knee.record().exists(), "{words:?}: {came:?}");
    let run = knee.last_run();
    (came, run)
}

/// The process that a stack is of.
fn root(profile: &Profile, stack: u32) -> &str {
    let root = profile.path(stack)[0];
    &profile.frames[profile.stacks[root as usize].frame as usize].function
}

/// What a suite says of each workload to measure it in a moment: few operations, but so many that their time can be sampled.
fn options(workload: &str) -> Option<&'static str> {
    Some(match workload {
        "poll" => "points = [100], subjects = ['epoll-level']",
        "pipetest" => "points = [10], pipes = [100], subjects = ['epoll-level']",
        "waiters" => "points = [2], subjects = ['epoll-level']",
        "socket" | "bind" | "accept" | "close" | "open" | "manyfiles" => "points = ['1k']",
        "mmap" | "touch" | "munmap" => "points = ['10k']",
        "memory" => "points = [64], subjects = ['random']",
        "fork" | "reap" => "points = [200], subjects = ['static']",
        "thread" => "points = [500]",
        "lock" => "points = [4], subjects = ['ttas']",
        "syscalls" => "points = [2], subjects = ['getppid']",
        "connect" | "request" => "points = [200], subjects = ['epoll-level']",
        "dead" => "points = [10], subjects = ['epoll-level'], workers = 1",
        "download" => "points = [16], subjects = ['sendfile']",
        "build" => "files = 2, subjects = ['half'], warm-up = 'none'",
        "baseline" => "subjects = ['null-call']",
        "command" => "command = 'count=seq {n}', points = ['20k'], subjects = ['count']",
        "fault" => "subjects = ['well-behaved']",
        "known" => "points = [16], subjects = ['linear']",
        // The control of the harness is no workload that anybody asks about.
        "null" => return None,
        unknown => panic!("say how {unknown} is measured in a moment"),
    })
}

/// The same with the first subject that works here, where it names none.
fn member(name: &str, subjects: &[engine::Subject]) -> Option<String> {
    let options = options(name)?;
    let is_open = |subject: &&engine::Subject| {
        !options.contains("subjects") && subject.available.ask().is_ok()
    };
    let first = subjects.iter().find(is_open);
    let first = first.map(|subject| format!(", subjects = ['{}']", subject.info.name));
    Some(format!("{{ name = '{name}', {options}{} }}", first.unwrap_or_default()))
}

// Two halves, which run at the same time.
#[test]
fn every_workload_with_an_odd_row_has_samples_of_its_headline() {
    assert_headlines_have_samples(0);
}

#[test]
fn every_workload_with_an_even_row_has_samples_of_its_headline() {
    assert_headlines_have_samples(1);
}

/// Every second workload of the table, from `first` on, as one run: symbols are read once.
fn assert_headlines_have_samples(first: usize) {
    if !is_possible() {
        return;
    }
    let rows = || workloads::TABLE.iter().skip(first).step_by(2);
    let members = rows().filter_map(|row| member(row.name(), &row.subjects()));
    let members = members.collect::<Vec<_>>().join(", ");
    let knee = Knee::new();
    let file = knee.at("knee.toml");
    std::fs::write(&file, format!("[suite.half]\nworkloads = [{members}]\n")).unwrap();
    let (came, run) = profiled(&knee, &["--suite", "half", "--config", &file]);
    assert_eq!(came.code, Some(0), "{came:?}");
    for row in rows().filter(|row| options(row.name()).is_some()) {
        let (name, headline) = (row.name(), &row.about().info.metrics[0].name);
        if !run.plan.cells.iter().any(|key| key.workload == name) {
            eprintln!("SKIPPED in part: {name} can't be measured here: {came:?}");
            continue;
        }
        let mut cells =
            run.profile.cells.iter().filter(|cell| cell.key.workload == name).peekable();
        assert!(cells.peek().is_some(), "{name}: {came:?}");
        for cell in cells {
            assert_eq!(cell.outcome, Outcome::Measured, "{name}");
            let regions = cell.regions.iter().filter(|region| region.metric == *headline);
            let samples: u64 = regions.clone().map(model::ProfiledRegion::sample_count).sum();
            let operations: u64 = regions.map(|region| region.operations).sum();
            assert!(samples > 0 && operations > 0, "{name} {:?}: {cell:?}", cell.key);
            for region in &cell.regions {
                assert!(region.position <= cell.key.point, "{name}: {region:?}");
            }
        }
    }
}

#[test]
fn a_command_has_samples_of_the_headline_that_is_chosen() {
    if !is_possible() {
        return;
    }
    let knee = Knee::new();
    let words = ["command", "--command", "count=seq {n}", "--points", "20k", "--headline", "cpu"];
    let (came, run) = profiled(&knee, &words);
    assert_eq!(came.code, Some(0), "{came:?}");
    let cell = &run.profile.cells[0];
    assert_eq!(cell.outcome, Outcome::Measured, "{cell:?}");
    let timed = cell.regions.iter().filter(|region| !region.metric.ends_with(" waits"));
    let regions: Vec<(&str, u64)> =
        timed.map(|region| (&*region.metric, region.operations)).collect();
    let [("elapsed", elapsed), ("cpu", cpu)] = regions[..] else { panic!("{regions:?}") };
    assert!(elapsed > 0 && elapsed == cpu, "{regions:?}");
    let own = cell.regions.iter().flat_map(|region| &region.samples);
    let own = own.map(|(stack, _)| root(&run.profile, *stack));
    let own: Vec<&str> = own.filter(|name| !["seq", "knee worker"].contains(name)).collect();
    assert!(own.is_empty(), "{own:?}");
}

#[test]
fn each_subject_is_profiled_once_at_each_point_and_the_rounds_are_the_plan_s() {
    if !is_possible() {
        return;
    }
    let knee = Knee::new();
    let words = ["known", "null", "--points", "16,32", "--subjects", "linear,empty"];
    let (came, run) = profiled(&knee, &words);
    assert_eq!(came.code, Some(0), "{came:?}");
    assert_eq!(run.cells.len(), run.plan.cells.len());
    let mut keys: Vec<(&str, u64, u32)> = run.profile.cells.iter().map(key).collect();
    keys.sort_unstable();
    assert_eq!(keys, [("linear", 16, 0), ("linear", 32, 0)], "controls are not profiled");
    for cell in &run.profile.cells {
        let samples = cell.regions[0].sample_count();
        // Half a second at 2,000 a second, on a machine that does much else.
        assert!((50..2_000).contains(&samples), "{samples} samples");
        assert!((cell.sample_ns - 500_000.0).abs() < 1.0, "{}", cell.sample_ns);
        assert!(cell.regions[0].elapsed_ns > 50_000_000, "{:?}", cell.regions[0].elapsed_ns);
    }
}

fn key(cell: &ProfiledCell) -> (&str, u64, u32) {
    (&cell.key.subject, cell.key.point, cell.key.round)
}

#[test]
fn a_run_that_is_cut_off_in_its_profile_goes_on_there() {
    if !is_possible() {
        return;
    }
    let knee = Knee::new();
    let curves = ["run", "known", "--points", "16,32,64,128", "--subjects", "linear,log"];
    let short = ["--rounds", "1", "--time", "1ms", "--quick", "--profile"];
    let mut child = knee.start(&[curves, short].concat());
    let load = || {
        let archive = SqliteArchive::open_read_only(knee.record()).ok()?;
        archive.load(archive.resolve("last").ok()?).ok()
    };
    wait_until("two cells are profiled", || {
        load().is_some_and(|run: Run| run.profile.cells.len() >= 2)
    });
    kill_process(Pid::from_child(&child), Signal::INT).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(130));
    let before = knee.last_run();
    assert_eq!(before.summary.state, RunState::Interrupted);
    assert!(before.profile.cells.len() < before.cells.len());
    let came = knee.run(&["run", "--resume"]);
    assert_eq!(came.code, Some(0), "{came:?}");
    let after = knee.last_run();
    assert_eq!(after.summary.state, RunState::Complete);
    assert_eq!(after.cells, before.cells, "no round was measured again");
    assert_eq!(after.host_after, before.host_after, "what the profile takes disturbs no round");
    assert_eq!(after.warnings, before.warnings);
    let kept = before.profile.cells.len();
    assert_eq!(after.profile.cells[..kept], before.profile.cells);
    assert_eq!(after.profile.cells.len(), after.cells.len());
    knee.assert_no_process_left();
}

#[test]
fn a_cell_that_fails_while_it_is_profiled_loses_nothing() {
    if !is_possible() {
        return;
    }
    let knee = Knee::new();
    // Its clean-up after the round makes it fail from then on.
    let failed = knee.directory.path().join("failed");
    let command = format!("once=test ! -e {} -o {{n}} = 2", failed.display());
    let cleanup = format!("touch {}", failed.display());
    let words = [
        "command",
        "--command",
        &command,
        "--command",
        "ever=test {n} = 1",
        "--points",
        "1",
        "--cleanup",
        &cleanup,
    ];
    let words = [&words[..], &["--seed", "1"]].concat();
    let (came, run) = profiled(&knee, &words);
    assert_eq!(came.code, Some(0), "{came:?}");
    assert!(Path::new(&failed).exists());
    assert_eq!(run.summary.state, RunState::Complete);
    let outcome = |name: &str| {
        let cell = run.profile.cells.iter().find(|cell| cell.key.subject == name);
        cell.map(|cell| (cell.outcome == Outcome::Measured, cell.regions.is_empty()))
    };
    assert_eq!(outcome("ever"), Some((true, false)));
    // Whether its round came before the clean-up of the other is drawn; a cell without a round has no profile.
    let is_measured = |name: &str| {
        run.cells.iter().any(|cell| cell.key.subject == name && cell.outcome == Outcome::Measured)
    };
    let wanted = is_measured("once").then_some((false, true));
    assert_eq!(outcome("once"), wanted);
    if wanted.is_some() {
        assert!(came.err.contains("while it was profiled"), "{came:?}");
    }
}

#[test]
fn both_sides_of_a_comparison_are_profiled() {
    if !is_possible() {
        return;
    }
    let knee = Knee::new();
    let words = ["ab", "env X=1", "--", "known", "--points", "16", "--subjects", "linear,log"];
    let short = ["--rounds", "2", "--time", "1ms", "--quick", "--profile"];
    let came = knee.run(&[&words[..], &short].concat());
    assert_eq!(came.code, Some(0), "{came:?}");
    let archive = SqliteArchive::open_read_only(knee.record()).unwrap();
    for number in [1, 2] {
        let run = archive.load(number).unwrap();
        assert_eq!((run.cells.len(), run.profile.cells.len()), (4, 2), "run {number}");
    }
    knee.assert_no_process_left();
}

#[test]
fn a_server_that_runs_already_is_profiled_with_its_load() {
    if !is_possible() {
        return;
    }
    let knee = Knee::new();
    std::fs::write(knee.directory.path().join("x"), "hello").unwrap();
    let (mut httpd, address) = running_httpd(&knee);
    let url = format!("mine=http://{address}/x");
    let words = ["dead", "--points", "20", "--alive", "4", "--workers", "1", "--url", &url];
    let short = ["--rounds", "1", "--time", "1ms", "--quick", "--profile=2k"];
    let came = knee.run(&[&["run"], &words[..], &short].concat());
    httpd.kill().unwrap();
    httpd.wait().unwrap();
    assert_eq!(came.code, Some(0), "{came:?}");
    let Run { profile, .. } = knee.last_run();
    let replies = profile.cells[0].regions.iter().find(|region| region.metric == "replies");
    let roots: BTreeSet<&str> =
        replies.unwrap().samples.iter().map(|(stack, _)| root(&profile, *stack)).collect();
    assert_eq!(roots, BTreeSet::from(["knee", "knee worker"]), "{:?}", profile.cells[0].limits);
}

#[test]
fn a_rate_that_the_kernel_refuses_is_refused_before_anything_is_measured() {
    if !is_possible() {
        return;
    }
    let maximum = std::fs::read_to_string("/proc/sys/kernel/perf_event_max_sample_rate").unwrap();
    if maximum.trim() == "100000" {
        let knee = Knee::new();
        let came = knee.run(&["run", "known", "--profile=100001"]);
        assert_eq!(came.code, Some(2), "{came:?}");
        assert!(!knee.record().exists());
    }
    let knee = Knee::new();
    let came = knee.run(&["run", "known", "--profile=0"]);
    assert_eq!(came.code, Some(2), "{came:?}");
}
