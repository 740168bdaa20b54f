//! `knee compare`: two runs side by side, baselines, gates, and both measured in turns.

use crate::common::{Came, Knee, came};
use archive::{Archive, SqliteArchive};
use fixtures::{cell, run as made_run, workload};
use model::{Cell, Run};
use serde_json::Value;

const TINY: [&str; 6] = ["--points", "1,2", "--rounds", "5", "--time", "1ms"];

/// A knee with one tiny run of `null` in its record.
fn measured() -> Knee {
    let knee = Knee::new();
    let came = knee.run(&[&["run", "null"], &TINY[..]].concat());
    assert_eq!(came.code, Some(0), "{came:?}");
    knee
}

/// Puts a copy of the first run into the record of `knee`, each sample replaced by `sample` of its
/// round and place. What comes of it is the same on every machine, however busy.
fn made(knee: &Knee, id: &str, sample: impl Fn(u32, usize) -> f64) {
    let mut archive = SqliteArchive::open(knee.record()).unwrap();
    let mut run = archive.load(1).unwrap();
    id.clone_into(&mut run.summary.id);
    for cell in &mut run.cells {
        let round = cell.key.round;
        for metric in &mut cell.metrics {
            metric.samples = (0..20).map(|index| sample(round, index)).collect();
        }
    }
    archive::merge(&mut archive, &run).unwrap();
}

/// Run 2 at 100 ns, with a hundredth of noise; run 3 at twice that; run 4 with noise that hides all.
fn known_runs() -> Knee {
    let knee = measured();
    let level =
        |at: f64| move |round: u32, index: usize| at + f64::from(round % 3) + index as f64 / 20.0;
    made(&knee, "00000000000000a2", level(100.0));
    made(&knee, "00000000000000a3", level(200.0));
    let wild = |round: u32, index: usize| f64::from(10 + 90 * (round % 2)) + index as f64;
    made(&knee, "00000000000000a4", wild);
    made(&knee, "00000000000000a5", level(100.0));
    knee
}

fn run(knee: &Knee, number: i64) -> Run {
    SqliteArchive::open_read_only(knee.record()).unwrap().load(number).unwrap()
}

fn compared(knee: &Knee, words: &[&str]) -> Came {
    knee.run(&[&["compare"], words].concat())
}

#[test]
fn two_measured_runs_are_compared_in_every_form() {
    let knee = measured();
    assert_eq!(
        knee.run(&[&["run", "null", "--label", "commit=b2"], &TINY[..]].concat()).code,
        Some(0)
    );
    let page = knee.directory.path().join("both.html");
    let came = compared(&knee, &["1", "-o", page.to_str().unwrap()]);
    assert_eq!(came.code, Some(0), "{came:?}");
    for part in
        ["base  run 1 (", "new   run 2 (", "commit b2", "1 series: ", "Confidence", "Report: "]
    {
        assert!(came.out.contains(part), "no {part}: {}", came.out);
    }
    let order = ["What changed", "1 series: ", "label.commit", "null · ", "Confidence"];
    let positions =
        order.map(|part| came.out.find(part).unwrap_or_else(|| panic!("{part}: {}", came.out)));
    assert!(positions.is_sorted(), "the answer comes first: {}", came.out);
    assert!(!came.out.contains('\u{1b}') && came.err.is_empty(), "{came:?}");
    let page = std::fs::read_to_string(page).unwrap();
    assert!(page.contains("id=\"comparison\""), "{}", &page[..400]);

    let json = compared(&knee, &["1", "2", "--json", "--all"]);
    let value: Value =
        serde_json::from_str(&json.out).unwrap_or_else(|why| panic!("{why}: {json:?}"));
    assert_eq!(
        (value["base"]["number"].as_i64(), value["new"]["number"].as_i64()),
        (Some(1), Some(2))
    );
    assert_eq!(value["margin"], 0.05);
    let markdown = compared(&knee, &["1", "2", "--markdown"]);
    assert!(
        markdown.out.starts_with("**knee: ") && markdown.out.contains("<details>"),
        "{markdown:?}"
    );
    // A file names its last run, or one of it.
    let file = knee.record().display().to_string();
    let empty = Knee::new();
    let came = compared(&empty, &[&format!("{file}:1"), &file]);
    assert_eq!(came.code, Some(0), "{came:?}");
}

