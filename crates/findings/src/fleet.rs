//! The machines of a fleet that differ from the median machine, as sentences.

use crate::format::{ci, count, list, percent, significant};
use crate::grouping::{distinct, grouped};
use crate::run_changes::contention::slowdown_text;
use analysis::compare::{Fleet, Outlier, OutlierSeries};
use analysis::thresholds::SEVERAL;
use model::WorkloadInfo;

/// More names of series than so many are counted.
const LABELS_MAX: usize = 4;
/// More machines than so many are counted.
const MACHINES_NAMED_MAX: usize = 6;

/// What the machines of a fleet, which are called by `names`, differ in: `node5 is 1.31 times slower in context switching
/// (95 % CI 1.27–1.36); everything else is alike`.
pub fn sentences(fleet: &Fleet, names: &[String]) -> Vec<String> {
    let compared: Vec<_> = fleet.several.comparisons.iter().flatten().collect();
    let machines = compared.len();
    if machines < SEVERAL {
        let few = "With so few machines nothing says which of them is unlike the others; ratios are to the middle of them.";
        return vec![few.to_owned()];
    }
    let series = compared
        .iter()
        .map(|comparison| comparison.tables.iter().map(|table| table.rows.len()).sum::<usize>());
    let series = series.max().unwrap_or(0);
    if fleet.outliers.is_empty() {
        let margin = compared.first().map_or(0.05, |comparison| comparison.margin);
        let undecided = compared.iter().flat_map(|comparison| &comparison.tables);
        let rows = undecided.flat_map(|table| &table.rows);
        let open =
            rows.filter(|row| row.overall.verdict == analysis::compare::Verdict::Undecided).count();
        let (machines, series) = (count(machines as u64), count(series as u64));
        return vec![match open {
            0 => format!(
                "All {machines} machines are the same within {} in all {series} series.",
                percent(margin)
            ),
            open => format!(
                "No machine differs significantly from the median machine, over {machines} machines and {series} series; \
                 {} of the ratios are too uncertain to be called the same.",
                count(open as u64)
            ),
        }];
    }
    let mut all: Vec<String> = fleet
        .outliers
        .iter()
        .take(MACHINES_NAMED_MAX)
        .map(|outlier| format!("{} is {}.", names[outlier.run], of_machine(fleet, outlier)))
        .collect();
    if fleet.outliers.len() > MACHINES_NAMED_MAX {
        let more = count((fleet.outliers.len() - MACHINES_NAMED_MAX) as u64);
        all.push(format!("{more} more machines differ from the median machine: see the table."));
    }
    all
}

fn of_machine(fleet: &Fleet, outlier: &Outlier) -> String {
    let parts = [true, false].map(|slower| {
        let series = outlier.series.iter().filter(|series| (series.slowdown() > 1.0) == slower);
        of_direction(fleet, outlier, &series.collect::<Vec<_>>(), slower)
    });
    let parts: Vec<String> = parts.into_iter().flatten().collect();
    let rest = match (outlier.same, outlier.undecided) {
        (0, 0) => "",
        (_, 0) => "; everything else is alike",
        _ => "; nothing else differs significantly",
    };
    parts.join(", and ") + rest
}

/// `1.31 times slower in context switching (95 % CI 1.27–1.36)`.
fn of_direction(
    fleet: &Fleet,
    outlier: &Outlier,
    series: &[&OutlierSeries],
    slower: bool,
) -> Option<String> {
    let times = |series: &&OutlierSeries| {
        let slowdown = series.slowdown();
        if slower { slowdown } else { 1.0 / slowdown }
    };
    let (first, last) = (series.first()?, series.last()?);
    let word = if slower { "slower" } else { "faster" };
    let [low, high] = [last, first].map(|series| significant(times(series)));
    let series_names = scope(fleet, outlier, series);
    if series.len() > 1 {
        let by = if low == high { high } else { format!("{low} to {high}") };
        return Some(format!("{by} times {word} in {series_names}"));
    }
    let ratio = first.ratio.ratio;
    let slowdown = if first.lower_is_better { ratio } else { ratio.inverse() };
    let (by, ends) = slowdown_text(slowdown);
    let [low, high] = ends.map(significant);
    Some(format!("{by} in {series_names} ({})", ci(&low, &high)))
}

/// Where that is: workloads and headings as a whole where all of them differ alike, else the series by name.
fn scope(fleet: &Fleet, outlier: &Outlier, series: &[&OutlierSeries]) -> String {
    let Ok(comparison) = &fleet.several.comparisons[outlier.run] else { return String::new() };
    let rows = || {
        let tables = comparison.tables.iter();
        tables.flat_map(|table| table.rows.iter().map(move |row| (&table.workload, &row.subject)))
    };
    let info = |name: &str| fleet.median.plan.workload(name);
    let heading = |workload: &str, subject: &str| {
        info(workload).map_or("", |info: &WorkloadInfo| info.group(subject))
    };
    let key = |at: &OutlierSeries| (at.workload.clone(), heading(&at.workload, &at.subject));
    let name = |((workload, group), here): ((String, &str), Vec<&OutlierSeries>)| {
        let is_there = |(name, subject): &(&String, &String)| {
            **name == workload && heading(name, subject) == group
        };
        let all = rows().filter(is_there).count();
        match group {
            heading if !heading.is_empty() && all > 1 && here.len() == all => {
                heading.to_lowercase()
            }
            "" if all > 1 && here.len() == all => workload,
            _ => labels(&here, info(&workload)),
        }
    };
    list(grouped(series.iter().map(|at| (key(at), *at))).into_iter().map(name))
}

fn labels(series: &[&OutlierSeries], info: Option<&WorkloadInfo>) -> String {
    let is_list = info.is_some_and(model::WorkloadInfo::has_separate_subjects);
    let name = |OutlierSeries { label, workload, .. }: &&OutlierSeries| {
        if is_list { label.clone() } else { format!("{label} ({workload})") }
    };
    let mut names = distinct(series.iter().map(name));
    let more = names.len().saturating_sub(LABELS_MAX);
    if more > 0 {
        names.truncate(LABELS_MAX);
        names.push(format!("{more} more"));
    }
    list(&names)
}
