//! The instrument: it plans cells, runs each in a worker process of its own, and keeps what it
//! measured.
//!
//! The way through it is one: an [`Ask`] becomes a [`record::Plan`] ([`plan`]), the plan becomes
//! cells ([`run`]), and each cell goes to the record as it ends. A workload sees nothing of that:
//! it is given a cell and a [`Probe`], the only thing that reads a clock.
#![forbid(unsafe_code)]

mod alternate;
pub mod budget;
mod calibrate;
mod descriptors;
pub mod doing;
mod frame;
mod guard;
mod host;
mod keeper;
mod parameter;
mod park;
mod plan;
mod probe;
mod quiet;
mod run;
mod scratch;
mod stop;
mod supervise;
pub mod symbols;
mod timed;
mod worker;
mod workload;

pub use alternate::{Side, Starter, alternate, try_out};
pub use calibrate::{Calibrated, calibrate};
pub use descriptors::{descriptors_max, raise_descriptors_max};
pub use guard::{GUARD_COMMAND, Guarded, guard_main};
pub use host::{CpuTicks, cpu_ticks, host, process_ticks};
pub use keeper::Unsaved;
pub use parameter::{Defaults, Parameter, Sweep, Values};
pub use park::{PARK_COMMAND, Parking, park_main};
pub use plan::{Ask, AskError, Own, nearest, pinnable, plan};
pub use probe::{Laps, Probe, Stamp, Stopwatch, packed};
pub use run::{Outlook, Settings, Watch, new_run, run, run_by};
pub use scratch::{JANITOR_COMMAND, Scratch, janitor_main};
pub use stop::Stop;
pub use supervise::SELF;
pub use timed::{Ended, Timed};
pub use worker::{ORPHANED, WORKER_COMMAND, worker_main};
// What a workload meets of the record's shapes, so that it needs nothing else.
pub use record::Warning;
pub use workload::{
    About, Cell, Failure, Fit, Kind, Like, MetricAbout, Print, RatioAbout, Says, Subject, Usual,
    Workload, info,
};
