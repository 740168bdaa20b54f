//! Every series and every sample of the record is drawn, where it belongs.

use crate::input::Held;
use crate::page::{ALIKE, CALLS, DEAD, LOCKS, ONE, Page, Place, TWO, figures, table, with};
use analysis::Table;
use model::Run;
use serde::Deserialize;
use std::collections::BTreeSet;

/// What the plot counted of one series in the loops that draw it.
#[derive(Debug, Deserialize)]
struct Drawn {
    label: String,
    samples: usize,
    outside: usize,
    medians: usize,
    intervals: usize,
}

#[test]
fn every_sample_of_every_series_is_drawn_in_every_view() {
    with(&ONE, |page| {
        let (run, conclusions) = &ONE[0];
        assert_eq!(conclusions.analysis.tables.len(), 12);
        for table in &conclusions.analysis.tables {
            page.choose("Metric", &table.metric.name);
            page.choose("Parameters", &format!("{} active", table.parameters["active"]));
            let mismatches = undrawn(page, run, table);
            assert!(mismatches.is_empty(), "{mismatches:#?}");
        }
    });
}

#[test]
fn each_series_alone_paints_samples_and_markers_in_its_own_colour() {
    with(&ONE, |page| {
        let subjects: Vec<String> = page.get("probe.plot(0).data.subjects");
        assert_eq!(subjects.len(), 13);
        page.evaluate("probe.none()");
        let bare: Vec<Pixels> =
            page.get("probe.plot(0).data.subjects.map((_, index) => probe.pixels(index))");
        for (index, subject) in subjects.iter().enumerate() {
            page.evaluate(&format!("probe.only('{subject}')"));
            assert_eq!(page.drawn().as_slice(), std::slice::from_ref(subject));
            let series: Pixels = page.get(&format!("probe.pixels({index})"));
            // Seven markers with a line between them; 100 samples at each of them.
            let exact = series.exact.saturating_sub(bare[index].exact);
            let between = series.between.saturating_sub(bare[index].between);
            assert!(exact > 150 && between > 1_000, "{subject}: {exact} and {between} pixels");
            let wrong: Vec<serde_json::Value> =
                page.get("probe.markers().filter((one) => one.found !== one.wanted)");
            assert!(wrong.is_empty(), "{subject}: {wrong:?}");
        }
    });
}

/// Pixels of a colour, and such between it and the paper.
#[derive(Debug, Deserialize)]
struct Pixels {
    exact: usize,
    between: usize,
}

#[test]
fn points_stand_where_their_figures_put_them() {
    with(&ONE, |page| {
        let (_, conclusions) = &ONE[0];
        let loops = table(conclusions, "loop", "1");
        straight(&page.markers(), loops, f64::log10);
        for axis in ["log across", "log up"] {
            page.press(&format!("probe.button('{axis}')"), Held::Nothing);
        }
        straight(&page.markers(), loops, |value| value);
        for axis in ["log up", "log across"] {
            page.press(&format!("probe.button('{axis}')"), Held::Nothing);
        }
        straight(&page.markers(), loops, f64::log10);
    });
}

/// A text on the canvas, and where it ends.
#[derive(Debug, Deserialize)]
struct Written {
    text: String,
    left: f64,
    right: f64,
}

/// What a canvas says in letters can only be seen; here it is heard by listening to the brush.
fn written(page: &mut Page) -> Vec<Written> {
    page.get("probe.written()")
}

#[test]
fn ticks_and_names_are_readable_figures() {
    with(&ONE, |page| {
        let texts: Vec<String> = written(page).into_iter().map(|text| text.text).collect();
        for wanted in ["10", "1,000", "10,000", "10 µs", "1 ms", "watched descriptors", "poll"] {
            assert!(texts.iter().any(|text| text == wanted), "{wanted} is not in {texts:?}");
        }
        let names = texts.iter().filter(|text| page_subjects().contains(text.as_str())).count();
        assert_eq!(names, 13, "{texts:?}");
    });
}

