//! Why there is no server.

/// Why there is no server.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The configuration is wrong: a directory, a file, a name.
    #[error("{0}")]
    Invalid(String),
    /// It can't be done now.
    #[error("{0}")]
    Failed(String),
}
