//! `knee simulate lock` compared with `knee run lock`: what the model says of this machine, and what the
//! machine says.

use super::options::above_zero;
use super::{build_knee, median};
use crate::shell;
use crate::tally::Tally;
use anyhow::{Context, Result};
use clap::Args;
use serde_json::Value;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

/// No single run takes longer than this.
const RUN_MAX: Duration = Duration::from_secs(1_200);
/// What the ranks of all figures are held to.
const CORRELATION_MIN: f64 = 0.85;
/// A lock that is that much slower at the last point than at one thread for each CPU has collapsed.
const COLLAPSE: f64 = 20.0;
/// A machine with more to do than this besides, for each CPU, is no witness.
const LOAD_MAX: f64 = 0.5;
/// How long that of a build may last.
const QUIET_WAIT_MAX: Duration = Duration::from_secs(240);

/// What was asked for.
#[derive(Args)]
pub struct Options {
    /// Rounds
    #[arg(long, default_value_t = 5, value_parser = above_zero::<usize>)]
    rounds: usize,
    /// Threads, as multiples of the CPUs
    #[arg(long, default_value = "1/2x,1x,2x,4x,16x")]
    threads: String,
    /// The scheduler's time slice that the model is given
    #[arg(long, value_name = "TIME", default_value = "4ms")]
    slice: String,
    /// Write the table to this file as well
    #[arg(long, value_name = "FILE")]
    output: Option<PathBuf>,
}

/// Acquisitions a second, by lock and threads: the median of the rounds.
type Rates = BTreeMap<(String, u64), f64>;

/// Runs both and prints the table.
pub fn run(options: &Options, tally: &mut Tally) -> Result<()> {
    let (root, target) = (shell::root(), shell::target_dir()?);
    let knee = build_knee(&root, &target)?;
    let load = load_after_builds();
    let scratch = tempfile::tempdir()?;
    let record = scratch.path().join("bench.db");
    let rounds = options.rounds.to_string();
    let common = ["--rounds", &rounds, "--json"];
    let simulated = ["simulate", "lock", "--slice", &options.slice, "--threads", &options.threads];
    let simulated = rates(&knee, &[&simulated, &common[..]].concat(), None)?;
    let measured = ["run", "lock", "--time", "200ms", "--points", &options.threads];
    let measured = rates(&knee, &[&measured, &common[..]].concat(), Some(&record))?;
    let pairs: Vec<(&(String, u64), f64, f64)> =
        measured.iter().filter_map(|(at, rate)| Some((at, *rate, *simulated.get(at)?))).collect();
    let text = markdown(&pairs);
    print!("\n{text}");
    if let Some(file) = &options.output {
        fs::write(file, &text).with_context(|| format!("can't write {}", file.display()))?;
    }
    if load > LOAD_MAX {
        let why = format!("the machine was busy (load {load:.1} for each CPU before it began)");
        tally.skip("bench simulate", &why);
    } else {
        judge(&pairs, tally);
    }
    Ok(())
}

/// The load once what was built before no longer counts, for each CPU.
fn load_after_builds() -> f64 {
    let begun = Instant::now();
    while load_per_cpu() > LOAD_MAX && begun.elapsed() < QUIET_WAIT_MAX {
        std::thread::sleep(Duration::from_secs(5));
    }
    load_per_cpu()
}

/// The load of the last minute, for each CPU; none where the system does not say.
fn load_per_cpu() -> f64 {
    let cpus = std::thread::available_parallelism().map_or(1, usize::from);
    let load_average = fs::read_to_string("/proc/loadavg").unwrap_or_default();
    let load = load_average.split_whitespace().next().and_then(|word| word.parse().ok());
    load.unwrap_or(0.0_f64) / cpus as f64
}

/// Runs knee, and reads the rates off its JSON.
fn rates(knee: &Path, words: &[&str], record: Option<&Path>) -> Result<Rates> {
    let mut command = Command::new(knee);
    command.args(words);
    if let Some(record) = record {
        let page = record.with_extension("html");
        command.arg("--record").arg(record).arg("--output").arg(page);
    }
    let done = shell::bounded(&mut command, RUN_MAX)?;
    let json: Value = serde_json::from_str(&done.stdout).with_context(|| {
        format!("{} printed no JSON: {}", shell::display(&command), done.stderr)
    })?;
    let mut all: BTreeMap<(String, u64), Vec<f64>> = BTreeMap::new();
    for cell in json["cells"].as_array().context("JSON without cells")? {
        let metrics = cell["metrics"].as_array().map_or(&[][..], Vec::as_slice);
        let rate = metrics.iter().find(|metric| metric["name"] == "acquisitions");
        let key = (cell["key"]["subject"].as_str(), cell["key"]["point"].as_u64());
        if let (Some(rate), (Some(lock), Some(threads))) = (rate, key) {
            let samples = rate["samples"].as_array().into_iter().flatten();
            let samples = samples.filter_map(Value::as_f64);
            all.entry((lock.to_owned(), threads)).or_default().extend(samples);
        }
    }
    Ok(all.into_iter().filter_map(|(at, rates)| Some((at, median(rates)?))).collect())
}

