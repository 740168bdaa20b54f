//! The JSON of hyperfine, with each run of each command, and its separated values, with the mean of each.

use super::{
    Export, ExportRow, Measurements, documents, has_first_key, line_that_begins, templates,
};
use crate::one_line;
use csv::StringRecord;
use model::Warning;
use serde::Deserialize;
use std::collections::BTreeMap;

pub const EXPORT: Export = Export {
    program: "hyperfine",
    option: "--export-json or csv",
    is_head: |head| has_first_key(head, "results"),
    is_table: |head| line_that_begins(head, HEADER).is_some(),
    read,
};

/// How the line of names begins; columns of parameters follow.
const HEADER: &str = "command,mean,stddev,median,user,system,min,max";
const PARAMETER: &str = "parameter_";

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
    if let Some(start) = line_that_begins(bytes, HEADER) {
        let rows = separated(&bytes[start..])?;
        return Ok(Measurements { rows, ..Measurements::default() });
    }
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

/// The lines of separated values. Joined files have the names again.
fn separated(table: &[u8]) -> Result<Vec<ExportRow>, String> {
    let mut reader = csv::ReaderBuilder::new().has_headers(false).flexible(true).from_reader(table);
    let mut names = StringRecord::new();
    let mut rows = Vec::new();
    for line in reader.records() {
        let line = line.map_err(|error| error.to_string())?;
        if line.iter().take(2).eq(["command", "mean"]) {
            names = line;
            continue;
        }
        let mut row = ExportRow { name: line[0].to_owned(), ..ExportRow::default() };
        for (name, value) in names.iter().zip(&line).skip(1) {
            match name.strip_prefix(PARAMETER) {
                Some(name) => row.parameters.push((name.to_owned(), value.to_owned())),
                None if value.is_empty() => {}
                None => {
                    let figure =
                        value.parse().map_err(|_| format!(": {name}: `{value}` is no number"))?;
                    row.add(name, Some(figure), "s");
                }
            }
        }
        row.parameters.retain(|(_, value)| !value.is_empty());
        rows.push(row);
    }
    for (name, row) in templates(&rows).into_iter().zip(&mut rows) {
        row.name = name;
        // As the file calls its columns.
        row.parameters.iter_mut().for_each(|(name, _)| name.insert_str(0, PARAMETER));
    }
    Ok(rows)
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
