//! An axis that begins at zero, a rate that collapses on it, and bytes.

use crate::input::{Held, Spot};
use crate::page::{DEAD, Page, with};
use analysis::Rate;
use findings::format;

/// The rates that collapse in the view that is shown first, by their subjects.
fn collapsed() -> Vec<(&'static str, &'static Rate)> {
    let rows = DEAD[0].1.analysis.tables[0].rows.iter();
    let rates = rows.filter_map(|row| Some((row.label.as_str(), row.rate.as_ref()?)));
    rates.filter(|(_, rate)| rate.halved.is_some()).collect()
}

fn sentence((subject, rate): &(&str, &Rate)) -> String {
    let at = rate.halved.as_ref().map_or(f64::NAN, |halved| halved.at.value);
    format!("{subject} halved at {}", format::position(at))
}

fn written(page: &mut Page) -> Vec<String> {
    page.get("probe.written().map((one) => one.text)")
}

#[test]
fn zero_stands_at_the_left_of_a_broken_axis() {
    with(&DEAD, |page| {
        let markers = page.markers();
        let at =
            |point: u64| markers.iter().find(|marker| marker.point == point).map(|marker| marker.x);
        let across: Vec<f64> = [0, 50, 100, 1_000, 15_000].into_iter().filter_map(at).collect();
        assert!(across.len() == 5 && across.is_sorted(), "{across:?}");
        // Half a decade before the first: as far as from 50 to 158.
        let decade = (across[3] - across[2]).abs();
        assert!(((across[1] - across[0]) / decade - 0.5).abs() < 0.01, "{across:?}");
        let [crack, ticks]: [Vec<f64>; 2] = page.get(
            "(() => {
                const { x } = probe.plot(0).scales;
                const { x0, x1 } = probe.plot(0).view;
                return [[x.crack, x.floor, x.least], x.ticks(x0, x1, 9).map((tick) => tick.value)];
            })()",
        );
        assert!(crack[1] < crack[0] && crack[0] < crack[2], "{crack:?}");
        assert!(ticks.contains(&0.0), "{ticks:?}");
        assert!(ticks.iter().all(|tick| *tick <= 0.0 || *tick >= 49.0), "{ticks:?}");
        assert!(written(page).iter().any(|text| text == "0"));
        // Between the two the axis is even: a quarter of the way to 50 is a quarter of the way.
        let quarter: f64 =
            page.get("probe.plot(0).scales.x.position(12.5) - probe.plot(0).scales.x.floor");
        assert!((quarter - 0.125).abs() < 1e-6, "{quarter}");
        page.press("probe.button('log across')", Held::Nothing);
        let linear: f64 = page.get("probe.plot(0).scales.x.position(0)");
        assert!(linear.abs() < 1e-9);
        let crack: bool = page.get("probe.plot(0).scales.x.crack === undefined");
        assert!(crack);
    });
}

#[test]
fn the_figures_at_zero_are_read_out_under_the_mouse_and_by_the_keyboard() {
    with(&DEAD, |page| {
        page.evaluate("document.querySelector('.stage').focus()");
        page.key("ArrowRight", Held::Nothing);
        page.settle();
        let text = page.read_out();
        assert!(
            text.starts_with("select at 0: median 9") && text.contains(" k replies/s"),
            "{text}"
        );
        page.key("ArrowRight", Held::Nothing);
        assert!(page.read_out().starts_with("select at 50: "), "{}", page.read_out());
        let markers = page.markers();
        let zero =
            markers.iter().find(|marker| (marker.subject.as_str(), marker.point) == ("poll", 0));
        let zero = zero.expect("poll at 0");
        page.move_to(Spot { x: zero.x, y: zero.y });
        page.settle();
        assert!(page.read_out().contains(" at 0: median 9"), "{}", page.read_out());
    });
}

#[test]
fn where_a_rate_has_halved_is_marked_listed_and_read_out() {
    with(&DEAD, |page| {
        let collapsed = collapsed();
        let wanted: Vec<String> = collapsed.iter().map(sentence).collect();
        assert_eq!(wanted.len(), 2, "{wanted:?}");
        let [marked, listed]: [Vec<String>; 2] = page.get(
            "[probe.plot(0).marked, [...document.querySelectorAll('.marks li')]
                .filter((one) => one.checkVisibility()).map((one) => one.textContent)]",
        );
        assert_eq!(marked, wanted);
        assert!(
            listed
                .iter()
                .zip(&wanted)
                .all(|(text, wanted)| text.starts_with(&format!("{wanted} · 95 % CI "))),
            "{listed:?}"
        );
        page.evaluate("document.querySelector('.stage').focus()");
        for (text, (_, rate)) in wanted.iter().zip(&collapsed) {
            page.key("m", Held::Nothing);
            page.settle();
            let read = page.read_out();
            let left = format!("left at 15,000 {} of that at 0", format::factor(rate.factor.value));
            assert!(read.starts_with(text) && read.contains(&left), "{read}");
        }
        // The mark lies on its line, and goes with its subject.
        let off: Vec<f64> = page.get(
            "probe.plot(0).marks.map((mark) => {
                const plot = probe.plot(0);
                const pixel = plot.pixelOf(mark);
                return Math.abs(plot.downOnLine(plot.seriesOf(mark)[0], pixel.across) - pixel.down);
            })",
        );
        assert!(off.iter().all(|pixels| *pixels < 1.0), "{off:?}");
        page.press("document.querySelector('button[data-subject=\"poll\"]')", Held::Nothing);
        let marked: Vec<String> = page.get("probe.plot(0).marked");
        assert_eq!(marked.len(), 1, "{marked:?}");
        assert!(wanted.contains(&marked[0]) && marked[0].starts_with("poll "), "{marked:?}");
    });
}

#[test]
fn tables_and_findings_say_what_collapses_and_what_holds() {
    with(&DEAD, |page| {
        let tags: Vec<String> = page
            .get("[...document.querySelectorAll('.findings .tag')].map((one) => one.textContent)");
        for word in ["collapses", "holds", "the same", "linear", "flat"] {
            assert!(tags.iter().any(|tag| tag == word), "{word} is not in {tags:?}");
        }
        let cells: Vec<String> = page.get(
            "[...document.querySelector('.view').querySelectorAll('td.growth')].map((one) => one.textContent)",
        );
        assert!(
            cells[0].starts_with("collapses ÷8.") && cells[0].contains("halved at 2,"),
            "{cells:?}"
        );
        assert!(cells[2].starts_with("holds ×") && cells[2].contains(" (95 % CI 0.9"), "{cells:?}");
    });
}

#[test]
fn bytes_are_in_powers_of_two() {
    with(&DEAD, |page| {
        page.choose("Metric", "memory");
        let texts = written(page);
        assert!(texts.iter().any(|text| text == "1 KiB" || text == "2 KiB"), "{texts:?}");
        let ticks: Vec<f64> = page.get(
            "(() => {
                const { y } = probe.plot(0).scales;
                return y.ticks(probe.plot(0).view.y0, probe.plot(0).view.y1, 9).map((tick) => tick.value);
            })()",
        );
        assert!(
            ticks.iter().all(|tick| tick.log2().fract().abs() < 1e-9 || tick % 64.0 == 0.0),
            "{ticks:?}"
        );
        page.evaluate("document.querySelector('.stage').focus()");
        page.key("ArrowRight", Held::Nothing);
        page.settle();
        assert!(page.read_out().contains(" KiB"), "{}", page.read_out());
        // Without a figure at zero the axis is not broken.
        let crack: bool = page.get("probe.plot(0).scales.x.crack === undefined");
        assert!(crack);
    });
}
