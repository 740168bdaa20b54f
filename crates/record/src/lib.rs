//! What was measured: its shapes, and the archive that keeps them.
#![forbid(unsafe_code)]

mod archive;
mod body;
mod cell_key;
mod change;
pub mod command_facts;
mod cpu_use;
mod custom;
mod database;
mod error;
mod fleet;
mod host;
pub mod keeping;
mod load_counts;
mod load_rank;
mod location;
mod meeting;
mod merge;
mod model;
mod plan_changes;
mod profile;
mod reason;
mod record_location;
mod reference;
mod resuming;
mod schema;
pub mod server_facts;
mod server_fault;
mod sqlite;
mod url;

pub use archive::*;
pub use body::{CellRow, KeptSummary, ProfileRow, RunBodies, RunRow};
pub use cell_key::{CellKey, Parameters};
pub use change::{AxisPosition, Change, Limit, LimitCause, PlanChange, SkipCause};
pub use cpu_use::{CpuUse, TICK_NS, Throttling};
pub use custom::{CommandOutput, Custom, PrintedFigure, Shell, Template};
pub use database::{Database, Done, RunChange, Which};
pub use error::Error;
pub use fleet::{FLEET_ID, FLEET_LAUNCHER, FLEET_RANK, FLEET_SIZE, FleetMember};
pub use host::{
    ACCELERATOR, CACHE, CONTAINER, CPU_QUOTA, CPU_QUOTA_PERIOD, CPU_QUOTAS, CpuCache, EMULATOR,
    GUEST_CPU, GUEST_HOST_BOOT, GUEST_HOST_CPU_QUOTA, HOST_BOOT, HOST_FACTS, HOST_ID, HOST_NAME,
    HOST_NAMED_BY, HostDifference, HostFact, HostRole, MEMORY_LIMIT, MachineMatch, NICE, NO_LIMIT,
    SPINLOCKS,
};
pub use load_counts::LoadCounts;
pub use load_rank::{LOAD_RANKS, LOAD_RANKS_MISSING, Rank, RankMeasured};
pub use location::{check_name, default_path};
pub use meeting::{Meeting, Posting};
pub use merge::{Merged, merge};
pub use model::*;
pub use profile::*;
pub use quantities::Value;
pub use reason::{FailureReason, ReplyFault, deadline_text};
pub use record_location::{DatabaseUrl, Location};
pub use reference::{RunRef, pick};
pub use server_fault::ServerFault;
pub use sqlite::SqliteArchive;
