//! The answer of a run as a terminal shows it: one screen, whatever was measured.

mod fixture;

use findings::Conclusions;
use fixture::trajectory::{Size, before};
use fixture::{build, dead, locks, pipetest, realistic};
use record::Run;
use report::layout::{Detail, Style};
use report::terminal::{LINES_MAX, Pointers, answer};

fn shown((run, conclusions): &(Run, Conclusions), width: usize) -> String {
    let style = Style { colour: false, width, detail: Detail::Headline };
    let all = "knee show 1 --all".to_owned();
    let lines = vec![format!("Tables, findings and caveats: {all}")];
    answer(run, conclusions, &style, &Pointers { all, lines })
}

#[test]
fn an_answer_says_what_stops_scaling_and_what_to_use_instead() {
    insta::assert_snapshot!("answer_workload", shown(&realistic(12), 100));
    insta::assert_snapshot!("answer_rates", shown(&pipetest::pipetest(12), 100));
    insta::assert_snapshot!("answer_lock", shown(&locks::locks(5), 100));
    insta::assert_snapshot!("answer_dead", shown(&dead::dead(12), 80));
}

#[test]
fn an_answer_without_verdicts_says_so() {
    insta::assert_snapshot!("answer_foreign", shown(&pipetest::foreign(), 100));
    insta::assert_snapshot!("answer_prediction", shown(&locks::predicted(3), 100));
    insta::assert_snapshot!("answer_builds", shown(&build::build(&[1, 2]), 100));
}

#[test]
fn an_answer_fits_a_screen_whatever_was_measured() {
    let runs = [
        realistic(4),
        pipetest::pipetest(4),
        before(Size::SMALL),
        dead::dead(4),
        locks::locks(5),
        locks::predicted(3),
        build::build(&[1, 2]),
    ];
    for run in &runs {
        for width in [80, 100] {
            let text = shown(run, width);
            assert!(text.lines().count() <= LINES_MAX, "{width} columns: {text}");
        }
    }
}
