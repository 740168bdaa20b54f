//! Averages in kernbench's form, as terminal, page and Markdown share it: metrics down, subjects across, means
//! with their standard deviations.

use super::NO_FIGURE;
use analysis::{Average, AverageColumn, AverageRow, Averages};
use findings::format::{Unit, capitalized, count, counted, significant};
use model::{FailureReason, MetricInfo, MetricRole, Run};

/// `build · 2 CPUs · files 48`: what was measured, and under which parameters.
pub(crate) fn title(run: &Run, averages: &Averages) -> String {
    let mut parts =
        vec![averages.workload.clone(), counted(&count(averages.point), &averages.axis)];
    let effective = run.plan.effective(&averages.workload, &averages.parameters);
    parts.extend(crate::text::parameters::pairs(&effective));
    parts.join(" · ")
}

/// What a figure is: `mean (standard deviation) averages 5 runs`.
pub(crate) fn measure(averages: &Averages) -> String {
    let runs = || averages.columns.iter().map(|column| column.runs).filter(|runs| *runs > 0);
    let (min, max) = (runs().min().unwrap_or(0), runs().max().unwrap_or(0));
    match (min, max) {
        (0, _) => "no run finished".to_owned(),
        (1, 1) => "one run".to_owned(),
        _ if min == max => format!("mean (standard deviation) of {max} runs"),
        _ => format!("mean (standard deviation) of {min} to {max} runs"),
    }
}

/// Whether a column has something to show: figures, or that its runs came to nothing.
pub(crate) fn shown(averages: &Averages) -> impl Iterator<Item = (usize, &AverageColumn)> {
    averages.columns.iter().enumerate().filter(|(_, column)| column.unavailable.is_none())
}

/// A subject with its jobs, as make takes them: `half -j 3`; `-j` alone is without a limit.
pub(crate) fn head(column: &AverageColumn) -> String {
    let label = &column.label;
    column.facts.get("jobs").map_or(label.clone(), |jobs| format!("{label} {jobs}"))
}

/// The unit of a row.
pub(crate) fn unit(row: &AverageRow) -> Unit {
    let mut means: Vec<f64> = row.figures.iter().flatten().map(|average| average.mean).collect();
    // Where no run finished, times are in seconds, as in kernbench.
    if means.is_empty() {
        means.push(1e9);
    }
    Unit::for_table(&row.metric.unit, &means)
}

/// The name of a row and its unit: `Elapsed Time, s`, `Percent CPU`, `Sleeps`. A unit that the name has is not
/// repeated.
pub(crate) fn label(row: &AverageRow, unit: &Unit) -> String {
    let (name, symbol) = (name(&row.metric), unit.symbol.as_str());
    let has_unit = row.metric.role == MetricRole::CpuShare || row.metric.name.ends_with(symbol);
    if has_unit { name } else { format!("{name}, {symbol}") }
}

/// The name that kernbench gave a metric: `Elapsed Time`, `Percent CPU`, `Context Switches`.
pub fn name(metric: &MetricInfo) -> String {
    let mut words: Vec<String> = match metric.role {
        MetricRole::Cpu => vec!["CPU".to_owned()],
        MetricRole::CpuShare => vec!["Percent CPU".to_owned()],
        _ => metric.name.split_whitespace().map(capitalized).collect(),
    };
    if metric.unit == "ns" && !metric.name.contains("time") {
        words.push("Time".to_owned());
    }
    words.join(" ")
}

/// A mean, and its deviation behind it, as many decimals as two digits of the deviation need: `326.23 (0.16)`; but
/// at most one more than any other of its row has, so that they are read along.
fn text(row: &AverageRow, average: &Average, unit: &Unit) -> String {
    let mean = average.mean / unit.per;
    let own =
        |average: &Average| average.deviation.and_then(|deviation| decimals(deviation / unit.per));
    let Some(deviation) = average.deviation.map(|deviation| deviation / unit.per) else {
        return significant(mean);
    };
    let Some(decimals) = own(average) else { return significant(mean) + " (0)" };
    let min = row.figures.iter().flatten().filter_map(own).min().unwrap_or(decimals);
    let decimals = decimals.min(min + 1);
    format!("{} ({})", grouped(mean, decimals), grouped(deviation, decimals))
}

/// As many as two digits of a deviation need; none of a deviation that is nothing.
fn decimals(deviation: f64) -> Option<usize> {
    let is_positive = deviation > 0.0 && deviation.is_finite();
    is_positive.then(|| (1.0 - deviation.log10().floor()).clamp(0.0, 6.0) as usize)
}

/// A figure that is not negative, with thousands separated.
fn grouped(value: f64, decimals: usize) -> String {
    let text = format!("{:.decimals$}", value.max(0.0));
    let (before, after) = text.split_once('.').unwrap_or((&text, ""));
    let before = before.parse().map_or_else(|_| before.to_owned(), count);
    if after.is_empty() { before } else { format!("{before}.{after}") }
}

/// The rows with their labels: the figure of each column that is shown, or in the first row why it has none.
pub(crate) fn lines(averages: &Averages) -> impl Iterator<Item = (String, Vec<String>)> {
    averages.rows.iter().enumerate().map(|(index, row)| {
        let unit = unit(row);
        let cell = |(at, column): (usize, &AverageColumn)| {
            let outcome = outcome(column).filter(|_| index == 0);
            let average = row.figures.get(at).and_then(Option::as_ref);
            let figure = average.map(|average| text(row, average, &unit));
            outcome.or(figure).unwrap_or_else(|| NO_FIGURE.to_owned())
        };
        (label(row, &unit), shown(averages).map(cell).collect())
    })
}

