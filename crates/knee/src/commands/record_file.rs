//! The record that a command reads or writes, as a flag.

use clap::Args;
use std::path::PathBuf;

#[derive(Args, Clone, Debug, Default)]
pub struct RecordFile {
    /// The record [default: knee/knee.db in the user's data folder]
    #[arg(long = "record", value_name = "FILE")]
    pub file: Option<PathBuf>,
}