#[test]
fn a_gate_opens_and_closes_by_what_is_known() {
    let knee = known_runs();
    let cases: &[(&[&str], Option<i32>, &str)] = &[
        (&["2", "3"], Some(0), ""),
        (&["2", "3", "--fail-on", "slower"], Some(3), "slower: null: "),
        (&["2", "3", "--fail-on", "changed"], Some(3), "something changed"),
        (&["3", "2", "--fail-on", "slower"], Some(0), ""),
        (&["3", "2", "--fail-on", "changed"], Some(3), "something changed"),
        (&["2", "5", "--fail-on", "slower"], Some(0), ""),
        (&["2", "5", "--fail-on", "changed"], Some(0), ""),
        (
            &["2", "4", "--fail-on", "slower"],
            Some(4),
            "1 of 1 series and 2 of 2 points may be slower",
        ),
        (&["2", "4", "--fail-on", "changed"], Some(4), "2 of 2 points may have changed"),
        (&["2", "4"], Some(0), ""),
        (&["2", "3", "--fail-above", "10%"], Some(3), "slower by more than 10 %: null: "),
        (&["3", "2", "--fail-above", "10%"], Some(0), ""),
        (&["2", "4", "--fail-above", "10%"], Some(4), "may be slower by more than 10 %"),
    ];
    for (words, code, why) in cases {
        for form in [&[][..], &["--json"], &["--markdown"]] {
            let came = compared(&knee, &[words, form].concat());
            assert_eq!(came.code, *code, "{words:?} {form:?}: {came:?}");
            assert!(came.err.contains(why) && came.err.lines().count() <= 1, "{words:?}: {came:?}");
            assert_eq!(came.err.is_empty(), why.is_empty(), "{words:?}: {came:?}");
        }
    }
    let came = compared(&knee, &["2", "3"]);
    assert!(came.out.contains("▲ 1 slower, ▼ 0 faster"), "{}", came.out);
    let came = compared(&knee, &["3", "2"]);
    assert!(came.out.contains("▲ 0 slower, ▼ 1 faster"), "{}", came.out);
    let came = compared(&knee, &["2", "5"]);
    assert!(came.out.contains("= 1 same, ? 0 undecided"), "{}", came.out);
    // With a margin of more than what changed, twice as much is the same.
    let came = compared(&knee, &["3", "2", "--margin", "99%"]);
    assert!(came.out.contains("within 99 %"), "{}", came.out);
}

/// Changes a copy of the second run, which stands as another under `id`.
fn changed(knee: &Knee, id: &str, change: impl Fn(&mut Run)) {
    let mut archive = SqliteArchive::open(knee.record()).unwrap();
    let mut run = archive.load(2).unwrap();
    id.clone_into(&mut run.summary.id);
    change(&mut run);
    archive::merge(&mut archive, &run).unwrap();
}

/// Two runs of a workload in its two parameters' values: `new` lacks what `lacks` says.
fn with_and_without(lacks: impl Fn(&model::CellKey) -> bool) -> Knee {
    let knee = Knee::new();
    for (id, is_new) in [("00000000000000c1", false), ("00000000000000c2", true)] {
        let about = workload("made").axis("things", "things").time("call").subjects(["a", "b"]);
        let mut cells = Vec::new();
        for round in 0..5 {
            for (subject, point) in [("a", 10), ("a", 100), ("b", 10), ("b", 100)] {
                let level = 700.0 + f64::from(round % 3);
                let samples = (0..20).map(|index| level + f64::from(index) / 20.0).collect();
                let cell: Cell =
                    cell("made", subject, point, round).samples("call", samples).into();
                cells.push(cell);
            }
        }
        cells.retain(|cell| !(is_new && lacks(&cell.key)));
        let (made, cells) = made_run(about).id(id).rounds(5).cells(cells).begun();
        knee.keep(&made, &cells, &made.summary.started);
    }
    knee
}

