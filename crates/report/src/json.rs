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
use model::{Run, Warning};
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
    #[serde(flatten)]
    run: &'a Run,
    #[serde(flatten)]
    analysis: &'a Analysis,
    /// What the figures show.
    findings: &'a [Finding],
    /// What to know before believing the figures.
    caveats: Vec<Worded<'a, Caveat, Warning>>,
    /// The findings by the question that they answer, ranked, as the first screen has them.
    answer: Answer,
}

/// The whole run with its conclusions.
pub fn run<'a>(run: &'a Run, conclusions: &'a Conclusions) -> RunView<'a> {
    let caveat = |caveat: &'a Caveat| Worded::new(caveat, caveat.warning());
    RunView {
        schema: SCHEMA,
        run,
        analysis: &conclusions.analysis,
        findings: &conclusions.findings,
        caveats: conclusions.caveats.iter().map(caveat).collect(),
        answer: Answer::new(run, conclusions),
    }
}
