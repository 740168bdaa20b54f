//! What a run shows: typed findings and caveats, and the one place where they become sentences.
//!
//! `analysis` returns figures; [`conclude`] decides which of them say something. A finding is data: its
//! workload, metric, subjects, and what was found. Its sentence is a function of that data and of
//! [`Names`], and is called by reports alone. [`kinds`] is the table of findings, [`caveats`] that of
//! caveats: a new kind is one file and one line. [`format`] writes figures, so that a table, a finding and
//! a chart agree.
#![forbid(unsafe_code)]

pub mod answer;
mod attributed;
pub mod caveats;
mod conclusions;
pub mod contention;
mod context;
pub mod emulation;
mod finding;
pub mod fleet;
pub mod format;
pub mod kinds;
pub mod left_out;
mod load_rank;
mod named_points;
mod names;
pub mod reasons;
pub mod resuming;
mod roles;
pub mod run_changes;
mod sentence;
mod server_behaviour;
pub mod thresholds;
mod verdict;

pub use answer::Answer;
pub use caveats::Caveat;
pub use conclusions::{Conclusions, conclude, conclude_for, conclude_named};
pub use context::{Context, Reader};
pub use finding::Finding;
pub use kinds::{Data, FindingKind, Kind};
pub use load_rank::rank_sentence;
pub use named_points::NamedPoints;
pub use names::{Names, qualifier};
pub use sentence::{Part, Sentence};
pub use server_behaviour::{GrowthPerConnection, ServerBehaviour};
pub use verdict::{Tag, Tone, Verdict};
