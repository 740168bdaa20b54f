//! What is comparable, joined into lines; and what is not, with the reason.

use super::{Line, Measured, Place};
use crate::findings::words;
use record::{HOST_ID, HOST_NAME, MetricInfo, RunState, Warning, WorkloadInfo};
use std::collections::{BTreeMap, BTreeSet};

/// The newest run, which says what is comparable. Of two runs that took turns only the one by workers of the
/// knee at hand goes on; the other counts where there are none but such.
pub(super) fn newest(runs: &[Measured]) -> Option<&Measured> {
    runs.iter().rfind(|run| run.workers.is_none()).or(runs.last())
}

/// The runs that are comparable with the newest, and what is said of the others.
pub(super) fn comparable(mut runs: Vec<Measured>) -> (Vec<Measured>, Vec<Warning>) {
    let Some(newest) = newest(&runs).cloned() else { return (runs, Vec::new()) };
    let mut others: Vec<(String, Vec<i64>)> = Vec::new();
    runs.retain(|run| {
        let Some(why) = differs(run, &newest) else { return true };
        match others.iter_mut().find(|(known, _)| *known == why) {
            Some((_, numbers)) => numbers.push(run.summary.number),
            None => others.push((why, vec![run.summary.number])),
        }
        false
    });
    let said = |(why, numbers): (String, Vec<i64>)| Warning {
        what: format!("{}: {why}", left_out(&numbers)),
        remedy: String::new(),
    };
    (runs, others.into_iter().map(said).collect())
}

/// Says which of the runs that are joined did not come to their end.
pub(super) fn interrupted(runs: &[Measured]) -> Option<Warning> {
    let broken = runs.iter().filter(|run| run.summary.state != RunState::Complete);
    let numbers: Vec<i64> = broken.map(|run| run.summary.number).collect();
    let whom = match numbers.as_slice() {
        [] => return None,
        [only] => format!("Run {only} did not end: what it"),
        many => format!("Runs {} did not end: what they", words::list(&ranges(many))),
    };
    Some(Warning { what: format!("{whom} measured is joined"), remedy: String::new() })
}

/// Why a run can't stand in one line with the newest.
fn differs(run: &Measured, newest: &Measured) -> Option<String> {
    let (old, new) = (&run.workload, &newest.workload);
    if run.predicted != newest.predicted {
        let computed = "a model computed the figures";
        let what = if run.predicted { computed } else { "measured, and the newest is a model's" };
        return Some(what.to_owned());
    }
    if run.workers != newest.workers {
        let by = |of: &Measured| of.workers.clone().unwrap_or_else(|| "of this knee".to_owned());
        return Some(format!("measured in turns by other workers ({})", by(run)));
    }
    if old.version != new.version {
        let (name, old, new) = (&new.name, old.version, new.version);
        return Some(format!("another version of {name} ({old}, the newest run has {new})"));
    }
    if old.axis_parameter != new.axis_parameter || old.axis != new.axis {
        return Some(format!("other axes ({}, and not {})", old.axis, new.axis));
    }
    let [old_id, new_id] = [run, newest].map(|run| run.machine.get(HOST_ID));
    let is_another = old_id.zip(new_id).is_some_and(|(old, new)| old != new);
    let (old, new) = (machine(run), machine(newest));
    (old != new || is_another).then(|| {
        let [old, new] = [(run, old), (newest, new)].map(|(run, machine)| named(run, &machine));
        format!("another machine ({old}, and not {new})")
    })
}

/// A machine with its name, where it has one.
fn named(run: &Measured, machine: &str) -> String {
    let name = run.machine.get(HOST_NAME);
    name.map_or_else(|| machine.to_owned(), |name| format!("{name}: {machine}"))
}

/// The machine, as far as figures are comparable on it.
fn machine(run: &Measured) -> String {
    let fact = |key: &str| run.machine.get(key).map(String::as_str);
    let model = fact("cpu.model").unwrap_or("an unknown CPU");
    match fact("cpu.count") {
        Some("1") => format!("{model}, 1 CPU"),
        Some(count) => format!("{model}, {count} CPUs"),
        None => model.to_owned(),
    }
}

/// `Run 3 is left out`, `Runs 1 to 4 and 7 are left out`.
fn left_out(numbers: &[i64]) -> String {
    match numbers {
        [only] => format!("Run {only} is left out"),
        many => format!("Runs {} are left out", words::list(&ranges(many))),
    }
}

