//! Our loops compared with plain C programs that make the same system calls, run in turn.

mod all;
mod baseline;
mod budget;
mod command;
mod compare;
mod game;
mod grows;
mod http;
mod limit;
mod locks;
mod options;
mod page;
mod profile;
mod simulate;
mod syscalls;
mod table;

use crate::shell;
use crate::tally::Tally;
use anyhow::{Context, Result, bail};
use clap::Subcommand;
use game::{Game, HARNESS, PIPETEST, PRIMITIVES, Play, Setting};
use options::Options;
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;
use table::{Figures, Row};

/// Exit status of a C program or of knee when the mechanism can't be used here.
const NOT_POSSIBLE: i32 = 5;

/// No single run takes longer than this.
const RUN_MAX: Duration = Duration::from_secs(180);

/// What is measured against what.
#[derive(Subcommand)]
pub enum Bench {
    /// What the model of locks predicts for this machine, and what the machine does
    // First: it skips a machine that was busy in the last minute.
    Simulate(simulate::Options),
    /// Our poll loop and a plain C loop of the same system calls
    Harness(options::Harness),
    /// Our pipetest and a plain C one
    Pipetest(options::Pipetest),
    /// Our socket, bind, fork, reap, mmap and touch, and plain C programs
    Primitives(options::Primitives),
    /// Our locks and plain C; std and `parking_lot`, and direct use
    Locks(locks::Options),
    /// Frames of a page with up to 525,000 samples, panned and zoomed in a browser
    Page(page::Options),
    /// Our server, nginx and lighttpd; our load generator, wrk and httperf
    Http(http::Options),
    /// How often `knee compare` raises a false alarm, and which slowdowns it finds
    Compare(compare::Options),
    /// Our runs of a command, and hyperfine's
    Command(command::Options),
    /// What sampling stacks costs, and whether its shares are those of perf record
    Profile(profile::Options),
    /// Our rows of lmbench's summary, and lmbench's own programs
    Baseline(baseline::Options),
    /// Our operations of system calls, and will-it-scale's own programs
    Syscalls(syscalls::Options),
    /// What a precision saves against fixed rounds, on the quick suite
    Budget(budget::Options),
    /// How often limits on growth are judged wrong in tests while CPUs are busy; and bigoish
    Grows(grows::Options),
    /// All of these, and one table of what each says
    All(all::Options),
}

impl Bench {
    /// Measures, and prints the table of ratios.
    pub fn run(self, tally: &mut Tally) -> Result<()> {
        match self {
            Self::Harness(args) => measure(&HARNESS, &args.try_into()?, tally),
            Self::Pipetest(args) => measure(&PIPETEST, &args.try_into()?, tally),
            Self::Primitives(args) => measure(&PRIMITIVES, &args.try_into()?, tally),
            Self::Locks(options) => locks::run(&options, tally),
            Self::Page(options) => page::run(&options, tally),
            Self::Http(options) => http::run(options, tally),
            Self::Compare(options) => compare::run(&options, tally),
            Self::Simulate(options) => simulate::run(&options, tally),
            Self::Command(options) => command::run(&options, tally),
            Self::Profile(options) => profile::run(&options, tally),
            Self::Baseline(options) => baseline::run(&options, tally),
            Self::Syscalls(options) => syscalls::run(&options, tally),
            Self::Budget(options) => budget::run(&options, tally),
            Self::Grows(options) => grows::run(&options, tally),
            Self::All(options) => all::run(&options, tally),
        }
    }
}

/// Measures a game.
fn measure(game: &Game, options: &Options, tally: &mut Tally) -> Result<()> {
    let root = shell::root();
    let target = shell::target_dir()?;
    let programs =
        compile(game, &root.join(game.sources), &target.join("bench-c").join(game.name))?;
    let knee = build_knee(&root, &target)?;
    let scratch = tempfile::tempdir()?;
    let bench = Turns { game, options, knee, record: scratch.path().join("bench.db") };

    let mut rows = Vec::new();
    for (play, program) in programs.iter().filter(|(play, _)| options.wants(&play.name)) {
        for setting in &options.settings_of(play) {
            let step = format!("{} {} at {}", game.name, play.name, game.in_words(setting));
            let pairs = match program {
                Ok(program) => bench.pairs(play, program, setting)?,
                Err(why) => Err(why.clone()),
            };
            match pairs {
                Ok(row) => {
                    println!("{step}: {}", row.in_words());
                    if game.bounded.contains(&row.mechanism.as_str()) {
                        row.judge(&step, "C", "", tally);
                    } else {
                        row.show(&step, "C", tally);
                    }
                    rows.push(row);
                }
                Err(why) => tally.skip(&step, &why),
            }
        }
    }
    let text = table::markdown(&rows, game, options);
    print!("\n{text}");
    if let Some(file) = &options.output {
        fs::write(file, text).with_context(|| format!("can't write {}", file.display()))?;
    }
    Ok(())
}

