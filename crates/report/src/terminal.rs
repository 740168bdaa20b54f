//! Tables and findings for a terminal: subjects down, points across, sentences below; or points
//! down and subjects across, where the workload wants it.
//!
//! A table that is too wide for the terminal is split between its columns, never squeezed; notes
//! about a row stand behind it if they fit, else below it.

mod answer;
mod averages;
mod down;
mod instructions;
mod listed;
mod profiles;
mod waits;

use crate::layout::{
    BOLD, DIM, Detail, GAP, GOOD, INDENT, NOTABLE, PLAIN, Pen, Style, display_width, right,
};
use crate::text;
use crate::text::NO_FIGURE;
use crate::text::leads::Mark;
use analysis::{Analysis, Row, Table};
use anstyle::Style as Paint;
use findings::format::{Unit, count, list, multiple};
use findings::{Caveat, Conclusions, Finding, Tone, Verdict};
use model::Run;
use std::ops::Range;

pub use crate::text::instructions::Chosen;
pub use answer::{LINES_MAX, Pointers, answer};
pub use instructions::hot_instructions;
pub use profiles::{profiles, top_functions};

/// Directly behind the best figure at a point, for eyes and pipes that see no colour.
fn sign(mark: Mark) -> char {
    match mark {
        Mark::Best => '*',
        Mark::Shared => '~',
    }
}

/// The tables and the findings of one run, and all caveats where all is shown, as lines that end in a line feed.
pub fn tables(run: &Run, conclusions: &Conclusions, style: &Style) -> String {
    let analysis = &conclusions.analysis;
    let pen = Pen::new(style);
    let all = style.detail == Detail::All;
    let mut out = figures(run, analysis, style);
    let shown: Vec<&Finding> =
        conclusions.findings.iter().filter(|finding| all || finding.headline).collect();
    // Where there is one point and nothing is compared, no findings are no surprise.
    let mut tables = text::tables::shown(analysis).filter(|table| table.headline).peekable();
    let is_list =
        tables.peek().is_some() && tables.all(|table| listed::is_in_answer(run, analysis, table));
    if !shown.is_empty() || !is_list {
        pen.findings(&mut out, run, analysis, &shown);
    }
    if all {
        pen.caveats(&mut out, &conclusions.caveats);
    } else {
        // The answer below has the caveats.
        pen.rest(&mut out, run, analysis);
    }
    out
}

/// The tables alone.
pub fn figures(run: &Run, analysis: &Analysis, style: &Style) -> String {
    let pen = Pen::new(style);
    let all = style.detail == Detail::All;
    let mut out = String::new();
    for averages in &analysis.averages {
        pen.averages(&mut out, run, averages);
        out.push('\n');
    }
    for table in text::tables::shown(analysis).filter(|table| all || table.headline) {
        if !all && listed::is_in_answer(run, analysis, table) {
            continue;
        }
        match listed::workload(run, table) {
            Some(info) => pen.listed(&mut out, run, table, info),
            None => pen.table(&mut out, run, table),
        }
        if all {
            pen.facts(&mut out, table);
            pen.waits(&mut out, table);
            pen.scaling(&mut out, table);
        }
        out.push('\n');
    }
    out
}

/// One row as text, before it is laid out.
struct Line<'a> {
    row: &'a Row,
    cells: Vec<String>,
    marks: Vec<Option<Mark>>,
    verdict: Option<Verdict>,
    notes: String,
}

/// Which columns one part of a table holds, and how wide they are.
struct Part {
    points: Range<usize>,
    growth: bool,
}

/// Everything that the parts of one table have in common.
struct Layout<'a> {
    head: Vec<String>,
    /// A second line of the head: what the points are as multiples, after the word for it.
    shares: Option<(String, Vec<String>)>,
    lines: Vec<Line<'a>>,
    label_width: usize,
    widths: Vec<usize>,
    class_width: usize,
    factor_width: usize,
}

impl Pen {
    fn table(&self, out: &mut String, run: &Run, table: &Table) {
        let unit = text::metrics::unit(table);
        let title = [
            table.workload.clone(),
            text::parameters::with_axis(run, &table.workload, &table.parameters),
            text::metrics::measure_and_rounds(run, table, &unit),
        ]
        .join(" · ");
        self.paragraph(out, BOLD, &title, (0, INDENT));
        if table.points_down {
            self.down(out, table, &unit);
        } else {
            self.across(out, table, &unit);
        }
        for row in text::tables::rows(table) {
            if let Some(why) = text::notes::cut_short(table, row) {
                self.aside(out, &format!("{} {why}", row.label));
            }
        }
        for note in text::notes::shared_notes(table) {
            self.aside(out, &note);
        }
    }

    /// What the workload stated of the table's cells.
    fn facts(&self, out: &mut String, table: &Table) {
        for (name, values) in text::notes::facts(table) {
            self.aside(out, &format!("{name}, by {}:", table.axis));
            for (points, value) in values {
                self.paragraph(out, DIM, &format!("{points}: {value}"), (2 * INDENT, 3 * INDENT));
            }
        }
    }

