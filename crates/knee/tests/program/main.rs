//! The program itself: usage, lists and the doctor.

#[path = "../common/mod.rs"]
mod common;

mod doctor;
mod list_locks;
mod usage;
