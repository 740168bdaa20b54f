//! Comma-separated values after RFC 4180: one row per point of each series, or one row per sample.
//!
//! Both call the axis `point`, and each parameter has a column. What is missing has a row without a figure, with the reason in the last column.

use super::material::{Content, Format, Material, What, in_order, missing, unit, x};
use crate::text::notes;
use ::csv::{Terminator, Writer, WriterBuilder};
use analysis::{PointSummary, Row, Table};
use model::{Parameters, Run, Value};
use printable::{for_spreadsheet, one_line};
use std::collections::BTreeSet;
use std::fmt::Display;
use std::io::{self, Write};

pub(super) const FORMAT: Format = Format {
    name: "csv",
    about: "a table for spreadsheets and statistics: the medians, or every sample",
    mark: "run,workload,subject,",
    choices: &[What::Medians, What::Samples],
    check: |_| Ok(()),
    content: Content::Figures,
    write,
};

/// The names of columns: before the parameters, behind them, and behind these.
const LEFT: &str = "run workload subject";
const OF_METRIC: &str = "metric unit";
const OF_SAMPLE: &str = "round point sample value missing";
const OF_POINT: &str = "point median low high min p10 p25 p75 p90 p99 max rounds samples user_ns \
                        system_ns missing";

type Out<'a> = Writer<&'a mut dyn Write>;

fn write(material: &Material, out: &mut dyn Write) -> io::Result<()> {
    let mut out = WriterBuilder::new().terminator(Terminator::CRLF).from_writer(out);
    let columns = Columns::new(material.run);
    match material.what {
        Some(What::Samples) => samples(material.run, &columns, &mut out)?,
        _ => medians(material, &columns, &mut out)?,
    }
    out.flush()
}

/// The parameters that have a column, over all workloads of the run.
struct Columns<'a> {
    run: &'a Run,
    parameters: Vec<&'a str>,
}

impl<'a> Columns<'a> {
    fn new(run: &'a Run) -> Self {
        let keys = run.plan.cells.iter().chain(run.cells.iter().map(|cell| &cell.key));
        let names: BTreeSet<&str> =
            keys.flat_map(|key| key.parameters.keys().map(String::as_str)).collect();
        Self { run, parameters: names.into_iter().collect() }
    }

    /// The line of names. A parameter that is called like another column says that it is one.
    fn header(&self, rest: &str) -> Vec<String> {
        let right = || OF_METRIC.split(' ').chain(rest.split(' '));
        let is_fixed = |name: &str| LEFT.split(' ').chain(right()).any(|column| column == name);
        let parameters = self.parameters.iter().map(|&name| {
            let prefix = if is_fixed(name) { "parameter_" } else { "" };
            for_spreadsheet(&[prefix, name].concat()).into_owned()
        });
        let [left, right] = [LEFT.split(' ').collect(), right().collect::<Vec<&str>>()]
            .map(|names: Vec<&str>| names.into_iter().map(str::to_owned));
        left.chain(parameters).chain(right).collect()
    }

    /// What all rows of one series have in common.
    fn series(
        &self,
        workload: &str,
        subject: &str,
        parameters: &Parameters,
        metric: (&str, &str),
    ) -> Vec<String> {
        let text = |text: &str| for_spreadsheet(text).into_owned();
        let parameter = |name: &&str| match parameters.get(*name) {
            Some(Value::Word(word)) => text(word),
            // A number stays one.
            Some(number) => number.to_string(),
            None => String::new(),
        };
        let parameters = self.parameters.iter().map(parameter);
        let names = [workload, subject].map(text).into_iter();
        let run = [self.run.summary.id.clone()].into_iter();
        run.chain(names).chain(parameters).chain([metric.0, metric.1].map(text)).collect()
    }
}

/// A row: what all of its series have in common, and its own fields.
fn write_row(out: &mut Out, series: &[String], fields: &[&dyn Display]) -> io::Result<()> {
    let own: Vec<String> = fields.iter().map(ToString::to_string).collect();
    out.write_record(series.iter().chain(&own)).map_err(plain)
}

/// The error of the file itself: a closed pipe stays a closed pipe.
fn plain(error: ::csv::Error) -> io::Error {
    match error.into_kind() {
        ::csv::ErrorKind::Io(error) => error,
        kind => io::Error::new(io::ErrorKind::InvalidData, format!("{kind:?}")),
    }
}

fn samples(run: &Run, columns: &Columns, out: &mut Out) -> io::Result<()> {
    out.write_record(columns.header(OF_SAMPLE)).map_err(plain)?;
    for (workload, cell) in in_order(run) {
        let key = &cell.key;
        let series_of =
            |metric| columns.series(&key.workload, &key.subject, &key.parameters, metric);
        for metric in &cell.metrics {
            let series = series_of((&metric.name, unit(workload, &metric.name)));
            for (n, value) in metric.samples.iter().enumerate() {
                let position = metric.positions.get(n).unwrap_or(&key.point);
                let position = x(run, &key.workload, *position);
                write_row(out, &series, &[&key.round, &position, &n, value, &""])?;
            }
        }
        if let Some(missing) = missing(cell) {
            let headline = workload.and_then(|info| info.headline(&key.subject));
            let metric =
                headline.map_or(("", ""), |metric| (metric.name.as_str(), metric.unit.as_str()));
            let why = for_spreadsheet(&missing);
            let point = x(run, &key.workload, key.point);
            write_row(out, &series_of(metric), &[&key.round, &point, &"", &"", &why])?;
        }
    }
    Ok(())
}

fn medians(material: &Material, columns: &Columns, out: &mut Out) -> io::Result<()> {
    out.write_record(columns.header(OF_POINT)).map_err(plain)?;
    for table in &material.analysis().tables {
        for row in &table.rows {
            let metric = (table.metric.name.as_str(), table.metric.unit.as_str());
            let series = columns.series(&table.workload, &row.subject, &table.parameters, metric);
            for (column, cell) in row.cells.iter().enumerate() {
                let point = x(material.run, &table.workload, table.points[column]).to_string();
                let figures = match cell {
                    Some(at) => figures(at),
                    None => vec![String::new(); OF_POINT.split(' ').count() - 2],
                };
                let why = for_spreadsheet(&why(table, row, column)).into_owned();
                let fields = [&point].into_iter().chain(&figures).chain([&why]);
                out.write_record(series.iter().chain(fields)).map_err(plain)?;
            }
        }
    }
    Ok(())
}

/// One figure of a whole load has no CI.
fn figures(at: &PointSummary) -> Vec<String> {
    let &PointSummary { median, min, p10, p25, p75, p90, p99, max, .. } = at;
    let ends = median.ci().map_or([None; 2], |ends| ends.map(Some));
    let spread = [min, p10, p25, p75, p90, p99, max].map(Some);
    let text = |figure: Option<f64>| figure.map(|figure| figure.to_string()).unwrap_or_default();
    let figures = [Some(median.value)].into_iter().chain(ends).chain(spread).map(text);
    let counts = [at.rounds.to_string(), at.samples.to_string()];
    figures.chain(counts).chain([at.user_ns, at.system_ns].map(text)).collect()
}

/// Why a row has no figure at a point; nothing where it has one.
fn why(table: &Table, row: &Row, column: usize) -> String {
    if row.cells[column].is_some() {
        return String::new();
    }
    if let Some(reason) = &row.unavailable {
        return format!("unavailable: {}", one_line(reason));
    }
    let gap = notes::gap(row, table.points[column]);
    gap.map_or_else(|| "no figure".to_owned(), |reason| one_line(&reason))
}
