//! A server of files over HTTP/1.1 whose readiness mechanism can be swapped.
#![deny(unsafe_op_in_unsafe_fn)]
#![deny(unsafe_code)]

mod certificate;
mod config;
mod connection;
#[cfg(any(test, feature = "fuzzing"))]
#[doc(hidden)]
pub mod fuzzing;
mod request;
mod response;
mod server;
mod site;
mod workers;

pub use certificate::Certificate;
pub use config::{Config, Limits};
pub use server::{Error, Server};
pub use workers::Stopper;
pub use workers::counters::Counts;
pub use workers::drivers::{Mechanism, available, mechanisms};
pub use workers::sending::{SENDING, Way};
