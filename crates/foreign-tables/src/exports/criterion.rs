//! What criterion prints, an estimate a function; and the JSON messages of cargo-criterion, with each sample.

use super::{Export, ExportRow, Measurements, documents, has_first_key};
use serde::Deserialize;

pub const EXPORT: Export = Export {
    program: "criterion",
    option: "its output, or cargo criterion --message-format json",
    is_head: |head| {
        has_first_key(head, "reason")
            || String::from_utf8_lossy(head).lines().any(|line| estimate(line).is_some())
    },
    is_table: |_| false,
    read,
};

/// A message; those of groups have no samples.
#[derive(Deserialize)]
struct Message {
    reason: String,
    #[serde(default)]
    id: String,
    #[serde(default)]
    iteration_count: Vec<f64>,
    #[serde(default)]
    measured_values: Vec<f64>,
    #[serde(default)]
    unit: String,
}

fn read(bytes: &[u8]) -> Result<Measurements, String> {
    let rows = if has_first_key(bytes, "reason") {
        documents(bytes)?.iter().flat_map(samples).collect()
    } else {
        estimates(str::from_utf8(bytes).map_err(|_| "is no UTF-8")?)
    };
    Ok(Measurements { rows, ..Measurements::default() })
}

fn samples(message: &Message) -> Vec<ExportRow> {
    if message.reason != "benchmark-complete" {
        return Vec::new();
    }
    let row = ExportRow::named(&message.id);
    let samples = message.measured_values.iter().zip(&message.iteration_count);
    let sample = |(sum, iterations): (&f64, &f64)| {
        let mut row = row.clone();
        row.add("time", Some(sum / iterations), &message.unit);
        row
    };
    samples.filter(|(_, iterations)| **iterations > 0.0).map(sample).collect()
}

/// A long name has a line of its own.
fn estimates(text: &str) -> Vec<ExportRow> {
    let (mut rows, mut before) = (Vec::new(), "");
    for line in text.lines() {
        if let Some((name, time)) = estimate(line) {
            let mut row = ExportRow::named(if name.is_empty() { before.trim() } else { name });
            row.figures.push(("time".to_owned(), time));
            rows.push(row);
        }
        before = line;
    }
    rows
}

/// The name, if the line has it, and the estimate of `sum/10    time:   [20.4 ns 20.9 ns 21.4 ns]`.
fn estimate(line: &str) -> Option<(&str, String)> {
    let (name, figures) = line.split_once("time:   [")?;
    let figures: Vec<&str> = figures.trim_end().strip_suffix(']')?.split(' ').collect();
    let [_, _, value, unit, _, _] = figures[..] else { return None };
    Some((name.trim(), format!("{value} {unit}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sample_is_a_mean_of_its_iterations() {
        let json = br#"{"reason":"benchmark-complete","id":"sum/10","report_directory":"/x","iteration_count":[2,0,4],
            "measured_values":[20.0,1.0,44.0],"unit":"ns","throughput":[],"typical":{"estimate":10.0,"unit":"ns"}}
            {"reason":"group-complete","group_name":"sum","benchmarks":["sum/10"],"report_directory":"/x"}"#;
        let rows = read(json).unwrap().rows;
        let times: Vec<Option<&str>> = rows.iter().map(|row| row.figure("time")).collect();
        assert_eq!(times, [Some("10 ns"), Some("11 ns")]);
        assert_eq!((rows[0].name.as_str(), rows[0].parameter("n")), ("sum", Some("10")));
    }

    #[test]
    fn a_name_may_stand_above_its_estimate() {
        let text = "a/5   time:   [1 ns 2.5 ns 3 ns]\n  4 (4.00%) high mild\nlong name/5\n   time:   [1 us 2 us 3 us]\n\
                    change: [-1.0% +0.1% +1.0%] (p = 0.50 > 0.05)\n";
        let rows = estimates(text);
        let named: Vec<(&str, Option<&str>)> =
            rows.iter().map(|row| (row.name.as_str(), row.figure("time"))).collect();
        assert_eq!(named, [("a", Some("2.5 ns")), ("long name", Some("2 us"))]);
    }
}
