//! The flags that say which columns of a foreign table hold what: those of `knee analyse` and `knee import`.

use crate::usage::{self, Meaning};
use clap::Args;
use foreign_tables::TableRequest;
use quantities::{Better, DecimalSign};

/// The flags that say what the columns of a table are.
#[derive(Args, Clone, Debug, Default)]
pub struct TableFlags {
    /// The column that grows: threads, pipes, …
    #[arg(long, value_name = "COL", allow_hyphen_values = true)]
    pub x: Option<String>,
    /// The column of figures; several, separated by commas, are a series each
    #[arg(long, value_name = "COLS", allow_hyphen_values = true)]
    pub y: Option<String>,
    /// What is compared: one column, or several separated by commas [default: all rows are one series]
    #[arg(long, value_name = "COLS", allow_hyphen_values = true)]
    pub by: Vec<String>,
    /// Which figures are better [default: lower; higher where the figure is a rate, such as
    /// tokens/s or throughput]
    #[arg(long, value_name = "WHICH", value_parser = usage::better())]
    pub better: Option<Better>,
    /// Take only rows with this value; may be repeated, and several values of one column are any of
    /// them
    #[arg(long = "where", value_name = "COL=VALUE", allow_hyphen_values = true)]
    pub wheres: Vec<String>,
    /// A table of its own for each value of these columns, separated by commas
    #[arg(long, value_name = "COLS", allow_hyphen_values = true)]
    pub per: Vec<String>,
    /// The column that x is a part of: crossovers are given as a percentage of it, too
    #[arg(long = "of", value_name = "COL", allow_hyphen_values = true)]
    pub whole: Option<String>,
    /// The column that numbers rounds: rows of one round are samples of it [default: each row is
    /// a round]
    #[arg(long, value_name = "COL", allow_hyphen_values = true)]
    pub round: Option<String>,
    /// The column of standard deviations, where each figure is a mean
    #[arg(long, value_name = "COL", requires = "n", allow_hyphen_values = true)]
    pub sd: Option<String>,
    /// How many figures each mean is of
    #[arg(long, value_name = "N", requires = "sd", value_parser = quantities::count_within::<u64>(2..=quantities::COUNT_MAX))]
    pub n: Option<u64>,
    /// The figures' unit; ns, us, ms and s are known as times [default: taken from the column's
    /// name]
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    pub unit: Option<String>,
    /// How decimals begin: 1.163 is little more than 1 with a point, and more than 1,000 with a comma
    /// [default: as each column shows]
    #[arg(long, value_name = "SIGN", value_parser = usage::one_of(DECIMALS))]
    pub decimal: Option<DecimalSign>,
}

const DECIMALS: &[Meaning<DecimalSign>] =
    &[("point", DecimalSign::Point, "1,234.5"), ("comma", DecimalSign::Comma, "1.234,5")];

impl TableFlags {
    pub fn request(&self) -> TableRequest {
        TableRequest {
            x: self.x.clone(),
            y: self.y.clone(),
            by: self.by.clone(),
            better: self.better,
            wheres: self.wheres.clone(),
            per: self.per.clone(),
            whole: self.whole.clone(),
            round: self.round.clone(),
            unit: self.unit.clone(),
            decimal: self.decimal,
            sd: self.sd.clone(),
            n: self.n,
            ..TableRequest::default()
        }
    }
}
