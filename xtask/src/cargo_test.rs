//! `cargo test` on the workspace, three test programs at a time, and the sum of their counts. A few tests that
//! fail are run again, and reported as unsteady if they pass then.
//!
//! A test that lacks what it needs prints `SKIPPED: why` and passes; one that lacks a part of it, `SKIPPED in part: why`.
//! Both are counted as skipped, by name; on a machine that can have all that the tests need, as failed.

use crate::setup;
use crate::shell;
use crate::style;
use crate::tally::Tally;
use anyhow::{Result, anyhow};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, BufRead, BufReader, Write as _};
use std::num::NonZero;
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

/// How many tests of a program run at once. Most of them wait for processes that they started, and three programs run at a time.
const THREADS: &str = "RUST_TEST_THREADS";
const THREADS_PER_TWO_CPUS: usize = 3;

/// Two rows of test programs, which run next to a third row of all others, and take about as long: most of them wait, for
/// browsers, guests, servers and rounds.
const ROWS: [&[&str]; 2] = [
    &["running", "trouble", "interruption", "power", "vm", "server", "written", "concluded"],
    &["browser", "serving", "vm_bisect", "httpd_slow", "clients", "dead", "truth", "live"],
];

/// The test program that changes a setting of the whole machine: it runs after all others, by itself.
const ALONE: &str = "denied";

/// What is printed waits for the end of its program no longer than that.
const PRINTED_WITHIN: Duration = Duration::from_secs(20);

/// If so many fail at most, they are run again; more don't fail by chance.
const UNSTEADY_MAX: usize = 3;

/// Characters of what a test died of.
const CAUSE_MAX: usize = 600;
/// Programs, as cargo names them, whose tests look for what goes wrong once in thousands of times: what
/// fails there once has failed.
const STRICT: [&str; 7] = [
    "-p knee-locks ",
    "-p knee-readiness ",
    "-p knee-archive --test sqlite",
    "--test durability ",
    "--test power ",
    "--test interruption ",
    "--test httpd_paths ",
];

/// What the reasons of tests contain that are skipped on a whole machine too: its kernel, its processor or the person that
/// started them has it so.
const OF_THE_MACHINE: [&str; 5] = [
    "Solaris and illumos only",
    "libkqueue",
    "no counter of cycles",
    "this kernel has no kernel.io_uring_disabled",
    "KNEE_NO_BROWSER=1",
];

/// What builds the tests.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Compiler {
    /// The compiler
    Plain,
    /// The compiler with clippy in it: nothing is compiled once more for its findings
    Linting,
}

impl Compiler {
    /// Has a cargo build by it.
    pub fn put_into(self, cargo: &mut Command) {
        if self == Self::Linting {
            // As `cargo clippy` has it checked. The crates of others are the compiler's.
            cargo.env("RUSTC_WORKSPACE_WRAPPER", "clippy-driver");
        }
    }
}

/// How cargo is called.
struct Cargo {
    compiler: Compiler,
    /// How many tests of a program run at once.
    threads: String,
}

impl Cargo {
    /// Runs the tests that cargo's `words` choose.
    fn test(&self, words: &[String]) -> Result<Counts> {
        let mut command = shell::cargo(&shell::root(), "test");
        command.arg("--no-fail-fast").args(words).env(THREADS, &self.threads);
        self.compiler.put_into(&mut command);
        command.args(shows_output(words));
        println!("$ {}", shell::display(&command));
        // One pipe for both: what cargo says of a program stands behind what the program says.
        let (reader, writer) = io::pipe()?;
        command.stdin(Stdio::null()).stdout(writer.try_clone()?).stderr(writer);
        let mut child = command.spawn()?;
        // It holds the other end of the pipe, which is to end with the child.
        drop(command);
        let mut counts = Counts::default();
        // What one program says is printed at once, if it says it soon: another one may run next to it.
        let (mut lines, mut printed) = (Vec::new(), Instant::now());
        for line in BufReader::new(reader).split(b'\n') {
            let line = line?;
            let line = String::from_utf8_lossy(&line);
            if counts.take(&line) {
                writeln!(lines, "{line}")?;
            }
            if line.starts_with("test result: ") || printed.elapsed() > PRINTED_WITHIN {
                io::stdout().lock().write_all(&std::mem::take(&mut lines))?;
                printed = Instant::now();
            }
        }
        io::stdout().lock().write_all(&lines)?;
        counts.succeeded = child.wait()?.success();
        Ok(counts)
    }
}

