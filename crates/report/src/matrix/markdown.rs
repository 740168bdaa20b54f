//! A matrix as Markdown, for a pull request.
//!
//! The verdict stands in the first line, the changes and the headline ratios below it. Medians, further
//! metrics, what is left out, and the confidence are folded away.

use super::changes::{headline, ranked_changes};
use super::counts::Counts;
use super::facts::FactRow;
use super::sheet::{Entry, Sheet, SheetLine};
use super::sight::{notes, sight};
use super::text::{advice, confidence, counts_text, in_unit, left_out, legend, tag};
use super::{Matrix, MatrixCell, MatrixRow, MatrixTable};
use crate::export::markdown::{code, escaped, lines};
use crate::text::{self, NO_FIGURE, parameters};
use analysis::compare::{Change, Comparison, Direction};
use findings::format::count;
use findings::grouping::grouped;
use findings::run_changes::sentence;
use std::io::{self, Write};

/// Further differing facts are folded away.
const FACTS_MAX: usize = 8;

/// The matrix as Markdown.
pub fn text(matrix: &Matrix<'_>) -> String {
    let mut out = Vec::new();
    // Writing into memory can't fail, and what is written there is UTF-8.
    let _ = write(matrix, &mut out);
    String::from_utf8_lossy(&out).into_owned()
}

fn write(matrix: &Matrix<'_>, out: &mut dyn Write) -> io::Result<()> {
    answer(out, matrix)?;
    let facts = matrix.facts();
    let (shown, further) = facts.split_at(facts.len().min(FACTS_MAX));
    self::facts(out, matrix, "Facts that differ", shown)?;
    for sentence in notes(matrix).into_iter().map(str::to_owned).chain(sight(matrix)) {
        writeln!(out, "\n{}", escaped(&sentence))?;
    }
    let (headline, secondary): (Vec<&MatrixTable>, Vec<&MatrixTable>) =
        matrix.sections.iter().partition(|section| section.headline);
    chart(out, matrix, &headline)?;
    let mut has_best = false;
    for section in &headline {
        has_best |= ratios(out, matrix, section)?;
    }
    if !headline.is_empty() {
        let best = has_best.then_some("in bold and with \u{2605}:");
        writeln!(out, "\n{}", escaped(&legend(matrix, best)))?;
    }
    writeln!(out, "\n<details><summary>Medians, further metrics, confidence</summary>")?;
    self::facts(out, matrix, "Further facts that differ", further)?;
    for section in headline {
        figures(out, matrix, section)?;
    }
    if !matrix.is_pair() {
        changes(out, matrix, true)?;
    }
    changes(out, matrix, false)?;
    for section in secondary {
        ratios(out, matrix, section)?;
        figures(out, matrix, section)?;
    }
    confidence_list(out, matrix)?;
    writeln!(out, "\n</details>")
}

/// The verdict, and what changed in each run.
fn answer(out: &mut dyn Write, matrix: &Matrix<'_>) -> io::Result<()> {
    if let Some(comparison) = matrix.only() {
        let series = Counts::of_series(headline_tables(comparison));
        let (gist, counts) = (gist(comparison), counts_text(series));
        writeln!(out, "**knee: {gist}** · {} series: {counts}", series.total())?;
    } else {
        let further = matrix.runs().count().saturating_sub(1);
        let base = escaped(&matrix.columns[0].name);
        writeln!(out, "**knee: {further} runs against {base}**\n")?;
        for sentence in matrix.fleet_head().iter().flat_map(|head| &head.sentences) {
            writeln!(out, "- {}", escaped(sentence))?;
        }
    }
    for (column, comparison) in matrix.ranked() {
        if !matrix.is_pair() {
            let (gist, headline) = (gist(comparison), headline(comparison));
            let text = format!("{}{gist}: {headline}", matrix.label(column));
            writeln!(out, "- {}", escaped(&text))?;
        }
    }
    for refusal in matrix.refusals() {
        writeln!(out, "- {}", escaped(&refusal))?;
    }
    if matrix.is_pair() { changes(out, matrix, true) } else { Ok(()) }
}

fn headline_tables(
    comparison: &Comparison,
) -> impl Iterator<Item = &analysis::compare::ComparedTable> {
    comparison.tables.iter().filter(|table| table.headline)
}

