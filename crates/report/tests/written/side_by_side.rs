//! Several runs side by side, as people and programs see them.

use crate::fixture::baseline;
use analysis::compare::{Several, Terms, compare_several};
use findings::Conclusions;
use model::Run;
use report::layout::{Detail, Style};
use report::matrix::Matrix;
use report::matrix::json::matrix as json;
use report::matrix::markdown::text as markdown;
use report::matrix::terminal::{tables as machines, text as compared};

const PLAIN: Style = Style { colour: false, width: 100, detail: Detail::Headline };

fn several(runs: &[(Run, Conclusions)]) -> Several {
    let terms = Terms { margin: 0.05, fail_above: None, across: true, all: false };
    compare_several(&runs.iter().map(|(run, _)| run).collect::<Vec<_>>(), &terms)
}

#[test]
fn machines_stand_across_and_series_below_the_headings_of_the_workload() {
    let runs = baseline::machines();
    let several = several(&runs);
    let side = Matrix::several(&runs, &several, &[]);
    insta::assert_snapshot!("machines", machines(&side, &PLAIN));
}

#[test]
fn what_changed_in_which_run_comes_first() {
    let runs = baseline::machines();
    let several = several(&runs);
    let side = Matrix::several(&runs, &several, &[]);
    insta::assert_snapshot!("compared", compared(&side, &PLAIN));
    insta::assert_snapshot!("markdown", markdown(&side));
}

#[test]
fn programs_get_each_comparison_and_the_best() {
    let runs = baseline::machines();
    let several = several(&runs);
    let side = Matrix::several(&runs, &several, &[]);
    let value = serde_json::to_value(json(&side)).unwrap();
    let keys: Vec<&String> = value.as_object().unwrap().keys().collect();
    // As the head of the module lists them.
    assert_eq!(
        keys,
        ["best", "comparisons", "confidence", "names", "pairs", "runs", "schema", "tables"]
    );
    assert_eq!(value["runs"][0]["number"], 12);
    assert_eq!(value["comparisons"][1]["new"]["number"], 41);
    let best = value["best"].as_array().unwrap();
    let stat = best.iter().find(|best| best["subject"] == "stat" && best["point"].is_null());
    assert_eq!(stat.unwrap()["run"], 2);
    assert!(!best.iter().any(|best| best["subject"] == "switch-2p-0k"), "{best:?}");
}

#[test]
fn no_line_is_wider_than_the_terminal() {
    let runs = baseline::machines();
    let several = several(&runs);
    let side = Matrix::several(&runs, &several, &[]);
    for width in [60, 80, 120, 200] {
        for detail in [Detail::Headline, Detail::All] {
            let style = Style { width, detail, ..PLAIN };
            for line in machines(&side, &style).lines().chain(compared(&side, &style).lines()) {
                assert!(line.chars().count() <= width, "{width} columns: {line:?}");
            }
        }
    }
}

#[test]
fn a_page_of_several_runs_has_the_figures_side_by_side() {
    let runs = baseline::machines();
    let page = report::html::page(&runs);
    assert!(page.contains("<h1>3 runs side by side</h1>"));
    let section = page.split("id=\"comparison\"").nth(1).expect("the section");
    let section = section.split("</section>").next().unwrap();
    for part in ["Context switching", "switch-2p-0k", "amber", "★", "×0.707", "0.670–0.742"] {
        assert!(section.contains(part), "no {part}");
    }
    assert_eq!(section.matches("<table").count(), 2, "one for each metric");
    assert_eq!(section.matches(" colspan=").count(), 5, "a row for each heading");
    let only = report::html::page(&runs[..1]);
    assert!(!only.contains("id=\"comparison\""));
    assert!(only.contains("71.0 ns"), "each figure in a unit of its own");
}

#[test]
fn runs_of_one_host_and_number_are_called_as_they_were_typed() {
    let mut runs = baseline::machines();
    for (index, (run, _)) in runs.iter_mut().enumerate() {
        run.summary.number = 1;
        run.host_before.facts.insert("host.name".to_owned(), "vm".into());
        run.summary.id = format!("{index:06x}0000000000");
    }
    let several = several(&runs);
    let words = ["a.db", "b.db", "c.db"].map(str::to_owned);
    let side = Matrix::several(&runs, &several, &words);
    let text = machines(&side, &PLAIN);
    assert!(text.contains("\nnew   c.db: ") && text.contains("ratios to a.db"), "{text}");
    let side = Matrix::several(&runs, &several, &[]);
    assert!(machines(&side, &PLAIN).contains("ratios to run 000000"));
}

#[test]
fn guests_have_the_names_of_the_label_that_distinguishes_them() {
    let mut runs = baseline::machines();
    for ((run, _), kernel) in runs.iter_mut().zip(["6.1.0", "6.12.9", "7.2.0"]) {
        run.host_before.facts.insert("host.name".to_owned(), "guest".into());
        run.host_before.facts.insert(model::ACCELERATOR.to_owned(), "tcg".into());
        run.summary.labels.insert("team".to_owned(), "red".to_owned());
        run.summary.labels.insert("kernel".to_owned(), kernel.to_owned());
    }
    let several = several(&runs);
    let side = Matrix::several(&runs, &several, &[]);
    let text = machines(&side, &PLAIN);
    assert!(text.contains("\nnew   7.2.0: ") && text.contains("ratios to 6.1.0"), "{text}");
    let text: String = text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(text.contains("QEMU emulated these machines: only the ratios between them"), "{text}");
}
