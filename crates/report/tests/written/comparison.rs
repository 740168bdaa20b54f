//! A comparison as people and programs see it: terminal, JSON, Markdown, page.

use crate::fixture::compared::{alike, compared};
use analysis::compare::{Comparison, Direction, Sensitivity, Verdict};
use findings::Conclusions;
use model::Run;
use report::layout::{Detail, Style};
use report::matrix::json::{SCHEMA, comparison as json};
use report::matrix::markdown::text as markdown;
use report::matrix::terminal::text as terminal;
use report::matrix::{Matrix, html};

const PLAIN: Style = Style { colour: false, width: 110, detail: Detail::Headline };

fn pair<'a>(runs: &'a [(Run, Conclusions)], comparison: &'a Comparison) -> Matrix<'a> {
    Matrix::pair(&runs[0].0, &runs[1].0, comparison)
}

fn page(runs: &[(Run, Conclusions)], comparison: &Comparison) -> String {
    html::page(runs, &pair(runs, comparison))
}

fn terminal_text(style: &Style) -> String {
    let (runs, comparison) = compared(style.detail == Detail::All);
    terminal(&pair(&runs, &comparison), style)
}

#[test]
fn a_wide_terminal_shows_one_line_a_subject() {
    insta::assert_snapshot!("wide", terminal_text(&PLAIN));
}

#[test]
fn everything_is_shown_with_the_medians_of_both() {
    insta::assert_snapshot!("all", terminal_text(&Style { detail: Detail::All, ..PLAIN }));
}

#[test]
fn colours_say_nothing_that_a_sign_and_a_word_do_not() {
    let coloured = terminal_text(&Style { colour: true, ..PLAIN });
    assert!(coloured.contains('\u{1b}'));
    let bare: Vec<String> = coloured.lines().map(without_escapes).collect();
    let plain = terminal_text(&PLAIN);
    assert_eq!(
        bare.iter().map(|line| line.trim_end()).collect::<Vec<_>>(),
        plain.lines().collect::<Vec<_>>()
    );
}

/// Text without the escapes that colour it.
fn without_escapes(line: &str) -> String {
    let mut parts = line.split('\u{1b}');
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |text, part| text + part.split_once('m').map_or("", |(_, rest)| rest))
}

#[test]
fn no_line_is_wider_than_the_terminal() {
    for detail in [Detail::Headline, Detail::All] {
        let (runs, comparison) = compared(detail == Detail::All);
        for width in [40, 41, 53, 60, 72, 80, 97, 120, 200] {
            let text = terminal(&pair(&runs, &comparison), &Style { width, detail, ..PLAIN });
            for line in text.lines() {
                assert!(line.chars().count() <= width, "{width} columns: {line:?}");
            }
        }
    }
}

#[test]
fn every_ratio_is_there_at_every_width() {
    let ratios = |width| {
        let text = terminal_text(&Style { width, ..PLAIN });
        let tables = text.split("poll · 1 active of N").nth(1).unwrap().split("Left out").next();
        let tables = tables.unwrap().to_owned();
        let mut words: Vec<String> = tables
            .split_whitespace()
            .filter(|word| word.starts_with('×') && !word.ends_with(','))
            .map(str::to_owned)
            .collect();
        words.sort();
        words
    };
    assert!(ratios(200).len() > 50, "{:?}", ratios(200));
    assert_eq!(ratios(200), ratios(60));
    assert_eq!(ratios(200), ratios(40));
}

#[test]
fn without_changes_there_is_no_advice() {
    let (runs, comparison) = alike();
    insta::assert_snapshot!("alike", terminal(&pair(&runs, &comparison), &PLAIN));
    let text = markdown(&pair(&runs, &comparison));
    assert!(text.starts_with("**knee: = the same** · 4 series: ▲ 0 slower"), "{text}");
}

