//! The profile of a run as formats of call stacks need it.

use super::material::{Material, indexes, series_name};
use model::{Frame, FrameKind, Profile, ProfiledCell, ProfiledRegion, Run, waits_metric};

/// Where a function's code is, and there is no name for it.
pub(super) const UNKNOWN: &str = "[unknown]";

/// The samples of one metric of a cell, at one position on the axis.
pub(super) struct Part<'a> {
    pub cell: &'a ProfiledCell,
    pub region: &'a ProfiledRegion,
    /// A name that is the same in every run: `poll/epoll-level/loop active=1 watched=100`.
    pub title: String,
}

impl Part<'_> {
    /// Whether its samples stand for time that threads waited, and not for CPU time.
    pub(super) fn has_waits(&self, run: &Run) -> bool {
        let info = run.plan.workload(&self.cell.key.workload);
        let mut metrics = info.into_iter().flat_map(|info| &info.metrics);
        metrics.any(|metric| waits_metric(&metric.name) == self.region.metric)
    }

    /// Whether both are of one metric of a cell at one position: the CPU time and the waits.
    pub(super) fn is_with(&self, first: &Part<'_>) -> bool {
        let metric = &first.region.metric;
        (&self.cell.key, self.region.position) == (&first.cell.key, first.region.position)
            && (self.region.metric == *metric || self.region.metric == waits_metric(metric))
    }
}

/// All that has samples, in the order of tables: by workload, parameters, metric, subject and position.
pub(super) fn parts(run: &Run) -> Vec<Part<'_>> {
    let cells = run.profile.cells.iter();
    let mut parts: Vec<Part> = cells
        .flat_map(|cell| cell.regions.iter().map(move |region| (cell, region)))
        .filter(|(_, region)| !region.samples.is_empty())
        .map(|(cell, region)| Part { cell, region, title: title(run, cell, region) })
        .collect();
    parts.sort_by_cached_key(|Part { cell, region, .. }| {
        let (workload, subject) = indexes(run, &cell.key);
        let metrics = run.plan.workloads.get(workload).map(|info| &info.metrics);
        let mut metrics = metrics.into_iter().flatten();
        let metric = metrics.position(|metric| metric.name == region.metric);
        let metric = metric.unwrap_or(usize::MAX);
        (workload, cell.key.parameters.clone(), metric, subject, region.position)
    });
    parts
}

fn title(run: &Run, cell: &ProfiledCell, region: &ProfiledRegion) -> String {
    let key = &cell.key;
    let axis = run.plan.workload(&key.workload).map(|info| info.axis_parameter.as_str());
    let axis = axis.filter(|axis| !axis.is_empty()).unwrap_or("point");
    let names = [&key.workload, &key.subject, &region.metric].map(String::as_str);
    series_name(names, &key.parameters, (axis, region.position))
}

/// Refuses a run of which no stack was sampled.
pub(super) fn has_samples(material: &Material) -> Result<(), String> {
    if material.run.profile.is_empty() {
        return Err("the run has no profile; `knee run --profile` measures one".to_owned());
    }
    if parts(material.run).is_empty() {
        return Err("no sample was taken while it was timed; `knee show --profile` says why".into());
    }
    Ok(())
}

/// The frames of a stack from its root to the innermost one.
pub(super) fn frames(profile: &Profile, stack: u32) -> Vec<(u32, &Frame)> {
    let indexes = profile.path(stack).into_iter().map(|node| profile.stacks[node as usize].frame);
    indexes.filter_map(|index| Some((index, profile.frames.get(index as usize)?))).collect()
}

/// The function, or in brackets the file that its code is in, as `stackcollapse-perf` names it.
pub(super) fn function(frame: &Frame) -> String {
    if !frame.function.is_empty() {
        return frame.function.clone();
    }
    match perf_module(frame).as_str() {
        UNKNOWN => UNKNOWN.to_owned(),
        module => format!("[{}]", module.rsplit('/').next().unwrap_or(module)),
    }
}

/// A module as perf names it.
pub(super) fn perf_module(frame: &Frame) -> String {
    match (frame.kind, frame.module.as_str()) {
        (FrameKind::Kernel, _) => "[kernel.kallsyms]".to_owned(),
        (FrameKind::Vdso, _) => "[vdso]".to_owned(),
        // What is made at run time is named by the map that its maker wrote.
        (FrameKind::Jit, "") => "/tmp/perf-1.map".to_owned(),
        (_, "") => UNKNOWN.to_owned(),
        (FrameKind::KernelModule | FrameKind::Bpf, module) if !module.starts_with('[') => {
            format!("[{module}]")
        }
        (_, module) => module.replace(' ', "_"),
    }
}