    /// Subjects down, points across.
    fn across(&self, out: &mut String, table: &Table, unit: &Unit) {
        let layout = layout(table, unit);
        for (index, part) in self.parts(&layout).into_iter().enumerate() {
            if index > 0 {
                out.push('\n');
            }
            self.part(out, &layout, &part);
        }
        if let Some(legend) = text::leads::legend(table, sign) {
            self.aside(out, &legend);
        }
    }

    /// Splits a table between its points so that each part fits; the growth stands in the last.
    fn parts(&self, layout: &Layout) -> Vec<Part> {
        let available = self.width - (INDENT + layout.label_width).min(self.width);
        let mut parts = Vec::new();
        let mut start = 0;
        let mut used = 0;
        for (index, width) in layout.widths.iter().enumerate() {
            if used + width > available && index > start {
                parts.push(Part { points: start..index, growth: false });
                (start, used) = (index, 0);
            }
            used += width;
        }
        let end = layout.widths.len();
        if used + GAP - 1 + layout.class_width + layout.factor_width <= available {
            parts.push(Part { points: start..end, growth: true });
        } else {
            parts.push(Part { points: start..end, growth: false });
            parts.push(Part { points: end..end, growth: true });
        }
        parts
    }

    fn part(&self, out: &mut String, layout: &Layout, part: &Part) {
        let mut head = format!("{:INDENT$}{:<width$}", "", "subject", width = layout.label_width);
        for column in part.points.clone() {
            head.push_str(&self.cell(&layout.head[column], layout.widths[column], None));
        }
        if part.growth && layout.class_width > 0 {
            head.push_str(&" ".repeat(self.gap(layout, part)));
            head.push_str("growth");
        }
        self.line(out, &self.paint(DIM, &head));
        if let Some((word, shares)) = layout.shares.as_ref().filter(|_| !part.points.is_empty()) {
            let mut share_line =
                format!("{:INDENT$}{word:<width$}", "", width = layout.label_width);
            for column in part.points.clone() {
                share_line.push_str(&self.cell(&shares[column], layout.widths[column], None));
            }
            self.line(out, &self.paint(DIM, &share_line));
        }
        for line in &layout.lines {
            if part.growth || line.row.unavailable.is_none() {
                self.row(out, layout, part, line);
            }
        }
    }

    fn row(&self, out: &mut String, layout: &Layout, part: &Part, line: &Line) {
        let label = &line.row.label;
        let mut text = format!("{:INDENT$}{label:<width$}", "", width = layout.label_width);
        for column in part.points.clone() {
            text.push_str(&self.cell(
                &line.cells[column],
                layout.widths[column],
                line.marks[column],
            ));
        }
        if !part.growth {
            self.line(out, &text);
            return;
        }
        let mut used = INDENT + layout.label_width;
        let gap = self.gap(layout, part);
        used += layout.widths[part.points.clone()].iter().sum::<usize>() + gap;
        let growth_width = layout.class_width + layout.factor_width;
        if line.verdict.is_some() && used + growth_width > self.width {
            // Growth that does not fit behind the label has a line of its own.
            self.line(out, &std::mem::take(&mut text));
            used = 3 * INDENT;
            text.push_str(&" ".repeat(used));
        } else {
            text.push_str(&" ".repeat(gap));
        }
        let mut notes = line.notes.clone();
        if let Some(Verdict { word, by, tone }) = &line.verdict {
            let word = format!("{word:<width$}", width = layout.class_width);
            text.push_str(&self.paint(tone_paint(*tone), &word));
            text.push_str(by);
            used += layout.class_width + by.chars().count();
            if !notes.is_empty() {
                let pad = layout.factor_width - by.chars().count() + GAP;
                notes.insert_str(0, &" ".repeat(pad));
            }
        }
        self.notes(out, text, used, &notes);
    }

    /// A figure to the right of its column, with its mark behind it or space for one.
    fn cell(&self, figure: &str, width: usize, mark: Option<Mark>) -> String {
        let paint = if mark == Some(Mark::Best) { GOOD } else { PLAIN };
        let sign = mark.map_or(' ', sign);
        self.paint(paint, &right(&format!("{figure}{sign}"), width))
    }

    /// What stands before the growth: less than elsewhere when a narrow terminal asks for it, or
    /// when there is the room of a mark already.
    fn gap(&self, layout: &Layout, part: &Part) -> usize {
        let figures: usize = layout.widths[part.points.clone()].iter().sum();
        let growth = layout.class_width + layout.factor_width;
        let max = if part.points.is_empty() { GAP } else { GAP - 1 };
        self.width.saturating_sub(INDENT + layout.label_width + figures + growth).clamp(1, max)
    }

