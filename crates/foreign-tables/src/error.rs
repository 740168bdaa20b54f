//! Why a table can't be read.

use std::io;

/// Why a table can't be read. The message is one line that says where, and how to fix it.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The request does not fit the table, or the table has something wrong with it.
    #[error("{0}")]
    Refused(String),
    /// The bytes could not be read.
    #[error("reading {name}: {error}")]
    Unreadable {
        /// What messages call the input.
        name: String,
        /// Why it could not be read.
        error: io::Error,
    },
}
