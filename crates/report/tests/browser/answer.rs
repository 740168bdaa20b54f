//! The answer at the head of the page, and the sections that fold away below it.

use crate::page::{CALLS, DEAD, LOCKS, ONE, Page, Runs, with, with_made};
use findings::Answer;
use serde_json::json;

#[test]
fn every_statement_stands_with_its_plot_and_its_advice() {
    for runs in [&*ONE, &*DEAD, &*LOCKS, &*CALLS] {
        with(runs, |page| {
            let (run, conclusions) = &runs[0];
            let answer = Answer::new(run, conclusions);
            let sections = [&answer.stops_scaling, &answer.changes_sides, &answer.worth_knowing];
            let wanted: Vec<String> = sections
                .into_iter()
                .flatten()
                .map(|statement| {
                    let advice = statement.advice.as_ref();
                    let advice = advice.map(|advice| format!("→ {}", advice.sentence));
                    format!("{}{}", statement.sentence, advice.unwrap_or_default())
                })
                .collect();
            let texts: Vec<String> = page.get(
                "[...document.querySelectorAll('.statements li')].map((item) => item.textContent)",
            );
            assert_eq!(texts, wanted);
            let lines: Vec<usize> = page.get(
                "[...document.querySelectorAll('.statements .spark')]
                    .map((plot) => plot.querySelectorAll('path').length)",
            );
            assert_eq!(lines.len(), wanted.len());
            assert!(lines.iter().all(|&number| number > 0), "{lines:?}");
        });
    }
}

/// Which sections are open, and how many plots are drawn.
fn open(page: &mut Page) -> (Vec<bool>, usize) {
    let sections = page.get("[...document.querySelectorAll('.fold')].map((one) => one.open)");
    (sections, page.get("document.querySelectorAll('canvas').length"))
}

#[test]
fn sections_of_several_workloads_are_folded_until_a_link_opens_them() {
    let runs: Runs = ONE.iter().chain(CALLS.iter()).cloned().collect();
    with_made(&runs, |page| {
        assert_eq!(open(page), (vec![false, false], 0));
        page.evaluate("document.querySelector('a[href=\"#workload-1\"]').click()");
        page.until("document.querySelectorAll('canvas').length === 1");
        assert_eq!(open(page), (vec![false, true], 1));
        let width: f64 = page.get("document.querySelector('canvas').getBoundingClientRect().width");
        assert!(width > 500.0, "the plot is {width} pixels wide");
        page.evaluate("document.querySelector('.fold summary').click()");
        page.until("document.querySelectorAll('canvas').length === 2");
    });
}

#[test]
fn without_a_script_a_link_opens_its_section() {
    let runs: Runs = ONE.iter().chain(CALLS.iter()).cloned().collect();
    with_made(&runs, |page| {
        page.call("Emulation.setScriptExecutionDisabled", &json!({ "value": true }));
        page.reload();
        page.evaluate("document.querySelector('a[href=\"#workload-1\"]').click()");
        assert_eq!(open(page), (vec![false, true], 0));
    });
}

#[test]
fn on_paper_every_section_is_open_and_closes_again() {
    let runs: Runs = ONE.iter().chain(CALLS.iter()).cloned().collect();
    with_made(&runs, |page| {
        page.evaluate("dispatchEvent(new Event('beforeprint'))");
        assert_eq!(open(page), (vec![true, true], 2));
        page.evaluate("dispatchEvent(new Event('afterprint'))");
        assert_eq!(open(page).0, [false, false]);
    });
}
