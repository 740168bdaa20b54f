//! Averages on the page: the table in kernbench's form, and below it every single run as a dot. The dots are
//! drawn without a script.

use super::view::Analysed;
use super::{head as page, marks, runs};
use crate::text::{NO_FIGURE, averages};
use analysis::{Average, AverageColumn, AverageRow, Averages};
use maud::{Markup, html};
use model::{Run, WorkloadInfo};

/// A panel spans at least this share of the largest run, so that nearly equal runs look nearly equal.
const SPAN_MIN: f64 = 0.06;

/// The averages of a workload: one block for each run, set of parameters and point.
pub(super) fn section(runs: &[Analysed], info: &WorkloadInfo, id: &str) -> Markup {
    let all = runs.iter().flat_map(|(run, conclusions)| {
        let blocks =
            conclusions.analysis.averages.iter().filter(|averages| averages.workload == info.name);
        blocks.map(move |averages| (run, averages))
    });
    html! {
        @for (number, (run, averages)) in all.enumerate() {
            (block(run, averages, &format!("{id}-averages-{number}"), &runs::suffix(runs, run)))
        }
    }
}

fn block(run: &Run, averages: &Averages, id: &str, suffix: &str) -> Markup {
    let title = averages::title(run, averages);
    let caption = html! { strong { (title) } " · " (averages::measure(averages)) (suffix) };
    let body = html! {
        (head(averages))
        tbody { @for (row, (label, cells)) in averages.rows.iter().zip(averages::lines(averages)) {
            tr {
                th scope="row" title=(row.metric.about) { (label) }
                @for cell in cells { td.number { (cell) } }
            }
        } }
    };
    html! {
        div.averages {
            (page::table((id, "figures down"), &caption, &body))
            (notes(averages))
            (panels(averages, &title, id))
        }
    }
}

fn head(averages: &Averages) -> Markup {
    html! {
        thead { tr {
            td {}
            @for (column_index, column) in averages::shown(averages) {
                th.number.subject scope="col" { (dot(column_index)) (averages::head(column)) }
            }
        } }
    }
}

/// The colour of a subject's dots, before its name.
fn dot(column_index: usize) -> Markup {
    html! {
        span.dot style=(marks::look(column_index).hue()) aria-hidden="true" {}
    }
}

fn notes(averages: &Averages) -> Markup {
    let lines = averages::notes(averages);
    html! {
        @if !lines.is_empty() { ul.notes { @for line in lines { li { (line) } } } }
    }
}

/// A panel for each metric, in which each run is a dot.
fn panels(averages: &Averages, title: &str, id: &str) -> Markup {
    let rows = averages.rows.iter().filter(|row| row.figures.iter().any(Option::is_some));
    html! {
        figure.single-runs aria-labelledby={ (id) "-dots" } {
            figcaption #{ (id) "-dots" } {
                "Every run is a dot; the stroke is their mean, the band one standard deviation to \
                 either side."
            }
            div.panels { @for row in rows { (panel(averages, row)) } }
            (single_runs(averages, title, id))
        }
    }
}

fn panel(averages: &Averages, row: &AverageRow) -> Markup {
    let unit = averages::unit(row);
    let span = Span::new(row);
    let drawn = averages::shown(averages).filter_map(|(column_index, column)| {
        let average = row.figures.get(column_index).and_then(Option::as_ref)?;
        Some((column_index, column, average))
    });
    html! {
        div.panel aria-hidden="true" {
            p.panel-head { (averages::label(row, &unit)) }
            @for (column_index, column, average) in drawn { (strip(column_index, column, average, &span)) }
            p.ends {
                span { (unit.figure(span.from)) }
                span { (unit.figure(span.to)) }
            }
        }
    }
}

/// The range of a metric's runs, with a margin.
struct Span {
    from: f64,
    to: f64,
}

impl Span {
    fn new(row: &AverageRow) -> Self {
        let ends = || {
            row.figures.iter().flatten().flat_map(|average| {
                let deviation = average.deviation.unwrap_or(0.0);
                let band = [average.mean - deviation, average.mean + deviation];
                average.samples.iter().copied().chain(band).filter(|end| end.is_finite())
            })
        };
        let (min, max) = (ends().fold(f64::INFINITY, f64::min), ends().fold(0.0, f64::max));
        let min = min.min(max);
        let span_min = (max * SPAN_MIN).max(f64::MIN_POSITIVE);
        let margin = ((max - min) * 0.04).max((span_min - (max - min)) / 2.0);
        Self { from: (min - margin).max(0.0), to: max + margin }
    }

