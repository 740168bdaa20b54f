//! `knee run`: what is asked of it, what it measures, and how it goes on.

#[path = "../common/mod.rs"]
mod common;

mod ab;
mod baseline;
mod budget;
mod build;
mod command;
mod fleet;
mod gate;
mod like;
mod lock;
mod own_servers;
mod pipetest;
mod poll;
mod profile;
mod resume;
mod server_workloads;
mod suites;
mod syscalls;
mod tutorial;
mod waits;