/// The tests that were asked for.
pub struct Tests {
    cargo: Cargo,
    words: Vec<String>,
    /// Somebody chose them.
    are_chosen: bool,
    built: Counts,
}

impl Tests {
    /// Every test, doc tests too; `args` are cargo's.
    pub fn new(args: &[String], compiler: Compiler) -> Self {
        let cpus = thread::available_parallelism().map_or(1, NonZero::get);
        let set = std::env::var(THREADS).ok();
        let threads = set.unwrap_or_else(|| (THREADS_PER_TWO_CPUS * cpus).div_ceil(2).to_string());
        // Cargo would not heed a package next to `--workspace`.
        let chosen = args.iter().any(|arg| arg.starts_with("-p") || arg.starts_with("--package"));
        let all = (!chosen).then(|| "--workspace".to_owned());
        let words: Vec<String> = all.into_iter().chain(args.iter().cloned()).collect();
        Self {
            cargo: Cargo { compiler, threads },
            words: with_features(&words),
            are_chosen: !args.is_empty(),
            built: Counts::default(),
        }
    }

    /// Builds their programs.
    pub fn build(&mut self) -> Result<()> {
        let words = [&["--no-run".to_owned()], &self.words[..]].concat();
        self.built = self.cargo.test(&words)?;
        Ok(())
    }

    /// Runs them, once they are built. Of all tests, a few that fail are run again, one by one: what passes then
    /// is unsteady, which is a fault of its own, and no reason to refuse a change.
    pub fn run(mut self, tally: &mut Tally) -> Result<()> {
        let is_whole_machine = setup::is_whole_machine();
        let is_linted = self.cargo.compiler == Compiler::Linting;
        let mut counts = std::mem::take(&mut self.built);
        if is_linted {
            tally.check("lint", !counts.has_warnings);
        }
        if counts.succeeded {
            counts = if self.are_chosen {
                self.cargo.test(&self.words)?
            } else {
                in_rows(&self.words, &self.cargo)?
            };
        }
        if !self.are_chosen && counts.may_be_unsteady() {
            let alone = Cargo { threads: "1".to_owned(), ..self.cargo };
            for failure in std::mem::take(&mut counts.failures) {
                for name in &failure.names {
                    let again = alone.test(&failure.again(name))?;
                    counts.settle(name, &again);
                }
            }
        }
        counts.into_tally(is_whole_machine, tally);
        Ok(())
    }
}

/// Whether a test was skipped for what the kernel, the processor or the person lacks, and not for what a package brings.
fn is_of_the_machine(why: &str) -> bool {
    OF_THE_MACHINE.iter().any(|reason| why.contains(reason))
}

/// Runs a test program of each row at a time. Then runs [`ALONE`].
fn in_rows(words: &[String], cargo: &Cargo) -> Result<Counts> {
    let (rows, remaining) = split(&integration_tests(&shell::metadata(&shell::root())?));
    let with = |targets: &[String]| [words, targets].concat();
    let remaining = [&["--lib".to_owned(), "--bins".to_owned()][..], &remaining].concat();
    thread::scope(|scope| {
        let rows: Vec<_> = rows.iter().map(|row| scope.spawn(|| cargo.test(&with(row)))).collect();
        let mut counts = cargo.test(&with(&remaining))?;
        counts.add(cargo.test(&with(&["--doc".to_owned()]))?);
        for row in rows {
            counts.add(row.join().map_err(|_| anyhow!("a thread panicked"))??);
        }
        counts.add(cargo.test(&with(&["--test".to_owned(), ALONE.to_owned()]))?);
        Ok(counts)
    })
}

/// The names of all integration tests, as `cargo metadata` says them.
fn integration_tests(metadata: &Value) -> BTreeSet<String> {
    let items = |value: &Value, key: &str| value[key].as_array().cloned().unwrap_or_default();
    let targets =
        items(metadata, "packages").into_iter().flat_map(|package| items(&package, "targets"));
    let is_test = |target: &Value| items(target, "kind").iter().any(|kind| kind == "test");
    let names =
        targets.filter(is_test).filter_map(|target| Some(target["name"].as_str()?.to_owned()));
    names.collect()
}

