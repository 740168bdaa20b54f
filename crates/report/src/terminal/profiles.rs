//! Functions down, points across: how much CPU time of an operation each takes, and how it grows.

use crate::layout::{BOLD, Detail, GAP, INDENT, Pen, Style, left, widest};
use crate::matrix::grid::{Cell, Grid, GridRow};
use crate::text;
use analysis::{
    AddedTime, FunctionTime, Growth, ProfileRow, ProfileTable, ProfiledFunction, ProfiledWait,
};
use findings::format::{Unit, count, function_name, percent};
use findings::{Conclusions, VerdictWord, kinds};
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
    if !changed.is_empty()
        && let Some(text) = text::runs::slow_down(&run.profile.cells)
    {
        pen.aside(&mut out, &text);
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
    if let Some(text) = text::runs::slow_down(&run.profile.cells) {
        pen.aside(&mut out, &text);
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
        let has_samples = |function: &&ProfiledFunction| {
            function.itself.iter().flatten().any(|time| time.samples > 0)
        };
        let functions: Vec<&ProfiledFunction> =
            row.functions.iter().filter(has_samples).take(max).collect();
        let grid = self.profile_grid(table, row, &functions, &unit);
        let columns = columns(&grid, table.points.len(), self.width);
        let hidden =
            table.points.len() - columns.iter().filter(|&&at| at < table.points.len()).count();
        self.grid(out, &grid.with_columns(&columns));
        if functions.is_empty() {
            self.aside(out, "no samples");
        }
        // Below an answer the ends are enough.
        if hidden > 0 && max > TOP {
            let points = if hidden == 1 { "point needs" } else { "points need" };
            self.aside(out, &format!("{hidden} more {points} a wider terminal"));
        }
    }

    /// The times at each point, then the growth, and the share of the added time.
    fn profile_grid(
        &self,
        table: &ProfileTable,
        row: &ProfileRow,
        functions: &[&ProfiledFunction],
        unit: &Unit,
    ) -> Grid {
        let name_max = NAME_MAX.min(self.width * 2 / 5);
        let functions: Vec<Part> =
            functions.iter().map(|function| Part::of_function(function, name_max)).collect();
        let waits: Vec<Part> = row.waits.iter().map(Part::of_wait).collect();
        let time = |ns: Option<f64>| {
            vec![ns.map_or_else(|| text::NO_FIGURE.to_owned(), |ns| unit.figure(ns))]
        };
        let line = |part: &Part| {
            let times = part.times.iter().map(|at| time(at.map(|at| at.ns.value)));
            (part.name.clone(), times.collect::<Vec<Cell>>(), part.verdict(), part.added())
        };
        let all = row.cells.iter().map(|at| time(at.as_ref().map(|at| at.cpu_ns.value))).collect();
        let all =
            ("all".to_owned(), all, row.growth.as_ref().map(VerdictWord::from), String::new());
        let lines: Vec<_> =
            functions.iter().map(line).chain([all]).chain(waits.iter().map(line)).collect();
        let classes = widest(lines.iter().flat_map(|line| &line.2).map(|verdict| verdict.tag.word));
        let growth = |verdict: &Option<VerdictWord>| {
            let text = verdict
                .as_ref()
                .map(|verdict| self.verdict(verdict, classes.max("growth".len()) + 1));
            format!(" {}", text.unwrap_or_default())
        };
        let growths: Vec<String> = lines.iter().map(|line| growth(&line.2)).collect();
        let width = widest(growths.iter()).max(" growth".len());
        let rows = lines.into_iter().zip(&growths).map(|((name, times, _, added), growth)| {
            GridRow::new(name, [times, vec![vec![left(growth, width)], vec![added]]].concat())
        });
        let points = table.points.iter().map(|point| vec![count(*point)]);
        let heads = points.chain([vec![left(" growth", width)], vec!["added".to_owned()]]);
        let (heads, rows) = (heads.collect(), rows.collect());
        Grid { stub: vec!["function".to_owned()], heads, rows, gap: GAP - 1 }
    }
}

/// The columns that fit into a terminal of `width` columns: the growth and the added time give way first, then points
/// between the ends.
fn columns(grid: &Grid, points: usize, width: usize) -> Vec<usize> {
    let (growth, added) = (points, points + 1);
    let ends = if points > 0 { grid.width_of(0) + grid.width_of(points - 1) } else { 0 };
    let needed = |kept: &[usize]| {
        grid.stub_width() + kept.iter().map(|&column| grid.width_of(column)).sum::<usize>()
    };
    let has_added = grid.rows.iter().any(|row| !row.cells[added][0].is_empty());
    let mut kept = vec![growth];
    kept.extend(has_added.then_some(added));
    if needed(&kept) + ends > width {
        kept.truncate(1);
    }
    if needed(&kept) + ends > width || points < 2 {
        kept.retain(|&column| column != growth);
    }
    let widths: Vec<usize> = (0..points).map(|column| grid.width_of(column)).collect();
    [fitting(&widths, width.saturating_sub(needed(&kept))), kept].concat()
}

fn unit(row: &ProfileRow) -> Unit {
    let totals = row.cells.iter().flatten().map(|cell| cell.cpu_ns.value);
    Unit::for_table("ns", &totals.collect::<Vec<_>>())
}

/// A line of the table.
struct Part<'a> {
    name: String,
    times: &'a [Option<FunctionTime>],
    growth: Option<&'a Growth>,
    added: Option<AddedTime>,
}

impl<'a> Part<'a> {
    fn of_function(function: &'a ProfiledFunction, name_max: usize) -> Self {
        let name = shortened(&function_name(&function.frame), name_max);
        let ProfiledFunction { itself, growth, added, .. } = function;
        Part { name, times: itself, growth: growth.as_ref(), added: *added }
    }

    /// What threads wait for, below the functions.
    fn of_wait(wait: &'a ProfiledWait) -> Self {
        let name = kinds::waits::does(wait.kind).to_owned();
        Part { name, times: &wait.times, growth: wait.growth.as_ref(), added: wait.added }
    }

    /// How it grows, and with enough samples by which factor.
    fn verdict(&self) -> Option<VerdictWord> {
        let mut times = self.times.iter().flatten();
        let ends =
            [times.next(), times.next_back()].map(|time| time.map_or(0, |time| time.samples));
        let verdict = VerdictWord::from(self.growth?);
        let has_enough = ends.iter().all(|&samples| samples >= FACTOR_SAMPLES_MIN);
        Some(if has_enough { verdict } else { VerdictWord { by: String::new(), ..verdict } })
    }

    /// The share of the added time; what may as well be nothing is no share.
    fn added(&self) -> String {
        let added = self.added.filter(|added| added.ns.low > 0.0 || added.ns.high < 0.0);
        let share = added.and_then(|added| added.share);
        share.map(|share| percent(share.value)).unwrap_or_default()
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
