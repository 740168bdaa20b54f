//! `knee history`: a record of many runs, from end to end.

use crate::common::Knee;
use fixtures::{CellBuilder, cell, host, run, workload};
use model::{Cell, Run};
use serde_json::Value;

const ROUNDS: [f64; 3] = [0.99, 1.0, 1.02];
/// How runs differ while nothing changes.
const WOBBLE: [f64; 7] = [1.0, 1.006, 0.992, 1.003, 0.998, 1.009, 0.995];

/// Run `number` of the workload `made`: `steady` stays, and `stepped` is slower at 1,000 from run 8 on.
fn made(number: usize) -> (Run, Vec<Cell>) {
    let mut cells = Vec::new();
    for (round, noise) in (0..).zip(ROUNDS) {
        for (subject, since) in [("steady", usize::MAX), ("stepped", 8)] {
            for point in [10, 1_000] {
                let slower = if point == 1_000 && number >= since { 1.25 } else { 1.0 };
                let level = 700.0 * slower * noise * WOBBLE[number % WOBBLE.len()];
                cells.push(measured((subject, point, round), level));
            }
        }
    }
    let workload = workload("made")
        .question("Does it stay as it was?")
        .axis("things", "things")
        .time("call")
        .subjects(["steady", "stepped"]);
    let cpu = if number == 1 { "Another CPU" } else { "A CPU" };
    run(workload)
        .id(&format!("{number:016x}"))
        .started(&format!("2026-11-{number:02}T12:00:00+00:00"))
        .command("knee run made")
        .label("commit", if number < 8 { "3701d31" } else { "9cf01cb" })
        .seed(number as u64)
        .host_before(host("2026-11-01T12:00:00+00:00", [("cpu.model", cpu), ("cpu.count", "2")]))
        .cells(cells)
        .begun()
}

fn measured((subject, point, round): (&str, u64, u32), level: f64) -> CellBuilder {
    let samples = [0.995, 1.0, 1.005].map(|also| level * also).to_vec();
    cell("made", subject, point, round).samples("call", samples)
}

/// A knee whose record holds so many of these runs.
fn knee(runs: usize) -> Knee {
    let knee = Knee::new();
    for number in 1..=runs {
        let (run, cells) = made(number);
        knee.keep(&run, &cells, &run.summary.started);
    }
    knee
}

#[test]
fn a_change_is_reported_drawn_and_dated_and_what_stayed_is_one_line() {
    let knee = knee(14);
    let text = knee.done(&["history", "made"]);
    let flat = text.split_whitespace().collect::<Vec<_>>().join(" ");
    for expected in [
        "made · 13 runs, from run 2 of 2026-11-02 to run 14 of 2026-11-14 · A CPU, 2 CPUs",
        "stepped at 1,000 things is slower since run 8 (2026-11-08, commit 3701d31 → 9cf01cb): ×1.2",
        "The other 3 of 4 lines did not change",
        "4 lines were judged together",
        "Run 1 is left out: another machine (Another CPU, 2 CPUs, and not A CPU, 2 CPUs)",
    ] {
        assert!(flat.contains(expected), "{expected}\n{text}");
    }
    let row = text.lines().find(|line| line.contains('█')).expect("a drawing");
    assert!(row.trim_start().starts_with("stepped") && row.contains("run 8 ×1.2"), "{row}");
    assert!(!text.contains("steady"), "{text}");
    let all = knee.done(&["history", "made", "--all"]);
    assert_eq!(all.lines().filter(|line| line.trim_start().starts_with("steady")).count(), 2);
    assert_eq!(text, knee.done(&["history", "made"]), "the same every time");
}

#[test]
fn json_and_page_say_the_same_as_the_terminal() {
    let knee = knee(14);
    let page = knee.directory.path().join("made.html");
    let page_name = page.display().to_string();
    let value: Value =
        serde_json::from_str(&knee.done(&["history", "made", "--json", "-o", &page_name])).unwrap();
    assert_eq!((value["schema"].as_u64(), value["judged"].as_u64()), (Some(1), Some(4)));
    let sentence = value["changes"][0]["sentence"].as_str().unwrap();
    assert!(sentence.starts_with("stepped at 1,000 things is slower since run 8"), "{sentence}");
    let page = std::fs::read_to_string(page).unwrap();
    assert!(page.starts_with("<!DOCTYPE html>") && page.contains(sentence), "{sentence}");
    assert_eq!(page.matches("data-run=").count(), 4 * 13, "a dot for each run of each line");
    assert!(
        !page.contains("http://")
            || page.matches("http://").count() == page.matches("http://www.w3.org").count()
    );
}

#[test]
fn a_gate_fails_with_the_run_that_shows_it_and_with_no_later_one() {
    let with = |runs| knee(runs).run(&["history", "made", "--fail-on", "slower"]).code;
    assert_eq!(with(7), Some(0), "nothing yet");
    assert_eq!(with(8), Some(0), "one run is no level");
    assert_eq!(with(9), Some(3));
    assert_eq!(with(11), Some(0), "it was told before");
    assert_eq!(with(3), Some(4), "two runs of one machine are too few");
    let came = knee(9).run(&["history", "made", "--fail-on", "slower"]);
    let line = "knee: made: stepped at 1,000 things is slower since run 8 (2026-11-08): ×1.2";
    assert!(came.err.starts_with(line), "{came:?}");
    assert!(came.err.ends_with("(--fail-on slower, exit 3)\n"), "{came:?}");
}

