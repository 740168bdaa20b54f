//! How often `knee compare` cries wolf, and what it finds: the same thing measured many times over and
//! compared with itself, as it is and with one subject made slower. Once with every run compared with the
//! one before it, and once with pairs that were measured in turns.
//!
//! A slowdown is put into a run's own figures: each sample of one subject is taken that many times, with
//! all the noise that it has. Nothing else of the run is touched.

use super::build_knee;
use super::options::above_zero;
use crate::shell;
use crate::tally::Tally;
use anyhow::{Context, Result, bail};
use clap::Args;
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;

/// No single run takes longer than this.
const RUN_MAX: Duration = Duration::from_secs(600);
/// Of all series compared with themselves, so many may be called faster or slower.
const FALSE_ALARMS_MAX: f64 = 0.01;

/// What is measured again and again, in each workload's usual number of rounds: a steady one, and two
/// whose every call is timed while the state builds up.
const SUITE: &str = r#"
[suite.compare]
time = "30ms"

[[suite.compare.workloads]]
name = "poll"
subjects = ["poll", "epoll-level", "epoll-edge", "io_uring-multishot"]
points = ["100", "500"]

[[suite.compare.workloads]]
name = "socket"
points = ["5000"]

[[suite.compare.workloads]]
name = "mmap"
points = ["5000"]
"#;

/// What one subject is slowed by, and the margin that it is looked for with.
const SLOWED: [(f64, &str); 4] = [(1.03, "1%"), (1.03, "5%"), (1.05, "5%"), (1.10, "5%")];

/// How pairs of runs come about.
struct Way {
    /// The record's name in the directory.
    name: &'static str,
    about: &'static str,
    turns: bool,
}

const WAYS: [Way; 2] = [
    Way { name: "apart", about: "One after the other", turns: false },
    Way { name: "turns", about: "In turns (`knee ab`)", turns: true },
];

/// What was asked for.
#[derive(Args)]
pub struct Options {
    /// Comparisons of each kind
    #[arg(long, default_value_t = 12, value_parser = above_zero::<usize>)]
    comparisons: usize,
    /// Keep the records in this directory
    #[arg(long, value_name = "DIR")]
    records: Option<PathBuf>,
    /// Write the table to this file as well
    #[arg(long, value_name = "FILE")]
    output: Option<PathBuf>,
}

/// A series: its workload, parameters, metric and subject.
type Series = [String; 4];

/// Verdicts by series, of headline metrics, and those of their points.
#[derive(Default)]
struct Verdicts {
    series: BTreeMap<Series, (String, f64)>,
    points: BTreeMap<String, usize>,
}

/// Measures what is missing, compares all of it, and prints the tables.
pub fn run(options: &Options, tally: &mut Tally) -> Result<()> {
    let (root, target) = (shell::root(), shell::target_dir()?);
    let scratch = tempfile::tempdir()?;
    let records = options.records.clone().unwrap_or_else(|| scratch.path().join("records"));
    fs::create_dir_all(&records).with_context(|| format!("can't make {}", records.display()))?;
    let mut text = String::new();
    for way in &WAYS {
        let record = records.join(way.name).with_extension("db");
        let bench = Bench { knee: build_knee(&root, &target)?, scratch: &scratch, record, way };
        let (alike, slowed) = bench.all_compared(options.comparisons)?;
        let what = format!(
            "bench compare, {}: more than 1 % of series compared with themselves are called different",
            way.name
        );
        tally.check(what.as_str(), alike.share() <= FALSE_ALARMS_MAX);
        text.push_str(&markdown(way, &alike, &slowed));
    }
    print!("\n{text}");
    if let Some(file) = &options.output {
        fs::write(file, &text).with_context(|| format!("can't write {}", file.display()))?;
    }
    Ok(())
}

/// What comparisons of the same with the same came to.
#[derive(Default)]
struct Alike {
    comparisons: usize,
    with_alarm: usize,
    verdicts: BTreeMap<String, usize>,
    points: BTreeMap<String, usize>,
}

impl Alike {
    fn add(&mut self, verdicts: &Verdicts) {
        self.comparisons += 1;
        let mut alarm = false;
        for (series, (verdict, ratio)) in &verdicts.series {
            *self.verdicts.entry(verdict.clone()).or_default() += 1;
            if is_alarm(verdict) {
                println!("{}: {verdict}, ×{ratio:.3}", series.join(" "));
                alarm = true;
            }
        }
        for (verdict, count) in &verdicts.points {
            *self.points.entry(verdict.clone()).or_default() += count;
            alarm |= *count > 0 && is_alarm(verdict);
        }
        self.with_alarm += usize::from(alarm);
    }

