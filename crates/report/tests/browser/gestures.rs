//! Moving about in the plot by mouse, wheel and keyboard, and back.

use crate::input::Held;
use crate::page::{ONE, PIPES_TWO, Page, figures, table, with};

/// How much of the whole is seen across and upwards.
fn shares(page: &mut Page, whole: [f64; 4]) -> (f64, f64) {
    let [x0, x1, y0, y1] = page.view();
    ((x1 - x0) / (whole[1] - whole[0]), (y1 - y0) / (whole[3] - whole[2]))
}

fn is_near(a: f64, b: f64) -> bool {
    (a - b).abs() < 0.01
}

/// Whether two views are one and the same, to the last bit: a reset is no zoom back.
fn same(a: [f64; 4], b: [f64; 4]) -> bool {
    a.map(f64::to_bits) == b.map(f64::to_bits)
}

#[test]
fn dragging_zooms_to_the_rectangle_and_a_double_click_goes_back() {
    with(&ONE, |page| {
        let whole = page.view();
        let (from, to) = (page.inside(0.25, 0.2), page.inside(0.75, 0.8));
        page.drag(from, to, Held::Nothing);
        page.settle();
        let [x0, x1, y0, y1] = page.view();
        let (width, height) = (whole[1] - whole[0], whole[3] - whole[2]);
        assert!(is_near((x0 - whole[0]) / width, 0.25) && is_near((x1 - whole[0]) / width, 0.75));
        assert!(is_near((y0 - whole[2]) / height, 0.2) && is_near((y1 - whole[2]) / height, 0.8));
        let count_text: String = page.get("document.querySelector('.count').textContent");
        assert!(count_text.contains("outside the view"), "{count_text}");
        let middle = page.inside(0.5, 0.1);
        page.double_click(middle);
        page.settle();
        assert!(same(page.view(), whole), "{:?}", page.view());
    });
}

#[test]
fn a_flat_drag_zooms_along_one_axis_only() {
    with(&ONE, |page| {
        let whole = page.view();
        let (from, to) = (page.inside(0.3, 0.5), page.inside(0.7, 0.5));
        page.drag(from, to, Held::Nothing);
        page.settle();
        let (across, up) = shares(page, whole);
        assert!(is_near(across, 0.4) && is_near(up, 1.0), "{across} {up}");
    });
}

#[test]
fn the_wheel_scrolls_the_page_until_the_plot_has_the_focus_then_it_zooms() {
    with(&ONE, |page| {
        let whole = page.view();
        let spot = page.inside(0.5, 0.5);
        let before: f64 = page.get("scrollY");
        page.wheel(spot, 200);
        page.until(&format!("scrollY > {before}"));
        assert!(same(page.view(), whole), "{:?}", page.view());
        page.evaluate("document.querySelector('.stage').focus()");
        let spot = page.inside(0.5, 0.5);
        let before: f64 = page.get("scrollY");
        page.wheel(spot, -200);
        page.until("probe.plot(0).zoomed");
        page.settle();
        let (closer, _) = shares(page, whole);
        assert!(closer < 0.7, "{closer}");
        page.wheel(spot, 200);
        page.settle();
        let (again, _) = shares(page, whole);
        assert!(is_near(again, 1.0), "{again}");
        assert!(is_near(page.get::<f64>("scrollY"), before));
        page.key("Escape", Held::Nothing);
        page.settle();
        assert!(same(page.view(), whole), "{:?}", page.view());
    });
}

#[test]
fn shift_and_drag_pans_without_zooming() {
    with(&ONE, |page| {
        let whole = page.view();
        let (from, to) = (page.inside(0.5, 0.5), page.inside(0.3, 0.6));
        page.drag(from, to, Held::Shift);
        page.settle();
        let view = page.view();
        let (across, up) = shares(page, whole);
        assert!(is_near(across, 1.0) && is_near(up, 1.0), "{across} {up}");
        assert!(is_near((view[0] - whole[0]) / (whole[1] - whole[0]), 0.2), "{view:?}");
        assert!(is_near((view[2] - whole[2]) / (whole[3] - whole[2]), 0.1), "{view:?}");
    });
}

#[test]
fn the_buttons_zoom_in_and_out_and_reset() {
    with(&ONE, |page| {
        let whole = page.view();
        page.press("probe.button('+')", Held::Nothing);
        assert!(is_near(shares(page, whole).0, 0.7));
        page.press("probe.button('−')", Held::Nothing);
        assert!(is_near(shares(page, whole).0, 1.0));
        page.press("probe.button('+')", Held::Nothing);
        page.press("probe.button('Reset')", Held::Nothing);
        assert!(same(page.view(), whole), "{:?}", page.view());
    });
}

