//! Texts that all forms of a matrix share.

use super::counts::Counts;
use super::sight::more_rounds;
use super::{Matrix, Reference};
use analysis::Estimate;
use analysis::compare::{Change, ChangeKind, Comparison, Direction, Ratio, Verdict};
use analysis::is_predicted;
use findings::format::{Unit, count, factor, percent, quantity, significant};
use findings::left_out;
use model::{Run, Warning};

/// The sign of a verdict, readable without colour.
pub(crate) const fn sign(verdict: Verdict) -> char {
    match verdict {
        Verdict::Slower => '▲',
        Verdict::Faster => '▼',
        Verdict::Same => '=',
        Verdict::Undecided => '?',
    }
}

/// The word for a verdict, also in the page's style.
pub(crate) const fn word(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Slower => "slower",
        Verdict::Faster => "faster",
        Verdict::Same => "same",
        Verdict::Undecided => "undecided",
    }
}

/// `▲ 1 slower, ▼ 2 faster, = 9 same, ? 3 undecided`.
pub(super) fn counts_text(counts: Counts) -> String {
    let each = counts.each().map(|(verdict, number)| {
        format!("{} {} {}", sign(verdict), count(number as u64), word(verdict))
    });
    each.join(", ")
}

/// The counts of series and of points: `15 series: ▲ 1 slower, …; 60 points: …`.
pub(super) fn verdicts(comparison: &Comparison) -> Option<String> {
    let series = Counts::of_series(comparison.tables.iter());
    let points = Counts::of_points(comparison.tables.iter());
    let has_points = comparison.tables.iter().any(|table| table.points.len() > 1);
    let points = has_points.then(|| {
        format!("; {}: {}", quantity(points.total() as u64, "point"), counts_text(points))
    });
    let total = series.total();
    (total > 0).then(|| {
        let total = count(total as u64);
        format!("{total} series: {}{}", counts_text(series), points.unwrap_or_default())
    })
}

/// A ratio with the sign of its verdict: `×1.10 ▲`.
pub(crate) fn ratio(ratio: &Ratio) -> String {
    format!("{} {}", ratio_factor(ratio.ratio.value), sign(ratio.verdict))
}

/// From here on a bound excludes too little to help: that nothing became twice as slow is no news.
const EXCLUDED_SHOWN_MAX_PERCENT: f64 = 100.0;

/// Ratios below this have no digits left to show; 0 would be wrong.
const RATIO_MIN: f64 = 1e-6;

/// From this ratio of its ends on a CI says nothing.
const RANGE_MAX: f64 = 1e4;

/// A ratio as a factor.
pub(super) fn ratio_factor(ratio: f64) -> String {
    if ratio > 0.0 && ratio < RATIO_MIN { "×<0.000001".to_owned() } else { factor(ratio) }
}

/// ` in µs`; nothing for figures without a unit.
pub(super) fn in_unit(unit: &Unit) -> String {
    if unit.symbol.is_empty() { String::new() } else { format!(" in {}", unit.symbol) }
}

/// The CI of a ratio: `1.08–1.13`; none where it has no width.
pub(super) fn range(ratio: &Ratio) -> Option<String> {
    let Estimate { low, high, .. } = ratio.ratio;
    let has_width = low.is_finite() && high.is_finite() && low < high;
    if has_width && high > RANGE_MAX * low {
        return Some("too wide".to_owned());
    }
    let [low, high] = [low, high].map(|end| ratio_factor(end).replacen('×', "", 1));
    has_width.then(|| format!("{low}–{high}"))
}

/// The sign and the word of a change.
pub(crate) fn tag(change: &Change) -> (char, &'static str) {
    let sign = match change.direction {
        Some(Direction::Worse) => sign(Verdict::Slower),
        Some(Direction::Better) => sign(Verdict::Faster),
        None => '•',
    };
    let word = match (change.kind, change.direction) {
        (ChangeKind::Contention, _) => "lock",
        (ChangeKind::Figure, Some(Direction::Worse)) => word(Verdict::Slower),
        (ChangeKind::Figure, Some(Direction::Better)) => word(Verdict::Faster),
        (ChangeKind::Figure, None) => "changed",
        (ChangeKind::Part, _) => "a part",
        (ChangeKind::Growth, _) => "growth",
        (ChangeKind::Crossover, _) => "crossover",
        (ChangeKind::Modes, _) => "modes",
        (ChangeKind::Outcome, _) => "outcome",
    };
    (sign, word)
}

/// The difference that no series exceeds, of those that are neither slower nor faster; none where it is too wide to help.
pub(super) fn excluded_above(comparison: &Comparison) -> Option<String> {
    let percent = (100.0 * comparison.sensitivity.as_ref()?.excluded_above?).round();
    (percent < EXCLUDED_SHOWN_MAX_PERCENT).then(|| format!("{percent} %"))
}

/// What the signs mean, and what the ratios are to; `best` is the mark of a run that is better than each other one.
pub(super) fn legend(matrix: &Matrix<'_>, best: Option<&str>) -> String {
    let to = match matrix.reference {
        Reference::First => matrix.columns[0].name.clone(),
        Reference::Median(_) => "the median machine".to_owned(),
        Reference::Before(across) => format!("the {} before", across.key),
    };
    let rounds = if are_in_turns(matrix) { ", round by round," } else { "" };
    let margin = percent(matrix.margin());
    let best = best.map(|mark| format!("; {mark} better than each other run"));
    format!(
        "ratios to {to}{rounds} with 95 % CI: ▲ slower, ▼ faster, = the same within {margin}, ? undecided{}",
        best.unwrap_or_default()
    )
}

