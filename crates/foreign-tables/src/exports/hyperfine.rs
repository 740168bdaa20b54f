//! The JSON of hyperfine: each run of each command.

use super::{Export, Measurements, Row, documents, has_first_key};
use crate::columns::replaced;
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
    #[serde(default)]
    parameters: BTreeMap<String, String>,
}

fn read(bytes: &[u8]) -> Result<Measurements, String> {
    let mut rows = Vec::new();
    for Measured { command, times, parameters } in
        documents(bytes)?.into_iter().flat_map(|document: Document| document.results)
    {
        // `./sort -j 4` is `./sort -j {threads}`, or each value would be a thing of its own.
        let name = parameters.iter().fold(command, |command, (name, value)| {
            replaced(&command, value, &format!("{{{name}}}"))
        });
        let row = Row { name, parameters: parameters.into_iter().collect(), ..Row::default() };
        for time in times {
            let mut row = row.clone();
            row.add("time", Some(time), "s");
            rows.push(row);
        }
    }
    Ok(Measurements { rows, ..Measurements::default() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_run_is_a_row() {
        let json = br#"{"results": [{"command": "a -j 1", "mean": 0.2, "times": [0.1, 0.3], "exit_codes": [0, null],
            "parameters": {"n": "1"}}, {"command": "b", "times": [1e-7]}]}"#;
        let rows = read(json).unwrap().rows;
        let row = |name: &str, parameters: &[(&str, &str)], time: &str| {
            let pair = |(name, value): &(&str, &str)| ((*name).to_owned(), (*value).to_owned());
            let [parameters, figures] = [parameters, &[("time", time)]]
                .map(|pairs| pairs.iter().map(pair).collect::<Vec<_>>());
            Row { name: name.into(), parameters, figures }
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
