//! Markdown as GitHub reads it, to paste into an issue.
//!
//! The headline tables, the findings, the caveats and the machine stand open; the other tables are
//! folded away, so that nothing is left out.

use super::material::{Content, Format, Material, Selection, identity, machine_and_clock};
use crate::text::{self, NO_FIGURE, averages, leads::sign};
use ::findings::format::{self, Unit, count};
use ::findings::grouping::distinct;
use ::findings::{Caveat, Finding, VerdictWord};
use analysis::{Averages, Row, Table};
use model::Run;
use printable::{for_spreadsheet, one_line};
use std::io::{self, Write};

pub(super) const FORMAT: Format = Format {
    name: "markdown",
    about: "tables, findings, caveats and the machine, to paste into an issue",
    mark: "",
    choices: &[],
    check: |_| Ok(()),
    content: Content::Tables,
    write,
};

/// A table with more points than this has them down, as no page is wider.
const POINTS_ACROSS_MAX: usize = 8;

fn write(material: &Material, out: &mut dyn Write) -> io::Result<()> {
    let (run, conclusions) = (material.run, material.conclusions());
    let analysis = &conclusions.analysis;
    writeln!(out, "**knee** {}\\", escaped(&identity(run)))?;
    writeln!(out, "{}\\", escaped(&machine_and_clock(run)))?;
    writeln!(out, "{}", code(&text::runs::command(run)))?;
    for averages in &analysis.averages {
        self::averages(out, run, averages)?;
    }
    for table in text::tables::shown(analysis).filter(|table| table.headline) {
        self::table(out, run, table, &material.selection)?;
    }
    let (headline, secondary): (Vec<&Finding>, Vec<&Finding>) =
        conclusions.findings.iter().partition(|finding| finding.headline);
    findings(out, "Findings", run, &headline)?;
    if !conclusions.caveats.is_empty() {
        writeln!(out, "\n### Caveats\n")?;
        bullets(out, conclusions.caveats.iter().map(Caveat::line))?;
    }
    let rest: Vec<&Table> = text::tables::shown(analysis).filter(|table| !table.headline).collect();
    if rest.is_empty() {
        return Ok(());
    }
    let name = |table: &&Table| table.metric.name.replace('&', "&amp;").replace('<', "&lt;");
    let names = distinct(rest.iter().map(name));
    writeln!(out, "\n<details><summary>Also measured: {}</summary>", format::list(&names))?;
    for table in rest {
        self::table(out, run, table, &material.selection)?;
        waits(out, table, &material.selection)?;
    }
    findings(out, "Their findings", run, &secondary)?;
    writeln!(out, "\n</details>")
}

fn table(out: &mut dyn Write, run: &Run, table: &Table, selection: &Selection) -> io::Result<()> {
    let unit = text::metrics::unit(table);
    let measure = text::metrics::measure_and_rounds(run, table, &unit);
    let title = format!("{} · {measure}", text::parameters::of_table(run, table));
    writeln!(out, "\n### {}\n", escaped(&title))?;
    let columns = selection.columns(table);
    let is_down = table.points_down || columns.len() > POINTS_ACROSS_MAX;
    figures(out, table, &unit, (selection, &columns), is_down)?;
    notes(out, table, selection)
}

/// Means with their deviations: metrics down, subjects across.
fn averages(out: &mut dyn Write, run: &Run, table: &Averages) -> io::Result<()> {
    let title = escaped(&averages::title(run, table));
    writeln!(out, "\n### {title} · {}\n", averages::measure(table))?;
    let heads = averages::shown(table).map(|(_, column)| escaped(&averages::head(column)));
    let heads: Vec<String> = [String::new()].into_iter().chain(heads).collect();
    let line = |(label, cells): (String, Vec<String>)| [vec![text_cell(&label)], cells].concat();
    lines(out, &heads, "---:", averages::lines(table).map(line))?;
    writeln!(out)?;
    bullets(out, averages::notes(table))
}

