//! Functions down, points across: how much CPU time of an operation each takes, and how it grows.

use super::tone_paint;
use crate::layout::{BOLD, DIM, Detail, GAP, INDENT, Pen, Style, display_width, right, widest};
use crate::text;
use analysis::{
    AddedTime, FunctionTime, Growth, ProfileRow, ProfileTable, ProfiledFunction, ProfiledWait,
};
use findings::Conclusions;
use findings::format::{Unit, count, function_name, percent};
use findings::{Verdict, kinds};
use model::Run;
use std::ops::Range;

/// Functions of a table below an answer.
const TOP: usize = 5;
/// Tables below an answer; the others are counted.
const TABLES_MAX: usize = 3;
/// Functions of a table that shows all.
const FUNCTIONS_MAX: usize = 20;
/// Columns of a function's name; a longer one loses its middle.
const NAME_MAX: usize = 34;
/// With fewer samples at either end a factor says nothing.
const FACTOR_SAMPLES_MIN: u64 = 10;

/// For each headline metric the five functions that add most CPU time, of the subject that changed most; nothing
/// without a profile.
pub fn top_functions(run: &Run, conclusions: &Conclusions, style: &Style) -> String {
    let pen = Pen::new(style);
    let mut out = String::new();
    let changed = conclusions.analysis.profiles.iter().filter(|table| table.headline);
    let changed: Vec<(&ProfileTable, &ProfileRow)> =
        changed.filter_map(|table| Some((table, most_changed(table)?))).collect();
    for (table, row) in changed.iter().take(TABLES_MAX) {
        out.push('\n');
        pen.profile(&mut out, run, table, row, TOP);
    }
    let more = changed.len().saturating_sub(TABLES_MAX);
    if more > 0 {
        pen.aside(&mut out, &format!("{more} more tables: knee show --profile"));
    }
    out
}

/// The profiles of every subject: of the headline metrics, or of all.
pub fn profiles(run: &Run, conclusions: &Conclusions, style: &Style) -> String {
    let pen = Pen::new(style);
    let mut out = String::new();
    let all = style.detail == Detail::All;
    let is_shown = |table: &&ProfileTable| all || table.headline;
    for table in conclusions.analysis.profiles.iter().filter(is_shown) {
        for row in &table.rows {
            pen.profile(&mut out, run, table, row, FUNCTIONS_MAX);
            out.push('\n');
        }
    }
    out
}

/// The row whose CPU time changes by the greatest factor that is attributed.
fn most_changed(table: &ProfileTable) -> Option<&ProfileRow> {
    let factor = |row: &&ProfileRow| {
        let change = row.change.as_ref().filter(|change| change.difference.is_attributed())?;
        Some(change.difference.timed_factor.value.ln().abs())
    };
    let changed = table.rows.iter().filter_map(|row| Some((factor(&row)?, row)));
    changed.max_by(|a, b| a.0.total_cmp(&b.0)).map(|(_, row)| row)
}

/// One function as text.
struct Line {
    name: String,
    times: Vec<String>,
    /// Its growth, and by which factor.
    verdict: Option<Verdict>,
    added: String,
}

impl Pen {
    /// The functions of `row` that add most, `max` of them, and all CPU time.
    fn profile(
        &self,
        out: &mut String,
        run: &Run,
        table: &ProfileTable,
        row: &ProfileRow,
        max: usize,
    ) {
        let unit = unit(row);
        let metric = (!table.headline).then(|| format!(" of {}", table.metric.name));
        let metric = metric.unwrap_or_default();
        let title = [
            format!("{}, {}", table.workload, row.label),
            text::parameters::with_axis(run, &table.workload, &table.parameters),
            format!("CPU time an operation{metric} by function, {}", unit.symbol),
        ];
        self.paragraph(out, BOLD, &title.join(" · "), (0, INDENT));
        let functions = row.functions.iter().filter(|function| has_itself(function)).take(max);
        let name_max = NAME_MAX.min(self.width * 2 / 5);
        let mut lines: Vec<Line> = functions.map(|f| line(f, &unit, name_max)).collect();
        let shown = lines.len();
        lines.push(total(row, &unit));
        lines.extend(row.waits.iter().map(|wait| wait_line(wait, &unit)));
        let layout = Layout::new(table, &lines, self.width);
        self.profile_head(out, table, &layout);
        for line in &lines {
            self.profile_line(out, line, &layout);
        }
        if shown == 0 {
            self.aside(out, "no samples");
        }
        let hidden = table.points.len() - layout.points.len();
        // Below an answer the ends are enough.
        if hidden > 0 && max > TOP {
            let points = if hidden == 1 { "point needs" } else { "points need" };
            self.aside(out, &format!("{hidden} more {points} a wider terminal"));
        }
    }

    fn profile_head(&self, out: &mut String, table: &ProfileTable, layout: &Layout) {
        let mut head = format!("{:INDENT$}{}", "", padded("function", layout.stub - INDENT));
        for &column in &layout.points {
            head.push_str(&right(&count(table.points[column]), layout.widths[column]));
        }
        if layout.growth > 0 {
            head.push_str(&padded(&format!("{:GAP$}growth", ""), layout.growth));
        }
        if layout.added > 0 {
            head.push_str(&right("added", layout.added));
        }
        self.line(out, &self.paint(DIM, &head));
    }

