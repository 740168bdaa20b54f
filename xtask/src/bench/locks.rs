//! Our locks compared with the best at hand: plain C, the C library from C, and the mutexes of others used
//! directly. One thread and two, a fixed number of times, in turn.

use super::limit::Limit;
use super::options::above_zero;
use super::table::{Figures, Row};
use super::{build_example, c_compiler, in_turn, median};
use crate::shell;
use crate::tally::Tally;
use anyhow::{Context, Result, bail};
use clap::Args;
use std::collections::HashMap;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

/// Ours may take that many times what the other takes.
const LIMIT: Limit = Limit::Most(1.05);

/// No single run takes longer than this.
const RUN_MAX: Duration = Duration::from_secs(60);

/// Those that are others' crates, which ours is compared with when used directly.
const DIRECT: [&str; 2] = ["std", "parking_lot"];

/// Threads, batches in one run, and how often each thread holds the lock in one batch. Two threads
/// need short batches: in a long one, sooner or later something else wants one of the CPUs.
const GAMES: [(u64, u64, u64); 2] = [(1, 100, 20_000), (2, 300, 300)];

/// What was asked for.
#[derive(Debug, PartialEq, Eq, Args)]
pub struct Options {
    /// Runs of each, in turn
    #[arg(long, default_value_t = 11, value_parser = above_zero::<usize>)]
    pairs: usize,
    /// Locks; all by default
    #[arg(long, value_delimiter = ',')]
    locks: Vec<String>,
    /// Write the table to this file as well
    #[arg(long, value_name = "FILE")]
    output: Option<PathBuf>,
}

/// One lock with so many threads.
struct RivalRow {
    /// What ours is compared with: `C` or `direct`; nothing where there is nothing to be had.
    rival: Option<&'static str>,
    /// The pairs' first figure is the rival's; without one, it is ours as well.
    row: Row,
}

/// Measures every lock, prints the table, and holds what has a rival to the limit.
pub fn run(options: &Options, tally: &mut Tally) -> Result<()> {
    let programs = Programs::build()?;
    let cpus = std::thread::available_parallelism().map_or(1, usize::from);
    let mut lines = Vec::new();
    for name in programs.names(options)? {
        for game in GAMES {
            let step = format!("locks {name} with {} threads", game.0);
            if game.0 > cpus as u64 {
                tally.skip(&step, "there is one CPU only: see `knee run lock` for that");
                continue;
            }
            let line = programs.line(&name, game, options.pairs)?;
            println!("{step}: {}", line.in_words());
            judge(&step, &line, tally);
            lines.push(line);
        }
    }
    let text = markdown(&lines, options.pairs);
    print!("\n{text}");
    if let Some(file) = &options.output {
        fs::write(file, text).with_context(|| format!("can't write {}", file.display()))?;
    }
    Ok(())
}

fn judge(step: &str, line: &RivalRow, tally: &mut Tally) {
    match line.rival {
        Some(rival) => line.row.judge(step, rival, "", tally),
        None => tally.pass(1),
    }
}

/// What is run in turn.
struct Programs {
    /// Ours, and others' used directly.
    cost: PathBuf,
    /// C programs, by the name of the lock.
    plain: HashMap<String, PathBuf>,
}

impl Programs {
    fn build() -> Result<Programs> {
        let sources = shell::root().join("benches/c/locks");
        let plain = compile(&sources, &shell::target_dir()?.join("bench-c/locks"))?;
        Ok(Programs { cost: build_example("cost")?, plain })
    }

    /// The locks that were asked for, in the order of the table.
    fn names(&self, options: &Options) -> Result<Vec<String>> {
        let names = shell::output(Command::new(&self.cost).arg("names"))?;
        let names: Vec<String> = names.lines().map(str::to_owned).collect();
        if let Some(stranger) = options.locks.iter().find(|name| !names.contains(name)) {
            bail!("--locks: there is no lock {stranger}; there are {}", names.join(", "));
        }
        let wanted = |name: &String| options.locks.is_empty() || options.locks.contains(name);
        Ok(names.into_iter().filter(wanted).collect())
    }

    /// Runs both in turn.
    fn line(&self, name: &str, game: (u64, u64, u64), pairs: usize) -> Result<RivalRow> {
        let ours = || figures(Command::new(&self.cost).args(["ours", name]), game);
        let direct = || figures(Command::new(&self.cost).args(["direct", name]), game);
        let plain = self.plain.get(name);
        let rival = match plain {
            Some(_) => Some("C"),
            None => DIRECT.contains(&name).then_some("direct"),
        };
        let theirs = || match (plain, rival) {
            (Some(program), _) => figures(&mut Command::new(program), game).map(Some),
            (None, Some(_)) => direct().map(Some),
            (None, None) => Ok(None),
        };
        let mut measured = Vec::new();
        for pair in 0..pairs {
            let (theirs, ours) = in_turn(pair, theirs, ours)?;
            measured.push((theirs.unwrap_or(ours), ours));
        }
        let (mechanism, setting) = (name.to_owned(), vec![game.0]);
        Ok(RivalRow { rival, row: Row { mechanism, setting, limit: LIMIT, pairs: measured } })
    }
}

