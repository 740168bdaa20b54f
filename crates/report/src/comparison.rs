//! Two runs beside each other: for a terminal, for programs, for a pull request, and as a page.
//!
//! All four say the same in the same order: what differed when they were measured, how many verdicts
//! there are of each kind, what changed, the ratios, what is left out, and how sure all of it is.

mod html;
mod json;
mod markdown;
mod terminal;

pub use html::page;
pub use json::{SCHEMA, value as json};
pub use markdown::text as markdown;
pub use terminal::text as terminal;

use crate::figures::{NONE, Unit, factor, figure, percent, whole};
use crate::words;
use analysis::compare::{
    Change, ComparedPoint, ComparedRow, ComparedTable, Comparison, Direction, Ratio, Verdict,
};
use analysis::is_predicted;
use record::{Run, Warning};
use serde::Serialize;

/// Two runs, and what comparing them came to.
#[derive(Clone, Copy, Debug)]
pub struct Pair<'a> {
    /// The run that is compared with.
    pub base: &'a Run,
    /// The run that is judged.
    pub new: &'a Run,
    /// What came of it.
    pub comparison: &'a Comparison,
}

/// How many ratios there are of each verdict.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Counts {
    /// Worse, and not by less than the margin alone.
    pub slower: usize,
    /// Better, and not by less than the margin alone.
    pub faster: usize,
    /// Within the margin.
    pub same: usize,
    /// Too close to call.
    pub undecided: usize,
}

impl Counts {
    /// Of whole series: the overall ratio of each.
    pub fn of_series<'a>(tables: impl Iterator<Item = &'a ComparedTable>) -> Self {
        tables.flat_map(|table| &table.rows).map(|row| row.overall.verdict).collect()
    }

    /// Of single points.
    pub fn of_points<'a>(tables: impl Iterator<Item = &'a ComparedTable>) -> Self {
        let rows = tables.flat_map(|table| &table.rows);
        rows.flat_map(|row| row.cells.iter().flatten()).map(|point| point.ratio.verdict).collect()
    }

    /// All of them.
    pub fn total(self) -> usize {
        self.decided() + self.undecided
    }

    /// Those of which something is known.
    pub fn decided(self) -> usize {
        self.slower + self.faster + self.same
    }

    fn each(self) -> [(Verdict, usize); 4] {
        [
            (Verdict::Slower, self.slower),
            (Verdict::Faster, self.faster),
            (Verdict::Same, self.same),
            (Verdict::Undecided, self.undecided),
        ]
    }
}

impl FromIterator<Verdict> for Counts {
    fn from_iter<I: IntoIterator<Item = Verdict>>(verdicts: I) -> Self {
        let mut counts = Self::default();
        for verdict in verdicts {
            *match verdict {
                Verdict::Slower => &mut counts.slower,
                Verdict::Faster => &mut counts.faster,
                Verdict::Same => &mut counts.same,
                Verdict::Undecided => &mut counts.undecided,
            } += 1;
        }
        counts
    }
}

/// The sign of a verdict, for eyes and pipes that see no colour.
const fn sign(verdict: Verdict) -> char {
    match verdict {
        Verdict::Slower => '▲',
        Verdict::Faster => '▼',
        Verdict::Same => '=',
        Verdict::Undecided => '?',
    }
}

/// The word for a verdict.
const fn word(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Slower => "slower",
        Verdict::Faster => "faster",
        Verdict::Same => "same",
        Verdict::Undecided => "undecided",
    }
}

/// `▲ 1 slower, ▼ 2 faster, = 9 same, ? 3 undecided`.
fn told(counts: Counts) -> String {
    let each = counts.each().map(|(verdict, count)| {
        format!("{} {} {}", sign(verdict), whole(count as u64), word(verdict))
    });
    each.join(", ")
}

/// The counts of series and of points, each as a line: `15 series: ▲ 1 slower, …`.
fn verdicts(comparison: &Comparison) -> [String; 2] {
    let series = Counts::of_series(comparison.tables.iter());
    let points = Counts::of_points(comparison.tables.iter());
    let of_points = words::one(&whole(points.total() as u64), "points");
    [
        format!("{} series: {}", whole(series.total() as u64), told(series)),
        format!("{of_points}: {}", told(points)),
    ]
}

/// What the signs mean.
fn legend(comparison: &Comparison) -> String {
    let within = percent(comparison.margin);
    let each = if comparison.paired { ", round by round" } else { "" };
    format!(
        "▲ slower, ▼ faster, = the same within {within}, ? undecided; ratios are new ÷ base{each}"
    )
}

