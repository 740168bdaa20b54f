//! Light and dark, wide and narrow, on paper.

use crate::input::Held;
use crate::page::{BUILDS, CALLS_TWO, FOREIGN, LOCKS_MODEL, ONE, PIPES, PROFILED_TWO, Page, with};
use serde::Deserialize;
use serde_json::json;

/// Shows every part that the page can fold away, so that all of it is looked at.
fn unfold(page: &mut Page) {
    page.evaluate("document.querySelectorAll('details').forEach((one) => { one.open = true; })");
    if page.get("document.querySelector('.all-tables') !== null") {
        page.press("document.querySelector('.all-tables')", Held::Nothing);
    }
    page.evaluate("document.querySelector('.stage').focus()");
    page.key("ArrowRight", Held::Nothing);
    page.settle();
}

fn scheme(page: &mut Page, name: &str) {
    let features = json!([{ "name": "prefers-color-scheme", "value": name }]);
    page.call("Emulation.setEmulatedMedia", &json!({ "media": "screen", "features": features }));
    page.settle();
}

/// How bright the corner of the canvas is, which has the paper's colour.
fn canvas(page: &mut Page) -> u32 {
    page.get("probe.paper()")
}

#[test]
fn the_systems_colour_scheme_is_followed_on_the_page_and_in_the_plot() {
    with(&ONE, |page| {
        scheme(page, "light");
        let light: String = page.get("probe.background()");
        assert!(canvas(page) > 240);
        scheme(page, "dark");
        let dark: String = page.get("probe.background()");
        assert_ne!(light, dark);
        page.until("probe.paper() < 60");
    });
}

/// How many texts and markers were looked at, and which of them are hard to see.
#[derive(Deserialize)]
struct Contrasts {
    looked: usize,
    faint: Vec<String>,
}

#[test]
fn every_text_and_every_marker_has_a_contrast_of_at_least_four_and_a_half() {
    let pages = [(&*ONE, 500), (&*PIPES, 400), (&*FOREIGN, 100), (&*CALLS_TWO, 150)];
    for (runs, min) in
        pages.into_iter().chain([(&*LOCKS_MODEL, 500), (&*BUILDS, 150), (&*PROFILED_TWO, 150)])
    {
        with(runs, |page| {
            unfold(page);
            page.press("document.querySelector('[data-subject]')", Held::Nothing);
            for name in ["light", "dark"] {
                scheme(page, name);
                let Contrasts { looked, faint } = page.get("probe.faint(4.5)");
                assert!(faint.is_empty(), "{name}: {faint:#?}");
                assert!(looked > min, "only {looked} texts were looked at");
            }
        });
    }
}

#[test]
fn every_colour_of_a_map_can_be_read_on_at_every_strength() {
    with(&PIPES, |page| {
        // The map at hand has but a few of them: every cell shows one after the other.
        for name in ["light", "dark"] {
            scheme(page, name);
            for colour in 0..8 {
                for step in ["lead-0", "lead-1", "lead-2", "lead-3", "shared"] {
                    page.evaluate(&format!(
                        "document.querySelectorAll('.lead-cell[data-subject]').forEach((cell) => {{
                            cell.className = 'lead-cell {step}';
                            cell.style.setProperty('--hue', 'var(--series-{colour})'); }})"
                    ));
                    let Contrasts { looked, faint } =
                        page.get("probe.faint(4.5, document.querySelector('table.heat'))");
                    assert!(faint.is_empty(), "{name}, {colour}, {step}: {faint:#?}");
                    assert!(looked > 40, "only {looked} of them were looked at");
                }
            }
        }
    });
}

#[test]
fn the_button_turns_dark_and_back_whatever_the_system_says() {
    with(&ONE, |page| {
        for (system, first, then) in [("light", "Light", "Dark"), ("dark", "Dark", "Light")] {
            scheme(page, system);
            page.reload();
            page.evaluate(include_str!("probe.js"));
            let before: String = page.get("probe.background()");
            page.press("document.querySelector('.theme')", Held::Nothing);
            let after: String = page.get("probe.background()");
            assert_ne!(before, after);
            let label: String = page.get("document.querySelector('.theme').textContent");
            assert_eq!(label, first, "it says what it does next");
            assert_eq!(canvas(page) < 60, first == "Light");
            page.press("document.querySelector('.theme')", Held::Nothing);
            assert_eq!(page.get::<String>("probe.background()"), before);
            let label: String = page.get("document.querySelector('.theme').textContent");
            assert_eq!(label, then);
        }
    });
}

#[test]
fn on_paper_all_tables_stand_and_nothing_that_only_a_screen_can_use() {
    with(&ONE, |page| {
        scheme(page, "dark");
        let media = json!({ "media": "print" });
        page.call("Emulation.setEmulatedMedia", &media);
        page.settle();
        let [tables, controls]: [usize; 2] = page.get(
            "[[...document.querySelectorAll('table.figures')].filter((t) => t.checkVisibility()).length,
                [...document.querySelectorAll('.controls, .theme, .hint')]
                    .filter((one) => one.checkVisibility()).length]",
        );
        assert_eq!((tables, controls), (ONE[0].1.analysis.tables.len(), 0));
        let printed = page.call("Page.printToPDF", &json!({ "printBackground": true }));
        assert!(printed["data"].as_str().is_some_and(|data| data.len() > 50_000));
    });
}