/// The first line never says *the same* of what fails a gate or is undecided.
#[test]
fn markdown_calls_the_same_only_what_is() {
    let (runs, mut comparison) = alike();
    let changes = compared(false).1.changes;
    let starts = |comparison: &Comparison, with: &str| {
        let text = markdown(&pair(&runs, comparison));
        assert!(text.starts_with(&format!("**knee: {with}** · 4 series")), "{with}: {text}");
    };
    comparison.changes = vec![changes[2].clone()];
    starts(&comparison, "▲ worse");
    comparison.changes[0].direction = Some(Direction::Better);
    starts(&comparison, "▼ better");
    comparison.changes = vec![changes[3].clone()];
    starts(&comparison, "• neither slower nor faster, but changed");
    comparison.changes[0].headline = false;
    starts(&comparison, "= the same");
    let cell = comparison.tables[0].rows[0].cells[0].as_mut().unwrap();
    cell.ratio.verdict = Verdict::Undecided;
    starts(&comparison, "= the same as whole series, ? undecided at points");
    comparison.tables[0].rows[0].overall.verdict = Verdict::Undecided;
    starts(&comparison, "? no series is shown to be slower or faster");
}

#[test]
fn a_bound_is_shown_only_where_it_excludes_something() {
    let (runs, mut comparison) = compared(false);
    let wide = Style { width: 400, ..PLAIN };
    comparison.changes.clear();
    for table in &mut comparison.tables {
        table.rows.retain(|row| row.subject == "epoll-edge" || row.subject == "kqueue");
    }
    let mut shown = |bound| {
        comparison.sensitivity = Some(Sensitivity {
            detectable: 0.1,
            excluded_above: bound,
            wanted: 0.05,
            fails_from: 0.16,
            rounds: None,
        });
        terminal(&pair(&runs, &comparison), &wide)
    };
    for (bound, text) in [
        (Some(0.31), "undecided (none differs by more than 31 %): "),
        (Some(18.36), "undecided: "),
        (None, "undecided: "),
    ] {
        let shown = shown(bound);
        assert!(shown.contains(text), "{shown}");
    }
}

#[test]
fn assumptions_and_models_are_named() {
    let (mut runs, comparison) = compared(false);
    let wide = Style { width: 400, ..PLAIN };
    runs[1].0.plan.cells.retain(|cell| cell.round == 0);
    let text = terminal(&pair(&runs, &comparison), &wide);
    assert!(text.contains("of a tenth"), "{text}");
    for (run, _) in &mut runs {
        run.host_before.facts.insert("simulated".to_owned(), "yes".into());
    }
    let text = terminal(&pair(&runs, &comparison), &wide);
    assert!(text.contains("A model computed the runs"), "{text}");
    for word in ["of a tenth", "one after the other", "by knee ab"] {
        assert!(!text.contains(word), "{word}: {text}");
    }
}

#[test]
fn figures_without_a_unit_are_in_none() {
    let (runs, mut comparison) = compared(false);
    for table in &mut comparison.tables {
        table.metric.unit.clear();
    }
    assert!(!markdown(&pair(&runs, &comparison)).contains(", in \n"));
    assert!(!page(&runs, &comparison).contains("base → new in"));
    let all = Style { detail: Detail::All, ..PLAIN };
    assert!(!terminal(&pair(&runs, &comparison), &all).contains(" in \n"));
}

#[test]
fn markdown_begins_with_the_verdict_and_folds_the_details() {
    let (runs, comparison) = compared(true);
    let text = markdown(&pair(&runs, &comparison));
    assert!(text.starts_with("**knee: ▲ slower and ▼ faster** · "), "{text}");
    assert!(!text.contains("<script>"), "{text}");
    insta::assert_snapshot!("markdown", text);
}

#[test]
fn markdown_without_a_decision_says_undecided_first() {
    let (runs, mut comparison) = compared(false);
    comparison.changes.clear();
    for table in &mut comparison.tables {
        table.rows.retain(|row| row.subject == "epoll-edge" || row.subject == "kqueue");
    }
    assert!(markdown(&pair(&runs, &comparison)).starts_with("**knee: ? undecided** · 4 series"));
    comparison.tables.clear();
    let text = markdown(&pair(&runs, &comparison));
    assert!(text.starts_with("**knee: nothing to compare** · 0 series"), "{text}");
}

