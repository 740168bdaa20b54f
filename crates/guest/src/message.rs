//! What host and guest say to each other. The guest waits for an answer to each of its messages but the first: so the
//! host decides which of several guests measures next.

use crate::console::Mishap;
use model::{Cell, Ending, Frame, FunctionCode, ProfiledCell, Run, StackNode};
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
    /// A cell of the profile ended, with what it shares with others and has not been sent.
    Profiled(Box<Profiled>),
    /// All is measured, or the guest was asked to stop.
    Finish {
        /// How it ended.
        ending: Box<Ending>,
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

/// A cell of a profile, and what of the profile is new with it.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Profiled {
    /// The cell.
    pub cell: ProfiledCell,
    /// Frames behind those that were sent.
    pub frames: Vec<Frame>,
    /// Stacks behind those that were sent.
    pub stacks: Vec<StackNode>,
    /// Code behind that which was sent.
    pub code: Vec<FunctionCode>,
}

/// To the guest.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum ToGuest {
    /// What to measure.
    Job(Box<Job>),
    /// What came is kept: go on. A run has this number.
    Kept(i64),
    /// What came is kept, and nothing more is needed: the guest finishes.
    Enough(i64),
    /// What came could not be kept, and why: the guest tries again with the next cell.
    Lost(String),
}

/// What to measure.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Job {
    /// The words behind `knee`: `run poll --points 100,1k`.
    pub words: Vec<String>,
    /// What of it an earlier boot measured, without samples; absent at the first.
    pub resumed: Option<Run>,
    /// Seconds since 1970: a guest may have no clock that says the date.
    pub time_s: u64,
}
