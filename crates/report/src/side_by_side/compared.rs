//! Several runs for a terminal, a series in each row: what changed in which run first, the worst run first.

use super::grid::{Cell, Grid};
use super::{SideBySide, SideCell, SideRow, SideTable, confidence, legend, range};
use crate::comparison::{headline, in_unit, ranked_changes, ratio, tag, with_remedy};
use crate::history::sentences::difference;
use crate::layout::{BAD, BOLD, DIM, Detail, GOOD, INDENT, PLAIN, Pen, Style};
use crate::side_by_side::guests::Guests;
use crate::text::NO_FIGURE;
use analysis::compare::{Comparison, Verdict};
use anstyle::Style as Paint;
use findings::format::{Unit, count, list};
use findings::left_out;
use findings::run_changes::sentence;

/// Further changes of a run, and facts that differ, are counted, unless [`Detail::All`] is set.
const CHANGES_MAX: usize = 4;
const FACTS_MAX: usize = 6;
/// Behind a figure or a ratio that is better than that of each other run.
pub(super) const BEST: char = '*';

/// The runs as lines that end in a line feed.
pub fn text(side: &SideBySide<'_>, style: &Style) -> String {
    let pen = Pen::new(style);
    let all = style.detail == Detail::All;
    let names = side.names();
    let mut out = String::new();
    for (at, identity) in side.identities().into_iter().enumerate() {
        let base = if at == 0 { "base  " } else { "new   " };
        pen.paragraph(&mut out, BOLD, &format!("{base}{identity}"), (0, 6));
    }
    out.push('\n');
    pen.heading(&mut out, "What changed, the worst run first");
    for (run, comparison) in ranked(side) {
        pen.sentence_of_run(&mut out, (&names[run], comparison), all);
    }
    for refusal in side.refusals() {
        pen.indented(&mut out, &refusal);
    }
    out.push('\n');
    pen.heading(&mut out, "Facts that differ");
    for (run, result) in side.comparisons() {
        let Ok(comparison) = result else { continue };
        pen.facts_of_run(&mut out, (&names[run], comparison), all);
    }
    let margin = margin(side);
    for table in side.tables(all).iter().filter(|table| !table.rows.is_empty()) {
        out.push('\n');
        pen.side_table(&mut out, &names, table, all);
    }
    pen.aside(&mut out, &legend(side, margin, "*"));
    pen.left_out_of_runs(&mut out, side);
    if let Some(guests) = Guests::new(side.runs.iter().map(|(run, _)| (run, None))) {
        pen.guests(&mut out, &guests);
    }
    out.push('\n');
    pen.heading(&mut out, "Confidence");
    pen.indented(&mut out, &format!("{}.", confidence(side)));
    out
}

/// The margin that all comparisons share.
pub(super) fn margin(side: &SideBySide<'_>) -> f64 {
    let mut compared = side.several.comparisons.iter().flatten();
    compared.next().map_or(0.05, |comparison| comparison.margin)
}

/// The runs that were compared, the one with most and largest slowdowns first.
pub(super) fn ranked<'a>(side: &SideBySide<'a>) -> Vec<(usize, &'a Comparison)> {
    let mut all: Vec<(usize, &Comparison)> =
        side.comparisons().filter_map(|(run, result)| Some((run, result.as_ref().ok()?))).collect();
    let slowdown = |comparison: &Comparison| {
        let rows = comparison.tables.iter().flat_map(|table| {
            table.rows.iter().map(move |row| (table.metric.lower_is_better, &row.overall))
        });
        let slower = rows.filter(|(_, overall)| overall.verdict == Verdict::Slower);
        slower.map(|(_, overall)| overall.ratio.value.ln().abs()).fold(0.0, f64::max)
    };
    all.sort_by(|(_, a), (_, b)| slowdown(b).total_cmp(&slowdown(a)));
    all
}

pub(super) const fn paint(verdict: Verdict) -> Paint {
    match verdict {
        Verdict::Slower => BAD,
        Verdict::Faster => GOOD,
        Verdict::Same => PLAIN,
        Verdict::Undecided => DIM,
    }
}

impl Pen {
    /// A run's answer, and its changes below.
    fn sentence_of_run(
        &self,
        out: &mut String,
        (name, comparison): (&str, &Comparison),
        all: bool,
    ) {
        self.indented(out, &format!("{name}: {}.", headline(comparison)));
        let changes = ranked_changes(comparison);
        let max = if all { usize::MAX } else { CHANGES_MAX };
        for change in changes.iter().take(max) {
            let (sign, _) = tag(change);
            let text = format!("{sign} {}: {}", change.workload, sentence(comparison, change));
            self.paragraph(out, PLAIN, &text, (2 * INDENT, 3 * INDENT));
        }
        if changes.len() > max {
            let more = count((changes.len() - max) as u64);
            let text = format!("… and {more} more changes: --all");
            self.paragraph(out, DIM, &text, (2 * INDENT, 3 * INDENT));
        }
    }

