//! The figures of the JSON value are the record's.

use crate::fixture::trajectory::{BECAUSE, Size, before};
use crate::fixture::{pipetest, realistic};
use findings::Conclusions;
use model::Run;
use report::json;
use serde_json::Value;

fn written(run: &Run, conclusions: &Conclusions) -> Value {
    serde_json::to_value(json::run(run, conclusions)).expect("written")
}

#[test]
fn tables_findings_and_caveats_are_whole() {
    let (made, conclusions) = realistic(3);
    let value = written(&made, &conclusions);
    assert_eq!(value["tables"].as_array().unwrap().len(), conclusions.analysis.tables.len());
    let median = value["tables"][0]["rows"][1]["cells"][0]["median"]["value"].as_f64().unwrap();
    let expected = conclusions.analysis.tables[0].rows[1].cells[0].as_ref().unwrap().median.value;
    assert!((median - expected).abs() < 1e-9, "{median} is not {expected}");
    assert_eq!(value["findings"][0]["sentence"], conclusions.findings[0].sentence.to_string());
    assert_eq!(value["caveats"].as_array().unwrap().len(), conclusions.caveats.len());
    assert_eq!(value["cells"].as_array().unwrap().len(), made.cells.len());
    assert_eq!(value["host_before"]["facts"]["cpu.model"], "AMD EPYC 7B13");
}

#[test]
fn leads_comparisons_shares_and_maps_are_in() {
    let (made, conclusions) = pipetest::pipetest(3);
    let value = written(&made, &conclusions);
    let (table, own) = (&value["tables"][1], &conclusions.analysis.tables[1]);
    assert_eq!(table["points_down"], true);
    assert_eq!(table["axis_parameter"], "tokens");
    assert_eq!(table["shares"]["word"], "active");
    assert_eq!(table["shares"]["values"][1], 0.1);
    let lead = &own.leads[0][0];
    assert_eq!(table["leads"][0][0]["best"], lead.best.as_str());
    assert_eq!(table["leads"][0][0]["clear"], lead.clear);
    assert_eq!(table["comparisons"].as_array().unwrap().len(), own.comparisons.len());
    let crosses = table["comparisons"].as_array().unwrap().iter();
    let crosses = crosses.filter(|comparison| comparison["outcome"]["outcome"] == "crosses");
    let crossover = &crosses.clone().next().expect("a crossover")["outcome"]["crossovers"][0];
    assert!(crossover["at"]["value"].as_f64().is_some_and(|at| at > 0.0), "{crossover}");
    assert_eq!(value["maps"].as_array().unwrap().len(), 1);
    let lead = &value["maps"][0]["leads"][0][0];
    assert_eq!(
        lead["best"],
        conclusions.analysis.maps[0].leads[0][0].as_ref().unwrap().best.as_str()
    );
    assert_eq!(value["maps"][0]["leads"][3][10], Value::Null);
}

#[test]
fn modes_steps_drift_and_where_a_series_ended_are_in() {
    let (made, conclusions) = before(Size::SMALL);
    let value = written(&made, &conclusions);
    let rows = &value["tables"][0]["rows"];
    assert_eq!(value["tables"][0]["trajectory"], true);
    assert_eq!(rows[0]["modes"]["division"], "within-rounds");
    assert_eq!(rows[0]["modes"]["modes"][1]["share"], 0.38);
    assert_eq!(rows[1]["steps"][0]["at"]["value"], 350.0);
    assert_eq!(rows[2]["drift"]["since"], 3);
    assert_eq!(
        (&rows[4]["short"]["reached"], &rows[4]["short"]["planned"]),
        (&600.into(), &1_000.into())
    );
    // Cells say it too, each its own place.
    assert_eq!(value["cells"][4]["short"]["because"], BECAUSE);
    assert_eq!(value["cells"][0]["short"], Value::Null);
    assert_eq!(value["cells"][4]["metrics"][0]["positions"].as_array().unwrap().len(), 600);
    let kinds: Vec<&str> = value["findings"]
        .as_array()
        .unwrap()
        .iter()
        .map(|finding| finding["kind"].as_str().unwrap())
        .collect();
    assert_eq!(kinds.len(), conclusions.findings.len());
    assert!(["modes", "step", "drift"].iter().all(|kind| kinds.contains(kind)), "{kinds:?}");
}
