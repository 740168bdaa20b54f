//! Runs on machines that refuse, hang, kill or lack something: every cell has its reason, and nothing is left behind.

#[path = "../common/mod.rs"]
mod common;

mod faults;
mod leftovers;
mod limits;
mod mishaps;
mod processes;
mod shortages;
mod stuck;
