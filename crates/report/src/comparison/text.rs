//! Texts that all forms of a comparison share.

use super::counts::{Counts, Pair};
use super::sight::{in_turns, longer_load, workloads};
use crate::html::moment;
use crate::text::{NO_FIGURE, metrics, parameters};
use analysis::compare::{
    Change, ChangeDetail, ChangeKind, ComparedPoint, ComparedRow, ComparedTable, Comparison,
    Direction, Ratio, Verdict,
};
use analysis::is_predicted;
use findings::format::{Unit, count, counted, factor, percent, significant};
use findings::run_changes::contention::short_sentence;
use findings::run_changes::sentence;
use model::{HOST_NAME, Run, Warning};

/// The sign of a verdict, readable without colour.
pub(crate) const fn sign(verdict: Verdict) -> char {
    match verdict {
        Verdict::Slower => '▲',
        Verdict::Faster => '▼',
        Verdict::Same => '=',
        Verdict::Undecided => '?',
    }
}

/// The word for a verdict.
pub(crate) const fn word(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Slower => "slower",
        Verdict::Faster => "faster",
        Verdict::Same => "same",
        Verdict::Undecided => "undecided",
    }
}

/// `▲ 1 slower, ▼ 2 faster, = 9 same, ? 3 undecided`.
pub(crate) fn counts_text(counts: Counts) -> String {
    let each = counts.each().map(|(verdict, number)| {
        format!("{} {} {}", sign(verdict), count(number as u64), word(verdict))
    });
    each.join(", ")
}

/// The counts of series and of points, a line each: `15 series: ▲ 1 slower, …`.
pub(super) fn verdicts(comparison: &Comparison) -> [String; 2] {
    let series = Counts::of_series(comparison.tables.iter());
    let points = Counts::of_points(comparison.tables.iter());
    let points_total = counted(&count(points.total() as u64), "points");
    [
        format!("{} series: {}", count(series.total() as u64), counts_text(series)),
        format!("{points_total}: {}", counts_text(points)),
    ]
}

/// What the signs mean.
pub(super) fn legend(comparison: &Comparison) -> String {
    let margin = percent(comparison.margin);
    let paired = if comparison.paired { ", round by round" } else { "" };
    format!(
        "▲ slower, ▼ faster, = the same within {margin}, ? undecided; ratios are new ÷ base{paired}"
    )
}

/// A ratio with the sign of its verdict: `×1.10 ▲`.
pub(crate) fn ratio(ratio: &Ratio) -> String {
    format!("{} {}", ratio_factor(ratio.ratio.value), sign(ratio.verdict))
}

/// From here on a bound excludes too little to help: that nothing became twice as slow is no news.
const EXCLUDED_SHOWN_MAX_PERCENT: f64 = 100.0;

/// Ratios below this have no digits left to show; 0 would be wrong.
const RATIO_MIN: f64 = 1e-6;

/// A ratio as a factor.
pub(super) fn ratio_factor(ratio: f64) -> String {
    if ratio > 0.0 && ratio < RATIO_MIN { "×<0.000001".to_owned() } else { factor(ratio) }
}

/// ` in µs`; nothing for figures without a unit.
pub(crate) fn in_unit(unit: &Unit) -> String {
    if unit.symbol.is_empty() { String::new() } else { format!(" in {}", unit.symbol) }
}

/// A ratio at a point, or a dash where there is none.
pub(super) fn point(point: Option<&ComparedPoint>) -> String {
    point.map_or_else(|| NO_FIGURE.to_owned(), |point| ratio(&point.ratio))
}

/// The interval of a ratio: `1.08 to 1.13`; none where it has no width.
pub(crate) fn interval(ratio: &Ratio) -> Option<String> {
    let (low, high) = (ratio.ratio.low, ratio.ratio.high);
    let has_width = low.is_finite() && high.is_finite() && low < high;
    let [low, high] = [low, high].map(|end| ratio_factor(end).replacen('×', "", 1));
    has_width.then(|| format!("{low}–{high}"))
}