    /// Ends a row with its notes: behind it if they fit, else on lines of their own.
    fn notes(&self, out: &mut String, text: String, used: usize, notes: &str) {
        let notes = notes.trim_end();
        if used + display_width(notes) <= self.width {
            let notes = if notes.is_empty() { String::new() } else { self.paint(DIM, notes) };
            self.line(out, &(text + &notes));
            return;
        }
        self.line(out, &text);
        if notes.is_empty() {
            return;
        }
        self.paragraph(out, DIM, notes.trim_start(), (3 * INDENT, 3 * INDENT));
    }

    fn findings(&self, out: &mut String, run: &Run, analysis: &Analysis, findings: &[&Finding]) {
        self.heading(out, "Findings");
        if findings.is_empty() {
            self.line(out, &format!("{:INDENT$}{}", "", text::notes::no_findings(analysis)));
        }
        let mut last_scope = None;
        let several = findings.iter().any(|f| {
            (&f.workload, &f.parameters) != (&findings[0].workload, &findings[0].parameters)
        });
        for finding in findings {
            let scope = (&finding.workload, &finding.parameters);
            if several && last_scope != Some(scope) {
                self.aside(out, &scope_text(run, finding));
                last_scope = Some(scope);
            }
            let indent = if several { 2 * INDENT } else { INDENT };
            self.paragraph(out, PLAIN, &finding.text().to_string(), (indent, indent + INDENT));
        }
    }

    fn caveats(&self, out: &mut String, caveats: &[Caveat]) {
        if caveats.is_empty() {
            return;
        }
        self.heading(out, "Caveats");
        for caveat in caveats {
            self.indented(out, &caveat.line());
        }
    }

    /// Names what [`Detail::Headline`] leaves out.
    fn rest(&self, out: &mut String, run: &Run, analysis: &Analysis) {
        let mut names: Vec<String> = Vec::new();
        let left_out =
            |table: &&Table| !table.headline && !listed::is_in_answer(run, analysis, table);
        for table in text::tables::shown(analysis).filter(left_out) {
            if !names.contains(&table.metric.name) {
                names.push(table.metric.name.clone());
            }
        }
        if !names.is_empty() {
            let text = format!("Other metrics, with --all: {}.", list(&names));
            self.paragraph(out, DIM, &text, (0, INDENT));
        }
    }
}

/// Only what grows fast or collapses stands out, and what is not known steps back.
const fn tone_paint(tone: Tone) -> Paint {
    match tone {
        Tone::Middle | Tone::High => NOTABLE,
        Tone::Open => DIM,
        Tone::Low | Tone::Neutral => PLAIN,
    }
}

fn layout<'a>(table: &'a Table, unit: &Unit) -> Layout<'a> {
    let head: Vec<String> = table.points.iter().copied().map(count).collect();
    let shares = table.shares.as_ref().filter(|shares| shares.multiple).map(|shares| {
        let texts = shares.values.iter().map(|&value| multiple(value));
        (shares.word.clone(), texts.collect::<Vec<String>>())
    });
    let lines: Vec<Line> =
        text::tables::rows(table).map(|row| line_text(table, row, unit)).collect();
    let label_width = lines
        .iter()
        .map(|line| display_width(&line.row.label))
        .chain(["subject".len()])
        .chain(shares.as_ref().map(|(word, _)| word.chars().count()))
        .max()
        .unwrap_or_default();
    let widths = (0..head.len())
        .map(|column| {
            let cells = lines.iter().map(|line| line.cells[column].chars().count());
            let shares = shares.iter().map(|(_, shares)| shares[column].len());
            cells.chain([head[column].len()]).chain(shares).max().unwrap_or_default() + GAP
        })
        .collect();
    let max_width = |lengths: &mut dyn Iterator<Item = usize>| lengths.max().unwrap_or_default();
    let verdicts = || lines.iter().filter_map(|line| line.verdict.as_ref());
    let class_width = max_width(&mut verdicts().map(|verdict| verdict.word.len() + 2));
    let factor_width = max_width(&mut verdicts().map(|verdict| verdict.by.chars().count()));
    Layout { head, shares, lines, label_width, widths, class_width, factor_width }
}

fn line_text<'a>(table: &Table, row: &'a Row, unit: &Unit) -> Line<'a> {
    let figure = |cell: &Option<analysis::PointSummary>| {
        cell.as_ref().map_or_else(|| NO_FIGURE.to_owned(), |cell| unit.figure(cell.median.value))
    };
    let notes = match &row.unavailable {
        Some(reason) => format!("unavailable: {reason}"),
        None => text::notes::reasons(row).join("; "),
    };
    Line {
        row,
        cells: row.cells.iter().map(figure).collect(),
        marks: (0..row.cells.len()).map(|at| text::leads::mark(table, at, &row.subject)).collect(),
        verdict: Verdict::new(row),
        notes,
    }
}

/// The workload of a finding and what was held for it: `poll · active 1 · object socketpair`.
fn scope_text(run: &Run, finding: &Finding) -> String {
    text::parameters::scope(run, &finding.workload, &finding.parameters)
}