    /// How large a part of the series was called faster or slower.
    fn share(&self) -> f64 {
        let all: usize = self.verdicts.values().sum();
        let false_ones: usize = alarms(&self.verdicts);
        false_ones as f64 / all.max(1) as f64
    }

    fn in_words(&self) -> String {
        let (series, points) = (alarms(&self.verdicts), alarms(&self.points));
        format!(
            "{series} false alarms in {} series, {points} in {} points, {} of {} comparisons with any",
            self.verdicts.values().sum::<usize>(),
            self.points.values().sum::<usize>(),
            self.with_alarm,
            self.comparisons
        )
    }
}

fn is_alarm(verdict: &str) -> bool {
    matches!(verdict, "faster" | "slower")
}

fn alarms(verdicts: &BTreeMap<String, usize>) -> usize {
    let alarms = verdicts.iter().filter(|(verdict, _)| is_alarm(verdict));
    alarms.map(|(_, count)| count).sum()
}

/// What comparisons with one slowed subject came to, of that subject.
#[derive(Default)]
struct Slowed {
    verdicts: BTreeMap<String, usize>,
    sizes: Vec<f64>,
}

impl Slowed {
    fn add(&mut self, verdicts: &Verdicts, series: &Series, factor: f64) {
        let Some((verdict, ratio)) = verdicts.series.get(series) else { return };
        *self.verdicts.entry(verdict.clone()).or_default() += 1;
        // Of a rate, more is better: made slower, it is less.
        let ratio = if *ratio < 1.0 / factor.sqrt() { 1.0 / ratio } else { *ratio };
        if verdict == "slower" {
            self.sizes.push(ratio);
        }
    }

    fn share(&self, verdict: &str) -> String {
        let all: usize = self.verdicts.values().sum();
        let count = self.verdicts.get(verdict).copied().unwrap_or_default();
        format!("{:.0} %", count as f64 * 100.0 / all.max(1) as f64)
    }
}

struct Bench<'a> {
    knee: PathBuf,
    scratch: &'a tempfile::TempDir,
    record: PathBuf,
    way: &'a Way,
}

