//! A comparison as GitHub reads it: for a pull request.
//!
//! The verdict stands in the first line, what changed and the headline ratios below it; medians, other
//! metrics, what is left out and how sure it all is are folded away.

use super::{
    Counts, Pair, advice, changes, held_in, identity, interval, judged, legend, medians, place_of,
    point, ratio, tag, title, told, unit, with_remedy, word,
};
use crate::export::markdown::{code, escaped, row, rule};
use crate::figures::{NONE, whole};
use crate::words;
use analysis::compare::{
    Change, ComparedRow, ComparedTable, Comparison, Difference, Direction, Verdict,
};
use findings::run_changes::sentence;
use std::io::{self, Write};

/// More differing conditions than so many are folded away.
const DIFFERENCES_MAX: usize = 8;

/// The comparison as Markdown.
pub fn text(pair: &Pair) -> String {
    let mut out = Vec::new();
    // Writing into memory can't fail, and what is written there is UTF-8.
    let _ = write(pair, &mut out);
    String::from_utf8_lossy(&out).into_owned()
}

fn write(pair: &Pair, out: &mut dyn Write) -> io::Result<()> {
    let of = pair.comparison;
    let headline = || of.tables.iter().filter(|table| table.headline);
    let (series, points) = (Counts::of_series(headline()), Counts::of_points(headline()));
    writeln!(
        out,
        "**knee: {}** · {} series: {}",
        gist(series, points, of),
        series.total(),
        told(series)
    )?;
    let (main, others): (Vec<&Change>, Vec<&Change>) =
        changes(of).into_iter().partition(|change| change.headline);
    list(out, of, &main)?;
    let open = of.differences.len().min(DIFFERENCES_MAX);
    differences(out, "Conditions that differ", &of.differences[..open])?;
    for table in headline() {
        ratios(out, pair, table)?;
    }
    if headline().next().is_some() {
        writeln!(out, "\n{}", escaped(&legend(of)))?;
    }
    writeln!(out, "\n<details><summary>Medians, other metrics, and how sure this is</summary>")?;
    differences(out, "Other conditions that differ", &of.differences[open..])?;
    for table in headline() {
        figures(out, pair, table)?;
    }
    list(out, of, &others)?;
    for table in of.tables.iter().filter(|table| !table.headline) {
        ratios(out, pair, table)?;
        figures(out, pair, table)?;
    }
    how_sure(out, pair)?;
    writeln!(out, "\n</details>")
}

/// What is left out, how sure the rest is, and what was measured by which commands.
fn how_sure(out: &mut dyn Write, pair: &Pair) -> io::Result<()> {
    writeln!(out)?;
    for line in pair.comparison.left_out.iter().chain(&advice(pair)) {
        writeln!(out, "- {}", escaped(&with_remedy(line)))?;
    }
    writeln!(out, "- {}", escaped(&judged(pair)))?;
    for (name, run) in [("base", pair.base), ("new", pair.new)] {
        writeln!(out, "- {name}: {}: {}", escaped(&identity(run)), code(&words::command(run)))?;
    }
    Ok(())
}

/// What it comes to, in a word or two: that of the headline metrics, series and points, and of what else
/// changed of them. Nobody reads on below *the same*.
fn gist(series: Counts, points: Counts, of: &Comparison) -> &'static str {
    let goes = |way: Option<Direction>| {
        of.changes.iter().any(|change| change.headline && change.direction == way)
    };
    let slower = series.slower + points.slower > 0;
    let worse = slower || goes(Some(Direction::Worse));
    let faster = series.faster + points.faster > 0;
    let better = faster || goes(Some(Direction::Better));
    match (worse, better) {
        (true, true) if slower && faster => "▲ slower and ▼ faster",
        (true, true) => "▲ worse and ▼ better",
        (true, false) if slower => "▲ slower",
        (true, false) => "▲ worse",
        (false, true) if faster => "▼ faster",
        (false, true) => "▼ better",
        _ if goes(None) => "• neither slower nor faster, but not as it was",
        _ if series.total() == 0 => "nothing to compare",
        _ if series.decided() + points.decided() == 0 => "? undecided",
        _ if series.undecided > 0 => "? nothing is known to be slower or faster",
        _ if points.undecided > 0 => "= the same as whole series, ? undecided at points",
        _ => "= the same",
    }
}

fn list(out: &mut dyn Write, comparison: &Comparison, changes: &[&Change]) -> io::Result<()> {
    let mut under = None;
    for change in changes {
        let place = place_of(change);
        if under.as_ref() != Some(&place) {
            writeln!(out, "\n{}:\n", escaped(&place))?;
            under = Some(place);
        }
        let sign = match tag(change).0 {
            '•' => String::new(),
            sign => format!("{sign} "),
        };
        writeln!(out, "- {sign}{}", escaped(&sentence(comparison, change)))?;
    }
    Ok(())
}

fn differences(out: &mut dyn Write, title: &str, of: &[Difference]) -> io::Result<()> {
    if of.is_empty() {
        return Ok(());
    }
    writeln!(out, "\n{title}:\n\n| what | base | new |\n| --- | --- | --- |")?;
    for one in of {
        let cell = |value: &Option<String>| escaped(value.as_deref().unwrap_or(NONE));
        row(out, [escaped(&one.what), cell(&one.base), cell(&one.new)].into_iter())?;
    }
    Ok(())
}

/// The ratios: subjects down, points across.
fn ratios(out: &mut dyn Write, pair: &Pair, table: &ComparedTable) -> io::Result<()> {
    writeln!(out, "\n### {}, new ÷ base\n", escaped(&title(pair, table)))?;
    heads(out, table, Some("overall (its interval)"))?;
    for of in &table.rows {
        let cells = of.cells.iter().map(|cell| {
            let at = cell.as_ref();
            marked(at.map(|at| at.ratio.verdict), &point(at))
        });
        row(out, [escaped(&of.label)].into_iter().chain(cells).chain([overall(of)]))?;
    }
    Ok(())
}

fn overall(of: &ComparedRow) -> String {
    let verdict = of.overall.verdict;
    let said = marked(Some(verdict), &format!("{} {}", ratio(&of.overall), word(verdict)));
    match interval(&of.overall) {
        Some(told) => format!("{said} ({told})"),
        None => said,
    }
}

/// In bold where something has changed.
fn marked(verdict: Option<Verdict>, said: &str) -> String {
    match verdict {
        Some(Verdict::Slower | Verdict::Faster) => format!("**{said}**"),
        _ => said.to_owned(),
    }
}

/// The medians of both: `2.43 → 2.67`.
fn figures(out: &mut dyn Write, pair: &Pair, table: &ComparedTable) -> io::Result<()> {
    let unit = unit(table);
    let title = title(pair, table);
    writeln!(
        out,
        "\n#### {}: medians, base → new{}\n",
        escaped(&title),
        escaped(&held_in(&unit).replacen(' ', ", ", 1))
    )?;
    heads(out, table, None)?;
    for of in &table.rows {
        let [base, new] = medians(of, &unit);
        let cells = base
            .iter()
            .zip(&new)
            .map(|(base, new)| if base == NONE { base.clone() } else { format!("{base} → {new}") });
        row(out, [escaped(&of.label)].into_iter().chain(cells))?;
    }
    Ok(())
}

fn heads(out: &mut dyn Write, table: &ComparedTable, last: Option<&str>) -> io::Result<()> {
    let points = table.points.iter().copied().map(whole);
    let last_head = last.map(str::to_owned);
    row(out, ["subject".to_owned()].into_iter().chain(points).chain(last_head))?;
    rule(out, table.points.len(), last.is_some())
}
