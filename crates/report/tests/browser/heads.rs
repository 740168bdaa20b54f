//! What all pages have in common, whatever they are about: the head, headings, names for screen readers.

use crate::fixture::{compared, history};
use crate::input::Held;
use crate::page::{
    BUILDS, CALLS, CALLS_TWO, DEAD, FOREIGN, LOCKS, LOCKS_MODEL, ONE, PIPES, PIPES_TWO,
    PROFILED_TWO, Page, Runs, TWO, complaints_of,
};
use analysis::compare::Comparison;
use findings::Answer;
use report::matrix::{Matrix, html};
use serde_json::{Value, json};

fn compared_page(runs: &Runs, comparison: &Comparison) -> String {
    html::page(runs, &Matrix::pair(&runs[0].0, &runs[1].0, comparison))
}

/// A page of each kind with its name, and the sentence that its title begins.
fn pages() -> Vec<(&'static str, String, String)> {
    let headline = |runs: &Runs| Answer::new(&runs[0].0, &runs[0].1).headline().to_string();
    let suite: Runs = [&*ONE, &*CALLS, &*DEAD, &*LOCKS].into_iter().flatten().cloned().collect();
    let model = vec![LOCKS_MODEL[1].clone()];
    let runs: [(&str, &Runs); 14] = [
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
        ("profiles of two kernels", &PROFILED_TWO),
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

/// Looks for faults on a page whose title begins that sentence.
type Look = fn(&mut Page, &str) -> Vec<String>;

/// What holds for every page. Those that need one as it was loaded stand first, those that unfold it last.
const LOOKS: [(&str, Look); 12] = [
    ("nothing names a place outside of the page, and every link leads somewhere", addresses),
    ("the title is the first heading and begins the answer", title),
    ("there is one first heading, and no level is left out", levels),
    ("every table has a caption, and every head a scope", captions),
    ("nothing moves by itself", motion),
    ("the answer is seen without scrolling, and on a phone in two screens", answer),
    ("a finger finds every button on a phone", buttons),
    ("on paper nothing is folded, cut or only for a screen", paper),
    ("every plot is an image whose name says the finding", plots),
    ("whatever can be used has a name for a screen reader", names),
    ("whatever has the focus is seen to have it", focus),
    ("no page is wider than its window, and every plot is as wide as it draws", width),
];

/// One load of each page is enough for all: a page takes a second of CPU time.
#[test]
fn every_page_keeps_the_rules() {
    let mut faults = Vec::new();
    for (name, text, sentence) in pages() {
        let complaints = complaints_of(&text, |page| {
            for (rule, look) in LOOKS {
                let seen = look(page, &sentence);
                faults.extend(seen.into_iter().map(|fault| format!("{name}: {rule}: {fault}")));
            }
        });
        faults.extend(complaints.into_iter().flatten().map(|fault| format!("{name}: {fault}")));
    }
    assert!(faults.is_empty(), "{faults:#?}");
}

fn unfold(page: &mut Page) {
    page.evaluate("document.querySelectorAll('details').forEach((one) => { one.open = true; })");
    page.settle();
}

fn title(page: &mut Page, sentence: &str) -> Vec<String> {
    let [title, heading]: [String; 2] =
        page.get("[document.title, document.querySelector('h1').textContent]");
    let begins = heading.split(" (").next().unwrap_or_default();
    let is_sentence = sentence.starts_with(begins) || begins.starts_with(sentence);
    let is_title = title == format!("{heading} · knee");
    let fault = format!("{title:?}, {heading:?}, {sentence:?}");
    if is_title && is_sentence { Vec::new() } else { vec![fault] }
}

fn answer(page: &mut Page, _: &str) -> Vec<String> {
    let mut faults = Vec::new();
    for (width, height, screens) in [(1280, 800, 1), (390, 844, 2)] {
        page.resize(width, height);
        page.settle();
        let bottom: f64 =
            page.get("document.querySelector('#answer').getBoundingClientRect().bottom + scrollY");
        if bottom > f64::from(height * screens) {
            faults.push(format!("{width} pixels wide, the answer ends at {bottom}"));
        }
    }
    faults
}

fn addresses(page: &mut Page, _: &str) -> Vec<String> {
    page.get(
        "[...[...document.querySelectorAll('[src], [href], [srcset], [data], [action]')]
                .flatMap((one) => [...one.attributes])
                .filter((one) => ['src', 'href', 'srcset', 'data', 'action'].includes(one.name))
                .map((one) => one.value)
                .filter((value) => !value.startsWith('#') && !value.startsWith('data:')),
            ...[...document.querySelectorAll('a[href^=\"#\"]')].map((one) => one.hash)
                .filter((hash) => !document.querySelector(hash)).map((hash) => `${hash} leads nowhere`)]",
    )
}

fn buttons(page: &mut Page, _: &str) -> Vec<String> {
    page.resize(390, 800);
    page.settle();
    page.get(
        "[...document.querySelectorAll('button, select, summary')]
            .filter((one) => one.checkVisibility() && one.getBoundingClientRect().height < 24)
            .map((one) => one.textContent)",
    )
}

fn names(page: &mut Page, _: &str) -> Vec<String> {
    const USED: [&str; 7] =
        ["button", "combobox", "link", "application", "table", "region", "figure"];
    unfold(page);
    page.call("Accessibility.enable", &json!({}));
    let tree = page.call("Accessibility.getFullAXTree", &json!({}));
    page.call("Accessibility.disable", &json!({}));
    let nodes = tree["nodes"].as_array().into_iter().flatten();
    let role = |node: &Value| node["role"]["value"].as_str().unwrap_or_default().to_owned();
    let used = nodes.filter(|node| node["ignored"] != true && USED.contains(&&*role(node)));
    let used: Vec<&Value> = used.collect();
    let is_unnamed =
        |node: &&&Value| node["name"]["value"].as_str().unwrap_or_default().trim().is_empty();
    let unnamed = used.iter().filter(is_unnamed).map(|node| format!("a {} has none", role(node)));
    let few = (used.len() < 3).then(|| format!("only {} can be used", used.len()));
    unnamed.chain(few).collect()
}

fn levels(page: &mut Page, _: &str) -> Vec<String> {
    page.get(
        "(() => { const levels = [...document.querySelectorAll('h1, h2, h3, h4, h5, h6')].map((one) => Number(one.tagName[1]));
            const faults = levels.filter((level, at) => at && level > levels[at - 1] + 1)
                .map((level) => `a heading of level ${level} skips one`);
            const first = levels.filter((level) => level === 1).length;
            return first === 1 && levels[0] === 1 ? faults : [...faults, `${first} first headings`]; })()",
    )
}