/// Why a column has no figures, in few words: `aborted after 30 min`, `failed`.
pub(crate) fn outcome(column: &AverageColumn) -> Option<String> {
    let reason = column.reason.as_ref().filter(|_| column.runs == 0)?;
    Some(match reason {
        FailureReason::DeadlineExceeded { deadline_ms, .. } => aborted(*deadline_ms),
        _ => "failed".to_owned(),
    })
}

/// `aborted after 30 min`.
fn aborted(deadline_ms: u64) -> String {
    format!("aborted after {}", model::deadline_text(deadline_ms))
}

/// What stands beneath: what runs that did not finish were doing, why others failed, who can't be
/// measured, and what has to be known of a column.
pub(crate) fn notes(averages: &Averages) -> Vec<String> {
    let mut lines = Vec::new();
    for (_, column) in shown(averages) {
        if let Some(reason) = &column.reason {
            let how = match reason {
                FailureReason::DeadlineExceeded { deadline_ms, activity } => {
                    let aborted = aborted(*deadline_ms);
                    if activity.is_empty() { aborted } else { format!("{aborted}: {activity}") }
                }
                reason => format!("failed: {reason}"),
            };
            let all = column.runs + column.failed;
            let partly = format!("{} of {all} runs ", column.failed);
            let partly = if column.runs == 0 { "" } else { &partly };
            lines.push(format!("{}: {partly}{how}", head(column)));
        }
        if !column.note.is_empty() {
            lines.push(format!("{}: {}", column.label, column.note));
        }
    }
    let unavailable =
        averages.columns.iter().filter_map(|column| Some((column, column.unavailable.as_ref()?)));
    lines
        .extend(unavailable.map(|(column, why)| format!("{} is unavailable: {why}", column.label)));
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(name: &str, unit: &str) -> AverageRow {
        let role = if name == "percent cpu" { MetricRole::CpuShare } else { MetricRole::Plain };
        let (name, unit) = (name.to_owned(), unit.to_owned());
        let metric = MetricInfo {
            name,
            about: String::new(),
            unit,
            lower_is_better: true,
            role,
            ..MetricInfo::default()
        };
        AverageRow { metric, figures: Vec::new() }
    }

    #[test]
    fn rows_are_called_as_kernbench_called_them() {
        let seconds = Unit { symbol: "s".to_owned(), per: 1e9 };
        assert_eq!(label(&row("elapsed", "ns"), &seconds), "Elapsed Time, s");
        for (name, unit, label_text) in [
            ("percent cpu", "%", "Percent CPU"),
            ("context switches", "switches", "Context Switches"),
            ("sleeps", "sleeps", "Sleeps"),
            ("memory", "pages", "Memory, pages"),
        ] {
            let row = row(name, unit);
            assert_eq!(label(&row, &self::unit(&row)), label_text);
        }
    }

    #[test]
    fn a_mean_has_the_decimals_that_its_deviation_asks_for() {
        let seconds = Unit { symbol: "s".to_owned(), per: 1e9 };
        let average = |(mean, deviation): (f64, Option<f64>)| {
            let deviation = deviation.map(|averages| averages * 1e9);
            Average { mean: mean * 1e9, deviation, samples: Vec::new() }
        };
        let label_text = |mean: f64, deviation: Option<f64>| {
            text(&row("elapsed", "ns"), &average((mean, deviation)), &seconds)
        };
        assert_eq!(label_text(326.226, Some(0.158_367)), "326.23 (0.16)");
        assert_eq!(label_text(503.002, Some(19.3737)), "503 (19)");
        assert_eq!(label_text(54_069.4, Some(458.201)), "54,069 (458)");
        assert_eq!(label_text(206.0, Some(0.0)), "206 (0)");
        assert_eq!(label_text(1.5, None), "1.50");
        // Next to one that scatters by much, more decimals would say nothing.
        let seed = [(503.002, Some(19.3737)), (410.686, Some(2.49314)), (338.98, Some(0.932_121))];
        let figures: Vec<Average> = seed.into_iter().map(average).collect();
        let row = AverageRow {
            figures: figures.iter().cloned().map(Some).collect(),
            ..row("elapsed", "ns")
        };
        let along: Vec<String> =
            figures.iter().map(|averages| text(&row, averages, &seconds)).collect();
        assert_eq!(along, ["503 (19)", "410.7 (2.5)", "339.0 (0.9)"]);
    }

    #[test]
    fn jobs_are_written_as_make_takes_them() {
        let column = |jobs: Option<&str>| AverageColumn {
            subject: "half".to_owned(),
            label: "half".to_owned(),
            note: String::new(),
            runs: 0,
            failed: 1,
            reason: Some(FailureReason::DeadlineExceeded {
                deadline_ms: 1_800_000,
                activity: "make (waits)".to_owned(),
            }),
            unavailable: None,
            facts: jobs.map(|jobs| ("jobs".to_owned(), jobs.into())).into_iter().collect(),
        };
        let heads = [Some("-j 3"), Some("-j"), None].map(column);
        let heads: Vec<String> = heads.iter().map(head).collect();
        assert_eq!(heads, ["half -j 3", "half -j", "half"]);
        assert_eq!(outcome(&column(None)).as_deref(), Some("aborted after 30 min"));
    }
}
