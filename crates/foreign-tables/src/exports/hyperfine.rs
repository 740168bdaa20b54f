//! The JSON of hyperfine: each run of each command.

use super::{Export, ExportRow, Measurements, documents, has_first_key, templates};
use crate::one_line;
use model::Warning;
use serde::Deserialize;
use std::collections::BTreeMap;

pub const EXPORT: Export = Export {
    program: "hyperfine",
    option: "--export-json",
    is_head: |head| has_first_key(head, "results"),
    is_table: |_| false,
    read,
};

#[derive(Deserialize)]
struct Document {
    results: Vec<Measured>,
}

/// One command.
#[derive(Deserialize)]
struct Measured {
    command: String,
    times: Vec<f64>,
    /// Absent where a signal ended a run.
    #[serde(default)]
    exit_codes: Vec<Option<i32>>,
    #[serde(default)]
    parameters: BTreeMap<String, String>,
}

fn read(bytes: &[u8]) -> Result<Measurements, String> {
    let documents: Vec<Document> = documents(bytes)?;
    let results: Vec<Measured> =
        documents.into_iter().flat_map(|document| document.results).collect();
    let commands: Vec<ExportRow> = results
        .iter()
        .map(|Measured { command, parameters, .. }| {
            let parameters = parameters.clone().into_iter().collect();
            ExportRow { name: command.clone(), parameters, ..ExportRow::default() }
        })
        .collect();
    let (mut rows, mut warnings) = (Vec::new(), Vec::new());
    // `./sort -j 4` is `./sort -j {threads}`, or each value would be a thing of its own.
    for ((measured, row), name) in results.iter().zip(&commands).zip(templates(&commands)) {
        let failed = measured.exit_codes.iter().filter(|code| **code != Some(0)).count();
        if failed > 0 {
            let (command, runs) = (one_line(&measured.command), measured.exit_codes.len());
            let what = format!("{failed} of {runs} runs of `{command}` failed");
            warnings.push(Warning { what, remedy: String::new() });
        }
        for time in &measured.times {
            let mut row = ExportRow { name: name.clone(), ..row.clone() };
            row.add("time", Some(*time), "s");
            rows.push(row);
        }
    }
    Ok(Measurements { rows, warnings, ..Measurements::default() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_run_is_a_row() {
        let json = br#"{"results": [{"command": "a -j 1", "mean": 0.2, "times": [0.1, 0.3], "exit_codes": [0, null],
            "parameters": {"n": "1"}}, {"command": "b", "times": [1e-7]}]}"#;
        let Measurements { rows, warnings, .. } = read(json).unwrap();
        assert_eq!(warnings[0].what, "1 of 2 runs of `a -j 1` failed");
        let row = |name: &str, parameters: &[(&str, &str)], time: &str| {
            let pair = |(name, value): &(&str, &str)| ((*name).to_owned(), (*value).to_owned());
            let [parameters, figures] = [parameters, &[("time", time)]]
                .map(|pairs| pairs.iter().map(pair).collect::<Vec<_>>());
            ExportRow { name: name.into(), parameters, figures, ..ExportRow::default() }
        };
        let wanted = [
            row("a -j {n}", &[("n", "1")], "0.1 s"),
            row("a -j {n}", &[("n", "1")], "0.3 s"),
            row("b", &[], "0.0000001 s"),
        ];
        assert_eq!(rows, wanted);
        assert!(has_first_key(json, "results") && !has_first_key(b"{\"schema\": 1}", "results"));
        let why = read(b"{\"results\": 2}").unwrap_err();
        assert!(why.contains("(line 1, column 13)"), "{why}");
    }
}
