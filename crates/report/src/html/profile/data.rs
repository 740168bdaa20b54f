//! The profiles of a workload as data for the page: each frame and each stack once, samples as pairs of a
//! stack and a number.

use super::super::data::with_runs;
use super::super::table::metric_name;
use super::super::view::{Analysed, View};
use crate::text;
use ::findings::format::function_name;
use analysis::{ProfileTable, Row};
use indexmap::IndexSet;
use model::{
    Frame, Interner, Outcome, Parameters, Profile, ProfiledCell, ProfiledRegion, Run, WorkloadInfo,
    waits_metric,
};
use serde_json::{Value, json};
use std::collections::HashMap;

/// The profiles of one subject in one view and run.
pub(super) struct Group {
    /// The number of its view among those with profiles.
    view: usize,
    /// The run's position on the page.
    pub(super) run: usize,
    /// The number of its subject among those with profiles.
    subject: usize,
    /// The subject's name in the record.
    pub(super) subject_name: String,
    workload: String,
    metric: String,
    parameters: Parameters,
}

impl Group {
    /// What the script of the page calls it.
    pub(super) fn key(&self) -> String {
        format!("{}-{}-{}", self.subject, self.view, self.run)
    }

    /// Whether the analysis has it in this table.
    pub(super) fn is_in(&self, table: &ProfileTable) -> bool {
        let mut parameters = self.parameters.iter();
        (&table.workload, &table.metric.name) == (&self.workload, &self.metric)
            && parameters.all(|(name, value)| table.parameters.get(name) == Some(value))
    }
}

/// The profiles of one workload, safe to stand inside a `script` element, and whose they are; absent where it has
/// none.
pub(super) fn json(
    runs: &[Analysed],
    info: &WorkloadInfo,
    views: &[View],
) -> Option<(String, Vec<Group>)> {
    let mut shared = Shared::default();
    let mut subjects: IndexSet<&str> = IndexSet::new();
    let mut names: Vec<String> = Vec::new();
    let mut cells: Vec<SampledCell> = Vec::new();
    let mut groups: Vec<Group> = Vec::new();
    let mut waits: Vec<usize> = Vec::new();
    let with_waits = views.iter().flat_map(|view| [(view, false), (view, true)]);
    for (view, is_waits) in with_waits {
        let before = cells.len();
        for (index, table) in &view.tables {
            let run = &runs[*index].0;
            let plain = &table.metric.name;
            let metric = if is_waits { waits_metric(plain) } else { plain.clone() };
            for row in &table.rows {
                let regions = regions(run, table, row, &metric);
                if regions.is_empty() {
                    continue;
                }
                let (subject, _) = subjects.insert_full(row.label.as_str());
                let each = regions.iter().map(|&(cell, region)| {
                    let samples = shared.samples(&run.profile, region);
                    let each = cell.sample_ns / region.operations.max(1) as f64;
                    (names.len(), *index, subject, region.position, each, samples)
                });
                cells.extend(each.collect::<Vec<_>>());
                groups.push(Group {
                    view: names.len(),
                    run: *index,
                    subject,
                    subject_name: row.subject.clone(),
                    workload: table.workload.clone(),
                    metric: metric.clone(),
                    parameters: table.parameters.clone(),
                });
            }
        }
        if cells.len() > before {
            let name = view_name(runs, view, views);
            waits.extend(is_waits.then_some(names.len()));
            names.push(if is_waits { waits_metric(&name) } else { name });
        }
    }
    let first = first(&cells)?;
    let mut kinds = IndexSet::new();
    let frames = shared.profile.frames.iter();
    let frames = frames.map(|frame| frame_data(frame, kinds.insert_full(frame.kind).0));
    let frames: Vec<Value> = frames.collect();
    let value = json!({
        "workload": info.name,
        "axis": info.axis,
        "trajectory": info.trajectory,
        "views": names,
        "waits": waits,
        "subjects": Vec::from_iter(subjects),
        "first": first,
        "kinds": Vec::from_iter(kinds),
        "frames": frames,
        "stacks": stacks(&shared.profile),
        "cells": cells,
    });
    Some((with_runs(runs, value), groups))
}