/// The head of a table: `poll · 1 active of N watched socketpairs · write + wait + dispatch`.
pub(super) fn title(pair: &Pair, table: &ComparedTable) -> String {
    let parameters = parameters::with_axis(pair.new, &table.workload, &table.parameters);
    let about = metrics::about(&table.metric);
    let better = if table.metric.lower_is_better { "" } else { ", more is better" };
    format!("{} · {parameters} · {about}{better}", table.workload)
}

/// The unit in which the medians of both runs are readable.
pub(super) fn unit(table: &ComparedTable) -> Unit {
    let points = table.rows.iter().flat_map(|row| row.cells.iter().flatten());
    let medians: Vec<f64> = points.flat_map(|point| [point.base.value, point.new.value]).collect();
    Unit::for_table(&table.metric.unit, &medians)
}

/// The medians of a row in the base and in the new run, a figure or a dash for each point.
pub(super) fn medians(row: &ComparedRow, unit: &Unit) -> [Vec<String>; 2] {
    let figures = |median: fn(&ComparedPoint) -> f64| {
        let figure = |point: &ComparedPoint| unit.figure(median(point));
        let cells = row.cells.iter();
        cells.map(|cell| cell.as_ref().map_or_else(|| NO_FIGURE.to_owned(), figure)).collect()
    };
    [figures(|point| point.base.value), figures(|point| point.new.value)]
}

/// The changes, those of headline metrics first.
pub(super) fn changes(comparison: &Comparison) -> Vec<&Change> {
    let mut changes: Vec<&Change> = comparison.changes.iter().collect();
    changes.sort_by_key(|change| !change.headline);
    changes
}

/// The changes, the largest first among those of headline metrics: whole series, then points, then what has no
/// ratio.
pub(crate) fn ranked_changes(comparison: &Comparison) -> Vec<&Change> {
    let size = |ratio: &Ratio| ratio.ratio.value.ln().abs();
    let rank = |change: &&Change| match &change.detail {
        // A figure counts those that were served.
        ChangeDetail::Served { .. } => (0, f64::INFINITY),
        ChangeDetail::Contention(contended) => {
            (0, (contended.slowdown.value / contended.control.value).ln().abs())
        }
        ChangeDetail::Series { ratio, .. } => (1, size(ratio)),
        ChangeDetail::Points { ratio, .. } => (2, size(ratio)),
        ChangeDetail::Medians { ratio } => (3, size(ratio)),
        _ => (4, 0.0),
    };
    let mut changes = changes(comparison);
    changes.retain(|change| !is_explained(comparison, change));
    changes.sort_by(|a, b| {
        let [(sort_a, size_a), (sort_b, size_b)] = [rank(a), rank(b)];
        let by_size = size_b.total_cmp(&size_a);
        b.headline.cmp(&a.headline).then(sort_a.cmp(&sort_b)).then(by_size)
    });
    changes
}

/// Whether a finding about locks has the figures of this change, too.
fn is_explained(comparison: &Comparison, change: &Change) -> bool {
    let key = |change: &Change| {
        let Change { workload, parameters, metric, subjects, direction, .. } = change;
        (workload.clone(), parameters.clone(), metric.clone(), subjects.clone(), *direction)
    };
    let mut contention =
        comparison.changes.iter().filter(|change| change.kind == ChangeKind::Contention);
    change.kind == ChangeKind::Figure && contention.any(|finding| key(finding) == key(change))
}

/// What changed only where those that do it share something, the largest first.
pub(super) fn contention(comparison: &Comparison) -> Vec<&Change> {
    let mut changes = ranked_changes(comparison);
    changes.retain(|change| change.kind == ChangeKind::Contention);
    changes
}

