//! The JSON and the separated values of Google Benchmark, whose names have the arguments: `BM_Sort/64/threads:4`.

use super::{Export, ExportRow, Measurements, documents, has_first_key, line_that_begins};
use serde::Deserialize;

pub const EXPORT: Export = Export {
    program: "Google Benchmark",
    option: "--benchmark_format=json or csv",
    is_head: |head| has_first_key(head, "context"),
    is_table: |head| line_that_begins(head, HEADER).is_some(),
    read,
};

/// How the line of names begins, below a preamble where the console's output is in the file, too.
const HEADER: &str = "name,iterations,real_time,cpu_time,time_unit";
/// How names end that hold statistics of repetitions, or a fit.
const SUMMARIES: [&str; 8] =
    ["_BigO", "_RMS", "_mean", "_median", "_stddev", "_cv", "_min", "_max"];

#[derive(Deserialize)]
struct Document {
    benchmarks: Vec<Measured>,
}

/// One repetition of one benchmark. Both forms call the fields alike.
#[derive(Deserialize)]
struct Measured {
    name: String,
    #[serde(default)]
    run_type: Option<String>,
    real_time: Option<f64>,
    cpu_time: Option<f64>,
    #[serde(default)]
    time_unit: Option<String>,
    bytes_per_second: Option<f64>,
    items_per_second: Option<f64>,
    error_occurred: Option<bool>,
    error_message: Option<String>,
    skipped: Option<bool>,
    skip_message: Option<String>,
}

impl Measured {
    /// Why it has no figures, where it has none.
    fn failure(&self) -> Option<String> {
        let texts = [&self.error_message, &self.skip_message].into_iter().flatten();
        let text = texts.map(String::as_str).find(|text| !text.is_empty());
        let has_failed = [self.error_occurred, self.skipped].contains(&Some(true));
        let why = text.or(has_failed.then_some("without a message"))?;
        Some(format!("failed: {why}"))
    }
}

fn read(bytes: &[u8]) -> Result<Measurements, String> {
    let all: Vec<Measured> = match line_that_begins(bytes, HEADER) {
        Some(start) => separated(&bytes[start..])?,
        None => documents(bytes)?
            .into_iter()
            .flat_map(|document: Document| document.benchmarks)
            .collect(),
    };
    let mut measurements = Measurements::default();
    for measured in all {
        let is_summary = match measured.run_type.as_deref() {
            Some(run_type) => run_type == "aggregate",
            None => SUMMARIES.iter().any(|end| measured.name.ends_with(end)),
        };
        if is_summary {
            measurements.summaries.push(measured.name);
        } else {
            measurements.rows.push(row(&measured));
        }
    }
    Ok(measurements)
}

/// The lines of separated values. Joined files have the names again.
fn separated(table: &[u8]) -> Result<Vec<Measured>, String> {
    let mut reader = csv::Reader::from_reader(table);
    let names = reader.byte_headers().map_err(|error| error.to_string())?.clone();
    let lines = reader.into_byte_records().filter(|line| line.as_ref().ok() != Some(&names));
    let measured = lines.map(|line| line.and_then(|line| line.deserialize(Some(&names))));
    measured.collect::<csv::Result<_>>().map_err(|error| error.to_string())
}

fn row(measured: &Measured) -> ExportRow {
    let mut row = ExportRow::named(&measured.name);
    let unit = measured.time_unit.as_deref().unwrap_or("ns");
    if let Some(why) = measured.failure() {
        row.figures.push(("real_time".to_owned(), why));
        return row;
    }
    row.add("real_time", measured.real_time, unit);
    row.add("cpu_time", measured.cpu_time, unit);
    row.add("bytes_per_second", measured.bytes_per_second, "B/s");
    row.add("items_per_second", measured.items_per_second, "items/s");
    row
}
