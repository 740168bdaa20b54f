//! The text of `OpenMetrics` 1.0, which Prometheus reads as its own: for its textfile collector.
//!
//! A metric of a workload is a summary, its quantiles those of all samples at a point; the two ends
//! of the median's interval are further gauges. Where the record keeps every single operation, these have
//! a summary of their own; where a workload has averages, mean and deviation are gauges. Times are
//! seconds and percentages ratios, as the specification wants.

use super::material::{Content, Format, Material, measured, x};
use crate::html::machine;
use analysis::{Averages, Distribution, PointSummary, Table};
use model::{MetricInfo, Outcome, Parameters, Run};
use printable::one_line;
use std::collections::BTreeMap;
use std::io::{self, Write};

pub(super) const FORMAT: Format = Format {
    name: "openmetrics",
    about: "medians and quantiles for Prometheus and what reads its text format",
    mark: "# TYPE knee_",
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
        let Table { workload, parameters, metric, axis, .. } = table;
        let source = Source { run, workload, parameters, metric, axis };
        for (row, at) in
            rows.iter().flat_map(|row| row.cells.iter().flatten().map(move |at| (row, at)))
        {
            source.add_point(&mut families, (&row.subject, at.point), at);
        }
        for entry in &table.distributions {
            let help = "every single operation of all rounds";
            let figures = Figures::Summary(&quantiles_of(entry), entry.count);
            source.add(&mut families, ("single", help), (&entry.subject, entry.point), figures);
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
    let mut gauge = |name: &str, help: &str, lines: Vec<String>| {
        let (unit, help) = (String::new(), help.to_owned());
        families.insert(name.to_owned(), Family { kind: "gauge", unit, help, lines });
    };
    let line = format!("knee_run{} 1", labels(&labels_of_run));
    gauge("knee_run", "The run of these figures; always 1.", vec![line]);
    let counts = [
        ("planned", crate::text::runs::cells_planned(run)),
        ("ended", summary.cells_ended),
        ("failed", failed as u64),
    ];
    let counts = counts.map(|(state, count)| {
        let labels = labels(&[("run", summary.id.as_str()), ("state", state)]);
        format!("knee_run_cells{labels} {count}")
    });
    let help = "Cells of the run: planned, ended, and of these failed, whose figures do not count.";
    gauge("knee_run_cells", help, counts.to_vec());
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

/// What figures are of.
struct Source<'a> {
    run: &'a Run,
    workload: &'a str,
    parameters: &'a Parameters,
    metric: &'a MetricInfo,
    axis: &'a str,
}

/// What there is of a subject at a point.
#[derive(Clone, Copy)]
enum Figures<'a> {
    One(f64),
    /// Quantiles, and how many figures there are.
    Summary(&'a [(&'static str, f64)], u64),
}

impl Source<'_> {
    /// Adds figures to the family of a statistic, which `help` describes.
    fn add(
        &self,
        families: &mut Families,
        (what, help): (&str, &str),
        series: (&str, u64),
        figures: Figures<'_>,
    ) {
        let (unit, per) = base(&self.metric.unit);
        let name = full(self.workload, self.metric, what);
        let MetricInfo { about, name: metric, .. } = self.metric;
        let about = if about.is_empty() { metric } else { about };
        let info = self.run.plan.workload(self.workload).filter(|info| info.axis_decimals > 0);
        let axis = info.map_or(self.axis, |info| info.axis_parameter.as_str());
        let about = one_line(&format!("{about} of the workload {}, by {axis}", self.workload));
        let kind = if matches!(figures, Figures::One(_)) { "gauge" } else { "summary" };
        let family = Family { kind, unit, help: format!("{about}: {help}."), lines: Vec::new() };
        let lines = &mut families.entry(name.clone()).or_insert(family).lines;
        let mut own = self.labels(series);
        match figures {
            Figures::One(value) => lines.push(format!("{name}{} {:e}", labels(&own), value / per)),
            Figures::Summary(quantiles, count) => {
                let total = format!("{name}_count{} {count}", labels(&own));
                for &(quantile, value) in quantiles {
                    own.push(("quantile".to_owned(), quantile.to_owned()));
                    // A call that took less than the clock's cost, which is taken off, may be below zero, and no
                    // quantile may.
                    lines.push(format!("{name}{} {:e}", labels(&own), (value / per).max(0.0)));
                    own.pop();
                }
                lines.push(total);
            }
        }
    }

    /// All samples at a point, and both ends of the median's CI; of a whole load its only figure.
    fn add_point(&self, families: &mut Families, series: (&str, u64), at: &PointSummary) {
        if self.metric.role.is_whole() {
            let statistic = ("", "one figure of the whole load");
            self.add(families, statistic, series, Figures::One(at.median.value));
        } else {
            let all = ("", "all samples; quantile 0.5 is the median of the rounds' medians");
            self.add(families, all, series, Figures::Summary(&quantiles(at), at.samples));
        }
        let Some([low, high]) = at.median.ci() else { return };
        let lower = ("median_low", "lower end of the median's 95 % CI");
        self.add(families, lower, series, Figures::One(low));
        let upper = ("median_high", "upper end of the median's 95 % CI");
        self.add(families, upper, series, Figures::One(high));
    }

    fn labels(&self, (subject, point): (&str, u64)) -> Vec<(String, String)> {
        let point = x(self.run, self.workload, point).to_string();
        let own = [self.run.summary.id.as_str(), self.workload, subject, &point];
        let own = OWN.into_iter().zip(own).map(|(name, value)| (name.to_owned(), value.to_owned()));
        let mut labels: Vec<(String, String)> = own.collect();
        for (parameter, value) in self.parameters {
            let mut name = name(parameter);
            while OWN.contains(&name.as_str())
                || labels.iter().any(|(existing, _)| *existing == name)
            {
                name.insert_str(0, "parameter_");
            }
            labels.push((name, value.to_string()));
        }
        labels
    }
}

/// Means with their deviations.
fn means(families: &mut Families, run: &Run, averages: &Averages) {
    let Averages { workload, parameters, axis, point, .. } = averages;
    for row in &averages.rows {
        let source = Source { run, workload, parameters, metric: &row.metric, axis };
        for (column, average) in averages.columns.iter().zip(&row.figures) {
            let Some(average) = average else { continue };
            let series = (column.subject.as_str(), *point);
            let mean = ("mean", "arithmetic mean of all runs");
            source.add(families, mean, series, Figures::One(average.mean));
            if let Some(value) = average.deviation {
                let deviation = ("deviation", "standard deviation of all runs");
                source.add(families, deviation, series, Figures::One(value));
            }
        }
    }
}

fn quantiles(at: &PointSummary) -> Vec<(&'static str, f64)> {
    let &PointSummary { min, p10, p25, median, p75, p90, p99, max, .. } = at;
    let figures = [min, p10, p25, median.value, p75, p90, p99, max];
    ["0.0", "0.1", "0.25", "0.5", "0.75", "0.9", "0.99", "1.0"].into_iter().zip(figures).collect()
}

fn quantiles_of(entry: &Distribution) -> Vec<(&'static str, f64)> {
    let &Distribution { min, p50, p90, p99, p99_9, max, .. } = entry;
    let figures = [min, p50, p90, p99, p99_9, max];
    ["0.0", "0.5", "0.9", "0.99", "0.999", "1.0"].into_iter().zip(figures).collect()
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
