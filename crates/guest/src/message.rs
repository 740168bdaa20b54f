//! What host and guest say to each other. The guest answers: so the host decides which of several guests measures next.

use crate::console::Mishap;
use model::{Cell, CellKey, Host, Profile, Run};
use serde::{Deserialize, Serialize};

/// From the guest.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum FromGuest {
    /// It is there, and waits for its job.
    Up,
    /// A run begins: its plan, its clock and the machine that the guest is.
    Begin(Box<Run>),
    /// A cell ended.
    Cell(Box<Cell>),
    /// A cell of the profile ended: what of the profile is new with it, behind what was sent.
    Profiled(Box<Profile>),
    /// Nothing more is asked for.
    Finish {
        /// The guest at the end.
        host_after: Box<Host>,
        /// What went wrong in its kernel until then.
        mishaps: Vec<Mishap>,
    },
    /// It can't do what it was asked for: a line for the user, and the exit code.
    Refused {
        /// What, where, and how to fix it.
        line: String,
        /// As a program's.
        exit: u8,
    },
}

/// To the guest.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum ToGuest {
    /// The plan to make, or to go on with.
    Job(Box<Job>),
    /// Measure this cell of the plan.
    Measure(usize),
    /// Profile the cell of this key.
    Profile(Box<CellKey>),
    /// Nothing more is to be measured.
    Finish,
}

/// What to measure.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Job {
    /// The words behind `knee`: `run poll --points 100,1k`.
    pub words: Vec<String>,
    /// The run that an earlier boot began; absent at the first.
    pub resumed: Option<Run>,
    /// Seconds since 1970: a guest may have no clock that says the date.
    pub time_s: u64,
}
