//! `knee run --precision` compared with a fixed number of rounds, on the quick suite: what a budget saves at the same
//! widest interval.
//!
//! A run with a precision measures first; its widest interval, and the cells and the time that it took, stand
//! with those of fixed rounds: as many as its most measured point had. Both give their intervals in
//! their own way, so both are judged by one: a run with `--precision` too small to reach, and `--rounds` as
//! the most, is a run of fixed rounds whose intervals are given alike.

use super::build_knee;
use super::options::above_zero;
use crate::shell;
use crate::tally::Tally;
use anyhow::{Context, Result};
use clap::Args;
use serde_json::Value;
use std::collections::HashMap;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

/// No single run takes longer than this.
const RUN_MAX: Duration = Duration::from_secs(3_600);
/// A precision that nothing reaches.
const NEVER: &str = "0.000001%";

/// What was asked for.
#[derive(Args)]
pub struct Options {
    /// The precision that ends the rounds
    #[arg(long, value_name = "P%", default_value = "10%")]
    precision: String,
    /// Rounds at most
    #[arg(long, default_value_t = 20, value_parser = above_zero::<usize>)]
    rounds: usize,
    /// Workloads; those of the quick suite by default
    #[arg(long, value_delimiter = ',')]
    workloads: Vec<String>,
    /// Write the table to this file as well
    #[arg(long, value_name = "FILE")]
    output: Option<PathBuf>,
}

/// What one run came to.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Figures {
    cells: usize,
    /// The most rounds of a point.
    rounds: usize,
    seconds: f64,
    /// Half of the widest interval, as a share of its median.
    widest: f64,
    /// The same of the interval in the middle.
    middle: f64,
}

/// Runs both and prints the table.
pub fn run(options: &Options, tally: &mut Tally) -> Result<()> {
    let knee = build_knee(&shell::root(), &shell::target_dir()?)?;
    let scratch = tempfile::tempdir()?;
    let record = scratch.path().join("bench.db");
    let rounds_max = options.rounds.to_string();
    let words = ["--precision", &options.precision, "--rounds", &rounds_max];
    let budget = measured(&knee, options, &words, &record)?;
    let rounds = budget.rounds.to_string();
    let fixed = measured(&knee, options, &["--precision", NEVER, "--rounds", &rounds], &record)?;
    let text = markdown(&options.precision, &budget, &fixed);
    print!("\n{text}");
    if let Some(file) = &options.output {
        fs::write(file, &text).with_context(|| format!("can't write {}", file.display()))?;
    }
    let saved = 100.0 * (1.0 - budget.cells as f64 / fixed.cells.max(1) as f64);
    let step = format!("bench budget: {saved:.0} % of the cells were saved");
    tally.check(&step, budget.cells <= fixed.cells);
    Ok(())
}

/// One run, and what its JSON says.
fn measured(knee: &Path, options: &Options, words: &[&str], record: &Path) -> Result<Figures> {
    let mut command = Command::new(knee);
    command.arg("run").args(&options.workloads).args(words).args(["--quick", "--json", "--record"]);
    command.arg(record).arg("--output").arg(record.with_extension("html"));
    let done = shell::bounded(&mut command, RUN_MAX)?;
    let json: Value = serde_json::from_str(&done.stdout).with_context(|| {
        format!("{} printed no JSON: {}", shell::display(&command), done.stderr)
    })?;
    figures(&json).context("JSON without cells or tables")
}

fn figures(run: &Value) -> Option<Figures> {
    let cells = run["cells"].as_array()?;
    let mut rounds: HashMap<String, usize> = HashMap::new();
    for cell in cells {
        let key = &cell["key"];
        let series = [&key["workload"], &key["subject"], &key["parameters"], &key["point"]];
        *rounds.entry(format!("{series:?}")).or_default() += 1;
    }
    let nanoseconds: f64 = cells.iter().filter_map(|cell| cell["elapsed_ns"].as_f64()).sum();
    let mut widths = widths(run)?;
    widths.sort_by(f64::total_cmp);
    Some(Figures {
        cells: cells.len(),
        rounds: rounds.into_values().max()?,
        seconds: nanoseconds / 1e9,
        widest: *widths.last()?,
        middle: widths[widths.len() / 2],
    })
}

