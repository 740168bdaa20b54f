//! Where the CPU time of an operation goes: bands of functions along the axis, and a flame graph of each
//! cell and of the difference between two.
//!
//! The graphs are elements of the page, drawn by `assets/bands.js` and `assets/flame.js` from stacks that stand
//! in the page once. An SVG file for each cell, as `inferno` draws them, would hold the same names again for
//! each of them, follow neither the page's colours nor its keys, and could not compare two cells.

mod data;
mod grew;
mod hot;

use super::runs;
use super::view::{Analysed, View};
use crate::text;
use ::findings::format::{count, list};
use maud::{Markup, PreEscaped, html};
use model::{ProfiledCell, ProfiledRegion, Run, SampledEvent, WorkloadInfo};

/// What a page with profiles needs besides the style of all pages.
pub(super) const STYLE: &str = include_str!("../../assets/profile.css");
/// Its scripts, in order of use.
pub(super) const SCRIPTS: [&str; 3] = [
    include_str!("../../assets/bands.js"),
    include_str!("../../assets/flame.js"),
    include_str!("../../assets/profile.js"),
];

/// Whether any of the runs has a profile.
pub(super) fn is_profiled(runs: &[Analysed]) -> bool {
    runs.iter().any(|(run, _)| !run.profile.is_empty())
}

/// The id of the heading of a workload's profiles, by the workload's index on the page.
pub(super) fn anchor(index: usize) -> String {
    format!("profile-{index}-head")
}

/// The profiles of one workload; nothing where it has none.
pub(super) fn section(
    runs: &[Analysed],
    info: &WorkloadInfo,
    index: usize,
    views: &[View],
) -> Markup {
    let (data, groups) = data::json(runs, info, views).unwrap_or_default();
    let is_failed = |(run, _): &Analysed| !text::runs::failed_profiles(run, &info.name).is_empty();
    if groups.is_empty() && !runs.iter().any(is_failed) {
        return html! {};
    }
    let head = anchor(index);
    html! {
        div.profiled {
            h3 #(head) { "Where the CPU time goes" }
            p.small { (sampling(runs, info)) }
            (failed(runs, info))
            @if !groups.is_empty() {
                figure.profile data-profile=(index) aria-labelledby=(head) {
                    noscript { p.note { "The bands and the flame graphs need JavaScript." } }
                }
                script type="application/json" id={ "profile-data-" (index) } { (PreEscaped(data)) }
                (grew::section(runs, &groups, index))
                div.profile.flame-graph role="group" aria-label="Flame graph" {}
            }
        }
    }
}

/// The cells that have no profile, and why.
fn failed(runs: &[Analysed], info: &WorkloadInfo) -> Markup {
    html! {
        ul.notes {
            @for (run, _) in runs {
                @for cells in text::runs::failed_profiles(run, &info.name) {
                    li { "No profile: " (cells.text) (runs::suffix(runs, run)) }
                }
            }
        }
    }
}

/// How the profiles of a workload were sampled, and how many samples there are.
fn sampling(runs: &[Analysed], info: &WorkloadInfo) -> String {
    let cells = |run: &Run| -> Vec<ProfiledCell> {
        run.profile.cells.iter().filter(|cell| cell.key.workload == info.name).cloned().collect()
    };
    let all: Vec<ProfiledCell> = runs.iter().flat_map(|(run, _)| cells(run)).collect();
    let events: Vec<String> = [SampledEvent::CpuClock, SampledEvent::Cycles]
        .into_iter()
        .filter(|event| all.iter().any(|cell| cell.event == *event))
        .map(|event| match event {
            SampledEvent::CpuClock => "a timer of running threads (cpu-clock)".to_owned(),
            SampledEvent::Cycles => "a hardware counter of CPU cycles".to_owned(),
        })
        .collect();
    let plans = runs.iter().filter_map(|(run, _)| run.plan.profile);
    let mut rates: Vec<String> = plans.map(|plan| count(plan.frequency_hz)).collect();
    rates.dedup();
    let samples = |cells: &[ProfiledCell]| -> u64 {
        cells.iter().flat_map(|cell| &cell.regions).map(ProfiledRegion::sample_count).sum()
    };
    let of_run = |(run, _): &Analysed| {
        format!("{} in {}", count(samples(&cells(run))), runs::name(runs, run))
    };
    let split = match runs {
        [_] => String::new(),
        _ => format!(" ({})", list(runs.iter().map(of_run))),
    };
    let slow_down = text::runs::slow_down(&all).map(|text| format!(" {text}")).unwrap_or_default();
    format!(
        "Sampled in a pass of its own after the timed rounds, by {} at {} samples a second. Its {} samples in timed \
         regions{split} are below; no figure above comes from this pass.{slow_down}",
        list(&events),
        list(&rates),
        count(samples(&all)),
    )
}
