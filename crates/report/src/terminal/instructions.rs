//! Where in a function the samples are: its hottest instructions, with bytes, text and source line.

use crate::layout::{BOLD, GAP, INDENT, Pen, Style, left, right, widest};
use crate::matrix::grid::{Grid, GridRow};
use crate::text::instructions::{self, Chosen, SampledFunction, SampledInstruction};
use analysis::{ProfileRow, ProfileTable};
use findings::Conclusions;
use findings::format::{count, function_name, list, percent, quantity};
use model::Run;
use std::collections::{BTreeMap, BTreeSet};

/// Instructions of a function that grew.
const HOTTEST: usize = 8;
/// Instructions of a function that was asked for by name.
const NAMED_MAX: usize = 60;

/// The hottest instructions of the chosen functions: of those that grew in the headline tables, of a named one in all.
/// A name that no function has is an error with the names that there are.
pub fn hot_instructions(
    run: &Run,
    conclusions: &Conclusions,
    style: &Style,
    chosen: Chosen,
) -> Result<String, Vec<String>> {
    let pen = Pen::new(style);
    let mut out = String::new();
    let mut without_text: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    let is_named = matches!(chosen, Chosen::Named(_));
    for table in conclusions.analysis.profiles.iter().filter(|table| is_named || table.headline) {
        for row in &table.rows {
            for function in instructions::functions(run, table, row, chosen) {
                pen.instructions(&mut out, (table, row), &function, chosen);
                out.push('\n');
                if !function.missing.is_empty() {
                    let functions = without_text.entry(function.missing).or_default();
                    functions.insert(function_name(function.frame));
                }
            }
        }
    }
    if out.is_empty() && is_named {
        return Err(instructions::names(run).into_iter().collect());
    }
    if out.is_empty() {
        pen.aside(&mut out, "No function has enough samples to look into its instructions.");
        return Ok(out);
    }
    for (reason, functions) in &without_text {
        pen.aside(&mut out, &format!("No instructions of {}: {reason}.", list(functions)));
    }
    pen.aside(&mut out, instructions::SKID);
    Ok(out)
}

impl Pen {
    fn instructions(
        &self,
        out: &mut String,
        (table, row): (&ProfileTable, &ProfileRow),
        function: &SampledFunction,
        chosen: Chosen,
    ) {
        let name = function_name(function.frame);
        let metric = (!table.headline).then(|| format!(" ({})", table.metric.name));
        let title = [
            format!("{name}, {}", module(function)),
            format!("{}, {}{}", table.workload, row.label, metric.unwrap_or_default()),
            format!("at {} {}", count(function.point), table.axis),
            quantity(function.samples, "sample"),
        ];
        self.paragraph(out, BOLD, &title.join(" · "), (0, INDENT));
        let is_named = matches!(chosen, Chosen::Named(_));
        let max = if is_named { NAMED_MAX } else { HOTTEST };
        let (mut hottest, hidden) = function.hottest(max);
        if is_named {
            hottest.sort_by_key(|instruction| instruction.offset);
        }
        // Without their text, the function's name with an offset is what other tools take.
        let prefix = if function.missing.is_empty() { "" } else { &name };
        let offset =
            |instruction: &SampledInstruction| format!("{prefix}+{:#x}", instruction.offset);
        let texts = |instruction: &&SampledInstruction| {
            [offset(instruction), instruction.bytes.clone(), instruction.text.clone()]
        };
        let texts: Vec<[String; 3]> = hottest.iter().map(texts).collect();
        let widths = [0, 1, 2].map(|column| widest(texts.iter().map(|texts| &texts[column])));
        let filled = || (0..3).filter(|&column| widths[column] > 0);
        let row = |(instruction, texts): (&&SampledInstruction, &[String; 3])| {
            let share = percent(instruction.samples as f64 / function.samples as f64);
            let cells = filled().map(|column| vec![left(&texts[column], widths[column])]);
            let notes = instruction.source.to_owned();
            GridRow { notes, ..GridRow::new(right(&share, 5), cells.collect()) }
        };
        let rows = hottest.iter().zip(&texts).map(row).collect();
        let heads = filled().map(|_| Vec::new()).collect();
        self.grid(out, &Grid { stub: Vec::new(), heads, rows, gap: GAP });
        if hidden > 0 {
            self.aside(out, &format!("{} more with fewer samples", count(hidden as u64)));
        }
    }
}

fn module<'a>(function: &'a SampledFunction) -> &'a str {
    match function.frame.module.as_str() {
        "" => "in no file",
        module => module,
    }
}
