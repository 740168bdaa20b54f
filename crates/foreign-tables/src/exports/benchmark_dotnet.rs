//! The JSON of `BenchmarkDotNet`, with each measurement, and its separated values, whose fields have their units.

use super::{Export, ExportRow, Measurements, documents, has_first_key, line_that_begins};
use serde::Deserialize;

pub const EXPORT: Export = Export {
    program: "BenchmarkDotNet",
    option: "JsonExporter.Full or CsvExporter",
    is_head: |head| has_first_key(head, "Title"),
    is_table: |head| separator(head).is_some(),
    read,
};

/// How the line of names begins, by what separates them.
const HEADERS: [(&str, u8); 3] = [
    ("Method,Job,AnalyzeLaunchVariance,", b','),
    ("Method;Job;AnalyzeLaunchVariance;", b';'),
    ("Method\tJob\tAnalyzeLaunchVariance\t", b'\t'),
];
/// The last column of the job's settings; parameters follow, and then the first column of figures.
const BEFORE_PARAMETERS: &str = "WarmupCount";
const FIRST_FIGURE: &str = "Mean";
/// What the JSON has: nanoseconds a call.
const TIME: &str = "time";

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Document {
    benchmarks: Vec<Measured>,
}

/// One method with one set of parameters.
#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Measured {
    #[serde(rename = "Type")]
    class: String,
    method: String,
    /// `Type.Method: Job(settings) [N=1000]`.
    #[serde(default)]
    display_info: String,
    #[serde(default)]
    parameters: String,
    /// Absent where the method failed.
    statistics: Option<Statistics>,
    memory: Option<Memory>,
}

/// Nanoseconds a call.
#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Statistics {
    mean: Option<f64>,
    #[serde(default)]
    original_values: Vec<Option<f64>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Memory {
    bytes_allocated_per_operation: Option<f64>,
}

fn read(bytes: &[u8]) -> Result<Measurements, String> {
    let rows = match separator(bytes) {
        Some(separator) => separated(bytes, separator)?,
        None => documents(bytes)?
            .into_iter()
            .flat_map(|document: Document| document.benchmarks)
            .flat_map(Measured::rows)
            .collect(),
    };
    Ok(Measurements { rows, ..Measurements::default() })
}

fn separator(head: &[u8]) -> Option<u8> {
    let is_header = |(header, _): &&(&str, u8)| line_that_begins(head, header) == Some(0);
    HEADERS.iter().find(is_header).map(|(_, separator)| *separator)
}

impl Measured {
    fn rows(self) -> Vec<ExportRow> {
        let mut row =
            ExportRow { name: format!("{}.{}", self.class, self.method), ..ExportRow::default() };
        let parameters = self.parameters.split('&').flat_map(|part| part.split(", "));
        for (name, value) in parameters.filter_map(|part| part.split_once('=')) {
            row.parameters.push((name.trim().to_owned(), value.trim().to_owned()));
        }
        if let Some((_, job)) = self.display_info.split_once(": ") {
            let settings = job.split(" [").next().unwrap_or(job);
            row.parameters.push(("job".to_owned(), settings.to_owned()));
        }
        let Some(Statistics { mean, original_values }) = &self.statistics else {
            row.figures.push((TIME.to_owned(), "failed".to_owned()));
            return vec![row];
        };
        let allocated = self.memory.and_then(|memory| memory.bytes_allocated_per_operation);
        let values = match original_values.as_slice() {
            [] => std::slice::from_ref(mean),
            values => values,
        };
        let with_figures = |value: &Option<f64>| {
            let mut row = row.clone();
            row.add(TIME, *value, "ns");
            row.add("allocated", allocated, "B");
            row
        };
        values.iter().map(with_figures).collect()
    }
}

fn separated(table: &[u8], separator: u8) -> Result<Vec<ExportRow>, String> {
    let mut reader = csv::ReaderBuilder::new().delimiter(separator).from_reader(table);
    let names = reader.headers().map_err(|error| error.to_string())?.clone();
    let column = |name: &str| names.iter().position(|column| column == name);
    let (Some(before), Some(first)) = (column(BEFORE_PARAMETERS), column(FIRST_FIGURE)) else {
        return Err(format!("it lacks the column {BEFORE_PARAMETERS} or {FIRST_FIGURE}"));
    };
    let mut rows = Vec::new();
    for line in reader.into_records() {
        let line = line.map_err(|error| error.to_string())?;
        let fields = || names.iter().map(str::to_owned).zip(line.iter().map(str::to_owned));
        let job = ("job".to_owned(), line.get(1).unwrap_or_default().to_owned());
        rows.push(ExportRow {
            name: line.get(0).unwrap_or_default().to_owned(),
            parameters: fields().take(first).skip(before + 1).chain([job]).collect(),
            figures: fields().skip(first).collect(),
            ..ExportRow::default()
        });
    }
    Ok(rows)
}
