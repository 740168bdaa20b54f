//! The text of `OpenMetrics` 1.0, which Prometheus reads as its own: for its textfile collector.
//!
//! A metric of a workload is a summary, its quantiles those of all samples at a point; the two ends
//! of the median's interval are gauges beside it. Times are seconds, as the specification wants.

use super::{Format, Material, measured, one_line};
use crate::html::machine;
use analysis::{PointSummary, Row, Table};
use record::{Outcome, Run};
use std::collections::BTreeMap;
use std::io::{self, Write};

pub(super) const FORMAT: Format = Format {
    name: "openmetrics",
    about: "medians and quantiles for Prometheus and what reads its text format",
    head: "# TYPE knee_",
    chooses: false,
    write,
};

/// Labels that every figure has; a condition of that name says that it is one.
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
    let void = run.cells.iter().filter(|cell| matches!(cell.outcome, Outcome::Void { .. })).count();
    let machine = machine::name(run);
    let told = [
        ("run", summary.id.as_str()),
        ("started", &summary.started),
        ("state", summary.state.name()),
        ("version", &summary.version),
        ("machine", &machine),
        ("clock", &run.clock.source),
    ];
    let info = gauge("The run that these figures are of; always 1.");
    let family = families.entry("knee_run".to_owned()).or_insert(info);
    family.lines.push(format!("knee_run{} 1", labels(&told)));
    let help = "Cells of the run: planned, ended, and of these void, whose figures do not count.";
    let family = families.entry("knee_run_cells".to_owned()).or_insert(gauge(help));
    let counts =
        [("planned", summary.cells_planned), ("ended", summary.cells_ended), ("void", void as u64)];
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
        rate => match rate.strip_suffix("/s") {
            Some(counted) => (format!("{}_per_second", name(counted)), 1.0),
            None => (name(rate), 1.0),
        },
    }
}

fn series(families: &mut Families, run: &Run, table: &Table, row: &Row) {
    let (unit, per) = base(&table.metric.unit);
    let stem = format!("knee_{}_{}", name(&table.workload), name(&table.metric.name));
    let full = |what: &str| {
        [stem.as_str(), what, &unit]
            .into_iter()
            .filter(|part| !part.is_empty())
            .collect::<Vec<_>>()
            .join("_")
    };
    let about = one_line(&format!(
        "{} of the workload {}, by {}",
        if table.metric.about.is_empty() { &table.metric.name } else { &table.metric.about },
        table.workload,
        table.axis
    ));
    let helps = [
        (
            "",
            "summary",
            format!("{about}: all samples; quantile 0.5 is the median of the rounds' medians."),
        ),
        ("median_low", "gauge", format!("{about}: lower end of the median's 95 % interval.")),
        ("median_high", "gauge", format!("{about}: upper end of the median's 95 % interval.")),
    ];
    for (what, kind, help) in helps {
        let name = full(what);
        let unit = unit.clone();
        let family = Family { kind, unit, help, lines: Vec::new() };
        let family = families.entry(name.clone()).or_insert(family);
        for at in row.cells.iter().flatten() {
            let labels = of_point(run, table, row, at);
            match what {
                "median_low" => gauge_line(family, &name, &labels, at.median.low / per),
                "median_high" => gauge_line(family, &name, &labels, at.median.high / per),
                _ => summary_lines(family, &name, &labels, at, per),
            }
        }
    }
}

type Labels = Vec<(String, String)>;

fn of_point(run: &Run, table: &Table, row: &Row, at: &PointSummary) -> Labels {
    let own = [
        ("run", run.summary.id.clone()),
        ("workload", table.workload.clone()),
        ("subject", row.subject.clone()),
        ("point", at.point.to_string()),
    ];
    let mut labels: Labels =
        own.into_iter().map(|(name, value)| (name.to_owned(), value)).collect();
    for (condition, value) in &table.conditions {
        let mut name = name(condition);
        while OWN.contains(&name.as_str()) || labels.iter().any(|(known, _)| *known == name) {
            name.insert_str(0, "condition_");
        }
        labels.push((name, value.clone()));
    }
    labels
}

fn gauge_line(family: &mut Family, name: &str, of: &Labels, value: f64) {
    family.lines.push(format!("{name}{} {}", labels(of), number(value)));
}

fn summary_lines(family: &mut Family, name: &str, of: &Labels, at: &PointSummary, per: f64) {
    let quantiles = [
        ("0.0", at.min),
        ("0.1", at.p10),
        ("0.25", at.p25),
        ("0.5", at.median.value),
        ("0.75", at.p75),
        ("0.9", at.p90),
        ("0.99", at.p99),
        ("1.0", at.max),
    ];
    for (quantile, value) in quantiles {
        // A call that took less than the clock's cost, which is taken off, may be below zero, and no
        // quantile may.
        let mut of = of.clone();
        of.push(("quantile".to_owned(), quantile.to_owned()));
        family.lines.push(format!("{name}{} {}", labels(&of), number((value / per).max(0.0))));
    }
    family.lines.push(format!("{name}_count{} {}", labels(of), at.samples));
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
    }

    #[test]
    fn values_of_labels_are_escaped() {
        assert_eq!(labels(&[("a", "b\"c\\d\ne")]), r#"{a="b\"c\\d\ne"}"#);
    }
}
