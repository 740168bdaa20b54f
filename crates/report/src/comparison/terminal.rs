//! A comparison for a terminal: the changes as sentences, then tables with subjects down and points across.
//!
//! A table that is too wide is split between its columns, never squeezed.

use super::counts::Pair;
use super::sight::{notes, sight};
use super::text::{
    advice, changes, confidence, contention, identities, in_unit, interval, legend, medians, point,
    ratio, scope, tag, title, unit, verdicts, with_remedy, word,
};
use crate::layout::{
    BAD, BOLD, DIM, Detail, GAP, GOOD, INDENT, PLAIN, Pen, Style, display_width, right, widest,
    wrapped,
};
use crate::side_by_side::guests::Guests;
use crate::text::{NO_FIGURE, metrics};
use analysis::compare::{
    Change, ChangeKind, ComparedRow, ComparedTable, Comparison, Difference, Verdict,
};
use anstyle::Style as Paint;
use findings::format::{Unit, count, list};
use findings::left_out;
use findings::run_changes::sentence;
use std::ops::Range;

/// Further differing facts are named only, unless [`Detail::All`] is set.
const DIFFERENCES_MAX: usize = 12;
/// Narrower columns of values are not worth a table.
const VALUE_MIN: usize = 8;
/// `undecided`, and the gap behind it.
const WORD_WIDTH: usize = 11;

/// The comparison as lines that end in a line feed; with [`Detail::All`] the medians as well.
pub fn text(pair: &Pair, style: &Style) -> String {
    let pen = Pen::new(style);
    let all = style.detail == Detail::All;
    let mut out = String::new();
    for (name, identity) in ["base", "new "].into_iter().zip(identities(pair)) {
        pen.paragraph(&mut out, BOLD, &format!("{name}  {identity}"), (0, 6));
    }
    pen.contention(&mut out, pair.comparison);
    pen.differences(&mut out, pair, all);
    pen.verdicts(&mut out, pair);
    pen.changes(&mut out, pair);
    for table in &pair.comparison.tables {
        out.push('\n');
        pen.compared(&mut out, pair, table, all);
    }
    let runs = [pair.base, pair.new].into_iter().map(|run| (run, None));
    if let Some(guests) = Guests::new(runs) {
        pen.guests(&mut out, &guests);
    }
    pen.confidence(&mut out, pair);
    out
}

/// A row as text, before it is laid out.
struct Line<'a> {
    row: &'a ComparedRow,
    cells: Vec<String>,
    medians: Option<[Vec<String>; 2]>,
}

/// What all parts of one table have in common.
struct Layout<'a> {
    head: Vec<String>,
    lines: Vec<Line<'a>>,
    label: usize,
    widths: Vec<usize>,
    overall: usize,
    interval: usize,
}

impl Pen {
    /// What only a lock explains: the first that a reader has to know.
    fn contention(&self, out: &mut String, comparison: &Comparison) {
        let contention = contention(comparison);
        if contention.is_empty() {
            return;
        }
        out.push('\n');
        self.heading(out, "Findings");
        for change in contention {
            self.change(out, comparison, change);
        }
    }

    /// The recorded facts that differ. They come first: all verdicts depend on them.
    fn differences(&self, out: &mut String, pair: &Pair, all: bool) {
        let comparison = pair.comparison;
        out.push('\n');
        if comparison.differences.is_empty() {
            self.sentence(out, "No recorded fact differs.");
        } else {
            self.heading(out, "Facts that differ");
            self.differing_facts(out, comparison, all);
        }
        for note in notes(pair) {
            self.aside(out, note);
        }
    }

    fn differing_facts(&self, out: &mut String, comparison: &Comparison, all: bool) {
        let max = if all { usize::MAX } else { DIFFERENCES_MAX };
        let (shown, rest) = comparison.differences.split_at(comparison.differences.len().min(max));
        self.differences_table(out, shown);
        if !rest.is_empty() {
            let names: Vec<String> = rest.iter().map(|fact| fact.what.clone()).collect();
            let (number, names) = (count(names.len() as u64), list(&names));
            self.aside(out, &format!("and {number} more (--all shows them): {names}"));
        }
    }

