//! A run as a file for other programs: one line in [`TABLE`] and one file here for each format.
//!
//! Nothing is rounded away and nothing left out in silence: where a format has no room for what is
//! missing, `docs/export.md` says so.

mod csv;
mod gnuplot;
mod json;
mod markdown;
mod openmetrics;

use crate::figures::whole;
use crate::html::machine;
use crate::words;
use analysis::{Analysis, Row, Table};
use record::{Conditions, Run};
use std::cell::OnceCell;
use std::io::{self, Write};

/// A way to write a run.
pub struct Format {
    /// Its name on the command line: `csv`.
    pub name: &'static str,
    /// What it is for, in one line.
    pub about: &'static str,
    /// How every file of it begins, and so how one that may be replaced is known.
    pub head: &'static str,
    /// Whether it can be had as samples or as medians.
    pub chooses: bool,
    /// Writes the whole run.
    pub write: fn(&Material, &mut dyn Write) -> io::Result<()>,
}

/// Every format.
pub const TABLE: &[Format] =
    &[csv::FORMAT, json::FORMAT, gnuplot::FORMAT, markdown::FORMAT, openmetrics::FORMAT];

/// The format of that name.
pub fn find(name: &str) -> Option<&'static Format> {
    TABLE.iter().find(|format| format.name == name)
}

/// What the rows of a table for other programs are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum What {
    /// One row a sample.
    #[default]
    Samples,
    /// One row a point of each series.
    Medians,
}

/// A run that is to be written, and what is concluded from it where a format asks for that:
/// resampling a million figures takes longer than writing them.
pub struct Material<'a> {
    run: &'a Run,
    what: What,
    analysis: OnceCell<Analysis>,
}

impl<'a> Material<'a> {
    /// The run, to be written as `what`, where the format lets one choose.
    pub fn new(run: &'a Run, what: What) -> Self {
        Self { run, what, analysis: OnceCell::new() }
    }

    fn analysis(&self) -> &Analysis {
        self.analysis.get_or_init(|| analysis::analyse(self.run))
    }
}

/// The tables with figures, each with those rows that have some.
fn measured(analysis: &Analysis) -> impl Iterator<Item = (&Table, Vec<&Row>)> {
    analysis.tables.iter().filter_map(|table| {
        let with = |row: &&Row| row.cells.iter().any(Option::is_some);
        let rows: Vec<&Row> = table.rows.iter().filter(with).collect();
        (!rows.is_empty()).then_some((table, rows))
    })
}

/// Which run it is, when it was measured and by what: `run 7 (00000000a3f1…) of 2026-11-21…, knee
/// 0.1.0`.
fn identity(run: &Run) -> String {
    let summary = &run.summary;
    let number = match summary.number {
        0 => "run".to_owned(),
        number => format!("run {}", whole(number.unsigned_abs())),
    };
    format!("{number} ({}) of {}, knee {}", summary.id, summary.started, summary.version)
}

/// The machine and the clock, in a line.
fn place(run: &Run) -> String {
    if words::is_foreign(run) {
        return "a table from elsewhere".to_owned();
    }
    format!("{}; clock: {}", machine::name(run), run.clock.source)
}

/// All that a reader has to know before believing it, a line each with its remedy.
fn caveats(analysis: &Analysis) -> impl Iterator<Item = String> {
    analysis.caveats.iter().map(|caveat| match caveat.remedy.as_str() {
        "" => caveat.what.clone(),
        remedy => format!("{} → {remedy}", caveat.what),
    })
}

/// Whether a cell's conditions are a table's; a cell may have more than the table tells apart.
fn within(table: &Conditions, cell: &Conditions) -> bool {
    table.iter().all(|(name, value)| cell.get(name) == Some(value))
}

/// `text` on one line, without what is not seen but changes how a terminal or a file is read.
fn one_line(text: &str) -> String {
    let plain = text.chars().map(|c| if c.is_control() { ' ' } else { c });
    plain.collect::<String>().split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_words_of_a_command_line_and_each_is_there_once() {
        for (place, format) in TABLE.iter().enumerate() {
            assert!(format.name.chars().all(|c| c.is_ascii_lowercase()), "{}", format.name);
            assert!(!format.about.is_empty() && !format.head.is_empty(), "{}", format.name);
            let found = TABLE.iter().position(|other| other.name == format.name);
            assert_eq!(found, Some(place), "{}", format.name);
        }
        assert!(find("csv").is_some() && find("xml").is_none());
    }

    #[test]
    fn what_is_told_in_a_line_is_one() {
        assert_eq!(one_line(" a\n\tb\u{1b}[1m  c "), "a b [1m c");
    }
}
