//! The record that a command reads or writes, as a flag.

use clap::Args;
use std::path::{Path, PathBuf};

const HELP: &str = "Record to use [default: $KNEE_RECORD or your own]";
const LONG_HELP: &str = "Record to use [default: $KNEE_RECORD or your own]\n\n\
    Your own is knee/knee.db in the data directory, $XDG_DATA_HOME or ~/.local/share.";

#[derive(Args, Clone, Debug, Default)]
pub struct RecordFile {
    #[arg(long = "record", value_name = "FILE", help = HELP, long_help = LONG_HELP)]
    file: Option<PathBuf>,
}

impl RecordFile {
    #[cfg(test)]
    pub fn new(file: &str) -> RecordFile {
        RecordFile { file: Some(file.into()) }
    }

    /// The file that the flag names: another command needs the flag too.
    pub fn flag(&self) -> Option<&Path> {
        self.file.as_deref()
    }

    /// The file that was named: by the flag, else by the environment.
    pub fn named(&self) -> Option<PathBuf> {
        let variable = || std::env::var_os("KNEE_RECORD").filter(|value| !value.is_empty());
        self.file.clone().or_else(|| variable().map(PathBuf::from))
    }
}
