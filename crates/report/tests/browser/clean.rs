//! The page loads nothing, and is readable without its script.

use crate::page::{ONE, Runs, complaints_of, with, with_made};
use findings::Conclusions;
use serde_json::json;

#[test]
fn without_a_script_findings_and_tables_are_there() {
    with(&ONE, |page| {
        page.call("Emulation.setScriptExecutionDisabled", &json!({ "value": true }));
        page.reload();
        // The protocol looks in from outside, so it sees also where the page itself runs nothing.
        let text: String = page.get("document.body.innerText");
        let (_, conclusions) = &ONE[0];
        for finding in conclusions.findings.iter().filter(|finding| finding.headline) {
            let sentence = finding.text().to_string();
            assert!(text.contains(&sentence), "{sentence} is not in {text}");
        }
        let tables: usize = page
            .get("[...document.querySelectorAll('table.figures')].filter((t) => t.checkVisibility()).length");
        assert_eq!(tables, conclusions.analysis.tables.len());
        assert!(text.contains("The plot needs JavaScript."), "{text}");
        let plots: usize = page.get("document.querySelectorAll('canvas').length");
        assert_eq!(plots, 0);
    });
}

#[test]
fn a_run_without_figures_makes_a_page_that_says_so() {
    let mut runs: Runs = ONE.clone();
    runs[0].0.cells.clear();
    runs[0].1 = Conclusions::default();
    with_made(&runs, |page| {
        let text: String = page.get("document.body.innerText");
        assert!(text.contains("None: too little was measured."), "{text}");
        assert!(text.contains("there is nothing to draw"), "{text}");
    });
}

#[test]
fn an_error_a_warning_and_a_request_would_be_noticed() {
    let broken = |what: &str| {
        let text = format!("<!doctype html><html><body><p>Nothing</p>{what}</body></html>");
        complaints_of(&text, |_| {}).map(|complaints| complaints.join("\n"))
    };
    for (what, complaint) in [
        ("<script>nobody.knows()</script>", "nobody is not defined"),
        ("<script>console.warn('mind')</script>", "console warning"),
        ("<script>console.error('oh')</script>", "console error"),
        ("<img src='https://example.invalid/a.png'>", "example.invalid"),
        ("<script>fetch('https://example.invalid/b').catch(() => {})</script>", "example.invalid"),
        ("<link rel='stylesheet' href='other.css'>", "other.css"),
    ] {
        let Some(complaints) = broken(what) else { return };
        assert!(complaints.contains(complaint), "{what} raised only {complaints:?}");
    }
}
