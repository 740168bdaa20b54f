//! Where in a function the samples are: its hottest instructions, with bytes, text and source line.

use crate::layout::{BOLD, DIM, GAP, INDENT, Pen, Style, right, widest};
use crate::text::instructions::{self, Chosen, SampledFunction, SampledInstruction};
use analysis::{ProfileRow, ProfileTable};
use findings::Conclusions;
use findings::format::{count, function_name, list, percent, quantity};
use model::Run;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

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
        let functions: Vec<String> = functions.iter().cloned().collect();
        pen.aside(&mut out, &format!("No instructions of {}: {reason}.", list(&functions)));
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
        let stub = widest(hottest.iter().map(|instruction| offset(instruction)));
        let bytes = widest(hottest.iter().map(|instruction| &instruction.bytes));
        let text = widest(hottest.iter().map(|instruction| &instruction.text));
        for instruction in &hottest {
            let share = percent(instruction.samples as f64 / function.samples as f64);
            let mut line =
                format!("{}{:GAP$}{:stub$}", right(&share, INDENT + 5), "", offset(instruction));
            for (column, width) in [(&instruction.bytes, bytes), (&instruction.text, text)] {
                if width > 0 {
                    // Writing to a String can't fail.
                    let _ = write!(line, "{:GAP$}{column:width$}", "");
                }
            }
            if !instruction.source.is_empty() {
                let _ = write!(line, "{:GAP$}{}", "", self.paint(DIM, instruction.source));
            }
            self.line(out, &line);
        }
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
