//! The flags of `cargo xtask bench http`.

use crate::bench::options::above_zero;
use clap::{Args, ValueEnum};
use std::path::PathBuf;

/// What is measured, and how long.
#[derive(Args)]
pub struct Options {
    /// Runs of each, in turn
    #[arg(long, default_value_t = 7, value_parser = above_zero::<usize>)]
    pub pairs: usize,
    /// Time that each is measured for in one run
    #[arg(long = "time", value_name = "MS", default_value_t = 1_000, value_parser = above_zero::<u64>)]
    pub time_ms: u64,
    /// Numbers of dead connections
    #[arg(long, value_delimiter = ',', default_value = "0,9500")]
    pub dead: Vec<u64>,
    /// Measure one half; both by default
    #[arg(long, value_enum)]
    only: Option<Half>,
    /// Write the tables to this file as well
    #[arg(long, value_name = "FILE")]
    pub output: Option<PathBuf>,
}

/// A half of the bench.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Half {
    Servers,
    Generators,
}

impl Options {
    /// Whether a half is to be measured.
    pub fn wants(&self, half: Half) -> bool {
        self.only.is_none_or(|only| only == half)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::options;

    fn parse(text: &str) -> Result<Options, clap::Error> {
        options::parse(text)
    }

    #[test]
    fn flags_are_read() {
        let options = parse("--pairs 9 --time 500 --dead 0,100 --only servers").unwrap();
        assert_eq!(
            (options.pairs, options.time_ms, options.dead.as_slice()),
            (9, 500, &[0, 100][..])
        );
        assert!(options.wants(Half::Servers) && !options.wants(Half::Generators));
        let usual = parse("").unwrap();
        assert!(usual.wants(Half::Servers) && usual.wants(Half::Generators));
    }

    #[test]
    fn nonsense_is_refused() {
        for text in ["--pairs", "--pairs 0", "--dead x", "--dead -1", "--only us", "--speed 3"] {
            assert!(parse(text).is_err(), "{text}");
        }
    }
}
