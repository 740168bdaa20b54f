//! A run as a file for other programs: one file here and one line in the table for each format.
//!
//! Nothing is rounded away and nothing left out in silence: where a format has no room for what is
//! missing, `docs/export.md` says so.

use crate::figures::whole;
use crate::html::machine;
use crate::words;
use analysis::{Analysis, Row, Table};
use findings::{Caveat, Conclusions};
use record::{Cell, Outcome, Parameters, Run, WorkloadInfo};
use std::cell::OnceCell;
use std::fmt::Write as _;
use std::io::{self, Write};

/// A way to write a run.
pub struct Format {
    /// Its name on the command line: `csv`.
    pub name: &'static str,
    /// What it is for, in one line.
    pub about: &'static str,
    /// How every file of it begins, and so how one that may be replaced is known.
    pub head: &'static str,
    /// What it can be had as, where there is a choice.
    pub choices: &'static [What],
    /// Why a run can't be had in it as was asked, and what would do; looked at before it is written.
    pub check: fn(&Material) -> Result<(), String>,
    /// Writes the whole run.
    pub write: fn(&Material, &mut dyn Write) -> io::Result<()>,
}

/// Declares each module, and gives its format a row.
macro_rules! table {
    ($($format:ident,)*) => {
        $(pub(crate) mod $format;)*

        /// Every format.
        pub const TABLE: &[Format] = &[$($format::FORMAT,)*];
    };
}

table! {
    csv,
    json,
    jsonl,
    gnuplot,
    markdown,
    openmetrics,
    github_action_benchmark,
    bencher,
}

/// The format of that name.
pub fn find(name: &str) -> Option<&'static Format> {
    TABLE.iter().find(|format| format.name == name)
}

/// A part of a run, or a form of it, that a format may be had as.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum What {
    /// One row a sample.
    Samples,
    /// One row a point of each series.
    Medians,
    /// Figures of which less is better.
    Smaller,
    /// Figures of which more is better.
    Bigger,
}

impl What {
    /// Its word on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::Samples => "samples",
            Self::Medians => "medians",
            Self::Smaller => "smaller",
            Self::Bigger => "bigger",
        }
    }
}

/// A run that is to be written, and what is concluded from it where a format asks for that:
/// resampling a million figures takes longer than writing them.
pub struct Material<'a> {
    run: &'a Run,
    what: Option<What>,
    conclusions: OnceCell<Conclusions>,
}

impl<'a> Material<'a> {
    /// The run, to be written as `what`, where the format lets one choose; `None` is its usual form.
    pub fn new(run: &'a Run, what: Option<What>) -> Self {
        Self { run, what, conclusions: OnceCell::new() }
    }

    fn conclusions(&self) -> &Conclusions {
        self.conclusions.get_or_init(|| findings::conclude(self.run))
    }

    fn analysis(&self) -> &Analysis {
        &self.conclusions().analysis
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

/// Says of a run without figures that it has none, for formats that hold nothing else.
fn has_figures(material: &Material) -> Result<(), String> {
    match measured(material.analysis()).next() {
        Some(_) => Ok(()),
        None => Err("the run has no figures; `knee show` says why".to_owned()),
    }
}

/// A name for a point of a series that is the same in every run, by which other programs follow it:
/// `poll/epoll-level/loop active=1 object=pipe watched=100`.
fn series(table: &Table, row: &Row, point: u64) -> String {
    let mut name = format!("{}/{}/{}", table.workload, row.subject, table.metric.name);
    for (parameter, value) in &table.parameters {
        // Writing to a String can't fail.
        let _ = write!(name, " {parameter}={value}");
    }
    let axis = if table.axis_parameter.is_empty() { &table.axis } else { &table.axis_parameter };
    let _ = write!(name, " {axis}={point}");
    printable::one_line(&name)
}

/// The cells as tables have them: by workload, parameters, subject, point and round.
fn in_order(run: &Run) -> Vec<(Option<&WorkloadInfo>, &Cell)> {
    let workloads = &run.plan.workloads;
    let placed = |cell: &Cell| {
        let workload = workloads.iter().position(|info| info.name == cell.key.workload);
        let subjects = workload.map(|place| &workloads[place].subjects);
        let subject =
            subjects.and_then(|all| all.iter().position(|info| info.name == cell.key.subject));
        (workload.unwrap_or(usize::MAX), subject.unwrap_or(usize::MAX))
    };
    let mut cells: Vec<((usize, usize), &Cell)> =
        run.cells.iter().map(|cell| (placed(cell), cell)).collect();
    cells.sort_by_key(|((workload, subject), cell)| {
        (*workload, &cell.key.parameters, *subject, cell.key.point, cell.key.round)
    });
    cells.into_iter().map(|((workload, _), cell)| (workloads.get(workload), cell)).collect()
}

fn unit<'a>(workload: Option<&'a WorkloadInfo>, metric: &str) -> &'a str {
    let known = workload.and_then(|info| info.metrics.iter().find(|info| info.name == metric));
    known.map_or("", |info| &info.unit)
}

/// Why a cell has no figures, or no more of them.
fn missing(cell: &Cell) -> Option<String> {
    match (&cell.outcome, &cell.short) {
        (Outcome::Failed { reason, .. }, _) => {
            Some(format!("failed: {}", printable::one_line(&reason.to_string())))
        }
        (_, Some(short)) => Some(format!(
            "ended at {}: {}",
            short.reached,
            printable::one_line(&short.reason.cause())
        )),
        _ => None,
    }
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
fn caveats(conclusions: &Conclusions) -> impl Iterator<Item = String> {
    conclusions.caveats.iter().map(Caveat::line)
}

/// Whether a cell's parameters are a table's; a cell may have more than the table tells apart.
fn within(table: &Parameters, cell: &Parameters) -> bool {
    table.iter().all(|(name, value)| cell.get(name) == Some(value))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_words_of_a_command_line_and_each_is_there_once() {
        for (place, format) in TABLE.iter().enumerate() {
            assert!(
                format.name.chars().all(|c| c == '-' || c.is_ascii_lowercase()),
                "{}",
                format.name
            );
            assert!(!format.about.is_empty() && !format.head.is_empty(), "{}", format.name);
            let found = TABLE.iter().position(|other| other.name == format.name);
            assert_eq!(found, Some(place), "{}", format.name);
        }
        assert!(find("csv").is_some() && find("xml").is_none());
    }
}
