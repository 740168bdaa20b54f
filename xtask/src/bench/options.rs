//! The flags of `cargo xtask bench harness`.

use crate::shell;
use anyhow::{Context, Result, bail};
use std::path::{Path, PathBuf};
use std::process::Command;

/// What was asked for.
#[derive(Debug, PartialEq, Eq)]
pub struct Options {
    /// Runs of each, in turn.
    pub pairs: usize,
    /// Watched descriptors.
    pub points: Vec<u64>,
    /// Mechanisms; all when empty.
    pub mechanisms: Vec<String>,
    /// Time that each measures its loop for in one run, in milliseconds.
    pub time_ms: u64,
    /// The CPU that both run on.
    pub cpu: usize,
    /// Whether they can be held there.
    pub pins: bool,
    /// Where to put the table, besides the terminal.
    pub output: Option<PathBuf>,
}

impl Options {
    /// Reads the flags; anything unknown is an error.
    pub fn parse(args: &[String]) -> Result<Self> {
        let mut options = Self {
            pairs: 7,
            points: vec![100, 9_000],
            mechanisms: Vec::new(),
            time_ms: 300,
            cpu: std::thread::available_parallelism().map_or(0, |count| count.get() - 1),
            pins: shell::has("taskset"),
            output: None,
        };
        let mut args = args.iter();
        while let Some(flag) = args.next() {
            let value = args.next().with_context(|| format!("{flag} wants a value"))?;
            match flag.as_str() {
                "--pairs" => options.pairs = number(flag, value)?,
                "--points" => {
                    let points = value.split(',').map(|point| number(flag, point));
                    options.points = points.collect::<Result<_>>()?;
                }
                "--mechanisms" => {
                    options.mechanisms = value.split(',').map(str::to_owned).collect();
                }
                "--time" => options.time_ms = number(flag, value)?,
                "--cpu" => {
                    options.cpu = value.parse().with_context(|| format!("{flag} {value}"))?;
                }
                "--output" => options.output = Some(PathBuf::from(value)),
                _ => bail!("bench harness knows no {flag}"),
            }
        }
        Ok(options)
    }

    /// Whether a mechanism was asked for.
    pub fn wants(&self, mechanism: &str) -> bool {
        self.mechanisms.is_empty() || self.mechanisms.iter().any(|wanted| wanted == mechanism)
    }

    /// A command that runs a program on the chosen CPU, where that is possible.
    pub fn pinned(&self, program: &Path) -> Command {
        if !self.pins {
            return Command::new(program);
        }
        let mut command = Command::new("taskset");
        command.args(["--cpu-list", &self.cpu.to_string()]).arg(program);
        command
    }
}

/// A number above zero.
fn number<T: std::str::FromStr + Default + PartialEq>(flag: &str, text: &str) -> Result<T> {
    match text.replace('_', "").parse() {
        Ok(value) if value != T::default() => Ok(value),
        _ => bail!("{flag}: {text:?} is not a whole number above zero"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<Options> {
        Options::parse(&text.split_whitespace().map(str::to_owned).collect::<Vec<_>>())
    }

    #[test]
    fn flags_are_read() {
        let options =
            parse("--pairs 9 --points 10,2000 --mechanisms poll,select --time 50").unwrap();
        assert_eq!((options.pairs, options.points.as_slice()), (9, [10, 2_000].as_slice()));
        assert_eq!(options.time_ms, 50);
        assert!(options.wants("poll") && !options.wants("ppoll"));
        assert!(parse("").unwrap().wants("ppoll"));
    }

    #[test]
    fn nonsense_is_refused() {
        for text in ["--pairs", "--pairs 0", "--points 10,x", "--points -1", "--speed 3"] {
            assert!(parse(text).is_err(), "{text}");
        }
    }
}
