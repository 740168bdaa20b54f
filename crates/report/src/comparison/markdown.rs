//! A comparison as Markdown, for a pull request.
//!
//! The verdict stands in the first line, the changes and the headline ratios below it. Medians, further
//! metrics, what is left out, and the confidence are folded away.

use super::counts::{Counts, Pair};
use super::sight::{notes, sight};
use super::text::{
    advice, changes, confidence, counts_text, identities, in_unit, interval, legend, medians,
    point, ratio, scope, tag, title, unit, with_remedy, word,
};
use crate::export::markdown::{code, escaped, row, rule};
use crate::text;
use crate::text::NO_FIGURE;
use analysis::compare::{
    Change, ComparedRow, ComparedTable, Comparison, Difference, Direction, Verdict,
};
use findings::format::count;
use findings::left_out;
use findings::run_changes::sentence;
use std::io::{self, Write};

/// Further differing facts are folded away.
const DIFFERENCES_MAX: usize = 8;

/// The comparison as Markdown.
pub fn text(pair: &Pair) -> String {
    let mut out = Vec::new();
    // Writing into memory can't fail, and what is written there is UTF-8.
    let _ = write(pair, &mut out);
    String::from_utf8_lossy(&out).into_owned()
}

fn write(pair: &Pair, out: &mut dyn Write) -> io::Result<()> {
    let comparison = pair.comparison;
    let headline = || comparison.tables.iter().filter(|table| table.headline);
    let (series, points) = (Counts::of_series(headline()), Counts::of_points(headline()));
    writeln!(
        out,
        "**knee: {}** · {} series: {}",
        gist(series, points, comparison),
        series.total(),
        counts_text(series)
    )?;
    let (headline_changes, further_changes): (Vec<&Change>, Vec<&Change>) =
        changes(comparison).into_iter().partition(|change| change.headline);
    list(out, pair, &headline_changes)?;
    let shown = comparison.differences.len().min(DIFFERENCES_MAX);
    differences(out, "Facts that differ", &comparison.differences[..shown])?;
    for sentence in notes(pair).into_iter().map(str::to_owned).chain(sight(pair)) {
        writeln!(out, "\n{}", escaped(&sentence))?;
    }
    for table in headline() {
        ratios(out, pair, table)?;
    }
    if headline().next().is_some() {
        writeln!(out, "\n{}", escaped(&legend(comparison)))?;
    }
    writeln!(out, "\n<details><summary>Medians, further metrics, confidence</summary>")?;
    differences(out, "Further facts that differ", &comparison.differences[shown..])?;
    for table in headline() {
        figures(out, pair, table)?;
    }
    list(out, pair, &further_changes)?;
    for table in comparison.tables.iter().filter(|table| !table.headline) {
        ratios(out, pair, table)?;
        figures(out, pair, table)?;
    }
    confidence_list(out, pair)?;
    writeln!(out, "\n</details>")
}

/// What is left out, the confidence of the rest, and the commands of both runs.
fn confidence_list(out: &mut dyn Write, pair: &Pair) -> io::Result<()> {
    writeln!(out)?;
    let left_out = pair.comparison.left_out.iter().map(left_out::of_comparison);
    for warning in left_out.chain(advice(pair)) {
        writeln!(out, "- {}", escaped(&with_remedy(&warning)))?;
    }
    writeln!(out, "- {}", escaped(&confidence(pair)))?;
    let runs = [("base", pair.base), ("new", pair.new)];
    for ((name, run), identity) in runs.into_iter().zip(identities(pair)) {
        writeln!(out, "- {name}: {}: {}", escaped(&identity), code(&text::runs::command(run)))?;
    }
    Ok(())
}

/// The result in a few words: from the series and points of the headline metrics, and from what else changed
/// in them. Few readers go on after *the same*.
fn gist(series: Counts, points: Counts, comparison: &Comparison) -> &'static str {
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

fn list(out: &mut dyn Write, pair: &Pair, changes: &[&Change]) -> io::Result<()> {
    let mut last_scope = None;
    for change in changes {
        let scope = scope(pair, change);
        if last_scope.as_ref() != Some(&scope) {
            writeln!(out, "\n{}:\n", escaped(&scope))?;
            last_scope = Some(scope);
        }
        let sign = match tag(change).0 {
            '•' => String::new(),
            sign => format!("{sign} "),
        };
        writeln!(out, "- {sign}{}", escaped(&sentence(pair.comparison, change)))?;
    }
    Ok(())
}

fn differences(out: &mut dyn Write, title: &str, facts: &[Difference]) -> io::Result<()> {
    if facts.is_empty() {
        return Ok(());
    }
    writeln!(out, "\n{title}:\n\n| what | base | new |\n| --- | --- | --- |")?;
    for fact in facts {
        let cell = |value: &Option<String>| escaped(value.as_deref().unwrap_or(NO_FIGURE));
        row(out, [escaped(&fact.what), cell(&fact.base), cell(&fact.new)].into_iter())?;
    }
    Ok(())
}

/// The ratios: subjects down, points across.
fn ratios(out: &mut dyn Write, pair: &Pair, table: &ComparedTable) -> io::Result<()> {
    writeln!(out, "\n### {}, new ÷ base\n", escaped(&title(pair, table)))?;
    heads(out, table, Some("overall (its interval)"))?;
    for compared in &table.rows {
        let cells = compared.cells.iter().map(|cell| {
            let cell = cell.as_ref();
            marked(cell.map(|cell| cell.ratio.verdict), &point(cell))
        });
        row(out, [escaped(&compared.label)].into_iter().chain(cells).chain([overall(compared)]))?;
    }
    Ok(())
}

fn overall(compared: &ComparedRow) -> String {
    let verdict = compared.overall.verdict;
    let text = marked(Some(verdict), &format!("{} {}", ratio(&compared.overall), word(verdict)));
    match interval(&compared.overall) {
        Some(interval) => format!("{text} ({interval})"),
        None => text,
    }
}

/// In bold where slower or faster.
fn marked(verdict: Option<Verdict>, text: &str) -> String {
    match verdict {
        Some(Verdict::Slower | Verdict::Faster) => format!("**{text}**"),
        _ => text.to_owned(),
    }
}

/// The medians of both: `2.43 → 2.67`.
fn figures(out: &mut dyn Write, pair: &Pair, table: &ComparedTable) -> io::Result<()> {
    let unit = unit(table);
    let title = title(pair, table);
    writeln!(
        out,
        "\n#### {}: {}, base → new{}\n",
        escaped(&title),
        text::metrics::figures(&table.metric),
        escaped(&in_unit(&unit).replacen(' ', ", ", 1))
    )?;
    heads(out, table, None)?;
    for compared in &table.rows {
        let [base, new] = medians(compared, &unit);
        let cells = base.iter().zip(&new).map(|(base, new)| {
            if base == NO_FIGURE { base.clone() } else { format!("{base} → {new}") }
        });
        row(out, [escaped(&compared.label)].into_iter().chain(cells))?;
    }
    Ok(())
}

fn heads(out: &mut dyn Write, table: &ComparedTable, last: Option<&str>) -> io::Result<()> {
    let points = table.points.iter().copied().map(count);
    row(out, ["subject".to_owned()].into_iter().chain(points).chain(last.map(str::to_owned)))?;
    rule(out, table.points.len(), last.is_some())
}
