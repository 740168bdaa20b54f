//! The text of `OpenMetrics` 1.0, which Prometheus reads as its own: for its textfile collector.
//!
//! A metric of a workload is a summary, its quantiles those of all samples at a point; the two ends
//! of the median's interval are further gauges. Where the record keeps every single operation, these have
//! a summary of their own; where a workload has averages, mean and deviation are gauges. Times are
//! seconds and percentages ratios, as the specification wants.

use super::material::{Content, Format, Head, Material, measured};
use crate::html::machine;
use analysis::{Averages, Distribution, PointSummary, Row, Table};
use model::{MetricInfo, Outcome, Parameters, Run};
use printable::one_line;
use std::collections::BTreeMap;
use std::io::{self, Write};

pub(super) const FORMAT: Format = Format {
    name: "openmetrics",
    about: "medians and quantiles for Prometheus and what reads its text format",
    heads: &[Head::Text("# TYPE knee_")],
    choices: &[],
    check: |_| Ok(()),
    content: Content::Figures,
    write,
};

/// Labels that every figure has; a parameter of that name says that it is one.
const OWN: [&str; 6] = ["run", "workload", "subject", "point", "quantile", "le"];

/// Figures under one name, which have to stand together.
struct Family {
    kind: &'static str,
    unit: String,
    help: String,
    lines: Vec<String>,
}

/// The families by name.
type Families = BTreeMap<String, Family>;

fn write(material: &Material, out: &mut dyn Write) -> io::Result<()> {
    let (run, analysis) = (material.run, material.analysis());
    let mut families = Families::new();
    about(&mut families, run);
    for (table, rows) in measured(analysis) {
        for row in rows {
            series(&mut families, run, table, row);
        }
        for distribution in &table.distributions {
            single(&mut families, run, table, distribution);
        }
    }
    for averages in &analysis.averages {
        means(&mut families, run, averages);
    }
    for (name, family) in &families {
        writeln!(out, "# TYPE {name} {}", family.kind)?;
        if !family.unit.is_empty() {
            writeln!(out, "# UNIT {name} {}", family.unit)?;
        }
        writeln!(out, "# HELP {name} {}", escaped(&family.help))?;
        family.lines.iter().try_for_each(|line| writeln!(out, "{line}"))?;
    }
    writeln!(out, "# EOF")
}

/// What the run is, and how much of it counts.
fn about(families: &mut Families, run: &Run) {
    let summary = &run.summary;
    let failed =
        run.cells.iter().filter(|cell| matches!(cell.outcome, Outcome::Failed { .. })).count();
    let machine = machine::name(run);
    let labels_of_run = [
        ("run", summary.id.as_str()),
        ("started", &summary.started),
        ("state", summary.state.name()),
        ("version", &summary.version),
        ("machine", &machine),
        ("clock", &run.clock.source),
    ];
    let info = gauge("The run of these figures; always 1.");
    let family = families.entry("knee_run".to_owned()).or_insert(info);
    family.lines.push(format!("knee_run{} 1", labels(&labels_of_run)));
    let help = "Cells of the run: planned, ended, and of these failed, whose figures do not count.";
    let family = families.entry("knee_run_cells".to_owned()).or_insert(gauge(help));
    let counts = [
        ("planned", crate::text::runs::cells_planned(run)),
        ("ended", summary.cells_ended),
        ("failed", failed as u64),
    ];
    for (state, count) in counts {
        let labels = labels(&[("run", summary.id.as_str()), ("state", state)]);
        family.lines.push(format!("knee_run_cells{labels} {count}"));
    }
}

fn gauge(help: &str) -> Family {
    Family { kind: "gauge", unit: String::new(), help: help.to_owned(), lines: Vec::new() }
}

/// A metric's unit as its name ends with it, and what a figure is divided by to be in it.
fn base(unit: &str) -> (String, f64) {
    match unit {
        "ns" => ("seconds".to_owned(), 1e9),
        "" => (String::new(), 1.0),
        "%" => ("ratio".to_owned(), 100.0),
        rate => match rate.strip_suffix("/s") {
            Some(counted) => (format!("{}_per_second", name(counted)), 1.0),
            None => (name(rate), 1.0),
        },
    }
}

