//! The flags of `cargo xtask bench`.

use super::game::{self, Game, PIPETEST, PRIMITIVES, Play, Setting};
use crate::shell;
use anyhow::{Context, Result, bail};
use std::path::{Path, PathBuf};
use std::process::Command;

/// What was asked for.
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

impl Options {
    /// Reads the flags of a game; anything unknown is an error.
    pub fn parse(game: &Game, args: &[String]) -> Result<Self> {
        let pipetest = game.name == PIPETEST.name;
        let calls = game.name == PRIMITIVES.name;
        let mut options = Self {
            pairs: 7,
            settings: Vec::new(),
            about: String::new(),
            mechanisms: Vec::new(),
            time_ms: 300,
            cpu: std::thread::available_parallelism().map_or(0, |count| count.get() - 1),
            pins: shell::has("taskset"),
            output: None,
        };
        let (mut points, mut pipes, mut spread) =
            (if pipetest { "1%,90%" } else { "" }, vec![1_000], "tail");
        let mut args = args.iter();
        while let Some(flag) = args.next() {
            let value = args.next().with_context(|| format!("{flag} wants a value"))?;
            match flag.as_str() {
                "--pairs" => options.pairs = number(flag, value)?,
                "--points" => points = value,
                "--pipes" if pipetest => {
                    pipes =
                        value.split(',').map(|pipes| number(flag, pipes)).collect::<Result<_>>()?;
                }
                "--spread" if pipetest => spread = value,
                "--mechanisms" => {
                    options.mechanisms = value.split(',').map(str::to_owned).collect();
                }
                "--time" => options.time_ms = number(flag, value)?,
                "--cpu" => {
                    options.cpu = value.parse().with_context(|| format!("{flag} {value}"))?;
                }
                "--output" => options.output = Some(PathBuf::from(value)),
                _ => bail!("bench {} knows no {flag}", game.name),
            }
        }
        if pipetest {
            options.about = game::about_pipes(spread);
            options.settings = of_pipes(&pipes, points, spread)?;
        } else {
            options.about = if calls { game::about_calls() } else { game::about_pairs() };
            let setting = if calls { Setting::calls } else { Setting::pairs };
            let usual = if calls { "" } else { "100,9000" };
            let points = if points.is_empty() { usual } else { points };
            let points = points.split(',').filter(|point| !(calls && point.is_empty()));
            let points = points.map(|point| number("--points", point));
            options.settings = points.map(|point| Ok(setting(point?))).collect::<Result<_>>()?;
        }
        Ok(options)
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

/// Every number of tokens in every number of pipes.
fn of_pipes(pipes: &[u64], points: &str, spread: &str) -> Result<Vec<Setting>> {
    if !["tail", "spread", "random"].contains(&spread) {
        bail!("--spread: {spread:?} is none of tail, spread, random");
    }
    let mut settings = Vec::new();
    for &pipes in pipes {
        for point in points.split(',') {
            settings.push(Setting::pipes(pipes, tokens(point, pipes)?, spread));
        }
    }
    Ok(settings)
}

/// Tokens that go round in so many pipes: a number, or a share of the pipes.
fn tokens(point: &str, pipes: u64) -> Result<u64> {
    let tokens = match point.strip_suffix('%') {
        None => number("--points", point)?,
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

/// A number above zero.
pub fn number<T: std::str::FromStr + Default + PartialEq>(flag: &str, text: &str) -> Result<T> {
    match text.replace('_', "").parse() {
        Ok(value) if value != T::default() => Ok(value),
        _ => bail!("{flag}: {text:?} is not a whole number above zero"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::game::HARNESS;

    fn parse(game: &Game, text: &str) -> Result<Options> {
        Options::parse(game, &text.split_whitespace().map(str::to_owned).collect::<Vec<_>>())
    }

    fn numbers(options: &Options) -> Vec<&[u64]> {
        options.settings.iter().map(|setting| setting.numbers.as_slice()).collect()
    }

    #[test]
    fn flags_are_read() {
        let text = "--pairs 9 --points 10,2000 --mechanisms poll,select --time 50";
        let options = parse(&HARNESS, text).unwrap();
        assert_eq!((options.pairs, options.time_ms), (9, 50));
        assert_eq!(numbers(&options), [[10], [2_000]]);
        assert!(options.wants("poll") && !options.wants("ppoll"));
        let usual = parse(&HARNESS, "").unwrap();
        assert!(usual.wants("ppoll"));
        assert_eq!(numbers(&usual), [[100], [9_000]]);
    }

    #[test]
    fn tokens_are_numbers_or_shares_of_the_pipes() {
        let options = parse(&PIPETEST, "--pipes 1000,90 --points 7,1.5%,100%").unwrap();
        let wanted = [[1_000, 7], [1_000, 15], [1_000, 1_000], [90, 7], [90, 1], [90, 90]];
        assert_eq!(numbers(&options), wanted);
        assert_eq!(numbers(&parse(&PIPETEST, "").unwrap()), [[1_000, 10], [1_000, 900]]);
    }

    #[test]
    fn both_sides_play_by_the_same_rules() {
        let options = parse(&PIPETEST, "--pipes 50 --points 20% --spread random").unwrap();
        let [setting] = options.settings.as_slice() else { panic!("{options:?}") };
        assert_eq!(setting.plain.join(" "), "50 10 1000 random 16 -1");
        let values: Vec<&String> = setting.ours.iter().skip(1).step_by(2).collect();
        assert_eq!(values, setting.plain.iter().collect::<Vec<_>>());
        assert!(options.about.contains("spread random"), "{}", options.about);
    }

    #[test]
    fn single_calls_have_points_of_their_own() {
        let programs = PRIMITIVES.programs(&[]);
        let of = |text: &str, name: &str| {
            let play = programs.iter().find(|play| play.name == name).unwrap();
            let settings = parse(&PRIMITIVES, text).unwrap().settings_of(play);
            settings.into_iter().map(|setting| setting.plain.join(" ")).collect::<Vec<_>>()
        };
        assert_eq!(of("", "socket"), ["10000"]);
        assert_eq!(of("", "mmap"), ["25000"]);
        assert_eq!(of("--points 5,70", "mmap"), ["5", "70"]);
    }

    #[test]
    fn nonsense_is_refused() {
        for text in ["--pairs", "--pairs 0", "--points 10,x", "--points -1", "--speed 3"] {
            assert!(parse(&HARNESS, text).is_err(), "{text}");
            assert!(parse(&PIPETEST, text).is_err(), "{text}");
        }
        for text in ["--points 0%", "--points 101%", "--points x%", "--points 1001", "--pipes 0"] {
            assert!(parse(&PIPETEST, text).is_err(), "{text}");
        }
        assert!(parse(&PIPETEST, "--spread even").is_err());
        assert!(parse(&HARNESS, "--pipes 10").is_err());
    }
}
