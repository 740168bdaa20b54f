//! The table of caveats: what a reader has to know before believing the figures, each with its remedy. A new
//! kind is one file in this directory and one line here.
//!
//! The file holds a type with the data of one caveat, which implements [`CaveatKind`]. Its line,
//! `file::Type,`, gives the type a variant in [`Caveat`]; the order of the lines is that of the list.

use crate::conclusions::context::Context;
use crate::grouping::distinct;
use analysis::gather::positions::verdicts_from;
use analysis::{PointSummary, Row, Table};
use cpu_taken::CpuTaken;
use machine_changed::MachineChanged;
use model::{CellKey, Host, Parameters, Run, Warning};
use schemars::JsonSchema;
use serde::Serialize;
use std::fmt;

/// A kind of caveat: when it holds, and how it reads.
pub trait CaveatKind: Sized {
    /// All caveats of this kind.
    fn find(context: &Context<'_>) -> Vec<Self>;

    /// What the reader has to know, and what to do about it, best a command; empty where nothing helps.
    fn warning(&self) -> Warning;
}

/// What every kind needs.
pub(crate) mod prelude {
    pub(crate) use super::{AffectedSeries, CaveatKind};
    pub(crate) use crate::conclusions::context::Context;
    pub(crate) use model::Warning;
    pub(crate) use schemars::JsonSchema;
    pub(crate) use serde::Serialize;
}

/// Declares each module, and gives its type a variant.
macro_rules! table {
    ($($file:ident::$Type:ident,)*) => {
        $(pub mod $file;)*

        /// What a reader has to know before believing the figures.
        #[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
        #[serde(tag = "kind", content = "data", rename_all = "kebab-case")]
        pub enum Caveat {
            $(#[doc = concat!("See [`", stringify!($file), "`].")] $Type($file::$Type),)*
        }

        impl Caveat {
            /// What the reader has to know, and what to do about it, best a command.
            pub fn warning(&self) -> Warning {
                match self {
                    $(Self::$Type(caveat) => caveat.warning(),)*
                }
            }
        }

        /// The caveats of every kind.
        fn find_each(context: &Context<'_>) -> Vec<Caveat> {
            let mut all = Vec::new();
            $(all.extend($file::$Type::find(context).into_iter().map(Caveat::$Type));)*
            all
        }
    };
}

pub(crate) mod more_rounds;

table! {
    control_missed::ControlMissed,
    run_incomplete::RunIncomplete,
    budget_spent::BudgetSpent,
    emulated::Emulated,
    cpu_taken::CpuTaken,
    machine_changed::MachineChanged,
    recorded::Recorded,
    failed_cells::FailedCells,
    left_processes::LeftProcesses,
    ignored_failures::IgnoredFailures,
    still_rising::StillRising,
    short_trajectories::ShortTrajectories,
    damaged_histograms::DamagedHistograms,
    limited_profile::LimitedProfile,
    wide_intervals::WideIntervals,
    few_rounds::FewRounds,
    assumed_direction::AssumedDirection,
}

impl Caveat {
    /// What the reader has to know, and what to do about it: `… → knee run --resume=3`.
    pub fn line(&self) -> String {
        self.warning().line()
    }
}

/// The caveats of a run: of its state, its plan, its machine, its cells and its figures; each once.
pub(crate) fn find(context: &Context<'_>) -> Vec<Caveat> {
    distinct(find_each(context))
}

/// What disturbed a machine between two looks at it: the caveats of figures that are no run of a record.
pub fn disturbances(before: &Host, after: &Host) -> Vec<Caveat> {
    let taken = CpuTaken::of_use(before, after.cpu_use).into_iter().map(Caveat::CpuTaken);
    let changed = MachineChanged::between(before, after).into_iter().map(Caveat::MachineChanged);
    taken.chain(changed).collect()
}

/// The headline tables that medians and intervals are shown of: a workload that is shown as averages has
/// none, and nothing is concluded from it.
fn headline_tables<'a>(context: &Context<'a>) -> impl Iterator<Item = &'a Table> {
    let tables = context.analysis.tables.iter().filter(|table| table.headline);
    tables.filter(|table| !context.workload(table).is_some_and(|workload| workload.averages))
}

/// The figures in `rows` of a table that count: the first calls of a trajectory are cold, and few.
pub(crate) fn figures<'a>(
    table: &Table,
    rows: &'a [Row],
) -> impl Iterator<Item = &'a PointSummary> {
    let warm = verdicts_from(table.trajectory, &table.points);
    let cells = rows.iter().flat_map(|row| row.cells.iter().flatten());
    cells.filter(move |figure| figure.point >= warm)
}

/// The series that a caveat is about; it is shown by its subject, and by its parameters where others of the workload differ.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct AffectedSeries {
    /// The workload.
    pub workload: String,
    /// The subject.
    pub subject: String,
    /// The parameters.
    pub parameters: Parameters,
    /// ` (active = 10, timeout = 0)`, or nothing where the workload has one set of parameters only.
    #[serde(skip)]
    qualifier: String,
}

impl AffectedSeries {
    /// That of a cell of `run`.
    fn new(run: &Run, key: &CellKey) -> Self {
        let CellKey { workload, subject, parameters, .. } = key.clone();
        let mut cells = run.cells.iter().filter(|cell| cell.key.workload == workload);
        let is_only = cells.all(|cell| cell.key.parameters == parameters);
        let effective = run.plan.effective(&workload, &parameters);
        let pairs: Vec<String> =
            effective.iter().map(|(name, value)| format!("{name} = {value}")).collect();
        let qualifier = if is_only { String::new() } else { format!(" ({})", pairs.join(", ")) };
        Self { workload, subject, parameters, qualifier }
    }
}

impl fmt::Display for AffectedSeries {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}{}", self.subject, self.qualifier)
    }
}
