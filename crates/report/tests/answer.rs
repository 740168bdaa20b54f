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
