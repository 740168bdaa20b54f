//! `cargo test` on the workspace, its output passed on as it comes and its counts summed.

use crate::shell;
use crate::tally::Tally;
use anyhow::{Context, Result};
use std::io::{BufRead, BufReader, Write as _};
use std::num::NonZero;
use std::process::Stdio;
use std::thread;

/// How many tests of a program run at once. Most of them wait for processes that they started.
const THREADS: &str = "RUST_TEST_THREADS";
const THREADS_PER_CPU: usize = 2;

/// Runs every test, doc tests too; `args` are cargo's.
pub fn run(args: &[String], tally: &mut Tally) -> Result<()> {
    let mut command = shell::cargo(&shell::root(), "test");
    // Cargo would not heed a package beside `--workspace`.
    let chosen = args.iter().any(|arg| arg.starts_with("-p") || arg.starts_with("--package"));
    command.args((!chosen).then_some("--workspace")).arg("--no-fail-fast").args(args);
    if std::env::var_os(THREADS).is_none() {
        let cpus = thread::available_parallelism().map_or(1, NonZero::get);
        command.env(THREADS, (THREADS_PER_CPU * cpus).to_string());
    }
    println!("$ {}", shell::display(&command));
    let mut child = command.stdin(Stdio::null()).stdout(Stdio::piped()).spawn()?;
    let pipe = child.stdout.take().context("cargo test has no output")?;
    let mut counts = Counts::default();
    let mut terminal = std::io::stdout().lock();
    for line in BufReader::new(pipe).split(b'\n') {
        let line = line?;
        let line = String::from_utf8_lossy(&line);
        writeln!(terminal, "{line}")?;
        counts.take(&line);
    }
    drop(terminal);
    let succeeded = child.wait()?.success();
    counts.into_tally(succeeded, tally);
    Ok(())
}

/// What the lines of test programs add up to.
#[derive(Debug, Default, PartialEq, Eq)]
struct Counts {
    passed: u64,
    failed: u64,
    ignored: u64,
    names_failed: Vec<String>,
    names_ignored: Vec<(String, String)>,
}

impl Counts {
    /// Takes one line of output: `test NAME ... FAILED`, or `test result: ok. 3 passed; …`.
    fn take(&mut self, line: &str) {
        if let Some(result) = line.strip_prefix("test result: ") {
            for part in result.split([';', '.']) {
                let mut words = part.split_whitespace();
                let number = words.next().and_then(|word| word.parse::<u64>().ok());
                match (number, words.next()) {
                    (Some(number), Some("passed")) => self.passed += number,
                    (Some(number), Some("failed")) => self.failed += number,
                    (Some(number), Some("ignored")) => self.ignored += number,
                    _ => {}
                }
            }
        } else if let Some((name, verdict)) =
            line.strip_prefix("test ").and_then(|rest| rest.rsplit_once(" ... "))
        {
            if verdict == "FAILED" {
                self.names_failed.push(name.to_owned());
            } else if let Some(reason) = verdict.strip_prefix("ignored") {
                let reason = reason.trim_start_matches(',').trim();
                self.names_ignored.push((name.to_owned(), reason.to_owned()));
            }
        }
    }

    /// Adds the counts to the tally. Where names were not printed, numbers stand for them.
    fn into_tally(self, succeeded: bool, tally: &mut Tally) {
        tally.pass(self.passed);
        let unnamed = self.failed.saturating_sub(self.names_failed.len() as u64);
        for name in &self.names_failed {
            tally.fail(format!("test {name}"));
        }
        for _ in 0..unnamed {
            tally.fail("a test that printed no name");
        }
        if !succeeded && self.failed == 0 && self.names_failed.is_empty() {
            tally.fail("cargo test: did not build, or a test program died (see above)");
        }
        let unnamed = self.ignored.saturating_sub(self.names_ignored.len() as u64);
        for (name, reason) in &self.names_ignored {
            tally.skip(&format!("test {name}"), reason);
        }
        for _ in 0..unnamed {
            tally.skip("test", "ignored, printed no name");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counts(text: &str) -> Counts {
        let mut counts = Counts::default();
        text.lines().for_each(|line| counts.take(line));
        counts
    }

    #[test]
    fn results_of_several_programs_are_summed() {
        let text = "running 3 tests\n\
            test a::holds ... ok\n\
            test a::breaks ... FAILED\n\
            test a::needs_root ... ignored, needs root\n\
            test result: FAILED. 1 passed; 1 failed; 1 ignored; 0 measured; 0 filtered out; \
            finished in 0.00s\n\
            test src/lib.rs - example (line 3) ... ok\n\
            test result: ok. 41 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out\n";
        let mut tally = Tally::default();
        counts(text).into_tally(false, &mut tally);
        assert_eq!(
            tally.summary(),
            "\nskipped: test a::needs_root: needs root\nFAILED:  test a::breaks\n\
             42 passed, 1 failed, 1 skipped\n"
        );
    }

    #[test]
    fn a_build_that_fails_is_a_failure() {
        let mut tally = Tally::default();
        counts("").into_tally(false, &mut tally);
        assert_eq!(tally.failed(), 1);
    }

    #[test]
    fn failures_without_names_still_count() {
        let mut tally = Tally::default();
        counts("test result: FAILED. 0 passed; 2 failed; 1 ignored; 0 measured")
            .into_tally(false, &mut tally);
        assert!(tally.summary().ends_with("0 passed, 2 failed, 1 skipped\n"));
    }
}
