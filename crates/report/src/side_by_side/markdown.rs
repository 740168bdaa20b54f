//! Several runs as Markdown, for a pull request: what changed, and the ratios of whole series.

use super::compared::{margin, ranked};
use super::{SideBySide, SideCell, SideTable, confidence, legend, range};
use crate::comparison::{headline, ratio};
use crate::export::markdown::{escaped, row, rule};
use crate::text::NO_FIGURE;
use analysis::compare::Verdict;
use std::io::{self, Write};

/// The runs as Markdown.
pub fn text(side: &SideBySide<'_>) -> String {
    let mut out = Vec::new();
    // Writing into memory can't fail, and what is written there is UTF-8.
    let _ = write(side, &mut out);
    String::from_utf8_lossy(&out).into_owned()
}

fn write(side: &SideBySide<'_>, out: &mut dyn Write) -> io::Result<()> {
    let names = side.names();
    let base = names.first().map_or("", String::as_str);
    writeln!(out, "**knee: {} runs against {}**\n", names.len().saturating_sub(1), escaped(base))?;
    for (run, comparison) in ranked(side) {
        writeln!(out, "- {}: {}", escaped(&names[run]), escaped(&headline(comparison)))?;
    }
    for refusal in side.refusals() {
        writeln!(out, "- {}", escaped(&refusal))?;
    }
    for table in side.tables(false).iter().filter(|table| !table.rows.is_empty()) {
        ratios(out, &names, table)?;
    }
    writeln!(out, "\n{}\n", escaped(&legend(side, margin(side), "in bold and with \u{2605}:")))?;
    writeln!(out, "<details><summary>Runs, confidence</summary>\n")?;
    for identity in side.identities() {
        writeln!(out, "- {}", escaped(&identity))?;
    }
    writeln!(out, "- {}.\n\n</details>", escaped(&confidence(side)))
}

/// Series down, runs across.
fn ratios(out: &mut dyn Write, names: &[String], table: &SideTable<'_>) -> io::Result<()> {
    writeln!(out, "\n### {}\n", escaped(&table.title()))?;
    row(out, ["subject".to_owned()].into_iter().chain(names.iter().map(|name| escaped(name))))?;
    rule(out, names.len(), false)?;
    for series in &table.rows {
        let unit = table.unit_of(std::iter::once(series));
        let is_single = table.points.len() == 1;
        let cells = if is_single { &series.points[0] } else { &series.overall };
        let cells = cells.iter().enumerate().map(|(run, cell)| {
            let median = cell.median.map(|median| unit.with_symbol(median.value));
            text_of(cell, run, median)
        });
        row(out, [escaped(series.label)].into_iter().chain(cells))?;
    }
    Ok(())
}

fn text_of(cell: &SideCell<'_>, run: usize, median: Option<String>) -> String {
    let star = if cell.is_best { " \u{2605}" } else { "" };
    let text = match cell.ratio {
        _ if run == 0 => median.unwrap_or_else(|| "1".to_owned()),
        None => return median.unwrap_or_else(|| NO_FIGURE.to_owned()),
        Some(judged) => {
            let range = range(judged).map(|range| format!(" ({range})"));
            format!("{}{}", ratio(judged), range.unwrap_or_default())
        }
    };
    match cell.ratio.map(|judged| judged.verdict) {
        Some(Verdict::Slower | Verdict::Faster) => format!("**{text}**{star}"),
        _ if cell.is_best => format!("**{text}**{star}"),
        _ => text,
    }
}
