//! What all pages have in common, whatever they are about: the head, headings, names for screen readers.

use crate::fixture::{compared, history};
use crate::page::{
    BUILDS, CALLS, CALLS_TWO, DEAD, FOREIGN, LOCKS, LOCKS_MODEL, ONE, PIPES, PIPES_TWO, Page, Runs,
    TWO, complaints_of,
};
use analysis::compare::Comparison;
use findings::Answer;
use report::matrix::{Matrix, html};
use serde_json::json;

fn compared_page(runs: &Runs, comparison: &Comparison) -> String {
    html::page(runs, &Matrix::pair(&runs[0].0, &runs[1].0, comparison))
}

/// A page of each kind with its name, and the sentence that its title begins.
fn pages() -> Vec<(&'static str, String, String)> {
    let headline = |runs: &Runs| Answer::new(&runs[0].0, &runs[0].1).headline().to_string();
    let suite: Runs = [&*ONE, &*CALLS, &*DEAD, &*LOCKS].into_iter().flatten().cloned().collect();
    let model = vec![LOCKS_MODEL[1].clone()];
    let runs: [(&str, &Runs); 13] = [
        ("one workload", &ONE),
        ("points down", &PIPES),
        ("a trajectory", &CALLS),
        ("from zero on", &DEAD),
        ("locks", &LOCKS),
        ("averages", &BUILDS),
        ("an imported table", &FOREIGN),
        ("a model", &model),
        ("a model over a measurement", &LOCKS_MODEL),
        ("two machines", &TWO),
        ("two machines, points down", &PIPES_TWO),
        ("before and after", &CALLS_TWO),
        ("several workloads", &suite),
    ];
    let mut pages: Vec<(&str, String, String)> = runs
        .into_iter()
        .map(|(name, runs)| (name, report::html::page(runs), headline(runs)))
        .collect();
    let (runs, comparison) = compared::compared(false);
    let sentence = "Of 12 series 2 are slower and 2 faster; the largest change: ".to_owned();
    pages.push(("a comparison", compared_page(&runs, &comparison), sentence));
    let (runs, comparison) = compared::alike();
    let sentence = "No difference".to_owned();
    pages.push(("a comparison of equals", compared_page(&runs, &comparison), sentence));
    for (name, count) in [("a history", 20), ("a quiet history", 6)] {
        let history = history::made(count);
        let page = report::history::html::page(&history);
        pages.push((name, page, String::new()));
    }
    pages
}

/// Opens every page and holds what `look` finds against it.
fn every(look: impl Fn(&mut Page, &str) -> Vec<String>) {
    let mut faults = Vec::new();
    for (name, text, sentence) in pages() {
        let complaints = complaints_of(&text, |page| {
            faults
                .extend(look(page, &sentence).into_iter().map(|fault| format!("{name}: {fault}")));
        });
        faults.extend(complaints.into_iter().flatten().map(|fault| format!("{name}: {fault}")));
    }
    assert!(faults.is_empty(), "{faults:#?}");
}

#[test]
fn the_title_is_the_first_heading_and_begins_the_answer() {
    every(|page, sentence| {
        let [title, heading]: [String; 2] =
            page.get("[document.title, document.querySelector('h1').textContent]");
        let begins = heading.split(" (").next().unwrap_or_default();
        let is_sentence = sentence.starts_with(begins) || begins.starts_with(sentence);
        let is_title = title == format!("{heading} · knee");
        let fault = format!("{title:?}, {heading:?}, {sentence:?}");
        if is_title && is_sentence { Vec::new() } else { vec![fault] }
    });
}

#[test]
fn the_answer_is_seen_without_scrolling_and_on_a_phone_in_two_screens() {
    every(|page, _| {
        let mut faults = Vec::new();
        for (width, height, screens) in [(1280, 800, 1), (390, 844, 2)] {
            page.resize(width, height);
            page.settle();
            let bottom: f64 = page
                .get("document.querySelector('#answer').getBoundingClientRect().bottom + scrollY");
            if bottom > f64::from(height * screens) {
                faults.push(format!("{width} pixels wide, the answer ends at {bottom}"));
            }
        }
        faults
    });
}

#[test]
fn there_is_one_first_heading_and_no_level_is_left_out() {
    every(|page, _| {
        page.get(
            "(() => { const levels = [...document.querySelectorAll('h1, h2, h3, h4, h5, h6')].map((one) => Number(one.tagName[1]));
                const faults = levels.filter((level, at) => at && level > levels[at - 1] + 1)
                    .map((level) => `a heading of level ${level} skips one`);
                const first = levels.filter((level) => level === 1).length;
                return first === 1 && levels[0] === 1 ? faults : [...faults, `${first} first headings`]; })()",
        )
    });
}

