//! The JSON of pytest-benchmark: the timings of each round with `--benchmark-save-data`, else their statistics.

use super::{Export, Measurements, N, Row, documents, has_first_key};
use serde::Deserialize;
use serde_json::{Map, Value};

pub const EXPORT: Export = Export {
    program: "pytest-benchmark",
    option: "--benchmark-json",
    is_head: |head| has_first_key(head, "machine_info"),
    is_table: |_| false,
    read,
};

#[derive(Deserialize)]
struct Document {
    benchmarks: Vec<Measured>,
}

/// One test with one set of parameters.
#[derive(Deserialize)]
struct Measured {
    name: String,
    params: Option<Map<String, Value>>,
    /// The identifier of the parameters: `list-1000`.
    param: Option<String>,
    stats: Stats,
}

/// Seconds a call.
#[derive(Deserialize)]
struct Stats {
    median: Option<f64>,
    mean: Option<f64>,
    min: Option<f64>,
    #[serde(default)]
    data: Option<Vec<f64>>,
}

/// How the program writes a value that is no JSON.
const NO_JSON: &str = "UNSERIALIZABLE[";

fn read(bytes: &[u8]) -> Result<Measurements, String> {
    let measured = documents(bytes)?.into_iter().flat_map(|document: Document| document.benchmarks);
    let mut rows = Vec::new();
    for measured in measured {
        let row = measured.row();
        let Stats { median, mean, min, data } = measured.stats;
        for time in data.iter().flatten() {
            let mut row = row.clone();
            row.add("time", Some(*time), "s");
            rows.push(row);
        }
        if data.is_none() {
            let mut row = row;
            row.add("median", median, "s");
            row.add("mean", mean, "s");
            row.add("min", min, "s");
            rows.push(row);
        }
    }
    Ok(Measurements { rows, ..Measurements::default() })
}

impl Measured {
    /// The test by its name without numbers, which are parameters.
    fn row(&self) -> Row {
        let (test, _) = self.name.split_once('[').unwrap_or((&self.name, ""));
        let mut row = Row { name: test.to_owned(), ..Row::default() };
        let params = self.params.iter().flatten();
        let mut words = Vec::new();
        for (name, value) in params {
            match value {
                Value::Number(number) => row.parameters.push((name.clone(), number.to_string())),
                Value::String(text) if !text.starts_with(NO_JSON) => {
                    row.parameters.push((name.clone(), text.clone()));
                }
                _ => words = self.words(),
            }
        }
        if self.params.is_none() {
            words = self.words();
            // `test_x[1024]`: only the identifier says what varies.
            if let [only] = words.as_slice()
                && super::is_number(only)
            {
                row.parameters.push((N.to_owned(), (*only).to_owned()));
                words.clear();
            }
        }
        if !words.is_empty() {
            row.name = format!("{test}[{}]", words.join("-"));
        }
        row
    }

    /// The parts of the identifier that are no parameters by name.
    fn words(&self) -> Vec<&str> {
        let named: Vec<String> = self
            .params
            .iter()
            .flatten()
            .filter_map(|(_, value)| match value {
                Value::Number(number) => Some(number.to_string()),
                Value::String(text) => Some(text.clone()),
                _ => None,
            })
            .collect();
        let parts = self.param.iter().flat_map(|param| param.split('-'));
        parts.filter(|part| !named.iter().any(|value| value == part)).collect()
    }
}
