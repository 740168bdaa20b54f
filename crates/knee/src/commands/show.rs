//! `knee show`: the tables and findings of a run, from the record.

use crate::args::Show;
use crate::commands::read;
use crate::exit::{Exit, Trouble};
use crate::output::{print, print_json, style};
use report::json::Samples;

/// Shows a run.
pub fn show(ask: &Show) -> Result<Exit, Trouble> {
    let run = read(&ask.run, &ask.place)?;
    let conclusions = findings::conclude(&run);
    if ask.json {
        print_json(&report::json::run(&run, &conclusions, Samples::Include))?;
    } else {
        print(&report::terminal::tables(&run, &conclusions, &style(ask.all)))?;
    }
    Ok(Exit::Done)
}
