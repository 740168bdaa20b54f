//! A server of files over HTTP/1.1 whose readiness mechanism can be swapped.
#![deny(unsafe_op_in_unsafe_fn)]
#![deny(unsafe_code)]

mod access_log;
mod config;
mod connection;
mod counts;
mod drivers;
mod error;
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

pub use config::{Config, Limits};
pub use counts::Counts;
pub use drivers::{Mechanism, mechanisms};
pub use error::Error;
pub use sending::{SENDING, Way};
pub use server::Server;
pub use workers::Stopper;
