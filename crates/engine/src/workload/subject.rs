//! What a workload compares, and whether a cell of it can be measured here.

use model::{LimitCause, MemoryAccess, SkipCause};

/// What is compared within a workload.
#[derive(Clone, Debug)]
pub struct Subject {
    /// The name on the command line.
    pub name: &'static str,
    /// The name in reports.
    pub label: &'static str,
    /// What it is, in one line.
    pub summary: &'static str,
    /// What a reader has to know to read its figures rightly; may be empty.
    pub note: String,
    /// Whether it can be measured here, or why not.
    pub available: Result<(), String>,
    /// Whether it is wrong on purpose: a control, each cell of which has to fail. It is measured at
    /// the far end of the axis only, where it has the most chances to be caught.
    pub control: bool,
    /// Whether it is measured only where it is named.
    pub by_name_only: bool,
    /// What it does, where that is not its workload's own operation. Only subjects with the same are alternatives:
    /// the best of them is named, and each is compared with each.
    pub operation: &'static str,
    /// The heading that it is listed under in tables; may be empty.
    pub group: &'static str,
    /// Its headline metric, where that is not the first of the workload; else empty.
    pub headline: &'static str,
    /// What threads of a process have in common in it, and processes don't, where it can be done by both; else empty.
    pub shared: &'static str,
    /// Parameters that have no effect on it: it is measured at the first value of each.
    pub unused: Vec<&'static str>,
    /// How it goes over memory, where its axis is the size of a working set in KiB.
    pub memory_access: Option<MemoryAccess>,
}

impl Subject {
    /// One that there is everywhere, and of which the name says what a reader has to know.
    pub const fn plain(name: &'static str, summary: &'static str) -> Subject {
        Subject {
            name,
            label: name,
            summary,
            note: String::new(),
            available: Ok(()),
            control: false,
            by_name_only: false,
            operation: "",
            group: "",
            headline: "",
            shared: "",
            unused: Vec::new(),
            memory_access: None,
        }
    }

    /// The same with an operation of its own, so that it is no alternative to any other.
    pub fn separate(name: &'static str, summary: &'static str) -> Subject {
        Subject { operation: name, ..Subject::plain(name, summary) }
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
        /// Why not.
        cause: SkipCause,
        /// What the user can do; may be empty.
        remedy: String,
    },
}
