//! Threads as multiples of CPUs, percentiles of waiting times, and a prediction laid over a measurement.

use crate::input::{Held, Spot};
use crate::page::{LOCKS, LOCKS_MODEL, Page, with, with_made};
use analysis::{Distribution, Table};
use serde_json::json;

/// The table of the waiting times, and how those of one lock are distributed.
fn waiting() -> &'static Table {
    let tables = &LOCKS[0].1.analysis.tables;
    tables.iter().find(|table| table.metric.name == "waiting").expect("waiting times")
}

fn distribution(subject: &str, point: u64) -> &'static Distribution {
    let all = &waiting().distributions;
    let match_found = all.iter().find(|entry| entry.subject == subject && entry.point == point);
    match_found.expect("a distribution")
}

fn written(page: &mut Page) -> Vec<String> {
    page.get("probe.written().map((one) => one.text)")
}

/// What the second plot of the page reads out.
fn read_out(page: &mut Page) -> String {
    page.get("document.querySelector('.waits .readout').textContent")
}

#[test]
fn points_have_multiples_and_one_thread_per_cpu_is_marked() {
    with(&LOCKS, |page| {
        let heads: Vec<String> = page.get(
            "[...document.querySelector('.view').querySelectorAll('thead th.number')].map((one) => one.innerText.replace(/\\s+/g, ' '))",
        );
        assert_eq!(heads[..3], ["1 0.5 per CPU", "2 1 per CPU", "4 2 per CPU"]);
        assert!(written(page).iter().any(|text| text == "1 per CPU"));
        let markers = page.markers();
        let at = markers.iter().find(|at| (at.subject.as_str(), at.point) == ("mcs", 4));
        let at = at.expect("mcs at 4");
        page.move_to(Spot { x: at.x, y: at.y });
        page.settle();
        let read_out_text = page.read_out();
        assert!(read_out_text.starts_with("mcs at 4 (2 per CPU): rank "), "{read_out_text}");
        assert!(read_out_text.contains(" of 7, median "), "{read_out_text}");
        let title: String = page.get(
            "[...document.querySelectorAll('.view tbody tr')].find((one) => one.innerText.startsWith('mcs'))
                .querySelectorAll('td')[2].title",
        );
        assert!(title.starts_with("rank ") && title.contains(" behind byte-block"), "{title}");
    });
}

#[test]
fn what_did_not_finish_is_marked_and_a_control_is_trusted_and_has_no_row() {
    with(&LOCKS, |page| {
        let marked: Vec<String> = page.get("probe.plot(0).marked");
        let read_out_text = "ticket did not finish within 10 s at 32 threads (16 per CPU)";
        assert!(marked.iter().any(|mark| mark == read_out_text), "{marked:?}");
        let text: String = page.get("document.body.innerText");
        assert!(text.contains("the control broken failed as it must"), "{text}");
        let rows: Vec<String> = page.get(
            "[...document.querySelectorAll('tbody th, .caveats li, [data-subject]')].map((one) => one.textContent)",
        );
        assert!(rows.iter().any(|row| row == "ticket"), "{rows:?}");
        assert!(!rows.iter().any(|row| row.contains("broken")), "{rows:?}");
    });
}

#[test]
fn percentiles_stand_on_a_scale_of_nines_and_are_read_out_by_the_keyboard() {
    with(&LOCKS, |page| {
        let ticks: Vec<String> = page.get(
            "(() => { const plot = probe.plot(1); const { x0, x1 } = plot.view;
                return plot.scales.x.ticks(x0, x1, 6).filter((tick) => tick.labelled)
                    .map((tick) => plot.labelAcross(tick)); })()",
        );
        assert!(
            ["0 %", "90 %", "99 %", "99.9 %"]
                .iter()
                .all(|tick| ticks.contains(&(*tick).to_owned())),
            "{ticks:?}"
        );
        // Each nine is as far as the one before.
        let lines: Vec<f64> =
            page.get("[1, 10, 100, 1000].map((x) => probe.plot(1).acrossValue(x))");
        let steps: Vec<f64> = lines.windows(2).map(|pair| pair[1] - pair[0]).collect();
        assert!((steps[0] - steps[2]).abs() < 0.5 && steps[0] > 20.0, "{lines:?}");
        // It begins where there are more threads than CPUs.
        let shown: String = page.get("probe.plot(1).shownView.parameters");
        assert_eq!(shown, "4 threads (2 per CPU)");
        page.evaluate("document.querySelectorAll('.stage')[1].focus()");
        page.key("End", Held::Nothing);
        page.settle();
        let expected = distribution("byte", 4);
        let text = read_out(page);
        let max = page.get::<String>(&format!("quantity({}, 'ns')", expected.max));
        assert!(text.starts_with("byte at 99.99 %: "), "{text}");
        assert!(text.contains(&format!("at most {max}")), "{text}: {max}");
        assert!(text.ends_with("operations 10,000"), "{text}");
        // The line at one half is the median of all operations.
        let half: f64 = page.get(
            "probe.plot(1).series.find((one) => one.label === 'byte').points.find((p) => p.x === 2).median",
        );
        assert!((half / expected.p50 - 1.0).abs() < 0.01, "{half} is not {}", expected.p50);
    });
}

