//! The project's own chores: `cargo xtask help` lists them.
#![forbid(unsafe_code)]

mod bench;
mod cargo_test;
mod cross;
mod miri;
mod one_row;
mod setup;
mod shell;
mod style;
mod tally;
mod tidy;

use anyhow::{Result, bail};
use std::process::ExitCode;
use tally::Tally;

const USAGE: &str = "\
cargo xtask TASK

  test [ARGS…]   prepares the machine, then tidy, cargo test, cross, miri and one-row; ARGS go to
                 cargo test
  ci             what CI runs: fmt --check, lint, msrv, test
  fmt [--check]  rustfmt on every file, those declared inside a macro too
  lint           clippy on the workspace, every warning an error
  tidy           the house rules: crate arrows, opening lines, unsafe, links, size
  words [CRATE]  counts the identifiers that hold a retired word, or lists those of a crate
  cross          type-checks `readiness` for FreeBSD, NetBSD and illumos
  miri           runs the unit tests of `locks` under Miri, where it is installed
  msrv           type-checks the workspace with the oldest Rust it promises
  one-row        proves that a mechanism, a lock and a workload are one file and one line each
  setup          installs what the tests need, and says what it does
  bench harness [--pairs N] [--points A,B] [--mechanisms A,B] [--time MS] [--cpu N] [--output FILE]
                 our loop beside a plain C loop of the same system calls
  bench pipetest [as above, points being tokens: N or N%] [--pipes A,B] [--spread tail|spread|random]
                 our pipetest beside a plain C one
  bench locks [--pairs N] [--locks A,B] [--output FILE]
                 our locks beside plain C, and std and parking_lot beside direct use
  bench page [--output FILE]
                 frames of a page with up to 525,000 samples, panned and zoomed in a browser
  bench http [--pairs N] [--time MS] [--dead A,B] [--only servers|generators] [--output FILE]
                 our server beside nginx and lighttpd, our load generator beside wrk and httperf
  bench compare [--comparisons N] [--records FOLDER] [--output FILE]
                 how often `knee compare` cries wolf, and which slowdowns it finds
  bench simulate [--rounds N] [--threads A,B] [--slice TIME] [--output FILE]
                 what the model of locks says of this machine, beside what the machine says
  bench budget [--precision P%] [--rounds N] [--workloads A,B] [--output FILE]
                 what a precision saves beside fixed rounds, on the quick suite

Every task ends with the line `N passed, N failed, N skipped` and fails if anything failed. Tests that failed,
and passed when they were run again, are named, and counted behind it: `, N unsteady`.
";

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    match run(&args) {
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

/// Runs the task that the arguments name.
fn run(args: &[String]) -> Result<Tally> {
    let mut tally = Tally::default();
    let (task, rest) = match args.split_first() {
        Some((task, rest)) => (task.as_str(), rest),
        None => ("help", args),
    };
    match (task, rest) {
        ("help" | "--help" | "-h", _) => {
            print!("{USAGE}");
            std::process::exit(0);
        }
        ("test", rest) => test(rest, &mut tally)?,
        ("ci", []) => ci(&mut tally)?,
        ("fmt", []) => style::fmt(false, &mut tally)?,
        ("fmt", [check]) if check == "--check" => style::fmt(true, &mut tally)?,
        ("lint", []) => style::lint(&mut tally)?,
        ("tidy", []) => tidy::run(&mut tally)?,
        ("words", []) => tidy::count_words(None)?,
        ("words", [owner]) => tidy::count_words(Some(owner))?,
        ("cross", []) => cross::targets(&mut tally)?,
        ("miri", []) => miri::run(&mut tally)?,
        ("msrv", []) => cross::oldest_rust(&mut tally)?,
        ("one-row", []) => one_row::run(&mut tally)?,
        ("setup", []) => setup::run(&mut tally)?,
        ("bench", [page, rest @ ..]) if page == "page" => bench::page::run(rest, &mut tally)?,
        ("bench", [locks, rest @ ..]) if locks == "locks" => bench::locks::run(rest, &mut tally)?,
        ("bench", [http, rest @ ..]) if http == "http" => bench::http::run(rest, &mut tally)?,
        ("bench", [model, rest @ ..]) if model == "simulate" => {
            bench::simulate::run(rest, &mut tally)?;
        }
        ("bench", [compare, rest @ ..]) if compare == "compare" => {
            bench::compare::run(rest, &mut tally)?;
        }
        ("bench", [budget, rest @ ..]) if budget == "budget" => {
            bench::budget::run(rest, &mut tally)?;
        }
        ("bench", [game, rest @ ..]) => bench::run(game, rest, &mut tally)?,
        _ => bail!("no such task: {}\n\n{USAGE}", args.join(" ")),
    }
    Ok(tally)
}

/// All that must hold before a change is shown to others, styles aside.
fn test(args: &[String], tally: &mut Tally) -> Result<()> {
    setup::run(tally)?;
    tidy::run(tally)?;
    cargo_test::run(args, tally)?;
    cross::targets(tally)?;
    miri::run(tally)?;
    one_row::run(tally)
}

/// All that must hold before a change is taken. A finding in one step doesn't stop the next.
fn ci(tally: &mut Tally) -> Result<()> {
    style::fmt(true, tally)?;
    style::lint(tally)?;
    cross::oldest_rust(tally)?;
    test(&[], tally)
}
