//! The operations of `knee run syscalls` and will-it-scale's own programs, in turns, with one and two threads and
//! processes. will-it-scale is not a package: its programs are taken from a directory in which it was built.

use super::limit::Limit;
use super::options::above_zero;
use super::table::{Figures, Row, Verdict};
use super::{build_knee, in_turn, median, samples_of};
use crate::shell;
use crate::tally::Tally;
use anyhow::{Context, Result, ensure};
use clap::Args;
use serde_json::Value;
use std::fs;
use std::io::{BufRead, BufReader};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Our rate and will-it-scale's may differ by this factor.
const LIMIT: Limit = Limit::Within(1.10);
/// The second that counts: will-it-scale prints one figure a second, and its first one has the start in it.
const SECOND: usize = 2;
/// How long ours counts.
const TIME: &str = "500ms";

/// An operation of ours, and will-it-scale's program for the same calls.
const PROGRAMS: [(&str, &str); 18] = [
    ("getppid", "getppid1"),
    ("dup-close", "dup1"),
    ("open-close-one", "open3"),
    ("open-close-separate", "open2"),
    ("read-one", "read2"),
    ("pread-one", "pread2"),
    ("write-one", "pwrite2"),
    ("stat", "stat2"),
    ("mmap-munmap", "mmap1"),
    ("page-fault", "page_fault1"),
    ("brk", "brk1"),
    ("futex-wake", "futex3"),
    ("poll", "poll1"),
    ("pipe-ping", "pipe1"),
    ("eventfd", "eventfd1"),
    ("unix-ping", "unix1"),
    ("sched-yield", "sched_yield"),
    ("signal-self", "signal1"),
];

/// Why an operation does not do as much as will-it-scale's program; empty where it should.
fn apart_because(operation: &str) -> &'static str {
    match operation {
        "page-fault" => "apart: a map of 16 MiB stays in a cache, and one of 128 MiB does not",
        "mmap-munmap" => "apart: both have two modes, by where the kernel puts the map",
        _ => "",
    }
}

/// What was asked for.
#[derive(Debug, PartialEq, Eq, Args)]
pub struct Options {
    /// The directory of will-it-scale's programs (`dup1_threads`, …) [default: `$WILL_IT_SCALE`]
    #[arg(long)]
    will_it_scale: Option<PathBuf>,
    /// Turns of each
    #[arg(long, default_value_t = 7, value_parser = above_zero::<usize>)]
    pairs: usize,
    /// Operations of knee; all that will-it-scale has by default
    #[arg(long, value_delimiter = ',')]
    operations: Vec<String>,
    /// A knee that is built already
    #[arg(long)]
    knee: Option<PathBuf>,
}

/// Measures each operation by both, and prints the table.
pub fn run(options: &Options, tally: &mut Tally) -> Result<()> {
    let of_environment = || std::env::var_os("WILL_IT_SCALE").map(PathBuf::from);
    measure(options, options.will_it_scale.clone().or_else(of_environment), tally)
}

/// The same with the programs of a directory, if there is one.
fn measure(options: &Options, programs: Option<PathBuf>, tally: &mut Tally) -> Result<()> {
    let Some(programs) = programs else {
        let why = "no directory with will-it-scale's programs: --will-it-scale DIR";
        tally.skip("syscalls", why);
        return Ok(());
    };
    let built = || build_knee(&shell::root(), &shell::target_dir()?);
    let knee = options.knee.clone().map_or_else(built, |knee| Ok(fs::canonicalize(knee)?))?;
    let scratch = tempfile::tempdir()?;
    println!("| operation | by | knee, k/s | will-it-scale, k/s | knee / will-it-scale | |");
    println!("| --- | --- | ---: | ---: | --- | --- |");
    let is_wanted = |name: &str| {
        options.operations.is_empty() || options.operations.iter().any(|wanted| wanted == name)
    };
    for (operation, program) in PROGRAMS.into_iter().filter(|(name, _)| is_wanted(name)) {
        for by in ["threads", "processes"] {
            let path = programs.join(format!("{program}_{by}"));
            if !path.exists() {
                tally.skip(operation, &format!("there is no {}", path.display()));
                continue;
            }
            for tasks in [1, 2] {
                let name = format!("{operation} | {tasks} {by}");
                let mut row =
                    Row { mechanism: name, setting: Vec::new(), limit: LIMIT, pairs: Vec::new() };
                for pair in 0..options.pairs {
                    let theirs = || theirs(&path, scratch.path(), tasks);
                    let ours = || ours(&knee, scratch.path(), operation, by, tasks);
                    row.pairs.push(in_turn(pair, theirs, ours)?);
                }
                judge(&row, tally);
            }
        }
    }
    Ok(())
}