#[test]
fn a_series_that_vanished_passes_no_gate() {
    let cases: [(&str, Knee); 3] = [
        ("", with_and_without(|_| false)),
        ("made: b only in base", with_and_without(|key| key.subject == "b")),
        (
            "made: b at 100 things only in base",
            with_and_without(|key| key.subject == "b" && key.point == 100),
        ),
    ];
    for (vanished, knee) in cases {
        for gate in
            [&["--fail-on", "slower"][..], &["--fail-on", "changed"], &["--fail-above", "10%"]]
        {
            let came = compared(&knee, &[&["1", "2"], gate].concat());
            let wanted = if vanished.is_empty() { 0 } else { 4 };
            assert_eq!(came.code, Some(wanted), "{vanished}, {gate:?}: {came:?}");
            assert!(came.err.contains(vanished), "{vanished}, {gate:?}: {came:?}");
            let narrowed = compared(&knee, &[&["1", "2", "--ignore-missing"], gate].concat());
            assert_eq!(narrowed.code, Some(0), "{vanished}, {gate:?}: {narrowed:?}");
            // What new has and base had not, can't be worse.
            let reverse = compared(&knee, &[&["2", "1"], gate].concat());
            assert_eq!(reverse.code, Some(0), "{vanished}, {gate:?}: {reverse:?}");
        }
    }
}

#[test]
fn a_gate_says_what_it_could_not_see() {
    let knee = known_runs();
    changed(&knee, "00000000000000b6", |run| {
        for metric in
            run.cells.iter_mut().filter(|cell| cell.key.point == 2).flat_map(|c| &mut c.metrics)
        {
            metric.samples.fill(0.0);
        }
    });
    let came = compared(&knee, &["2", "6", "--fail-on", "slower"]);
    assert_eq!(came.code, Some(4), "{came:?}");
    let first = "knee: can't pass (exit 4); not judged: null: no ratio of ";
    assert!(came.err.starts_with(first) && came.err.contains(" at 2 "), "{came:?}");
    assert_eq!(came.err.lines().count(), 1, "{came:?}");
    let came = compared(&knee, &["2", "6", "--fail-on", "slower", "--ignore-missing"]);
    assert_eq!(came.code, Some(0), "{came:?}");
    let first = "knee: passed; left out: null: no ratio of ";
    assert!(came.err.starts_with(first) && came.err.contains(" at 2 "), "{came:?}");
    // A point whose rounds scatter leaves the series undecided, whatever the other says.
    changed(&knee, "00000000000000b7", |run| {
        for cell in run.cells.iter_mut().filter(|cell| cell.key.point == 1) {
            let level = if cell.key.round % 2 == 0 { 30.0 } else { 300.0 };
            cell.metrics.iter_mut().for_each(|metric| metric.samples.fill(level));
        }
    });
    let came = compared(&knee, &["2", "7", "--fail-on", "slower"]);
    assert_eq!(came.code, Some(4), "{came:?}");
    assert!(came.out.contains("= 0 same, ? 1 undecided"), "{came:?}");
    // All that was measured has failed: nothing to divide, and yet a change.
    changed(&knee, "00000000000000b8", |run| {
        for cell in &mut run.cells {
            let reason = model::FailureReason::LockStalled { waited_ms: 3_000 };
            cell.outcome = model::Outcome::Failed { reason, detail: String::new() };
            cell.metrics.clear();
        }
    });
    let came = compared(&knee, &["2", "8", "--fail-on", "slower", "--markdown"]);
    assert_eq!(came.code, Some(3), "{came:?}");
    assert!(came.out.starts_with("**knee: ▲ worse** · 0 series"), "{came:?}");
}

#[test]
fn a_baseline_is_named_moved_and_found_again() {
    let knee = known_runs();
    let came = compared(&knee, &["--baseline", "main"]);
    assert_eq!(came.code, Some(2), "{came:?}");
    assert!(came.err.contains("--save-baseline main") && came.err.lines().count() == 1, "{came:?}");

    let output = |words: &[&str]| compared(&knee, words).out;
    assert!(
        output(&["--save-baseline", "main", "3"]).starts_with("Baseline main: run 3    Record: ")
    );
    assert!(
        output(&["2", "--save-baseline", "main"])
            .starts_with("Baseline main: run 2 (it was run 3)")
    );
    assert!(output(&["--save-baseline", "release"]).starts_with("Baseline release: run 5    "));

    let came = compared(&knee, &["--baseline", "main", "3", "--fail-on", "slower"]);
    assert_eq!(came.code, Some(3), "{came:?}");
    assert!(came.out.contains("base  run 2 (00000000000000a2)"), "{came:?}");
    let came = compared(&knee, &["--baseline", "main", "--fail-on", "slower"]);
    assert_eq!(came.code, Some(0), "against the last: {came:?}");
    assert!(came.out.contains("new   run 5 (00000000000000a5)"), "{came:?}");

    let came = compared(&knee, &["--baseline", "mian"]);
    assert_eq!((came.code, came.err.lines().count()), (Some(2), 1), "{came:?}");
    let wanted =
        "no baseline is called `mian`; did you mean main? There is main (run 2), release (run 5)";
    assert!(came.err.contains(wanted), "{came:?}");
    // It goes with its run, and only then.
    assert_eq!(knee.run(&["record", "delete", "2"]).code, Some(0));
    let came = compared(&knee, &["--baseline", "main"]);
    assert!(came.code == Some(2) && came.err.contains("there is release (run 5)"), "{came:?}");
}

