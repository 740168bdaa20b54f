//! Extra-P, which finds models of scaling, on the same series: its answers are scored by the judges of knee's.

use super::Asked;
use super::family::{Case, Family, Input, Scores};
use crate::shell;
use anyhow::{Result, ensure};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::Command;

/// Reads a file of series, and writes a verdict for each.
const SCRIPT: &str = include_str!("extrap.py");

/// Whether `python` has it; that it has not is printed.
pub fn is_there(python: &Path) -> bool {
    let is_there = shell::output(Command::new(python).args(["-c", "import extrap"])).is_ok();
    if !is_there {
        println!("SKIPPED in part: {} has no Extra-P (pip install extrap)", python.display());
    }
    is_there
}

/// Its scores on a family of single series; `None` of any other. A cost that falls and then grows is no model of one term.
pub fn scores(asked: &Asked<'_>, family: &Family, python: &Path) -> Result<Option<Scores>> {
    if family.name.starts_with("falls") {
        return Ok(None);
    }
    let cases: Vec<Case> = (0..).map_while(|number| asked.case(family, number)).collect();
    let Some(lines) = cases.iter().map(medians).collect::<Option<Vec<String>>>() else {
        return Ok(None);
    };
    let scratch = tempfile::tempdir()?;
    let file = scratch.path().join("series.txt");
    fs::write(&file, lines.join("\n"))?;
    let text = shell::output(Command::new(python).args(["-c", SCRIPT]).arg(file))?;
    let verdicts: Vec<Value> =
        text.lines().map(serde_json::from_str).collect::<Result<_, serde_json::Error>>()?;
    ensure!(verdicts.len() == cases.len(), "Extra-P answered {} series", verdicts.len());
    let mut scores = Scores::default();
    for (case, growth) in cases.iter().zip(verdicts) {
        scores.add((case.judge)(&json!({"tables": [{"rows": [{"growth": growth}]}]})));
    }
    Ok(Some(scores))
}

/// The median of each point of a single series of costs, as a line of JSON.
fn medians(case: &Case) -> Option<String> {
    let Input::Costs(samples) = &case.input else { return None };
    let mut points: BTreeMap<u64, Vec<f64>> = BTreeMap::new();
    for sample in samples {
        points.entry(sample.point).or_default().push(sample.figure);
    }
    let is_single = samples.iter().all(|sample| sample.series == samples[0].series);
    let median = |(point, mut figures): (u64, Vec<f64>)| {
        figures.sort_by(f64::total_cmp);
        let half = figures.len() / 2;
        json!([point, f64::midpoint(figures[half], figures[(figures.len() - 1) / 2])])
    };
    let line = || points.into_iter().map(median).collect::<Value>().to_string();
    is_single.then(line)
}
