//! The flags of `cargo xtask bench http`.

use super::super::options::number;
use anyhow::{Context, Result, bail};
use std::path::PathBuf;

/// What was asked for.
pub struct Options {
    /// Runs of each, in turn.
    pub pairs: usize,
    /// Time that each is measured for in one run, in milliseconds.
    pub time_ms: u64,
    /// Numbers of dead connections.
    pub dead: Vec<u64>,
    /// `servers` or `generators`; both when none is named.
    only: Option<String>,
    /// Where to put the tables, besides the terminal.
    pub output: Option<PathBuf>,
}

impl Options {
    /// Reads the flags; anything unknown is an error.
    pub fn parse(args: &[String]) -> Result<Self> {
        let mut options =
            Self { pairs: 7, time_ms: 1_000, dead: vec![0, 10_000], only: None, output: None };
        let mut args = args.iter();
        while let Some(flag) = args.next() {
            let value = args.next().with_context(|| format!("{flag} wants a value"))?;
            match flag.as_str() {
                "--pairs" => options.pairs = number(flag, value)?,
                "--time" => options.time_ms = number(flag, value)?,
                "--dead" => {
                    let each = |text: &str| {
                        text.parse().with_context(|| format!("{flag}: {text:?} is no number"))
                    };
                    options.dead = value.split(',').map(each).collect::<Result<_>>()?;
                }
                "--only" if ["servers", "generators"].contains(&value.as_str()) => {
                    options.only = Some(value.clone());
                }
                "--only" => bail!("--only is servers or generators, not {value}"),
                "--output" => options.output = Some(PathBuf::from(value)),
                _ => bail!("bench http knows no {flag}"),
            }
        }
        Ok(options)
    }

    /// Whether a half is to be measured.
    pub fn wants(&self, half: &str) -> bool {
        self.only.as_deref().is_none_or(|only| only == half)
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
        let options = parse("--pairs 9 --time 500 --dead 0,100 --only servers").unwrap();
        assert_eq!(
            (options.pairs, options.time_ms, options.dead.as_slice()),
            (9, 500, &[0, 100][..])
        );
        assert!(options.wants("servers") && !options.wants("generators"));
        let usual = parse("").unwrap();
        assert!(usual.wants("servers") && usual.wants("generators"));
    }

    #[test]
    fn nonsense_is_refused() {
        for text in ["--pairs", "--pairs 0", "--dead x", "--dead -1", "--only us", "--speed 3"] {
            assert!(parse(text).is_err(), "{text}");
        }
    }
}
