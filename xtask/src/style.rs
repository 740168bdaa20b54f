//! Formatting and lints.

use crate::shell;
use crate::tally::Tally;
use anyhow::Result;
use std::process::Command;

/// What is optional in knee, as cargo's `--features` takes it: linted and tested like everything else. `cargo xtask
/// msrv` checks knee without.
pub const FEATURES: &str = "knee/postgres";

/// Runs rustfmt on every Rust file that git knows: `cargo fmt` does not see modules that are
/// declared inside a macro, as the tables declare theirs.
pub fn fmt(check: bool, tally: &mut Tally) -> Result<()> {
    component("rustfmt", "rustfmt", tally)?;
    let root = shell::root();
    let mut files = shell::files(&root)?;
    files.retain(|file| file.extension().is_some_and(|extension| extension == "rs"));
    let mut command = Command::new("rustfmt");
    command.current_dir(&root).args(["--edition", "2024"]);
    if check {
        command.arg("--check");
    }
    println!("$ {} … {} files", shell::display(&command), files.len());
    let formatted = command.args(&files).status()?.success();
    tally.check(if check { "fmt --check (fix: cargo xtask fmt)" } else { "fmt" }, formatted);
    Ok(())
}

/// Runs clippy on everything; a warning is an error.
pub fn lint(tally: &mut Tally) -> Result<()> {
    add_clippy(tally)?;
    let mut command = shell::cargo(&shell::root(), "clippy");
    command.args(["--workspace", "--all-targets", "--features", FEATURES, "--", "-D", "warnings"]);
    tally.check("lint", shell::succeeds(&mut command)?);
    Ok(())
}

/// Adds clippy where it is missing.
pub fn add_clippy(tally: &mut Tally) -> Result<()> {
    component("clippy", "cargo-clippy", tally)
}

/// Adds a part of the toolchain that a minimal installation lacks. `program` is what it brings.
fn component(name: &str, program: &str, tally: &mut Tally) -> Result<()> {
    let works = Command::new(program).arg("--version").output();
    if works.is_ok_and(|output| output.status.success()) {
        return Ok(());
    }
    let added = shell::has("rustup")
        && shell::succeeds(Command::new("rustup").args(["component", "add", name]))?;
    if !added {
        tally.fail(format!(
            "{name} is missing and could not be added (rustup component add {name})"
        ));
    }
    Ok(())
}