/// Half of each headline interval, as a share of its median; of a trajectory those of its last decade,
/// since its first calls are cold.
fn widths(run: &Value) -> Option<Vec<f64>> {
    let mut widths = Vec::new();
    for table in run["tables"].as_array()?.iter().filter(|table| table["headline"] == true) {
        let points: Vec<f64> =
            table["points"].as_array()?.iter().filter_map(Value::as_f64).collect();
        let last = points.last().copied().unwrap_or(0.0);
        let warm = if table["trajectory"] == true { last / 10.0 } else { 0.0 };
        let rows = table["rows"].as_array()?.iter();
        let figures = rows.flat_map(|row| row["cells"].as_array().into_iter().flatten());
        for figure in figures.filter(|figure| figure["point"].as_f64().is_some_and(|at| at >= warm))
        {
            let median = &figure["median"];
            let bound = |key: &str| median[key].as_f64();
            if let (Some(low), Some(value), Some(high)) =
                (bound("low"), bound("value"), bound("high"))
                && value > 0.0
            {
                widths.push((high - low) / 2.0 / value);
            }
        }
    }
    Some(widths)
}

fn markdown(precision: &str, budget: &Figures, fixed: &Figures) -> String {
    let mut text = String::from(
        "| run | cells | most rounds | time in cells | widest interval | middle interval |\n\
         | --- | --: | --: | --: | --: | --: |\n",
    );
    for (name, run) in [(format!("--precision {precision}"), budget), ("fixed".to_owned(), fixed)] {
        // Writing to a String can't fail.
        let _ = writeln!(
            text,
            "| {name} | {} | {} | {:.1} s | ±{:.1} % | ±{:.1} % |",
            run.cells,
            run.rounds,
            run.seconds,
            100.0 * run.widest,
            100.0 * run.middle
        );
    }
    let (cells, time) = (budget.cells as f64 / fixed.cells as f64, budget.seconds / fixed.seconds);
    let _ = writeln!(
        text,
        "\nThe budget took {:.0} % of the cells and {:.0} % of the time.",
        100.0 * cells,
        100.0 * time
    );
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn figures_are_read_off_the_json() {
        let cell = |point: u64, round: u64| {
            json!({"key": {"workload": "poll", "subject": "poll", "parameters": {}, "point": point,
                   "round": round}, "elapsed_ns": 500_000_000_u64})
        };
        let at = |point: u64, low: f64, high: f64| json!({"point": point, "median": {"low": low, "value": 10.0, "high": high}});
        let run = json!({
            "cells": [cell(1, 0), cell(2, 0), cell(2, 1)],
            "tables": [
                {"headline": true, "trajectory": false, "points": [1, 2],
                 "rows": [{"cells": [at(1, 9.0, 11.0), at(2, 8.0, 12.0)]}]},
                {"headline": false, "points": [1], "rows": [{"cells": [at(1, 0.0, 20.0)]}]},
            ],
        });
        let figures = figures(&run).unwrap();
        assert_eq!((figures.cells, figures.rounds), (3, 2));
        assert!((figures.seconds - 1.5).abs() < 1e-9);
        assert!((figures.widest - 0.2).abs() < 1e-9 && (figures.middle - 0.2).abs() < 1e-9);
    }

    #[test]
    fn flags_are_read_and_others_refused() {
        let parse = |text: &str| crate::bench::options::parse::<Options>(text);
        assert_eq!(parse("--precision 3% --rounds 40").unwrap().rounds, 40);
        assert_eq!(parse("--workloads poll,fork").unwrap().workloads, ["poll", "fork"]);
        assert!(parse("--pairs 3").is_err());
        assert!(parse("--rounds").is_err());
    }
}
