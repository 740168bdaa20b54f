//! Where in the functions that grew the samples are: their hottest instructions, folded away below the table.

use super::super::head;
use crate::text::instructions::{self, Chosen, SampledFunction, SampledInstruction};
use ::findings::format::{count, function_name, list, percent, quantity};
use ::findings::grouping::grouped;
use analysis::{ProfileRow, ProfileTable};
use maud::{Markup, html};
use model::Run;

/// Functions of a subject that are looked into.
const FUNCTIONS: usize = 3;
/// Instructions of a function.
const HOTTEST: usize = 8;

/// The instructions of one row; nothing where no function has enough samples.
pub(super) fn section(run: &Run, table: &ProfileTable, row: &ProfileRow, id: &str) -> Markup {
    let functions = instructions::functions(run, table, row, Chosen::Grown(FUNCTIONS));
    if functions.is_empty() {
        return html! {};
    }
    let names = list(functions.iter().map(|function| function_name(function.frame)));
    let without_text = functions.iter().filter(|function| !function.missing.is_empty());
    let without_text =
        without_text.map(|function| (&function.missing, function_name(function.frame)));
    html! {
        details.hot {
            summary { "Hottest instructions of " (names) }
            div.listings.flow {
                @for (number, function) in functions.iter().enumerate() {
                    (listing(table, function, &format!("{id}-hot-{number}")))
                }
            }
            @for (reason, names) in grouped(without_text) {
                p.note { "No instructions of " (list(&names)) ": " (reason) "." }
            }
            p.note { (instructions::SKID) }
        }
    }
}

fn listing(table: &ProfileTable, function: &SampledFunction, id: &str) -> Markup {
    let (hottest, hidden) = function.hottest(HOTTEST);
    let has_text = function.missing.is_empty();
    let has_source = hottest.iter().any(|instruction| !instruction.source.is_empty());
    let name = function_name(function.frame);
    // Without the text, the function's name with an offset is what other tools take.
    let prefix = if has_text { "" } else { &name };
    let caption = html! {
        strong { (name) } " · at " (count(function.point)) " " (table.axis) " · "
        (quantity(function.samples, "sample"))
    };
    let of_text: &[_] = if has_text { &[("bytes", false), ("instruction", false)] } else { &[] };
    let of_source: &[_] = if has_source { &[("source", false)] } else { &[] };
    let columns = [&[("samples", true), ("offset", false)], of_text, of_source].concat();
    let row = |instruction: &SampledInstruction| {
        let share = percent(instruction.samples as f64 / function.samples as f64);
        let mut cells = vec![
            html! { (share) },
            html! { code { (prefix) "+" (format!("{:#x}", instruction.offset)) } },
        ];
        if has_text {
            cells.push(html! { code.bytes { (instruction.bytes) } });
            cells.push(html! { code { (instruction.text) } });
        }
        if has_source {
            cells.push(html! { (instruction.source) });
        }
        cells
    };
    let rows = head::rows(&columns, hottest.into_iter().map(row));
    html! {
        div {
            (head::table((id, "figures down instructions"), &caption, &rows))
            @if hidden > 0 { p.note { (quantity(hidden as u64, "more instruction")) " with fewer samples" } }
        }
    }
}
