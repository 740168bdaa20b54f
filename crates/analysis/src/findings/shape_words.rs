//! Modes in sentences.

use crate::findings::words;
use crate::{Class, Division, Mode, Modes, Table};

/// `dynamic has two modes from 100 to 5,000 processes: 61 % of the samples lie on the lower (constant,
/// 90.1 µs), 39 % on the upper (linear, 95.0 to 400 µs); rounds 2 and 5 are on the upper.`
pub(crate) fn modes(subject: &str, table: &Table, modes: &Modes) -> String {
    let levels: Vec<f64> =
        modes.modes.iter().flat_map(|mode| mode.curve.iter().map(|knot| knot.1)).collect();
    let unit = words::Unit::for_table(&table.metric.unit, &levels);
    let count = modes.modes.len();
    let one = |(index, mode): (usize, &Mode)| {
        let share = words::percent(mode.share);
        let lie = if index == 0 { " of the samples lie" } else { "" };
        format!("{share}{lie} on the {} ({})", words::mode_rank(index, count), how(mode, &unit))
    };
    let parts: Vec<String> = modes.modes.iter().enumerate().map(one).collect();
    format!(
        "{subject} has {} modes {} {}: {}; {}.",
        words::number_word(count),
        range(modes.from, modes.to),
        table.axis,
        parts.join(", "),
        divided(modes)
    )
}

/// `from 100 to 5,000`, or `at 100`.
fn range(from: u64, to: u64) -> String {
    if from == to {
        return format!("at {}", words::count(to));
    }
    format!("from {} to {}", words::count(from), words::count(to))
}

/// How a mode grows and where it runs: `linear, 95.0 to 400 µs`, `constant, 90.1 µs`, `0.8 ms`.
fn how(mode: &Mode, unit: &words::Unit) -> String {
    let class = mode.growth.as_ref().map(|growth| growth.class);
    let mut levels: Vec<f64> = mode.curve.iter().map(|knot| knot.1).collect();
    let (first, last) = (levels.first().copied(), levels.last().copied());
    let middle = crate::stats::quantiles::median_of(&mut levels).unwrap_or(f64::NAN);
    let (first, last) = (first.unwrap_or(middle), last.unwrap_or(middle));
    let flat = class == Some(Class::Constant) || (last / first).ln().abs() < 0.1;
    let level = if flat {
        unit.with_symbol(middle)
    } else {
        format!("{} to {}", unit.figure(first), unit.with_symbol(last))
    };
    match class {
        Some(class) if class != Class::Undecided => format!("{}, {level}", words::class(class)),
        _ => level,
    }
}

/// How the samples are divided among the modes.
fn divided(modes: &Modes) -> String {
    let all = if modes.modes.len() == 2 {
        "both".to_owned()
    } else {
        format!("all {}", words::number_word(modes.modes.len()))
    };
    match modes.division {
        Division::WithinRounds => format!("one and the same round lies on {all}"),
        Division::InStretches => {
            format!("one and the same round lies on {all}, on each for many samples in a row")
        }
        Division::ByRound => {
            let upper = modes.modes.last().map_or(&[][..], |mode| &mode.rounds);
            match upper {
                [] => "a round lies on one of them, not always on the same".to_owned(),
                [one] => format!("round {one} is on the upper"),
                many => {
                    let numbers: Vec<String> = many.iter().map(u32::to_string).collect();
                    format!("rounds {} are on the upper", words::list(&numbers))
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mode(share: f64, from: f64, to: f64, rounds: &[u32]) -> Mode {
        Mode { share, curve: vec![(100, from), (5_000, to)], growth: None, rounds: rounds.to_vec() }
    }

    #[test]
    fn a_mode_is_told_by_its_share_and_its_place() {
        let both = |division, rounds: &[u32]| Modes {
            from: 100,
            to: 5_000,
            modes: vec![mode(0.61, 90e3, 91e3, &[]), mode(0.39, 95e3, 400e3, rounds)],
            division,
        };
        let table = Table {
            workload: "fork".into(),
            parameters: record::Parameters::new(),
            metric: record::MetricInfo {
                name: "call".into(),
                about: String::new(),
                unit: "ns".into(),
                lower_is_better: true,
                role: None,
            },
            headline: true,
            axis: "processes".into(),
            axis_parameter: String::new(),
            points: Vec::new(),
            trajectory: true,
            points_down: false,
            shares: None,
            rows: Vec::new(),
            leads: Vec::new(),
            contests: Vec::new(),
            rankings: Vec::new(),
            distributions: Vec::new(),
            facts: Vec::new(),
        };
        assert_eq!(
            modes("dynamic", &table, &both(Division::ByRound, &[2, 5])),
            "dynamic has two modes from 100 to 5,000 processes: 61 % of the samples lie on the \
             lower (90.5 µs), 39 % on the upper (95.0 to 400 µs); rounds 2 and 5 are on the upper."
        );
        let within = modes("dynamic", &table, &both(Division::WithinRounds, &[]));
        assert!(within.ends_with("; one and the same round lies on both."), "{within}");
        assert_eq!(
            (words::mode_rank(1, 3), words::mode_rank(2, 3), words::mode_rank(2, 4)),
            ("middle", "uppermost", "third")
        );
    }
}