/// The comparison in one sentence: its first change, else how many series are the same.
pub(crate) fn headline(comparison: &Comparison) -> String {
    let changes = ranked_changes(comparison);
    let series = Counts::of_series(comparison.tables.iter());
    let contention = contention(comparison);
    if let Some(ChangeDetail::Contention(contended)) =
        contention.first().map(|change| &change.detail)
    {
        let label = label(comparison, contention[0]);
        let more = match contention.len() - 1 {
            0 => String::new(),
            more => format!("; {} more of this kind", count(more as u64)),
        };
        return [short_sentence(&label, contended), more].concat();
    }
    if let (Some(largest), 2..) = (largest(comparison), series.slower + series.faster) {
        let [slower, faster, total] =
            [series.slower, series.faster, series.total()].map(|number| count(number as u64));
        let which = match (series.slower, series.faster) {
            (_, 0) => format!("{slower} of {total} series are slower"),
            (0, _) => format!("{faster} of {total} series are faster"),
            _ => format!("Of {total} series {slower} are slower and {faster} faster"),
        };
        let by = ratio_factor(largest.overall.ratio.value);
        return format!("{which}; the largest change: {} {by}", largest.label);
    }
    if let Some(change) = changes.first() {
        let sentence = sentence(comparison, change);
        let more = match changes.len() - 1 {
            0 => String::new(),
            1 => ", and one more change".to_owned(),
            more => format!(", and {} more changes", count(more as u64)),
        };
        return format!("{}{more}", sentence.trim_end_matches('.'));
    }
    let [total, same, undecided] =
        [series.total(), series.same, series.undecided].map(|number| count(number as u64));
    let margin = percent(comparison.margin);
    match series.undecided {
        _ if series.total() == 0 => "The runs have no series in common".to_owned(),
        0 => format!("No difference: the {total} series are the same within {margin}"),
        _ => {
            let bound = excluded_above(comparison).map_or_else(
                || "No difference shown".to_owned(),
                |bound| format!("No difference above {bound}"),
            );
            match series.same {
                0 if series.undecided == 1 => {
                    format!("{bound}; within {margin} the series is undecided")
                }
                0 => format!("{bound}; within {margin} all {total} series are undecided"),
                _ => format!(
                    "{bound}: {same} of {total} series are the same within {margin}, {undecided} undecided"
                ),
            }
        }
    }
}

/// The difference that no series exceeds, of those that are neither slower nor faster; none where it is too wide to help.
fn excluded_above(comparison: &Comparison) -> Option<String> {
    let percent = (100.0 * comparison.sensitivity.as_ref()?.excluded_above?).round();
    (percent < EXCLUDED_SHOWN_MAX_PERCENT).then(|| format!("{percent} %"))
}

/// The label of the subject of a change.
fn label(comparison: &Comparison, change: &Change) -> String {
    let subject = change.subjects.first().map_or("", String::as_str);
    let mut rows = comparison.tables.iter().flat_map(|table| &table.rows);
    let label = rows.find(|row| row.subject == subject).map(|row| row.label.as_str());
    label.unwrap_or(subject).to_owned()
}

/// The series that changed most.
fn largest(comparison: &Comparison) -> Option<&ComparedRow> {
    let rows = comparison.tables.iter().flat_map(|table| &table.rows);
    let changed =
        rows.filter(|row| matches!(row.overall.verdict, Verdict::Slower | Verdict::Faster));
    let size = |row: &ComparedRow| row.overall.ratio.value.ln().abs();
    changed.max_by(|a, b| size(a).total_cmp(&size(b)))
}