#[test]
fn json_has_counts_verdicts_and_null_for_what_is_not_finite() {
    let comparison = compared(false).1;
    let value = serde_json::to_value(json(&comparison)).unwrap();
    assert_eq!(value["schema"], SCHEMA);
    let counts = &value["verdicts"]["headline"]["series"];
    let counts = ["slower", "faster", "same", "undecided"].map(|key| counts[key].as_u64().unwrap());
    assert_eq!(counts, [2, 2, 4, 4]);
    assert_eq!(value["tables"][0]["rows"][0]["overall"]["verdict"], "faster");
    let absent = &value["tables"][0]["rows"][5]["overall"]["ratio"]["value"];
    assert!(absent.is_null(), "what is not finite is null: {absent}");
}

#[test]
fn the_page_has_the_comparison_before_the_answers_of_its_runs() {
    let (runs, comparison) = compared(true);
    let page = page(&runs, &comparison);
    let position = |text: &str| page.find(text).unwrap_or_else(|| panic!("no {text}"));
    let order = ["<h1>", "id=\"answer\"", "id=\"comparison\"", "id=\"each-run\""];
    assert!(order.map(position).is_sorted());
    assert!(!page.contains("<script> "), "what a label holds is text");
    for word in ["Facts that differ", "▲ 4 slower", "The other metrics: 2 tables", "Left out"] {
        position(word);
    }
    let ratios = page.matches("class=\"span ").count();
    assert_eq!(ratios, 4 * 5, "an interval is drawn for each series that has one");
    assert!(page.contains("aria-hidden=\"true\">▲</span>"));
    assert!(page.contains("<td class=\"number slower\""), "a verdict is tinted");
    assert!(page.contains("class=\"unseen\"> slower, </span>"), "a sign has a word for ears");
}

#[test]
fn runs_with_equal_numbers_have_their_ids() {
    let (mut runs, comparison) = compared(false);
    runs[1].0.summary.number = runs[0].0.summary.number;
    let page = page(&runs, &comparison);
    let id = |at: usize| runs[at].0.summary.id.get(..6).unwrap().to_owned();
    for at in [0, 1] {
        let name = format!("run 7 ({}) on bench-7", id(at));
        assert!(page.contains(&name), "{name}");
    }
}

#[test]
fn a_page_of_several_machines_names_them_in_its_legend() {
    let (mut runs, _) = compared(false);
    runs.push(runs[0].clone());
    let hosts = ["alpha", "beta", "gamma"];
    for ((run, _), host) in runs.iter_mut().zip(hosts) {
        run.summary.number = 1;
        run.host_before.facts.insert(model::HOST_NAME.to_owned(), host.into());
    }
    let page = report::html::page(&runs);
    for ((run, _), host) in runs.iter().zip(hosts) {
        let name = format!("run 1 ({}) on {host}", &run.summary.id[..6]);
        assert!(page.matches(&name).count() > 1, "{name}");
    }
    assert!(page.contains("\"kernels\":[]"), "they are the same");
}

#[test]
fn a_comparison_of_two_hosts_names_them() {
    let (mut runs, mut comparison) = compared(false);
    let text = terminal(&pair(&runs, &comparison), &PLAIN);
    assert!(text.starts_with("base  run 7") && text.contains("by knee ab"), "one host: {text}");
    for ((run, _), host) in runs.iter_mut().zip(["alpha", "beta"]) {
        run.host_before.facts.insert(model::HOST_NAME.to_owned(), host.into());
    }
    comparison.two_machines = true;
    let text = terminal(&pair(&runs, &comparison), &PLAIN);
    assert!(text.contains("both again with --rounds") && !text.contains("knee ab"), "{text}");
    let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(words.contains("base alpha: run 7") && words.contains("new beta: run 8"), "{text}");
}

#[test]
fn characters_that_turn_or_hide_text_reach_no_page() {
    let (mut runs, _) = compared(false);
    runs[0]
        .0
        .host_before
        .facts
        .insert("cpu.model".to_owned(), "a\u{202e}b\u{200b}c\u{1b}[2Jd".into());
    let page = report::html::page(&runs);
    assert!(page.contains("a b c [2Jd"));
    assert!(page.chars().all(|c| c == '\n' || c == '\t' || printable::is_printable(c)));
}
