//! The page loads nothing, and is readable without its script.

use crate::page::{BUILDS, FOREIGN, LOCKS_MODEL, ONE, PIPES, Runs, complaints_of, with};
use findings::Conclusions;
use serde_json::json;

#[test]
fn nothing_in_the_page_names_a_place_outside_it() {
    for runs in [&*ONE, &*PIPES, &*FOREIGN, &*LOCKS_MODEL, &*BUILDS] {
        with(runs, |page| {
            let named: Vec<String> = page.get(
                "[...document.querySelectorAll('[src], [href], [srcset], [data], [action]')]
                .flatMap((one) => [...one.attributes])
                .filter((one) => ['src', 'href', 'srcset', 'data', 'action'].includes(one.name))
                .map((one) => one.value)
                .filter((value) => !value.startsWith('#') && !value.startsWith('data:'))",
            );
            assert!(named.is_empty(), "{named:?}");
            let links: Vec<String> = page.get(
                "[...document.querySelectorAll('a[href^=\"#\"]')].map((one) => one.hash)
                .filter((hash) => !document.querySelector(hash))",
            );
            assert!(links.is_empty(), "these lead nowhere: {links:?}");
        });
    }
}

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
    with(&runs, |page| {
        let text: String = page.get("document.body.innerText");
        assert!(text.contains("None: too little was measured."), "{text}");
        assert!(text.contains("there is nothing to draw"), "{text}");
    });
}

#[test]
fn an_error_a_warning_and_a_request_would_be_noticed() {
    let page = report::html::page(&ONE);
    let broken = |what: &str| {
        let text = page.replace("</body>", &format!("{what}</body>"));
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
