//! `knee report`: the self-contained HTML page of one run, or of several overlaid.

use crate::commands::keep::record_file::RecordFile;
use crate::commands::read::fleet::{self, FleetFlag};
use crate::commands::{concluded, read_run, record_path};
use crate::exit::{Exit, Trouble};
use crate::files::{self, Kind};
use crate::output::print_note;
use ::report::{html, matrix};
use analysis::compare::Terms;
use analysis::thresholds::MARGIN;
use clap::Args;
use std::path::Path;
use std::path::PathBuf;

#[derive(Args, Debug)]
pub struct Report {
    /// Numbers, beginnings of ids, `last`, `last@HOST`, FILE.db or FILE.db:RUN
    #[arg(value_name = "RUN", default_value = "last", conflicts_with = "fleet")]
    pub runs: Vec<String>,
    /// Where to write it
    #[arg(short, long, value_name = "FILE.html")]
    pub output: PathBuf,
    #[command(flatten)]
    pub fleet: FleetFlag,
    #[command(flatten)]
    pub record_file: RecordFile,
}

const PAGE: Kind = Kind { name: "page of knee", mark: "name=\"generator\" content=\"knee\"" };

pub fn report(ask: &Report) -> Result<Exit, Trouble> {
    let record = record_path(&ask.record_file).ok();
    check(&ask.output, record.as_deref())?;
    let page = if let Some(name) = &ask.fleet.fleet {
        page_of_fleet(name, &ask.record_file)?
    } else {
        let mut runs = Vec::new();
        for name in &ask.runs {
            let run = read_run(name, &ask.record_file)?;
            let conclusions = concluded(&run, name, &ask.record_file);
            runs.push((run, conclusions));
        }
        html::page(&runs)
    };
    write(&ask.output, record.as_deref(), &page)?;
    print_note(&format!("Report: {}\n", ask.output.display()))?;
    Ok(Exit::Done)
}

fn page_of_fleet(name: &str, record_file: &RecordFile) -> Result<String, Trouble> {
    let terms = Terms { margin: MARGIN, fail_above: None, across: true, all: false };
    let machines = fleet::machines(name, record_file, &terms, |_| Ok(()))?;
    Ok(matrix::html::page(&machines.runs, &machines.matrix()))
}

/// Whether a page may be written to `file`: it is new, or a page already, and not the `record`.
pub fn check(file: &Path, record: Option<&Path>) -> Result<(), Trouble> {
    files::check(file, &PAGE, record.as_slice())
}

/// Writes a page. The record may have come to be since the file was looked at.
pub fn write(file: &Path, record: Option<&Path>, page: &str) -> Result<(), Trouble> {
    check(file, record)?;
    files::write(file, |out| out.write_all(page.as_bytes()))
}