/// The profiled regions of one row of a table, with their cells.
fn regions<'a>(
    run: &'a Run,
    table: &analysis::Table,
    row: &Row,
    metric: &str,
) -> Vec<(&'a ProfiledCell, &'a ProfiledRegion)> {
    let is_of_row = |cell: &&ProfiledCell| {
        cell.outcome == Outcome::Measured && table.has_cell(&row.subject, &cell.key)
    };
    let cells = run.profile.cells.iter().filter(is_of_row);
    let regions = cells.flat_map(|cell| cell.regions.iter().map(move |region| (cell, region)));
    let is_of_table =
        |region: &ProfiledRegion| region.metric == metric && !region.samples.is_empty();
    regions.filter(|(_, region)| is_of_table(region)).collect()
}

/// What a view is called where there are several: its metric, and its parameters where these differ.
fn view_name(runs: &[Analysed], view: &View, views: &[View]) -> String {
    let (index, table) = view.tables[0];
    let metric = metric_name(table);
    if views.iter().all(|sibling| sibling.tables[0].1.parameters == table.parameters) {
        return metric;
    }
    let run = &runs[index].0;
    let parameters = text::parameters::with_axis(run, &table.workload, &table.parameters);
    format!("{metric} · {parameters}")
}

/// View, run, subject and position of a cell, the CPU time of an operation that a sample stands for, and its samples.
type SampledCell = (usize, usize, usize, u64, f64, Vec<u64>);

/// View, run and subject that are shown at first: of the last run and the first view, the subject whose
/// operations cost most CPU time at any point.
fn first(cells: &[SampledCell]) -> Option<[usize; 3]> {
    let run = cells.iter().map(|cell| cell.1).max()?;
    let view = cells.iter().filter(|cell| cell.1 == run).map(|cell| cell.0).min()?;
    let cost = |(.., each, samples): &&SampledCell| {
        samples.iter().skip(1).step_by(2).sum::<u64>() as f64 * each
    };
    let shown = cells.iter().filter(|cell| (cell.0, cell.1) == (view, run));
    let dearest = shown.max_by(|a, b| cost(a).total_cmp(&cost(b)))?;
    Some([view, run, dearest.2])
}

/// Name, module and the number of its kind; and the short name, where it is another.
fn frame_data(frame: &Frame, kind: usize) -> Value {
    let short = function_name(frame);
    let name = if frame.function.is_empty() { &short } else { &frame.function };
    let mut data = vec![json!(name), json!(frame.module), json!(kind)];
    data.extend((short != *name).then(|| json!(short)));
    data.into()
}

/// For each stack its caller, 0 for none and else one more than its index, and its frame.
fn stacks(profile: &Profile) -> Vec<u32> {
    let pairs =
        profile.stacks.iter().map(|node| [node.caller.map_or(0, |caller| caller + 1), node.frame]);
    pairs.flatten().collect()
}

/// The frames and stacks of all runs together.
#[derive(Default)]
struct Shared {
    profile: Profile,
    interner: Interner,
}

impl Shared {
    /// The samples of a region as pairs of a stack of this and a number.
    fn samples(&mut self, profile: &Profile, region: &ProfiledRegion) -> Vec<u64> {
        let mut counts: HashMap<u32, u64> = HashMap::new();
        for &(stack, count) in &region.samples {
            let path = profile.path(stack);
            let nodes = path.iter().map(|node| profile.stacks[*node as usize].frame);
            let frames: Option<Vec<&Frame>> =
                nodes.map(|frame| profile.frames.get(frame as usize)).collect();
            let shared = frames.and_then(|frames| self.interner.stack(&mut self.profile, frames));
            if let Some(stack) = shared {
                *counts.entry(stack).or_default() += count;
            }
        }
        let mut counts: Vec<(u32, u64)> = counts.into_iter().collect();
        counts.sort_unstable();
        counts.into_iter().flat_map(|(stack, count)| [u64::from(stack), count]).collect()
    }
}
