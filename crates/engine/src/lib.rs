//! The instrument: it plans cells, runs each in a worker process of its own, and keeps what it
//! measured.
//!
//! The way through it is one: an [`RunRequest`] becomes a [`model::Plan`] ([`plan`]), the plan becomes
//! cells ([`run`]), and each cell goes to the record as it ends. A workload sees nothing of that:
//! it is given a cell and a [`Probe`], the only thing that reads a clock.
#![forbid(unsafe_code)]

mod calibrate;
mod descriptors;
mod frame;
mod helper;
mod plan;
mod probe;
mod process;
mod run;
mod tail;
mod worker;
mod workload;

pub use calibrate::{Calibrated, calibrate};
pub use descriptors::{caller_descriptors_max, descriptors_max, raise_descriptors_max};
pub use frame::{FrameFault, frame, read_frame};
pub use helper::guard::{GUARD_COMMAND, Guarded, ProgramEnd};
pub use helper::guard_main;
pub use helper::park::{PARK_COMMAND, Parking, park_main};
pub use helper::quota::QuotaGroup;
pub use helper::runner::{ProcessIo, Ran, RunEnd, Runner, RunnerCommand, RunnerOutput};
pub use helper::scratch::Scratch;
pub use observe::{COUNTED_CALLS, CallCounters, call_tracepoint};
pub use plan::{Overrides, ProfileRate, ROUNDS_MAX, RequestError, RunRequest, pinnable, plan};
pub use probe::{Laps, Probe, Stamp, Stopwatch, packed};
pub use run::cgroup::{CpuQuota, cpu_quotas, cpu_quotas_of, memory_limit};
pub use run::cpu_look::CpuLook;
pub use run::host::{host, now};
pub use run::progress::{RunProgress, Watch};
pub use run::quiet::busy;
pub use run::settings::{HideError, Secrets, Settings};
pub use run::stop::Stop;
pub use run::{
    Instrument, PROFILE_HZ_MAX, Side, Unsaved, budget, check_profile, named_as, new_run,
    new_run_id, run, try_out,
};
pub use worker::starter::Starter;
pub use worker::{WORKER_COMMAND, worker_main};
pub use workload::parameter::{Defaults, Parameter, Sweep, Values};
// What a workload meets of the record's shapes, so that it needs nothing else.
pub use model::{CommandOutput, Custom, PrintedFigure, Shell, Template};
pub use model::{
    Dependence, Fact, FailureReason, LimitCause, MemoryAccess, MetricInfo, MetricRole, Parallel,
    QUOTA, Ratio, SubjectInfo, Throttling, Value, WORKER_AXES, Warning, WorkloadInfo, WorkloadRole,
    command_facts, server_facts,
};
pub use workload::custom::{unused_words, word_axis, word_parameters};
pub use workload::{
    About, Cell, Check, Failure, Fit, Kind, Original, Print, Programs, Subject, Usual, Workload,
    last_line, pairs, strings,
};
