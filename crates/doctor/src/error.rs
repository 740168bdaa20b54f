//! Why settings could not be changed or put back.

use std::io;
use std::path::PathBuf;

/// Why settings could not be changed or put back.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The file of saved settings can't be read.
    #[error("{}: {error}", file.display())]
    Unreadable {
        /// The file.
        file: PathBuf,
        /// Why.
        error: io::Error,
    },
    /// The file is not one that `--fix` wrote.
    #[error("{} is not a file of `knee doctor --fix` ({error}): move it away", file.display())]
    NotSavedSettings {
        /// The file.
        file: PathBuf,
        /// Where its content is not as expected.
        error: serde_json::Error,
    },
    /// A knee with another schema wrote the file.
    #[error("another version of knee wrote {}: use that version", file.display())]
    OtherSchema {
        /// The file.
        file: PathBuf,
    },
    /// The settings can't be saved, and so are not changed.
    #[error("nothing was changed, because {} can't be written: {error}", file.display())]
    NotSaved {
        /// The file.
        file: PathBuf,
        /// Why.
        error: io::Error,
    },
    /// The settings were changed or put back, and the file does not say so.
    #[error("updating {}: {error}", file.display())]
    NotUpdated {
        /// The file.
        file: PathBuf,
        /// Why.
        error: io::Error,
    },
    /// The directory of the file can't be made or locked.
    #[error("the directory of {}: {error}", file.display())]
    Directory {
        /// The file.
        file: PathBuf,
        /// Why.
        error: io::Error,
    },
    /// Another process changes settings now.
    #[error("another `knee doctor` is changing settings; wait for it to end")]
    Busy,
}
