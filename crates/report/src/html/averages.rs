//! Averages on the page: the table as kernbench told it, and beneath it every single run as a dot, so
//! that nobody has to believe a mean. The dots are drawn without a script.

use super::{Analysed, marks, runs};
use crate::text::NO_FIGURE;
use crate::text::averages;
use analysis::{Average, AverageColumn, AverageRow, Averages};
use findings::format::Unit;
use maud::{Markup, html};
use record::WorkloadInfo;

/// At least this share of the largest run is what a panel spans, so that runs that are nearly alike
/// look so.
const SPAN_MIN: f64 = 0.06;

/// The averages of a workload: one block for each run, set of parameters and point.
pub(super) fn of_workload(runs: &[Analysed], info: &WorkloadInfo, id: &str) -> Markup {
    let all = runs.iter().flat_map(|(run, conclusions)| {
        let own = conclusions.analysis.averages.iter().filter(|of| of.workload == info.name);
        own.map(move |of| (run, of))
    });
    html! {
        @for (number, (run, of)) in all.enumerate() {
            @let name = (runs.len() > 1).then(|| runs::name(runs, run));
            (block(of, &format!("{id}-averages-{number}"), name.as_deref()))
        }
    }
}

fn block(of: &Averages, id: &str, name: Option<&str>) -> Markup {
    html! {
        div.averages {
            div.scroll tabindex="0" role="region" aria-labelledby=(id) {
                table.figures.down {
                    caption id=(id) { div {
                        strong { (averages::title(of)) } " · " (averages::measure(of))
                        @if let Some(name) = name { " · " (name) }
                    } }
                    (head(of))
                    tbody { @for row in &of.rows { (line(of, row)) } }
                }
            }
            (beneath(of))
            (panels(of, id))
        }
    }
}

fn head(of: &Averages) -> Markup {
    html! {
        thead { tr {
            td {}
            @for (at, column) in averages::shown(of) {
                th.number.subject scope="col" { (dot(at)) (averages::head(column)) }
            }
        } }
    }
}

/// The colour of a subject's dots, beside its name.
fn dot(at: usize) -> Markup {
    html! {
        span.dot style=(hue(at)) aria-hidden="true" {}
    }
}

fn hue(at: usize) -> String {
    format!("--hue: var(--series-{})", marks::look(at).colour)
}

fn line(of: &Averages, row: &AverageRow) -> Markup {
    let unit = averages::unit(row);
    let is_first = of.rows.first().is_some_and(|first| first.metric.name == row.metric.name);
    html! {
        tr {
            th scope="row" title=(row.metric.about) { (averages::label(row, &unit)) }
            @for (at, column) in averages::shown(of) {
                @if let Some(average) = row.figures.get(at).and_then(Option::as_ref) {
                    td.number { (figure(row, average, &unit)) }
                } @else if let Some(said) = averages::came_to(column).filter(|_| is_first) {
                    td.number.aborted { (said) }
                } @else {
                    td.number { (NO_FIGURE) }
                }
            }
        }
    }
}

/// The mean, and its deviation set back.
fn figure(row: &AverageRow, average: &Average, unit: &Unit) -> Markup {
    let told = averages::told(row, average, unit);
    let (mean, deviation) = told.split_once(' ').unwrap_or((&told, ""));
    html! { (mean) @if !deviation.is_empty() { " " span.deviation { (deviation) } } }
}

fn beneath(of: &Averages) -> Markup {
    let lines = averages::beneath(of);
    html! {
        @if !lines.is_empty() { ul.notes { @for line in lines { li { (line) } } } }
    }
}

/// A panel for each metric, in which each run is a dot.
fn panels(of: &Averages, id: &str) -> Markup {
    let rows = of.rows.iter().filter(|row| row.figures.iter().any(Option::is_some));
    html! {
        figure.single-runs aria-labelledby={ (id) "-dots" } {
            figcaption #{ (id) "-dots" } {
                "Every run is a dot; the stroke is their mean, the band one standard deviation to \
                 either side."
            }
            div.panels { @for row in rows { (panel(of, row)) } }
            (in_figures(of, id))
        }
    }
}

fn panel(of: &Averages, row: &AverageRow) -> Markup {
    let unit = averages::unit(row);
    let span = Span::of(row);
    let drawn = averages::shown(of).filter_map(|(at, column)| {
        let average = row.figures.get(at).and_then(Option::as_ref)?;
        Some((at, column, average))
    });
    html! {
        div.panel aria-hidden="true" {
            p.panel-head { (averages::label(row, &unit)) }
            @for (at, column, average) in drawn { (strip(at, column, average, &span)) }
            p.panel-ends {
                span { (unit.figure(span.from)) }
                span { (unit.figure(span.to)) }
            }
        }
    }
}

