//! Loads, the servers that they meet, and what goes wrong between them.

mod addresses;
mod closings;
#[path = "../common/mod.rs"]
mod common;
mod tls;
mod traffic;