    /// A position within it, as a percentage.
    fn position(&self, value: f64) -> String {
        let share = (value - self.from) / (self.to - self.from);
        format!("{:.2}%", 100.0 * share.clamp(0.0, 1.0))
    }
}

/// The runs of one subject.
fn strip(column_index: usize, column: &AverageColumn, average: &Average, span: &Span) -> Markup {
    let deviation = average.deviation.unwrap_or(0.0);
    let (low, high) = (average.mean - deviation, average.mean + deviation);
    let share = (high.min(span.to) - low.max(span.from)) / (span.to - span.from);
    html! {
        div.strip style=(marks::look(column_index).hue()) {
            span.strip-name { (averages::head(column)) }
            svg width="100%" height="22" {
                line.base x1="0" x2="100%" y1="11" y2="11" {}
                rect.band x=(span.position(low)) width={ (format!("{:.2}%", 100.0 * share.max(0.0))) }
                    y="4" height="14" rx="2" {}
                @let mean = span.position(average.mean);
                line.mean x1=(mean) x2=(mean) y1="1" y2="21" {}
                @for sample in &average.samples { circle cx=(span.position(*sample)) cy="11" r="3.6" {} }
            }
        }
    }
}

/// The single runs in figures.
fn single_runs(averages: &Averages, title: &str, id: &str) -> Markup {
    let all = averages.rows.iter().flat_map(|row| row.figures.iter().flatten());
    let max = all.map(|average| average.samples.len()).max().unwrap_or(0);
    let runs: Vec<String> = (1..=max).map(|run| format!("run {run}")).collect();
    let runs = runs.iter().map(|run| (run.as_str(), true));
    let columns: Vec<(&str, bool)> =
        [("figure", false), ("subject", false)].into_iter().chain(runs).collect();
    let id = format!("{id}-single");
    let body =
        page::rows(&columns, averages.rows.iter().flat_map(|row| singles(averages, row, max)));
    let caption = html! { "Every run of " (title) };
    html! {
        details {
            summary { "The single runs in figures" }
            (page::table((&id, "facts singles"), &caption, &body))
        }
    }
}

fn singles(averages: &Averages, row: &AverageRow, max: usize) -> Vec<Vec<Markup>> {
    let unit = averages::unit(row);
    let line = |(index, column): (usize, &AverageColumn)| {
        let average = row.figures.get(index)?.as_ref()?;
        let figure = |run: usize| {
            let sample = average.samples.get(run);
            sample.map_or_else(|| NO_FIGURE.to_owned(), |sample| unit.figure(*sample))
        };
        let names = [averages::label(row, &unit), averages::head(column)];
        let texts = names.into_iter().chain((0..max).map(figure));
        Some(texts.map(|text| html! { (text) }).collect())
    };
    averages::shown(averages).filter_map(line).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nearly_equal_runs_look_nearly_equal() {
        let average = |samples: &[f64]| {
            let mean = samples.iter().sum::<f64>() / samples.len() as f64;
            Some(Average { mean, deviation: Some(0.01), samples: samples.to_vec() })
        };
        let row = |figures| AverageRow {
            metric: model::MetricInfo {
                name: "elapsed".to_owned(),
                about: String::new(),
                unit: "ns".to_owned(),
                lower_is_better: true,
                ..model::MetricInfo::default()
            },
            figures,
        };
        let span = Span::new(&row(vec![average(&[100.0, 100.01])]));
        assert!(span.to - span.from > 5.0, "{} to {}", span.from, span.to);
        let span = Span::new(&row(vec![average(&[10.0, 20.0]), None, average(&[100.0])]));
        assert!(span.from < 10.0 && span.to > 100.0);
        let range = span.to - span.from;
        assert_eq!(span.position(span.from + range / 4.0), "25.00%");
        // Zeros have a panel too.
        let span = Span::new(&row(vec![average(&[0.0, 0.0])]));
        assert!(span.to > span.from);
    }
}