#[test]
fn a_baseline_moves_along_only_where_the_gate_is_open() {
    let knee = known_runs();
    assert_eq!(compared(&knee, &["--save-baseline", "main", "2"]).code, Some(0));
    let gate = ["--baseline", "main", "--fail-on", "slower", "--save-baseline", "main"];
    let closed = compared(&knee, &[&gate[..], &["3"]].concat());
    assert!(
        closed.code == Some(3) && closed.out.contains("Baseline main: left as it was"),
        "{closed:?}"
    );
    let open = compared(&knee, &[&gate[..], &["5", "--json"]].concat());
    assert_eq!(open.code, Some(0), "{open:?}");
    assert!(serde_json::from_str::<Value>(&open.out).is_ok(), "{open:?}");
    assert!(open.err.starts_with("Baseline main: run 5 (it was run 2)"), "{open:?}");
}

#[test]
fn what_can_t_be_written_costs_no_comparison() {
    let knee = known_runs();
    assert_eq!(compared(&knee, &["--save-baseline", "main", "2"]).code, Some(0));
    let words = ["2", "3", "-o", "/dev/full", "--save-baseline", "main"];
    for gate in [&[][..], &["--fail-on", "slower"]] {
        let came = compared(&knee, &[&words[..], gate].concat());
        assert_eq!(came.code, Some(1), "{came:?}");
        assert!(came.out.contains("▲ 1 slower, ▼ 0 faster"), "{came:?}");
        assert!(came.out.contains("Baseline main: left as it was"), "{came:?}");
        let lines: Vec<&str> = came.err.lines().collect();
        assert_eq!(lines.len(), 1 + gate.len() / 2, "{came:?}");
        assert!(lines[lines.len() - 1].starts_with("knee: /dev/full: "), "{came:?}");
    }
    let came = compared(&knee, &["--baseline", "main", "3"]);
    assert!(came.out.contains("base  run 2 (00000000000000a2)"), "{came:?}");
}

#[test]
fn each_further_run_is_compared_with_the_first() {
    let knee = known_runs();
    let page = knee.directory.path().join("all.html");
    let came = compared(&knee, &["2", "3", "5", "-o", page.to_str().unwrap()]);
    assert_eq!((came.code, came.err.as_str()), (Some(0), ""), "{came:?}");
    let order = ["base  run 2 (", "What changed", "  run 3: ", "  run 5: ", "Facts", "null · "];
    let positions =
        order.map(|part| came.out.find(part).unwrap_or_else(|| panic!("{part}: {}", came.out)));
    assert!(positions.is_sorted(), "{}", came.out);
    assert!(came.out.contains("run 5: No difference"), "{}", came.out);
    let page = std::fs::read_to_string(page).unwrap();
    assert!(page.contains("id=\"comparison\""), "{}", &page[..400]);

    let json = compared(&knee, &["2", "3", "5", "--json"]);
    let value: Value = serde_json::from_str(&json.out).unwrap();
    let numbers = |key: &str| value[key].as_array().unwrap().len();
    assert_eq!((numbers("runs"), numbers("comparisons")), (3, 2), "{value:#}");
    assert_eq!(value["comparisons"][0]["new"]["number"], 3);
    assert_eq!((value["pairs"].as_u64(), value["confidence"].as_f64()), (Some(3), Some(0.95)));
    let markdown = compared(&knee, &["2", "3", "5", "--markdown"]);
    assert!(markdown.out.starts_with("**knee: 2 runs against run 2**"), "{markdown:?}");
}

