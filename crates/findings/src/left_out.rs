//! What a comparison or a history leaves out, as sentences with their remedies.

use crate::format::{Unit, count, counted, list, points, qualifiers};
use crate::reasons;
use analysis::compare::{
    self, NoRatioReason, Refusal, RefusalReason, Side, TableName, WholeFigure,
};
use analysis::history::{self, Incomparable, Machine};
use model::Warning;

/// What a comparison leaves out: `poll: s1 only in base`.
pub fn of_comparison(left_out: &compare::LeftOut) -> Warning {
    use compare::LeftOut as L;
    let remedy = match left_out {
        L::Unfinished { run, .. } => format!("knee run --resume={run}"),
        L::TwoMachines { .. } => "measure both on one machine".to_owned(),
        L::Version { .. } | L::Unit { .. } => "measure base again with the knee of new".to_owned(),
        L::Axis { .. } => "measure both with the same --axis".to_owned(),
        _ => String::new(),
    };
    let what = match left_out {
        L::Unfinished { side, state, cells, planned, .. } => {
            let (side, state) = (name(*side), state.name());
            format!("{side} is {state}, and compared as far as it came: {cells} of {planned} cells")
        }
        L::TwoMachines { base, new } => {
            let [base, new] =
                [base, new].map(|name| name.as_deref().unwrap_or("a host without a name"));
            format!("base and new are of two machines: {base} and {new}")
        }
        L::Workload { side, workload } => format!("{workload} is in {} only", name(*side)),
        L::Version { workload, base, new } => {
            format!("{workload} measures something else: version {base} and {new}")
        }
        L::Axis { workload, base, new } => {
            format!("{workload} grows along another axis: {base} and {new}")
        }
        L::Table { side, table } => format!("{} is in {} only", title(table), name(*side)),
        L::Unit { table, base, new } => {
            format!("{} is in another unit: {base} and {new}", title(table))
        }
        L::Subjects { side, workload, metric, labels } => {
            let title = of_metric(workload, metric.as_deref());
            format!("{title}: {} only in {}", list(labels), name(*side))
        }
        L::Points { side, workload, metric, labels, axis, points: at, other_end } => {
            let title = of_metric(workload, metric.as_deref());
            let at = counted(&points(at), axis);
            let at = if labels.is_empty() { at } else { format!("{} at {at}", list(labels)) };
            let ends = other_end.map(|end| format!("; the other ends at {}", count(end)));
            format!("{title}: {at} only in {}{}", name(*side), ends.unwrap_or_default())
        }
        L::NoRatio { workload, metric, labels, axis, points: at, reason } => {
            let (labels, at) = (list(labels), counted(&points(at), axis));
            let because = match reason {
                NoRatioReason::NotPositive => {
                    format!("at {at}: a figure that is not above zero has none")
                }
                NoRatioReason::NoCommonRound => format!(
                    "at {at}: both were measured there, but in no round of which each has one"
                ),
                NoRatioReason::Cold => {
                    format!("up to {at}: the first calls of a trajectory are cold and don't count")
                }
            };
            let title = of_metric(workload, metric.as_deref());
            format!("{title}: no ratio of {labels} {because}")
        }
        L::WholeLoad { workload, metric, unit, axis, figures } => {
            let figure = |figure: &WholeFigure| {
                let [base, new] = [figure.base, figure.new]
                    .map(|value| Unit::for_table(unit, &[value]).with_symbol(value));
                let at = counted(&count(figure.point), axis);
                format!("{} at {at} {base} in base, {new} in new", figure.label)
            };
            let title = of_metric(workload, Some(metric));
            let figures = figures.iter().map(figure).collect::<Vec<String>>().join("; ");
            format!("{title}: {figures}; a single figure without a CI is not judged")
        }
    };
    Warning { what, remedy }
}

/// Why two runs are not compared, in one line.
pub fn refusal(refusal: &Refusal) -> String {
    /// What is left out is listed up to this number.
    const LEFT_OUT_MAX: usize = 3;
    let is_left_out = |reason: &&RefusalReason| matches!(reason, RefusalReason::LeftOut(_));
    let (left_out, reasons): (Vec<_>, Vec<_>) = refusal.reasons.iter().partition(is_left_out);
    let reasons = reasons.into_iter().chain(left_out.into_iter().take(LEFT_OUT_MAX));
    reasons.map(refusal_reason).collect::<Vec<_>>().join("; ")
}

fn refusal_reason(reason: &RefusalReason) -> String {
    match reason {
        RefusalReason::OnePredicted { side } => {
            let [base, new] = match side {
                Side::Base => ["predicted", "measured"],
                Side::New => ["measured", "predicted"],
            };
            format!(
                "base is {base} and new is {new}: a prediction is no measurement (compare \
                 predictions with predictions: knee simulate)"
            )
        }
        RefusalReason::Hardware { key, base, new } => format!(
            "they are of two machines: {key} is {base} in base and {new} in new (--across \
             compares them nevertheless)"
        ),
        RefusalReason::NoCommonWorkload { base, new } => format!(
            "the runs have no workload in common: base has {}, new has {} (run the same workloads)",
            list(base),
            list(new)
        ),
        RefusalReason::LeftOut(left_out) => {
            let Warning { what, remedy } = of_comparison(left_out);
            if remedy.is_empty() { what } else { format!("{what} ({remedy})") }
        }
        RefusalReason::NoCommonFigure => {
            "the runs have no figure in common (measure the same subjects and points)".to_owned()
        }
    }
}

