//! The JSON of hyperfine (`--export-json`) as a table: one row for each run of each command.

use crate::formats::HYPERFINE_PARAMETER;
use serde::Deserialize;
use std::collections::{BTreeMap, BTreeSet};

/// How it begins, behind its brace.
const FIRST_KEY: &[u8] = b"\"results\"";

#[derive(Deserialize)]
struct Export {
    results: Vec<Measured>,
}

/// One command.
#[derive(Deserialize)]
struct Measured {
    command: String,
    times: Vec<f64>,
    #[serde(default)]
    exit_codes: Vec<Option<i64>>,
    #[serde(default)]
    parameters: BTreeMap<String, String>,
}

/// Whether `json` begins as an export does.
pub fn is_export(json: &[u8]) -> bool {
    let first_key = json.trim_ascii_start().get(1..).unwrap_or_default().trim_ascii_start();
    first_key.starts_with(FIRST_KEY)
}

/// The table in `json`, or why there is none.
pub fn table(json: &[u8]) -> Result<Vec<u8>, String> {
    let read: Result<Export, _> = serde_json::from_slice(json);
    let Export { results } = read.map_err(|error| {
        let (line, column) = (error.line(), error.column());
        format!(": this JSON is not hyperfine's (line {line}, column {column})")
    })?;
    let names: BTreeSet<&String> =
        results.iter().flat_map(|result| result.parameters.keys()).collect();
    let mut table = csv::Writer::from_writer(Vec::new());
    let parameters = names.iter().map(|name| format!("{HYPERFINE_PARAMETER}{name}"));
    let header = ["command".to_owned()].into_iter().chain(parameters);
    let header = header.chain(["time".to_owned(), "exit_code".to_owned()]);
    let written = table.write_record(header.collect::<Vec<String>>()).and_then(|()| {
        for result in &results {
            for (run, time) in result.times.iter().enumerate() {
                let code = result.exit_codes.get(run).copied().flatten();
                let mut row = vec![result.command.clone()];
                row.extend(
                    names
                        .iter()
                        .map(|name| result.parameters.get(*name).cloned().unwrap_or_default()),
                );
                row.push(time.to_string());
                row.push(code.map(|code| code.to_string()).unwrap_or_default());
                table.write_record(row)?;
            }
        }
        Ok(())
    });
    written.map_err(|error| format!(": {error}"))?;
    table.into_inner().map_err(|error| format!(": {error}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_run_is_a_row() {
        let json = br#"{"results": [{"command": "a -j 1", "mean": 0.2, "times": [0.1, 0.3], "exit_codes": [0, null],
            "parameters": {"n": "1"}}, {"command": "b", "times": [1e-7]}]}"#;
        let wanted =
            "command,parameter_n,time,exit_code\na -j 1,1,0.1,0\na -j 1,1,0.3,\nb,,0.0000001,\n";
        assert_eq!(table(json), Ok(wanted.as_bytes().to_vec()));
        assert!(is_export(json) && !is_export(b"{\"schema\": 1}"));
        assert!(table(b"{\"results\": 2}").unwrap_err().contains("(line 1, column 13)"));
    }
}
