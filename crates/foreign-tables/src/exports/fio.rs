//! The JSON of fio: percentiles of each job's latency, its IOPS and its bandwidth.

use super::{Export, ExportRow, Measurements, STATISTIC, documents, templates};
use model::Warning;
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
/// Options that tell jobs apart; others, such as what is logged, are not shown.
const OPTIONS: [&str; 11] = [
    "iodepth",
    "numjobs",
    "bs",
    "rw",
    "ioengine",
    "rate_iops",
    "size",
    "rwmixread",
    "direct",
    "fsync",
    "filename",
];
/// Those that are sizes.
const SIZES: [&str; 2] = ["bs", "size"];
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
    /// What runs at the same time: a barrier (stonewall) begins another group.
    #[serde(default)]
    groupid: u64,
    #[serde(default)]
    error: i64,
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
    let all = || {
        documents.iter().flat_map(|document| document.jobs.iter().map(move |job| (document, job)))
    };
    let jobs: Vec<ExportRow> = all().map(|(document, job)| job.row(&document.global)).collect();
    let (mut rows, mut warnings) = (Vec::new(), Vec::new());
    let mut rates: Vec<(&Document, u64, ExportRow, [f64; 2])> = Vec::new();
    for (((document, job), template), row) in all().zip(templates(&jobs)).zip(&jobs) {
        if job.error != 0 {
            let what = format!("{} ended with error {}", job.jobname, job.error);
            warnings.push(Warning { what, remedy: String::new() });
        }
        let directions = [("read", &job.read), ("write", &job.write), ("trim", &job.trim)];
        for (direction, measured) in directions {
            let Some(measured) = measured.as_ref().filter(|measured| measured.total_ios > 0) else {
                continue;
            };
            let row = row.in_bytes(format!("{template} {direction}"));
            rows.extend(measured.latencies(&row));
            let more = [measured.iops, measured.bw_bytes].map(Option::unwrap_or_default);
            let is_clone = |(from, group, rate, _): &&mut (&Document, u64, ExportRow, _)| {
                std::ptr::eq(*from, document) && *group == job.groupid && *rate == row
            };
            match rates.iter_mut().find(is_clone) {
                // Clones of a job (numjobs) share the work.
                Some((.., sums)) => sums.iter_mut().zip(more).for_each(|(sum, more)| *sum += more),
                None => rates.push((document, job.groupid, row, more)),
            }
        }
    }
    rows.extend(rates.into_iter().map(|(_, _, mut row, [iops, bandwidth])| {
        row.add("iops", Some(iops), "ops/s");
        row.add("bandwidth", Some(bandwidth), "B/s");
        row
    }));
    Ok(Measurements { rows, warnings, ..Measurements::default() })
}

impl ExportRow {
    /// The same with that name, and with its sizes as numbers.
    fn in_bytes(&self, name: String) -> ExportRow {
        let mut row = ExportRow { name, ..self.clone() };
        let is_size = |name: &str| SIZES.contains(&name);
        for (_, value) in row.parameters.iter_mut().filter(|(name, _)| is_size(name)) {
            *value = bytes(value);
        }
        row
    }
}

impl Job {
    /// The job with its options as they are written.
    fn row(&self, global: &BTreeMap<String, String>) -> ExportRow {
        let mut row = ExportRow { name: self.jobname.clone(), ..ExportRow::default() };
        for name in OPTIONS {
            let Some(value) = self.options.get(name).or_else(|| global.get(name)) else { continue };
            row.parameters.push((name.to_owned(), value.clone()));
        }
        row
    }
}

impl Direction {
    fn latencies(&self, job: &ExportRow) -> Vec<ExportRow> {
        let percentiles = PERCENTILES.iter().filter_map(|(key, name)| {
            let mut row = job.clone();
            row.parameters.push((STATISTIC.to_owned(), (*name).to_owned()));
            row.add("latency", Some(*self.clat_ns.percentile.get(*key)?), "ns");
            Some(row)
        });
        percentiles.collect()
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
    fn sizes_are_bytes() {
        assert_eq!(bytes("4k"), "4096");
        assert_eq!(bytes("4k,8k"), "4k,8k");
    }
}
