//! Functions down, points across: how much CPU time of an operation each takes, and how it grows.

use crate::layout::{BOLD, Detail, GAP, INDENT, Pen, Style, left, widest};
use crate::matrix::grid::{Cell, Grid, GridRow};
use crate::text;
use analysis::{AddedTime, FunctionTime, Growth, ProfileRow, ProfileTable, ProfiledFunction};
use findings::format::{Unit, count, function_name, percent};
use findings::{Conclusions, VerdictWord, kinds};
use model::Run;

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
        // Below an answer the ends are enough.
        let last = table.points.len().saturating_sub(1);
        let is_shown = |column: &usize| max > TOP || *column == 0 || *column >= last;
        let columns: Vec<usize> = (0..grid.heads.len()).filter(is_shown).collect();
        self.grid(out, &grid.with_columns(&columns));
        if functions.is_empty() {
            self.aside(out, "no samples");
        }
    }

    /// The times at each point, then of several points the growth and the share of the added time.
    fn profile_grid(
        &self,
        table: &ProfileTable,
        row: &ProfileRow,
        functions: &[&ProfiledFunction],
        unit: &Unit,
    ) -> Grid {
        let name_max = NAME_MAX.min(self.width * 2 / 5);
        let time = |ns: Option<f64>| {
            vec![ns.map_or_else(|| text::NO_FIGURE.to_owned(), |ns| unit.figure(ns))]
        };
        let line = |name: String, times: &[Option<FunctionTime>], growth, added| {
            let cells: Vec<Cell> = times.iter().map(|at| time(at.map(|at| at.ns.value))).collect();
            (name, cells, verdict(times, growth), share_of_added(added))
        };
        let of_functions = functions.iter().map(|function| {
            let name = shortened(&function_name(&function.frame), name_max);
            line(name, &function.itself, function.growth.as_ref(), function.added)
        });
        // What threads wait for stands below the functions.
        let of_waits = row.waits.iter().map(|wait| {
            let name = kinds::waits::does(wait.kind).to_owned();
            line(name, &wait.times, wait.growth.as_ref(), wait.added)
        });
        let all = row.cells.iter().map(|at| time(at.as_ref().map(|at| at.cpu_ns.value))).collect();
        let all =
            ("all".to_owned(), all, row.growth.as_ref().map(VerdictWord::from), String::new());
        let lines: Vec<_> = of_functions.chain([all]).chain(of_waits).collect();
        let classes = widest(lines.iter().flat_map(|line| &line.2).map(|verdict| verdict.tag.word));
        let growth = |verdict: &Option<VerdictWord>| {
            let text = verdict
                .as_ref()
                .map(|verdict| self.verdict(verdict, classes.max("growth".len()) + 1));
            format!(" {}", text.unwrap_or_default())
        };
        let growths: Vec<String> = lines.iter().map(|line| growth(&line.2)).collect();
        let width = widest(growths.iter()).max(" growth".len());
        let has_added = lines.iter().any(|line| !line.3.is_empty());
        let further = |growth: &str, added: String| -> Vec<Cell> {
            let growth = (table.points.len() > 1).then(|| vec![left(growth, width)]);
            growth.into_iter().chain(has_added.then(|| vec![added])).collect()
        };
        let points = table.points.iter().map(|point| vec![count(*point)]);
        let heads = points.chain(further(" growth", "added".to_owned())).collect();
        let rows = lines.into_iter().zip(&growths).map(|((name, times, _, added), growth)| {
            GridRow::new(name, [times, further(growth, added)].concat())
        });
        Grid { stub: vec!["function".to_owned()], heads, rows: rows.collect(), gap: GAP - 1 }
    }
}

fn unit(row: &ProfileRow) -> Unit {
    let totals = row.cells.iter().flatten().map(|cell| cell.cpu_ns.value);
    Unit::for_table("ns", &totals.collect::<Vec<_>>())
}

/// How a line grows, and with enough samples by which factor.
fn verdict(times: &[Option<FunctionTime>], growth: Option<&Growth>) -> Option<VerdictWord> {
    let mut times = times.iter().flatten();
    let ends = [times.next(), times.next_back()].map(|time| time.map_or(0, |time| time.samples));
    let verdict = VerdictWord::from(growth?);
    let has_enough = ends.iter().all(|&samples| samples >= FACTOR_SAMPLES_MIN);
    Some(if has_enough { verdict } else { VerdictWord { by: String::new(), ..verdict } })
}

/// The share of the added time; what may as well be nothing is no share.
fn share_of_added(added: Option<AddedTime>) -> String {
    let added = added.filter(|added| added.ns.low > 0.0 || added.ns.high < 0.0);
    let share = added.and_then(|added| added.share);
    share.map(|share| percent(share.value)).unwrap_or_default()
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