/// What is left out, the confidence of the rest, and the commands of the runs.
fn confidence_list(out: &mut dyn Write, matrix: &Matrix<'_>) -> io::Result<()> {
    writeln!(out)?;
    for warning in left_out(matrix).into_iter().chain(advice(matrix)) {
        writeln!(out, "- {}", escaped(&warning.line()))?;
    }
    writeln!(out, "- {}", escaped(&confidence(matrix)))?;
    for ((column, run), identity) in
        matrix.columns.iter().zip(matrix.runs()).zip(matrix.identities())
    {
        let name = if matrix.is_pair() { format!("{}: ", column.name) } else { String::new() };
        let command = code(&text::runs::command(run));
        writeln!(out, "- {name}{}: {command}", escaped(&identity))?;
    }
    Ok(())
}

/// The result in a few words: from the series and points of the headline metrics, and from what else changed
/// in them. Few readers go on after *the same*.
fn gist(comparison: &Comparison) -> &'static str {
    let series = Counts::of_series(headline_tables(comparison));
    let points = Counts::of_points(headline_tables(comparison));
    let has_change = |direction: Option<Direction>| {
        let mut changes = comparison.changes.iter();
        changes.any(|change| change.headline && change.direction == direction)
    };
    let slower = series.slower + points.slower > 0;
    let worse = slower || has_change(Some(Direction::Worse));
    let faster = series.faster + points.faster > 0;
    let better = faster || has_change(Some(Direction::Better));
    match (worse, better) {
        (true, true) if slower && faster => "▲ slower and ▼ faster",
        (true, true) => "▲ worse and ▼ better",
        (true, false) if slower => "▲ slower",
        (true, false) => "▲ worse",
        (false, true) if faster => "▼ faster",
        (false, true) => "▼ better",
        _ if has_change(None) => "• neither slower nor faster, but changed",
        _ if series.total() == 0 => "nothing to compare",
        _ if series.decided() + points.decided() == 0 => "? undecided",
        _ if series.undecided > 0 => "? no series is shown to be slower or faster",
        _ if points.undecided > 0 => "= the same as whole series, ? undecided at points",
        _ => "= the same",
    }
}

/// The changes of each run in headline metrics, or in the others.
fn changes(out: &mut dyn Write, matrix: &Matrix<'_>, headline: bool) -> io::Result<()> {
    let mut all = matrix.ranked().into_iter();
    all.try_for_each(|compared| list(out, matrix, compared, headline))
}

fn list(
    out: &mut dyn Write,
    matrix: &Matrix<'_>,
    (column, comparison): (usize, &Comparison),
    headline: bool,
) -> io::Result<()> {
    let changes = ranked_changes(comparison).into_iter();
    let changes = changes.filter(|change| change.headline == headline);
    let run = matrix.columns[column].run;
    let scope = |change: &Change| parameters::scope(run, &change.workload, &change.parameters);
    for (scope, changes) in grouped(changes.map(|change| (scope(change), change))) {
        writeln!(out, "\n{}:\n", escaped(&[matrix.label(column), scope].concat()))?;
        for change in changes {
            let sign = match tag(change).0 {
                '•' => String::new(),
                sign => format!("{sign} "),
            };
            writeln!(out, "- {sign}{}", escaped(&sentence(comparison, change)))?;
        }
    }
    Ok(())
}

