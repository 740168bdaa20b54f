//! Every bench in turn, and one table of what each says.

use super::Bench;
use crate::shell;
use crate::tally::Tally;
use anyhow::{Context, Result, bail};
use clap::{Args, Command as Parser, FromArgMatches, Subcommand};
use std::fs;
use std::path::PathBuf;
use std::process::Command;
use std::time::Instant;

/// The name of this one, which is not among the others.
const ALL: &str = "all";

/// Which benches, and where the table goes.
#[derive(Args)]
pub struct Options {
    /// Benches; all by default
    #[arg(long, value_delimiter = ',')]
    only: Vec<String>,
    /// Write the table to this file as well
    #[arg(long, value_name = "FILE")]
    output: Option<PathBuf>,
}

/// Measures each with its usual flags, whatever the others say, and prints the table. The file has what is measured so far.
pub fn run(options: &Options, tally: &mut Tally) -> Result<()> {
    let (begun, load, machine) = (Instant::now(), load(), machine()?);
    let mut names = names();
    if let Some(stranger) = options.only.iter().find(|name| !names.contains(name)) {
        bail!("--only: there is no bench {stranger}; there are {}", names.join(", "));
    }
    names.retain(|name| options.only.is_empty() || options.only.contains(name));
    let (mut text, mut lines) = (String::new(), Vec::new());
    for (before, name) in names.iter().enumerate() {
        let mut own = Tally::default();
        if let Err(error) = usual(name)?.run(&mut own) {
            own.fail(format!("bench {name}: {error:#}"));
        }
        if own.lines().is_empty() {
            let outcome = own.outcome();
            own.line([name, "its own", "", "its own", outcome]);
        }
        lines.extend_from_slice(own.lines());
        tally.add(own);
        text = format!(
            "{machine}, {} of {} benches in {:.0} min, load {load} before, {} after. Ratios are ours/theirs: the \
             median of the pairs' with its 95 % CI.\n\n\
             | what | anchor | ratio | goal | |\n| --- | --- | --- | --- | --- |\n{}\n",
            before + 1,
            names.len(),
            begun.elapsed().as_secs_f64() / 60.0,
            self::load(),
            lines.join("\n")
        );
        if let Some(file) = &options.output {
            fs::write(file, &text).with_context(|| format!("can't write {}", file.display()))?;
        }
    }
    print!("\n{text}");
    Ok(())
}

/// The names of the benches, in their order.
fn names() -> Vec<String> {
    let names = parser().get_subcommands().map(|bench| bench.get_name().to_owned()).collect();
    let mut names: Vec<String> = names;
    names.retain(|name| name != ALL);
    names
}

/// A bench with its usual flags.
fn usual(name: &str) -> Result<Bench> {
    Ok(Bench::from_arg_matches(&parser().try_get_matches_from(["bench", name])?)?)
}

fn parser() -> Parser {
    Bench::augment_subcommands(Parser::new("bench"))
}

/// The day, the CPUs and the kernel.
fn machine() -> Result<String> {
    let day = shell::output(Command::new("date").arg("+%Y-%m-%d"))?;
    let kernel = shell::output(Command::new("uname").arg("-sr"))?;
    let cpus = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let model = cpus.lines().find_map(|line| line.strip_prefix("model name")?.split_once(": "));
    let model = model.map_or("unknown CPU", |(_, model)| model);
    let count = std::thread::available_parallelism().map_or(1, usize::from);
    Ok(format!("{}: {count} CPUs ({model}), {}", day.trim(), kernel.trim()))
}

fn load() -> String {
    let load = fs::read_to_string("/proc/loadavg").unwrap_or_default();
    load.split_whitespace().next().unwrap_or("unknown").to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_bench_but_this_one_has_usual_flags() {
        let names = names();
        assert!(names.len() > 10 && names.contains(&"http".to_owned()), "{names:?}");
        assert!(!names.contains(&ALL.to_owned()), "{names:?}");
        for name in names {
            assert!(usual(&name).is_ok(), "{name}");
        }
    }
}
