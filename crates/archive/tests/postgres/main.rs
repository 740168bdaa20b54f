//! The archive in a real PostgreSQL: the same contract as a file's, and what it survives. Where no server can be
//! started, each of these tests says that it was skipped, and why.

#[path = "../sqlite/common.rs"]
#[allow(dead_code, reason = "what the tests of the archive in a file share")]
mod common;
mod contract;
mod dashboard;
mod faults;
mod figures;
mod kill;
mod meeting;
mod network;
mod partitions;
mod server;
mod silence;
mod tls;
mod views;
