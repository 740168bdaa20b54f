//! A server of files over HTTP/1.1 whose readiness mechanism can be swapped.
#![forbid(unsafe_code)]

mod access_log;
mod connection;
mod drivers;
#[cfg(any(test, feature = "fuzzing"))]
#[doc(hidden)]
pub mod fuzzing;
mod listener;
mod request;
mod response;
mod sending;
mod server;
mod site;
mod workers;

pub use drivers::{Mechanism, mechanisms};
pub use sending::{SENDING, Way};
pub use server::{Config, Counts, Error, Limits, Server};
pub use workers::Stopper;