/// A ratio with the sign of its verdict: `×1.10 ▲`.
fn ratio(of: &Ratio) -> String {
    format!("{} {}", times(of.ratio.value), sign(of.verdict))
}

/// The smallest ratio that has digits: one below it is no zero.
const LEAST: f64 = 1e-6;

/// A ratio as a factor.
fn times(of: f64) -> String {
    if of > 0.0 && of < LEAST { "×<0.000001".to_owned() } else { factor(of) }
}

/// ` in µs`; nothing of figures without a unit.
fn held_in(unit: &Unit) -> String {
    if unit.symbol.is_empty() { String::new() } else { format!(" in {}", unit.symbol) }
}

/// A ratio at a point, or a dash where there is none.
fn point(of: Option<&ComparedPoint>) -> String {
    of.map_or_else(|| NONE.to_owned(), |point| ratio(&point.ratio))
}

/// Its interval: `1.08 to 1.13`; nothing where it has none.
fn interval(of: &Ratio) -> Option<String> {
    let (low, high) = (of.ratio.low, of.ratio.high);
    let known = low.is_finite() && high.is_finite() && low < high;
    let end = |of: f64| times(of).replacen('×', "", 1);
    known.then(|| format!("{} to {}", end(low), end(high)))
}

/// What a table is about: `poll · 1 active of N watched socketpairs · write + wait + dispatch`.
fn title(pair: &Pair, table: &ComparedTable) -> String {
    let held = words::parameters(pair.new, &table.workload, &table.parameters);
    let metric = &table.metric;
    let about = if metric.about.is_empty() { &metric.name } else { &metric.about };
    let better = if metric.lower_is_better { "" } else { ", more is better" };
    format!("{} · {held} · {about}{better}", table.workload)
}

/// The unit in which the medians of both runs are readable.
fn unit(table: &ComparedTable) -> Unit {
    let points = table.rows.iter().flat_map(|row| row.cells.iter().flatten());
    let medians: Vec<f64> = points.flat_map(|of| [of.base.value, of.new.value]).collect();
    Unit::for_table(&table.metric.unit, &medians)
}

/// The medians of a row, the base's and the new run's, a figure or a dash for each point.
fn medians(row: &ComparedRow, unit: &Unit) -> [Vec<String>; 2] {
    let told = |which: fn(&ComparedPoint) -> f64| {
        let cells = row.cells.iter();
        let figure = |of: &ComparedPoint| unit.figure(which(of));
        cells.map(|cell| cell.as_ref().map_or_else(|| NONE.to_owned(), figure)).collect()
    };
    [told(|of| of.base.value), told(|of| of.new.value)]
}

/// Changes as they are told: those that a reader waits for first, each group in its own order.
fn changes(comparison: &Comparison) -> Vec<&Change> {
    let mut changes: Vec<&Change> = comparison.changes.iter().collect();
    changes.sort_by_key(|change| !change.headline);
    changes
}

/// Where a change holds: `poll · active 1`.
fn place_of(change: &Change) -> String {
    let mut parts = vec![change.workload.clone()];
    parts.extend(words::spelled(&change.parameters, &[]));
    parts.join(" · ")
}

/// The sign and the word of a change.
fn tag(change: &Change) -> (char, &'static str) {
    use analysis::compare::ChangeKind::{Crossover, Figure, Growth, Modes, Outcome, Part};
    let sign = match change.direction {
        Some(Direction::Worse) => sign(Verdict::Slower),
        Some(Direction::Better) => sign(Verdict::Faster),
        None => '•',
    };
    let word = match (change.kind, change.direction) {
        (Figure, Some(Direction::Worse)) => word(Verdict::Slower),
        (Figure, Some(Direction::Better)) => word(Verdict::Faster),
        (Figure, None) => "changed",
        (Part, _) => "a part",
        (Growth, _) => "growth",
        (Crossover, _) => "crossover",
        (Modes, _) => "modes",
        (Outcome, _) => "outcome",
    };
    (sign, word)
}

/// What a run is called beside another: `run 7 (00000000a3f1b2c4), 2026-11-21 14:02 UTC, knee 0.1.0,
/// commit 3701d31`.
fn identity(run: &Run) -> String {
    let summary = &run.summary;
    let name = match summary.number {
        0 => format!("run {}", summary.id),
        number => format!("run {number} ({})", summary.id),
    };
    let when = crate::html::moment(&summary.started);
    let mut parts = vec![name, when, format!("knee {}", summary.version)];
    parts.extend(summary.labels.iter().map(|(key, value)| format!("{key} {value}")));
    parts.join(", ")
}