/// The table, with the correlation of ranks below it.
fn markdown(pairs: &[(&(String, u64), f64, f64)]) -> String {
    let mut text = String::from(
        "| lock | threads | measured /s | simulated /s | measured ÷ simulated |\n\
         | --- | --: | --: | --: | --: |\n",
    );
    for ((lock, threads), measured, simulated) in pairs {
        let ratio = measured / simulated;
        // Writing to a String can't fail.
        let _ =
            writeln!(text, "| {lock} | {threads} | {measured:.0} | {simulated:.0} | {ratio:.2} |");
    }
    let _ = writeln!(text, "\nCorrelation of ranks: {:.3}", correlation(pairs));
    text
}

/// The order of all figures, and for each lock whether it collapses.
fn judge(pairs: &[(&(String, u64), f64, f64)], tally: &mut Tally) {
    let correlation = correlation(pairs);
    let step = format!("bench simulate: the ranks' correlation is {correlation:.3}");
    tally.check(&step, correlation >= CORRELATION_MIN);
    let mut locks: Vec<&str> = pairs.iter().map(|(at, ..)| at.0.as_str()).collect();
    locks.dedup();
    let cpus = std::thread::available_parallelism().map_or(1, usize::from) as u64;
    for lock in locks {
        let own = || pairs.iter().filter(|(at, ..)| at.0 == lock);
        let (Some(first), Some(last)) = (own().find(|(at, ..)| at.1 == cpus), own().next_back())
        else {
            continue;
        };
        let measured = first.1 / last.1 > COLLAPSE;
        let simulated = first.2 / last.2 > COLLAPSE;
        let step =
            format!("bench simulate: {lock} collapses here: {measured}, by the model: {simulated}");
        tally.check(&step, measured == simulated);
    }
}

/// Spearman's: 1 where both order all figures alike.
fn correlation(pairs: &[(&(String, u64), f64, f64)]) -> f64 {
    let ranks = |figures: &[f64]| -> Vec<f64> {
        let below =
            |figure: f64| figures.iter().filter(|&&candidate| candidate < figure).count() as f64;
        let alike = |figure: f64| {
            figures.iter().filter(|candidate| candidate.total_cmp(&figure).is_eq()).count()
        };
        figures
            .iter()
            .map(|&figure| below(figure) + f64::midpoint(alike(figure) as f64, 1.0))
            .collect()
    };
    let (left, right): (Vec<f64>, Vec<f64>) =
        pairs.iter().map(|&(_, measured, simulated)| (measured, simulated)).unzip();
    let (left, right) = (ranks(&left), ranks(&right));
    let mean = f64::midpoint(pairs.len() as f64, 1.0);
    let product = |left: &[f64], right: &[f64]| -> f64 {
        left.iter().zip(right).map(|(a, b)| (a - mean) * (b - mean)).sum()
    };
    product(&left, &right) / (product(&left, &left) * product(&right, &right)).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranks_are_correlated_as_by_hand() {
        let at = (String::new(), 1);
        let correlation = |figures: &[(f64, f64)]| {
            let pairs: Vec<_> = figures.iter().map(|&(a, b)| (&at, a, b)).collect();
            correlation(&pairs)
        };
        // 1 - 6 · Σd² / (n (n² - 1)), with d of 0, 1, 1, 0.
        assert!(
            (correlation(&[(1.0, 10.0), (2.0, 30.0), (3.0, 20.0), (4.0, 40.0)]) - 0.8).abs()
                < 1e-12
        );
        assert!((correlation(&[(1.0, 9.0), (2.0, 5.0), (3.0, 1.0)]) + 1.0).abs() < 1e-12);
    }

    #[test]
    fn flags_are_read_and_others_refused() {
        let parse = |text: &str| crate::bench::options::parse::<Options>(text);
        assert_eq!(parse("--rounds 3 --slice 2ms").unwrap().rounds, 3);
        assert!(parse("--pairs 3").is_err());
        assert!(parse("--rounds").is_err());
    }
}
