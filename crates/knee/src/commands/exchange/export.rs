//! `knee export`: a run as a file for other programs.

use crate::commands::keep::record_file::RecordFile;
use crate::commands::{read_run, record_path};
use crate::exit::{Exit, Trouble};
use crate::files::{self, Kind};
use crate::output::stream;
use crate::usage::{self, Meaning};
use ::archive::RunRef;
use clap::Args;
use clap::builder::PossibleValuesParser;
use report::export::{self, Content, Format, Material, Selection, What};
use std::path::{Path, PathBuf};

#[derive(Args, Debug)]
#[command(after_help = MORE)]
pub struct Export {
    /// A number, the beginning of an id, `last`, `last@HOST`, FILE.db or FILE.db:RUN
    #[arg(value_name = "RUN", default_value = "last")]
    pub run: String,
    /// The format
    #[arg(long, value_name = "FORMAT", value_parser = formats())]
    pub format: String,
    /// Where to write it [default: standard output]
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// One table only: a workload, or one metric of it: poll, poll/loop
    #[arg(long, value_name = "WORKLOAD[/METRIC]")]
    pub table: Option<String>,
    /// What of it, or in which form: of csv medians or samples (a hundred times as large) [default:
    /// medians]; of github-action-benchmark figures of which smaller or bigger is better [default: where the run has
    /// one sort only, that]
    #[arg(long, value_name = "WHAT", value_parser = usage::one_of(CHOICES))]
    pub what: Option<What>,
    /// Of svg, png, markdown and the formats of profiles: these subjects only
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    pub subjects: Vec<String>,
    /// Of svg, png, markdown and the formats of profiles: these points on the axis only
    #[arg(long, value_name = "LIST", value_delimiter = ',', value_parser = quantities::count)]
    pub points: Vec<u64>,
    #[command(flatten)]
    pub record_file: RecordFile,
}

const MORE: &str = "\
`knee list schemas --json` has the schema of json.

Examples:
  knee export --format svg --table poll/loop --subjects poll,epoll-level -o poll.svg
  knee export --format markdown --table poll/loop --points 10,1k,10k
  knee export --format csv -o medians.csv
  knee export --format csv --table poll --what samples -o samples.csv
  knee export 7 --format gnuplot | gnuplot
  knee export --format jsonl | jq -c '[.subject, .point, (.samples | length)]'
  knee export --format openmetrics -o /var/lib/node_exporter/textfile/knee.prom
  knee export --format folded --table poll/loop --subjects poll --points 10k | inferno-flamegraph > poll.svg
  knee export --format pprof -o run.pb.gz";

const CHOICES: &[Meaning<What>] = &[
    ("samples", What::Samples, "One row a sample"),
    ("medians", What::Medians, "One row a point of each series"),
    ("smaller", What::Smaller, "Figures of which less is better"),
    ("bigger", What::Bigger, "Figures of which more is better"),
];

fn formats() -> PossibleValuesParser {
    let value = |format: &Format| clap::builder::PossibleValue::new(format.name).help(format.about);
    PossibleValuesParser::new(export::TABLE.iter().map(value))
}

/// The format that keeps a run.
const WHOLE: &str = "json";

pub fn export(ask: &Export) -> Result<Exit, Trouble> {
    // The parser takes no other names.
    let Some(format) = export::find(&ask.format) else { return Ok(Exit::Usage) };
    check_choice(format, ask.what)?;
    check_selection(format, ask)?;
    let kind = Kind { name: "such export", mark: format.mark };
    let records = records(ask);
    let records: Vec<&Path> = records.iter().map(PathBuf::as_path).collect();
    if let Some(file) = &ask.output {
        files::check(file, &kind, &records)?;
    }
    let run = read_run(&ask.run, &ask.record_file)?;
    let run = match &ask.table {
        Some(table) => export::narrowed(run, table)
            .map_err(|why| Trouble::usage(format!("--table {table}: {why}")))?,
        None => run,
    };
    let wrong = |why| Trouble::usage(format!("--format {}: {why}", format.name));
    let selection = Selection { subjects: ask.subjects.clone(), points: ask.points.clone() };
    let run = match format.content {
        Content::Profile => export::selected(run, &selection).map_err(wrong)?,
        Content::Figures | Content::Tables => run,
    };
    let material = Material::new(&run, ask.what);
    let material = match format.content {
        Content::Tables => material.selecting(selection).map_err(wrong)?,
        Content::Figures | Content::Profile => material,
    };
    (format.check)(&material).map_err(wrong)?;
    match &ask.output {
        Some(file) => files::write(file, |out| (format.write)(&material, out))?,
        None => stream(|out| (format.write)(&material, out))?,
    }
    Ok(Exit::Done)
}

fn check_choice(format: &Format, what: Option<What>) -> Result<(), Trouble> {
    let Some(what) = what.filter(|what| !format.choices.contains(what)) else { return Ok(()) };
    let having = export::TABLE.iter().filter(|row| row.choices.contains(&what));
    let having: Vec<&str> = having.map(|row| row.name).collect();
    let own: Vec<&str> = format.choices.iter().map(|own| own.name()).collect();
    let choices = match own.as_slice() {
        [] => "has one form only".to_owned(),
        own => format!("has --what {}", own.join(" and --what ")),
    };
    let (what, having) = (what.name(), having.join(" and "));
    Err(Trouble::usage(format!(
        "--what {what} is for --format {having}; {} {choices}",
        format.name
    )))
}

/// Refuses a part of a run as what keeps the whole, and of figures that a program can select.
fn check_selection(format: &Format, ask: &Export) -> Result<(), Trouble> {
    if ask.table.is_some() && format.name == WHOLE {
        let what = format!("--table: {WHOLE} is the whole run, which `knee import` reads back");
        return Err(Trouble::usage(what));
    }
    let flags = [("--subjects", ask.subjects.is_empty()), ("--points", ask.points.is_empty())];
    match flags.iter().find(|(_, is_absent)| !is_absent && format.content == Content::Figures) {
        None => Ok(()),
        Some((flag, _)) => {
            let having = export::TABLE.iter().filter(|row| row.content != Content::Figures);
            let having: Vec<&str> = having.map(|row| row.name).collect();
            let having = having.join(" and ");
            Err(Trouble::usage(format!("{flag} is for --format {having}")))
        }
    }
}

/// The record in use, and the one that the run is in.
fn records(ask: &Export) -> Vec<PathBuf> {
    let meant = RunRef::parse(&ask.run).ok().and_then(|meant| meant.record?.into_file().ok());
    record_path(&ask.record_file).ok().into_iter().chain(meant).collect()
}
