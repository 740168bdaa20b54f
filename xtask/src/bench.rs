//! Our loop beside a plain C loop of the same system calls, run in turn.

mod options;
mod table;

use crate::shell;
use crate::tally::Tally;
use anyhow::{Context, Result, bail};
use options::Options;
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;
use table::{Figures, Row, Verdict};

/// The highest ratio ours/C that the harness may have, for the mechanisms of [`HELD`].
const RATIO_MAX: f64 = 1.03;

/// Mechanisms that are held to [`RATIO_MAX`].
const HELD: [&str; 3] = ["select", "poll", "epoll-level"];

/// Exit status of a C loop or of knee when the mechanism can't be used here.
const NOT_POSSIBLE: i32 = 5;

/// No single run takes longer than this.
const RUN_MAX: Duration = Duration::from_secs(180);

/// Measures and prints the table of ratios.
pub fn harness(args: &[String], tally: &mut Tally) -> Result<()> {
    let options = Options::parse(args)?;
    let root = shell::root();
    let target = shell::target_dir()?;
    let loops = compile(&root.join("benches/c"), &target.join("bench-c"))?;
    let knee = build_knee(&root, &target)?;
    let scratch = tempfile::tempdir()?;
    let bench = Bench { options: &options, knee, record: scratch.path().join("harness.db") };

    let mut rows = Vec::new();
    for (mechanism, program) in &loops {
        if !options.wants(mechanism) {
            continue;
        }
        for &point in &options.points {
            let step = format!("harness {mechanism} at {point}");
            match bench.pairs(mechanism, program, point)? {
                Ok(row) => {
                    println!("{step}: {}", row.in_words());
                    judge(&step, &row, tally);
                    rows.push(row);
                }
                Err(why) => tally.skip(&step, &why),
            }
        }
    }
    let text = table::markdown(&rows, &options);
    print!("\n{text}");
    if let Some(file) = &options.output {
        fs::write(file, text).with_context(|| format!("can't write {}", file.display()))?;
    }
    Ok(())
}

/// Counts a measured row, against the limit where there is one.
fn judge(step: &str, row: &Row, tally: &mut Tally) {
    let held = HELD.contains(&row.mechanism.as_str());
    match row.verdict(if held { RATIO_MAX } else { f64::INFINITY }) {
        Verdict::Held => tally.pass(1),
        Verdict::Over => tally.fail(format!("{step}: over {RATIO_MAX}: {}", row.in_words())),
        Verdict::Undecided => {
            let why = format!("undecided: {}; more --pairs on a quiet machine", row.in_words());
            tally.skip(step, &why);
        }
    }
}

/// Compiles each C loop; returns mechanism and program, in order of name.
fn compile(sources: &Path, into: &Path) -> Result<Vec<(String, PathBuf)>> {
    fs::create_dir_all(into)?;
    let compiler = std::env::var("CC").unwrap_or_else(|_| "cc".to_owned());
    let mut loops = Vec::new();
    for entry in fs::read_dir(sources).context("the C loops are missing")? {
        let source = entry?.path();
        if source.extension().is_none_or(|extension| extension != "c") {
            continue;
        }
        let name = source.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let program = into.join(&name);
        let mut command = Command::new(&compiler);
        command.args(["-std=gnu11", "-O2", "-Wall", "-Wextra", "-o"]).arg(&program).arg(&source);
        shell::output(&mut command)?;
        loops.push((name, program));
    }
    loops.sort();
    Ok(loops)
}

fn build_knee(root: &Path, target: &Path) -> Result<PathBuf> {
    let mut command = shell::cargo(root, "build");
    if !shell::succeeds(command.args(["--release", "--package", "knee"]))? {
        bail!("knee does not build");
    }
    Ok(target.join("release").join("knee"))
}

/// What the runs of a bench have in common.
struct Bench<'a> {
    options: &'a Options,
    knee: PathBuf,
    record: PathBuf,
}

/// What a run found, or the reason why there is nothing here.
type Found = Result<Figures, String>;

