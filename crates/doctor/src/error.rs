//! Why settings could not be changed or put back.

/// Why settings could not be changed or put back: one line for a person.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The file of saved settings is none that this knee wrote.
    #[error("{0}")]
    NotSavedSettings(String),
    /// The system refuses, or another process is at it.
    #[error("{0}")]
    Failed(String),
}