/// Saves a plot by a button: the file's name, the share of its pixels that differ from the canvas by much, and the text of
/// the file where it is one.
const SAVED: &str = "(format) => new Promise((done) => { \
    const { canvas } = probe.plot(0); \
    const pixels = (image) => { \
        const copy = document.createElement('canvas'); \
        [copy.width, copy.height] = [canvas.width, canvas.height]; \
        const context = copy.getContext('2d', { willReadFrequently: true }); \
        context.drawImage(image, 0, 0, copy.width, copy.height); \
        return context.getImageData(0, 0, copy.width, copy.height).data; }; \
    HTMLAnchorElement.prototype.click = function () { \
        const image = new Image(); \
        image.onload = () => { \
            const [own, saved] = [pixels(canvas), pixels(image)]; \
            const differ = own.filter((byte, at) => Math.abs(byte - saved[at]) > 60).length; \
            done([this.download, differ / own.length, decodeURIComponent(this.href)]); }; \
        image.src = this.href; }; \
    probe.button(format).click(); })";

#[test]
fn buttons_save_the_plot_as_it_is_seen() {
    let cases = [(&*ONE, &["select", "watched descriptors"][..]), (&*PIPES_TWO, &["tokens"])];
    for (runs, texts) in cases {
        with(runs, |page| {
            let (name, differs, _): (String, f64, String) = page.get(&format!("({SAVED})('PNG')"));
            assert_eq!((name.rsplit('.').next(), differs > 0.0), (Some("png"), false), "{name}");
            let (name, differs, text): (String, f64, String) =
                page.get(&format!("({SAVED})('SVG')"));
            assert_eq!(name.rsplit('.').next(), Some("svg"));
            assert!(differs < 0.01, "{differs}");
            for written in texts {
                assert!(text.contains(&format!(">{written}</text>")), "{written} is not in {text}");
            }
        });
    }
}

#[test]
fn keys_zoom_pan_and_reset() {
    with(&ONE, |page| {
        let whole = page.view();
        page.evaluate("document.querySelector('.stage').focus()");
        page.key("+", Held::Nothing);
        page.settle();
        assert!(is_near(shares(page, whole).0, 0.7));
        let before = page.view();
        page.key("ArrowRight", Held::Shift);
        page.settle();
        let after = page.view();
        assert!(is_near((after[0] - before[0]) / (before[1] - before[0]), 0.1), "{after:?}");
        page.key("-", Held::Nothing);
        page.key("Escape", Held::Nothing);
        page.settle();
        assert!(same(page.view(), whole), "{:?}", page.view());
    });
}

#[test]
fn arrow_keys_walk_along_a_series_and_between_series_aloud() {
    with(&ONE, |page| {
        let loops = table(&ONE[0].1, "loop", "1");
        let live: String = page.get("document.querySelector('.readout').ariaLive");
        assert_eq!(live, "polite");
        page.evaluate("document.querySelector('.stage').focus()");
        page.key("ArrowRight", Held::Nothing);
        assert!(page.read_out().starts_with("select at 10: median "), "{}", page.read_out());
        page.key("ArrowRight", Held::Nothing);
        assert!(page.read_out().starts_with("select at 30: median "));
        page.key("End", Held::Nothing);
        assert!(page.read_out().starts_with("select at 1,000: median "));
        page.key("ArrowRight", Held::Nothing);
        assert!(page.read_out().starts_with("select at 1,000: median "));
        page.key("Home", Held::Nothing);
        assert!(page.read_out().starts_with("select at 10: median "));
        let mut dearer: Vec<(f64, &str)> = loops
            .rows
            .iter()
            .filter(|r| r.cells[0].is_some())
            .map(|row| (figures(loops, &row.label, 10).median.value, row.label.as_str()))
            .collect();
        dearer.sort_by(|a, b| a.0.total_cmp(&b.0));
        let index = dearer.iter().position(|(_, label)| *label == "select").expect("select");
        page.key("ArrowUp", Held::Nothing);
        let next = format!("{} at 10: ", dearer[index + 1].1);
        assert!(page.read_out().starts_with(&next), "{} is not {next}", page.read_out());
        page.key("ArrowDown", Held::Nothing);
        page.key("ArrowDown", Held::Nothing);
        let next = format!("{} at 10: ", dearer[index - 1].1);
        assert!(page.read_out().starts_with(&next), "{} is not {next}", page.read_out());
    });
}

#[test]
fn the_plot_can_be_reached_and_left_by_the_tab_key() {
    with(&ONE, |page| {
        page.evaluate("probe.button('PNG').focus()");
        page.key("Tab", Held::Nothing);
        assert!(page.get::<bool>("document.activeElement === document.querySelector('.stage')"));
        page.key("Tab", Held::Nothing);
        assert!(page.get::<bool>("document.activeElement.dataset.subject === 'select'"));
        let ring: String = page.get("getComputedStyle(document.activeElement).outlineStyle");
        assert_eq!(ring, "solid");
    });
}