/// Cargo's words for each of the [`ROWS`], and for the others.
fn split(names: &BTreeSet<String>) -> ([Vec<String>; 2], Vec<String>) {
    let words = |names: Vec<&str>| -> Vec<String> {
        names.into_iter().flat_map(|name| ["--test".to_owned(), name.to_owned()]).collect()
    };
    let rows = ROWS.map(|row| words(row.to_vec()));
    let is_other = |name: &&str| *name != ALONE && !ROWS.concat().contains(name);
    (rows, words(names.iter().map(String::as_str).filter(is_other).collect()))
}

/// The words with knee's optional features where they choose knee or everything. Where others are chosen, cargo
/// would refuse them.
fn with_features(words: &[String]) -> Vec<String> {
    let ours = words.split(|word| word == "--").next().unwrap_or_default();
    let chooses_knee = ours.windows(2).any(|pair| pair == ["-p", "knee"])
        || ours.iter().any(|word| word == "--workspace");
    let features: &[&str] = if chooses_knee { &["--features", style::FEATURES] } else { &[] };
    features.iter().copied().map(str::to_owned).chain(words.iter().cloned()).collect()
}

/// What has the harness show what tests that pass have printed: whether they were skipped.
fn shows_output(words: &[String]) -> Vec<&'static str> {
    let has = |word: &str| words.iter().any(|given| given == word);
    let separator = (!has("--")).then_some("--");
    let is_shown = has("--show-output") || has("--nocapture") || has("--no-capture");
    separator.into_iter().chain((!is_shown).then_some("--show-output")).collect()
}

/// A test program in which something failed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Failure {
    /// The words that run it again, as cargo says them: `-p load --test dead`.
    program: String,
    /// The tests in it that failed.
    names: Vec<String>,
    /// How many it says have failed; none where it never came to say so.
    announced: Option<u64>,
    /// What went wrong is more than that tests failed: it died, or met what was drawn at random.
    is_more: bool,
}

impl Failure {
    /// Whether all that went wrong are tests that can be run again, and may have met bad luck.
    fn may_be_unsteady(&self) -> bool {
        let strict = STRICT.iter().any(|words| format!("{} ", self.program).contains(words));
        let named = self.announced == Some(self.names.len() as u64) && !self.names.is_empty();
        // A name of a doc test can't be asked for: it has blanks in it.
        let is_doc = self.program.contains("--doc");
        named && !strict && !is_doc && !self.is_more
    }

    /// Cargo's words that run one of its tests again. They choose the workspace, as those before did: by itself, a
    /// package has other features of its dependencies, and is built anew.
    fn again(&self, name: &str) -> Vec<String> {
        let target = self.program.split_whitespace().skip_while(|word| !word.starts_with("--"));
        let words = ["--workspace"].into_iter().chain(target).chain(["--", "--exact", name]);
        with_features(&words.map(str::to_owned).collect::<Vec<_>>())
    }
}

/// What the lines of test programs, and cargo's between them, add up to.
#[derive(Debug, Default, PartialEq, Eq)]
struct Counts {
    succeeded: bool,
    /// Whether the compiler warned of something.
    has_warnings: bool,
    passed: u64,
    failed: u64,
    ignored: u64,
    names_failed: Vec<String>,
    names_unsteady: Vec<String>,
    /// What those that failed or were unsteady died of, by name, and which of them the lines are of.
    causes: BTreeMap<String, String>,
    failing: String,
    /// Whether the lines say what it died of.
    is_cause: bool,
    names_ignored: Vec<(String, String)>,
    /// The tests that passed without what they need, or without a part of it, and why.
    skipped: Vec<(String, String)>,
    skipped_in_part: Vec<(String, String)>,
    /// The first of these of the program that runs, and the number of those of all others.
    skipped_now: BTreeSet<String>,
    skipped_before: u64,
    /// Which test the lines are of that it printed, after all tests of its program have passed or failed.
    section: Section,
    /// The program that runs, as far as it has failed.
    now: Failure,
    failures: Vec<Failure>,
    /// How many programs have failed as cargo sums it up.
    programs_failed: usize,
}

