//! The JSON value has the documented keys, and its figures are the record's.

mod fixture;

use fixture::realistic;
use report::json::{SCHEMA, Samples, run};
use serde_json::Value;

#[test]
fn the_documented_keys_and_no_others() {
    let (made, analysis) = realistic(3);
    let value = run(&made, &analysis, Samples::Omit);
    let keys: Vec<&str> = value.as_object().unwrap().keys().map(String::as_str).collect();
    let documented: Vec<&str> = include_str!("../src/json.rs")
        .lines()
        .filter_map(|line| line.strip_prefix("//! | `")?.split('`').next())
        .collect();
    let mut sorted = documented.clone();
    sorted.sort_unstable();
    let mut found = keys;
    found.sort_unstable();
    assert_eq!(found, sorted);
    assert_eq!(value["schema"], SCHEMA);
}

#[test]
fn samples_come_only_when_asked_for_and_are_the_records() {
    let (made, analysis) = realistic(3);
    let with = run(&made, &analysis, Samples::Include);
    let without = run(&made, &analysis, Samples::Omit);
    let metric = &made.cells[0].metrics[0];
    let samples: Vec<f64> = with["cells"][0]["metrics"][0]["samples"]
        .as_array()
        .unwrap()
        .iter()
        .map(|sample| sample.as_f64().unwrap())
        .collect();
    assert_eq!(samples, metric.samples);
    assert_eq!(without["cells"][0]["metrics"][0]["samples"], Value::Null);
    assert_eq!(without["cells"][0]["metrics"][0]["count"], metric.samples.len());
}

#[test]
fn tables_findings_and_caveats_are_whole() {
    let (made, analysis) = realistic(3);
    let value = run(&made, &analysis, Samples::Omit);
    assert_eq!(value["tables"].as_array().unwrap().len(), analysis.tables.len());
    let median = value["tables"][0]["rows"][1]["cells"][0]["median"]["value"].as_f64().unwrap();
    let expected = analysis.tables[0].rows[1].cells[0].as_ref().unwrap().median.value;
    assert!((median - expected).abs() < 1e-9, "{median} is not {expected}");
    assert_eq!(value["findings"][0]["sentence"], analysis.findings[0].sentence);
    assert_eq!(value["caveats"].as_array().unwrap().len(), analysis.caveats.len());
    assert_eq!(value["cells"].as_array().unwrap().len(), made.cells.len());
    assert_eq!(value["host"]["before"]["facts"]["cpu.model"], "AMD EPYC 7B13");
}
