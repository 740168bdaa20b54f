//! The table of a self-test, for people.

use super::{State, Tested};
use anstyle::Style as Paint;
use report::layout::{ALARM, DIM, GOOD, INDENT, NOTABLE, PLAIN, Pen, Style, wrapped_whole};

const STATE: usize = 9;

/// What was proved, what was not, and the figures. Nothing where no control came to its end.
pub fn table(tested: &Tested, style: &Style) -> String {
    if tested.all.is_empty() {
        return String::new();
    }
    let pen = Pen::new(style);
    let mut text = String::new();
    pen.line(
        &mut text,
        &format!("knee {} holds itself against what is known", env!("CARGO_PKG_VERSION")),
    );
    for proved in &tested.all {
        let state = proved.proof.state;
        let word = pen.paint(colour(state), &format!("{:<STATE$}", state.name()));
        pen.line(&mut text, &format!("{:INDENT$}{word}{:INDENT$}{}", "", "", proved.control.name));
        let proves = format!("that {}", proved.control.proves);
        let below = 2 * INDENT + STATE;
        for (paint, what) in [(DIM, proves.as_str()), (PLAIN, proved.proof.seen.as_str())] {
            for line in wrapped_whole(what, pen.width, below, below) {
                pen.line(&mut text, &pen.paint(paint, &line));
            }
        }
    }
    for line in wrapped_whole(&summary(tested), pen.width, 0, 0) {
        pen.line(&mut text, &line);
    }
    text
}

/// `10 proved and 2 not here, in 74 s.`, and what was not run.
fn summary(tested: &Tested) -> String {
    let count = |state| tested.all.iter().filter(|proved| proved.proof.state == state).count();
    let counts: Vec<String> = State::ALL
        .into_iter()
        .filter(|&state| count(state) > 0)
        .map(|state| match state {
            State::NotPossible => format!("{} not possible here", count(state)),
            _ => format!("{} {}", count(state), state.name()),
        })
        .collect();
    let (counts, took) = (findings::format::list(&counts), tested.took.as_secs_f64());
    if tested.not_run.is_empty() {
        return format!("{counts}, in {took:.0} s.");
    }
    format!("{counts}, in {took:.0} s. Not run: {}.", findings::format::list(&tested.not_run))
}

const fn colour(state: State) -> Paint {
    match state {
        State::Proved => GOOD,
        State::Undecided => NOTABLE,
        State::Failed => ALARM,
        State::NotPossible => DIM,
    }
}