#[test]
fn a_gate_holds_for_each_of_several_runs() {
    let knee = known_runs();
    let cases: &[(&[&str], i32, &str)] = &[
        (&["2", "5", "3", "--fail-on", "slower"], 3, "knee: 3: slower: null: "),
        (
            &["2", "5", "4", "--fail-on", "slower"],
            4,
            "knee: 4: can't pass (exit 4); 1 of 1 series and 2 of 2 points",
        ),
        (&["3", "2", "5", "--fail-on", "slower"], 0, ""),
    ];
    for (words, code, why) in cases {
        let came = compared(&knee, words);
        assert_eq!(came.code, Some(*code), "{words:?}: {came:?}");
        assert!(came.err.contains(why) && came.err.lines().count() <= 1, "{words:?}: {came:?}");
    }
    let words = ["2", "5", "3", "--fail-on", "slower", "--save-baseline", "main"];
    let came = compared(&knee, &words);
    assert!(came.out.contains("Baseline main: left as it was"), "{came:?}");
    let came = compared(&knee, &["3", "2", "5", "--fail-on", "slower", "--save-baseline", "main"]);
    assert_eq!(came.code, Some(0), "{came:?}");
    let came = compared(&knee, &["--baseline", "main", "2", "3"]);
    assert!(came.out.starts_with("base  run 5 ("), "{came:?}");
}

#[test]
fn what_can_t_be_compared_is_refused_in_one_line() {
    let knee = known_runs();
    let came =
        knee.run(&["run", "fault", "--subjects", "well-behaved", "--rounds", "1", "--time", "1ms"]);
    assert_eq!(came.code, Some(0), "{came:?}");
    let cases: &[(&[&str], &str)] = &[
        (&[], "`knee compare BASE [NEW…]`"),
        (&["2", "2"], "both are run 2 (00000000000000a2)"),
        (&["last"], "both are run 6"),
        (&["1", "2", "1"], "1: run 1 ("),
        (&["2", "3", "6"], "2 and 6 can't be compared: "),
        (&["99"], "no run 99"),
        (&["the best"], "does not name a run"),
        (&["2", "6"], "no workload in common"),
        (&["2", "3", "--margin", "5"], "`5` is not a percentage"),
        (&["2", "3", "--fail-on", "slow"], "did you mean slower?"),
        (&["2", "3", "--fail-above", "10"], "is not a percentage"),
        (&["2", "3", "--fail-on", "slower", "--fail-above", "10%"], "--fail-on is class or"),
        (&["2", "3", "--json", "--markdown"], "cannot be used with"),
        (&["2", "3", "--points", "1,2"], "there is no --points"),
        (&["2", "3", "--resume=2"], "--resume"),
        (&["--save-baseline", "a\tb"], "is no name for a baseline"),
        (&["1", "--fail-on", "slower", "--save-baseline", "gate"], "--fail-on compares, but"),
        (&["--save-baseline", "gate", "--markdown"], "--markdown compares, but"),
        (&["--save-baseline", "gate", "--margin", "2%"], "--margin compares, but"),
        (&["2", "3", "-o", "/xyzzy/page.html"], "its directory does not exist"),
        (&["2", "3", "--pionts", "1"], "there is no --pionts"),
    ];
    let before = std::fs::read(knee.record()).unwrap();
    for (words, wanted) in cases {
        let came = compared(&knee, words);
        assert_eq!(came.code, Some(2), "{words:?}: {came:?}");
        assert_eq!((came.out.as_str(), came.err.lines().count()), ("", 1), "{words:?}: {came:?}");
        assert!(came.err.contains(wanted), "{words:?}: {}", came.err);
    }
    assert_eq!(std::fs::read(knee.record()).unwrap(), before, "a refusal changes nothing");
}