/// The newest run lacks a line, or all of them: nothing is known of them, and the runs before say nothing of it.
#[test]
fn a_gate_passes_no_line_that_the_newest_run_lacks() {
    let after = |lacks: fn(&Cell) -> bool| {
        let knee = knee(6);
        let (run, mut cells) = made(7);
        cells.retain(|cell| !lacks(cell));
        knee.keep(&run, &cells, &run.summary.started);
        knee
    };
    let gated = |knee: &Knee, words: &[&str]| {
        let came = knee.run(&[&["history", "made", "--fail-above", "5%"], words].concat());
        (came.code, came.err)
    };
    assert_eq!(gated(&after(|_| false), &[]), (Some(0), String::new()));
    let narrower = after(|cell| cell.key.subject == "stepped");
    let (code, text) = gated(&narrower, &[]);
    let line = "run 7 (2026-11-07) has nothing of made: stepped at 10 things and 1 more, which run 6 (2026-11-06) measured";
    assert_eq!(code, Some(4), "{text}");
    assert!(text.contains(line), "{text}");
    assert_eq!(gated(&narrower, &["--subjects", "steady"]), (Some(0), String::new()));
    let (code, text) = gated(&after(|_| true), &[]);
    assert_eq!(code, Some(4), "{text}");
    assert!(text.contains("run 7 of made can't be read, or has no such figure"), "{text}");
}

/// What is open passes no gate: a line with too few runs, and a slowdown that one more run may confirm.
#[test]
fn a_gate_passes_no_line_that_is_open() {
    let gated = |runs: usize, change: fn(usize, &mut Vec<Cell>)| {
        let knee = Knee::new();
        for number in 2..=runs {
            let (run, mut cells) = made(number);
            change(number, &mut cells);
            knee.keep(&run, &cells, &run.summary.started);
        }
        let came = knee.run(&["history", "made", "--fail-on", "slower"]);
        (came.code, came.err)
    };
    let late = |number, cells: &mut Vec<Cell>| {
        cells.retain(|cell| number >= 5 || cell.key.subject == "steady" || cell.key.point == 10);
    };
    let wanted = "knee: can't pass (exit 4); too few runs to judge 1 of 4 lines\n";
    assert_eq!(gated(7, late), (Some(4), wanted.to_owned()));
    let slight = |number, cells: &mut Vec<Cell>| {
        let is_slower = |key: &model::CellKey| key.subject == "stepped" && key.point == 1_000;
        for cell in cells.iter_mut().filter(|cell| number >= 8 && is_slower(&cell.key)) {
            let samples = cell.metrics.iter_mut().flat_map(|metric| &mut metric.samples);
            samples.for_each(|sample| *sample *= 1.045 / 1.25);
        }
    };
    let (code, text) = gated(9, slight);
    assert_eq!(code, Some(4), "{text}");
    let line = "knee: can't pass (exit 4); made: stepped at 1,000 things is slower since run 7 (2026-11-08): ×1.0";
    assert!(text.starts_with(line) && text.contains("not certain enough to fail"), "{text}");
}

#[test]
fn a_gate_with_a_limit_fails_only_for_what_is_surely_above_it() {
    let above = |limit| knee(9).run(&["history", "made", "--fail-above", limit]).code;
    assert_eq!((above("5%"), above("90%")), (Some(3), Some(0)));
    let few = knee(3).run(&["history", "made", "--fail-above", "5%"]).code;
    assert_eq!(few, Some(4), "two runs of one machine are too few");
}

#[test]
fn runs_and_lines_can_be_chosen() {
    let knee = knee(14);
    let runs = |words: &[&str]| -> (usize, usize) {
        let words = [&["history", "made", "--json"], words].concat();
        let value: Value = serde_json::from_str(&knee.done(&words)).unwrap();
        let count = |key: &str| value[key].as_array().unwrap().len();
        (count("runs"), count("lines"))
    };
    assert_eq!(runs(&["--last", "5"]), (5, 4));
    assert_eq!(runs(&["--since", "2026-11-10"]), (5, 4));
    assert_eq!(runs(&["--label", "commit=9cf01cb"]), (7, 4));
    assert_eq!(runs(&["--label", "commit"]), (13, 4));
    assert_eq!(runs(&["--subjects", "stepped", "--points", "1k"]), (13, 1));
}

#[test]
fn missing_data_is_reported_with_a_remedy() {
    let knee = knee(2);
    let output = |words: &[&str]| {
        let came = knee.run(words);
        (came.code, came.err)
    };
    let expected =
        "knee: nothing recorded is called `mode`; `knee record list` shows what there is\n";
    assert_eq!(output(&["history", "mode"]), (Some(2), expected.into()));
    let expected = "knee: nothing of poll is recorded; `knee run poll` measures it\n";
    assert_eq!(output(&["history", "poll"]), (Some(5), expected.into()));
    let expected =
        "knee: no run of made is like that; `knee history made` shows all that there is\n";
    assert_eq!(output(&["history", "made", "--subjects", "none"]), (Some(2), expected.into()));
    let (code, text) = output(&["history", "made", "--since", "soon"]);
    assert_eq!(code, Some(2));
    assert!(text.contains("`soon` is not a day"), "{text}");
}
