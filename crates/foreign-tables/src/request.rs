//! How a table is to be read: the roles of its columns, and facts that the table does not hold.

use super::source::{FIGURE, SERIES, hashed};
use super::{listed, one_line};
use crate::Error;
use quantities::{Better, DecimalSign};
use std::collections::BTreeMap;

/// What a table is read as. Columns are named as the table's first line names them.
#[derive(Clone, Debug, Default)]
pub struct TableRequest {
    /// The column that grows.
    pub x: Option<String>,
    /// The column of figures, or several separated by commas, each of a series.
    pub y: Option<String>,
    /// The columns that name what is compared.
    pub by: Vec<String>,
    /// Which figures are better; absent: lower, or higher where the figure is a rate.
    pub better: Option<Better>,
    /// `COL=VALUE`: only these rows are taken.
    pub wheres: Vec<String>,
    /// The columns of which each value makes a table of its own.
    pub per: Vec<String>,
    /// The column that x is a part of.
    pub whole: Option<String>,
    /// The column that numbers rounds.
    pub round: Option<String>,
    /// The figures' unit; absent: from the column's name.
    pub unit: Option<String>,
    /// The sign in front of decimals; absent: as each column shows.
    pub decimal: Option<DecimalSign>,
    /// The column of standard deviations.
    pub sd: Option<String>,
    /// The number of figures in each mean.
    pub n: Option<u64>,
    /// The workload's name; absent: the file's.
    pub name: Option<String>,
    /// Labels of the run.
    pub labels: BTreeMap<String, String>,
    /// When the figures were measured, as RFC 3339; absent: when the file was last modified.
    pub started: Option<String>,
}

impl TableRequest {
    /// The columns that no table can do without: x and y.
    pub fn columns(&self, header: &[String], file: &str) -> Result<(&str, &str), Error> {
        match (&self.x, &self.y) {
            (Some(x), Some(y)) => Ok((x, y)),
            _ => Err(Error::Refused(format!(
                "{file} is a table, and needs --x and --y, and --by where several things are compared, or --y a,b \
                 where each has a column; its columns are {}",
                listed(header)
            ))),
        }
    }

    /// The columns of a wide table, where --y names several.
    pub fn series(&self, header: &[String]) -> Option<Vec<usize>> {
        let y = self.y.as_ref().filter(|y| !header.contains(y) && y.contains(','))?;
        let column = |name: &str| header.iter().position(|field| *field == one_line(name.trim()));
        let columns: Vec<usize> = y.split(',').map(column).collect::<Option<_>>()?;
        let is_once = |at: usize| !columns[..at].contains(&columns[at]);
        (0..columns.len()).all(is_once).then_some(columns)
    }

    /// The same, of a wide table that is read a series a line.
    #[must_use]
    pub fn of_long(&self) -> TableRequest {
        let by = self.by.iter().cloned().chain([SERIES.to_owned()]).collect();
        TableRequest { y: Some(FIGURE.to_owned()), by, ..self.clone() }
    }

    /// Whether these are the columns: all that are asked for, where some are.
    pub fn is_header(&self, fields: &[String]) -> bool {
        let has = |name: &str| fields.iter().any(|field| *field == one_line(name));
        let has_all = |names: &String| has(names) || names.split(',').all(has);
        let mut asked = self.x.iter().chain(&self.y).chain(&self.by).chain(&self.per).peekable();
        asked.peek().is_some() && asked.all(has_all)
    }

    /// A hash of the table and of every flag that changes the run: the same on every machine, from every
    /// version.
    pub fn identity(&self, content: u64, workload: &str) -> u64 {
        let TableRequest { x, y, by, better, wheres, per, whole, round, unit, .. } = self;
        let decimal = self.decimal.map(|sign| format!("{sign:?}"));
        let better = better.map(|better| format!("{better:?}"));
        let n = self.n.map(|n| n.to_string());
        let flags: [(&str, &[String]); 13] = [
            ("x", x.as_slice()),
            ("y", y.as_slice()),
            ("by", by),
            ("better", better.as_slice()),
            ("where", wheres),
            ("per", per),
            ("of", whole.as_slice()),
            ("round", round.as_slice()),
            ("unit", unit.as_slice()),
            ("decimal", decimal.as_slice()),
            ("sd", self.sd.as_slice()),
            ("n", n.as_slice()),
            ("started", self.started.as_slice()),
        ];
        let flags = flags
            .iter()
            .flat_map(|(flag, values)| values.iter().map(move |value| format!("{flag}={value}")));
        let labels = self.labels.iter().map(|(key, value)| format!("label={key}={value}"));
        let words = flags.chain(labels).chain([format!("workload={workload}")]);
        words.fold(content, |id, word| hashed(hashed(id, word.as_bytes()), &[0]))
    }
}
