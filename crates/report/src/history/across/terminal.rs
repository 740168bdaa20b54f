//! Runs across the values of a fact for a terminal: sentences, and a table with the values across.

use super::super::groups::machine;
use super::{Group, confidence, emulation, groups, legend, names, sentence, span, steps, verdicts};
use crate::comparison::{ratio, sign};
use crate::layout::{BAD, BOLD, DIM, Detail, GOOD, INDENT, PLAIN, Pen, Style};
use crate::side_by_side::grid::{Cell, Grid};
use crate::text::NO_FIGURE;
use analysis::compare::{Ratio, Verdict};
use analysis::history::across::{AcrossValues, PointAcross, SeriesAcross};
use anstyle::Style as Paint;
use findings::format::{Unit, count};
use findings::left_out;

/// The runs as lines that end in a line feed; with [`Detail::All`] each figure has its CI.
pub fn text(across: &AcrossValues, style: &Style) -> String {
    let pen = Pen::new(style);
    let all = style.detail == Detail::All;
    let mut out = String::new();
    let head = [across.workload.name.clone(), span(across), machine(&across.machine)].join(" · ");
    pen.paragraph(&mut out, BOLD, &head, (0, INDENT));
    let steps = steps(across);
    if !steps.is_empty() {
        out.push('\n');
    }
    for step in &steps {
        pen.sentence(&mut out, &sentence(across, step));
    }
    for group in groups(across) {
        out.push('\n');
        pen.paragraph(&mut out, BOLD, &group.title(across), (0, INDENT));
        pen.grid(&mut out, &grid(across, &group, all));
    }
    pen.aside(&mut out, &legend(across));
    out.push('\n');
    if steps.is_empty() && across.values.len() > 1 {
        pen.sentence(&mut out, "No step is significant.");
    }
    if let Some(verdicts) = verdicts(across) {
        pen.sentence(&mut out, &format!("{verdicts}."));
    }
    pen.sentence(&mut out, &confidence(across));
    if let Some(emulation) = emulation(across) {
        pen.sentence(&mut out, emulation);
    }
    if !across.left_out.is_empty() {
        pen.heading(&mut out, "Left out");
        for left in &across.left_out {
            pen.indented(&mut out, &left_out::of_history(left));
        }
    }
    out
}

/// A row for each series, and one for each of its points; the values across, and what they come to.
fn grid(across: &AcrossValues, group: &Group<'_>, all: bool) -> Grid {
    let unit = group.unit();
    let mut heads: Vec<Vec<String>> = names(across).into_iter().map(|name| vec![name]).collect();
    heads.push(vec!["first to last".to_owned()]);
    let mut rows = Vec::new();
    for series in &group.series {
        if let [point] = series.points.as_slice() {
            rows.push((series.label.clone(), figures(point, &unit, all)));
            continue;
        }
        rows.push((series.label.clone(), steps_of(series, across.values.len())));
        let point = |point: &PointAcross| {
            (format!("  at {}", count(point.point)), figures(point, &unit, all))
        };
        rows.extend(series.points.iter().map(point));
    }
    Grid { stub: "series".to_owned(), heads, rows }
}

/// The steps of a series as a whole.
fn steps_of(series: &SeriesAcross, values: usize) -> Vec<Cell> {
    let mut cells: Vec<Cell> = vec![vec![(PLAIN, String::new())]];
    cells.extend(series.steps.iter().map(|step| step_cell(step.as_ref())));
    cells.resize(values, Vec::new());
    cells.push(step_cell(series.whole.as_ref()));
    cells
}

fn step_cell(step: Option<&Ratio>) -> Cell {
    let text = step.map_or_else(|| NO_FIGURE.to_owned(), ratio);
    vec![(paint(step), text)]
}

/// The figures of a point, each with the sign of the step to it.
fn figures(point: &PointAcross, unit: &Unit, all: bool) -> Vec<Cell> {
    let cell = |(at, figure): (usize, &Option<analysis::Estimate>)| {
        let step = at.checked_sub(1).and_then(|step| point.steps[step].as_ref());
        let mark = step.map_or(' ', |step| sign(step.verdict));
        let Some(figure) = figure else { return vec![(DIM, format!("{NO_FIGURE} {mark}"))] };
        let mut lines = vec![(paint(step), format!("{} {mark}", unit.figure(figure.value)))];
        if all && figure.low < figure.high {
            let range = format!("{}–{}  ", unit.figure(figure.low), unit.figure(figure.high));
            lines.push((DIM, range));
        }
        lines
    };
    let mut cells: Vec<Cell> = point.figures.iter().enumerate().map(cell).collect();
    cells.push(step_cell(point.whole.as_ref()));
    cells
}

fn paint(step: Option<&Ratio>) -> Paint {
    match step.map(|step| step.verdict) {
        Some(Verdict::Slower) => BAD,
        Some(Verdict::Faster) => GOOD,
        Some(Verdict::Undecided) => DIM,
        Some(Verdict::Same) | None => PLAIN,
    }
}
