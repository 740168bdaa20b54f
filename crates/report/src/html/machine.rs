//! The machine behind the figures: what it is called, and all that was recorded of its state.

use super::view::Analysed;
use super::{head, runs};
use findings::format::significant;
use maud::{Markup, html};
use model::{Host, Run, fact_text};
use std::collections::BTreeSet;

/// CPU, their number, kernel: as far as they are known.
pub(crate) fn name(run: &Run) -> String {
    findings::answer::machine(run).unwrap_or_else(|| "not recorded".to_owned())
}

/// The clock, and every fact before and after the run.
pub(super) fn section(runs: &[Analysed]) -> Markup {
    html! {
        section #machine aria-labelledby="machine-head" {
            h2 #machine-head { "The machine" }
            @for (run, _) in runs {
                @if runs.len() > 1 { h3 { (runs::name(runs, run)) } }
                @if run.is_foreign() { (unknown(run)) } @else { (machine_facts(run)) }
            }
        }
    }
}

fn machine_facts(run: &Run) -> Markup {
    html! {
        @if analysis::is_predicted(run) {
            p {
                "None: the figures are those of " (name(run)) ". What it supposes of a machine stands \
                 below."
            }
        } @else { p {
            (name(run)) ". Clock: " (run.clock.source) ", resolution "
            (significant(run.clock.resolution_ns)) " ns, overhead "
            (significant(run.clock.overhead_ns)) " ns a reading."
        } }
        details {
            summary { "Everything that was recorded of it" }
            (facts(run))
        }
    }
}

/// Figures that knee did not measure came from a machine that it knows nothing of.
fn unknown(run: &Run) -> Markup {
    html! {
        p {
            "The figures come from a table"
            @if let Some(file) = &run.plan.table { ", " code { (file) } }
            ". knee did not measure them: of the machine and the clock behind them nothing is \
             recorded here."
        }
    }
}

fn facts(run: &Run) -> Markup {
    let after = run.host_after.as_ref();
    let keys: BTreeSet<&String> = run
        .host_before
        .facts
        .keys()
        .chain(after.into_iter().flat_map(|h| h.facts.keys()))
        .collect();
    let row = |key: &String| {
        let shown = |host: &Host| Some(fact_text(key, host.facts.get(key)?));
        let (before, now) = (shown(&run.host_before), after.and_then(shown));
        let is_same = before.is_some() && before == now;
        let now = if is_same { Some("same".to_owned()) } else { now };
        let text = |value: Option<String>| html! { (value.as_deref().unwrap_or("–")) };
        vec![html! { (key) }, text(before), text(now)]
    };
    let rows = keys.into_iter().map(row);
    head::listing(("Facts about the machine", "facts"), &["Fact", "Before", "After"], rows)
}