impl Bench<'_> {
    /// Compares so many pairs, as they are and with one series after the other made slower.
    fn all_compared(&self, comparisons: usize) -> Result<(Alike, Vec<Slowed>)> {
        let mut alike = Alike::default();
        let mut slowed: Vec<Slowed> = SLOWED.iter().map(|_| Slowed::default()).collect();
        for (turn, [base, new]) in self.pairs(comparisons)?.into_iter().enumerate() {
            let verdicts = self.compared(&base, &new, "5%")?;
            let all: Vec<Series> = verdicts.series.keys().cloned().collect();
            if all.is_empty() {
                bail!("nothing was compared of {base} and {new}");
            }
            alike.add(&verdicts);
            let series = &all[turn % all.len()];
            let whole = self.exported(&new)?;
            for ((factor, margin), detected) in SLOWED.iter().zip(&mut slowed) {
                let slower = self.slowed(&whole, series, *factor)?;
                detected.add(&self.compared(&base, &slower, margin)?, series, *factor);
            }
            let (way, done) = (self.way.name, turn + 1);
            println!("{way}: {done} of {comparisons}: {}", alike.in_words());
        }
        Ok((alike, slowed))
    }

    fn command(&self, words: &[&str]) -> Command {
        let mut command = Command::new(&self.knee);
        command.args(words);
        command
    }

    /// Pairs of runs, as `FILE.db:RUN`, the last that the record has; those that it has not yet are measured.
    fn pairs(&self, count: usize) -> Result<Vec<[String; 2]>> {
        let wanted = if self.way.turns { 2 * count } else { count + 1 };
        let mut runs = self.runs()?;
        while runs.len() < wanted {
            self.measure()?;
            runs = self.runs()?;
            println!("{}: measured {} of {wanted} runs", self.way.name, runs.len());
        }
        let record = self.record.display();
        let name = |number: &i64| format!("{record}:{number}");
        let last = &runs[runs.len() - wanted..];
        let step = if self.way.turns { 2 } else { 1 };
        Ok(last.windows(2).step_by(step).map(|pair| [name(&pair[0]), name(&pair[1])]).collect())
    }

    /// Measures one run more, or a pair in turns: this same knee twice, distinguished by a variable that
    /// nothing reads.
    fn measure(&self) -> Result<()> {
        let (suite, page) =
            (self.scratch.path().join("knee.toml"), self.scratch.path().join("x.html"));
        fs::write(&suite, SUITE)?;
        let words: &[&str] = if self.way.turns { &["ab", "env SIDE=new", "--"] } else { &["run"] };
        let mut command = self.command(words);
        command.arg("--config").arg(&suite).args(["--suite", "compare"]);
        command.arg("--record").arg(&self.record).arg("-o").arg(&page);
        let done = shell::bounded(&mut command, RUN_MAX)?;
        if !done.status.success() {
            bail!("{} failed: {}", shell::display(&command), done.stderr.trim());
        }
        Ok(())
    }

    /// The numbers of the complete runs.
    fn runs(&self) -> Result<Vec<i64>> {
        if !self.record.exists() {
            return Ok(Vec::new());
        }
        let record = self.record.display().to_string();
        let json = self.json(&["record", "list", "--json", "--record", &record])?;
        let all = json["runs"].as_array().context("a list without runs")?;
        let complete = all.iter().filter(|run| run["state"] == "complete");
        Ok(complete.filter_map(|run| run["number"].as_i64()).collect())
    }

    fn json(&self, words: &[&str]) -> Result<Value> {
        let mut command = self.command(words);
        let done = shell::bounded(&mut command, RUN_MAX)?;
        serde_json::from_str(&done.stdout).with_context(|| {
            format!("{} printed no JSON: {}", shell::display(&command), done.stderr.trim())
        })
    }

    fn compared(&self, base: &str, new: &str, margin: &str) -> Result<Verdicts> {
        let json = self.json(&["compare", base, new, "--margin", margin, "--json"])?;
        let mut verdicts = Verdicts::default();
        for table in json["tables"].as_array().context("a comparison without tables")? {
            if table["headline"] != true {
                continue;
            }
            for row in table["rows"].as_array().into_iter().flatten() {
                let word = |value: &Value| value.as_str().unwrap_or_default().to_owned();
                let series = [
                    word(&table["workload"]),
                    table["parameters"].to_string(),
                    word(&table["metric"]["name"]),
                    word(&row["subject"]),
                ];
                let ratio = row["overall"]["ratio"]["value"].as_f64().unwrap_or(1.0);
                verdicts.series.insert(series, (word(&row["overall"]["verdict"]), ratio));
                for cell in row["cells"].as_array().into_iter().flatten() {
                    let verdict = word(&cell["ratio"]["verdict"]);
                    if !verdict.is_empty() {
                        *verdicts.points.entry(verdict).or_default() += 1;
                    }
                }
            }
        }
        Ok(verdicts)
    }

    fn exported(&self, run: &str) -> Result<Value> {
        self.json(&["export", run, "--format", "json"])
    }

    /// A copy of a run in which one series takes `factor` times as long, in a record of its own.
    fn slowed(&self, whole: &Value, series: &Series, factor: f64) -> Result<String> {
        let mut copy = whole.clone();
        slow(&mut copy, series, factor);
        let (file, record) =
            (self.scratch.path().join("slow.json"), self.scratch.path().join("slow.db"));
        fs::write(&file, serde_json::to_string(&copy)?)?;
        for stale in ["slow.db", "slow.db-wal", "slow.db-shm"] {
            // The first time there is none.
            let _ = fs::remove_file(self.scratch.path().join(stale));
        }
        let mut import = self.command(&["import"]);
        shell::output(import.arg(&file).arg("--record").arg(&record))?;
        Ok(format!("{}:last", record.display()))
    }
}

/// Takes each sample of a series `factor` times; of a rate, the part.
fn slow(run: &mut Value, [workload, parameters, metric, subject]: &Series, factor: f64) {
    let less_is_better = |json: &Value| {
        let all = json["plan"]["workloads"].as_array().into_iter().flatten();
        let metrics = all
            .filter(|info| info["name"] == **workload)
            .filter_map(|info| info["metrics"].as_array());
        let mut matching = metrics.flatten().filter(|info| info["name"] == **metric);
        matching.next().is_none_or(|info| info["lower_is_better"] == true)
    };
    // A cell may have more parameters than tables tell apart.
    let parameters: Map<String, Value> = serde_json::from_str(parameters).unwrap_or_default();
    let factor = if less_is_better(run) { factor } else { 1.0 / factor };
    for cell in run["cells"].as_array_mut().into_iter().flatten() {
        let key = &cell["key"];
        let own = key["workload"] == **workload
            && key["subject"] == **subject
            && parameters.iter().all(|(name, value)| key["parameters"][name] == *value);
        if !own {
            continue;
        }
        for figure in cell["metrics"].as_array_mut().into_iter().flatten() {
            if figure["name"] == **metric {
                for sample in figure["samples"].as_array_mut().into_iter().flatten() {
                    let slower = sample.as_f64().unwrap_or_default() * factor;
                    *sample = slower.into();
                }
            }
        }
    }
}

