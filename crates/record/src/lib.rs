//! What was measured: its shapes, and the archive that keeps them.
#![forbid(unsafe_code)]

mod archive;
mod error;
mod model;
mod place;
mod reference;
mod rows;
mod schema;
mod sqlite;

pub use archive::*;
pub use error::Error;
pub use model::*;
pub use place::default_path;
pub use reference::RunRef;
pub use sqlite::SqliteArchive;
