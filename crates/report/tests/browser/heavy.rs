//! Many samples, and several runs over each other.

use crate::fixture::realistic;
use crate::input::{Held, Spot};
use crate::page::{Runs, TWO, figures, table, with, with_made};
use std::io::{self, Write};

#[test]
fn more_than_a_hundred_thousand_samples_are_drawn_and_panned() {
    let runs: Runs = vec![realistic(260)];
    with_made(&runs, |page| {
        let drawn: usize =
            page.get("probe.plot(0).drawn.reduce((sum, series) => sum + series.samples, 0)");
        assert!(drawn > 100_000, "{drawn} samples");
        let before = page.view();
        let (from, to) = (page.inside(0.5, 0.5), page.inside(0.4, 0.5));
        page.drag(from, to, Held::Shift);
        page.settle();
        assert!(page.view()[0] > before[0]);
        let mut frames: Vec<f64> = page.get(
            "(() => { const plot = probe.plot(0);
                return Array.from({ length: 15 }, (_, index) => {
                    plot.pan(index % 2 ? 5 : -5, 0);
                    const begun = performance.now();
                    plot.draw();
                    return performance.now() - begun;
                }); })()",
        );
        frames.sort_unstable_by(f64::total_cmp);
        let report = format!(
            "{drawn} samples: {:.1} ms a frame (median of 15, longest {:.1} ms)\n",
            frames[7], frames[14]
        );
        // A figure to know, not to pass or fail by: the machine decides it.
        let _ = io::stderr().write_all(report.as_bytes());
    });
}

#[test]
fn two_runs_lie_over_each_other_and_each_reads_out_its_own_figures() {
    with(&TWO, |page| {
        assert_eq!(page.drawn().len(), 26);
        page.evaluate("probe.only('poll')");
        assert_eq!(page.drawn(), ["poll", "poll"]);
        for marker in page.markers() {
            let loops = table(&TWO[marker.run].1, "loop", "1");
            let median = figures(loops, "poll", marker.point).median.value;
            page.move_to(Spot { x: marker.x, y: marker.y });
            let [shown, run]: [f64; 2] =
                page.get("[probe.plot(0).reading.median, probe.plot(0).reading.run]");
            assert!((shown / median - 1.0).abs() < 1e-5, "{marker:?}: {shown} is not {median}");
            assert!((run - marker.run as f64).abs() < 0.1, "{marker:?}: {run}");
            let named = format!("poll, run {} on bench-7 at ", 7 + marker.run);
            assert!(page.read_out().starts_with(&named), "{}", page.read_out());
        }
    });
}

#[test]
fn each_runs_tables_and_findings_stand_under_its_name() {
    with(&TWO, |page| {
        let text: String = page.get("document.body.innerText");
        for (run, conclusions) in TWO.iter() {
            let name = format!("run {} on bench-7", run.summary.number);
            assert!(text.contains(&name), "{name}");
            for finding in conclusions.findings.iter().filter(|finding| finding.headline) {
                let sentence = finding.text().to_string();
                assert!(text.contains(&sentence), "{sentence}");
            }
        }
    });
}
