//! The JSON of github-action-benchmark: an array of medians, for its tools `customSmallerIsBetter` and
//! `customBiggerIsBetter`.
//!
//! A file of it holds figures of one direction only, since the action takes the direction from its own
//! configuration. So a run with both has two files.

use super::material::{
    Content, Format, Material, What, has_figures, identity, measured, series, write_json,
};
use findings::format::ci;
use serde::Serialize;
use std::io::{self, Write};

pub(super) const FORMAT: Format = Format {
    name: "github-action-benchmark",
    about: "medians for the action of that name: customSmallerIsBetter or customBiggerIsBetter",
    mark: " rounds\\nrun ",
    choices: &[What::Smaller, What::Bigger],
    check,
    content: Content::Figures,
    write,
};

/// One chart of the action has one of these for each commit.
#[derive(Serialize)]
struct Entry {
    name: String,
    unit: String,
    value: f64,
    /// Shown behind the value, as it is.
    #[serde(skip_serializing_if = "Option::is_none")]
    range: Option<String>,
    /// Shown below it.
    extra: String,
}

fn check(material: &Material) -> Result<(), String> {
    has_figures(material)?;
    let has = [What::Smaller, What::Bigger].map(|what| has(material, what));
    let refusal = match (material.what, has) {
        (None, [true, true]) => {
            "the run has figures of which less is better, and others of which more is; a file of \
             this format holds one sort: --what smaller or --what bigger"
        }
        (Some(What::Smaller), [false, true]) => {
            "the run has no figure of which less is better; --what bigger has some"
        }
        (Some(What::Bigger), [true, false]) => {
            "the run has no figure of which more is better; --what smaller has some"
        }
        _ => return Ok(()),
    };
    Err(refusal.to_owned())
}

fn has(material: &Material, what: What) -> bool {
    let lower = what == What::Smaller;
    measured(material.analysis()).any(|(table, _)| table.metric.lower_is_better == lower)
}

fn write(material: &Material, out: &mut dyn Write) -> io::Result<()> {
    let usual = if has(material, What::Smaller) { What::Smaller } else { What::Bigger };
    let what = material.what.unwrap_or(usual);
    let run = identity(material.run);
    let mut entries = Vec::new();
    for (table, rows) in measured(material.analysis()) {
        if table.metric.lower_is_better != (what == What::Smaller) {
            continue;
        }
        for row in rows {
            let figures = row.cells.iter().flatten().filter(|at| at.median.value.is_finite());
            entries.extend(figures.map(|at| Entry {
                name: series(material.run, table, row, at.point),
                unit: table.metric.unit.clone(),
                value: at.median.value,
                range: at.median.ci().map(|[low, high]| ci(&low.to_string(), &high.to_string())),
                extra: format!("{} samples in {} rounds\n{run}", at.samples, at.rounds),
            }));
        }
    }
    write_json(&entries, out)
}