/// `1 to 4`, `7`.
fn ranges(numbers: &[i64]) -> Vec<String> {
    let mut sorted = numbers.to_vec();
    sorted.sort_unstable();
    let mut ranges: Vec<(i64, i64)> = Vec::new();
    for number in sorted {
        match ranges.last_mut() {
            Some((_, last)) if *last + 1 == number => *last = number,
            _ => ranges.push((number, number)),
        }
    }
    let said = |(from, to): &(i64, i64)| match to - from {
        0 => vec![from.to_string()],
        1 => vec![from.to_string(), to.to_string()],
        _ => vec![format!("{from} to {to}")],
    };
    ranges.iter().flat_map(said).collect()
}

/// Figures that are in another unit than the newest run's: a metric and its unit, and the runs.
type Others<'a> = BTreeMap<(&'a str, &'a str), BTreeSet<i64>>;

/// A line for each place that any run has a figure at, and what is said of figures in other units.
pub(super) fn lines(runs: &[Measured], workload: &WorkloadInfo) -> (Vec<Line>, Vec<Warning>) {
    let mut lines: BTreeMap<Place, Line> = BTreeMap::new();
    let mut others = Others::new();
    for (index, run) in runs.iter().enumerate() {
        for (place, figure) in &run.figures {
            let Some(own) = metric(&run.workload, &place.metric) else { continue };
            // What the newest run does not measure any more is told as it was.
            let now = metric(workload, &place.metric).unwrap_or(own);
            if own.unit != now.unit || own.lower_is_better != now.lower_is_better {
                let numbers = others.entry((&own.name, &own.unit)).or_default();
                numbers.insert(run.summary.number);
                continue;
            }
            let line = lines.entry(place.clone()).or_insert_with(|| empty(place, now, workload));
            label(&run.workload, &place.subject).clone_into(&mut line.label);
            line.figures.push((index, *figure));
        }
    }
    let said = |((name, unit), numbers): ((&str, &str), BTreeSet<i64>)| {
        let numbers: Vec<i64> = numbers.into_iter().collect();
        let what = format!("{} of {name}: its figures are in {unit}", left_out(&numbers));
        Warning { what, remedy: String::new() }
    };
    let others = others.into_iter().map(said).collect();
    (in_order(lines, runs), others)
}

fn metric<'a>(info: &'a WorkloadInfo, name: &str) -> Option<&'a MetricInfo> {
    info.metrics.iter().find(|metric| metric.name == name)
}

/// A line that has no figures yet.
fn empty(place: &Place, metric: &MetricInfo, workload: &WorkloadInfo) -> Line {
    Line {
        subject: place.subject.clone(),
        label: String::new(),
        parameters: place.parameters.clone(),
        metric: metric.clone(),
        headline: workload.metrics.first().is_some_and(|first| first.name == metric.name),
        axis: workload.axis.clone(),
        point: place.point,
        figures: Vec::new(),
        apart: Vec::new(),
        visible: None,
        shifts: Vec::new(),
        drift: None,
        drift_is_fresh: false,
    }
}

fn label<'a>(info: &'a WorkloadInfo, subject: &'a str) -> &'a str {
    info.subjects.iter().find(|known| known.name == subject).map_or(subject, |known| &known.label)
}

/// In the order of the newest run's tables; what it does not have any more comes after.
fn in_order(lines: BTreeMap<Place, Line>, runs: &[Measured]) -> Vec<Line> {
    let mut metrics: Vec<&str> = Vec::new();
    let mut parameters = Vec::new();
    let mut subjects: Vec<&str> = Vec::new();
    for run in runs.iter().rev() {
        metrics.extend(run.workload.metrics.iter().map(|metric| metric.name.as_str()));
        subjects.extend(run.workload.subjects.iter().map(|subject| subject.name.as_str()));
        for (place, _) in &run.figures {
            if !parameters.contains(&&place.parameters) {
                parameters.push(&place.parameters);
            }
        }
    }
    let rank = |place: &Place| {
        (
            metrics.iter().position(|name| *name == place.metric),
            parameters.iter().position(|held| **held == place.parameters),
            subjects.iter().position(|name| *name == place.subject),
            place.point,
        )
    };
    let mut ranked: Vec<_> = lines.into_iter().map(|(place, line)| (rank(&place), line)).collect();
    ranked.sort_by_key(|of| of.0);
    ranked.into_iter().map(|(_, line)| line).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_are_named_in_ranges() {
        assert_eq!(left_out(&[3]), "Run 3 is left out");
        assert_eq!(left_out(&[1, 2]), "Runs 1 and 2 are left out");
        assert_eq!(left_out(&[9, 1, 2, 3, 7]), "Runs 1 to 3, 7 and 9 are left out");
    }
}
