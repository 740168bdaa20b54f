//! Terminal output as people see it: wide, narrow, with and without colour.

mod fixture;

use fixture::realistic;
use report::terminal::{Detail, Style, tables};

const PLAIN: Style = Style { colour: false, width: 120, detail: Detail::Headline };

#[test]
fn a_wide_terminal_shows_one_line_a_subject() {
    let (run, analysis) = realistic(20);
    insta::assert_snapshot!("wide", tables(&run, &analysis, &PLAIN));
}

#[test]
fn eighty_columns_move_the_growth_below() {
    let (run, analysis) = realistic(20);
    insta::assert_snapshot!("eighty", tables(&run, &analysis, &Style { width: 80, ..PLAIN }));
}

#[test]
fn forty_columns_split_the_table_between_its_points() {
    let (run, analysis) = realistic(20);
    insta::assert_snapshot!("narrow", tables(&run, &analysis, &Style { width: 40, ..PLAIN }));
}

#[test]
fn colour_marks_the_best_and_adds_no_word() {
    let (run, analysis) = realistic(20);
    let coloured = tables(&run, &analysis, &Style { colour: true, ..PLAIN });
    insta::assert_snapshot!("coloured", coloured.replace('\u{1b}', "␛"));
    let bare = without_escapes(&coloured);
    let bare: Vec<&str> = bare.lines().map(str::trim_end).collect();
    assert_eq!(bare, tables(&run, &analysis, &PLAIN).lines().collect::<Vec<_>>());
}

#[test]
fn no_line_is_wider_than_the_terminal() {
    let (run, analysis) = realistic(20);
    for width in [40, 41, 47, 60, 80, 97, 120, 200] {
        for detail in [Detail::Headline, Detail::All] {
            let text = tables(&run, &analysis, &Style { width, detail, ..PLAIN });
            for line in text.lines() {
                assert!(line.chars().count() <= width, "{width} columns: {line:?}");
            }
        }
    }
}

#[test]
fn every_figure_of_the_headline_is_there_at_every_width() {
    let (run, analysis) = realistic(20);
    let figures = |width| {
        let text = tables(&run, &analysis, &Style { width, ..PLAIN });
        let before = text.split("Findings").next().unwrap_or_default().to_owned();
        let mut words: Vec<String> = before
            .split_whitespace()
            .filter(|word| word.chars().all(|c| c.is_ascii_digit() || ",.".contains(c)))
            .map(str::to_owned)
            .collect();
        words.sort();
        words
    };
    assert!(figures(200).len() > 170);
    assert_eq!(figures(200), figures(80));
    assert_eq!(figures(200), figures(40));
}

#[test]
fn a_run_without_figures_says_so() {
    let (mut run, _) = realistic(1);
    run.cells.clear();
    let text = tables(&run, &analysis::Analysis::default(), &PLAIN);
    assert_eq!(text, "Findings\n  None: too little was measured.\n");
}

#[test]
fn an_interrupted_run_says_how_to_go_on() {
    let (mut run, _) = realistic(1);
    run.cells.truncate(12);
    run.summary.state = record::RunState::Interrupted;
    let text = tables(&run, &analysis::analyse(&run), &PLAIN);
    let said = "The run was interrupted: 12 of 910 cells ended → knee run --resume";
    assert!(text.contains(said), "{text}");
}

/// The text without `ESC [ … m`.
fn without_escapes(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('\u{1b}') {
        out.push_str(before);
        rest = after.split_once('m').map_or("", |(_, behind)| behind);
    }
    out + rest
}
