//! What a figure is: its metric, its unit, and the number of rounds behind its median.

use analysis::Table;
use findings::format::{Unit, count};
use model::{MetricInfo, Run};

/// What a figure is that is no median of rounds.
const OF_WHOLE_LOAD: &str = "of the whole load";

/// What a figure of the table is: `µs per write + wait + dispatch`, `k tokens/s`.
pub(crate) fn measure(metric: &MetricInfo, unit: &Unit) -> String {
    let symbol = &unit.symbol;
    let about = about(metric);
    if metric.unit == "ns" {
        format!("{symbol} per {about}")
    } else if metric.unit.is_empty() {
        about.to_owned()
    } else if unit_says_what(metric) {
        symbol.clone()
    } else {
        format!("{about} in {symbol}")
    }
}

/// What the metric times or counts; its name where it does not say.
pub(crate) fn about(metric: &MetricInfo) -> &str {
    if metric.about.is_empty() { &metric.name } else { &metric.about }
}

/// Whether the unit already names what is counted: `tokens/s` of `token passes`.
fn unit_says_what(metric: &MetricInfo) -> bool {
    let Some(counted) = metric.unit.strip_suffix("/s") else { return false };
    metric.about.is_empty() || metric.about.contains(counted.trim_end_matches('s'))
}

fn is_rate(metric: &MetricInfo) -> bool {
    metric.unit.ends_with("/s")
}

/// What a figure is, and how many rounds are behind it: `µs per wait · median of 5 rounds`.
pub(crate) fn measure_and_rounds(run: &Run, table: &Table, unit: &Unit) -> String {
    let (measure, medians) = (measure(&table.metric, unit), medians(run, table));
    if is_rate(&table.metric) {
        format!("{measure} ({medians})")
    } else {
        format!("{measure} · {medians}")
    }
}

/// What the figures of a table are, where the word is needed without rounds: `medians`.
pub(crate) fn figures(metric: &MetricInfo) -> String {
    if metric.role.is_whole() { format!("figures {OF_WHOLE_LOAD}") } else { "medians".to_owned() }
}

/// What the medians of a table are taken of: `median of 5 rounds`; along a trajectory no two samples
/// have the same position. A figure of all rounds of a load is none: `of the whole load`.
pub(crate) fn medians(run: &Run, table: &Table) -> String {
    if table.metric.role.is_whole() {
        return OF_WHOLE_LOAD.to_owned();
    }
    let (min, max) = rounds_range(run, &table.workload);
    if table.trajectory {
        return format!("median of the samples near each position in {}", range_text(min, max));
    }
    rounds_text(run, min, max)
}

/// How many rounds are behind the medians of a run: `median of 5 rounds`.
pub(crate) fn rounds(run: &Run) -> String {
    let ranges = run.plan.workloads.iter().map(|workload| rounds_range(run, &workload.name));
    let (min, max) =
        ranges.fold((u32::MAX, 0), |(min, max), (low, high)| (min.min(low), max.max(high)));
    rounds_text(run, min, max)
}

fn rounds_text(run: &Run, min: u32, max: u32) -> String {
    let mut metrics = run.cells.iter().flat_map(|cell| &cell.metrics);
    let mean = metrics.find(|metric| metric.deviation.is_some());
    let medians = match (max, mean) {
        (_, Some(mean)) => format!("means of {} figures", count(mean.operations)),
        (1, _) if run.is_foreign() => "single figures".to_owned(),
        _ => format!("median of {}", range_text(min, max)),
    };
    if analysis::is_predicted(run) { format!("predicted by a model, {medians}") } else { medians }
}

fn range_text(min: u32, max: u32) -> String {
    match max {
        1 => "1 round".to_owned(),
        _ if min < max => format!("{min} to {max} rounds"),
        _ => format!("{max} rounds"),
    }
}

/// The fewest and the most rounds of a workload's cells: as planned, or as a budget allowed.
fn rounds_range(run: &Run, workload: &str) -> (u32, u32) {
    if run.plan.budget.is_some() {
        return analysis::trust::rounds(run, Some(workload));
    }
    let cells = run.plan.cells.iter().filter(|cell| cell.workload == workload);
    let rounds = cells.map(|cell| cell.round + 1).max().unwrap_or(run.plan.rounds);
    (rounds, rounds)
}

/// The unit in which a table is readable.
pub(crate) fn unit(table: &Table) -> Unit {
    let cells = table.rows.iter().flat_map(|row| row.cells.iter().flatten());
    let medians: Vec<f64> = cells.map(|cell| cell.median.value).collect();
    Unit::for_table(&table.metric.unit, &medians)
}

/// One figure in a unit of its own: quantiles of one distribution span from nanoseconds to seconds.
pub(crate) fn quantity(metric: &MetricInfo, figure: f64) -> String {
    Unit::for_table(&metric.unit, &[figure]).with_symbol(figure).trim_end().to_owned()
}

/// The word for the best by a metric: `fastest`.
pub(crate) fn superlative(metric: &MetricInfo) -> &'static str {
    if metric.unit == "ns" || is_rate(metric) { "fastest" } else { "best" }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_unit_that_names_what_is_counted_stands_alone() {
        for (about, unit, alone) in [
            ("token passes", "tokens/s", true),
            ("tokens/s", "tokens/s", true),
            ("", "replies/s", true),
            ("wakes", "tokens/s", false),
            ("tokens", "tokens", false),
        ] {
            let metric = MetricInfo {
                name: "rate".to_owned(),
                about: about.to_owned(),
                unit: unit.to_owned(),
                lower_is_better: false,
                ..MetricInfo::default()
            };
            assert_eq!(unit_says_what(&metric), alone, "{about} {unit}");
        }
    }
}
