//! `knee report`: the self-contained HTML page of one run, or of several overlaid.

use crate::args::Report;
use crate::commands::read;
use crate::exit::{Exit, Trouble};
use crate::output::print;
use ::record::Run;
use analysis::Analysis;
use std::path::Path;

/// Writes the page.
pub fn report(ask: &Report) -> Result<Exit, Trouble> {
    let mut pages = Vec::new();
    for name in &ask.runs {
        let run = read(name, &ask.place)?;
        let analysis = analysis::analyse(&run);
        pages.push((run, analysis));
    }
    write(&ask.output, &pages)?;
    print(&format!("Report: {}\n", ask.output.display()))?;
    Ok(Exit::Done)
}

/// Writes the page of `runs` to `file`.
pub fn write(file: &Path, runs: &[(Run, Analysis)]) -> Result<(), Trouble> {
    std::fs::write(file, report::html::page(runs)).map_err(|error| {
        Trouble::failed(format!("{}: {error}; name another file with -o", file.display()))
    })
}