/// A program of a game, compiled, or why it can't be here.
type Compiled = (Play, Result<PathBuf, String>);

/// Compiles the C programs of a game.
fn compile(game: &Game, sources: &Path, into: &Path) -> Result<Vec<Compiled>> {
    fs::create_dir_all(into)?;
    let mut names = Vec::new();
    for entry in fs::read_dir(sources).context("the C programs are missing")? {
        let source = entry?.path();
        if source.extension().is_none_or(|extension| extension != "c") {
            continue;
        }
        names.push(source.file_stem().unwrap_or_default().to_string_lossy().into_owned());
    }
    names.sort();
    let mut programs = Vec::new();
    for play in game.programs(&names) {
        let program = into.join(&play.name);
        let mut command = c_compiler();
        command.args(["-O2", "-Wall", "-Wextra"]).args(game.defines).args(play.flags);
        command.arg("-o").arg(&program);
        let compiled = shell::output(command.arg(sources.join(&play.source).with_extension("c")));
        programs.push(match compiled {
            Ok(_) => (play, Ok(program)),
            // No static C library, say: the others can be measured all the same.
            Err(error) if !play.flags.is_empty() => (play, Err(error.to_string())),
            Err(error) => return Err(error),
        });
    }
    Ok(programs)
}

/// What compiles a C program.
fn c_compiler() -> Command {
    let mut compiler = Command::new(std::env::var("CC").unwrap_or_else(|_| "cc".to_owned()));
    compiler.arg("-std=gnu11");
    compiler
}

/// Runs both once, each first in every second turn: A B, B A, A B, … so that a drift of the machine hits both alike.
fn in_turn<A, B>(
    turn: usize,
    first: impl FnOnce() -> Result<A>,
    second: impl FnOnce() -> Result<B>,
) -> Result<(A, B)> {
    if turn.is_multiple_of(2) {
        let first = first()?;
        return Ok((first, second()?));
    }
    let second = second()?;
    Ok((first()?, second))
}

pub fn build_knee(root: &Path, target: &Path) -> Result<PathBuf> {
    let mut command = shell::cargo(root, "build");
    if !shell::succeeds(command.args(["--release", "--package", "knee"]))? {
        bail!("knee does not build");
    }
    Ok(target.join("release").join("knee"))
}

/// The examples that benches run, each with its package.
const EXAMPLES: [(&str, &str); 4] = [
    ("against", "knee-workloads"),
    ("cost", "knee-locks"),
    ("page", "knee-report"),
    ("profile", "knee-stacks"),
];

/// Builds one of the [`EXAMPLES`].
fn build_example(name: &str) -> Result<PathBuf> {
    let row = EXAMPLES.iter().find(|row| row.0 == name);
    let (_, package) = row.with_context(|| format!("no bench has the example `{name}`"))?;
    let mut command = shell::cargo(&shell::root(), "build");
    if !shell::succeeds(command.args(["--release", "--package", package, "--example", name]))? {
        bail!("the example `{name}` of {package} does not build");
    }
    Ok(shell::target_dir()?.join("release/examples").join(name))
}

/// What the runs of a bench have in common.
struct Turns<'a> {
    game: &'a Game,
    options: &'a Options,
    knee: PathBuf,
    record: PathBuf,
}

/// What a run found, or the reason why there is nothing here.
type Found = Result<Figures, String>;

