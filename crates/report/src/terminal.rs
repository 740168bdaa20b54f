//! Tables and findings for a terminal: subjects down, points across, sentences below; or points
//! down and subjects across, where the workload wants it.
//!

mod answer;
mod down;
mod instructions;
mod listed;
mod profiles;
mod timing;

use crate::layout::{
    BOLD, DIM, Detail, GAP, GOOD, INDENT, NOTABLE, PLAIN, Pen, Style, left, widest,
};
use crate::matrix::grid::{Cell, Grid, GridRow};
use crate::text::leads::{Mark, sign};
use crate::text::notes::StatedFact;
use crate::text::{self, NO_FIGURE};
use analysis::{Analysis, Averages, Row, Table};
use anstyle::Style as Paint;
use findings::answer::{is_in_answer, listed};
use findings::format::{Unit, count, list, multiple};
use findings::grouping::distinct;
use findings::{Caveat, Conclusions, Finding, Tone, VerdictWord};
use model::Run;

pub use crate::text::instructions::Chosen;
pub use answer::{LINES_MAX, Pointers, answer, answer_so_far};
pub use instructions::hot_instructions;
pub use profiles::{profiles, top_functions};
pub use timing::timing;

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
        tables.peek().is_some() && tables.all(|table| is_in_answer(run, &analysis.tables, table));
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
        if !all && is_in_answer(run, &analysis.tables, table) {
            continue;
        }
        match listed(run, table) {
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

impl Pen {
    fn table(&self, out: &mut String, run: &Run, table: &Table) {
        let unit = text::metrics::unit(table);
        let measure = text::metrics::measure_and_rounds(run, table, &unit);
        let title = format!("{} · {measure}", text::parameters::of_table(run, table));
        self.paragraph(out, BOLD, &title, (0, INDENT));
        if table.points_down {
            self.down(out, table, &unit);
        } else {
            self.across(out, table, &unit);
        }
        for note in text::notes::shared_notes(table) {
            self.aside(out, &note);
        }
    }

    /// What the workload stated of the table's cells.
    fn facts(&self, out: &mut String, table: &Table) {
        for StatedFact { name, by, lines } in text::notes::facts(table) {
            self.aside(out, &format!("{name}, by {by}:"));
            for (label, value) in lines {
                self.paragraph(out, DIM, &format!("{label}: {value}"), (2 * INDENT, 3 * INDENT));
            }
        }
    }

    /// Subjects down, points across; behind them how they grow, and why figures are missing.
    fn across(&self, out: &mut String, table: &Table, unit: &Unit) {
        let shares = table.shares.as_ref().filter(|shares| shares.multiple);
        let verdicts: Vec<Option<VerdictWord>> =
            text::tables::rows(table).map(VerdictWord::new).collect();
        let classes = widest(verdicts.iter().flatten().map(|verdict| verdict.tag.word));
        let growth = |verdict: &VerdictWord| self.verdict(verdict, classes + 2);
        let growths: Vec<Option<String>> =
            verdicts.iter().map(|verdict| verdict.as_ref().map(growth)).collect();
        let width = widest(growths.iter().flatten().chain([&"growth".to_owned()]));
        let has_growth = growths.iter().any(Option::is_some);
        let head = |(column, point): (usize, &u64)| {
            let times = shares.map(|shares| format!("{} ", multiple(shares.values[column])));
            [Some(format!("{} ", count(*point))), times].into_iter().flatten().collect()
        };
        let mut heads: Vec<Cell> = table.points.iter().enumerate().map(head).collect();
        heads.extend(has_growth.then(|| {
            let below = shares.map(|_| String::new());
            [Some(left("growth", width)), below].into_iter().flatten().collect()
        }));
        let row = |(row, growth): (&Row, Option<String>)| {
            let mut cells: Vec<Cell> =
                self.figures(table, row, unit).into_iter().map(|figure| vec![figure]).collect();
            let growth = growth.map(|text| left(&text, width));
            let (name, mut notes) = (row.label.clone(), notes_of(row));
            if growth.is_some() && !notes.is_empty() {
                notes.insert(0, ' ');
            }
            cells.extend(has_growth.then(|| growth.into_iter().collect()));
            GridRow { name, cells, notes, is_last: row.unavailable.is_some() }
        };
        let stub = ["subject"].into_iter().chain(shares.map(|shares| shares.word.as_str()));
        let grid = Grid {
            stub: stub.map(str::to_owned).collect(),
            heads,
            rows: text::tables::rows(table).zip(growths).map(row).collect(),
            gap: GAP - 1,
        };
        self.grid(out, &grid);
        if let Some(legend) = text::leads::legend(table, sign) {
            self.aside(out, &legend);
        }
    }

    /// A word of `width` columns with its figure behind it: `linear  ×391`.
    fn verdict(&self, verdict: &VerdictWord, width: usize) -> String {
        self.paint(tone_paint(verdict.tag.tone), &left(verdict.tag.word, width)) + &verdict.by
    }

    /// The figures of a row, each with its mark behind it or space for one.
    fn figures(&self, table: &Table, row: &Row, unit: &Unit) -> Vec<String> {
        let figure = |(column, cell): (usize, &Option<analysis::PointSummary>)| {
            let figure = cell.as_ref().map(|cell| unit.figure(cell.median.value));
            let mark = text::leads::mark(table, column, &row.subject);
            let paint = if mark == Some(Mark::Best) { GOOD } else { PLAIN };
            let figure = figure.unwrap_or_else(|| NO_FIGURE.to_owned());
            self.paint(paint, &format!("{figure}{}", mark.map_or(' ', sign)))
        };
        row.cells.iter().enumerate().map(figure).collect()
    }

    /// Means with their deviations: metrics down and subjects across, as kernbench printed them.
    fn averages(&self, out: &mut String, run: &Run, table: &Averages) {
        let title =
            format!("{} · {}", text::averages::title(run, table), text::averages::measure(table));
        self.paragraph(out, BOLD, &title, (0, INDENT));
        let heads = text::averages::shown(table).map(|(_, column)| text::averages::head(column));
        self.grid(out, &Grid::plain("", heads, text::averages::lines(table)));
        for line in text::averages::notes(table) {
            self.aside(out, &line);
        }
    }

    /// The distributions of a table, point after point; nothing where the record keeps none.
    fn waits(&self, out: &mut String, table: &Table) {
        for (point, label) in text::distributions::points(table) {
            let rows = text::distributions::rows(table, point)
                .map(|(_, label, figures)| (format!("{:INDENT$}{label}", ""), figures.to_vec()));
            self.aside(out, &format!("at {label}"));
            let grid = Grid::plain("", text::distributions::QUANTILES.map(str::to_owned), rows);
            self.grid(out, &Grid { gap: GAP - 1, ..grid });
        }
    }

    /// Why the law of scaling does not apply to the other rows.
    fn scaling(&self, out: &mut String, table: &Table) {
        for row in &table.rows {
            if let Some(why) = text::notes::unscaled(row) {
                self.aside(out, &format!("{}: {why}", row.label));
            }
        }
    }

    fn findings(&self, out: &mut String, run: &Run, analysis: &Analysis, findings: &[&Finding]) {
        self.heading(out, "Findings");
        if findings.is_empty() {
            self.line(out, &format!("{:INDENT$}{}", "", text::notes::no_findings(analysis)));
        }
        for (scope, findings) in text::parameters::scoped(run, findings) {
            let mut indent = INDENT;
            if !scope.is_empty() {
                self.aside(out, &scope);
                indent += INDENT;
            }
            for finding in findings {
                self.paragraph(out, PLAIN, &finding.text().to_string(), (indent, indent + INDENT));
            }
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
        let left_out =
            |table: &&Table| !table.headline && !is_in_answer(run, &analysis.tables, table);
        let tables = text::tables::shown(analysis).filter(left_out);
        let names = distinct(tables.map(|table| table.metric.name.clone()));
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

/// Why a row lacks figures, or a verdict.
fn notes_of(row: &Row) -> String {
    let unavailable = row.unavailable.as_ref().map(|reason| format!("unavailable: {reason}"));
    unavailable.unwrap_or_else(|| text::notes::reasons(row).join("; "))
}
