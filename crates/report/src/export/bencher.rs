//! Bencher Metric Format: medians with their intervals, by benchmark and measure.
//!
//! A benchmark of Bencher is a point of a series here. A measure has one unit, and one direction in which
//! its thresholds lie: so it is named after these, and not after the figure.

use super::material::{Content, Format, Material, has_figures, measured, series, write_json};
use analysis::Estimate;
use model::MetricInfo;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::io::{self, Write};

pub(super) const FORMAT: Format = Format {
    name: "bencher",
    about: "Bencher Metric Format: medians with intervals, for `bencher run --adapter json`",
    mark: "",
    choices: &[],
    check: has_figures,
    content: Content::Figures,
    write,
};

/// Bencher's own measure for times, which are nanoseconds there too.
const LATENCY: &str = "latency";

fn write(material: &Material, out: &mut dyn Write) -> io::Result<()> {
    let mut benchmarks: BTreeMap<String, BTreeMap<String, Value>> = BTreeMap::new();
    for (table, rows) in measured(material.analysis()) {
        let measure = measure(&table.metric);
        for row in rows {
            for at in row.cells.iter().flatten() {
                let Estimate { value, low, high } = at.median;
                if [value, low, high].into_iter().all(f64::is_finite) {
                    let mut metric = json!({ "value": value });
                    if let Some([low, high]) = at.median.ci() {
                        metric["lower_value"] = low.into();
                        metric["upper_value"] = high.into();
                    }
                    let benchmark =
                        benchmarks.entry(series(material.run, table, row, at.point)).or_default();
                    benchmark.insert(measure.clone(), metric);
                }
            }
        }
    }
    write_json(&benchmarks, out)
}

/// The slug of a measure: `latency`, `tokens-per-second`, `percent`. It names the direction where
/// the unit suggests the opposite.
fn measure(metric: &MetricInfo) -> String {
    let MetricInfo { name, unit, lower_is_better, .. } = metric;
    if unit == "ns" && *lower_is_better {
        return LATENCY.to_owned();
    }
    let (words, rate) = match unit.strip_suffix("/s") {
        Some(counted) => (format!("{counted} per second"), true),
        None if unit == "%" => ("percent".to_owned(), false),
        None if unit.is_empty() => (name.clone(), false),
        None => (unit.clone(), false),
    };
    let plain = words.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { ' ' });
    let lower = plain.collect::<String>().to_ascii_lowercase();
    let mut slug = lower.split_whitespace().collect::<Vec<_>>().join("-");
    match (rate, lower_is_better) {
        (true, true) => slug.push_str("-lower"),
        (false, false) => slug.push_str("-higher"),
        _ => {}
    }
    slug
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_measure_is_named_after_its_unit_and_its_direction() {
        let named = [
            ("ns", true, "latency"),
            ("ns", false, "ns-higher"),
            ("tokens/s", false, "tokens-per-second"),
            ("tokens/s", true, "tokens-per-second-lower"),
            ("%", true, "percent"),
            ("", false, "fairness-higher"),
            ("context switches", true, "context-switches"),
        ];
        for (unit, lower_is_better, slug) in named {
            let (name, unit) = ("fairness".to_owned(), unit.to_owned());
            let metric = MetricInfo {
                name,
                about: String::new(),
                unit,
                lower_is_better,
                ..MetricInfo::default()
            };
            assert_eq!(measure(&metric), slug);
        }
    }
}