impl Bench<'_> {
    /// Runs both in turn: A B, B A, A B, … so that a drift of the machine hits both alike.
    fn pairs(&self, mechanism: &str, program: &Path, point: u64) -> Result<Result<Row, String>> {
        let mut row = Row { mechanism: mechanism.to_owned(), point, pairs: Vec::new() };
        for pair in 0..self.options.pairs {
            let (c, ours) = if pair % 2 == 0 {
                let c = self.plain(program, point)?;
                (c, self.ours(mechanism, point)?)
            } else {
                let ours = self.ours(mechanism, point)?;
                (self.plain(program, point)?, ours)
            };
            match (c, ours) {
                (Ok(c), Ok(ours)) => row.pairs.push((c, ours)),
                (Err(why), _) => return Ok(Err(format!("the C loop: {why}"))),
                (_, Err(why)) => return Ok(Err(why)),
            }
        }
        Ok(Ok(row))
    }

    /// One run of a C loop.
    fn plain(&self, program: &Path, point: u64) -> Result<Found> {
        let mut command = self.options.pinned(program);
        command.args([point.to_string(), "1".to_owned(), self.options.time_ms.to_string()]);
        let Some(text) = run(&mut command)? else {
            return Ok(Err("not possible here".to_owned()));
        };
        let samples: Result<Vec<f64>, _> = text.lines().map(str::parse).collect();
        let samples = samples.context("a C loop printed something that is not a figure")?;
        Ok(Figures::of(samples).ok_or_else(|| "printed no figures".to_owned()))
    }

    /// One run of our loop: the workload itself, in a worker of knee's own.
    fn ours(&self, mechanism: &str, point: u64) -> Result<Found> {
        let mut command = self.options.pinned(&self.knee);
        command.args(["run", "poll", "--subjects", mechanism, "--points", &point.to_string()]);
        command.args(["--rounds", "1", "--time", &format!("{}ms", self.options.time_ms)]);
        command.args(["--json", "--record"]).arg(&self.record);
        let Some(text) = run(&mut command)? else {
            return Ok(Err("not possible here".to_owned()));
        };
        let run: Value = serde_json::from_str(&text).context("knee run --json")?;
        Ok(loop_samples(&run, mechanism)
            .and_then(Figures::of)
            .ok_or_else(|| format!("knee measured no loop: {}", void_reason(&run))))
    }
}

/// Runs a command to its end. None when it says that this is not possible here.
fn run(command: &mut Command) -> Result<Option<String>> {
    let done = shell::bounded(command, RUN_MAX)?;
    match done.status.code() {
        Some(0) => Ok(Some(done.stdout)),
        Some(NOT_POSSIBLE) => Ok(None),
        _ => bail!("{} failed ({}): {}", shell::display(command), done.status, done.stderr.trim()),
    }
}

/// The samples of the metric `loop` in the cell of that subject, wherever in the output it is.
fn loop_samples(value: &Value, subject: &str) -> Option<Vec<f64>> {
    if value["key"]["subject"] == subject {
        let metrics = value["metrics"].as_array()?;
        let samples = metrics.iter().find(|metric| metric["name"] == "loop")?["samples"].as_array();
        return samples?.iter().map(Value::as_f64).collect();
    }
    let mut children: Box<dyn Iterator<Item = &Value>> = match value {
        Value::Array(list) => Box::new(list.iter()),
        Value::Object(map) => Box::new(map.values()),
        _ => return None,
    };
    children.find_map(|child| loop_samples(child, subject))
}

/// Why a cell is void, or `no reason given`.
fn void_reason(value: &Value) -> &str {
    fn find(value: &Value) -> Option<&str> {
        match value {
            Value::Object(map) => {
                map.get("reason").and_then(Value::as_str).or_else(|| map.values().find_map(find))
            }
            Value::Array(list) => list.iter().find_map(find),
            _ => None,
        }
    }
    find(value).unwrap_or("no reason given")
}

/// The middle value, or the mean of the middle two; none of nothing.
fn median(mut values: Vec<f64>) -> Option<f64> {
    values.sort_by(f64::total_cmp);
    let upper = *values.get(values.len() / 2)?;
    let lower = values[(values.len() - 1) / 2];
    Some(f64::midpoint(lower, upper))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn the_median_is_the_middle() {
        assert_eq!(median(vec![]), None);
        assert_eq!(median(vec![3.0, 1.0, 2.0]), Some(2.0));
        assert_eq!(median(vec![4.0, 1.0, 2.0, 3.0]), Some(2.5));
    }

    #[test]
    fn the_loop_is_found_and_nothing_else() {
        let cell = |subject, samples| {
            json!({"key": {"subject": subject}, "metrics": [
            {"name": "wait", "samples": [9.0]}, {"name": "loop", "samples": samples}]})
        };
        let run =
            json!({"run": {"cells": [cell("null", json!([7.0])), cell("poll", json!([1, 2.5]))]}});
        assert_eq!(loop_samples(&run, "poll"), Some(vec![1.0, 2.5]));
        assert_eq!(loop_samples(&run, "select"), None);
        let void = json!({"cells": [{"outcome": {"outcome": "void", "reason": "did not finish"}}]});
        assert_eq!(void_reason(&void), "did not finish");
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn every_c_loop_compiles_and_delivers_every_event() {
        let folder = tempfile::tempdir().unwrap();
        let loops = compile(&shell::root().join("benches/c"), folder.path()).unwrap();
        assert!(loops.len() >= 6, "{loops:?}");
        for (name, program) in loops {
            for [watched, active] in [["1", "1"], ["40", "7"], ["300", "300"]] {
                let printed = run(Command::new(&program).args([watched, active, "2"])).unwrap();
                let Some(printed) = printed else {
                    println!("{name} is not possible here");
                    break;
                };
                let samples: Vec<f64> = printed.lines().map(|line| line.parse().unwrap()).collect();
                assert!(samples.len() >= 5 && samples.iter().all(|ns| *ns > 0.0), "{name}");
            }
            let error = run(Command::new(&program).args(["2", "3", "1"])).unwrap_err().to_string();
            assert!(error.contains("more active than watched"), "{error}");
        }
    }
}
