//! The record that a command reads or writes, as a flag.

use ::archive::Location;
use clap::Args;
use clap::builder::{OsStringValueParser, TypedValueParser};
use std::path::Path;

const HELP: &str = "Record to use [default: $KNEE_RECORD or your own]";
const LONG_HELP: &str = "Record to use [default: $KNEE_RECORD or your own]\n\n\
    Your own is knee/knee.db in the data directory, $XDG_DATA_HOME or ~/.local/share. The URL of a \
    PostgreSQL archive, postgres://USER@HOST/DATABASE, is for commands that read or delete: see docs/archive.md.";

pub fn archive() -> impl TypedValueParser<Value = Location> {
    OsStringValueParser::new().map(Location::from)
}

#[derive(Args, Clone, Debug, Default)]
pub struct RecordFile {
    #[arg(
        long = "record",
        value_name = "FILE",
        help = HELP,
        long_help = LONG_HELP,
        value_parser = archive()
    )]
    location: Option<Location>,
}

impl RecordFile {
    #[cfg(test)]
    pub fn new(file: &str) -> RecordFile {
        RecordFile { location: Some(file.into()) }
    }

    /// As if the flag had named it; none for the usual record.
    pub fn at(location: Option<Location>) -> RecordFile {
        RecordFile { location }
    }

    /// What the flag names, as messages show it: another command needs the flag too.
    pub fn flag(&self) -> Option<&Path> {
        self.location.as_ref().map(Location::shown)
    }

    /// The record that was named: by the flag, else by the environment.
    pub fn named(&self) -> Option<Location> {
        let variable = || std::env::var_os("KNEE_RECORD").filter(|value| !value.is_empty());
        self.location.clone().or_else(|| variable().map(Location::from))
    }
}
