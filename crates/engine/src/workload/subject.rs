//! What a workload compares, and whether a cell of it can be measured here.

use model::{LimitCause, SubjectInfo};
use std::fmt::{self, Debug, Formatter};
use std::sync::Arc;

/// What is compared within a workload.
#[derive(Clone, Debug)]
pub struct Subject {
    /// What the record keeps of it. A [control](SubjectInfo::control) is measured at the far end of the axis only,
    /// where it has the most chances to be caught.
    pub info: SubjectInfo,
    /// What it is, in one line.
    pub summary: String,
    /// Whether it can be measured here.
    pub available: Check,
    /// Whether it is measured only where it is named.
    pub by_name_only: bool,
    /// Parameters that have no effect on it: it is measured at the first value of each.
    pub unused: Vec<String>,
}

impl Subject {
    /// One that can be measured everywhere.
    pub fn new(info: SubjectInfo, summary: &str) -> Subject {
        let (summary, unused) = (summary.into(), Vec::new());
        Subject { info, summary, available: Check::default(), by_name_only: false, unused }
    }

    /// The same, of which the name says what a reader has to know.
    pub fn plain(name: &str, summary: &str) -> Subject {
        Subject::new(SubjectInfo::named(name), summary)
    }
}

/// Whether something works here, or why not. It is asked when a plan is made, not when subjects are listed, as every worker
/// does: the kernel takes 35 ms to take back what answers for AIO.
#[derive(Clone)]
pub struct Check(Arc<dyn Fn() -> Result<(), String> + Send + Sync>);

impl Check {
    /// The check that `ask` makes; an error is the end of a sentence.
    pub fn new(ask: impl Fn() -> Result<(), String> + Send + Sync + 'static) -> Check {
        Check(Arc::new(ask))
    }

    /// The check that `ask` makes, where it is needed; elsewhere everything works.
    pub fn needed(
        is_needed: bool,
        ask: impl Fn() -> Result<(), String> + Send + Sync + 'static,
    ) -> Check {
        if is_needed { Check::new(ask) } else { Check::default() }
    }

    /// Looks now.
    ///
    /// # Errors
    /// With the reason, where it does not work.
    pub fn ask(&self) -> Result<(), String> {
        (self.0)()
    }
}

impl Default for Check {
    /// That of what works everywhere.
    fn default() -> Check {
        Check::new(|| Ok(()))
    }
}

impl Debug for Check {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str("Check")
    }
}

/// Whether a cell can be measured here.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fit {
    /// As it is.
    Measure,
    /// Only with that parameter at most this: it is clamped if it is the axis, and else the cell is
    /// left out.
    AtMost {
        /// The parameter: `watched`.
        parameter: &'static str,
        /// The largest value that it can have here.
        max: u64,
        /// Why it can't be larger.
        cause: LimitCause,
        /// What raises it; may be empty.
        remedy: String,
    },
    /// Not at all.
    Leave {
        /// What is not measured, as the subject of a sentence: `The control`.
        what: String,
        /// Why not.
        cause: LimitCause,
        /// What the user can do; may be empty.
        remedy: String,
    },
}
