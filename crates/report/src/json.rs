//! A run and what was concluded from it, as one value for programs: a [`RunView`].
//!
//! Its fields and their docs are the schema that [`crate::schemas`] derives. Within one [`SCHEMA`] keys may be
//! added; none changes its meaning or goes. A figure that is not finite is `null`. [`read`] gives back the run
//! that was written.

mod plain;
mod read;

use crate::worded::Worded;
use analysis::Analysis;
use findings::{Answer, Caveat, Conclusions, Finding};
use model::{Cell, Clock, Host, Plan, Profile, Run, RunSummary, Unavailable, Warning};
use schemars::JsonSchema;
use serde::Serialize;

pub use read::{BYTES_MAX, Unreadable, VALUES_MAX, read};

/// Raised when a key changes its meaning or is removed.
pub const SCHEMA: u32 = 1;

/// The output of `knee show --json` and `knee export --format json`.
#[derive(Serialize, JsonSchema)]
pub struct RunView<'a> {
    /// The number of this schema.
    schema: u32,
    /// What identifies the run.
    summary: &'a RunSummary,
    /// What was planned: rounds, durations, workloads, and the cells in order.
    plan: &'a Plan,
    /// Subjects that can't be measured there, with the reason.
    unavailable: &'a [Unavailable],
    /// The clock that timed it.
    clock: &'a Clock,
    /// The machine.
    host: Hosts<'a>,
    /// Those of the plan, its changes in sentences, then those of the run.
    warnings: Vec<Warning>,
    /// Every cell that ended, in the order in which they ended.
    cells: &'a [Cell],
    /// Sampled call stacks, of a run with a profile.
    #[serde(skip_serializing_if = "Profile::is_empty")]
    profile: &'a Profile,
    #[serde(flatten)]
    analysis: &'a Analysis,
    /// What the figures show.
    findings: &'a [Finding],
    /// What to know before believing the figures.
    caveats: Vec<Worded<'a, Caveat, Warning>>,
    /// The findings by the question that they answer, ranked, as the first screen has them.
    answer: Answer,
}

/// The machine before the first cell and after the last one.
#[derive(Serialize, JsonSchema)]
struct Hosts<'a> {
    before: &'a Host,
    /// Null when the run was cut off.
    after: Option<&'a Host>,
}

/// The whole run with its conclusions.
pub fn run<'a>(run: &'a Run, conclusions: &'a Conclusions) -> RunView<'a> {
    let caveat = |caveat: &'a Caveat| Worded::new(caveat, caveat.warning());
    RunView {
        schema: SCHEMA,
        summary: &run.summary,
        plan: &run.plan,
        unavailable: &run.plan.unavailable,
        clock: &run.clock,
        host: Hosts { before: &run.host_before, after: run.host_after.as_ref() },
        warnings: run.plan.warnings().chain(run.warnings.iter().cloned()).collect(),
        cells: &run.cells,
        profile: &run.profile,
        analysis: &conclusions.analysis,
        findings: &conclusions.findings,
        caveats: conclusions.caveats.iter().map(caveat).collect(),
        answer: Answer::new(run, conclusions),
    }
}
