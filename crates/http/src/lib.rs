//! A server of files over HTTP/1.1 whose readiness mechanism can be swapped.
#![forbid(unsafe_code)]

mod cache;
mod conditional;
mod connection;
mod content;
mod drivers;
#[doc(hidden)]
pub mod fuzzing;
mod listener;
mod log;
mod outbox;
mod range;
mod reply;
mod request;
mod root;
mod sending;
mod server;
mod site;
mod slab;
mod status;
mod target;
mod types;
mod workers;

pub use drivers::{Mechanism, mechanisms};
pub use sending::{SENDING, Way};
pub use server::{Config, Counts, Error, Limits, Server};
pub use workers::Stopper;
