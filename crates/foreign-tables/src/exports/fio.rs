//! The JSON of fio: percentiles of each job's latency, its IOPS and its bandwidth.

use super::{Export, Measurements, Row, STATISTIC, documents};
use serde::Deserialize;
use std::collections::BTreeMap;

pub const EXPORT: Export = Export {
    program: "fio",
    option: "--output-format=json",
    is_head: |head| start(head).is_some(),
    is_table: |_| false,
    read,
};

/// The first key. Notes may stand above it.
const FIRST_KEY: &[u8] = b"\"fio version\"";
/// Options that tell jobs apart; others, such as the file, are not shown.
const OPTIONS: [&str; 6] = ["iodepth", "numjobs", "bs", "rw", "ioengine", "rate_iops"];
/// Percentiles that are shown of all those that fio writes.
const PERCENTILES: [(&str, &str); 3] =
    [("50.000000", "p50"), ("99.000000", "p99"), ("99.900000", "p99.9")];

#[derive(Deserialize)]
struct Document {
    #[serde(default, rename = "global options")]
    global: BTreeMap<String, String>,
    jobs: Vec<Job>,
}

#[derive(Deserialize)]
struct Job {
    jobname: String,
    #[serde(default, rename = "job options")]
    options: BTreeMap<String, String>,
    read: Option<Direction>,
    write: Option<Direction>,
    trim: Option<Direction>,
}

#[derive(Deserialize)]
struct Direction {
    #[serde(default)]
    total_ios: u64,
    iops: Option<f64>,
    bw_bytes: Option<f64>,
    #[serde(default)]
    clat_ns: Latency,
}

#[derive(Default, Deserialize)]
struct Latency {
    #[serde(default)]
    percentile: BTreeMap<String, f64>,
}

/// Where the JSON begins.
fn start(head: &[u8]) -> Option<usize> {
    let key = head.windows(FIRST_KEY.len()).position(|window| window == FIRST_KEY)?;
    head[..key].iter().rposition(|byte| *byte == b'{')
}

fn read(bytes: &[u8]) -> Result<Measurements, String> {
    let documents: Vec<Document> = documents(&bytes[start(bytes).unwrap_or(0)..])?;
    let mut rows = Vec::new();
    for Document { global, jobs } in &documents {
        for job in jobs {
            let row = job.row(global);
            let directions = [("read", &job.read), ("write", &job.write), ("trim", &job.trim)];
            for (direction, measured) in directions {
                if let Some(measured) = measured.as_ref().filter(|measured| measured.total_ios > 0)
                {
                    rows.extend(measured.rows(&row, direction));
                }
            }
        }
    }
    Ok(Measurements { rows, ..Measurements::default() })
}

impl Job {
    /// The job with its options, and with their names in place of numbers in its own: `qd16` is `qd{iodepth}`.
    fn row(&self, global: &BTreeMap<String, String>) -> Row {
        let mut row = Row { name: self.jobname.clone(), ..Row::default() };
        for name in OPTIONS {
            let Some(value) = self.options.get(name).or_else(|| global.get(name)) else { continue };
            if value.starts_with(|first: char| first.is_ascii_digit()) {
                row.name = with_name(&row.name, value, name);
            }
            let value = if name == "bs" { bytes(value) } else { value.clone() };
            row.parameters.push((name.to_owned(), value));
        }
        row
    }
}

impl Direction {
    fn rows(&self, job: &Row, direction: &str) -> Vec<Row> {
        let row = Row { name: format!("{} {direction}", job.name), ..job.clone() };
        let percentiles = PERCENTILES.iter().filter_map(|(key, name)| {
            let mut row = row.clone();
            row.parameters.push((STATISTIC.to_owned(), (*name).to_owned()));
            row.add("latency", Some(*self.clat_ns.percentile.get(*key)?), "ns");
            Some(row)
        });
        let mut rates = row.clone();
        rates.add("iops", self.iops, "ops/s");
        rates.add("bandwidth", self.bw_bytes, "B/s");
        percentiles.chain([rates]).collect()
    }
}

/// `name` with `{option}` where `value` stands as a number of its own.
fn with_name(name: &str, value: &str, option: &str) -> String {
    let is_digit = |c: Option<char>| c.is_some_and(|c| c.is_ascii_digit());
    let whole = name.match_indices(value).find(|(at, _)| {
        !is_digit(name[..*at].chars().last()) && !is_digit(name[at + value.len()..].chars().next())
    });
    match whole {
        Some((at, _)) => format!("{}{{{option}}}{}", &name[..at], &name[at + value.len()..]),
        None => name.to_owned(),
    }
}

/// A size as a number of bytes: fio's `4k` are 4,096. Several sizes stay words.
fn bytes(text: &str) -> String {
    let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let exponent = match text[digits.len()..].to_ascii_lowercase().as_str() {
        "" | "b" => 0,
        "k" | "kb" | "kib" => 1,
        "m" | "mb" | "mib" => 2,
        "g" | "gb" | "gib" => 3,
        _ => return text.to_owned(),
    };
    let bytes = digits.parse::<u64>().ok().and_then(|n| n.checked_mul(1 << (10 * exponent)));
    bytes.map_or_else(|| text.to_owned(), |bytes| bytes.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_are_taken_from_names_of_jobs() {
        assert_eq!(with_name("qd16", "16", "iodepth"), "qd{iodepth}");
        assert_eq!(with_name("qd16", "1", "iodepth"), "qd16");
        assert_eq!(bytes("4k"), "4096");
        assert_eq!(bytes("4k,8k"), "4k,8k");
    }
}
