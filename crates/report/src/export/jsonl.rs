//! JSON lines: one object for each figure of each cell, with all its samples.
//!
//! Every line has the same keys, so that programs (`DuckDB`, pandas) can make a table of them. The samples
//! stay together as a list, because they share all keys of their cell; these programs unfold a list with one
//! function. A cell without figures has a line of its own.

use super::material::{Content, Format, Material, in_order, missing, unit, x};
use model::{Cell, CellKey, Fact, LoadOutcome, Metric, Parameters, Usage};
use serde::Serialize;
use serde_json::Value;
use std::collections::BTreeMap;
use std::io::{self, Write};

pub(super) const FORMAT: Format = Format {
    name: "jsonl",
    about: "JSON lines: one object for each figure of each cell, with its samples, for jq and DuckDB",
    mark: ",\"timed_ns\":",
    choices: &[],
    check,
    content: Content::Figures,
    write,
};

/// A line, its keys in this order.
#[derive(Serialize)]
struct JsonLine<'a> {
    run: &'a str,
    workload: &'a str,
    subject: &'a str,
    parameters: &'a Parameters,
    point: Value,
    round: u32,
    sequence: u64,
    metric: Option<&'a str>,
    unit: Option<&'a str>,
    /// Why there are no figures, or no more of them.
    missing: Option<String>,
    operations: u64,
    elapsed_ns: u64,
    timed_ns: Option<u64>,
    usage: Usage,
    facts: &'a BTreeMap<String, Fact>,
    load: Option<&'a LoadOutcome>,
    samples: &'a [f64],
    positions: &'a [u64],
    histogram: Option<&'a str>,
}

fn check(material: &Material) -> Result<(), String> {
    if material.run.cells.is_empty() {
        return Err("the run has no cell that ended; `knee show` says why".to_owned());
    }
    Ok(())
}

fn write(material: &Material, out: &mut dyn Write) -> io::Result<()> {
    for (workload, cell) in in_order(material.run) {
        if cell.metrics.is_empty() {
            put(&line(material, cell, None, None), out)?;
        }
        for metric in &cell.metrics {
            put(&line(material, cell, Some(metric), Some(unit(workload, &metric.name))), out)?;
        }
    }
    Ok(())
}

fn line<'a>(
    material: &'a Material,
    cell: &'a Cell,
    metric: Option<&'a Metric>,
    unit: Option<&'a str>,
) -> JsonLine<'a> {
    let CellKey { workload, subject, parameters, point, round } = &cell.key;
    let x = x(material.run, workload, *point);
    JsonLine {
        run: &material.run.summary.id,
        workload,
        subject,
        parameters,
        // A whole number stays one.
        point: if x < *point as f64 { x.into() } else { (*point).into() },
        round: *round,
        sequence: cell.sequence,
        metric: metric.map(|info| info.name.as_str()),
        unit,
        missing: missing(cell),
        operations: metric.map_or(0, |info| info.operations),
        elapsed_ns: cell.elapsed_ns,
        timed_ns: cell.timed_ns,
        usage: metric.map_or(cell.usage, |info| info.usage),
        facts: &cell.facts,
        load: cell.load.as_ref(),
        samples: metric.map_or(&[], |info| &info.samples),
        positions: metric.map_or(&[], |info| &info.positions),
        histogram: metric.map(|info| info.histogram.as_str()).filter(|text| !text.is_empty()),
    }
}

fn put(line: &JsonLine, out: &mut dyn Write) -> io::Result<()> {
    serde_json::to_writer(&mut *out, line)?;
    out.write_all(b"\n")
}