/// A part of a test program's output.
#[derive(Debug, Default, PartialEq, Eq)]
enum Section {
    /// Verdicts, and what failed.
    #[default]
    Verdicts,
    /// What tests that passed have printed: of which test the lines are.
    OfPassed(String),
}

impl Counts {
    /// Adds those of other programs.
    fn add(&mut self, more: Counts) {
        self.succeeded &= more.succeeded;
        self.has_warnings |= more.has_warnings;
        self.passed += more.passed;
        self.failed += more.failed;
        self.ignored += more.ignored;
        self.names_failed.extend(more.names_failed);
        self.names_unsteady.extend(more.names_unsteady);
        self.causes.extend(more.causes);
        self.names_ignored.extend(more.names_ignored);
        self.skipped.extend(more.skipped);
        self.skipped_in_part.extend(more.skipped_in_part);
        self.skipped_before += more.skipped_before;
        self.failures.extend(more.failures);
        self.programs_failed += more.programs_failed;
    }

    /// Whether all that went wrong are a few tests that may have met bad luck.
    fn may_be_unsteady(&self) -> bool {
        let named: usize = self.failures.iter().map(|failure| failure.names.len()).sum();
        self.programs_failed == self.failures.len()
            && self.failed == named as u64
            && (1..=UNSTEADY_MAX).contains(&named)
            && self.failures.iter().all(Failure::may_be_unsteady)
    }

    /// Takes a test that failed for unsteady, if it passed when it alone was run `again`.
    fn settle(&mut self, name: &str, again: &Counts) {
        let passed = again.succeeded && (again.passed, again.failed) == (1, 0);
        let at = self.names_failed.iter().position(|failed| failed == name);
        if let Some(at) = at.filter(|_| passed) {
            self.names_unsteady.push(self.names_failed.remove(at));
            self.failed -= 1;
            self.succeeded = self.failed == 0;
        }
    }

    /// Takes one line of output: `test NAME ... FAILED`, or `test result: ok. 3 passed; …`, or what cargo
    /// says of a program that failed. Returns whether it is worth printing.
    fn take(&mut self, line: &str) -> bool {
        if line == "successes:" {
            self.section = Section::OfPassed(String::new());
            return false;
        }
        // Cargo's sum of a crate, also where it was compiled before.
        self.has_warnings |=
            line.starts_with("warning: `") && line.contains("` (") && line.contains(" generated ");
        let has_died = line.starts_with("error: test failed, to rerun pass `");
        if line == "failures:" || line.starts_with("test result: ") || has_died {
            self.section = Section::Verdicts;
            self.skipped_before += std::mem::take(&mut self.skipped_now).len() as u64;
        }
        if let Section::OfPassed(name) = &mut self.section {
            if let Some(next) = line.strip_prefix("---- ") {
                next.trim_end_matches(" stdout ----").clone_into(name);
            } else if let Some(why) = line.strip_prefix("SKIPPED: ") {
                self.skipped_now.insert(name.clone());
                self.skipped.push((name.clone(), why.to_owned()));
            } else if let Some(why) = line.strip_prefix("SKIPPED in part: ") {
                self.skipped_in_part.push((name.clone(), why.to_owned()));
            }
            return false;
        }
        self.take_cause(line);
        self.take_verdict(line);
        true
    }

    /// Takes a line of what a test printed that failed: the first lines of its panic are why.
    fn take_cause(&mut self, line: &str) {
        if let Some(name) = line.strip_prefix("---- ") {
            name.trim_end_matches(" stdout ----").clone_into(&mut self.failing);
        } else if line.starts_with("thread '") && line.contains(" panicked at ") {
            self.is_cause = !self.causes.contains_key(&self.failing);
        } else if line.is_empty()
            || line.starts_with("stack backtrace:")
            || line.starts_with("note: ")
        {
            self.is_cause = false;
        } else if self.is_cause {
            let cause = self.causes.entry(self.failing.clone()).or_default();
            let left = CAUSE_MAX.saturating_sub(cause.chars().count());
            cause.push(' ');
            cause.extend(line.trim().chars().take(left));
        }
    }

