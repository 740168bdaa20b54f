//! `knee show`: the tables and findings of a run, from the record.

use crate::commands::record_file::RecordFile;
use crate::commands::{concluded, read};
use crate::exit::{Exit, Trouble};
use crate::output::{is_quiet, print, print_json, style};
use clap::Args;
use findings::Conclusions;
use findings::format::shell_word;
use record::Run;
use report::json::Samples;
use report::layout::{Detail, Style};
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
    let conclusions = concluded(&run, &ask.run, &ask.record_file);
    if ask.json {
        print_json(&report::json::run(&run, &conclusions, Samples::Include))?;
        return Ok(Exit::Done);
    }
    let style = style(ask.all);
    let tables = tables(&run, &conclusions, &style);
    let all = if ask.all {
        "see above".to_owned()
    } else {
        format!("{} --all", command(&ask.run, ask.record_file.flag()))
    };
    let pointers = Pointers { all, lines: Vec::new() };
    let answer = terminal::answer(&run, &conclusions, &style, &pointers);
    let functions = terminal::top_functions(&run, &conclusions, &style);
    print(&(tables + &answer + &functions))?;
    Ok(Exit::Done)
}

/// What stands above an answer: tables, findings and caveats; with `--quiet` only where all are wanted.
pub fn tables(run: &Run, conclusions: &Conclusions, style: &Style) -> String {
    if is_quiet() && style.detail == Detail::Headline {
        return String::new();
    }
    terminal::tables(run, conclusions, style) + "\n"
}

/// The command that shows `run` of the record in `file`, the usual one where there is none.
pub fn command(run: &str, file: Option<&Path>) -> String {
    let record = file.map(|file| format!(" --record {}", shell_word(&file.to_string_lossy())));
    format!("knee show {run}{}", record.unwrap_or_default())
}
