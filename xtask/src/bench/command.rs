//! Our runs of a command and hyperfine's, in turns: the mean of a run, and how far the two lie apart. The ratio is that
//! of medians: on a busy machine a single interrupted run moves a mean by more than the limit.

use super::limit::Limit;
use super::options::above_zero;
use super::table::{Figures, Row};
use super::{build_knee, in_turn, median};
use crate::shell;
use crate::tally::Tally;
use anyhow::{Context, Result};
use clap::Args;
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A run of ours may take that many times a run of hyperfine's, by the median of the pairs.
const LIMIT: Limit = Limit::Most(1.05);
/// Runs of a command in one turn.
const RUNS: usize = 60;
/// Commands that start cheaply, work, and need a shell.
const COMMANDS: [(&str, &str); 3] = [
    ("true", "true 1"),
    ("sort", "sort lines.txt"),
    ("shell", "i=0; while [ $i -lt 20000 ]; do i=$((i+1)); done"),
];

/// What was asked for.
#[derive(Debug, PartialEq, Eq, Args)]
pub struct Options {
    /// Turns of each
    #[arg(long, default_value_t = 5, value_parser = above_zero::<usize>)]
    pairs: usize,
}

/// The mean of a run and the standard deviation of its runs, in nanoseconds.
#[derive(Clone, Copy, Debug)]
#[expect(clippy::struct_field_names, reason = "units come last")]
struct Runs {
    mean_ns: f64,
    sigma_ns: f64,
    median_ns: f64,
}

/// Measures each command by both, and prints the table.
pub fn run(options: &Options, tally: &mut Tally) -> Result<()> {
    if shell::output(Command::new("hyperfine").arg("--version")).is_err() {
        tally.skip("command", "hyperfine is not installed (apt-get install hyperfine)");
        return Ok(());
    }
    let knee = build_knee(&shell::root(), &shell::target_dir()?)?;
    let scratch = tempfile::tempdir()?;
    let numbers = (0..30_000_u64).map(|n| format!("{}\n", n.wrapping_mul(2_654_435_761) % 30_000));
    fs::write(scratch.path().join("lines.txt"), numbers.collect::<String>())?;
    println!("| command | hyperfine, mean ± σ | knee, mean ± σ | medians, knee/hyperfine |");
    println!("| --- | --- | --- | --- |");
    for (name, command) in COMMANDS {
        let mut pairs = Vec::new();
        for turn in 0..options.pairs {
            let hyperfine = || hyperfine(scratch.path(), command);
            let ours = || ours(&knee, scratch.path(), command);
            pairs.push(in_turn(turn, hyperfine, ours)?);
        }
        judge(name, &pairs, tally);
    }
    Ok(())
}

/// Prints the line of a command, and holds it to the limit.
fn judge(name: &str, pairs: &[(Runs, Runs)], tally: &mut Tally) {
    let middle = |figure: &dyn Fn(&(Runs, Runs)) -> f64| {
        median(pairs.iter().map(figure).collect()).unwrap_or(f64::NAN)
    };
    let ratio = middle(&|(theirs, ours)| ours.median_ns / theirs.median_ns);
    let (theirs_ns, ours_ns) = (middle(&|pair| pair.0.mean_ns), middle(&|pair| pair.1.mean_ns));
    let (theirs_sigma, ours_sigma) =
        (middle(&|pair| pair.0.sigma_ns), middle(&|pair| pair.1.sigma_ns));
    let ms = |ns: f64| ns / 1e6;
    println!(
        "| {name} | {:.3} ± {:.3} ms | {:.3} ± {:.3} ms | {ratio:.3} |",
        ms(theirs_ns),
        ms(theirs_sigma),
        ms(ours_ns),
        ms(ours_sigma)
    );
    let apart = (ours_ns - theirs_ns).abs();
    if apart > theirs_sigma {
        tally.fail(format!("command {name}: the means are more than hyperfine's σ apart"));
    }
    let figures = |runs: &Runs| Figures::single(runs.median_ns);
    let pairs = pairs.iter().map(|(theirs, ours)| (figures(theirs), figures(ours))).collect();
    let row = Row { mechanism: name.to_owned(), setting: vec![], limit: LIMIT, pairs };
    row.judge(&format!("command {name}"), "hyperfine", "", tally);
}

fn hyperfine(directory: &Path, command: &str) -> Result<Runs> {
    let report = directory.join("hyperfine.json");
    let mut hyperfine = Command::new("hyperfine");
    hyperfine.current_dir(directory).args(["--warmup", "3", "--style", "none", "--runs"]);
    hyperfine.arg(RUNS.to_string()).arg("--export-json").arg(&report);
    // Without a shell where ours has none.
    hyperfine.args((!command.contains(';')).then_some("-N")).arg(command);
    shell::output(&mut hyperfine)?;
    let json: Value = serde_json::from_str(&fs::read_to_string(&report)?)?;
    let result = &json["results"][0];
    let seconds = |key: &str| result[key].as_f64().with_context(|| format!("hyperfine: no {key}"));
    Ok(Runs {
        mean_ns: seconds("mean")? * 1e9,
        sigma_ns: seconds("stddev")? * 1e9,
        median_ns: seconds("median")? * 1e9,
    })
}

fn ours(knee: &PathBuf, directory: &Path, command: &str) -> Result<Runs> {
    let mut run = Command::new(knee);
    run.current_dir(directory)
        .args(["run", "command", "--points", "1", "--rounds", "1", "--quiet"]);
    run.args(["--warmup", "3", "--time", "600ms", "--json", "--output", "page.html"]);
    run.args(["--record", "bench.db", "--input", "{n}.in", "--command"])
        .arg(format!("it={command}"));
    fs::write(directory.join("1.in"), "")?;
    let json: Value = serde_json::from_str(&shell::output(&mut run)?)?;
    let metrics = json["cells"][0]["metrics"].as_array().context("knee: no metrics")?;
    let elapsed = metrics.iter().find(|metric| metric["name"] == "elapsed");
    let samples = elapsed.and_then(|metric| metric["samples"].as_array()).context("no samples")?;
    let samples: Vec<f64> = samples.iter().filter_map(Value::as_f64).take(RUNS).collect();
    let mean_ns = samples.iter().sum::<f64>() / samples.len() as f64;
    let squares: f64 = samples.iter().map(|sample| (sample - mean_ns).powi(2)).sum();
    let sigma_ns = (squares / (samples.len().max(2) - 1) as f64).sqrt();
    let median_ns = median(samples).context("no samples")?;
    Ok(Runs { mean_ns, sigma_ns, median_ns })
}