fn markdown(way: &Way, alike: &Alike, slowed: &[Slowed]) -> String {
    let mut text = format!(
        "{}: {} comparisons of the same with the same, {}.\n\n",
        way.about,
        alike.comparisons,
        alike.in_words()
    );
    text.push_str("| verdict | series | points |\n| --- | ---: | ---: |\n");
    for verdict in ["faster", "slower", "same", "undecided"] {
        let count = |all: &BTreeMap<String, usize>| all.get(verdict).copied().unwrap_or_default();
        // Writing to a String can't fail.
        let _ =
            writeln!(text, "| {verdict} | {} | {} |", count(&alike.verdicts), count(&alike.points));
    }
    text.push_str(
        "\n| slower by | margin | found | same | undecided | faster | size as found, median |\n",
    );
    text.push_str("| ---: | ---: | ---: | ---: | ---: | ---: | ---: |\n");
    for ((factor, margin), detected) in SLOWED.iter().zip(slowed) {
        let mut sizes = detected.sizes.clone();
        sizes.sort_by(f64::total_cmp);
        let middle = sizes.get(sizes.len() / 2);
        let _ = writeln!(
            text,
            "| {:.0} % | {margin} | {} | {} | {} | {} | {} |",
            (factor - 1.0) * 100.0,
            detected.share("slower"),
            detected.share("same"),
            detected.share("undecided"),
            detected.share("faster"),
            middle.map_or_else(|| "–".to_owned(), |size| format!("×{size:.3}")),
        );
    }
    text.push('\n');
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn series(metric: &str) -> Series {
        ["poll".into(), "{\"active\":\"1\"}".into(), metric.into(), "epoll".into()]
    }

    fn run(lower_is_better: bool) -> Value {
        let cell = |subject: &str| {
            json!({
                "key": { "workload": "poll", "subject": subject, "parameters": { "active": "1" } },
                "metrics": [{ "name": "loop", "samples": [100.0, 200.0] }],
            })
        };
        let metric = json!({ "name": "loop", "lower_is_better": lower_is_better });
        json!({
            "plan": { "workloads": [{ "name": "poll", "metrics": [metric] }] },
            "cells": [cell("epoll"), cell("select")],
        })
    }

    #[test]
    fn one_series_is_slowed_and_nothing_else() {
        let mut slower = run(true);
        slow(&mut slower, &series("loop"), 1.1);
        let samples =
            |run: &Value, cell: usize| run["cells"][cell]["metrics"][0]["samples"].clone();
        assert!((samples(&slower, 0)[1].as_f64().unwrap() - 220.0).abs() < 1e-9);
        assert_eq!(samples(&slower, 1), json!([100.0, 200.0]));
        let mut rate = run(false);
        slow(&mut rate, &series("loop"), 1.1);
        assert!((samples(&rate, 0)[1].as_f64().unwrap() - 200.0 / 1.1).abs() < 1e-9);
        let mut slower = run(true);
        slow(&mut slower, &series("wait"), 1.1);
        assert_eq!(slower, run(true));
    }

    #[test]
    fn alarms_are_counted_by_series_and_by_comparison() {
        let mut alike = Alike::default();
        let verdicts = |words: &[&str]| Verdicts {
            series: words.iter().map(|word| (series(word), ((*word).to_owned(), 1.2))).collect(),
            points: BTreeMap::from([("same".to_owned(), 3)]),
        };
        alike.add(&verdicts(&["same", "undecided"]));
        alike.add(&verdicts(&["same", "slower"]));
        assert!((alike.share() - 0.25).abs() < 1e-12);
        assert_eq!((alike.with_alarm, alike.comparisons), (1, 2));
        let mut slowed = Slowed::default();
        slowed.add(&verdicts(&["slower"]), &series("slower"), 1.1);
        slowed.add(&verdicts(&["same"]), &series("same"), 1.1);
        assert_eq!(
            (slowed.share("slower").as_str(), slowed.sizes.as_slice()),
            ("50 %", &[1.2][..])
        );
    }
}
