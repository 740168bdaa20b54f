//! Which several curves the samples of a series lie on.

use super::prelude::*;
use crate::format::{Unit, class, count, list, mode_rank, number_word, percent};
use crate::thresholds::MODE_FLAT_LOG_MAX;
use analysis::stats::quantiles::median_of;
use analysis::{Class, Division, Mode};

pub use analysis::Modes;

impl FindingKind for Modes {
    const TAG: Tag = Tag::new("modes", Tone::Neutral);

    fn find(context: &Context<'_>) -> Vec<Finding> {
        Finding::of_rows(context.rows(), |_, row| row.modes.clone())
    }

    /// How many times higher the uppermost curve ends than the lowest.
    fn rank(&self) -> f64 {
        match (end(self.modes.first()), end(self.modes.last())) {
            (Some(lowest), Some(uppermost)) => stake(uppermost / lowest),
            _ => 1.0,
        }
    }

    fn joins(&self, second: &Self) -> bool {
        self.modes.len() == second.modes.len()
    }

    /// `poll: 6.0 to 7.0 % of the samples take 8.20 µs instead of 3.70 µs (two modes)`.
    fn sentence(all: &[Self], names: &Names<'_>) -> Sentence {
        let lower = Range::new(all.iter().filter_map(|modes| end(modes.modes.first())));
        let upper = Range::new(all.iter().filter_map(|modes| end(modes.modes.last())));
        let share = Range::new(all.iter().filter_map(|modes| Some(modes.modes.last()?.share)));
        names.claim(format!(
            ": {} of the samples {} {} instead of {} ({} modes)",
            share.format(percent),
            if names.is_cost() { "take" } else { "reach" },
            names.levels(upper),
            names.levels(lower),
            number_word(all[0].modes.len())
        ))
    }

    /// `from 100 to 5,000 processes, 61 % on the lower (flat, 90.1 µs), 39 % on the upper (linear, 95.0 to 400 µs): rounds 2 and
    /// 5 have the upper one`.
    fn detail(&self, names: &Names<'_>) -> String {
        let knots = self.modes.iter().flat_map(|mode| &mode.curve);
        let unit = names.unit(&knots.map(|knot| knot.1).collect::<Vec<f64>>());
        let part = |(index, mode): (usize, &Mode)| {
            let (share, rank) = (percent(mode.share), mode_rank(index, self.modes.len()));
            format!(", {share} on the {rank} ({})", curve(mode, &unit))
        };
        let parts: String = self.modes.iter().enumerate().map(part).collect();
        let range = if self.from == self.to {
            format!("at {}", count(self.to))
        } else {
            format!("from {} to {}", count(self.from), count(self.to))
        };
        format!("{range} {}{parts}: {}", names.axis(), division(self))
    }
}

/// Where a mode ends.
fn end(mode: Option<&Mode>) -> Option<f64> {
    Some(mode?.curve.last()?.1)
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

/// How the samples are divided among the modes: `rounds 2 and 5 have the upper one`.
pub fn division(modes: &Modes) -> String {
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
                format!("rounds {} have the upper one", list(several.iter().map(u32::to_string)))
            }
        },
    }
}