/// How single operations are distributed, a table for each point.
fn waits(out: &mut dyn Write, table: &Table, selection: &Selection) -> io::Result<()> {
    for (point, label) in
        text::distributions::points(table).into_iter().filter(|(at, _)| selection.has_point(*at))
    {
        writeln!(out, "\n#### {} at {}\n", escaped(&table.metric.name), escaped(&label))?;
        let heads = ["subject"].into_iter().chain(text::distributions::QUANTILES);
        let heads: Vec<String> = heads.map(str::to_owned).collect();
        let rows = text::distributions::rows(table, point);
        let rows = rows.filter(|(subject, ..)| selection.has_subject(subject));
        let line = |(_, label, figures): (_, &str, [String; 6])| {
            [text_cell(label)].into_iter().chain(figures).collect()
        };
        lines(out, &heads, "---:", rows.map(line))?;
    }
    Ok(())
}

/// A point, with its multiple in a table with multiples: `4 (2 per CPU)`.
fn point(table: &Table, point: u64) -> String {
    let multiple = text::parameters::multiple_suffix(table, point);
    escaped(&format!("{}{multiple}", count(point)))
}

/// The rows that are shown.
fn rows<'a>(table: &'a Table, selection: &'a Selection) -> impl Iterator<Item = &'a Row> {
    text::tables::rows(table).filter(|row| selection.has_subject(&row.subject))
}

/// Subjects down and points across; or the other way round, without subjects that have no figure.
fn figures(
    out: &mut dyn Write,
    table: &Table,
    unit: &Unit,
    (selection, columns): (&Selection, &[usize]),
    is_down: bool,
) -> io::Result<()> {
    let grows = text::tables::has_verdicts(table);
    let stub = if is_down { text_cell(&table.axis) } else { "subject".to_owned() };
    let points = columns.iter().map(|&column| point(table, table.points[column]));
    let head = grows.then(|| "growth".to_owned());
    let mut all: Vec<Vec<String>> = vec![[stub].into_iter().chain(points).chain(head).collect()];
    let rows = rows(table, selection).filter(|row| !is_down || row.unavailable.is_none());
    all.extend(rows.map(|series| {
        let cells = columns.iter().map(|&column| cell(table, series, column, unit));
        let order = grows.then(|| growth(series));
        [text_cell(&series.label)].into_iter().chain(cells).chain(order).collect()
    }));
    if is_down {
        let turned = |at: usize| all.iter().map(|line| line[at].clone()).collect();
        all = (0..all[0].len()).map(turned).collect();
    }
    let heads = all.remove(0);
    let last = if grows && !is_down { "---" } else { "---:" };
    lines(out, &heads, last, all.into_iter())
}

/// The lines of a table, whose figures stand to the right; `last` is the rule of the last column.
pub(crate) fn lines(
    out: &mut dyn Write,
    heads: &[String],
    last: &str,
    rows: impl Iterator<Item = Vec<String>>,
) -> io::Result<()> {
    let mut rule = vec!["---:"; heads.len()];
    rule[heads.len() - 1] = last;
    rule[0] = "---";
    writeln!(out, "| {} |\n| {} |", heads.join(" | "), rule.join(" | "))?;
    rows.map(|line| line.join(" | ")).try_for_each(|line| writeln!(out, "| {line} |"))
}

/// A median with its interval, the best in bold: `**2.43**\* (2.41 to 2.50)`.
fn cell(table: &Table, row: &Row, column: usize, unit: &Unit) -> String {
    let Some(at) = row.cells.get(column).and_then(Option::as_ref) else {
        return NO_FIGURE.to_owned();
    };
    let figure = unit.figure(at.median.value);
    let figure = match text::leads::mark(table, column, &row.subject) {
        Some(mark) => format!("**{figure}**\\{}", sign(mark)),
        None => figure,
    };
    match at.median.ci() {
        Some([low, high]) => format!("{figure} ({}–{})", unit.figure(low), unit.figure(high)),
        None => figure,
    }
}

fn growth(row: &Row) -> String {
    VerdictWord::new(row)
        .map(|verdict| format!("{} {}", verdict.tag.word, verdict.by))
        .unwrap_or_default()
}