#[test]
fn every_table_has_a_caption_and_every_head_a_scope() {
    every(|page, _| {
        page.get(
            "[...document.querySelectorAll('table')].flatMap((table) => [
                ...(table.caption?.textContent.trim() ? [] : [`no caption: ${table.className}`]),
                ...[...table.querySelectorAll('th:not([scope])')].map((one) => `no scope: ${one.textContent}`)])",
        )
    });
}

#[test]
fn every_plot_is_an_image_whose_name_says_the_finding_or_stands_by_it() {
    every(|page, _| {
        page.evaluate(
            "document.querySelectorAll('details').forEach((one) => { one.open = true; })",
        );
        page.settle();
        page.get(
            "[...document.querySelectorAll('svg, canvas')].flatMap((one) => {
                if (one.closest('[aria-hidden=\"true\"]')) return [];
                const name = one.getAttribute('aria-label') ?? '';
                return one.getAttribute('role') === 'img' && name.length > 20 ? [] : [`${one.tagName} ${name}`];
            })",
        )
    });
}

#[test]
fn whoever_has_the_focus_is_seen_to_have_it() {
    every(|page, _| {
        page.evaluate(
            "[...document.querySelectorAll('details')].forEach((one) => { one.open = true; })",
        );
        page.settle();
        // A key, so that focus counts as moved by the keyboard.
        page.key("Tab", crate::input::Held::Nothing);
        page.get(
            "[...document.querySelectorAll('a[href], button, select, summary, [tabindex=\"0\"]')]
                .filter((one) => one.checkVisibility())
                .flatMap((one) => { one.focus();
                    const { outlineStyle, outlineWidth } = getComputedStyle(one);
                    return outlineStyle !== 'none' && parseFloat(outlineWidth) >= 2 ? [] : [`${one.tagName} ${one.className}`]; })",
        )
    });
}

#[test]
fn nothing_moves_by_itself() {
    every(|page, _| {
        page.get(
            "[...document.querySelectorAll('*')].flatMap((one) => {
                const { transitionDuration, animationName, scrollBehavior } = getComputedStyle(one);
                return transitionDuration === '0s' && animationName === 'none' && scrollBehavior === 'auto'
                    ? [] : [one.tagName]; })",
        )
    });
}

#[test]
fn no_page_is_wider_than_its_window() {
    every(|page, _| {
        page.evaluate(
            "document.querySelectorAll('details').forEach((one) => { one.open = true; })",
        );
        let mut faults = Vec::new();
        for width in [390, 600, 800, 1280, 1920] {
            page.resize(width, 800);
            page.settle();
            let wide: Vec<String> = page.get(
                "document.documentElement.scrollWidth <= innerWidth ? []
                    : [...document.querySelectorAll('body *')]
                        .filter((one) => one.getBoundingClientRect().right > innerWidth && !one.closest('.scroll'))
                        .map((one) => `${one.tagName} ${one.className}`)",
            );
            let covering: Vec<String> = page.get(
                "[...document.querySelectorAll('.findings li')].filter((one) => one.checkVisibility() && innerWidth > 640)
                    .filter((one) => one.querySelector('.tag')?.getBoundingClientRect().right
                        > one.querySelector('.sentence').getBoundingClientRect().left)
                    .map((one) => `a tag covers its sentence: ${one.textContent}`)",
            );
            let faults_here = wide.into_iter().chain(covering);
            faults.extend(faults_here.map(|element| format!("{width} pixels: {element}")));
        }
        faults
    });
}

#[test]
fn on_paper_nothing_is_folded_cut_or_only_for_a_screen() {
    every(|page, _| {
        let media = json!({ "media": "print" });
        page.call("Emulation.setEmulatedMedia", &media);
        // A4 with its margins. One thing that is wider shrinks every page; stars hang into the margin.
        page.resize(720, 1000);
        page.settle();
        let width: f64 = page.get("document.documentElement.scrollWidth");
        // Items of a grid that break between pages lie on each other.
        let grids: usize = page.get(
            "[...document.querySelectorAll('.cards')].filter((one) => getComputedStyle(one).display !== 'block').length",
        );
        let mut faults: Vec<String> = page.get(
            "[...document.querySelectorAll('.skip, .theme, .controls, .hint, .card, summary')].length === 0 ? ['nothing to look at']
                : [...[...document.querySelectorAll('.skip, .theme, .controls, .hint, .stage > .card')]
                    .filter((one) => one.checkVisibility()).map((one) => `for a screen: ${one.className}`),
                ...[...document.querySelectorAll('details:not([open]) > :not(summary)')]
                    .filter((one) => !one.checkVisibility()).map((one) => `folded: ${one.className}`),
                ...[...document.querySelectorAll('.scroll')]
                    .filter((one) => getComputedStyle(one).overflowX !== 'visible').map(() => 'cut')]",
        );
        if width > 728.0 || grids > 0 {
            faults.push(format!("{width} pixels wide, {grids} grids"));
        }
        faults
    });
}
