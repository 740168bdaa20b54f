//! The flags of the benches that play a game against plain C.

use super::game::{self, Play, Setting};
use crate::shell;
use anyhow::{Context, Error, Result, bail};
use clap::{Args, ValueEnum};
use std::path::{Path, PathBuf};
use std::process::Command;

/// The flags of every game.
#[derive(Args)]
struct Common {
    /// Runs of each, in turn
    #[arg(long, default_value_t = 7, value_parser = above_zero::<usize>)]
    pairs: usize,
    /// Mechanisms; all by default
    #[arg(long, value_delimiter = ',')]
    mechanisms: Vec<String>,
    /// Time that each measures its loop for in one run
    #[arg(long, value_name = "MS", default_value_t = 300, value_parser = above_zero::<u64>)]
    time: u64,
    /// The CPU that both run on; the last one by default
    #[arg(long)]
    cpu: Option<usize>,
    /// Write the table to this file as well
    #[arg(long, value_name = "FILE")]
    output: Option<PathBuf>,
}

/// The flags of `bench harness`.
#[derive(Args)]
pub struct Harness {
    #[command(flatten)]
    common: Common,
    /// Watched descriptors
    #[arg(long, value_delimiter = ',', default_value = "100,9000", value_parser = above_zero::<u64>)]
    points: Vec<u64>,
}

/// The flags of `bench primitives`.
#[derive(Args)]
pub struct Primitives {
    #[command(flatten)]
    common: Common,
    /// Calls; each program's usual number by default
    #[arg(long, value_delimiter = ',', value_parser = above_zero::<u64>)]
    points: Vec<u64>,
}

/// The flags of `bench pipetest`.
#[derive(Args)]
pub struct Pipetest {
    #[command(flatten)]
    common: Common,
    /// Tokens: numbers, or shares of the pipes
    #[arg(long, value_delimiter = ',', default_value = "1%,90%")]
    points: Vec<String>,
    /// Pipes
    #[arg(long, value_delimiter = ',', default_value = "1000", value_parser = above_zero::<u64>)]
    pipes: Vec<u64>,
    /// Which pipes hold a token at first
    #[arg(long, value_enum, default_value_t = Spread::Tail)]
    spread: Spread,
}

#[derive(Clone, Copy, ValueEnum)]
#[expect(clippy::enum_variant_names, reason = "the rule is called spread by its author")]
enum Spread {
    Tail,
    Spread,
    Random,
}

/// What both sides are run with.
#[derive(Debug, PartialEq, Eq)]
pub struct Options {
    /// Runs of each, in turn.
    pub pairs: usize,
    /// Where both are measured; empty for where a program is usually.
    pub settings: Vec<Setting>,
    /// What those have in common, for the table.
    pub about: String,
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

impl TryFrom<Harness> for Options {
    type Error = Error;

    fn try_from(args: Harness) -> Result<Self> {
        let settings = args.points.into_iter().map(Setting::pairs).collect();
        Ok(Self::new(args.common, game::about_pairs(), settings))
    }
}

impl TryFrom<Primitives> for Options {
    type Error = Error;

    fn try_from(args: Primitives) -> Result<Self> {
        let settings = args.points.into_iter().map(Setting::calls).collect();
        Ok(Self::new(args.common, game::about_calls(), settings))
    }
}

impl TryFrom<Pipetest> for Options {
    type Error = Error;

    fn try_from(args: Pipetest) -> Result<Self> {
        let spread = args.spread.to_possible_value().context("every spread has a name")?;
        let spread = spread.get_name();
        let mut settings = Vec::new();
        for &pipes in &args.pipes {
            for point in &args.points {
                settings.push(Setting::pipes(pipes, tokens(point, pipes)?, spread));
            }
        }
        Ok(Self::new(args.common, game::about_pipes(spread), settings))
    }
}

impl Options {
    fn new(common: Common, about: String, settings: Vec<Setting>) -> Self {
        let last_cpu = || std::thread::available_parallelism().map_or(0, |count| count.get() - 1);
        Self {
            pairs: common.pairs,
            settings,
            about,
            mechanisms: common.mechanisms,
            time_ms: common.time,
            cpu: common.cpu.unwrap_or_else(last_cpu),
            pins: shell::has("taskset"),
            output: common.output,
        }
    }