/// Prints the line of a row, and counts it against the limit.
fn judge(row: &Row, tally: &mut Tally) {
    let middle = |pick: fn(&(Figures, Figures)) -> f64| {
        median(row.pairs.iter().map(pick).collect()).unwrap_or(f64::NAN) / 1e3
    };
    let operation = row.mechanism.split(" | ").next().unwrap_or_default();
    let because = apart_because(operation);
    let mark = match row.verdict() {
        Verdict::Held => "",
        _ if !because.is_empty() => because,
        Verdict::Beyond => "beyond 10 %",
        Verdict::Undecided => "undecided",
    };
    let (ours, theirs) = (middle(|pair| pair.1.median), middle(|pair| pair.0.median));
    let ratio = row.in_words();
    println!("| {} | {ours:.1} | {theirs:.1} | {ratio} | {mark} |", row.mechanism);
    let step = format!("syscalls {}", row.mechanism.replace(" | ", " by "));
    row.judge(&step, "will-it-scale", because, tally);
}

/// Operations in a second of will-it-scale.
fn theirs(program: &Path, directory: &Path, tasks: u32) -> Result<Figures> {
    let mut child = Command::new(program)
        .args(["-t", &tasks.to_string()])
        .current_dir(directory)
        .stdout(Stdio::piped())
        // Its tasks end with it, whatever it does about them.
        .process_group(0)
        .spawn()
        .with_context(|| format!("starting {}", program.display()))?;
    let lines = child.stdout.take().map(BufReader::new).context("it has no output")?.lines();
    let totals = lines.map_while(Result::ok).filter_map(|line| total(&line));
    let rate = totals.take(SECOND).last();
    let group = format!("-{}", child.id());
    shell::output(Command::new("kill").args(["-KILL", "--", &group]))?;
    child.wait()?;
    let rate = rate.with_context(|| format!("{} printed no figure", program.display()))?;
    Figures::new(vec![rate], LIMIT).context("no figure")
}

/// The total of a line `min:… max:… total:…`.
fn total(line: &str) -> Option<f64> {
    line.split_whitespace().find_map(|word| word.strip_prefix("total:"))?.parse().ok()
}

/// The same of ours.
fn ours(knee: &Path, directory: &Path, operation: &str, by: &str, tasks: u32) -> Result<Figures> {
    let mut run = Command::new(knee);
    run.current_dir(directory).args(["run", "syscalls", "--rounds", "1", "--quiet", "--json"]);
    run.args(["--record", "bench.db", "--output", "page.html", "--time", TIME, "--by", by]);
    run.args(["--subjects", operation, "--points", &tasks.to_string()]);
    let json: Value = serde_json::from_str(&shell::output(&mut run)?)?;
    let samples = samples_of(&json, operation, "operations").context("knee: no figure")?;
    ensure!(!samples.is_empty(), "knee: no figure of {operation}");
    Figures::new(samples, LIMIT).context("no figure")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::options::parse;

    #[test]
    fn a_figure_of_will_it_scale_is_its_total() {
        assert_eq!(total("min:1047966 max:2001528 total:3049494"), Some(3_049_494.0));
        assert_eq!(total("testcase:getppid"), None);
        assert_eq!(total("average:12"), None);
    }

    #[test]
    fn flags_are_read_and_without_a_directory_all_is_skipped() {
        let options: Options = parse("--will-it-scale /x --pairs 3 --operations brk,poll").unwrap();
        assert_eq!(options.operations, ["brk", "poll"]);
        assert_eq!((options.pairs, options.will_it_scale), (3, Some("/x".into())));
        let mut tally = Tally::default();
        let none = Options { will_it_scale: None, pairs: 1, operations: vec![], knee: None };
        measure(&none, None, &mut tally).unwrap();
        assert!(tally.summary().contains("skipped: syscalls: no directory"), "{}", tally.summary());
    }
}
