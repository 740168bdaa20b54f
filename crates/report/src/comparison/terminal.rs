//! A comparison for a terminal: subjects down, points across, and what changed in sentences above.
//!
//! As everywhere, a table that is too wide is split between its columns, never squeezed.

use super::{
    Pair, advice, changes, held_in, identity, interval, judged, legend, medians, place_of, point,
    ratio, tag, title, unit, verdicts, word,
};
use crate::figures::{NONE, whole};
use crate::layout::{
    BAD, BOLD, DIM, Detail, GAP, GOOD, INDENT, PLAIN, Pen, Style, display_width, right, wrapped,
};
use analysis::compare::{Change, ComparedRow, ComparedTable, Comparison, Difference, Verdict};
use anstyle::Style as Paint;
use findings::run_changes::sentence;
use std::ops::Range;

/// More differing facts than so many are named only, unless everything is asked for.
const DIFFERENCES_MAX: usize = 12;
/// The narrowest column of values that is worth a table.
const VALUE_MIN: usize = 8;
/// `undecided`, and the gap behind it.
const WORD_WIDTH: usize = 11;

/// The comparison as lines that end in a line feed; with [`Detail::All`] the medians as well.
pub fn text(pair: &Pair, style: &Style) -> String {
    let pen = Pen::new(style);
    let all = style.detail == Detail::All;
    let mut out = String::new();
    for (name, run) in [("base", pair.base), ("new ", pair.new)] {
        pen.paragraph(&mut out, BOLD, &format!("{name}  {}", identity(run)), (0, 6));
    }
    pen.differences(&mut out, pair.comparison, all);
    pen.verdicts(&mut out, pair.comparison);
    pen.changes(&mut out, pair.comparison);
    for table in &pair.comparison.tables {
        out.push('\n');
        pen.compared(&mut out, pair, table, all);
    }
    pen.how_sure(&mut out, pair);
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
    /// What was not the same when they were measured, since all the rest stands on that.
    fn differences(&self, out: &mut String, of: &Comparison, all: bool) {
        out.push('\n');
        if of.differences.is_empty() {
            self.sentence(out, "Nothing that is recorded of the conditions differs.");
            return;
        }
        self.heading(out, "Conditions that differ");
        let most = if all { usize::MAX } else { DIFFERENCES_MAX };
        let (shown, rest) = of.differences.split_at(of.differences.len().min(most));
        self.beside(out, shown);
        if !rest.is_empty() {
            let names: Vec<String> = rest.iter().map(|one| one.what.clone()).collect();
            let (count, names) = (whole(names.len() as u64), crate::words::list(&names));
            self.aside(out, &format!("and {count} more (--all shows them): {names}"));
        }
    }

    /// Three columns: what, as it was, as it is. Long values are folded within theirs.
    fn beside(&self, out: &mut String, shown: &[Difference]) {
        let cell = |value: &Option<String>| value.clone().unwrap_or_else(|| NONE.to_owned());
        let rows: Vec<[String; 3]> = [["what", "base", "new"].map(str::to_owned)]
            .into_iter()
            .chain(shown.iter().map(|one| [one.what.clone(), cell(&one.base), cell(&one.new)]))
            .collect();
        let widest = |column: usize| rows.iter().map(|row| display_width(&row[column])).max();
        let widest = [0, 1, 2].map(|column| widest(column).unwrap_or(0));
        let room = self.width.saturating_sub(INDENT + 2 * GAP);
        let what = widest[0].min(room / 2);
        let half = ((room - what) / 2).max(VALUE_MIN);
        // Who needs less than his half leaves the rest to the other.
        let base = widest[1].min(half.max((room - what).saturating_sub(widest[2])));
        let new = widest[2].min((room - what).saturating_sub(base).max(VALUE_MIN));
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

    fn verdicts(&self, out: &mut String, of: &Comparison) {
        out.push('\n');
        self.heading(out, "Verdicts");
        if of.tables.is_empty() {
            self.sentence(out, "  None: nothing was measured by both.");
            return;
        }
        for line in verdicts(of) {
            self.indented(out, &line);
        }
    }

    fn changes(&self, out: &mut String, of: &Comparison) {
        out.push('\n');
        self.heading(out, "Changed");
        let changes = changes(of);
        if changes.is_empty() {
            self.line(out, "  Nothing that is clear of chance and larger than the margin.");
        }
        let mut under = None;
        for change in changes {
            let place = place_of(change);
            if under.as_ref() != Some(&place) {
                self.aside(out, &place);
                under = Some(place);
            }
            self.change(out, of, change);
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
        for (number, (points, overall)) in self.parts_of(&layout).into_iter().enumerate() {
            if number > 0 {
                out.push('\n');
            }
            self.part_of(out, &layout, &points, overall);
        }
        if all {
            self.aside(out, &format!("medians{}", held_in(&unit)));
        }
    }

    /// Which points stand side by side, and whether the whole series' ratio does behind them.
    fn parts_of(&self, layout: &Layout) -> Vec<(Range<usize>, bool)> {
        let room = self.width.saturating_sub(INDENT + layout.label);
        let (mut parts, mut start, mut used) = (Vec::new(), 0, 0);
        for (at, width) in layout.widths.iter().enumerate() {
            if used + width > room && at > start {
                parts.push((start..at, false));
                (start, used) = (at, 0);
            }
            used += width;
        }
        let end = layout.widths.len();
        if used + layout.overall + GAP - 1 + WORD_WIDTH + layout.interval <= room {
            parts.push((start..end, true));
        } else {
            parts.push((start..end, false));
            parts.push((end..end, true));
        }
        parts
    }

    fn part_of(&self, out: &mut String, layout: &Layout, points: &Range<usize>, overall: bool) {
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
            self.row_of(out, layout, line, (points, overall));
        }
    }

    fn row_of(
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
        if let Some(told) = below {
            self.aside(out, &format!("{:INDENT$}95 % {told}", ""));
        }
        if !points.is_empty() {
            self.medians_of(out, layout, line, points);
        }
    }

    /// Adds what is said of a whole series to its line, behind points of so many columns; what has no
    /// room there is given back.
    fn overall(
        &self,
        text: &mut String,
        layout: &Layout,
        line: &Line,
        used: usize,
    ) -> Option<String> {
        let of = &line.row.overall;
        let said = right(&ratio(of), layout.overall);
        let said = format!("{said} {:<width$}", word(of.verdict), width = WORD_WIDTH - 1);
        text.push_str(&self.paint(paint(of.verdict), &said));
        let used = used + INDENT + layout.label + layout.overall + WORD_WIDTH + GAP - 1;
        let told = interval(of)?;
        if used + display_width(&told) > self.width {
            return Some(told);
        }
        text.push_str(&" ".repeat(GAP - 1));
        text.push_str(&self.paint(DIM, &told));
        None
    }

    /// The medians of both runs below their ratio, where they are asked for.
    fn medians_of(&self, out: &mut String, layout: &Layout, line: &Line, points: &Range<usize>) {
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

    /// What is left out, what the signs mean, and how sure all of it is.
    fn how_sure(&self, out: &mut String, pair: &Pair) {
        let of = pair.comparison;
        if !of.tables.is_empty() {
            self.aside(out, &legend(of));
        }
        if !of.left_out.is_empty() {
            out.push('\n');
            self.heading(out, "Left out");
            for one in &of.left_out {
                self.indented(out, &super::with_remedy(one));
            }
        }
        out.push('\n');
        self.heading(out, "How sure");
        self.indented(out, &judged(pair));
        if let Some(advice) = advice(pair) {
            self.indented(out, &super::with_remedy(&advice));
        }
    }
}

/// What has changed stands out, and what is not known steps back.
const fn paint(verdict: Verdict) -> Paint {
    match verdict {
        Verdict::Slower => BAD,
        Verdict::Faster => GOOD,
        Verdict::Same => PLAIN,
        Verdict::Undecided => DIM,
    }
}

fn layout<'a>(table: &'a ComparedTable, unit: Option<&crate::figures::Unit>) -> Layout<'a> {
    let head: Vec<String> = table.points.iter().copied().map(whole).collect();
    let line = |row: &'a ComparedRow| Line {
        row,
        cells: row.cells.iter().map(|cell| behind(point(cell.as_ref()))).collect(),
        medians: unit.map(|unit| medians(row, unit)),
    };
    let lines: Vec<Line> = table.rows.iter().map(line).collect();
    let longest = |lengths: &mut dyn Iterator<Item = usize>| lengths.max().unwrap_or_default();
    let labels = &mut lines.iter().map(|line| display_width(&line.row.label));
    let label = longest(labels).max("subject".len());
    let width = |at: usize| {
        let cells = longest(&mut lines.iter().map(|line| display_width(&line.cells[at])));
        let medians = lines.iter().flat_map(|line| line.medians.iter().flatten());
        let medians = longest(&mut medians.map(|told| display_width(&told[at])));
        cells.max(medians + 2).max(head[at].len() + 2) + GAP - 1
    };
    let widths = (0..head.len()).map(width).collect();
    let overall = lines.iter().map(|line| display_width(&ratio(&line.row.overall)));
    let overall = longest(&mut overall.chain(["overall".len()])) + GAP - 1;
    let intervals = lines.iter().filter_map(|line| interval(&line.row.overall));
    let interval = longest(&mut intervals.map(|told| display_width(&told)));
    Layout { head, lines, label, widths, overall, interval }
}

/// A dash stands below figures, not below their signs.
fn behind(cell: String) -> String {
    if cell == NONE { format!("{cell}  ") } else { cell }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_longest_word_and_a_gap_fit_their_column() {
        let verdicts = [Verdict::Slower, Verdict::Faster, Verdict::Same, Verdict::Undecided];
        for verdict in verdicts {
            assert!(word(verdict).len() + 2 <= WORD_WIDTH, "{}", word(verdict));
        }
    }
}
