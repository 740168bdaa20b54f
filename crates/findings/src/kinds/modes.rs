//! Which several curves the samples of a series lie on.

use super::{FindingKind, stake};
use crate::conclusions::context::Context;
use crate::finding::Finding;
use crate::finding::names::Names;
use crate::finding::sentence::{Sentence, text};
use crate::finding::verdict::{Tag, Tone};
use crate::format::{Unit, class, count, list, mode_rank, number_word, percent};
use crate::thresholds::MODE_FLAT_LOG_MAX;
use analysis::stats::quantiles::median_of;
use analysis::{Class, Division, Mode};

pub use analysis::Modes;

impl FindingKind for Modes {
    const NAME: &'static str = "modes";

    fn find(context: &Context<'_>) -> Vec<Finding> {
        let of_row = |(table, row): (&analysis::Table, &analysis::Row)| {
            Some(Finding::about_row(table, row, row.modes.clone()?))
        };
        context.rows().filter_map(of_row).collect()
    }

    /// How many times higher the uppermost curve ends than the lowest.
    fn rank(&self) -> f64 {
        let end = |mode: Option<&Mode>| mode.and_then(|mode| Some(mode.curve.last()?.1));
        match (end(self.modes.first()), end(self.modes.last())) {
            (Some(lowest), Some(uppermost)) => stake(uppermost / lowest),
            _ => 1.0,
        }
    }

    /// `dynamic has two modes from 100 to 5,000 processes: 61 % of the samples lie on the lower (constant,
    /// 90.1 µs), 39 % on the upper (linear, 95.0 to 400 µs); rounds 2 and 5 are on the upper.`
    fn sentence(&self, names: &Names<'_>) -> Sentence {
        Sentence::new(names.head().into_iter().chain([text(format!(" {}", describe(self, names)))]))
    }

    fn tag(&self) -> Tag {
        Tag { word: "modes", tone: Tone::Neutral }
    }
}

/// The sentence without its subject.
fn describe(modes: &Modes, names: &Names<'_>) -> String {
    let knots = modes.modes.iter().flat_map(|mode| &mode.curve);
    let unit = names.unit(&knots.map(|knot| knot.1).collect::<Vec<f64>>());
    let count = modes.modes.len();
    let parts: Vec<String> = modes
        .modes
        .iter()
        .enumerate()
        .map(|(index, mode)| {
            let share = percent(mode.share);
            let lie = if index == 0 { " of the samples lie" } else { "" };
            format!("{share}{lie} on the {} ({})", mode_rank(index, count), curve(mode, &unit))
        })
        .collect();
    format!(
        "has {} modes {} {}: {}; {}.",
        number_word(count),
        range(modes.from, modes.to),
        names.axis(),
        parts.join(", "),
        division(modes)
    )
}

/// `from 100 to 5,000`, or `at 100`.
fn range(from: u64, to: u64) -> String {
    if from == to {
        return format!("at {}", count(to));
    }
    format!("from {} to {}", count(from), count(to))
}

/// How a mode grows and where it runs: `linear, 95.0 to 400 µs`, `constant, 90.1 µs`, `0.8 ms`.
fn curve(mode: &Mode, unit: &Unit) -> String {
    let mode_class = mode.growth.as_ref().map(|growth| growth.class);
    let mut levels: Vec<f64> = mode.curve.iter().map(|knot| knot.1).collect();
    let (first, last) = (levels.first().copied(), levels.last().copied());
    let middle = median_of(&mut levels).unwrap_or(f64::NAN);
    let (first, last) = (first.unwrap_or(middle), last.unwrap_or(middle));
    let is_flat =
        mode_class == Some(Class::Constant) || (last / first).ln().abs() < MODE_FLAT_LOG_MAX;
    let level = if is_flat {
        unit.with_symbol(middle)
    } else {
        format!("{} to {}", unit.figure(first), unit.with_symbol(last))
    };
    match mode_class {
        Some(decided) if decided != Class::Undecided => format!("{}, {level}", class(decided)),
        _ => level,
    }
}

/// How the samples are divided among the modes.
fn division(modes: &Modes) -> String {
    let all = if modes.modes.len() == 2 {
        "both modes".to_owned()
    } else {
        format!("all {} modes", number_word(modes.modes.len()))
    };
    match modes.division {
        Division::WithinRounds => format!("a single round has {all}"),
        Division::InStretches => {
            format!("a single round has {all}, each for many samples in a row")
        }
        Division::ByRound => match modes.modes.last().map_or(&[][..], |upper| &upper.rounds) {
            [] => "each round has one of them, not always the same".to_owned(),
            [only] => format!("round {only} has the upper one"),
            several => {
                let numbers: Vec<String> = several.iter().map(u32::to_string).collect();
                format!("rounds {} have the upper one", list(&numbers))
            }
        },
    }
}
