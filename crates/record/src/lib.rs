//! What was measured: its shapes, and the archive that keeps them.
#![forbid(unsafe_code)]

mod archive;
mod error;
mod model;

pub use archive::*;
pub use error::Error;
pub use model::*;