/// From where to where the runs of a metric go, with some air around them.
struct Span {
    from: f64,
    to: f64,
}

impl Span {
    fn of(row: &AverageRow) -> Self {
        let all = || {
            row.figures.iter().flatten().flat_map(|average| {
                let deviation = average.deviation.unwrap_or(0.0);
                let ends = [average.mean - deviation, average.mean + deviation];
                average.samples.iter().copied().chain(ends).filter(|of| of.is_finite())
            })
        };
        let (least, most) = (all().fold(f64::INFINITY, f64::min), all().fold(0.0, f64::max));
        let least = least.min(most);
        let wanted = (most * SPAN_MIN).max(f64::MIN_POSITIVE);
        let air = ((most - least) * 0.04).max((wanted - (most - least)) / 2.0);
        Self { from: (least - air).max(0.0), to: most + air }
    }

    /// A place within it, as a percentage.
    fn place(&self, value: f64) -> String {
        let share = (value - self.from) / (self.to - self.from);
        format!("{:.2}%", 100.0 * share.clamp(0.0, 1.0))
    }
}

/// The runs of one subject.
fn strip(at: usize, column: &AverageColumn, average: &Average, span: &Span) -> Markup {
    let deviation = average.deviation.unwrap_or(0.0);
    let (low, high) = (average.mean - deviation, average.mean + deviation);
    let share = (high.min(span.to) - low.max(span.from)) / (span.to - span.from);
    html! {
        div.strip style=(hue(at)) {
            span.strip-name { (averages::head(column)) }
            svg width="100%" height="22" {
                line.base x1="0" x2="100%" y1="11" y2="11" {}
                rect.band x=(span.place(low)) width={ (format!("{:.2}%", 100.0 * share.max(0.0))) }
                    y="4" height="14" rx="2" {}
                @let mean = span.place(average.mean);
                line.mean x1=(mean) x2=(mean) y1="1" y2="21" {}
                @for sample in &average.samples { circle cx=(span.place(*sample)) cy="11" r="3.6" {} }
            }
        }
    }
}

/// The single runs in figures.
fn in_figures(of: &Averages, id: &str) -> Markup {
    let all = of.rows.iter().flat_map(|row| row.figures.iter().flatten());
    let most = all.map(|average| average.samples.len()).max().unwrap_or(0);
    html! {
        details {
            summary { "The single runs in figures" }
            div.scroll tabindex="0" role="region" aria-labelledby={ (id) "-single" } {
                table.facts.singles {
                    caption #{ (id) "-single" } { div { "Every run of " (averages::title(of)) } }
                    thead { tr {
                        th scope="col" { "figure" }
                        th scope="col" { "subject" }
                        @for run in 1..=most { th.number scope="col" { "run " (run) } }
                    } }
                    tbody { @for row in &of.rows { (singles(of, row, most)) } }
                }
            }
        }
    }
}

fn singles(of: &Averages, row: &AverageRow, most: usize) -> Markup {
    let unit = averages::unit(row);
    html! {
        @for (at, column) in averages::shown(of) {
            @if let Some(average) = row.figures.get(at).and_then(Option::as_ref) {
                tr {
                    th scope="row" { (averages::label(row, &unit)) }
                    td { (averages::head(column)) }
                    @for run in 0..most {
                        td.number {
                            (average.samples.get(run).map_or_else(|| NO_FIGURE.to_owned(), |of| unit.figure(*of)))
                        }
                    }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_that_are_nearly_alike_look_so() {
        let average = |samples: &[f64]| {
            let mean = samples.iter().sum::<f64>() / samples.len() as f64;
            Some(Average { mean, deviation: Some(0.01), samples: samples.to_vec() })
        };
        let row = |figures| AverageRow {
            metric: record::MetricInfo {
                name: "elapsed".to_owned(),
                about: String::new(),
                unit: "ns".to_owned(),
                lower_is_better: true,
                role: None,
            },
            figures,
        };
        let span = Span::of(&row(vec![average(&[100.0, 100.01])]));
        assert!(span.to - span.from > 5.0, "{} to {}", span.from, span.to);
        let span = Span::of(&row(vec![average(&[10.0, 20.0]), None, average(&[100.0])]));
        assert!(span.from < 10.0 && span.to > 100.0);
        let all_of = span.to - span.from;
        assert_eq!(span.place(span.from + all_of / 4.0), "25.00%");
        // Of nothing but zeros there is a panel too.
        let span = Span::of(&row(vec![average(&[0.0, 0.0])]));
        assert!(span.to > span.from);
    }
}
