//! What a run shows: typed findings and caveats, and the one place where they become sentences.
//!
//! `analysis` returns figures; [`conclude`] decides which of them say something. A finding is data: its
//! workload, metric, subjects, and what was found. Its sentence is a function of that data and of
//! [`Names`], and is called by reports alone. [`kinds`] is the table of findings, [`caveats`] that of
//! caveats: a new kind is one file and one line. [`format`] writes figures, so that a table, a finding and
//! a chart agree.
#![forbid(unsafe_code)]

pub mod answer;
pub mod caveats;
mod conclusions;
pub mod emulation;
mod finding;
pub mod fleet;
pub mod format;
pub mod grouping;
pub mod kinds;
pub mod left_out;
pub mod limit;
pub mod reasons;
pub mod resuming;
pub mod run_changes;
pub mod thresholds;

pub use answer::Answer;
pub use caveats::Caveat;
pub use conclusions::context::{Context, Reader};
pub use conclusions::{Conclusions, conclude, conclude_for, conclude_named};
pub use finding::Finding;
pub use finding::names::{Names, qualifier};
pub use finding::sentence::{Part, Sentence};
pub use finding::verdict::{Tag, Tone, VerdictWord};
pub use kinds::behaviour::server::{GrowthPerConnection, ServerBehaviour};
pub use kinds::{Data, FindingKind, Kind, Section};