fn are_in_turns(matrix: &Matrix<'_>) -> bool {
    let mut comparisons = matrix.comparisons().peekable();
    comparisons.peek().is_some() && comparisons.all(|(_, comparison)| comparison.paired)
}

/// How many ratios were judged, with which confidence, and what *same* means.
pub(super) fn confidence(matrix: &Matrix<'_>) -> String {
    if let (Reference::Before(across), 1) = (matrix.reference, matrix.columns.len()) {
        let key = &across.key;
        return format!("There is nothing to compare: all runs have one and the same {key}.");
    }
    let margin = matrix.margin();
    let same = format!(
        "the same means that the whole CI lies within {} (×{} to ×{})",
        percent(margin),
        significant(1.0 / (1.0 + margin)),
        significant(1.0 + margin)
    );
    let is_predicted = matrix.runs().all(is_predicted);
    let how = if is_predicted {
        "A model computed the runs: they differ by its parameters and by its random numbers"
    } else if are_in_turns(matrix) {
        "The cells of the runs took turns, so that a disturbance hit all"
    } else {
        "The runs were measured one after the other; the CIs allow for what changes from run to run"
    };
    let judged = matrix.comparisons().map(|(_, comparison)| comparison.judged).max().unwrap_or(0);
    let judged = match judged {
        0 => return "No ratio could be judged.".to_owned(),
        1 => format!("One ratio was judged, with 95 % confidence; {same}. {how}."),
        number => format!(
            "{} ratios were judged at once: with 95 % confidence all of them lie in their CIs; \
             {same}. {how}.",
            count(number as u64)
        ),
    };
    let judged = match matrix.reference {
        Reference::Before(across) if !are_in_turns(matrix) => format!(
            "{judged} Each {} is one run, and not all took turns: what changed in the machine meanwhile looks like a step.",
            across.key
        ),
        _ => judged,
    };
    if matrix.runs().any(|run| rounds(run) < 2) && !is_predicted {
        return format!(
            "{judged} One round does not show how rounds differ: a spread of a tenth is assumed."
        );
    }
    judged
}

/// How many rounds of a run were planned.
fn rounds(run: &Run) -> u32 {
    run.plan.cells.iter().map(|cell| cell.round + 1).max().unwrap_or(1)
}

/// How to decide what is undecided in a comparison of two runs.
pub(super) fn advice(matrix: &Matrix<'_>) -> Option<Warning> {
    let (comparison, new) = (matrix.only()?, matrix.columns[1].run);
    let series = Counts::of_series(comparison.tables.iter());
    // More rounds of a model do not narrow its intervals.
    if series.undecided == 0 || is_predicted(new) {
        return None;
    }
    let are = if series.undecided == 1 { "is" } else { "are" };
    let (undecided, total) = (count(series.undecided as u64), count(series.total() as u64));
    let sensitivity = comparison.sensitivity.as_ref();
    let bound = excluded_above(comparison)
        .map_or_else(String::new, |bound| format!(" (none differs by more than {bound})"));
    let wanted = sensitivity
        .and_then(|sensitivity| sensitivity.rounds)
        .filter(|&wanted| wanted > rounds(new));
    let (why, remedy) = more_rounds(comparison, new, wanted.unwrap_or(2 * rounds(new)));
    let what = format!("{undecided} of {total} series {are} undecided{bound}: {why}");
    Some(Warning { what, remedy })
}

/// What is left out, with the names of the runs where there are several.
pub(super) fn left_out(matrix: &Matrix<'_>) -> Vec<Warning> {
    if let Reference::Before(across) = matrix.reference {
        return across.left_out.iter().map(left_out::of_history).collect();
    }
    let of_column = |(column, comparison): (usize, &Comparison)| {
        let parts = comparison.left_out.iter().map(left_out::of_comparison);
        let name = matrix.label(column);
        parts
            .map(move |part| Warning { what: format!("{name}{}", part.what), ..part })
            .collect::<Vec<_>>()
    };
    matrix.comparisons().flat_map(of_column).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn judged(value: f64, low: f64, high: f64) -> Ratio {
        Ratio { ratio: Estimate { value, low, high }, verdict: Verdict::Undecided }
    }

    #[test]
    fn counts_name_every_verdict() {
        let verdicts = [Verdict::Same, Verdict::Slower, Verdict::Same, Verdict::Undecided];
        let counts: Counts = verdicts.into_iter().collect();
        assert_eq!(counts_text(counts), "▲ 1 slower, ▼ 0 faster, = 2 same, ? 1 undecided");
        assert_eq!((counts.total(), counts.decided()), (4, 3));
    }

    #[test]
    fn ratios_and_intervals_have_digits_where_they_are_finite() {
        for (judged, text, interval) in [
            (judged(1e-14, 1e-14 / 2.0, 1e-12), "×<0.000001 ?", Some("<0.000001–<0.000001")),
            (judged(1e-14, 1e-14 / 2.0, 2e-3), "×<0.000001 ?", Some("too wide")),
            (judged(1.1, 1.084, 1.131), "×1.10 ?", Some("1.08–1.13")),
            (judged(1.1, f64::NAN, f64::NAN), "×1.10 ?", None),
            (judged(1.1, 0.0, f64::INFINITY), "×1.10 ?", None),
            (judged(f64::NAN, 0.0, 0.0), "– ?", None),
        ] {
            assert_eq!((ratio(&judged).as_str(), range(&judged).as_deref()), (text, interval));
        }
    }
}
