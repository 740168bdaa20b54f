//! Averages: the table that kernbench printed, and every run as a dot beneath it.

use crate::page::{BUILDS, Page, Runs, with};
use analysis::Averages;
use serde_json::json;

fn averages() -> &'static [Averages] {
    &BUILDS[0].1.analysis.averages
}

/// The rows of the n-th table of averages, cell by cell.
fn rows(page: &mut Page, number: usize) -> Vec<Vec<String>> {
    page.get(&format!(
        "[...document.querySelectorAll('.averages')[{number}].querySelectorAll('table.figures tr')]
            .map((row) => [...row.children].map((one) => one.innerText.trim()))"
    ))
}

#[test]
fn each_number_of_cpus_has_a_table_with_the_rows_of_kernbench() {
    with(&BUILDS, |page| {
        let [first, second] = [rows(page, 0), rows(page, 1)];
        let labels: Vec<&str> = second[1..].iter().map(|row| row[0].as_str()).collect();
        let wanted = ["Elapsed Time, s", "User Time, s", "System Time, s", "Percent CPU"];
        assert_eq!(labels[..4], wanted);
        assert_eq!(labels[4..], ["Context Switches", "Sleeps"]);
        assert_eq!(second[0], ["", "half -j 3", "optimal -j 8", "maximal -j"]);
        assert_eq!(first[1][3], "aborted after 30 min");
        assert!(first[2..].iter().all(|row| row[3] == "–"), "{first:?}");
        let average = averages()[1].rows[0].figures[0].as_ref().expect("figures");
        let (mean, deviation) = (average.mean / 1e9, average.deviation.expect("a deviation") / 1e9);
        assert_eq!(second[1][1], format!("{mean:.2} ({deviation:.2})"));
        let beneath: String = page.get("document.querySelector('.averages .notes').innerText");
        assert!(
            beneath.contains("maximal: aborted after 30 min: make (waits), cc1 ×4 (running)"),
            "{beneath}"
        );
    });
}

#[test]
fn every_run_is_a_dot_at_its_place_with_or_without_a_script() {
    let runs: &Runs = &BUILDS;
    with(runs, |page| {
        page.call("Emulation.setScriptExecutionDisabled", &json!({ "value": true }));
        page.reload();
        for (number, averages_table) in averages().iter().enumerate() {
            let figures =
                || averages_table.rows.iter().flat_map(|row| row.figures.iter().flatten());
            let dots: Vec<f64> = page.get(&format!(
                "[...document.querySelectorAll('.averages')[{number}].querySelectorAll('.strip circle')]
                    .map((dot) => {{ const box = dot.getBoundingClientRect(); return box.left + box.width / 2; }})"
            ));
            let samples: Vec<f64> =
                figures().flat_map(|averages_table| averages_table.samples.clone()).collect();
            assert_eq!(dots.len(), samples.len());
            // Within a strip, a longer run lies further right, by as much as it took longer.
            let mut from = 0;
            for average in figures() {
                let to = from + average.samples.len();
                let (seen, meant) = (&dots[from..to], &average.samples);
                let scale = (seen[0] - seen[1]) / (meant[0] - meant[1]);
                assert!(scale > 0.0, "{seen:?} {meant:?}");
                for (dot, sample) in seen.iter().zip(meant) {
                    let off = dot - seen[0] - (sample - meant[0]) * scale;
                    assert!(off.abs() < 1.5, "{off} pixels off: {seen:?} {meant:?}");
                }
                from = to;
            }
        }
    });
}

#[test]
fn the_single_runs_stand_in_figures_too() {
    with(&BUILDS, |page| {
        page.evaluate(
            "document.querySelectorAll('details').forEach((one) => { one.open = true; })",
        );
        let cells: Vec<String> = page.get(
            "[...document.querySelectorAll('.averages')[1].querySelectorAll('.singles tbody tr')]
                .map((row) => row.innerText)",
        );
        // Six figures of three loads.
        assert_eq!(cells.len(), 18);
        assert!(cells[2].contains("maximal -j") && cells[2].trim_end().ends_with('–'), "{cells:?}");
        // A build has no medians; how a build scales is drawn.
        let [views, plots]: [usize; 2] = page.get(
            "[document.querySelectorAll('.view').length, document.querySelectorAll('figure.plot').length]",
        );
        assert_eq!((views, plots), (0, 1));
    });
}
