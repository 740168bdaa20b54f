//! How single operations are distributed: their percentiles as a plot with a scale on which each nine
//! more is as far as the one before, and as a table.

use super::table::short;
use super::view::Analysed;
use super::{data, head, runs};
use crate::text::{self, distributions::QUANTILES};
use analysis::{Distribution, Table};
use findings::format::list;
use findings::grouping::grouped;
use maud::{Markup, html};
use model::{Run, WorkloadInfo};
use serde_json::{Value, json};

/// The distributions of one metric under one set of parameters at one point: one table a run.
struct View<'a> {
    point: u64,
    label: String,
    tables: Vec<(usize, &'a Table)>,
}

impl<'a> View<'a> {
    fn metric(&self) -> &'a str {
        &self.tables[0].1.metric.name
    }

    fn distribution(&self, table: &'a Table) -> impl Iterator<Item = &'a Distribution> {
        let point = self.point;
        table.distributions.iter().filter(move |distribution| distribution.point == point)
    }
}

/// Plot and tables of a workload's distributions; nothing where the record keeps none.
pub(super) fn section(
    runs: &[Analysed],
    info: &WorkloadInfo,
    index: usize,
    plot_labels: &[String],
) -> Markup {
    let views = views(runs, info);
    if views.is_empty() {
        return html! {};
    }
    let mut metrics: Vec<&str> = views.iter().map(View::metric).collect();
    metrics.dedup();
    let are = if metrics.len() == 1 { "is" } else { "are" };
    let name = format!("{index}-waits");
    let title = format!("{} {are} distributed", list(&metrics));
    let label = format!("Percentiles of {}: how {title}", info.name);
    html! {
        div.waits {
            h3 { "How " (title) }
            p.small {
                "Across, each step takes in nine tenths of what the one before left out: 90 % of the "
                (QUANTILES[5]) ", then 99 %, then 99.9 %. A line that rises late is of few that took long."
            }
            (head::plot(&name, &label, json(runs, info, &views, plot_labels)))
            @for (number, view) in views.iter().enumerate() {
                div.view data-view=(number) {
                    @for (run, table) in &view.tables {
                        @let id = format!("waits-{index}-{number}-{run}");
                        (quantile_table(runs, view, (table, &runs[*run].0), &id))
                    }
                }
            }
        }
    }
}

fn views<'a>(runs: &'a [Analysed], info: &WorkloadInfo) -> Vec<View<'a>> {
    let keyed = super::view::tables(runs, info).flat_map(|(run, table)| {
        let points = text::distributions::points(table).into_iter();
        points.map(move |(point, label)| {
            ((&table.parameters, point, &table.metric.name), (label, (run, table)))
        })
    });
    let view = |((_, point, _), entries): ((_, _, _), Vec<(String, _)>)| {
        let (labels, tables): (Vec<String>, Vec<_>) = entries.into_iter().unzip();
        View { point, label: labels.into_iter().next().unwrap_or_default(), tables }
    };
    grouped(keyed).into_iter().map(view).collect()
}

/// The plot's data, in the shape of those of the other plots: a point of a line is a percentile.
fn json(runs: &[Analysed], info: &WorkloadInfo, views: &[View], plot_labels: &[String]) -> String {
    let alike = views
        .windows(2)
        .all(|pair| pair[0].tables[0].1.parameters == pair[1].tables[0].1.parameters);
    let own = json!({
        "workload": info.name,
        "axis": format!("percentile of {}", QUANTILES[5]),
        "percentiles": true,
        "choosers": ["Metric", info.axis],
        "first": first(views),
        "rounds": 1,
        "views": views.iter().map(|view| of_view(runs, view, alike)).collect::<Vec<_>>(),
    });
    data::with_looks(runs, own, plot_labels)
}

/// The view that is shown at first: the first with more than one for each of the whole, else the last.
fn first(views: &[View]) -> usize {
    let exceeds_one = |view: &View| {
        let table = view.tables[0].1;
        let shares = table.shares.as_ref().filter(|shares| shares.multiple);
        let at = table.points.iter().position(|point| *point == view.point);
        shares.zip(at).is_some_and(|(shares, at)| shares.values[at] > 1.0)
    };
    views.iter().position(exceeds_one).unwrap_or(views.len().saturating_sub(1))
}

/// One view, with its parameters where not all views have the same.
fn of_view(runs: &[Analysed], view: &View, alike: bool) -> Value {
    let (run, table) = view.tables[0];
    let parameters = text::parameters::with_axis(&runs[run].0, &table.workload, &table.parameters);
    let metric = view.metric();
    let name = if alike { metric.to_owned() } else { format!("{metric} · {parameters}") };
    let series = view.tables.iter().flat_map(|(run, table)| {
        view.distribution(table).map(move |distribution| {
            json!({
                "run": run,
                "label": distribution.label,
                "points": curve(distribution),
                "samples": data::NO_SAMPLES,
                "count": distribution.count,
                "max": short(distribution.max),
            })
        })
    });
    json!({
        "metric": name,
        "parameters": view.label,
        "unit": table.metric.unit,
        "upwards": "",
        "series": series.collect::<Vec<_>>(),
        "marks": [],
    })
}

/// A line from the least to the most: one over what is left above a share, and the figure there. The
/// most of n operations is one of n.
fn curve(distribution: &Distribution) -> Vec<Value> {
    let count = distribution.count.max(1) as f64;
    let position = |share: f64| (1.0 / (1.0 - share).max(1.0 / count)).min(count);
    let mut points: Vec<(f64, f64)> =
        distribution.curve.iter().map(|(share, value)| (position(*share), *value)).collect();
    points.dedup_by(|next, last| {
        let same = next.0 <= last.0;
        last.1 = if same { last.1.max(next.1) } else { last.1 };
        same
    });
    points.into_iter().map(|(position, value)| json!([short(position), short(value)])).collect()
}

fn quantile_table(
    runs: &[Analysed],
    view: &View,
    (table, run): (&Table, &Run),
    id: &str,
) -> Markup {
    let parameters = text::parameters::with_axis(run, &table.workload, &table.parameters);
    let caption = html! {
        strong { (table.metric.name) } " at " (view.label) " · " (parameters)
        (runs::suffix(runs, run))
    };
    let columns = [&[("subject", false)], &QUANTILES.map(|head| (head, true))[..]].concat();
    let rows = text::distributions::rows(table, view.point).map(|(_, label, figures)| {
        let texts = [label.to_owned()].into_iter().chain(figures);
        texts.map(|text| html! { (text) }).collect()
    });
    head::table((id, "figures"), &caption, &head::rows(&columns, rows))
}