fn facts(
    out: &mut dyn Write,
    matrix: &Matrix<'_>,
    title: &str,
    facts: &[FactRow<'_>],
) -> io::Result<()> {
    if facts.is_empty() {
        return Ok(());
    }
    let names: Vec<String> = matrix.run_columns().map(|column| escaped(&column.name)).collect();
    writeln!(out, "\n{title}:\n\n| what | {} |", names.join(" | "))?;
    writeln!(out, "| --- |{}", " --- |".repeat(names.len()))?;
    for fact in facts {
        let values = fact.values.iter().map(|value| escaped(value.unwrap_or(NO_FIGURE)));
        let values: Vec<String> = values.collect();
        writeln!(out, "| {} | {} |", escaped(fact.what), values.join(" | "))?;
    }
    Ok(())
}

/// The ratios of a section; whether any run is better than each other one.
fn ratios(out: &mut dyn Write, matrix: &Matrix<'_>, section: &MatrixTable<'_>) -> io::Result<bool> {
    let sheet = Sheet::new(matrix, section, false);
    writeln!(out, "\n### {}\n", escaped(&section.title))?;
    table(out, &sheet, 0, |line, entry| {
        let range = entry.range().map(|range| format!(" {range}")).unwrap_or_default();
        let text = entry.text(line, false) + &range;
        let star = if entry.cell.is_best { " \u{2605}" } else { "" };
        let is_bold = entry.cell.has_changed() || entry.cell.is_best;
        if is_bold { format!("**{text}**{star}") } else { text }
    })?;
    Ok(sheet.has_best())
}

/// Points of a chart, and what it leaves free above and below them, as a share.
const CHART_POINTS: std::ops::RangeInclusive<usize> = 2..=20;
const CHART_PAD: f64 = 0.05;
/// The colours of its lines, no ratio and the ratios, on light and on dark paper.
const CHART_LOOK: &str =
    r##"%%{init: {"themeVariables": {"xyChart": {"plotColorPalette": "#8a8a8a, #d1495b"}}}}%%"##;

/// A picture of the series of a pair that changed most: its ratios by point, as a Mermaid chart, which code hosts draw in
/// comments and summaries.
fn chart(
    out: &mut dyn Write,
    matrix: &Matrix<'_>,
    sections: &[&MatrixTable<'_>],
) -> io::Result<()> {
    let largest = largest_change(sections).filter(|_| matrix.is_pair());
    let Some((section, series)) = largest else { return Ok(()) };
    let ratio = |cells: &Vec<MatrixCell<'_>>| Some(cells.get(1)?.ratio?.ratio.value);
    let points = section.points.iter().zip(&series.cells);
    let points: Vec<(u64, f64)> = points
        .filter_map(|(point, cells)| Some((*point, ratio(cells)?)))
        .filter(|(_, ratio)| ratio.is_finite())
        .collect();
    if !CHART_POINTS.contains(&points.len()) {
        return Ok(());
    }
    let quoted = |text: &str| format!("\"{}\"", text.replace(['"', '`', '\n'], "'"));
    let ticks: Vec<String> = points.iter().map(|(point, _)| quoted(&count(*point))).collect();
    let ratios: Vec<String> = points.iter().map(|(_, ratio)| format!("{ratio:.3}")).collect();
    let ones = vec!["1"; points.len()];
    let low = points.iter().fold(1.0_f64, |low, (_, ratio)| low.min(*ratio)) * (1.0 - CHART_PAD);
    let high = points.iter().fold(1.0_f64, |high, (_, ratio)| high.max(*ratio)) * (1.0 + CHART_PAD);
    writeln!(out, "\n```mermaid\n{CHART_LOOK}\nxychart-beta")?;
    writeln!(out, "    title {}", quoted(&format!("{}: new over base", series.label)))?;
    writeln!(out, "    x-axis {} [{}]", quoted(section.axis), ticks.join(", "))?;
    writeln!(out, "    y-axis \"ratio\" {low:.3} --> {high:.3}")?;
    writeln!(out, "    line [{}]\n    line [{}]\n```", ones.join(", "), ratios.join(", "))
}

/// The series whose ratio as a whole is furthest from 1, with its section.
fn largest_change<'m>(
    sections: &[&'m MatrixTable<'m>],
) -> Option<(&'m MatrixTable<'m>, &'m MatrixRow<'m>)> {
    let change = |row: &MatrixRow<'_>| {
        let change = row.overall.get(1)?.ratio?.ratio.value.ln().abs();
        change.is_finite().then_some(change)
    };
    let rows = sections.iter().flat_map(|section| section.rows.iter().map(|row| (*section, row)));
    let changes = rows.filter_map(|(section, row)| Some((change(row)?, (section, row))));
    changes.max_by(|(first, _), (second, _)| first.total_cmp(second)).map(|(_, row)| row)
}

/// The medians of a section: `2.43 → 2.67` of two runs.
fn figures(out: &mut dyn Write, matrix: &Matrix<'_>, section: &MatrixTable<'_>) -> io::Result<()> {
    let sheet = Sheet::new(matrix, section, true);
    let unit = if section.is_list { String::new() } else { in_unit(&section.unit()) };
    let what = text::metrics::figures(section.metric);
    writeln!(out, "\n#### {}\n", escaped(&format!("{}: {what}{unit}", section.title)))?;
    // The series as a whole has no figure.
    table(out, &sheet, usize::from(sheet.points_across), |line, entry| {
        let [base, new] = line.medians(entry);
        let is_of_two = sheet.points_across && base != NO_FIGURE;
        if is_of_two { format!("{base} → {new}") } else { new }
    })
}

fn table(
    out: &mut dyn Write,
    sheet: &Sheet<'_>,
    first: usize,
    text: impl Fn(&SheetLine<'_>, &Entry<'_>) -> String,
) -> io::Result<()> {
    let heads = sheet.heads[first..].iter().map(|head| escaped(head));
    let heads: Vec<String> = ["series".to_owned()].into_iter().chain(heads).collect();
    let shown = sheet.lines.iter().filter(|line| !line.entries.is_empty());
    let rows = shown.map(|line| {
        let cells = line.entries[first..].iter().map(|entry| text(line, entry));
        [escaped(&line.name)].into_iter().chain(cells).collect()
    });
    lines(out, &heads, "---:", rows)
}