/// Where a change was measured: `poll · active 1`.
pub(super) fn scope(pair: &Pair, change: &Change) -> String {
    parameters::scope(pair.new, &change.workload, &change.parameters)
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

/// The name of a run in a comparison: `run 7 (00000000a3f1b2c4), 2026-11-21 14:02 UTC, knee 0.1.0, commit
/// 3701d31`.
pub(crate) fn identity(run: &Run) -> String {
    let summary = &run.summary;
    let name = match summary.number {
        0 => format!("run {}", summary.id),
        number => format!("run {number} ({})", summary.id),
    };
    let mut parts = vec![name, moment(&summary.started), format!("knee {}", summary.version)];
    parts.extend(summary.labels.iter().map(|(key, value)| format!("{key} {value}")));
    parts.join(", ")
}

/// The same of both runs, each on its host where these differ.
pub(super) fn identities(pair: &Pair) -> [String; 2] {
    let hosts = [pair.base, pair.new].map(|run| run.host_before.fact(HOST_NAME));
    let on = |(run, host): (&Run, Option<&str>)| match host {
        Some(host) if hosts[0] != hosts[1] => format!("{}, on {host}", identity(run)),
        _ => identity(run),
    };
    [on((pair.base, hosts[0])), on((pair.new, hosts[1]))]
}

/// How many ratios were judged, with which confidence, and what *same* means.
pub(super) fn confidence(pair: &Pair) -> String {
    let comparison = pair.comparison;
    let same = format!(
        "the same means that the whole CI lies within {} (×{} to ×{})",
        percent(comparison.margin),
        significant(1.0 / (1.0 + comparison.margin)),
        significant(1.0 + comparison.margin)
    );
    let how = if is_predicted(pair.new) {
        "A model computed both runs: they differ by its parameters and by its random numbers"
    } else if comparison.paired {
        "The cells of both runs took turns, so that a disturbance hit both"
    } else {
        "The runs were measured one after the other; the CIs allow for what changes from run to run"
    };
    let judged = match comparison.judged {
        0 => return "No ratio could be judged.".to_owned(),
        1 => format!("One ratio was judged, with 95 % confidence; {same}. {how}."),
        number => format!(
            "{} ratios were judged at once: with 95 % confidence all of them lie in their CIs; \
             {same}. {how}.",
            count(number as u64)
        ),
    };
    let has_one_round = [pair.base, pair.new].iter().any(|run| rounds(run) < 2);
    if has_one_round && !is_predicted(pair.new) {
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

/// How to decide what is undecided.
pub(super) fn advice(pair: &Pair) -> Option<Warning> {
    let comparison = pair.comparison;
    let series = Counts::of_series(comparison.tables.iter());
    // More rounds of a model do not narrow its intervals.
    if series.undecided == 0 || is_predicted(pair.new) {
        return None;
    }
    let are = if series.undecided == 1 { "is" } else { "are" };
    let (undecided, total) = (count(series.undecided as u64), count(series.total() as u64));
    let sensitivity = comparison.sensitivity.as_ref();
    let bound = excluded_above(comparison)
        .map_or_else(String::new, |bound| format!(" (none differs by more than {bound})"));
    let wanted = sensitivity
        .and_then(|sensitivity| sensitivity.rounds)
        .filter(|&wanted| wanted > rounds(pair.new));
    let rounds = wanted.unwrap_or(2 * rounds(pair.new));
    let (why, remedy) = if comparison.paired {
        ("more rounds narrow their CIs", format!("the same with --rounds {rounds}"))
    } else if pair.new.is_load() {
        ("a longer load has more intervals", longer_load(pair.new, rounds))
    } else {
        (
            "taking turns removes what changes from run to run, and more rounds narrow the CIs",
            in_turns(&workloads(comparison, &pair.new.plan), rounds),
        )
    };
    let what = format!("{undecided} of {total} series {are} undecided{bound}: {why}");
    Some(Warning { what, remedy })
}

/// A warning in one line, with its remedy.
pub(crate) fn with_remedy(warning: &Warning) -> String {
    match warning.remedy.as_str() {
        "" => warning.what.clone(),
        remedy => format!("{} → {remedy}", warning.what),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use analysis::Estimate;

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
        for (judged, text, range) in [
            (judged(1e-14, 1e-14 / 2.0, 2e-3), "×<0.000001 ?", Some("<0.000001–0.00200")),
            (judged(1.1, 1.084, 1.131), "×1.10 ?", Some("1.08–1.13")),
            (judged(1.1, f64::NAN, f64::NAN), "×1.10 ?", None),
            (judged(1.1, 0.0, f64::INFINITY), "×1.10 ?", None),
            (judged(f64::NAN, 0.0, 0.0), "– ?", None),
        ] {
            assert_eq!((ratio(&judged).as_str(), interval(&judged).as_deref()), (text, range));
        }
    }
}
