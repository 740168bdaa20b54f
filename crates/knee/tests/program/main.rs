//! The program itself: usage, lists, the doctor and its self-test.

#[path = "../common/mod.rs"]
mod common;

mod coverage;
mod doctor;
mod list_locks;
mod selftest;
mod usage;
