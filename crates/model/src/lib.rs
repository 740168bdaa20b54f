//! What was measured, as plain types: the only ones that cross from measuring to reasoning.
//!
//! They carry figures and words, and can be analysed again anywhere. Times are nanoseconds in `f64`; names and units
//! are given in full.
#![forbid(unsafe_code)]

mod cell;
mod cell_key;
mod change;
pub mod command_facts;
mod cpu_use;
mod custom;
mod entry;
mod fact;
mod fleet;
mod host;
mod load;
mod plan;
mod profile;
mod reason;
mod run;
pub mod server_facts;
mod wait;
mod workload;

pub use cell::*;
pub use cell_key::{CellKey, Parameters};
pub use change::{AxisPosition, Change, Limit, LimitCause, PlanChange};
pub use cpu_use::{CpuUse, QUOTA, QUOTA_PERIOD_US, TICK_NS, Throttling};
pub use custom::{CommandOutput, Custom, PrintedFigure, Shell, Template};
pub use entry::{Entry, entry_of};
pub use fact::{Fact, fact_name, fact_text};
pub use fleet::{FLEET_ID, FLEET_LAUNCHER, FLEET_RANK, FLEET_SIZE, FleetMember};
pub use host::*;
pub use load::*;
pub use plan::*;
pub use profile::*;
pub use quantities::Value;
pub use reason::{FailureReason, ReplyFault, deadline_text};
pub use run::*;
pub use wait::*;
pub use workload::*;
