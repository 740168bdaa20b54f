//! Commands that read runs, and the simulation that makes one.

#[path = "../common/mod.rs"]
mod common;

mod advise;
mod compare;
mod history;
mod history_by;
mod show;
mod simulate;
mod terminal;
