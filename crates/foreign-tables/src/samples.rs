//! Samples as JSON lines, as programs without a table of their own print them: one object a line.

use serde::Deserialize;

/// The columns of their table.
pub const COLUMNS: [&str; 5] = ["series", "n", "round", "value", "unit"];
const SERIES_DEFAULT: &str = "cost";
const UNIT_DEFAULT: &str = "ns";

/// `{"series": "lookup", "point": 1000, "round": 0, "value": 81.5, "unit": "ns"}`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Sample {
    #[serde(default)]
    series: Option<String>,
    point: u64,
    #[serde(default)]
    round: u32,
    value: f64,
    #[serde(default)]
    unit: Option<String>,
}

/// What a line may look like.
pub const EXAMPLE: &str = r#"{"series": "a", "point": 1000, "round": 0, "value": 81.5}"#;

/// Whether the first line of `json` is an object as a whole, a sample or not.
pub fn is_line(json: &[u8]) -> bool {
    let first = json.trim_ascii_start().split(|byte| *byte == b'\n').next().unwrap_or_default();
    first.trim_ascii_end().ends_with(b"}")
}

/// Whether the first line of `json` is a sample.
pub fn is_first(json: &[u8]) -> bool {
    let first = json.trim_ascii_start().split(|byte| *byte == b'\n').next().unwrap_or_default();
    serde_json::from_slice::<Sample>(first).is_ok()
}

/// The table in `lines`, or why there is none. Lines without content are passed over.
pub fn table(lines: &[u8]) -> Result<Vec<u8>, String> {
    let mut table = csv::Writer::from_writer(Vec::new());
    table.write_record(COLUMNS).map_err(|error| format!(": {error}"))?;
    for (number, line) in (1..).zip(lines.split(|byte| *byte == b'\n')) {
        if line.trim_ascii().is_empty() {
            continue;
        }
        let refused = |why: String| {
            format!(
                ", line {number}: no sample ({why}); tables have a line of names, and `knee import` reads runs"
            )
        };
        let Sample { series, point, round, value, unit } =
            serde_json::from_slice(line).map_err(|error| refused(error.to_string()))?;
        let series = series.unwrap_or_else(|| SERIES_DEFAULT.to_owned());
        let unit = unit.unwrap_or_else(|| UNIT_DEFAULT.to_owned());
        let row = [series, point.to_string(), round.to_string(), value.to_string(), unit];
        table.write_record(row).map_err(|error| refused(error.to_string()))?;
    }
    table.into_inner().map_err(|error| format!(": {error}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_line_is_a_row() {
        let lines = b"{\"series\": \"a\", \"point\": 10, \"round\": 1, \"value\": 2.5, \"unit\": \"us\"}\n\n\
                      {\"value\": 1e-9, \"point\": 20}\n";
        let wanted = "series,n,round,value,unit\na,10,1,2.5,us\ncost,20,0,0.000000001,ns\n";
        assert!(is_first(lines));
        assert_eq!(table(lines), Ok(wanted.as_bytes().to_vec()));
    }

    #[test]
    fn what_is_no_sample_is_refused_with_its_line() {
        let refused =
            |line: &str| table(format!("{{\"point\": 1, \"value\": 1}}\n{line}").as_bytes());
        for line in ["{\"point\": 1}", "{\"point\": -1, \"value\": 1}", "{\"points\": 1}", "x"] {
            assert!(refused(line).unwrap_err().starts_with(", line 2: no sample ("), "{line}");
        }
        assert!(!is_first(b"{\"schema\": 1, \"runs\": []}"));
        assert!(!is_first(b"{\"results\": []}"));
    }
}
