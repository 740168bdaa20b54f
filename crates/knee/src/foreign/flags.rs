//! What a table is read as: the flags that name its columns, and what is said of it besides.

use super::listed;
use super::source::hashed;
use crate::exit::Trouble;
use clap::Args;
use std::collections::BTreeMap;

/// The flags that say what the columns of a table are.
#[derive(Args, Clone, Debug, Default)]
pub struct Table {
    /// The column that grows: threads, pipes, …
    #[arg(long, value_name = "COL", allow_hyphen_values = true)]
    pub x: Option<String>,
    /// The column of figures
    #[arg(long, value_name = "COL", allow_hyphen_values = true)]
    pub y: Option<String>,
    /// What is compared: one column, or several separated by commas
    #[arg(long, value_name = "COLS", allow_hyphen_values = true)]
    pub by: Vec<String>,
    /// Which figures are better [default: lower; higher where the figure is a rate, such as
    /// tokens/s]
    #[arg(long, value_name = "WHICH")]
    pub better: Option<Better>,
    /// Take only rows with this value; may be repeated, and several values of one column are any of
    /// them
    #[arg(long = "where", value_name = "COL=VALUE", allow_hyphen_values = true)]
    pub wheres: Vec<String>,
    /// A table of its own for each value of these columns, separated by commas
    #[arg(long, value_name = "COLS", allow_hyphen_values = true)]
    pub per: Vec<String>,
    /// The column that x is a part of: crossovers are given as a percentage of it, too
    #[arg(long, value_name = "COL", allow_hyphen_values = true)]
    pub of: Option<String>,
    /// The column that tells rounds apart: rows of one round are samples of it [default: each row is
    /// a round]
    #[arg(long, value_name = "COL", allow_hyphen_values = true)]
    pub round: Option<String>,
    /// The figures' unit; ns, us, ms and s are known as times [default: taken from the column's
    /// name]
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    pub unit: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Better {
    /// Less is better: times, costs
    Lower,
    /// More is better: rates, throughput
    Higher,
}

/// All that is asked of a table.
#[derive(Clone, Debug, Default)]
pub struct Ask {
    pub table: Table,
    /// The column of standard deviations.
    pub sd: Option<String>,
    /// How many figures each mean is of.
    pub n: Option<u64>,
    /// What its workload is called, where that is not the file's name.
    pub name: Option<String>,
    pub labels: BTreeMap<String, String>,
    /// When it was measured, where that is not when the file was last touched: RFC 3339.
    pub started: Option<String>,
}

impl Ask {
    /// The columns that no table can do without: x, y, and those that are compared.
    pub fn columns(&self, header: &[String], file: &str) -> Result<(&str, &str), Trouble> {
        let Table { x, y, by, .. } = &self.table;
        match (x, y) {
            (Some(x), Some(y)) if !by.is_empty() => Ok((x, y)),
            _ => Err(Trouble::usage(format!(
                "{file} is a table, and needs --x, --y and --by; its columns are {}",
                listed(header)
            ))),
        }
    }

    /// A number that stands for the table and for all that makes another run of it: the same on every
    /// machine, from every version.
    pub fn identity(&self, content: u64, workload: &str) -> u64 {
        let Table { x, y, by, better, wheres, per, of, round, unit } = &self.table;
        let one = |flag: &'static str, value: &Option<String>| {
            value.iter().map(|value| format!("{flag}={value}")).collect::<Vec<_>>()
        };
        let many = |flag: &'static str, values: &[String]| {
            values.iter().map(|value| format!("{flag}={value}")).collect::<Vec<_>>()
        };
        let better = better.map(|better| format!("{better:?}"));
        let n = self.n.map(|n| n.to_string());
        let labels = self.labels.iter().map(|(key, value)| format!("label={key}={value}"));
        let said = [one("x", x), one("y", y), many("by", by), one("better", &better)];
        let said = said.into_iter().chain([many("where", wheres), many("per", per), one("of", of)]);
        let said = said.chain([one("round", round), one("unit", unit), one("sd", &self.sd)]);
        let said = said.chain([one("n", &n), one("started", &self.started), labels.collect()]);
        let words = said.flatten().chain([format!("workload={workload}")]);
        words.fold(content, |id, word| hashed(hashed(id, word.as_bytes()), &[0]))
    }
}
