//! What sampling stacks costs the workloads, what of that a single sample costs us and `perf record`, and whether our
//! samples say what perf's say.
//!
//! The cost of a workload is the CPU time of an operation with and without samples at the usual rate, in turns. CPU time
//! has the interrupts of the samples, but not the time in which other programs ran. That of a sample is measured at a
//! higher rate.

use super::limit::Limit;
use super::options::above_zero;
use super::table::{Figures, Row};
use super::{RUN_MAX, build_example, build_knee, c_compiler, in_turn, median};
use crate::shell;
use crate::tally::Tally;
use anyhow::{Context, Result, bail};
use clap::Args;
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Samples may cost that much of the CPU time of an operation.
const COST: Limit = Limit::Most(1.01);
/// The share of a function may differ from perf's by so much.
const SHARE_DIFFERENCE_MAX: f64 = 0.03;
/// Functions that are compared: those with most samples by perf. A few of them only call the others.
const FUNCTIONS_COMPARED: usize = 12;
/// Samples a second: next to perf, and for the cost of a sample.
const FREQUENCY_HZ: &str = "997";
const FREQUENCY_HIGH_HZ: &str = "9973";
/// Turns of both: what a poll costs differs from one process to the next.
const TURNS: usize = 7;
/// CPU seconds of the program that both sample: for the cost of a sample, and for shares.
const COST_S: &str = "1";
const SHARES_S: &str = "2";
/// A sample of ours may cost that many times what one of perf's does.
const COST_OF_PERF_MAX: f64 = 1.25;

/// The shares of a function: with what it calls, and by itself.
type Shares = [f64; 2];

/// A workload, how it is run, and the metric of its CPU time; none where the cell's own usage has it.
const WORKLOADS: [(&str, &[&str], Cpu); 3] = [
    ("poll", &["--points", "1k", "--time", "500ms"], Cpu::UsageOf("loop")),
    (
        "pipetest",
        &["--points", "10", "--pipes", "1000", "--spread", "random", "--time", "500ms"],
        Cpu::UsageOf("passes"),
    ),
    ("dead", &["--points", "100", "--workers", "1", "--time", "500ms"], Cpu::Metric("cpu")),
];

