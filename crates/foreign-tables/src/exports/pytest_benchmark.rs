//! The JSON of pytest-benchmark: the timings of each round, or their statistics where it has none.

use super::{Export, ExportRow, Measurements, N, documents, has_first_key};
use model::Warning;
use serde::Deserialize;
use serde_json::{Map, Value};
use std::collections::BTreeSet;

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
    /// With its file and class: `test_a.py::TestList::test_lookup[100]`.
    fullname: String,
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

/// Timings of a test that are taken: a fast one has hundreds of thousands.
const VALUES_MAX: usize = 1_000;
/// How the program writes a value that is no JSON.
const NO_JSON: &str = "UNSERIALIZABLE[";

fn read(bytes: &[u8]) -> Result<Measurements, String> {
    let documents: Vec<Document> = documents(bytes)?;
    let all: Vec<Measured> =
        documents.into_iter().flat_map(|document| document.benchmarks).collect();
    let tests: BTreeSet<(String, String)> = all
        .iter()
        .map(|measured| (test(&measured.name).to_owned(), test(&measured.fullname).to_owned()))
        .collect();
    let (mut rows, mut warnings) = (Vec::new(), Vec::new());
    for measured in all {
        let is_shared = tests.iter().filter(|(name, _)| name == test(&measured.name)).count() > 1;
        let row = measured.row(if is_shared { &measured.fullname } else { &measured.name });
        let Stats { median, mean, min, data } = measured.stats;
        let values = data.as_ref().map_or(0, Vec::len);
        let step = values.div_ceil(VALUES_MAX).max(1);
        if step > 1 {
            let what = format!("{}: one of {step} of its {values} timings is taken", measured.name);
            warnings.push(Warning { what, remedy: String::new() });
        }
        for time in data.iter().flatten().step_by(step) {
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
    Ok(Measurements { rows, warnings, ..Measurements::default() })
}

/// A name without the identifier of the parameters.
fn test(name: &str) -> &str {
    name.split_once('[').map_or(name, |(test, _)| test)
}

impl Measured {
    /// The test of that name, without numbers, which are parameters.
    fn row(&self, name: &str) -> ExportRow {
        let test = test(name);
        let mut row = ExportRow { name: test.to_owned(), ..ExportRow::default() };
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
