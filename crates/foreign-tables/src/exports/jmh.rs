//! The JSON of JMH, with the score of each iteration, and its separated values, with means.

use super::{Export, ExportRow, Measurements, documents, has_first_key, line_that_begins};
use serde::Deserialize;
use serde_json::Value;
use std::collections::BTreeMap;

pub const EXPORT: Export = Export {
    program: "JMH",
    option: "-rf json or csv",
    is_head: |head| has_first_key(head, "jmhVersion"),
    is_table: |head| line_that_begins(head, HEADER) == Some(0),
    read,
};

const HEADER: &str = "\"Benchmark\",\"Mode\",\"Threads\",\"Samples\",\"Score\"";
/// What is measured: throughput, mean time, time of single calls.
const MODE: &str = "mode";
/// How the columns of parameters begin.
const PARAMETER: &str = "Param: ";

/// One benchmark with one set of parameters.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Measured {
    benchmark: String,
    mode: String,
    threads: u64,
    #[serde(default)]
    params: BTreeMap<String, String>,
    primary_metric: Metric,
    #[serde(default)]
    secondary_metrics: BTreeMap<String, Metric>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Metric {
    /// Words where it is no number.
    score: Value,
    score_unit: String,
    /// By fork and iteration.
    #[serde(default)]
    raw_data: Vec<Vec<Value>>,
}

fn read(bytes: &[u8]) -> Result<Measurements, String> {
    let rows = if line_that_begins(bytes, HEADER) == Some(0) {
        separated(bytes)?
    } else {
        documents(bytes)?
            .into_iter()
            .flat_map(|benchmarks: Vec<Measured>| benchmarks)
            .flat_map(Measured::rows)
            .collect()
    };
    Ok(Measurements { rows, ..Measurements::default() })
}

impl Measured {
    /// A row for each iteration, or for the mean where the iterations are not there.
    fn rows(self) -> Vec<ExportRow> {
        let mut parameters: Vec<(String, String)> = self.params.into_iter().collect();
        parameters.push(("threads".to_owned(), self.threads.to_string()));
        parameters.push((MODE.to_owned(), self.mode));
        let iterations = self.primary_metric.scores().len();
        let mut rows = vec![
            ExportRow { name: self.benchmark, parameters, ..ExportRow::default() };
            iterations
        ];
        let secondary = self.secondary_metrics.iter();
        let secondary =
            secondary.map(|(name, metric)| (Some(name.trim_start_matches('·')), metric));
        for (name, metric) in [(None, &self.primary_metric)].into_iter().chain(secondary) {
            for (row, score) in rows.iter_mut().zip(metric.scores()) {
                match score {
                    Value::String(text) => {
                        let name = name.unwrap_or("score");
                        row.figures.push((name.to_owned(), format!("failed: {text}")));
                    }
                    score => add(row, name, score.as_f64(), &metric.score_unit),
                }
            }
        }
        rows
    }
}

impl Metric {
    fn scores(&self) -> Vec<&Value> {
        match self.raw_data.as_slice() {
            [] => vec![&self.score],
            raw_data => raw_data.iter().flatten().collect(),
        }
    }
}

/// Adds a score by the name of its metric, or as a time or a throughput. Units are `us/op` or `ops/us`.
fn add(row: &mut ExportRow, name: Option<&str>, score: Option<f64>, unit: &str) {
    let per_second = |time: &str| 1e9 / quantities::Unit::read(time).scale();
    let is_time = |unit: &&str| quantities::Unit::read(unit).is_time();
    match (unit.strip_suffix("/op").filter(is_time), unit.strip_prefix("ops/")) {
        (Some(unit), _) => row.add(name.unwrap_or("time"), score, unit),
        (_, Some(time)) => {
            let score = score.map(|score| score * per_second(time));
            row.add(name.unwrap_or("throughput"), score, "ops/s");
        }
        _ => row.add(name.unwrap_or("score"), score, unit),
    }
}

fn separated(table: &[u8]) -> Result<Vec<ExportRow>, String> {
    let mut reader = csv::Reader::from_reader(table);
    let names = reader.headers().map_err(|error| error.to_string())?.clone();
    let mut rows = Vec::new();
    for line in reader.into_records() {
        let line = line.map_err(|error| error.to_string())?;
        let mut row = ExportRow::default();
        let (mut score, mut unit) = (None, "");
        for (name, value) in names.iter().zip(&line) {
            match (name, name.strip_prefix(PARAMETER)) {
                (_, Some(parameter)) if !value.is_empty() => {
                    row.parameters.push((parameter.to_owned(), value.to_owned()));
                }
                ("Benchmark", _) => value.clone_into(&mut row.name),
                ("Mode", _) => row.parameters.push((MODE.to_owned(), value.to_owned())),
                ("Threads", _) => row.parameters.push(("threads".to_owned(), value.to_owned())),
                // By the language of the machine; thousands are not grouped.
                ("Score", _) => score = value.replace(',', ".").parse().ok(),
                ("Unit", _) => unit = value,
                _ => {}
            }
        }
        add(&mut row, None, score, unit);
        rows.push(row);
    }
    Ok(rows)
}