#[test]
fn no_letter_of_the_plot_is_cut_off() {
    for runs in [&*ONE, &*TWO] {
        with(runs, |page| {
            for width in [1280, 820, 390] {
                page.resize(width, 800);
                page.settle();
                let edge: f64 = page.get("probe.plot(0).width");
                let cut =
                    written(page).into_iter().filter(|text| text.left < 0.0 || text.right > edge);
                let cut: Vec<Written> = cut.collect();
                assert!(cut.is_empty(), "{width} pixels: {cut:?}");
            }
        });
    }
}

/// A name in the plot: whose it is, and where it stands on the canvas.
#[derive(Debug, Deserialize)]
struct Label {
    name: String,
    /// Left, right, top, bottom.
    edges: [f64; 4],
    /// How far down the line of its series ends.
    line: f64,
}

fn labels(page: &mut Page) -> Vec<Label> {
    page.get(
        "(() => { const plot = probe.plot(0);
            return plot.labels.map(({ series, left, right, top, bottom }) => ({
                name: plot.nameOf(series), edges: [left, right, top, bottom],
                line: plot.downValue(series.points.at(-1).median) })); })()",
    )
}

/// Names that lie over the lines, over each other, or outside the canvas.
fn misplaced(labels: &[Label], page: &mut Page) -> Vec<String> {
    let [axes, width, height]: [f64; 3] = page.get(
        "(() => { const { box, width, height } = probe.plot(0); return [box.left + box.width, width, height]; })()",
    );
    let mut misplaced = Vec::new();
    for (index, Label { name, edges: [left, right, top, bottom], .. }) in labels.iter().enumerate()
    {
        if *left < axes || *right > width || *top < 0.0 || *bottom > height {
            misplaced.push(format!("{name} lies over the lines or outside the canvas"));
        }
        for below in &labels[index + 1..] {
            let [from, to, upper, lower] = below.edges;
            if from < *right && *left < to && upper < bottom - 0.01 && top + 0.01 < lower {
                misplaced.push(format!("{name} lies over {}", below.name));
            }
        }
    }
    misplaced
}

#[test]
fn names_of_lines_that_lie_on_each_other_stand_apart_in_the_order_of_the_lines() {
    for runs in [&*ALIKE, &*ONE, &*TWO] {
        with(runs, |page| {
            for width in [1280, 1000, 820] {
                page.resize(width, 800);
                page.settle();
                let names = labels(page);
                assert_eq!(names.len(), page.drawn().len(), "{width} pixels");
                let misplaced = misplaced(&names, page);
                assert!(misplaced.is_empty(), "{width} pixels: {misplaced:#?}");
                // Leaders that cross would lead astray.
                let order: Vec<f64> = names.iter().map(|label| label.line).collect();
                assert!(order.is_sorted(), "{names:#?}");
            }
        });
    }
}

#[test]
fn more_names_than_lines_of_text_share_lines_and_count_those_left_out() {
    with(&ALIKE, |page| {
        page.evaluate(
            "(() => { const plot = probe.plot(0);
                const more = [1, 2, 3].flatMap((turn) => plot.series.map((series) =>
                    ({ ...series, label: `${series.label} ${turn}` })));
                plot.series = [...plot.series, ...more];
                plot.draw(); })()",
        );
        let names = labels(page);
        let misplaced = misplaced(&names, page);
        assert!(misplaced.is_empty(), "{misplaced:#?}");
        let rest = written(page)
            .into_iter()
            .filter_map(|text| text.text.strip_prefix("+ ")?.parse::<usize>().ok());
        assert_eq!(names.len() + rest.sum::<usize>(), 52);
    });
}

