//! Means with their deviations as kernbench logged them: a block for each load, six significant digits.

use super::differing;
use analysis::{Analysis, AverageColumn, Averages};
use findings::format::capitalized;
use model::Run;
use std::fmt::Write;

pub fn blocks(out: &mut String, analysis: &Analysis, run: &Run) {
    let _ = writeln!(out, "{}", run.summary.started);
    if let Some(release) = run.host_before.facts.get("kernel.release") {
        let _ = writeln!(out, "{release}");
    }
    for averages in &analysis.averages {
        if analysis.averages.len() > 1 {
            let _ = writeln!(out, "{}:", title(averages, &analysis.averages));
        }
        for index in 0..averages.columns.len() {
            block(out, averages, index);
        }
    }
}

/// Which of several this is, by what differs among them: `CPUs 2, files 48`.
fn title(averages: &Averages, all: &[Averages]) -> String {
    let mut words = Vec::new();
    if all.iter().any(|sibling| sibling.point != averages.point) {
        words.push(format!("{} {}", averages.axis, averages.point));
    }
    let parameters = all.iter().map(|averages| &averages.parameters);
    words.extend(differing(&averages.parameters, parameters));
    words.join(", ")
}

fn block(out: &mut String, averages: &Averages, index: usize) {
    let column = &averages.columns[index];
    let load = load(column);
    if let Some(why) = &column.unavailable {
        let _ = writeln!(out, "({load}: unavailable: {why})\n");
        return;
    }
    if let Some(why) = &column.reason {
        let all = column.runs + column.failed;
        let _ = writeln!(out, "({load}: {} of {all} runs: {why})", column.failed);
    }
    if column.runs > 0 {
        let _ = writeln!(out, "Average {load} Run (std deviation):");
        for row in &averages.rows {
            if let Some(average) = row.figures.get(index).and_then(Option::as_ref) {
                let per = if row.metric.unit == "ns" { 1e9 } else { 1.0 };
                let _ = write!(
                    out,
                    "{} {}",
                    report::average_name(&row.metric),
                    six(average.mean / per)
                );
                let _ = match average.deviation {
                    Some(deviation) => writeln!(out, " ({})", six(deviation / per)),
                    None => writeln!(out),
                };
            }
        }
    }
    out.push('\n');
}

/// `Half load -j 3`.
fn load(column: &AverageColumn) -> String {
    let jobs = column.facts.get("jobs").map(|jobs| format!(" {jobs}"));
    format!("{} load{}", capitalized(&column.label), jobs.unwrap_or_default())
}

/// A figure as awk prints it: six significant digits, without zeros at the end.
fn six(figure: f64) -> String {
    let scientific = format!("{figure:.5e}");
    let Some((digits, exponent)) = scientific.split_once('e') else { return scientific };
    let exponent: i32 = exponent.parse().unwrap_or(0);
    let bare = |text: &str| {
        let cut = text.trim_end_matches('0').trim_end_matches('.');
        if text.contains('.') { cut.to_owned() } else { text.to_owned() }
    };
    if (-4..6).contains(&exponent) {
        return bare(&format!("{figure:.decimals$}", decimals = (5 - exponent) as usize));
    }
    let sign = if exponent < 0 { '-' } else { '+' };
    format!("{}e{sign}{:02}", bare(digits), exponent.abs())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Figures of the published table, as kernbench printed them with awk.
    #[test]
    fn figures_are_printed_as_awk_prints_them() {
        let cases = [
            (503.002, "503.002"),
            (19.373_70, "19.3737"),
            (0.158_367_2, "0.158367"),
            (141.0, "141"),
            (0.0, "0"),
            (54_069.4, "54069.4"),
            (326_226.04, "326226"),
            (999_999.7, "1e+06"),
            (0.000_012_345_67, "1.23457e-05"),
        ];
        for (figure, text) in cases {
            assert_eq!(six(figure), text);
        }
    }
}