#[test]
fn another_machine_is_another_matter_unless_it_is_asked_for() {
    let knee = known_runs();
    let mut archive = SqliteArchive::open(knee.record()).unwrap();
    let mut run = archive.load(2).unwrap();
    "00000000000000a9".clone_into(&mut run.summary.id);
    run.host_before.facts.insert("cpu.model".to_owned(), "Another CPU".into());
    archive::merge(&mut archive, &run).unwrap();
    let came = compared(&knee, &["2"]);
    assert_eq!((came.code, came.err.lines().count()), (Some(2), 1), "{came:?}");
    assert!(came.err.contains("Another CPU") && came.err.contains("--across"), "{came:?}");
    let came = compared(&knee, &["2", "last", "--across"]);
    assert_eq!(came.code, Some(0), "{came:?}");
    let line = came.out.lines().find(|line| line.contains("cpu.model")).unwrap_or_default();
    assert!(line.contains("Another CPU"), "{}", came.out);
}

#[test]
fn both_are_measured_in_turns() {
    let knee = Knee::new();
    let words = ["ab", "env KNEE_MADE_UP=1", "--", "null"];
    let came = knee.run(&[&words[..], &TINY[..]].concat());
    assert_eq!(came.code, Some(0), "{came:?}");
    let (base, new) = (run(&knee, 1), run(&knee, 2));
    assert_eq!(
        (&base.plan.paired_with, &new.plan.paired_with),
        (&new.summary.id, &base.summary.id)
    );
    assert!(came.out.contains("took turns"), "{}", came.out);
    assert!(came.out.contains("env KNEE_MADE_UP=1"), "what differs is reported: {}", came.out);
    assert!(came.out.contains("(runs 1 and 2)"), "{}", came.out);
    // And again from the record.
    let again = compared(&knee, &["1", "2"]);
    assert!(again.code == Some(0) && again.out.contains("took turns"), "{again:?}");
    let came = knee.run(&["ab", "/xyzzy/knee", "--", "null"]);
    assert_eq!((came.code, came.err.lines().count()), (Some(2), 1), "{came:?}");
}

#[test]
fn help_says_what_each_flag_is_for() {
    let knee = Knee::new();
    let help = knee.run(&["compare", "poll", "--help"]).out;
    let help = help.split_whitespace().collect::<Vec<_>>().join(" ");
    let wanted = [
        "[RUN]...",
        "--save-baseline <NAME>",
        "--fail-on <WHAT>",
        "--fail-above <PERCENT>",
        "[default: 5%]",
        "knee compare --baseline main --fail-on slower",
    ];
    for part in wanted {
        assert!(help.contains(part), "no {part}: {help}");
    }
    for part in ["--resume", "--like", "--points"] {
        assert!(!help.contains(part), "{part}: {help}");
    }
    let codes = knee.run(&["--help"]).out;
    assert!(codes.contains("  3  different") && codes.contains("  4  inconclusive"), "{codes}");
}

#[test]
fn the_script_with_a_baseline_lets_through_what_is_not_slower() {
    let knee = Knee::new();
    let script = include_str!("../../../../deploy/gate/baseline.sh");
    let file = knee.directory.path().join("gate.sh");
    std::fs::write(&file, script).unwrap();
    std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_knee"), knee.directory.path().join("knee"))
        .unwrap();
    let gate = |branch: &str| {
        let words = TINY.join(" ");
        let script = format!("GITHUB_REF_NAME={branch} sh gate.sh null {words}");
        came(
            knee.shell(&script)
                .env_remove("GITHUB_STEP_SUMMARY")
                .current_dir(knee.directory.path()),
        )
    };
    let main = gate("main");
    assert_eq!(main.code, Some(0), "{main:?}");
    assert!(main.out.contains("Baseline main: run 1"), "{main:?}");

    // A baseline that is a thousand times as slow, or as fast, as anything that is measured here.
    let record = knee.directory.path().join("knee.db");
    for (level, code) in [(1e9, 0), (1e-9, 3)] {
        let mut archive = SqliteArchive::open(&record).unwrap();
        let mut run = archive.load(1).unwrap();
        run.summary.id = format!("00000000000000b{code}");
        for metric in run.cells.iter_mut().flat_map(|cell| &mut cell.metrics) {
            metric.samples = vec![level; 20];
        }
        archive::merge(&mut archive, &run).unwrap();
        let number = archive.resolve(&run.summary.id).unwrap();
        archive.set_baseline("main", number).unwrap();
        drop(archive);
        let came = gate("some-branch");
        assert_eq!(came.code, Some(code), "{came:?}");
        assert!(came.out.contains("**knee: "), "{came:?}");
        assert!(knee.directory.path().join("compared.html").exists(), "{came:?}");
    }
}