/// Compiles the C programs.
fn compile(sources: &Path, into: &Path) -> Result<HashMap<String, PathBuf>> {
    fs::create_dir_all(into)?;
    let mut programs = HashMap::new();
    for entry in fs::read_dir(sources).context("the C programs are missing")? {
        let source = entry?.path();
        if source.extension().is_none_or(|extension| extension != "c") {
            continue;
        }
        let name = source.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let program = into.join(&name);
        let mut command = c_compiler();
        command.args(["-O2", "-Wall", "-Wextra", "-pthread", "-o"]);
        shell::output(command.arg(&program).arg(&source))?;
        programs.insert(name, program);
    }
    Ok(programs)
}

/// One run.
fn figures(command: &mut Command, (threads, batches, holds): (u64, u64, u64)) -> Result<Figures> {
    command.args([threads, batches, holds].map(|number| number.to_string()));
    let done = shell::bounded(command, RUN_MAX)?;
    if !done.status.success() {
        bail!("{} failed ({}): {}", shell::display(command), done.status, done.stderr.trim());
    }
    let batches: Result<Vec<f64>, _> = done.stdout.lines().map(str::parse).collect();
    let batches = batches.with_context(|| format!("{}: no figure", shell::display(command)))?;
    Figures::new(batches, LIMIT).with_context(|| format!("{}: nothing", shell::display(command)))
}

impl RivalRow {
    /// The median of one side's runs, in nanoseconds.
    fn median_ns(&self, side: fn(&(Figures, Figures)) -> f64) -> f64 {
        median(self.row.pairs.iter().map(side).collect()).unwrap_or(f64::NAN)
    }

    fn in_words(&self) -> String {
        let ours_ns = self.median_ns(|pair| pair.1.median);
        match self.rival {
            Some(rival) => format!("{ours_ns:.2} ns, over {rival} {}", self.row.in_words()),
            None => format!("{ours_ns:.2} ns"),
        }
    }
}

/// The table, with the parameters above it.
fn markdown(lines: &[RivalRow], pairs: usize) -> String {
    let load = fs::read_to_string("/proc/loadavg").unwrap_or_default();
    let load = load.split_whitespace().next().unwrap_or("unknown");
    let mut text = format!(
        "{pairs} pairs, load {load} at the end; nanoseconds to acquire, add one and release: median of \
         the runs' medians; ratio: median of the pairs' ratios (smallest to largest); fastest: the \
         fastest batch of all runs, ours over the other's.\n\n\
         | lock | threads | rival | rival, ns | ours, ns | ratio | fastest |\n\
         | --- | ---: | --- | ---: | ---: | --- | ---: |\n"
    );
    // Writing to a String can't fail.
    for line in lines {
        let (name, threads) = (&line.row.mechanism, line.row.setting[0]);
        let ours_ns = line.median_ns(|pair| pair.1.median);
        let _ = match line.rival {
            None => writeln!(text, "| {name} | {threads} | – | – | {ours_ns:.2} | – | – |"),
            Some(rival) => {
                let rival_ns = line.median_ns(|pair| pair.0.median);
                let (ratio, fastest) = (line.row.in_words(), line.row.ratio_fastest());
                writeln!(
                    text,
                    "| {name} | {threads} | {rival} | {rival_ns:.2} | {ours_ns:.2} | {ratio} | \
                     {fastest:.3} |"
                )
            }
        };
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flags_are_read_and_strangers_refused() {
        let parse = |text: &str| crate::bench::options::parse::<Options>(text);
        let options = parse("--pairs 3 --locks mcs,std --output t.md").unwrap();
        assert_eq!((options.pairs, options.locks), (3, vec!["mcs".to_owned(), "std".to_owned()]));
        assert_eq!(options.output.as_deref(), Some(Path::new("t.md")));
        assert!(parse("--speed 3").is_err());
        assert!(parse("--pairs 0").is_err() && parse("--pairs").is_err());
    }

    #[test]
    fn a_lock_without_a_rival_has_a_figure_and_no_ratio() {
        let figures = Figures::single;
        let line = |rival, pair| RivalRow {
            rival,
            row: Row { mechanism: "clh".into(), setting: vec![2], limit: LIMIT, pairs: vec![pair] },
        };
        let lines = [
            line(None, (figures(8.0), figures(8.0))),
            line(Some("C"), (figures(4.0), figures(5.0))),
        ];
        let text = markdown(&lines, 1);
        let wanted = "| clh | 2 | – | – | 8.00 | – | – |\n\
                      | clh | 2 | C | 4.00 | 5.00 | 1.250 (1.250 to 1.250) | 1.250 |\n";
        assert!(text.ends_with(wanted), "{text}");
        let mut tally = Tally::default();
        for line in &lines {
            judge("locks", line, &mut tally);
        }
        assert!(tally.summary().contains("undecided") && tally.failed() == 0);
    }
}