/// The name of a family: the metric, the statistic, and the unit, once.
fn full(workload: &str, metric: &MetricInfo, what: &str) -> String {
    let (unit, _) = base(&metric.unit);
    let mut full = format!("knee_{}_{}", name(workload), name(&metric.name));
    for part in [what, &unit] {
        if !part.is_empty() && !full.ends_with(&format!("_{part}")) {
            full = format!("{full}_{part}");
        }
    }
    full
}

/// What a figure is of, for the help of a family.
fn about_metric(metric: &MetricInfo, workload: &str, axis: &str) -> String {
    let about = if metric.about.is_empty() { &metric.name } else { &metric.about };
    one_line(&format!("{about} of the workload {workload}, by {axis}"))
}

fn series(families: &mut Families, run: &Run, table: &Table, row: &Row) {
    let (unit, per) = base(&table.metric.unit);
    let about = about_metric(&table.metric, &table.workload, &table.axis);
    let whole = [("", "gauge", format!("{about}: one figure of the whole load."))];
    let helps = [
        (
            "",
            "summary",
            format!("{about}: all samples; quantile 0.5 is the median of the rounds' medians."),
        ),
        ("median_low", "gauge", format!("{about}: lower end of the median's 95 % CI.")),
        ("median_high", "gauge", format!("{about}: upper end of the median's 95 % CI.")),
    ];
    let is_whole = table.metric.role.is_whole();
    let helps = if is_whole { &whole[..] } else { &helps };
    for &(what, kind, ref help) in helps {
        let name = full(&table.workload, &table.metric, what);
        let (unit, help) = (unit.clone(), help.clone());
        let family = Family { kind, unit, help, lines: Vec::new() };
        let family = families.entry(name.clone()).or_insert(family);
        for at in row.cells.iter().flatten() {
            let series = (row.subject.as_str(), at.point);
            let labels = point_labels(run, &table.workload, &table.parameters, series);
            match what {
                "median_low" => gauge_line(family, &name, &labels, at.median.low / per),
                "median_high" => gauge_line(family, &name, &labels, at.median.high / per),
                _ if is_whole => gauge_line(family, &name, &labels, at.median.value / per),
                _ => {
                    summary_lines(family, &name, &labels, (&quantiles(at), at.samples), per);
                }
            }
        }
    }
}

/// How the single operations of a subject at a point are distributed.
fn single(families: &mut Families, run: &Run, table: &Table, distribution: &Distribution) {
    let (unit, per) = base(&table.metric.unit);
    let name = full(&table.workload, &table.metric, "single");
    let help = format!(
        "{}: every single operation of all rounds.",
        about_metric(&table.metric, &table.workload, &table.axis)
    );
    let family = Family { kind: "summary", unit, help, lines: Vec::new() };
    let family = families.entry(name.clone()).or_insert(family);
    let labels = point_labels(
        run,
        &table.workload,
        &table.parameters,
        (&distribution.subject, distribution.point),
    );
    let quantiles = [
        ("0.0", distribution.min),
        ("0.5", distribution.p50),
        ("0.9", distribution.p90),
        ("0.99", distribution.p99),
        ("0.999", distribution.p99_9),
        ("1.0", distribution.max),
    ];
    summary_lines(family, &name, &labels, (&quantiles, distribution.count), per);
}

/// Means with their deviations.
fn means(families: &mut Families, run: &Run, averages: &Averages) {
    for row in &averages.rows {
        let (unit, per) = base(&row.metric.unit);
        let about = about_metric(&row.metric, &averages.workload, &averages.axis);
        for (column, average) in averages.columns.iter().zip(&row.figures) {
            let Some(average) = average else { continue };
            let series = (column.subject.as_str(), averages.point);
            let labels = point_labels(run, &averages.workload, &averages.parameters, series);
            let statistics = [
                ("mean", "arithmetic mean of all runs", Some(average.mean)),
                ("deviation", "standard deviation of all runs", average.deviation),
            ];
            for (what, help, value) in statistics {
                let Some(value) = value else { continue };
                let name = full(&averages.workload, &row.metric, what);
                let help = format!("{about}: {help}.");
                let family = Family { kind: "gauge", unit: unit.clone(), help, lines: Vec::new() };
                let family = families.entry(name.clone()).or_insert(family);
                gauge_line(family, &name, &labels, value / per);
            }
        }
    }
}

type Labels = Vec<(String, String)>;

