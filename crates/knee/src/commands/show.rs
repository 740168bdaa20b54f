//! `knee show`: the tables and findings of a run, from the record.

use crate::commands::read;
use crate::commands::record_file::RecordFile;
use crate::exit::{Exit, Trouble};
use crate::output::{print, print_json, style};
use clap::Args;
use report::json::Samples;
use report::terminal::{self, Pointers};
use std::path::Path;

#[derive(Args, Debug)]
pub struct Show {
    /// A number, the beginning of an id, `last`, FILE.db or FILE.db:RUN
    #[arg(value_name = "RUN", default_value = "last")]
    pub run: String,
    /// Show every table, not the headline metric's only
    #[arg(short, long)]
    pub all: bool,
    /// Print JSON, with every sample
    #[arg(short, long)]
    pub json: bool,
    #[command(flatten)]
    pub record_file: RecordFile,
}

/// Shows a run.
pub fn show(ask: &Show) -> Result<Exit, Trouble> {
    let run = read(&ask.run, &ask.record_file)?;
    let conclusions = findings::conclude(&run);
    if ask.json {
        print_json(&report::json::run(&run, &conclusions, Samples::Include))?;
        return Ok(Exit::Done);
    }
    let style = style(ask.all);
    let tables = terminal::tables(&run, &conclusions, &style);
    let all = if ask.all {
        "see above".to_owned()
    } else {
        format!("{} --all", command(&ask.run, ask.record_file.flag()))
    };
    let pointers = Pointers { all, lines: Vec::new() };
    let answer = terminal::answer(&run, &conclusions, &style, &pointers);
    print(&format!("{tables}\n{answer}"))?;
    Ok(Exit::Done)
}

/// The command that shows `run` of the record in `file`, the usual one where there is none.
pub fn command(run: &str, file: Option<&Path>) -> String {
    let record = file.map(|file| format!(" --record {}", file.display()));
    format!("knee show {run}{}", record.unwrap_or_default())
}
