//! The model: what has to hold, what can be worked out by hand, and what a machine did.

mod closed_forms;
mod invariants;
mod shape;
