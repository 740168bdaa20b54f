//! The levels of memory as a table, next to what the kernel says of the caches.

use super::view::Analysed;
use super::{head, runs};
use crate::text::{self, NO_FIGURE};
use findings::format::{Unit, size};
use findings::grouping::grouped;
use findings::kinds::memory_levels::{MemoryLevel, MemoryLevels};
use findings::{Data, Finding};
use maud::{Markup, html};
use model::{MetricInfo, Run, WorkloadInfo};

/// One table for each run, metric and set of parameters in which levels were found.
pub(super) fn section(runs: &[Analysed], info: &WorkloadInfo, id: &str) -> Markup {
    let tables = runs.iter().flat_map(|(run, conclusions)| {
        let levels: Vec<(&Finding, &MemoryLevels)> = conclusions
            .findings
            .iter()
            .filter(|finding| finding.workload == info.name)
            .filter_map(|finding| match &finding.data {
                Data::MemoryLevels(levels) => levels.first().map(|levels| (finding, levels)),
                _ => None,
            })
            .collect();
        let keyed = levels
            .into_iter()
            .map(|(finding, levels)| ((&finding.parameters, &finding.metric), (finding, levels)));
        grouped(keyed).into_iter().map(move |(_, subjects)| (run, subjects))
    });
    html! {
        @for (number, (run, subjects)) in tables.enumerate() {
            @let suffix = runs::suffix(runs, run);
            (table(run, info, &subjects, (&format!("{id}-levels-{number}"), &suffix)))
        }
    }
}

/// The levels of each subject below its name.
fn table(
    run: &Run,
    info: &WorkloadInfo,
    subjects: &[(&Finding, &MemoryLevels)],
    (id, suffix): (&str, &str),
) -> Markup {
    let Some((first, _)) = subjects.first() else { return html! {} };
    let Some(metric) = info.metrics.iter().find(|metric| metric.name == first.metric) else {
        return html! {};
    };
    let caption = html! {
        strong { "Levels of memory" } " · " (text::metrics::about(metric))
        " · " (text::parameters::with_axis(run, &info.name, &first.parameters)) (suffix)
    };
    let figures = [metric.name.as_str(), "from", "to"].map(|head| (head, true));
    let heads = [&[("level", false)], &figures[..], &[("the kernel says", false)]].concat();
    let body = html! {
        (head::heads(&heads))
        @for (finding, levels) in subjects {
            tbody {
                tr { th.group colspan="5" scope="rowgroup" { (heading(info, finding)) } }
                @for level in &levels.levels { (row(levels, level, metric)) }
            }
        }
    };
    head::table((id, "figures listed levels"), &caption, &body)
}

/// A subject, and how much of its working set it uses.
fn heading(info: &WorkloadInfo, finding: &Finding) -> Markup {
    let name = finding.subjects.first().map_or("", String::as_str);
    let subject = info.subject(name);
    let spread =
        subject.and_then(|subject| subject.memory_access.as_ref()).map(|access| access.spread);
    html! {
        (subject.map_or(name, |subject| &subject.label))
        @if let Some(spread) = spread.filter(|&spread| spread > 1) {
            " · uses 1/" (spread) " of the working set"
        }
    }
}

fn row(levels: &MemoryLevels, level: &MemoryLevel, metric: &MetricInfo) -> Markup {
    let median = level.median;
    let unit = Unit::for_table(&metric.unit, &[median.value]);
    html! {
        tr {
            th scope="row" { (level.name) }
            td.number {
                (unit.with_symbol(median.value)) (head::interval(median, |end| unit.figure(end)))
            }
            td.number { (size(level.from)) }
            td.number { (size(level.to)) }
            td {
                @match levels.cache(level.name) {
                    Some(cache) => {
                        (size(cache.kib)) @if cache.shared { ", shared" }
                        @if let Some(kib) = levels.left_at(level.name) {
                            "; the curve leaves it at " (size(kib))
                        }
                    }
                    None => (NO_FIGURE),
                }
            }
        }
    }
}