#[test]
fn a_number_of_threads_is_chosen_with_its_table_and_lines_are_isolated() {
    with(&LOCKS, |page| {
        let tables = |page: &mut Page| -> Vec<String> {
            page.get(
                "[...document.querySelectorAll('.waits caption')].filter((one) => one.checkVisibility())
                    .map((one) => one.textContent)",
            )
        };
        assert_eq!(tables(page).len(), 1);
        page.choose("threads", "32 threads");
        let captions = tables(page);
        assert!(
            captions.len() == 1 && captions[0].contains("at 32 threads (16 per CPU)"),
            "{captions:?}"
        );
        let drawn = |page: &mut Page| -> Vec<String> {
            page.get("probe.plot(1).drawn.map((series) => series.label)")
        };
        let before = drawn(page);
        assert!(before.contains(&"mcs".to_owned()) && !before.contains(&"ticket".to_owned()));
        page.press("document.querySelector('.waits button[data-subject=\"mcs\"]')", Held::Nothing);
        assert_eq!(drawn(page), ["mcs"]);
        // The plot above is another one.
        let above: Vec<String> = page.drawn();
        assert!(above.len() > 1, "{above:?}");
        // Another metric at the same number of threads.
        page.evaluate(
            "(() => { const select = document.querySelector('.waits select');
                select.value = 1; select.dispatchEvent(new Event('change', { bubbles: true })); })()",
        );
        page.settle();
        let captions = tables(page);
        assert!(
            captions.len() == 1 && captions[0].starts_with("hand-over at 32 threads"),
            "{captions:?}"
        );
        page.press("document.querySelector('.waits .all-tables')", Held::Nothing);
        assert_eq!(tables(page).len(), 12);
    });
}

#[test]
fn without_a_script_every_table_of_waiting_times_is_there() {
    with(&LOCKS, |page| {
        page.call("Emulation.setScriptExecutionDisabled", &json!({ "value": true }));
        page.reload();
        let heads: usize = page
            .get("[...document.querySelectorAll('.waits caption')].filter((one) => one.checkVisibility()).length");
        assert_eq!(heads, 12);
    });
}

#[test]
fn a_prediction_is_named_dashed_and_announced() {
    with(&LOCKS_MODEL, |page| {
        let banner: String = page.get("document.querySelector('.model').innerText");
        assert!(banner.starts_with("A model's prediction next to a measurement."), "{banner}");
        let runs: Vec<String> = page.get(
            "[...document.querySelector('.plot').querySelectorAll('[data-run]')].map((one) => one.innerText.trim())",
        );
        assert!(runs[0].starts_with("measured, run 14"), "{runs:?}");
        assert!(runs[1].starts_with("predicted (model), run 15"), "{runs:?}");
        // In each frame solid lines are measured ones, dashed ones are predicted.
        let dashes: Vec<(String, usize)> = page.get(
            "(() => {
                const plot = probe.plot(0);
                const { context } = plot;
                const found = [];
                const own = Frame.prototype.medians;
                Frame.prototype.medians = function (series, count) {
                    context.setLineDash = (dash) => {
                        found.length && found.at(-1)[0] === plot.nameOf(series) || found.push([plot.nameOf(series), dash.length]);
                    };
                    own.call(this, series, count);
                    delete context.setLineDash;
                };
                plot.draw();
                Frame.prototype.medians = own;
                return found;
            })()",
        );
        assert_eq!(dashes.len(), 11, "seven measured and four predicted: {dashes:?}");
        for (name, dash) in &dashes {
            assert_eq!(*dash > 0, name.ends_with(", predicted (model)"), "{name}");
            assert!(*dash > 0 || name.ends_with(", measured"), "{name}");
        }
    });
}

#[test]
fn a_page_of_predictions_alone_says_that_nothing_was_measured() {
    let mut runs = LOCKS_MODEL.clone();
    runs.remove(0);
    with_made(&runs, |page| {
        let banner: String = page.get("document.querySelector('.model').innerText");
        assert!(banner.starts_with("A model, not a measurement."), "{banner}");
        let machine: String = page.get("document.querySelector('#machine p').innerText");
        assert!(
            machine.starts_with("None: the figures are those of a model of 2 CPUs."),
            "{machine}"
        );
        let dash: u32 = page.get("probe.plot(0).dashOf(0)");
        assert!(dash > 0);
    });
    with(&LOCKS, |page| {
        let banners: usize = page.get("document.querySelectorAll('.model').length");
        assert_eq!(banners, 0);
    });
}