    /// Three columns: the fact, its value in base, its value in new. Long values are folded in their column.
    fn differences_table(&self, out: &mut String, shown: &[Difference]) {
        let cell = |value: &Option<String>| value.clone().unwrap_or_else(|| NO_FIGURE.to_owned());
        let rows: Vec<[String; 3]> = [["what", "base", "new"].map(str::to_owned)]
            .into_iter()
            .chain(shown.iter().map(|fact| [fact.what.clone(), cell(&fact.base), cell(&fact.new)]))
            .collect();
        let column_width = |column: usize| rows.iter().map(|row| display_width(&row[column])).max();
        let widest = [0, 1, 2].map(|column| column_width(column).unwrap_or(0));
        let available = self.width.saturating_sub(INDENT + 2 * GAP);
        let what = widest[0].min(available / 2);
        let half = ((available - what) / 2).max(VALUE_MIN);
        // A column that needs less than half leaves the rest to its sibling.
        let base = widest[1].min(half.max((available - what).saturating_sub(widest[2])));
        let new = widest[2].min((available - what).saturating_sub(base).max(VALUE_MIN));
        for (number, row) in rows.iter().enumerate() {
            let folded = [(0, what), (1, base), (2, new)]
                .map(|(column, width)| wrapped(&row[column], width.max(1), 0, 0));
            for line in 0..folded.iter().map(Vec::len).max().unwrap_or(0) {
                let text = |column: usize| folded[column].get(line).map_or("", String::as_str);
                let line = format!(
                    "{:INDENT$}{:<what$}{:GAP$}{:<base$}{:GAP$}{}",
                    "",
                    text(0),
                    "",
                    text(1),
                    "",
                    text(2)
                );
                self.line(out, &self.paint(if number == 0 { DIM } else { PLAIN }, &line));
            }
        }
    }

    fn verdicts(&self, out: &mut String, pair: &Pair) {
        let comparison = pair.comparison;
        out.push('\n');
        self.heading(out, "Verdicts");
        if comparison.tables.is_empty() {
            self.sentence(out, "  None: the runs have no series in common.");
            return;
        }
        for line in verdicts(comparison).into_iter().chain(sight(pair)) {
            self.indented(out, &line);
        }
    }

    fn changes(&self, out: &mut String, pair: &Pair) {
        out.push('\n');
        self.heading(out, "Changed");
        let mut changes = changes(pair.comparison);
        changes.retain(|change| change.kind != ChangeKind::Contention);
        if changes.is_empty() {
            self.line(out, "  No change that is significant and beyond the margin.");
        }
        let mut last_scope = None;
        for change in changes {
            let scope = scope(pair, change);
            if last_scope.as_ref() != Some(&scope) {
                self.aside(out, &scope);
                last_scope = Some(scope);
            }
            self.change(out, pair.comparison, change);
        }
    }

    fn change(&self, out: &mut String, comparison: &Comparison, change: &Change) {
        let (sign, _) = tag(change);
        let text = format!("{sign} {}", sentence(comparison, change));
        self.paragraph(out, PLAIN, &text, (2 * INDENT, 3 * INDENT));
    }

    /// One table, with what its signs mean.
    fn compared(&self, out: &mut String, pair: &Pair, table: &ComparedTable, all: bool) {
        self.paragraph(out, BOLD, &title(pair, table), (0, INDENT));
        let unit = unit(table);
        let layout = layout(table, all.then_some(&unit));
        for (number, (points, overall)) in self.parts_with_overall(&layout).into_iter().enumerate()
        {
            if number > 0 {
                out.push('\n');
            }
            self.compared_part(out, &layout, &points, overall);
        }
        if all {
            self.aside(out, &format!("{}{}", metrics::figures(&table.metric), in_unit(&unit)));
        }
    }

    /// Which points stand side by side, and whether the overall ratio stands behind them.
    fn parts_with_overall(&self, layout: &Layout) -> Vec<(Range<usize>, bool)> {
        let available = self.width.saturating_sub(INDENT + layout.label);
        let (mut parts, mut start, mut used) = (Vec::new(), 0, 0);
        for (at, width) in layout.widths.iter().enumerate() {
            if used + width > available && at > start {
                parts.push((start..at, false));
                (start, used) = (at, 0);
            }
            used += width;
        }
        let end = layout.widths.len();
        if used + layout.overall + GAP - 1 + WORD_WIDTH + layout.interval <= available {
            parts.push((start..end, true));
        } else {
            parts.push((start..end, false));
            parts.push((end..end, true));
        }
        parts
    }

    fn compared_part(
        &self,
        out: &mut String,
        layout: &Layout,
        points: &Range<usize>,
        overall: bool,
    ) {
        let Layout { label, .. } = *layout;
        let mut head = format!("{:INDENT$}{:<label$}", "", "subject");
        for at in points.clone() {
            // The sign stands behind the figure, and the head above the figure.
            head.push_str(&right(&layout.head[at], layout.widths[at] - 2));
            head.push_str("  ");
        }
        if overall {
            head.push_str(&right("overall", layout.overall));
            let fits = INDENT + label + layout.overall + GAP - 1 + WORD_WIDTH + layout.interval;
            if layout.interval > 0 && fits <= self.width {
                head.push_str(&" ".repeat(GAP - 1 + WORD_WIDTH));
                head.push_str("interval");
            }
        }
        self.line(out, &self.paint(DIM, &head));
        for line in &layout.lines {
            self.compared_row(out, layout, line, (points, overall));
        }
    }