    pub(super) fn facts_of_run(
        &self,
        out: &mut String,
        (name, comparison): (&str, &Comparison),
        all: bool,
    ) {
        let facts: Vec<String> = comparison.differences.iter().map(difference).collect();
        let max = if all { facts.len() } else { facts.len().min(FACTS_MAX) };
        let text = match (facts.is_empty(), facts.len() - max) {
            (true, _) => "no recorded fact".to_owned(),
            (false, 0) => list(&facts),
            (false, more) => format!("{}, and {more} more (--all)", facts[..max].join(", ")),
        };
        self.indented(out, &format!("{name}: {text}."));
    }

    fn left_out_of_runs(&self, out: &mut String, side: &SideBySide<'_>) {
        let names = side.names();
        let mut lines = Vec::new();
        for (run, result) in side.comparisons() {
            let left_out = result.iter().flat_map(|comparison| &comparison.left_out);
            lines.extend(left_out.map(|part| {
                format!("{}: {}", names[run], with_remedy(&left_out::of_comparison(part)))
            }));
        }
        if !lines.is_empty() {
            out.push('\n');
            self.heading(out, "Left out");
        }
        for line in lines {
            self.indented(out, &line);
        }
    }

    /// A series in each row, below it the points where something changed, or all.
    pub(super) fn side_table(
        &self,
        out: &mut String,
        names: &[String],
        table: &SideTable<'_>,
        all: bool,
    ) {
        self.paragraph(out, BOLD, &table.title(), (0, INDENT));
        let mut heads: Vec<Vec<String>> = names.iter().map(|name| vec![name.clone()]).collect();
        let unit = table.unit();
        if !table.is_single() {
            heads[0].push(in_unit(&unit).trim_start_matches(" in ").to_owned());
        }
        let mut rows = Vec::new();
        for row in &table.rows {
            let own_unit = table.unit_of(std::iter::once(row));
            let figures = if table.is_single() { Some(&own_unit) } else { None };
            let cells = if table.points.len() == 1 { &row.points[0] } else { &row.overall };
            let unit = figures.unwrap_or(&unit);
            rows.push((row.label.to_owned(), line(cells, unit, table.is_single(), all)));
            if table.points.len() > 1 {
                rows.extend(points(table, row, unit, all));
            }
        }
        self.grid(out, &Grid { stub: "subject".to_owned(), heads, rows });
    }
}

/// The points of a series at which something changed, or `all` of them.
fn points(
    table: &SideTable<'_>,
    row: &SideRow<'_>,
    unit: &Unit,
    all: bool,
) -> Vec<(String, Vec<Cell>)> {
    let points = table.points.iter().zip(&row.points);
    let changed = |cell: &SideCell<'_>| {
        let verdict = cell.ratio.map(|ratio| ratio.verdict);
        matches!(verdict, Some(Verdict::Slower | Verdict::Faster))
    };
    let shown = points.filter(|(_, cells)| all || cells.iter().any(changed));
    let line = |(point, cells): (&u64, &Vec<SideCell<'_>>)| {
        (format!("  at {}", count(*point)), line(cells, unit, false, all))
    };
    shown.map(line).collect()
}

/// The first run's median, and the ratios of the others with their CIs.
fn line(cells: &[SideCell<'_>], unit: &Unit, with_symbol: bool, all: bool) -> Vec<Cell> {
    let figure = |cell: &SideCell<'_>| {
        let value = cell.median?.value;
        Some(if with_symbol { unit.with_symbol(value) } else { unit.figure(value) })
    };
    let cell = |(run, cell): (usize, &SideCell<'_>)| {
        let mark = if cell.is_best { BEST } else { ' ' };
        let median = figure(cell);
        if run == 0 {
            let text = median.unwrap_or_else(|| "1".to_owned());
            let paint = if cell.is_best { GOOD } else { PLAIN };
            return vec![(paint, format!("{text}{mark}"))];
        }
        let Some(judged) = cell.ratio else {
            let text = median.unwrap_or_else(|| NO_FIGURE.to_owned());
            return vec![(DIM, format!("{text} "))];
        };
        let range = range(judged).map(|range| format!(" {range}"));
        let text = format!("{}{}{mark}", ratio(judged), range.unwrap_or_default());
        let mut lines = vec![(paint(judged.verdict), text)];
        lines.extend(median.filter(|_| all).map(|median| (DIM, format!("{median} "))));
        lines
    };
    cells.iter().enumerate().map(cell).collect()
}