/// How many ratios were judged, how sure they are together, and what *same* means.
fn judged(pair: &Pair) -> String {
    let comparison = pair.comparison;
    let margin = comparison.margin;
    let same = format!(
        "the same is what lies within {} (×{} to ×{}), with its whole interval",
        percent(margin),
        figure(1.0 / (1.0 + margin)),
        figure(1.0 + margin)
    );
    let how = if is_predicted(pair.new) {
        "A model computed both, so that they differ by what it was told, and by what it draws"
    } else if comparison.paired {
        "Their cells took turns, so that what disturbed one disturbed the other"
    } else {
        "They were measured one after the other, and their intervals allow for what changes from run \
         to run"
    };
    let told = match comparison.judged {
        0 => return "No ratio could be judged.".to_owned(),
        1 => format!("One ratio was judged, with 95 % confidence; {same}. {how}."),
        many => format!(
            "{} ratios were judged at once: with 95 % confidence all of them lie in their intervals; \
             {same}. {how}.",
            whole(many as u64)
        ),
    };
    let single = [pair.base, pair.new].iter().any(|run| rounds(run) < 2);
    if single && !is_predicted(pair.new) {
        return format!(
            "{told} One round says nothing of how rounds differ: that it is by a tenth is assumed."
        );
    }
    told
}

/// How many rounds of a run were planned.
fn rounds(run: &Run) -> u32 {
    run.plan.cells.iter().map(|cell| cell.round + 1).max().unwrap_or(1)
}

/// How to learn more, where something is undecided.
fn advice(pair: &Pair) -> Option<Warning> {
    let comparison = pair.comparison;
    let series = Counts::of_series(comparison.tables.iter());
    // What a model computed gets no surer by measuring.
    if series.undecided == 0 || is_predicted(pair.new) {
        return None;
    }
    let are = if series.undecided == 1 { "is" } else { "are" };
    let (some, all) = (whole(series.undecided as u64), whole(series.total() as u64));
    let more = 2 * rounds(pair.new);
    let (why, remedy) = if comparison.paired {
        ("more rounds narrow their intervals", format!("the same with --rounds {more}"))
    } else {
        (
            "taking turns does away with what changes from run to run, and more rounds narrow the \
             intervals",
            format!("knee compare --interleave CMD WORKLOAD --rounds {more}"),
        )
    };
    Some(Warning { what: format!("{some} of {all} series {are} undecided: {why}"), remedy })
}

/// A warning in one line, with its remedy.
fn with_remedy(warning: &Warning) -> String {
    match warning.remedy.as_str() {
        "" => warning.what.clone(),
        remedy => format!("{} → {remedy}", warning.what),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_are_told_with_every_verdict() {
        let verdicts = [Verdict::Same, Verdict::Slower, Verdict::Same, Verdict::Undecided];
        let counts: Counts = verdicts.into_iter().collect();
        assert_eq!(told(counts), "▲ 1 slower, ▼ 0 faster, = 2 same, ? 1 undecided");
        assert_eq!((counts.total(), counts.decided()), (4, 3));
    }

    #[test]
    fn a_ratio_that_is_next_to_nothing_is_no_zero() {
        let ratio = Ratio {
            ratio: analysis::Estimate { value: 1e-14, low: 1e-14 / 2.0, high: 2e-3 },
            verdict: Verdict::Faster,
        };
        assert_eq!(super::ratio(&ratio), "×<0.000001 ▼");
        assert_eq!(interval(&ratio).as_deref(), Some("<0.000001 to 0.00200"));
    }

    #[test]
    fn a_ratio_without_an_interval_has_none() {
        let of = |value, low, high| Ratio {
            ratio: analysis::Estimate { value, low, high },
            verdict: Verdict::Undecided,
        };
        assert_eq!(interval(&of(1.1, 1.084, 1.131)).as_deref(), Some("1.08 to 1.13"));
        assert_eq!(interval(&of(1.1, f64::NAN, f64::NAN)), None);
        assert_eq!(interval(&of(1.1, 0.0, f64::INFINITY)), None);
        assert_eq!(ratio(&of(1.1, 1.084, 1.131)), "×1.10 ?");
        assert_eq!(ratio(&of(f64::NAN, 0.0, 0.0)), "– ?");
    }
}