fn captions(page: &mut Page, _: &str) -> Vec<String> {
    page.get(
        "[...document.querySelectorAll('table')].flatMap((table) => [
            ...(table.caption?.textContent.trim() ? [] : [`no caption: ${table.className}`]),
            ...[...table.querySelectorAll('th:not([scope])')].map((one) => `no scope: ${one.textContent}`)])",
    )
}

fn plots(page: &mut Page, _: &str) -> Vec<String> {
    unfold(page);
    page.get(
        "[...document.querySelectorAll('svg, canvas')].flatMap((one) => {
            if (one.closest('[aria-hidden=\"true\"]')) return [];
            const name = one.getAttribute('aria-label') ?? '';
            return one.getAttribute('role') === 'img' && name.length > 20 ? [] : [`${one.tagName} ${name}`];
        })",
    )
}

fn focus(page: &mut Page, _: &str) -> Vec<String> {
    unfold(page);
    // A key, so that focus counts as moved by the keyboard.
    page.key("Tab", Held::Nothing);
    page.get(
        "[...document.querySelectorAll('a[href], button, select, summary, [tabindex=\"0\"]')]
            .filter((one) => one.checkVisibility())
            .flatMap((one) => { one.focus();
                const { outlineStyle, outlineWidth } = getComputedStyle(one);
                return outlineStyle !== 'none' && parseFloat(outlineWidth) >= 2 ? [] : [`${one.tagName} ${one.className}`]; })",
    )
}

fn motion(page: &mut Page, _: &str) -> Vec<String> {
    page.get(
        "[...document.querySelectorAll('*')].flatMap((one) => {
            const { transitionDuration, animationName, scrollBehavior } = getComputedStyle(one);
            return transitionDuration === '0s' && animationName === 'none' && scrollBehavior === 'auto'
                ? [] : [one.tagName]; })",
    )
}

fn width(page: &mut Page, _: &str) -> Vec<String> {
    unfold(page);
    if page.get("document.querySelector('.all-tables') !== null") {
        page.press("document.querySelector('.all-tables')", Held::Nothing);
    }
    // What is read out may be wide.
    page.evaluate("document.querySelector('.stage')?.focus()");
    page.key("ArrowRight", Held::Nothing);
    let mut faults = Vec::new();
    for width in [360, 390, 600, 768, 1280, 1920] {
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
        let narrow: Vec<String> = page.get(
            "[...document.querySelectorAll('figure.plot')].slice(0, 1).filter(({ plot }) => plot
                    && Math.abs(plot.canvas.getBoundingClientRect().width - plot.width) >= 1)
                .map(({ plot }) => `the plot draws ${plot.width} pixels`)",
        );
        let faults_here = wide.into_iter().chain(covering).chain(narrow);
        faults.extend(faults_here.map(|element| format!("{width} pixels: {element}")));
    }
    faults
}

fn paper(page: &mut Page, _: &str) -> Vec<String> {
    let media = |media: &str| json!({ "media": media });
    page.call("Emulation.setEmulatedMedia", &media("print"));
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
    page.call("Emulation.setEmulatedMedia", &media(""));
    faults
}