fn point_labels(
    run: &Run,
    workload: &str,
    parameters: &Parameters,
    (subject, point): (&str, u64),
) -> Labels {
    let own = [
        ("run", run.summary.id.clone()),
        ("workload", workload.to_owned()),
        ("subject", subject.to_owned()),
        ("point", point.to_string()),
    ];
    let mut labels: Labels =
        own.into_iter().map(|(name, value)| (name.to_owned(), value)).collect();
    for (parameter, value) in parameters {
        let mut name = name(parameter);
        while OWN.contains(&name.as_str()) || labels.iter().any(|(existing, _)| *existing == name) {
            name.insert_str(0, "parameter_");
        }
        labels.push((name, value.to_string()));
    }
    labels
}

fn gauge_line(family: &mut Family, name: &str, labels_of_line: &Labels, value: f64) {
    family.lines.push(format!("{name}{} {}", labels(labels_of_line), number(value)));
}

fn quantiles(at: &PointSummary) -> [(&'static str, f64); 8] {
    [
        ("0.0", at.min),
        ("0.1", at.p10),
        ("0.25", at.p25),
        ("0.5", at.median.value),
        ("0.75", at.p75),
        ("0.9", at.p90),
        ("0.99", at.p99),
        ("1.0", at.max),
    ]
}

fn summary_lines(
    family: &mut Family,
    name: &str,
    labels_of_line: &Labels,
    (quantiles, count): (&[(&str, f64)], u64),
    per: f64,
) {
    for &(quantile, value) in quantiles {
        // A call that took less than the clock's cost, which is taken off, may be below zero, and no
        // quantile may.
        let mut labels_of_line = labels_of_line.clone();
        labels_of_line.push(("quantile".to_owned(), quantile.to_owned()));
        family.lines.push(format!(
            "{name}{} {}",
            labels(&labels_of_line),
            number((value / per).max(0.0))
        ));
    }
    family.lines.push(format!("{name}_count{} {}", labels(labels_of_line), count));
}

/// `text` as a name of a metric, a unit or a label may be: letters, digits and single underscores.
fn name(text: &str) -> String {
    let plain: String =
        text.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).collect();
    let words: Vec<&str> = plain.split('_').filter(|word| !word.is_empty()).collect();
    let joined = words.join("_");
    match joined.chars().next() {
        None => "unnamed".to_owned(),
        Some(first) if first.is_ascii_digit() => format!("n{joined}"),
        Some(_) => joined,
    }
}

fn labels<N: AsRef<str>, V: AsRef<str>>(pairs: &[(N, V)]) -> String {
    let pair =
        |(name, value): &(N, V)| format!("{}=\"{}\"", name.as_ref(), escaped(value.as_ref()));
    format!("{{{}}}", pairs.iter().map(pair).collect::<Vec<_>>().join(","))
}

fn escaped(text: &str) -> String {
    text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n")
}

/// A figure as the specification reads it.
fn number(value: f64) -> String {
    format!("{value:e}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_what_the_specification_allows() {
        let names =
            [("io_uring-multishot", "io_uring_multishot"), ("2 GB", "n2_GB"), ("µ", "unnamed")];
        for (text, expected) in names {
            assert_eq!(name(text), expected);
        }
        assert_eq!(base("ns"), ("seconds".to_owned(), 1e9));
        assert_eq!(base("tokens/s").0, "tokens_per_second");
        assert_eq!(base("%"), ("ratio".to_owned(), 100.0));
    }

    #[test]
    fn a_name_ends_with_its_unit_and_says_it_once() {
        let metric = |name: &str, unit: &str| MetricInfo {
            name: name.to_owned(),
            about: String::new(),
            unit: unit.to_owned(),
            lower_is_better: true,
            ..MetricInfo::default()
        };
        let named = [
            (metric("context switches", "switches"), "", "knee_build_context_switches"),
            (metric("sleeps", "sleeps"), "mean", "knee_build_sleeps_mean_sleeps"),
            (metric("percent cpu", "%"), "", "knee_build_percent_cpu_ratio"),
            (metric("fairness", ""), "median_low", "knee_build_fairness_median_low"),
        ];
        for (metric, what, name) in named {
            assert_eq!(full("build", &metric, what), name);
        }
    }

    #[test]
    fn values_of_labels_are_escaped() {
        assert_eq!(labels(&[("a", "b\"c\\d\ne")]), r#"{a="b\"c\\d\ne"}"#);
    }
}