    fn take_verdict(&mut self, line: &str) {
        if let Some(result) = line.strip_prefix("test result: ") {
            self.take_result(result);
        } else if let Some(rest) = line.strip_prefix("test ") {
            self.take_test(rest);
        } else if let Some((_, program)) = line.split_once("test failed, to rerun pass `") {
            let program = program.trim_end_matches('`').to_owned();
            self.failures.push(Failure { program, ..std::mem::take(&mut self.now) });
        } else if line.contains("minimal failing input") {
            self.now.is_more = true;
        } else if line.trim_start().starts_with("process didn't exit successfully") {
            // A program in which tests failed says so itself: this one died.
            self.failures.iter_mut().last().into_iter().for_each(|last| last.is_more = true);
        } else if let Some(sum) = line.strip_prefix("error: ")
            && sum.ends_with(" failed:")
        {
            let number = sum.split_whitespace().next().and_then(|word| word.parse().ok());
            self.programs_failed = number.unwrap_or(usize::MAX);
        }
    }

    fn take_result(&mut self, result: &str) {
        for part in result.split([';', '.']) {
            let mut words = part.split_whitespace();
            let number = words.next().and_then(|word| word.parse::<u64>().ok());
            match (number, words.next()) {
                (Some(number), Some("passed")) => self.passed += number,
                (Some(number), Some("failed")) => {
                    self.failed += number;
                    self.now.announced = Some(number);
                }
                (Some(number), Some("ignored")) => self.ignored += number,
                _ => {}
            }
        }
        if self.now.announced == Some(0) {
            self.now = Failure::default();
        }
    }

    fn take_test(&mut self, rest: &str) {
        let Some((name, verdict)) = rest.rsplit_once(" ... ") else { return };
        // What the harness adds to a name is none of it.
        let name = name.trim_end_matches(" - should panic").to_owned();
        if verdict == "FAILED" {
            self.now.names.push(name.clone());
            self.names_failed.push(name);
        } else if let Some(reason) = verdict.strip_prefix("ignored") {
            let reason = reason.trim_start_matches(',').trim();
            self.names_ignored.push((name, reason.to_owned()));
        }
    }