/// Where the CPU time of an operation is in a cell.
#[derive(Clone, Copy, Debug)]
enum Cpu {
    /// In the usage of this metric, of all its operations.
    UsageOf(&'static str),
    /// It is a metric.
    Metric(&'static str),
}

/// What was asked for.
#[derive(Debug, PartialEq, Eq, Args)]
pub struct Options {
    /// Turns of each
    #[arg(long, default_value_t = 21, value_parser = above_zero::<usize>)]
    pairs: usize,
    /// The program to measure, in place of one that is built
    #[arg(long)]
    knee: Option<PathBuf>,
}

/// Measures both, and prints two tables.
pub fn run(options: &Options, tally: &mut Tally) -> Result<()> {
    let (root, target) = (shell::root(), shell::target_dir()?);
    let sampler = build_example("profile")?;
    let knee = options.knee.clone().map_or_else(|| build_knee(&root, &target), Ok)?;
    let scratch = tempfile::tempdir()?;
    if let Err(error) = shell::output(Command::new(&sampler).args([FREQUENCY_HZ, "true"])) {
        tally.skip("profile", &format!("stacks can't be sampled here: {error}"));
        return Ok(());
    }
    let usual = shell::output(&mut Command::new(&sampler))?;
    let usual_hz = usual.trim();
    println!(
        "| workload | CPU time of an operation | with {usual_hz} samples/s | ratio (95 % CI) |"
    );
    println!("| --- | ---: | ---: | --- |");
    for (workload, words, cpu) in WORKLOADS {
        let record = scratch.path().join("bench.db");
        let measure = |sampled: bool| {
            let mut command = Command::new(if sampled { &sampler } else { &knee });
            if sampled {
                command.arg(usual_hz).arg(&knee);
            }
            command.args(["run", workload, "--subjects", "poll"]);
            command.args(words).args(["--rounds", "1", "--json", "--record"]).arg(&record);
            cpu_ns(&mut command, cpu)
        };
        let mut pairs = Vec::new();
        for turn in 0..options.pairs {
            pairs.push(in_turn(turn, || measure(false), || measure(true))?);
        }
        judge_cost(workload, usual_hz, &pairs, tally);
    }
    let busy = scratch.path().join("busy");
    let mut compile = c_compiler();
    compile.args(["-O1", "-fomit-frame-pointer", "-o"]).arg(&busy);
    shell::output(compile.arg(root.join("benches/profile/busy.c")))?;
    let data = scratch.path().join("perf.data");
    let mut record = perf_record(&data, FREQUENCY_HZ);
    if let Err(error) = shell::output(record.arg(&busy).arg("0")) {
        let why = format!("perf can't run here (apt-get install linux-perf): {error}");
        tally.skip("profile next to perf", &why);
        return Ok(());
    }
    agreement(&busy, &data, &sampler, tally)?;
    cost_of_samples(&busy, &data, &sampler, tally)
}

fn perf_record(data: &Path, frequency_hz: &str) -> Command {
    let mut record = Command::new("perf");
    record.args(["record", "-q", "-F", frequency_hz, "--call-graph", "dwarf", "-o"]);
    record.arg(data).arg("--");
    record
}

/// What a sample costs, ours and perf's.
fn cost_of_samples(busy: &Path, data: &Path, sampler: &Path, tally: &mut Tally) -> Result<()> {
    // The CPU seconds of a round, inverted.
    let rounds = |mut command: Command| -> Result<f64> {
        let done = shell::bounded(&mut command, RUN_MAX)?;
        done.stdout.trim().parse().context("a program printed no number of rounds")
    };
    let after = |mut command: Command| {
        command.arg(busy).arg(COST_S);
        command
    };
    let mut of_plain = Vec::new();
    let mut of_ours = Vec::new();
    let mut of_perf = Vec::new();
    for _ in 0..TURNS {
        let mut plain = Command::new(busy);
        plain.arg(COST_S);
        of_plain.push(rounds(plain)?);
        let mut ours = Command::new(sampler);
        ours.arg(FREQUENCY_HIGH_HZ);
        of_ours.push(rounds(after(ours))?);
        of_perf.push(rounds(after(perf_record(data, FREQUENCY_HIGH_HZ)))?);
    }
    let frequency_hz: f64 = FREQUENCY_HIGH_HZ.parse()?;
    let plain = median(of_plain).unwrap_or(f64::NAN);
    let cost_us =
        |rounds: Vec<f64>| 1e6 * (1.0 - median(rounds).unwrap_or(f64::NAN) / plain) / frequency_hz;
    let (ours_us, perf_us) = (cost_us(of_ours), cost_us(of_perf));
    println!(
        "\nCPU time of a sample with its stack: ours {ours_us:.1} µs, perf record {perf_us:.1} µs"
    );
    tally.check("profile: a sample costs what perf's does", ours_us <= COST_OF_PERF_MAX * perf_us);
    Ok(())
}

/// The CPU time of an operation in the only cell of a run.
fn cpu_ns(command: &mut Command, cpu: Cpu) -> Result<f64> {
    let done = shell::bounded(command, RUN_MAX)?;
    if !done.status.success() {
        bail!("{} failed: {}", shell::display(command), done.stderr.trim());
    }
    let run: Value = serde_json::from_str(&done.stdout).context("knee run --json")?;
    cpu_of(&run, cpu).with_context(|| format!("no CPU time in {}", shell::display(command)))
}

fn cpu_of(run: &Value, cpu: Cpu) -> Option<f64> {
    let cells = run["cells"].as_array()?;
    let metrics =
        cells.iter().find(|cell| cell["key"]["subject"] == "poll")?["metrics"].as_array()?;
    let metric = |name: &str| metrics.iter().find(|metric| metric["name"] == name);
    match cpu {
        Cpu::Metric(name) => {
            median(metric(name)?["samples"].as_array()?.iter().filter_map(Value::as_f64).collect())
        }
        Cpu::UsageOf(name) => {
            let metric = metric(name)?;
            let usage = |key: &str| metric["usage"][key].as_f64();
            Some((usage("user_ns")? + usage("system_ns")?) / metric["operations"].as_f64()?)
        }
    }
}

/// Prints the line of a workload, and holds it to the limit.
fn judge_cost(workload: &str, hz: &str, pairs: &[(f64, f64)], tally: &mut Tally) {
    let middle = |figure: &dyn Fn(&(f64, f64)) -> f64| {
        median(pairs.iter().map(figure).collect()).unwrap_or(f64::NAN)
    };
    let figures = Figures::single;
    let row = Row {
        mechanism: workload.to_owned(),
        setting: vec![],
        limit: COST,
        pairs: pairs.iter().map(|pair| (figures(pair.0), figures(pair.1))).collect(),
    };
    println!(
        "| {workload} | {:.0} ns | {:.0} ns | {} |",
        middle(&|pair| pair.0),
        middle(&|pair| pair.1),
        row.with_interval()
    );
    row.judge(&format!("profile {workload} at {hz} Hz"), "without samples", "", tally);
}

/// Compares the shares of the functions of a program, with what they call and by themselves, with perf's: the medians of all
/// turns.
fn agreement(busy: &Path, data: &Path, sampler: &Path, tally: &mut Tally) -> Result<()> {
    let fields = "overhead_children,overhead,sym";
    let report = ["report", "--stdio", "--children", "--no-inline", "-g", "none", "-F", fields];
    let (mut perf, mut ours) = (Vec::new(), Vec::new());
    for _ in 0..TURNS {
        shell::output(perf_record(data, FREQUENCY_HZ).arg(busy).arg(SHARES_S))?;
        let mut command = Command::new("perf");
        command.args(report).args(["-t", "\t", "-i"]).arg(data);
        perf.push(perf_shares(&shell::output(&mut command)?));
        let mut command = Command::new(sampler);
        command.arg(FREQUENCY_HZ).arg(busy).arg(SHARES_S);
        ours.push(our_shares(&shell::bounded(&mut command, RUN_MAX)?.stderr));
    }
    println!("\n| function | perf record | ours | points | perf, itself | ours | points |");
    println!("| --- |{}", " ---: |".repeat(6));
    let functions: Vec<&String> =
        perf[0].iter().map(|(function, _)| function).take(FUNCTIONS_COMPARED).collect();
    for function in &functions {
        let columns = [0, 1].map(|column| {
            let [perf, ours] = [&perf, &ours].map(|turns| share(turns, function, column));
            let apart = ours - perf;
            let step = format!("profile agreement: {function} is {apart:+.3} from perf's");
            tally.check(&step, apart.abs() <= SHARE_DIFFERENCE_MAX);
            format!("{:.1} % | {:.1} % | {:+.1}", 100.0 * perf, 100.0 * ours, 100.0 * apart)
        });
        println!("| {function} | {} |", columns.join(" | "));
    }
    if functions.len() < FUNCTIONS_COMPARED {
        tally.fail("profile agreement: perf named too few functions");
    }
    Ok(())
}

/// The share of a function in all turns, the median of them.
fn share(turns: &[Vec<(String, Shares)>], function: &str, column: usize) -> f64 {
    let in_turn = |turn: &Vec<(String, Shares)>| {
        turn.iter().find(|(name, _)| name == function).map_or(0.0, |(_, shares)| shares[column])
    };
    median(turns.iter().map(in_turn).collect()).unwrap_or_default()
}

/// Two shares in percent and `[k] sock_poll`, with tabs between them; the largest first.
fn perf_shares(report: &str) -> Vec<(String, Shares)> {
    let lines = report.lines().filter(|line| !line.starts_with('#'));
    let shares = |line: &str| {
        let columns: Vec<&str> = line.split('\t').map(str::trim).collect();
        let [inclusive, itself, symbol] = columns[..] else { return None };
        let share = |text: &str| text.strip_suffix('%')?.parse::<f64>().ok();
        let (_, function) = symbol.split_once(' ')?;
        Some((function.trim().to_owned(), [inclusive, itself].map(share)))
    };
    let both = |(function, [inclusive, itself]): (String, [Option<f64>; 2])| {
        Some((function, [inclusive? / 100.0, itself? / 100.0]))
    };
    lines.filter_map(shares).filter_map(both).collect()
}

/// Two shares, a function and its module, with tabs between them.
fn our_shares(table: &str) -> Vec<(String, Shares)> {
    let share = |line: &str| {
        let mut columns = line.split('\t');
        let shares = [columns.next()?.parse().ok()?, columns.next()?.parse().ok()?];
        Some((columns.next()?.to_owned(), shares))
    };
    table.lines().filter(|line| !line.starts_with('#')).filter_map(share).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn the_cpu_time_of_an_operation_is_in_a_metric_or_in_its_usage() {
        let usage = json!({ "user_ns": 100, "system_ns": 900 });
        let run = json!({ "cells": [
            { "key": { "subject": "null" }, "metrics": [] },
            { "key": { "subject": "poll" }, "metrics": [
                { "name": "loop", "operations": 10, "usage": usage },
                { "name": "cpu", "samples": [5.0, 7.0, 6.0] },
            ] },
        ] });
        assert_eq!(cpu_of(&run, Cpu::UsageOf("loop")), Some(100.0));
        assert_eq!(cpu_of(&run, Cpu::Metric("cpu")), Some(6.0));
        assert_eq!(cpu_of(&run, Cpu::Metric("wait")), None);
    }

    #[test]
    fn shares_are_read_from_both() {
        let report =
            "# comment\n\n    50.00%\t 25.00%\t[k] sock_poll\n     1.00%\t0.00%\t[.] main\n";
        let wanted = [("sock_poll".to_owned(), [0.5, 0.25]), ("main".to_owned(), [0.01, 0.0])];
        assert_eq!(perf_shares(report), wanted);
        let table = "# 9 samples\n0.5\t0.31310\tsock_poll\tkernel\n0.2\t0.01000\t\tlibc.so.6\n";
        assert_eq!(our_shares(table)[0], ("sock_poll".to_owned(), [0.5, 0.3131]));
    }

    #[test]
    fn a_cost_is_within_beyond_or_undecided() {
        let pairs =
            |ratios: &[f64]| ratios.iter().map(|ratio| (100.0, 100.0 * ratio)).collect::<Vec<_>>();
        let mut tally = Tally::default();
        judge_cost("poll", "997", &pairs(&[1.002; 9]), &mut tally);
        assert_eq!(tally.failed(), 0);
        judge_cost(
            "poll",
            "997",
            &pairs(&[0.9, 1.0, 1.1, 0.95, 1.05, 1.01, 1.0, 1.2, 0.8]),
            &mut tally,
        );
        assert_eq!(tally.failed(), 0, "undecided");
        judge_cost("poll", "997", &pairs(&[1.05; 9]), &mut tally);
        assert_eq!(tally.failed(), 1);
    }
}