impl Turns<'_> {
    /// Runs both in turn.
    fn pairs(&self, play: &Play, program: &Path, setting: &Setting) -> Result<Result<Row, String>> {
        let mut pairs = Vec::new();
        for pair in 0..self.options.pairs {
            let plain = || self.plain(play, program, setting);
            match in_turn(pair, plain, || self.ours(play, setting))? {
                (Ok(c), Ok(ours)) => pairs.push((c, ours)),
                (Err(why), _) => return Ok(Err(format!("the C program: {why}"))),
                (_, Err(why)) => return Ok(Err(why)),
            }
        }
        let (mechanism, setting) = (play.name.clone(), setting.numbers.clone());
        Ok(Ok(Row { mechanism, setting, limit: self.game.limit, pairs }))
    }

    /// One run of a C program.
    fn plain(&self, play: &Play, program: &Path, setting: &Setting) -> Result<Found> {
        let mut command = self.options.pinned(program);
        command.args(&setting.plain).args(play.words);
        if self.game.timed {
            command.arg(self.options.time_ms.to_string());
        }
        let Some(text) = output(&mut command)? else {
            return Ok(Err("not possible here".to_owned()));
        };
        let overhead_ns = text.lines().find_map(|line| line.strip_prefix("# overhead_ns "));
        let overhead_ns = overhead_ns.map(str::parse).transpose()?;
        let figures = text.lines().filter(|line| !line.starts_with('#'));
        let samples: Result<Vec<f64>, _> = figures.map(str::parse).collect();
        let samples = samples.context("a C program printed something that is not a figure")?;
        let figures = Figures::new(samples, self.game.limit);
        let figures = figures.map(|figures| Figures { overhead_ns, ..figures });
        Ok(figures.ok_or_else(|| "printed no figures".to_owned()))
    }

    /// One run of ours: the workload itself, in a worker of knee's own.
    fn ours(&self, play: &Play, setting: &Setting) -> Result<Found> {
        let mut command = self.options.pinned(&self.knee);
        command.args(["run", play.workload, "--subjects", &play.subject]).args(&setting.ours);
        command.args(["--rounds", "1", "--time", &format!("{}ms", self.options.time_ms)]);
        command.args(["--json", "--record"]).arg(&self.record);
        let Some(text) = output(&mut command)? else {
            return Ok(Err("not possible here".to_owned()));
        };
        let run: Value = serde_json::from_str(&text).context("knee run --json")?;
        let metric = play.metric;
        let overhead_ns = run["clock"]["overhead_ns"].as_f64().filter(|_| !self.game.timed);
        Ok(samples_of(&run, &play.subject, metric)
            .and_then(|samples| Figures::new(samples, self.game.limit))
            .map(|figures| Figures { overhead_ns, ..figures })
            .ok_or_else(|| format!("knee measured no {metric}: {}", failure_text(&run))))
    }
}

/// Runs a command to its end. None when it says that this is not possible here.
fn output(command: &mut Command) -> Result<Option<String>> {
    let done = shell::bounded(command, RUN_MAX)?;
    match done.status.code() {
        Some(0) => Ok(Some(done.stdout)),
        Some(NOT_POSSIBLE) => Ok(None),
        _ => bail!("{} failed ({}): {}", shell::display(command), done.status, done.stderr.trim()),
    }
}

/// The samples of a metric in the cell of that subject, wherever in the output it is.
fn samples_of(value: &Value, subject: &str, metric: &str) -> Option<Vec<f64>> {
    if value["key"]["subject"] == subject {
        let metrics = value["metrics"].as_array()?;
        let wanted = metrics.iter().find(|record| record["name"] == metric)?;
        return wanted["samples"].as_array()?.iter().map(Value::as_f64).collect();
    }
    let mut children: Box<dyn Iterator<Item = &Value>> = match value {
        Value::Array(list) => Box::new(list.iter()),
        Value::Object(map) => Box::new(map.values()),
        _ => return None,
    };
    children.find_map(|child| samples_of(child, subject, metric))
}

