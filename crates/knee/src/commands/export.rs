//! `knee export`: a run as a file for other programs.

use crate::args::Place;
use crate::commands::{place, read};
use crate::exit::{Exit, Trouble};
use crate::files::{self, Kind};
use crate::output::stream;
use ::record::RunRef;
use clap::builder::PossibleValuesParser;
use clap::{Args, ValueEnum};
use report::export::{self, Format, Material};
use std::path::{Path, PathBuf};

#[derive(Args, Debug)]
#[command(after_help = MORE)]
pub struct Export {
    /// A number, the beginning of an id, `last`, FILE.db or FILE.db:RUN
    #[arg(value_name = "RUN", default_value = "last")]
    pub run: String,
    /// The format
    #[arg(long, value_name = "FORMAT", value_parser = formats())]
    pub format: String,
    /// Where to write it [default: standard output]
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// One row a sample, or one a point (of csv) [default: samples]
    #[arg(long, value_name = "WHAT")]
    pub what: Option<What>,
    #[command(flatten)]
    pub place: Place,
}

/// What `knee help export` says below its flags.
const MORE: &str = "\
Examples:
  knee export --format csv --what medians -o medians.csv
  knee export 7 --format gnuplot | gnuplot
  knee export --format openmetrics -o /var/lib/node_exporter/textfile/knee.prom";

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum What {
    /// One row a sample
    Samples,
    /// One row a point of each series
    Medians,
}

fn formats() -> PossibleValuesParser {
    let value = |format: &Format| clap::builder::PossibleValue::new(format.name).help(format.about);
    PossibleValuesParser::new(export::TABLE.iter().map(value))
}

/// Writes the run, to standard output or whole into a file.
pub fn export(ask: &Export) -> Result<Exit, Trouble> {
    // The parser takes no other names.
    let Some(format) = export::find(&ask.format) else { return Ok(Exit::Usage) };
    if ask.what.is_some() && !format.chooses {
        return Err(Trouble::usage(format!(
            "--what is for --format {}; {} has one form only",
            choosing(),
            format.name
        )));
    }
    let kind = Kind { name: "such export", head: format.head };
    let records = records(ask);
    let records: Vec<&Path> = records.iter().map(PathBuf::as_path).collect();
    if let Some(file) = &ask.output {
        files::check(file, &kind, &records)?;
    }
    let run = read(&ask.run, &ask.place)?;
    let what = match ask.what {
        Some(What::Medians) => export::What::Medians,
        Some(What::Samples) | None => export::What::Samples,
    };
    let material = Material::new(&run, what);
    match &ask.output {
        Some(file) => files::write(file, |out| (format.write)(&material, out))?,
        None => stream(|out| (format.write)(&material, out))?,
    }
    Ok(Exit::Done)
}

/// The formats that can be had as samples or as medians.
fn choosing() -> String {
    let names = export::TABLE.iter().filter(|format| format.chooses).map(|format| format.name);
    names.collect::<Vec<_>>().join(" and ")
}

/// The record in use, and the one that the run is in.
fn records(ask: &Export) -> Vec<PathBuf> {
    let meant = RunRef::parse(&ask.run).ok().and_then(|meant| meant.file);
    place(&ask.place).ok().into_iter().chain(meant).collect()
}