    fn profile_line(&self, out: &mut String, line: &Line, layout: &Layout) {
        let mut text = format!("{:INDENT$}{}", "", padded(&line.name, layout.stub - INDENT));
        for &column in &layout.points {
            text.push_str(&right(&line.times[column], layout.widths[column]));
        }
        if layout.growth > 0 {
            let (word, by, paint) = match &line.verdict {
                Some(verdict) => (verdict.word, verdict.by.as_str(), tone_paint(verdict.tone)),
                None => ("", "", DIM),
            };
            let word = self.paint(paint, &padded(word, layout.class));
            let by = padded(by, layout.growth - GAP - layout.class - 1);
            text.extend([" ".repeat(GAP), word, " ".to_owned(), by]);
        }
        if layout.added > 0 {
            text.push_str(&right(&line.added, layout.added));
        }
        self.line(out, &text);
    }
}

/// How wide the parts of a table are; 0 for what a narrow terminal has no space for.
struct Layout {
    stub: usize,
    widths: Vec<usize>,
    /// The points that fit, by index.
    points: Vec<usize>,
    /// The word for the growth alone.
    class: usize,
    /// The growth with its factor and the gap before it.
    growth: usize,
    /// The share of the added time.
    added: usize,
}

impl Layout {
    fn new(table: &ProfileTable, lines: &[Line], width: usize) -> Self {
        let stub = INDENT + widest(lines.iter().map(|line| &line.name)).max("function".len());
        let column = |(column, &point): (usize, &u64)| {
            let times = lines.iter().map(|line| display_width(&line.times[column]));
            times.chain([count(point).len()]).max().unwrap_or(0) + GAP - 1
        };
        let widths: Vec<usize> = table.points.iter().enumerate().map(column).collect();
        let verdicts = || lines.iter().filter_map(|line| line.verdict.as_ref());
        let class = widest(verdicts().map(|verdict| verdict.word)).max("growth".len());
        let mut growth = GAP + class + 1 + widest(verdicts().map(|verdict| &verdict.by));
        let has_added = lines.iter().any(|line| !line.added.is_empty());
        let mut added = if has_added { "added".len() + GAP - 1 } else { 0 };
        let ends = widths.first().map_or(0, |first| first + widths[widths.len() - 1]);
        if stub + ends + growth + added > width {
            added = 0;
        }
        if stub + ends + growth + added > width || table.points.len() < 2 {
            growth = 0;
        }
        let points = fitting(&widths, width.saturating_sub(stub + growth + added));
        Self { stub, widths, points, class, growth, added }
    }
}

/// Whether samples were taken in the function itself.
fn has_itself(function: &ProfiledFunction) -> bool {
    function.itself.iter().flatten().any(|time| time.samples > 0)
}

fn unit(row: &ProfileRow) -> Unit {
    let totals = row.cells.iter().flatten().map(|cell| cell.cpu_ns.value);
    Unit::for_table("ns", &totals.collect::<Vec<_>>())
}

fn line(function: &ProfiledFunction, unit: &Unit, name_max: usize) -> Line {
    let name = shortened(&function_name(&function.frame), name_max);
    line_of(name, &function.itself, function.growth.as_ref(), function.added, unit)
}

/// What threads wait for, as a line below the functions.
fn wait_line(wait: &ProfiledWait, unit: &Unit) -> Line {
    let name = kinds::waits::does(wait.kind).to_owned();
    line_of(name, &wait.times, wait.growth.as_ref(), wait.added, unit)
}

fn line_of(
    name: String,
    all: &[Option<FunctionTime>],
    growth: Option<&Growth>,
    added: Option<AddedTime>,
    unit: &Unit,
) -> Line {
    let time = |time: &Option<FunctionTime>| match time {
        Some(time) => unit.figure(time.ns.value),
        None => text::NO_FIGURE.to_owned(),
    };
    let mut times = all.iter().flatten();
    let ends = [times.next(), times.next_back()].map(|time| time.map_or(0, |time| time.samples));
    let mut verdict = growth.map(Verdict::from);
    if let Some(verdict) = verdict.as_mut().filter(|_| ends.iter().any(|&n| n < FACTOR_SAMPLES_MIN))
    {
        verdict.by = String::new();
    }
    // What may as well be nothing is no share.
    let added = added.filter(|added| added.ns.low > 0.0 || added.ns.high < 0.0);
    let share = added.and_then(|added| added.share);
    Line {
        name,
        times: all.iter().map(time).collect(),
        verdict,
        added: share.map(|share| percent(share.value)).unwrap_or_default(),
    }
}

fn total(row: &ProfileRow, unit: &Unit) -> Line {
    let time = |cell: &Option<analysis::ProfilePoint>| match cell {
        Some(cell) => unit.figure(cell.cpu_ns.value),
        None => text::NO_FIGURE.to_owned(),
    };
    Line {
        name: "all".to_owned(),
        times: row.cells.iter().map(time).collect(),
        verdict: row.growth.as_ref().map(Verdict::from),
        added: String::new(),
    }
}

/// The columns that fit into `width`: the first and the last, then those from the last on.
fn fitting(widths: &[usize], width: usize) -> Vec<usize> {
    let all: Range<usize> = 0..widths.len();
    let mut kept: Vec<usize> = Vec::new();
    let mut used = 0;
    for column in all.clone().take(1).chain(all.skip(1).rev()) {
        if used + widths[column] > width && kept.len() >= 2 {
            break;
        }
        used += widths[column];
        kept.push(column);
    }
    kept.sort_unstable();
    kept
}

/// A name without its middle, where it is long.
fn shortened(name: &str, max: usize) -> String {
    let letters: Vec<char> = name.chars().collect();
    if letters.len() <= max {
        return name.to_owned();
    }
    let (head, tail) = (max / 2, max - max / 2 - 1);
    let head: String = letters[..head].iter().collect();
    let tail: String = letters[letters.len() - tail..].iter().collect();
    format!("{head}…{tail}")
}

fn padded(text: &str, width: usize) -> String {
    format!("{text}{}", " ".repeat(width.saturating_sub(display_width(text))))
}
