//! `knee history --by`: kernels across, one run each.

use crate::common::Knee;
use fixtures::{cell, host, run, workload};
use serde_json::Value;

/// How rounds differ while nothing changes.
const ROUNDS: [f64; 9] = [0.99, 1.0, 1.012, 1.004, 0.997, 1.008, 0.995, 1.002, 0.999];

/// Keeps a run on this kernel, in which `stepped` takes `factor` times as long.
fn keep(knee: &Knee, number: usize, kernel: &str, factor: f64) {
    keep_on(knee, number, kernel, factor, &[]);
}

/// The same on a machine of which `further` facts are known.
fn keep_on(
    knee: &Knee,
    number: usize,
    kernel: &str,
    factor: f64,
    further: &[(&'static str, &'static str)],
) {
    let mut cells = Vec::new();
    for (round, noise) in (0..).zip(ROUNDS) {
        for (subject, factor) in [("steady", 1.0), ("stepped", factor)] {
            for point in [10, 1_000] {
                let level = 700.0 * factor * noise;
                let samples = [0.995, 1.0, 1.005].map(|also| level * also).to_vec();
                cells.push(cell("made", subject, point, round).samples("call", samples));
            }
        }
    }
    let made = workload("made")
        .question("Does it stay as it was?")
        .axis("things", "things")
        .time("call")
        .subjects(["steady", "stepped"]);
    let started = format!("2026-11-{number:02}T12:00:00+00:00");
    let mut facts = vec![("cpu.model", "A CPU"), ("cpu.count", "2"), ("kernel.release", kernel)];
    facts.extend(further);
    let (run, cells) = run(made)
        .id(&format!("{number:016x}"))
        .started(&started)
        .command("knee run made")
        .label("tree", &format!("t{number}"))
        .seed(number as u64)
        .host_before(host("2026-11-01T12:00:00+00:00", facts))
        .cells(cells)
        .begun();
    knee.keep(&run, &cells, &run.summary.started);
}

/// Four kernels, measured in no order; 6.1 twice, of which the later run counts.
fn knee() -> Knee {
    let knee = Knee::new();
    let runs = [
        ("6.12.9-amd64", 1.3),
        ("6.1.0-5-amd64", 9.0),
        ("5.10.0-3-amd64", 1.0),
        ("6.1.0-5-amd64", 1.0),
        ("6.2.0-1-amd64", 1.3),
    ];
    for (number, (kernel, factor)) in (1..).zip(runs) {
        keep(&knee, number, kernel, factor);
    }
    knee
}

#[test]
fn kernels_stand_in_their_order_and_the_step_that_is_significant_is_named() {
    let text = knee().done(&["history", "made", "--by", "kernel"]);
    let flat = text.split_whitespace().collect::<Vec<_>>().join(" ");
    for expected in [
        "made · 4 values of kernel, 5.10.0-3 to 6.12.9 · A CPU, 2 CPUs",
        "6.2.0-1 against 6.1.0-5: stepped is slower: ×1.30 (95 % CI 1.2",
        "series 5.10.0-3 6.1.0-5 6.2.0-1 6.12.9 steady 1 ×1.00 ?",
        "series first to last steady ×1.00 ?",
        "2 series: ▲ 1 slower, ▼ 0 faster",
        "The runs were measured one after the other",
        "Run 2 is left out: a later run has the same kernel",
    ] {
        assert!(flat.contains(expected), "{expected}\n{text}");
    }
    assert_eq!(flat.matches(" is slower: ").count(), 2, "one step, and the whole: {text}");
}

#[test]
fn json_and_page_have_the_same_steps() {
    let knee = knee();
    let page = knee.directory.path().join("kernels.html");
    let words = ["history", "made", "--by", "kernel", "--json", "-o", &page.display().to_string()];
    let value: Value = serde_json::from_str(&knee.done(&words)).unwrap();
    let values: Vec<&str> = value["across"]["values"]
        .as_array()
        .unwrap()
        .iter()
        .map(|value| value.as_str().unwrap())
        .collect();
    assert_eq!(values, ["5.10.0-3-amd64", "6.1.0-5-amd64", "6.2.0-1-amd64", "6.12.9-amd64"]);
    let stepped = &value["tables"][0]["rows"][1];
    assert_eq!(stepped["subject"], "stepped");
    let of_whole = stepped["overall"].as_array().unwrap().iter();
    let verdicts: Vec<_> = of_whole.map(|cell| cell["ratio"]["verdict"].as_str()).collect();
    assert_eq!(verdicts.len(), 5, "a run for each value, and the first to the last");
    assert_eq!([verdicts[0], verdicts[2], verdicts[4]], [None, Some("slower"), Some("slower")]);
    assert_ne!(verdicts[1], Some("slower"));
    let medians = stepped["cells"][0].as_array().unwrap().iter();
    assert_eq!(medians.filter(|cell| cell["median"]["value"].is_f64()).count(), 4);
    let sentence = value["comparisons"][1]["changes"][0]["sentence"].as_str().unwrap();
    let page = std::fs::read_to_string(page).unwrap();
    assert!(page.starts_with("<!DOCTYPE html>") && page.contains(sentence), "{sentence}");
    let slower = page.matches("<td class=\"number slower\"").count();
    assert_eq!(slower, 2 * 3, "the series and its points, in the step and from first to last");
}

#[test]
fn figures_of_emulated_kernels_are_ratios_only() {
    let knee = Knee::new();
    for (number, kernel) in (1..).zip(["5.10.0-3", "6.1.0-5"]) {
        keep_on(&knee, number, kernel, 1.0, &[(model::ACCELERATOR, model::EMULATOR)]);
    }
    let page = knee.directory.path().join("kernels.html");
    let path = page.display().to_string();
    let text = knee.done(&["history", "made", "--by", "kernel", "-o", &path]);
    let flat = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let note = "QEMU emulated these machines: only the ratios between them mean something.";
    assert!(flat.contains(note), "{text}");
    assert!(std::fs::read_to_string(page).unwrap().contains(note));
}

#[test]
fn what_is_no_version_stays_in_the_order_of_time() {
    let value: Value =
        serde_json::from_str(&knee().done(&["history", "made", "--by", "tree", "--json"])).unwrap();
    assert_eq!(value["across"]["values"], serde_json::json!(["t1", "t2", "t3", "t4", "t5"]));
}

#[test]
fn one_kernel_has_no_step_and_an_unknown_fact_is_refused() {
    let knee = Knee::new();
    keep(&knee, 1, "6.1.0", 1.0);
    let text = knee.done(&["history", "made", "--by", "kernel"]);
    assert!(text.contains("There is nothing to compare"), "{text}");
    let came = knee.run(&["history", "made", "--by", "colour"]);
    assert_eq!(came.code, Some(2));
    assert!(
        came.err.starts_with("knee: --by colour: no run of made has such a label or fact"),
        "{came:?}"
    );
    let came = knee.run(&["history", "made", "--by", "kernel", "--fail-on", "slower"]);
    assert_eq!(came.code, Some(2), "{came:?}");
}
