//! The project's own chores: `cargo xtask help` lists them.
#![forbid(unsafe_code)]

mod bench;
mod cargo_test;
mod cross;
mod dist;
mod docs;
mod miri;
mod one_row;
mod setup;
mod shell;
mod style;
mod tally;
mod tidy;
mod truth;

use anyhow::{Result, anyhow};
use cargo_test::{Compiler, Tests};
use clap::{Parser, Subcommand};
use std::process::ExitCode;
use std::thread;
use std::time::Instant;
use tally::Tally;

/// The project's own chores
///
/// Every task ends with the line `N passed, N failed, N skipped` and fails if anything failed. Tests that fail and
/// pass when they are run again are named, and counted behind it: `, N unsteady`.
#[derive(Parser)]
#[command(name = "cargo xtask", bin_name = "cargo xtask", max_term_width = 100)]
struct Cli {
    #[command(subcommand)]
    task: Task,
}

#[derive(Subcommand)]
enum Task {
    /// Prepares the machine, then tidy, cargo test, truth, cross, miri and one-row
    Test {
        /// Passed to cargo test
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        args: Vec<String>,
    },
    /// What CI runs: fmt --check, msrv, and test, whose compiler lints
    Ci,
    /// rustfmt on every file, those declared inside a macro too
    Fmt {
        /// Change nothing, and fail where a file is not formatted
        #[arg(long)]
        check: bool,
    },
    /// Clippy on the workspace, every warning an error
    Lint,
    /// The house rules: crate arrows, opening lines, retired words, unsafe, links, size
    Tidy,
    /// Type-checks `readiness` for FreeBSD, NetBSD and illumos
    Cross,
    /// Runs the unit tests of `locks` under Miri, where it is installed
    Miri,
    /// Type-checks the workspace with the oldest Rust it promises
    Msrv,
    /// Proves that a mechanism, lock, workload, finding kind and export format are one file and one line each
    OneRow,
    /// Builds and runs the repository with a workload, a lock and a mechanism of its own
    #[command(name = "own")]
    OwnWorkload,
    /// Installs what the tests need, and reports what it does
    Setup,
    /// Measures knee against other programs
    #[command(subcommand)]
    Bench(bench::Bench),
    /// Archives with a static program, symbols, a package of Debian, a wheel, and their sums
    Dist(dist::Options),
    /// The documents as a site with search, reference pages from the program among them
    Docs,
    /// How often verdicts on series, rates, pairs and runs of known truth are wrong, or none
    Truth(truth::Options),
}

fn main() -> ExitCode {
    match run(Cli::parse().task) {
        Ok(tally) => {
            print!("{}", tally.summary());
            if tally.failed() == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
        }
        Err(error) => {
            eprintln!("xtask: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn run(task: Task) -> Result<Tally> {
    let mut tally = Tally::default();
    match task {
        Task::Test { args } => test(&args, Compiler::Plain, &mut tally)?,
        Task::Ci => ci(&mut tally)?,
        Task::Fmt { check } => style::fmt(check, &mut tally)?,
        Task::Lint => style::lint(&mut tally)?,
        Task::Tidy => tidy::run(&mut tally)?,
        Task::Cross => cross::targets(&mut tally)?,
        Task::Miri => miri::run(&mut tally)?,
        Task::Msrv => cross::oldest_rust(&mut tally)?,
        Task::OneRow => one_row::run(Compiler::Plain, &mut tally)?,
        Task::OwnWorkload => one_row::own(&mut tally)?,
        Task::Setup => setup::run(&mut tally)?,
        Task::Bench(bench) => bench.run(&mut tally)?,
        Task::Dist(options) => dist::run(&options, &mut tally)?,
        Task::Docs => docs::run(&mut tally)?,
        Task::Truth(options) => truth::run(&options)?,
    }
    Ok(tally)
}

/// All that must hold before a change is shown to others, styles aside.
fn test(args: &[String], compiler: Compiler, tally: &mut Tally) -> Result<()> {
    let mut tests = Tests::new(args, compiler);
    // Packages are waited for, which the compiler does not need.
    at_once(
        tally,
        |tally| {
            timed("setup", || setup::run(tally))?;
            timed("tidy", || tidy::run(tally))
        },
        |_| timed("build", || tests.build()),
    )?;
    // The tests leave CPUs idle.
    at_once(
        tally,
        |tally| timed("cargo test", || tests.run(tally)),
        |tally| {
            if compiler == Compiler::Linting {
                timed("msrv", || cross::oldest_rust(tally))?;
            }
            timed("truth", || truth::check(tally))?;
            timed("cross", || cross::targets(tally))?;
            timed("miri", || miri::run(tally))?;
            timed("one-row", || one_row::run(compiler, tally))
        },
    )
}

/// All that must hold before a change is taken. A finding in one step doesn't stop the next.
fn ci(tally: &mut Tally) -> Result<()> {
    timed("fmt", || style::fmt(true, tally))?;
    style::add_clippy(tally)?;
    test(&[], Compiler::Linting, tally)
}

/// Takes two steps at a time. A failure of one lets the other end.
fn at_once(
    tally: &mut Tally,
    first: impl FnOnce(&mut Tally) -> Result<()>,
    second: impl FnOnce(&mut Tally) -> Result<()> + Send,
) -> Result<()> {
    let (result, also) = thread::scope(|scope| {
        let second = scope.spawn(|| {
            let mut tally = Tally::default();
            let result = second(&mut tally);
            (result, tally)
        });
        (first(tally), second.join())
    });
    let (also, more) = also.map_err(|_| anyhow!("a thread panicked"))?;
    tally.add(more);
    result.and(also)
}

/// Prints how long a step took: what is slow is seen where it is waited for.
fn timed(step: &str, run: impl FnOnce() -> Result<()>) -> Result<()> {
    let begun = Instant::now();
    let result = run();
    println!("{step} took {} s.", begun.elapsed().as_secs());
    result
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_command_line_is_consistent() {
        Cli::command().debug_assert();
    }
}
