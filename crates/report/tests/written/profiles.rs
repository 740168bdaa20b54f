//! Profiles of a run on a terminal: the sentences of its answer, and the functions below it.

use crate::fixture::profiled::profiled;
use findings::conclude;
use report::layout::{Detail, Style};
use report::terminal::{Pointers, answer, profiles, top_functions};

const PLAIN: Style = Style { colour: false, width: 80, detail: Detail::Headline };

#[test]
fn the_answer_says_where_the_cpu_time_goes_and_the_functions_stand_below() {
    let run = profiled();
    let conclusions = conclude(&run);
    let text = answer(&run, &conclusions, &PLAIN, &Pointers::default());
    insta::assert_snapshot!("profiled", text + &top_functions(&run, &conclusions, &PLAIN));
}

#[test]
fn each_subject_has_its_functions() {
    let run = profiled();
    insta::assert_snapshot!("profiles", profiles(&run, &conclude(&run), &PLAIN));
}

#[test]
fn what_sampling_cost_stands_below_the_functions() {
    let mut run = profiled();
    for (cell, slow_down) in run.profile.cells.iter_mut().zip([1.02, 1.61, 0.97]) {
        cell.slow_down = Some(slow_down);
    }
    let conclusions = conclude(&run);
    let wide = Style { width: 120, ..PLAIN };
    let wanted = "While sampled, operations took ×1.02 as long as in the timed rounds (×0.970 to ×1.61 in 3 cells).";
    for text in [top_functions(&run, &conclusions, &wide), profiles(&run, &conclusions, &wide)] {
        assert_eq!(text.trim_end().lines().last().map(str::trim), Some(wanted), "{text}");
    }
}

#[test]
fn no_line_of_a_profile_is_wider_than_the_terminal() {
    let run = profiled();
    let conclusions = conclude(&run);
    for width in [40, 47, 60, 80, 120] {
        let text = profiles(&run, &conclusions, &Style { width, ..PLAIN });
        for line in text.lines() {
            assert!(line.chars().count() <= width, "{width} columns: {line:?}");
        }
        assert!(text.contains("sock_poll") && text.contains("10,000"), "{width}: {text}");
    }
}

#[test]
fn a_run_without_a_profile_shows_none() {
    let (run, conclusions) = crate::fixture::realistic(3);
    assert_eq!(top_functions(&run, &conclusions, &PLAIN), "");
}