    /// Where a program is measured.
    pub fn settings_of(&self, play: &Play) -> Vec<Setting> {
        if self.settings.is_empty() {
            play.usual.iter().cloned().collect()
        } else {
            self.settings.clone()
        }
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

/// Tokens that go round in so many pipes: a number, or a share of the pipes.
fn tokens(point: &str, pipes: u64) -> Result<u64> {
    let tokens = match point.strip_suffix('%') {
        None => above_zero(point).map_err(Error::msg).context("--points")?,
        Some(share) => {
            let percent: f64 = share.parse().with_context(|| format!("--points {point}"))?;
            if !(percent > 0.0 && percent <= 100.0) {
                bail!("--points: {point:?} is no share of the pipes");
            }
            ((pipes as f64 * percent / 100.0).round() as u64).max(1)
        }
    };
    if tokens > pipes {
        bail!("--points: {tokens} tokens are more than {pipes} pipes");
    }
    Ok(tokens)
}

/// A whole number above zero; `_` may group its digits.
pub fn above_zero<T: std::str::FromStr + Default + PartialEq>(text: &str) -> Result<T, String> {
    match text.replace('_', "").parse() {
        Ok(value) if value != T::default() => Ok(value),
        _ => Err(format!("{text:?} is not a whole number above zero")),
    }
}

/// The flags of a bench from its command line, for tests.
#[cfg(test)]
pub fn parse<T: Args>(text: &str) -> Result<T, clap::Error> {
    #[derive(clap::Parser)]
    #[command(no_binary_name = true)]
    struct Only<T: Args> {
        #[command(flatten)]
        args: T,
    }
    let words = text.split_whitespace();
    <Only<T> as clap::Parser>::try_parse_from(words).map(|only| only.args)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::game::PRIMITIVES;

    fn harness(text: &str) -> Result<Options> {
        parse::<Harness>(text)?.try_into()
    }

    fn pipetest(text: &str) -> Result<Options> {
        parse::<Pipetest>(text)?.try_into()
    }

    fn numbers(options: &Options) -> Vec<&[u64]> {
        options.settings.iter().map(|setting| setting.numbers.as_slice()).collect()
    }

    #[test]
    fn flags_are_read() {
        let text = "--pairs 9 --points 10,2000 --mechanisms poll,select --time 50";
        let options = harness(text).unwrap();
        assert_eq!((options.pairs, options.time_ms), (9, 50));
        assert_eq!(numbers(&options), [[10], [2_000]]);
        assert!(options.wants("poll") && !options.wants("ppoll"));
        let usual = harness("").unwrap();
        assert!(usual.wants("ppoll"));
        assert_eq!(numbers(&usual), [[100], [9_000]]);
    }

    #[test]
    fn tokens_are_numbers_or_shares_of_the_pipes() {
        let options = pipetest("--pipes 1000,90 --points 7,1.5%,100%").unwrap();
        let wanted = [[1_000, 7], [1_000, 15], [1_000, 1_000], [90, 7], [90, 1], [90, 90]];
        assert_eq!(numbers(&options), wanted);
        assert_eq!(numbers(&pipetest("").unwrap()), [[1_000, 10], [1_000, 900]]);
    }

    #[test]
    fn both_sides_play_by_the_same_rules() {
        let options = pipetest("--pipes 50 --points 20% --spread random").unwrap();
        let [setting] = options.settings.as_slice() else { panic!("{options:?}") };
        assert_eq!(setting.plain.join(" "), "50 10 1000 random 16 -1");
        let values: Vec<&String> = setting.ours.iter().skip(1).step_by(2).collect();
        assert_eq!(values, setting.plain.iter().collect::<Vec<_>>());
        assert!(options.about.contains("spread random"), "{}", options.about);
    }

    #[test]
    fn single_calls_have_points_of_their_own() {
        let programs = PRIMITIVES.programs(&[]);
        let points = |text: &str, name: &str| {
            let play = programs.iter().find(|play| play.name == name).unwrap();
            let options: Options = parse::<Primitives>(text).unwrap().try_into().unwrap();
            let settings = options.settings_of(play);
            settings.into_iter().map(|setting| setting.plain.join(" ")).collect::<Vec<_>>()
        };
        assert_eq!(points("", "socket"), ["10000"]);
        assert_eq!(points("", "mmap"), ["25000"]);
        assert_eq!(points("--points 5,70", "mmap"), ["5", "70"]);
    }

    #[test]
    fn nonsense_is_refused() {
        for text in ["--pairs", "--pairs 0", "--points 10,x", "--points -1", "--speed 3"] {
            assert!(harness(text).is_err(), "{text}");
            assert!(pipetest(text).is_err(), "{text}");
        }
        for text in ["--points 0%", "--points 101%", "--points x%", "--points 1001", "--pipes 0"] {
            assert!(pipetest(text).is_err(), "{text}");
        }
        assert!(pipetest("--spread even").is_err());
        assert!(harness("--pipes 10").is_err());
    }
}
