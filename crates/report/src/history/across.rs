//! Runs of a workload across kernels, versions or another fact: for a terminal, as JSON and as a page.
//!
//! The steps that are significant come first, in sentences; then every figure, the values across.

pub mod html;
pub mod json;
pub mod terminal;

use crate::comparison::{Counts, counts_text, interval, word};
use crate::text;
use analysis::compare::{Ratio, Verdict};
use analysis::history::across::{AcrossValues, SeriesAcross};
use findings::emulation::Emulation;
use findings::format::{Unit, count, counted, factor, percent};
use model::{MetricInfo, Parameters};

/// A step of a series that is significant.
struct Step<'a> {
    /// The series.
    series: &'a SeriesAcross,
    /// The place of the value that it leads to.
    to: usize,
    /// Its point; absent for the series as a whole.
    point: Option<u64>,
    /// Its size.
    ratio: &'a Ratio,
}

/// The series under one heading: one metric under one set of parameters.
struct Group<'a> {
    parameters: &'a Parameters,
    metric: &'a MetricInfo,
    series: Vec<&'a SeriesAcross>,
}

impl Group<'_> {
    /// The unit for all figures of the group.
    fn unit(&self) -> Unit {
        let points = self.series.iter().flat_map(|series| &series.points);
        let figures = points.flat_map(|point| point.figures.iter().flatten());
        let values: Vec<f64> = figures.map(|figure| figure.value).collect();
        Unit::for_table(&self.metric.unit, &values)
    }

    /// `1 active of N watched socketpairs · µs per write + wait + dispatch`.
    fn title(&self, across: &AcrossValues) -> String {
        let parameters = text::parameters::with_axis_of(&across.workload, self.parameters);
        format!("{parameters} · {}", text::metrics::measure(self.metric, &self.unit()))
    }
}

fn groups(across: &AcrossValues) -> Vec<Group<'_>> {
    let mut groups: Vec<Group<'_>> = Vec::new();
    for series in &across.series {
        let is_same = |group: &&mut Group<'_>| {
            (group.parameters, &group.metric.name) == (&series.parameters, &series.metric.name)
        };
        match groups.iter_mut().find(is_same) {
            Some(group) => group.series.push(series),
            None => groups.push(Group {
                parameters: &series.parameters,
                metric: &series.metric,
                series: vec![series],
            }),
        }
    }
    groups
}

/// The values without the end that all of them have: `6.1.0-53` for `6.1.0-53-cloud-amd64`.
fn names(across: &AcrossValues) -> Vec<String> {
    let values = &across.values;
    let Some((first, further)) = values.split_first().filter(|(_, further)| !further.is_empty())
    else {
        return values.clone();
    };
    let starts = first.match_indices(['-', '+', ' ']).map(|(at, _)| &first[at..]);
    let mut ends = starts.filter(|end| further.iter().all(|value| value.ends_with(end)));
    let end = ends.next().unwrap_or_default();
    values.iter().map(|value| value.strip_suffix(end).unwrap_or(value).to_owned()).collect()
}

/// The steps that are significant, the largest first: of each series as a whole, or else of its points.
fn steps(across: &AcrossValues) -> Vec<Step<'_>> {
    let is_real = |ratio: &&Ratio| matches!(ratio.verdict, Verdict::Slower | Verdict::Faster);
    let size = |ratio: &Ratio| ratio.ratio.value.ln().abs();
    let mut all = Vec::new();
    for series in &across.series {
        for (at, step) in series.steps.iter().enumerate() {
            let to = at + 1;
            let whole = step.as_ref().filter(is_real);
            let whole = whole.map(|ratio| Step { series, to, point: None, ratio });
            let points = series.points.iter().filter_map(|point| {
                let ratio = point.steps[at].as_ref().filter(is_real)?;
                Some(Step { series, to, point: Some(point.point), ratio })
            });
            let largest = points.max_by(|a, b| size(a.ratio).total_cmp(&size(b.ratio)));
            all.extend(whole.or(largest));
        }
    }
    all.sort_by(|a, b| size(b.ratio).total_cmp(&size(a.ratio)));
    all
}

/// `epoll-level is slower in 6.12.90 than in 6.1.0: ×1.31 (95 % CI 1.22–1.40).`
fn sentence(across: &AcrossValues, step: &Step<'_>) -> String {
    let Step { series, to, point, ratio } = step;
    let names = names(across);
    let metric = if series.headline { String::new() } else { format!(" ({})", series.metric.name) };
    let axis = &across.workload.axis;
    let at = point.map(|point| format!(" at {}", counted(&count(point), axis))).unwrap_or_default();
    format!(
        "{}{metric}{at} is {} in {} than in {}: {}.",
        series.label,
        word(ratio.verdict),
        names[*to],
        names[to - 1],
        sized(ratio)
    )
}

/// `×1.31 (95 % CI 1.22–1.40)`.
fn sized(ratio: &Ratio) -> String {
    let range = interval(ratio).map(|range| format!(" (95 % CI {range})")).unwrap_or_default();
    format!("{}{range}", factor(ratio.ratio.value))
}

/// The verdicts of all steps: `6 steps: ▲ 1 slower, …`.
fn verdicts(across: &AcrossValues) -> Option<String> {
    let steps = across.series.iter().flat_map(|series| series.steps.iter().flatten());
    let counts: Counts = steps.map(|ratio| ratio.verdict).collect();
    let steps = counted(&count(counts.total() as u64), "steps");
    (counts.total() > 0).then(|| format!("{steps} of whole series: {}", counts_text(counts)))
}

/// What the values and their runs are: `3 values of kernel, 5.10.0 to 6.12.90, measured in turns`.
fn span(across: &AcrossValues) -> String {
    let names = names(across);
    let values = format!("{} values of {}", names.len(), across.key);
    match names.as_slice() {
        [first, .., last] => {
            let turns = if across.in_turns { ", measured in turns" } else { "" };
            format!("{values}, {first} to {last}{turns}")
        }
        [only] => format!("1 value of {}, {only}", across.key),
        [] => values,
    }
}

/// What the signs mean.
fn legend(across: &AcrossValues) -> String {
    format!(
        "▲ slower, ▼ faster, = the same within {}, ? undecided, each against the {} before it",
        percent(across.margin),
        across.key
    )
}

/// That QEMU emulated the machines, where it did: all that are joined were emulated, or none.
fn emulation(across: &AcrossValues) -> Option<&'static str> {
    let emulation = Emulation::from_facts(across.runs.iter().map(|_| &across.machine));
    emulation.map(Emulation::sentence)
}

/// How sure the verdicts are, and what would make them surer.
fn confidence(across: &AcrossValues) -> String {
    let key = &across.key;
    if across.values.len() < 2 {
        return format!("There is nothing to compare: all runs have one and the same {key}.");
    }
    let turns = if across.in_turns {
        ""
    } else {
        " Not all were measured in turns: what changed in the machine meanwhile looks like a step."
    };
    format!(
        "{} ratios were judged at once: with 95 % confidence all of them lie in their CIs. Each {key} is one \
         run.{turns}",
        count(across.judged as u64)
    )
}