/// What the marks mean, the notes, and why figures are missing.
fn notes(out: &mut dyn Write, table: &Table, selection: &Selection) -> io::Result<()> {
    let marks = text::leads::legend(table, sign);
    let intervals = table.rows.iter().flat_map(|row| row.cells.iter().flatten());
    let has_interval = intervals.into_iter().any(|at| at.median.ci().is_some());
    let interval = has_interval.then(|| "in brackets: the 95 % CI of the median".to_owned());
    let shared = text::notes::shared_notes(table).into_iter();
    let reasons = rows(table, selection).flat_map(|row| {
        text::notes::reasons(row).into_iter().map(|reason| format!("{}: {reason}", row.label))
    });
    let unavailable = text::notes::unavailable(table)
        .into_iter()
        .filter(|_| selection.subjects.is_empty())
        .map(|(reason, labels)| format!("{}: unavailable: {reason}", format::list(&labels)));
    let all = marks.into_iter().chain(interval).chain(shared).chain(reasons).chain(unavailable);
    let mut all = all.peekable();
    if all.peek().is_some() {
        writeln!(out)?;
    }
    bullets(out, all)
}

/// Findings as lists, each under the parameters that it holds for where there are several.
fn findings(out: &mut dyn Write, title: &str, run: &Run, findings: &[&Finding]) -> io::Result<()> {
    if !findings.is_empty() {
        writeln!(out, "\n### {title}")?;
    }
    for (scope, part) in text::parameters::scoped(run, findings) {
        if !scope.is_empty() {
            writeln!(out, "\n{}:", escaped(&scope))?;
        }
        writeln!(out)?;
        bullets(out, part.iter().map(|finding| finding.text().to_string()))?;
    }
    Ok(())
}

fn bullets(out: &mut dyn Write, lines: impl IntoIterator<Item = String>) -> io::Result<()> {
    lines.into_iter().try_for_each(|line| writeln!(out, "- {}", escaped(&line)))
}

/// Text that Markdown takes as it is: no table cell, emphasis, link, tag or entity comes of it.
pub(crate) fn escaped(text: &str) -> String {
    let line = one_line(text);
    let letters: Vec<char> = line.chars().collect();
    let is_inside_word = |index: usize| {
        let is_letter = |at: Option<usize>| {
            at.and_then(|at| letters.get(at)).is_some_and(|c| c.is_alphanumeric())
        };
        is_letter(index.checked_sub(1)) && is_letter(Some(index + 1))
    };
    let mut out = String::with_capacity(line.len());
    for (index, &c) in letters.iter().enumerate() {
        // An underscore within a word is no emphasis: io_uring stays as it is.
        let escape = "\\|*`[]<>&#~".contains(c) || (c == '_' && !is_inside_word(index));
        if escape {
            out.push('\\');
        }
        out.push(c);
    }
    out
}

/// A text in a table, which may be pasted into a spreadsheet.
fn text_cell(text: &str) -> String {
    escaped(&for_spreadsheet(text))
}

/// Text between backticks, which it may contain.
pub(crate) fn code(text: &str) -> String {
    let line = one_line(text);
    let runs = line.split(|c| c != '`').map(str::len);
    let fence = "`".repeat(runs.max().unwrap_or(0) + 1);
    let gap = if line.starts_with('`') || line.ends_with('`') { " " } else { "" };
    format!("{fence}{gap}{line}{gap}{fence}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_in_a_text_is_taken_for_markup() {
        assert_eq!(escaped("a|b *c* <d> _e_ io_uring"), "a\\|b \\*c\\* \\<d\\> \\_e\\_ io_uring");
        assert_eq!(text_cell("=1+1"), "'=1+1");
        assert_eq!(escaped("#1 SMP\n`x` &amp; \\"), "\\#1 SMP \\`x\\` \\&amp; \\\\");
    }

    #[test]
    fn a_command_with_backticks_stays_one_piece() {
        assert_eq!(code("knee run"), "`knee run`");
        assert_eq!(code("a `b` c``"), "``` a `b` c`` ```");
    }
}
