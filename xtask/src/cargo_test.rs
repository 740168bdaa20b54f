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

/// So many that fail are tried again; more don't fail by chance.
const UNSTEADY_MAX: usize = 3;

/// Runs every test, doc tests too; `args` are cargo's. Those that fail are run again, alone: one that
/// holds then is told to be unsteady, which is a fault of its own, and no reason to refuse a change.
pub fn run(args: &[String], tally: &mut Tally) -> Result<()> {
    let cpus = thread::available_parallelism().map_or(1, NonZero::get);
    let set = std::env::var(THREADS).ok();
    let threads = set.unwrap_or_else(|| (THREADS_PER_CPU * cpus).to_string());
    let mut counts = once(args, &threads)?;
    if counts.may_be_unsteady() {
        let again = once(&alone(args, &counts.names_failed), "1")?;
        counts.settle(&again);
    }
    counts.into_tally(tally);
    Ok(())
}

/// Runs the tests that cargo's `args` choose, so many at a time.
fn once(args: &[String], threads: &str) -> Result<Counts> {
    let mut command = shell::cargo(&shell::root(), "test");
    // Cargo would not heed a package beside `--workspace`.
    let chosen = args.iter().any(|arg| arg.starts_with("-p") || arg.starts_with("--package"));
    command.args((!chosen).then_some("--workspace")).arg("--no-fail-fast").args(args);
    command.env(THREADS, threads);
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
    counts.succeeded = child.wait()?.success();
    Ok(counts)
}

/// The arguments that choose these tests, and no others.
fn alone(args: &[String], names: &[String]) -> Vec<String> {
    let mut args = args.to_vec();
    if !args.iter().any(|arg| arg == "--") {
        args.push("--".into());
    }
    args.push("--exact".into());
    // What libtest adds to a name is none of it.
    args.extend(names.iter().map(|name| name.trim_end_matches(" - should panic").to_owned()));
    args
}

/// What the lines of test programs add up to.
#[derive(Debug, Default, PartialEq, Eq)]
struct Counts {
    succeeded: bool,
    /// Test programs that began, less those that told a result: those that died.
    unfinished: i64,
    passed: u64,
    failed: u64,
    ignored: u64,
    names_failed: Vec<String>,
    names_unsteady: Vec<String>,
    names_ignored: Vec<(String, String)>,
}

impl Counts {
    /// Whether all that went wrong is a few tests that have names.
    fn may_be_unsteady(&self) -> bool {
        let named = self.names_failed.len();
        self.unfinished == 0 && self.failed == named as u64 && (1..=UNSTEADY_MAX).contains(&named)
    }

    /// Takes what failed for unsteady, if all of it held when it was run again.
    fn settle(&mut self, again: &Counts) {
        if again.succeeded && again.passed >= self.failed {
            self.succeeded = true;
            self.failed = 0;
            self.names_unsteady = std::mem::take(&mut self.names_failed);
        }
    }

    /// Takes one line of output: `test NAME ... FAILED`, or `test result: ok. 3 passed; …`.
    fn take(&mut self, line: &str) {
        if line.starts_with("running ") && (line.ends_with(" tests") || line.ends_with(" test")) {
            self.unfinished += 1;
        } else if let Some(result) = line.strip_prefix("test result: ") {
            self.unfinished -= 1;
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
    fn into_tally(self, tally: &mut Tally) {
        tally.pass(self.passed);
        let unnamed = self.failed.saturating_sub(self.names_failed.len() as u64);
        for name in &self.names_unsteady {
            tally.unsteady(&format!("test {name}"), "failed beside others, and passed alone");
        }
        for name in &self.names_failed {
            tally.fail(format!("test {name}"));
        }
        for _ in 0..unnamed {
            tally.fail("a test that printed no name");
        }
        if !self.succeeded && self.failed == 0 && self.names_failed.is_empty() {
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
            running 1 test\n\
            test src/lib.rs - example (line 3) ... ok\n\
            test result: ok. 41 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out\n";
        let mut tally = Tally::default();
        let counts = counts(text);
        assert!(counts.may_be_unsteady());
        counts.into_tally(&mut tally);
        assert_eq!(
            tally.summary(),
            "\nskipped: test a::needs_root: needs root\nFAILED:  test a::breaks\n\
             42 passed, 1 failed, 1 skipped\n"
        );
    }

    #[test]
    fn what_holds_when_it_runs_alone_is_unsteady_and_what_does_not_has_failed() {
        let first = "running 2 tests\n\
            test a::holds ... ok\n\
            test a::breaks - should panic ... FAILED\n\
            test result: FAILED. 1 passed; 1 failed; 0 ignored; 0 measured; 0 filtered out\n";
        let args = ["-p".to_owned(), "a".to_owned()];
        let again = alone(&args, &counts(first).names_failed);
        assert_eq!(again, ["-p", "a", "--", "--exact", "a::breaks"]);
        let outcome = |succeeded: bool, text: &str| {
            let mut counts = counts(first);
            counts.settle(&Counts { succeeded, ..self::counts(text) });
            let mut tally = Tally::default();
            counts.into_tally(&mut tally);
            (tally.failed(), tally.summary().lines().last().map(str::to_owned))
        };
        let holds = "running 1 test\ntest a::breaks - should panic ... ok\n\
            test result: ok. 1 passed; 0 failed; 0 ignored; 0 measured; 1 filtered out\n";
        let said = "2 passed, 0 failed, 0 skipped, 1 unsteady".to_owned();
        assert_eq!(outcome(true, holds), (0, Some(said)));
        assert_eq!(outcome(false, &holds.replace("ok. 1 passed; 0", "FAILED. 0 passed; 1")).0, 1);
        // Nothing was run: its name has changed, or its program is not built.
        assert_eq!(outcome(true, &holds.replace("1 passed", "0 passed")).0, 1);
    }

    #[test]
    fn programs_that_die_and_many_failures_are_not_tried_again() {
        let one = "running 1 test\ntest a ... FAILED\ntest result: FAILED. 0 passed; 1 failed\n";
        assert!(counts(one).may_be_unsteady());
        assert!(!counts(&format!("{one}running 7 tests\ntest b ... ok\n")).may_be_unsteady());
        assert!(!counts(&one.repeat(UNSTEADY_MAX + 1)).may_be_unsteady());
        assert!(!counts("").may_be_unsteady());
    }

    #[test]
    fn a_build_that_fails_is_a_failure() {
        let mut tally = Tally::default();
        counts("").into_tally(&mut tally);
        assert_eq!(tally.failed(), 1);
    }

    #[test]
    fn failures_without_names_still_count() {
        let mut tally = Tally::default();
        let counts = counts("test result: FAILED. 0 passed; 2 failed; 1 ignored; 0 measured");
        assert!(!counts.may_be_unsteady());
        counts.into_tally(&mut tally);
        assert!(tally.summary().ends_with("0 passed, 2 failed, 1 skipped\n"));
    }
}