    fn compared_row(
        &self,
        out: &mut String,
        layout: &Layout,
        line: &Line,
        (points, overall): (&Range<usize>, bool),
    ) {
        let mut text = format!("{:INDENT$}{:<width$}", "", line.row.label, width = layout.label);
        for at in points.clone() {
            let verdict = line.row.cells[at].as_ref().map(|cell| cell.ratio.verdict);
            let cell = right(&line.cells[at], layout.widths[at]);
            text.push_str(&self.paint(verdict.map_or(PLAIN, paint), &cell));
        }
        let used = layout.widths[points.clone()].iter().sum::<usize>();
        let below = if overall { self.overall(&mut text, layout, line, used) } else { None };
        self.line(out, &text);
        if let Some(interval) = below {
            self.aside(out, &format!("{:INDENT$}95 % CI {interval}", ""));
        }
        if !points.is_empty() {
            self.medians(out, layout, line, points);
        }
    }

    /// Adds the overall ratio to a line of which the points take `used` columns. Returns the interval where
    /// the line is too narrow for it.
    fn overall(
        &self,
        text: &mut String,
        layout: &Layout,
        line: &Line,
        used: usize,
    ) -> Option<String> {
        let overall = &line.row.overall;
        let figure = right(&ratio(overall), layout.overall);
        let figure_and_word =
            format!("{figure} {:<width$}", word(overall.verdict), width = WORD_WIDTH - 1);
        text.push_str(&self.paint(paint(overall.verdict), &figure_and_word));
        let used = used + INDENT + layout.label + layout.overall + WORD_WIDTH + GAP - 1;
        let interval = interval(overall)?;
        if used + display_width(&interval) > self.width {
            return Some(interval);
        }
        text.push_str(&" ".repeat(GAP - 1));
        text.push_str(&self.paint(DIM, &interval));
        None
    }

    /// The medians of both runs below their ratio, with [`Detail::All`].
    fn medians(&self, out: &mut String, layout: &Layout, line: &Line, points: &Range<usize>) {
        for (name, medians) in ["base", "new"].into_iter().zip(line.medians.iter().flatten()) {
            let name = format!("  {name}");
            let mut text = format!("{:INDENT$}{name:<width$}", "", width = layout.label);
            for at in points.clone() {
                // Below the figure, not below its sign.
                text.push_str(&right(&medians[at], layout.widths[at] - 2));
                text.push_str("  ");
            }
            self.line(out, &self.paint(DIM, &text));
        }
    }

    /// What the signs mean, what is left out, and the confidence.
    fn confidence(&self, out: &mut String, pair: &Pair) {
        let comparison = pair.comparison;
        if !comparison.tables.is_empty() {
            self.aside(out, &legend(comparison));
        }
        if !comparison.left_out.is_empty() {
            out.push('\n');
            self.heading(out, "Left out");
            for warning in comparison.left_out.iter().map(left_out::of_comparison) {
                self.indented(out, &with_remedy(&warning));
            }
        }
        out.push('\n');
        self.heading(out, "Confidence");
        self.indented(out, &confidence(pair));
        if let Some(advice) = advice(pair) {
            self.indented(out, &with_remedy(&advice));
        }
    }
}

/// Slower and faster stand out, undecided is dimmed.
const fn paint(verdict: Verdict) -> Paint {
    match verdict {
        Verdict::Slower => BAD,
        Verdict::Faster => GOOD,
        Verdict::Same => PLAIN,
        Verdict::Undecided => DIM,
    }
}

fn layout<'a>(table: &'a ComparedTable, unit: Option<&Unit>) -> Layout<'a> {
    let head: Vec<String> = table.points.iter().copied().map(count).collect();
    let line = |row: &'a ComparedRow| Line {
        row,
        cells: row.cells.iter().map(|cell| aligned(point(cell.as_ref()))).collect(),
        medians: unit.map(|unit| medians(row, unit)),
    };
    let lines: Vec<Line> = table.rows.iter().map(line).collect();
    let label = widest(table.rows.iter().map(|row| row.label.as_str())).max("subject".len());
    let width = |column: usize| {
        let cells = widest(lines.iter().map(|line| &line.cells[column]));
        let medians = lines.iter().flat_map(|line| line.medians.iter().flatten());
        let medians = widest(medians.map(|medians| &medians[column]));
        cells.max(medians + 2).max(head[column].len() + 2) + GAP - 1
    };
    let widths = (0..head.len()).map(width).collect();
    let overall = widest(table.rows.iter().map(|row| ratio(&row.overall)));
    let overall = overall.max("overall".len()) + GAP - 1;
    let interval = widest(table.rows.iter().filter_map(|row| interval(&row.overall)));
    Layout { head, lines, label, widths, overall, interval }
}

/// Aligns a dash with figures, not with their signs.
fn aligned(cell: String) -> String {
    if cell == NO_FIGURE { format!("{cell}  ") } else { cell }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_word_and_a_gap_fit_their_column() {
        let verdicts = [Verdict::Slower, Verdict::Faster, Verdict::Same, Verdict::Undecided];
        for verdict in verdicts {
            assert!(word(verdict).len() + 2 <= WORD_WIDTH, "{}", word(verdict));
        }
    }
}