fn name(side: Side) -> &'static str {
    match side {
        Side::Base => "base",
        Side::New => "new",
    }
}

/// `poll (wait)`; of the headline `poll`.
fn of_metric(workload: &str, metric: Option<&str>) -> String {
    metric.map_or_else(|| workload.to_owned(), |metric| format!("{workload} ({metric})"))
}

/// `poll (wait)`, `pipetest (active = 10)`.
fn title(table: &TableName) -> String {
    let TableName { workload, parameters, metric, .. } = table;
    format!("{workload}{}", qualifiers(metric.as_deref(), parameters, |_| true))
}

/// What a history leaves out: `Run 3 is left out: a model computed the figures`.
pub fn of_history(left_out: &history::LeftOut) -> Warning {
    use history::LeftOut as L;
    let what = match left_out {
        L::Runs { runs, reason } => format!("{}: {}", are_left_out(runs), incomparable(reason)),
        L::Unit { runs, metric, unit } => {
            format!("{} of {metric}: its figures are in {unit}", are_left_out(runs))
        }
        L::Unfinished { runs } => match runs.as_slice() {
            [run] => format!("Run {run} did not end: what it measured is joined"),
            _ => format!("Runs {} did not end: what they measured is joined", ranges(runs)),
        },
        L::SameValue { runs, key } => {
            format!("{}: a later run has the same {key}", are_left_out(runs))
        }
        L::NoValue { runs, key } => {
            format!("{}: no {key} is known, neither as a label nor as a fact", are_left_out(runs))
        }
        L::Failed { run, label, axis, at, more } => {
            let more = if *more > 0 { format!(", and {more} more lines") } else { String::new() };
            format!("Run {run} failed: {label}: {}{more}", reasons::failed_at(at, axis))
        }
        L::NotPositive { lines, total } => {
            let zeros = "figures that are not above zero, which have no ratio";
            match (*lines as u64, *total as u64) {
                (1, 1) => format!("The only line has {zeros}: it is not judged"),
                (1, total) => {
                    format!("1 of {} lines has {zeros}: it is not judged", count(total))
                }
                (lines, total) => {
                    let (lines, total) = (count(lines), count(total));
                    format!("{lines} of {total} lines have {zeros}: they are not judged")
                }
            }
        }
    };
    Warning { what, remedy: String::new() }
}

fn incomparable(reason: &Incomparable) -> String {
    match reason {
        Incomparable::Predicted => "a model computed the figures".into(),
        Incomparable::Measured => "measured, and the newest is a model's".into(),
        Incomparable::Workers { workers } => {
            let workers = workers.as_deref().unwrap_or("of this knee");
            format!("measured in turns by other workers ({workers})")
        }
        Incomparable::Version { workload, version, newest } => {
            format!("another version of {workload} ({version}, the newest run has {newest})")
        }
        Incomparable::Axis { axis, newest } => format!("other axes ({axis}, and not {newest})"),
        Incomparable::Machine { machine, newest } => {
            format!("another machine ({}, and not {})", named(machine), named(newest))
        }
        Incomparable::UsableCpus { cpus, newest } => {
            format!("another CPU mask ({} usable, and not {newest})", counted(cpus, "CPUs"))
        }
        Incomparable::CpuQuota { quota, newest } => {
            format!("another CPU quota ({quota}, and not {newest})")
        }
    }
}

/// `alpha: AMD EPYC, 2 CPUs`.
fn named(machine: &Machine) -> String {
    let model = machine.cpu_model.as_deref().unwrap_or("an unknown CPU");
    let name = machine.name.as_ref().map(|name| format!("{name}: ")).unwrap_or_default();
    let cpus = machine.cpu_count.as_ref().map(|count| format!(", {}", counted(count, "CPUs")));
    format!("{name}{model}{}", cpus.unwrap_or_default())
}

/// `Run 3 is left out`, `Runs 1 to 4 and 7 are left out`.
fn are_left_out(runs: &[i64]) -> String {
    match runs {
        [run] => format!("Run {run} is left out"),
        _ => format!("Runs {} are left out", ranges(runs)),
    }
}

/// `1 to 4 and 7`.
fn ranges(runs: &[i64]) -> String {
    let mut sorted = runs.to_vec();
    sorted.sort_unstable();
    let mut ranges: Vec<(i64, i64)> = Vec::new();
    for run in sorted {
        match ranges.last_mut() {
            Some((_, last)) if *last + 1 == run => *last = run,
            _ => ranges.push((run, run)),
        }
    }
    let range = |(from, to): &(i64, i64)| match to - from {
        0 => vec![from.to_string()],
        1 => vec![from.to_string(), to.to_string()],
        _ => vec![format!("{from} to {to}")],
    };
    list(ranges.iter().flat_map(range))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_are_named_in_ranges() {
        assert_eq!(are_left_out(&[3]), "Run 3 is left out");
        assert_eq!(are_left_out(&[1, 2]), "Runs 1 and 2 are left out");
        assert_eq!(are_left_out(&[9, 1, 2, 3, 7]), "Runs 1 to 3, 7 and 9 are left out");
    }
}
