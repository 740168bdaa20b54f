//! `knee run --like`: the conditions of a program that measured the same before, and its way to print.

use crate::args::Run as Asked;
use analysis::{Analysis, Row, Table};
use engine::{About, Like, Print, Warning};
use std::fmt::Write;

/// Every program, with the workload that measures the same.
pub fn all() -> impl Iterator<Item = (&'static About, &'static Like)> {
    let tables = workloads::TABLE.iter().map(|row| row.about());
    tables.flat_map(|about| about.likes.iter().map(move |like| (about, like)))
}

fn named(name: &str) -> Option<(&'static About, &'static Like)> {
    all().find(|(_, like)| like.name == name)
}

/// What was asked for, with the program's conditions where nobody named others.
pub fn filled(asked: &Asked) -> Asked {
    let mut filled = asked.clone();
    let Some((about, like)) = asked.like.as_deref().and_then(named) else { return filled };
    filled.workloads = vec![about.name.to_owned()];
    let owned = |words: &[&str]| words.iter().map(|&word| word.to_owned()).collect();
    if filled.subjects.is_empty() {
        filled.subjects = owned(like.subjects);
    }
    if filled.points.is_empty() && !filled.conditions.contains_key(about.axis) {
        filled.points = owned(like.points);
    }
    for (name, value) in like.conditions {
        let value = || vec![(*value).to_owned()];
        filled.conditions.entry((*name).to_owned()).or_insert_with(value);
    }
    filled
}

/// The same as one types it without `--like`.
pub fn command(about: &About, like: &Like) -> String {
    let (subjects, points) = (like.subjects.join(","), like.points.join(","));
    let mut command = format!("knee run {} --subjects {subjects} --points {points}", about.name);
    for (name, value) in like.conditions {
        // Writing to a String can't fail.
        let _ = write!(command, " --{name} {value}");
    }
    command
}

/// The result as the program of that name printed it.
pub fn told(name: &str, analysis: &Analysis) -> String {
    let Some((_, like)) = named(name) else { return String::new() };
    let mut out = String::new();
    let tables: Vec<&Table> = analysis.tables.iter().filter(|table| table.headline).collect();
    for table in &tables {
        title(&mut out, table, &tables);
        match like.print {
            Print::Microseconds(head) => microseconds(&mut out, head, table),
            Print::Rates(head) => rates(&mut out, head, table),
        }
        for (metric, words) in like.also {
            let same = |other: &&Table| {
                other.metric.name == *metric && other.conditions == table.conditions
            };
            if let Some(also) = analysis.tables.iter().find(same) {
                line(&mut out, words, also);
            }
        }
    }
    for what in like.hides {
        let _ = writeln!(out, "Hidden: {what}.");
    }
    for caveat in &analysis.caveats {
        let Warning { what, remedy } = caveat;
        let arrow = if remedy.is_empty() { String::new() } else { format!(" → {remedy}") };
        let _ = writeln!(out, "Mind: {what}{arrow}");
    }
    out
}

/// Which of several tables this is, by the conditions that differ among them: `pipes 20`.
fn title(out: &mut String, table: &Table, tables: &[&Table]) {
    let differs = |name: &str| {
        tables.iter().any(|other| other.conditions.get(name) != table.conditions.get(name))
    };
    let conditions = table.conditions.iter().filter(|(name, _)| differs(name));
    let words: Vec<String> = conditions.map(|(name, value)| format!("{name} {value}")).collect();
    if words.is_empty() {
        return;
    }
    if !out.is_empty() {
        out.push('\n');
    }
    let _ = writeln!(out, "{}", words.join(", "));
}

fn measured(table: &Table) -> impl Iterator<Item = &Row> {
    table.rows.iter().filter(|row| row.cells.iter().any(Option::is_some))
}

/// Points across, subjects down; `-` where there is no figure, as the original had it.
fn microseconds(out: &mut String, head: &str, table: &Table) {
    let labels = measured(table).map(|row| row.label.chars().count());
    let width = labels.chain([head.len()]).max().unwrap_or_default();
    let _ = write!(out, "{head:>width$}");
    for point in &table.points {
        let _ = write!(out, " {point:>7}");
    }
    out.push('\n');
    for row in measured(table) {
        let _ = write!(out, "{:>width$}", row.label);
        for cell in &row.cells {
            let figure = cell.as_ref().map(|cell| format!("{:.0}", cell.median.value / 1e3));
            let _ = write!(out, " {:>7}", figure.as_deref().unwrap_or("-"));
        }
        out.push('\n');
    }
}

/// Points down, subjects across.
fn rates(out: &mut String, head: &str, table: &Table) {
    let points = table.points.iter().map(|point| point.to_string().len());
    let width = points.chain([head.len()]).max().unwrap_or_default();
    let _ = write!(out, "{head:<width$}");
    for row in measured(table) {
        let _ = write!(out, " {:>12}", row.label);
    }
    out.push('\n');
    for (column, point) in table.points.iter().enumerate() {
        let _ = write!(out, "{point:<width$}");
        for row in measured(table) {
            let figure = row.cells[column].as_ref().map(|cell| format!("{:.2}", cell.median.value));
            let _ = write!(out, " {:>12}", figure.as_deref().unwrap_or("-"));
        }
        out.push('\n');
    }
}

/// One figure at the last point: the middle one of the subjects, which it does not depend on.
fn line(out: &mut String, words: &str, table: &Table) {
    let Some(last) = table.points.last() else { return };
    let mut figures: Vec<f64> = table
        .rows
        .iter()
        .filter_map(|row| Some(row.cells.last()?.as_ref()?.median.value / 1e3))
        .collect();
    figures.sort_by(f64::total_cmp);
    if let Some(middle) = figures.get(figures.len() / 2) {
        let _ = writeln!(out, "{middle:.0} {}", words.replace("{}", &last.to_string()));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_like_names_what_there_is() {
        for (about, like) in all() {
            for (name, _) in like.conditions {
                assert!(about.condition(name).is_some(), "{}: {name}", like.name);
            }
            for metric in like.also {
                assert!(about.metrics.iter().any(|known| known.name == metric.0), "{metric:?}");
            }
            for subject in like.subjects {
                assert!(readiness::find(subject).is_some(), "{}: {subject}", like.name);
            }
            assert!(!like.hides.is_empty(), "{}: every original hides something", like.name);
        }
    }
}