    /// Adds the counts to the tally. Where names were not printed, numbers stand for them. On a whole machine a test is
    /// skipped only for what no package brings.
    fn into_tally(self, is_whole_machine: bool, tally: &mut Tally) {
        tally.pass(self.passed.saturating_sub(self.skipped_before));
        let unnamed = self.failed.saturating_sub(self.names_failed.len() as u64);
        let cause = |name: &String| self.causes.get(name).map(|text| format!(":{text}"));
        for name in &self.names_unsteady {
            let how = "failed, and passed when it was run again";
            tally.unsteady(
                &format!("test {name}"),
                &format!("{how}{}", cause(name).unwrap_or_default()),
            );
        }
        for name in &self.names_failed {
            tally.fail(format!("test {name}{}", cause(name).unwrap_or_default()));
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
        let skipped = self.skipped.iter().map(|(name, why)| (format!("test {name}"), why));
        let in_part = self.skipped_in_part.iter();
        let in_part = in_part.map(|(name, why)| (format!("a part of test {name}"), why));
        for (what, why) in skipped.chain(in_part) {
            if is_whole_machine && !is_of_the_machine(why) {
                tally.fail(format!(
                    "{what} was skipped, though this machine can have all it takes: {why}"
                ));
            } else {
                tally.skip(&what, why);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counts(text: &str) -> Counts {
        let mut counts = Counts::default();
        text.lines().for_each(|line| {
            counts.take(line);
        });
        counts
    }

    #[test]
    fn each_test_program_runs_in_one_of_the_rows() {
        let metadata = shell::metadata(&shell::root()).unwrap();
        let names = integration_tests(&metadata);
        let (rows, remaining) = split(&names);
        assert_eq!(rows.concat().len(), 2 * ROWS.concat().len());
        for name in ROWS.concat() {
            assert!(names.contains(name), "{name} of ROWS is no test program any more");
        }
        assert!(names.contains(ALONE) && !remaining.contains(&ALONE.to_owned()));
        assert_eq!(rows.concat().len() + remaining.len() + 2, 2 * names.len());
        assert!(remaining.contains(&"durability".to_owned()));
        let failed = in_all(&[program("-p load --test dead", &["a"])]);
        let mut counts = counts(&failed);
        counts.add(super::tests::counts(&in_all(&[program("-p knee --test vm", &["b"])])));
        assert!((counts.failed, counts.failures.len()) == (2, 2) && counts.may_be_unsteady());
    }

    #[test]
    fn what_passes_without_what_it_needs_is_skipped_by_name() {
        let text = "running 4 tests\ntest a::slurm ... ok\ntest a::rows ... ok\ntest a::whole ... ok\ntest a::breaks ... FAILED\n\n\
                    successes:\n\n---- a::slurm stdout ----\nSKIPPED: no slurmctld here\nSKIPPED: no slurmd here\n\
                    \n---- a::rows stdout ----\ntest b ... FAILED\nSKIPPED in part: kqueue: Linux\n\n\
                    ---- a::whole stdout ----\nminimal failing input: 3\n\nsuccesses:\n    a::rows\n    a::slurm\n    a::whole\n\n\
                    failures:\n\n---- a::breaks stdout ----\nSKIPPED: it says\n\n\
                    thread 'a::breaks' (7) panicked at a.rs:1:2:\nassertion failed\n  left: 1\nnote: run\n\nfailures:\n    a::breaks\n\n\
                    test result: FAILED. 3 passed; 1 failed; 0 ignored; 0 measured; 0 filtered out\n";
        let mut read = Counts::default();
        let printed: Vec<&str> = text.lines().filter(|line| read.take(line)).collect();
        assert!(
            printed.contains(&"---- a::breaks stdout ----") && !printed.contains(&"    a::rows")
        );
        assert!(!read.now.is_more, "what a test printed that passed");
        let mut tally = Tally::default();
        read.into_tally(false, &mut tally);
        let summary = tally.summary();
        for skipped in [
            "skipped: test a::slurm: no slurmctld here\n",
            "skipped: test a::slurm: no slurmd here\n",
            "skipped: a part of test a::rows: kqueue: Linux\n",
            "FAILED:  test a::breaks: assertion failed left: 1\n",
        ] {
            assert!(summary.contains(skipped), "{summary}");
        }
        assert!(summary.ends_with("2 passed, 1 failed, 3 skipped\n"), "{summary}");
    }

    #[test]
    fn on_a_whole_machine_a_test_is_skipped_for_what_no_package_brings() {
        let text = "running 2 tests\ntest a::slurm ... ok\ntest a::rows ... ok\n\nsuccesses:\n\n\
                    ---- a::slurm stdout ----\nSKIPPED: slurmctld is not installed\n\n\
                    ---- a::rows stdout ----\nSKIPPED in part: devpoll: Solaris and illumos only\n\n\
                    successes:\n    a::rows\n    a::slurm\n\n\
                    test result: ok. 2 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out\n";
        for (is_whole_machine, sums) in
            [(true, "1 passed, 1 failed, 1 skipped\n"), (false, "1 passed, 0 failed, 2 skipped\n")]
        {
            let mut tally = Tally::default();
            let read = Counts { succeeded: true, ..counts(text) };
            read.into_tally(is_whole_machine, &mut tally);
            assert!(tally.summary().ends_with(sums), "{}", tally.summary());
        }
    }

    #[test]
    fn a_crate_with_warnings_is_seen_and_a_test_that_prints_of_one_is_not() {
        for (line, is_warning) in [
            ("warning: `knee` (lib test) generated 1 warning (1 duplicate)", true),
            ("warning: `xtask` (bin \"xtask\") generated 2 warnings", true),
            ("warning: build failed, waiting for other jobs to finish...", false),
            ("test warnings::a_warning_is_generated ... ok", false),
        ] {
            assert_eq!(counts(line).has_warnings, is_warning, "{line}");
        }
    }

    /// What a program prints in which `failed` failed, and what cargo says of it.
    fn program(words: &str, failed: &[&str]) -> String {
        let lines: Vec<String> =
            failed.iter().map(|name| format!("test {name} ... FAILED")).collect();
        let (lines, count) = (lines.join("\n"), failed.len());
        format!(
            "running 9 tests\ntest a::holds ... ok\n{lines}\n\
             test result: FAILED. 1 passed; {count} failed; 0 ignored; 0 measured; 0 filtered out\n\n\
             error: test failed, to rerun pass `{words}`\n"
        )
    }

    fn in_all(programs: &[String]) -> String {
        format!("{}error: {} targets failed:\n", programs.concat(), programs.len())
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
        counts(text).into_tally(false, &mut tally);
        assert_eq!(
            tally.summary(),
            "\nskipped: test a::needs_root: needs root\nFAILED:  test a::breaks\n\
             42 passed, 1 failed, 1 skipped\n"
        );
    }

    #[test]
    fn knee_is_tested_with_its_optional_features() {
        let words = |text: &str| -> Vec<String> {
            with_features(&text.split(' ').map(str::to_owned).collect::<Vec<_>>())
        };
        let with = "--features knee/postgres";
        assert_eq!(words("--workspace").join(" "), format!("{with} --workspace"));
        assert_eq!(words("-p knee --lib").join(" "), format!("{with} -p knee --lib"));
        assert_eq!(words("-p locks -- --workspace").join(" "), "-p locks -- --workspace");
    }

    #[test]
    fn what_passes_when_it_is_run_again_is_unsteady_and_what_does_not_has_failed() {
        let binary = program("-p a --test b", &["x", "y - should panic"]);
        let two = program("-p a --lib", &["x"]);
        let mut first = counts(&in_all(&[binary, two]));
        assert!(first.may_be_unsteady());
        let features = ["--features", style::FEATURES, "--workspace"];
        assert_eq!(
            first.failures[0].again("y"),
            [&features[..], &["--test", "b", "--", "--exact", "y"]].concat()
        );
        assert_eq!(
            first.failures[1].again("x"),
            [&features[..], &["--lib", "--", "--exact", "x"]].concat()
        );
        let again =
            |succeeded, passed, failed| Counts { succeeded, passed, failed, ..Counts::default() };
        first.settle("x", &again(true, 1, 0));
        first.settle("y", &again(true, 1, 0));
        // The other program's of the same name fails again; or it dies after it has passed; or it is not there.
        for outcome in [again(false, 0, 1), again(false, 1, 0), again(true, 0, 0)] {
            first.settle("x", &outcome);
        }
        assert_eq!((&first.names_unsteady[..], first.failed), (&["x".into(), "y".into()][..], 1));
        let mut tally = Tally::default();
        first.into_tally(false, &mut tally);
        let expected = "FAILED:  test x\n4 passed, 1 failed, 0 skipped, 2 unsteady\n";
        assert!(tally.summary().ends_with(expected), "{}", tally.summary());

        let mut all = counts(&in_all(&[program("-p a --lib", &["x"])]));
        all.settle("x", &again(true, 1, 0));
        let mut tally = Tally::default();
        all.into_tally(false, &mut tally);
        assert_eq!(tally.failed(), 0);
    }

    #[test]
    fn what_is_more_than_a_few_tests_is_not_tried_again() {
        let may = |programs: &[String]| counts(&in_all(programs)).may_be_unsteady();
        let good = program("-p a --lib", &["x"]);
        assert!(may(std::slice::from_ref(&good)));
        assert!(!may(&[good.clone(), program("-p a --lib", &["x", "y", "z"])]), "many");
        assert!(!may(&[program("-p a --doc", &["src/lib.rs - x (line 3)"])]), "a doc test");
        for strict in
            ["-p knee-locks --lib", "-p knee-archive --test sqlite", "-p knee --test durability"]
        {
            assert!(!may(&[program(strict, &["x"])]), "{strict}");
        }
        let died = "running 7 tests\ntest b ... ok\n\
            error: test failed, to rerun pass `-p b --lib`\n\n\
            Caused by:\n  process didn't exit successfully: `b` (signal: 6, SIGABRT: process abort signal)\n";
        assert!(!may(&[good.clone(), died.to_owned()]), "one that died before its result");
        let after = "running 1 test\ntest b ... ok\n\
            test result: ok. 1 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out\n\
            error: test failed, to rerun pass `-p b --lib`\n";
        assert!(!may(&[good.clone(), after.to_owned()]), "one that died after it");
        let drawn = good.replace("test result", "minimal failing input: run = 7\ntest result");
        assert!(!may(&[drawn]), "what was drawn at random");
        assert!(!counts(&format!("{good}error: 2 targets failed:\n")).may_be_unsteady(), "unknown");
        assert!(!counts("").may_be_unsteady());
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
