//! What can go wrong with a record, said so that a person can mend it.

use std::path::PathBuf;

/// Why a record can't be read or written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// No run of that number or id.
    #[error("{path}: no run {run}")]
    NoSuchRun {
        /// The record.
        path: PathBuf,
        /// What was asked for.
        run: String,
    },
}