#[test]
fn the_axis_across_ends_at_the_data() {
    for runs in [&*ONE, &*DEAD, &*CALLS, &*LOCKS] {
        with(runs, |page| {
            let [first, last, from, to, x0, x1]: [f64; 6] = page.get(
                "(() => { const plot = probe.plot(0);
                    const { x } = plot.scales;
                    const ticks = [];
                    const line = Frame.prototype.line;
                    Frame.prototype.line = function (from, to, tick) {
                        if (from[0] === to[0]) ticks.push(tick.position);
                        line.call(this, from, to, tick);
                    };
                    plot.draw();
                    Frame.prototype.line = line;
                    const points = plot.series.flatMap((series) => [...series.points.map((point) => point.x), ...series.samples.x]);
                    const ends = [Math.min, Math.max].map((end) => x.position(points.reduce((a, b) => end(a, b))));
                    return [Math.min(...ticks), Math.max(...ticks), ...ends, plot.view.x0, plot.view.x1]; })()",
            );
            assert!(
                first >= from - 1e-6 && last <= to + 1e-6,
                "{first} to {last}, not {from} to {to}"
            );
            // Markers and samples of the first and the last point need a margin, and no more.
            let margin = 0.04 * (to - from);
            assert!(from - x0 < margin && x1 - to < margin, "{x0} to {x1}, not {from} to {to}");
        });
    }
}

/// The subjects with figures.
fn page_subjects() -> BTreeSet<&'static str> {
    let loops = table(&ONE[0].1, "loop", "1");
    let rows = loops.rows.iter().filter(|row| row.cells.iter().any(Option::is_some));
    rows.map(|row| row.label.as_str()).collect()
}

/// Where the last frame falls short of the record.
pub fn undrawn(page: &mut Page, run: &Run, table: &Table) -> Vec<String> {
    let drawn: Vec<Drawn> = page.get("probe.plot(0).drawn");
    let mut mismatches = Vec::new();
    let rows: Vec<_> =
        table.rows.iter().filter(|row| row.cells.iter().any(Option::is_some)).collect();
    if drawn.len() != rows.len() {
        mismatches.push(format!("{} series drawn of {}", drawn.len(), rows.len()));
    }
    for row in rows {
        let cells = run.cells.iter().filter(|cell| {
            cell.key.subject == row.subject && cell.key.parameters == table.parameters
        });
        let metrics = cells.flat_map(|cell| &cell.metrics).filter(|m| m.name == table.metric.name);
        let samples: usize = metrics.map(|metric| metric.samples.len()).sum();
        let points = row.cells.iter().flatten().count();
        let Some(series) = drawn.iter().find(|series| series.label == row.label) else {
            mismatches.push(format!("{} is not drawn", row.label));
            continue;
        };
        let counts = (series.samples, series.outside, series.medians, series.intervals);
        if counts != (samples, 0, points, points) {
            mismatches.push(format!("{samples} samples at {points} points, but {series:?}"));
        }
    }
    let count_text: String = page.get("document.querySelector('.count').textContent");
    let sum: usize = drawn.iter().map(|series| series.samples).sum();
    if count_text.replace(',', "") != format!("{sum} samples drawn behind the medians.") {
        mismatches.push(format!("the page says {count_text:?} of {sum} samples"));
    }
    mismatches
}

/// Holds that places lie on one straight scale of the points, and one of the medians.
fn straight(markers: &[Place], table: &Table, scale: impl Fn(f64) -> f64) {
    let across = |marker: &Place| (scale(marker.point as f64), marker.x);
    let up = |marker: &Place| {
        (scale(figures(table, &marker.subject, marker.point).median.value), marker.y)
    };
    for pairs in
        [markers.iter().map(across).collect::<Vec<_>>(), markers.iter().map(up).collect::<Vec<_>>()]
    {
        let by_value = |a: &&(f64, f64), b: &&(f64, f64)| a.0.total_cmp(&b.0);
        let min = pairs.iter().min_by(by_value).expect("a point");
        let max = pairs.iter().max_by(by_value).expect("a point");
        let slope = (max.1 - min.1) / (max.0 - min.0);
        assert!((max.1 - min.1).abs() > 50.0, "{min:?} to {max:?}");
        for (value, at) in &pairs {
            let wanted = min.1 + (value - min.0) * slope;
            assert!((at - wanted).abs() < 0.5, "{value} stands at {at}, not at {wanted}");
        }
    }
}
