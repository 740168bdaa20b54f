//! The table of a self-test, for people.

use super::{State, Tested};
use anstyle::{AnsiColor, Effects, Style as Paint};
use report::terminal::Style;
use textwrap::core::display_width;
use textwrap::{Options, WordSeparator, WordSplitter};

const WIDTH_MIN: usize = 40;
/// Before each line, and between two columns.
const INDENT: usize = 2;
/// The longest state.
const STATE: usize = 9;

/// What was proved, what was not, and the figures; how many of each, and how long it took. Nothing where
/// no control came to its end.
pub fn table(tested: &Tested, style: &Style) -> String {
    if tested.all.is_empty() {
        return String::new();
    }
    let width = style.width.max(WIDTH_MIN);
    let mut text =
        format!("knee {} holds itself against what is known\n", env!("CARGO_PKG_VERSION"));
    for one in &tested.all {
        let state = one.proof.state;
        let word = painted(style.colour, colour(state), &format!("{:<STATE$}", state.name()));
        let head = format!("  {word}  {}", one.control.name);
        text.push_str(&head);
        text.push('\n');
        let proves = format!("that {}", one.control.proves);
        let dim = Paint::new().effects(Effects::DIMMED);
        for (paint, what) in [(dim, proves.as_str()), (Paint::new(), one.proof.seen.as_str())] {
            for line in folded(what, width - 2 * INDENT - STATE) {
                text.push_str(&" ".repeat(2 * INDENT + STATE));
                text.push_str(&painted(style.colour, paint, &line));
                text.push('\n');
            }
        }
    }
    for line in folded(&summary(tested), width) {
        text.push_str(&line);
        text.push('\n');
    }
    text
}

/// `10 proved and 2 not here, in 74 s.`, and what was not run.
fn summary(tested: &Tested) -> String {
    let count = |state| tested.all.iter().filter(|one| one.proof.state == state).count();
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
    let names: Vec<String> = tested.not_run.iter().map(|&name| name.to_owned()).collect();
    format!("{counts}, in {took:.0} s. Not run: {}.", findings::format::list(&names))
}

fn colour(state: State) -> Paint {
    match state {
        State::Proved => Paint::new().fg_color(Some(AnsiColor::Green.into())),
        State::Undecided => Paint::new().fg_color(Some(AnsiColor::Yellow.into())),
        State::Failed => Paint::new().fg_color(Some(AnsiColor::Red.into())).effects(Effects::BOLD),
        State::NotPossible => Paint::new().effects(Effects::DIMMED),
    }
}

fn painted(colour: bool, paint: Paint, text: &str) -> String {
    if colour && !paint.is_plain() {
        format!("{}{text}{}", paint.render(), paint.render_reset())
    } else {
        text.to_owned()
    }
}

fn folded(text: &str, width: usize) -> Vec<String> {
    if display_width(text) <= width {
        return vec![text.to_owned()];
    }
    let options = Options::new(width)
        .word_separator(WordSeparator::AsciiSpace)
        .word_splitter(WordSplitter::NoHyphenation)
        .break_words(false);
    textwrap::wrap(text, options).into_iter().map(std::borrow::Cow::into_owned).collect()
}