/// Why a cell failed, or `no reason given`.
fn failure_text(value: &Value) -> &str {
    fn find(value: &Value) -> Option<&str> {
        match value {
            Value::Object(map) => {
                let text = map.get("reason").and_then(|reason| reason.get("text"));
                text.and_then(Value::as_str).or_else(|| map.values().find_map(find))
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
    #[cfg(target_os = "linux")]
    use game::{HARNESS, PIPETEST, PRIMITIVES};
    use serde_json::json;

    #[test]
    fn packages_and_their_examples_are_there() {
        let directory = |package: &str| {
            let directory = package.trim_start_matches("knee-");
            let directory = shell::root().join("crates").join(directory);
            let manifest = fs::read_to_string(directory.join("Cargo.toml")).unwrap();
            assert!(manifest.contains(&format!("name = \"{package}\"")), "{package}");
            directory
        };
        for (name, package) in EXAMPLES {
            let example = directory(package).join("examples").join(name).with_extension("rs");
            assert!(example.exists(), "{}", example.display());
        }
        directory(grows::CHECKED);
    }

    #[test]
    fn the_median_is_the_middle() {
        assert_eq!(median(vec![]), None);
        assert_eq!(median(vec![3.0, 1.0, 2.0]), Some(2.0));
        assert_eq!(median(vec![4.0, 1.0, 2.0, 3.0]), Some(2.5));
    }

    #[test]
    fn the_metric_is_found_and_nothing_else() {
        let cell = |subject, samples| {
            json!({"key": {"subject": subject}, "metrics": [
            {"name": "wait", "samples": [9.0]}, {"name": "loop", "samples": samples}]})
        };
        let run =
            json!({"run": {"cells": [cell("null", json!([7.0])), cell("poll", json!([1, 2.5]))]}});
        assert_eq!(samples_of(&run, "poll", "loop"), Some(vec![1.0, 2.5]));
        assert_eq!(samples_of(&run, "poll", "wait"), Some(vec![9.0]));
        assert_eq!(samples_of(&run, "poll", "passes"), None);
        assert_eq!(samples_of(&run, "select", "loop"), None);
        let reason = json!({"kind": "other", "text": "did not finish"});
        let failed = json!({"cells": [{"outcome": {"outcome": "failed", "reason": reason}}]});
        assert_eq!(failure_text(&failed), "did not finish");
    }

    /// Compiles every program of a game, and plays each of these games with it.
    #[cfg(target_os = "linux")]
    fn play(game: &Game, games: &[&str]) {
        let directory = tempfile::tempdir().unwrap();
        let sources = shell::root().join(game.sources);
        let programs = compile(game, &sources, directory.path()).unwrap();
        assert!(programs.len() >= 6, "{programs:?}");
        for (play, program) in programs {
            let (name, Ok(program)) = (&play.name, program) else {
                println!("{} can't be compiled here", play.name);
                continue;
            };
            for words in games {
                let last: &[&str] = if game.timed { &["2"] } else { play.words };
                let printed = output(Command::new(&program).args(words.split(' ')).args(last));
                let Some(printed) = printed.unwrap() else {
                    println!("{name} is not possible here");
                    break;
                };
                let figures = printed.lines().filter(|line| !line.starts_with('#'));
                let samples: Vec<f64> = figures.map(|line| line.parse().unwrap()).collect();
                assert!(samples.len() >= 5, "{name} {words}");
                assert!(samples.iter().all(|figure| *figure > 0.0), "{name} {words}");
                if !game.timed {
                    assert_eq!(samples.len().to_string(), *words, "{name}: a figure a call");
                    assert!(printed.starts_with("# overhead_ns "), "{name}: {printed}");
                }
            }
        }
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn every_c_program_compiles_and_delivers_every_event() {
        play(&HARNESS, &["1 1", "40 7", "300 300"]);
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn every_c_program_compiles_and_times_every_call() {
        play(&PRIMITIVES, &["5", "100"]);
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn every_c_program_compiles_and_passes_every_token_on() {
        let mut games = vec!["60 60 3 random 4096 -1".to_owned()];
        for spread in ["tail", "spread", "random"] {
            for size in ["1 1 1", "40 7 3", "90 90 1000"] {
                games.push(format!("{size} {spread} 16 -1"));
            }
            games.push(format!("40 30 5 {spread} 8 0"));
        }
        play(&PIPETEST, &games.iter().map(String::as_str).collect::<Vec<_>>());
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_c_program_refuses_nonsense() {
        let refusals: [(&Game, &[(&str, &str)]); 3] = [
            (&PRIMITIVES, &[("0", "0: not from"), ("x", "x: not from"), ("1 2", "usage")]),
            (
                &HARNESS,
                &[
                    ("2 3 1", "more active than watched"),
                    ("2 x 1", "x: not from"),
                    ("2 0 1", "0: not from"),
                    ("2 1", "usage"),
                ],
            ),
            (
                &PIPETEST,
                &[
                    ("2 3 1 tail 16 -1 1", "more tokens than pipes"),
                    ("2 1 0 tail 16 -1 1", "0: not from"),
                    ("2 1 1 head 16 -1 1", "head: no such spread"),
                    ("2 1 1 tail 7 -1 1", "7: not from 8 to 4096"),
                    ("2 1 1 tail 4097 -1 1", "4097: not from 8 to 4096"),
                    ("2 1 1 tail 16 5 1", "5: not 0 or -1"),
                    ("2 1 1 tail 16 -1", "usage"),
                ],
            ),
        ];
        let directory = tempfile::tempdir().unwrap();
        for (game, refusals) in refusals {
            let sources = shell::root().join(game.sources);
            let programs = compile(game, &sources, directory.path()).unwrap();
            let program = programs[0].1.as_ref().unwrap();
            for (words, why) in refusals {
                let done = output(Command::new(program).args(words.split(' ')));
                let error = done.unwrap_err().to_string();
                assert!(error.contains(why), "{words}: {error}");
            }
        }
    }
}
