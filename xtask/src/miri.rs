//! Runs the unit tests of `locks` under Miri, which sees memory that is touched without permission,
//! and lets loads return values that are old but allowed.

use crate::shell;
use crate::tally::Tally;
use anyhow::Result;
use std::process::Command;

const STEP: &str = "miri locks";

/// Runs them, or says why not.
pub fn run(tally: &mut Tally) -> Result<()> {
    if let Err(why) = there() {
        tally.skip(STEP, &why);
        return Ok(());
    }
    let mut command = Command::new("rustup");
    command.current_dir(shell::root()).args(["run", "nightly", "cargo", "miri", "test"]);
    command.args(["--package", "knee-locks", "--lib"]);
    // rustix makes pointers of numbers on its way to a futex, of which Miri would warn.
    command.env("MIRIFLAGS", "-Zmiri-permissive-provenance");
    // Inherited from the cargo that runs us, they would lead back to its toolchain.
    for variable in ["CARGO", "RUSTC", "RUSTUP_TOOLCHAIN", "LD_LIBRARY_PATH"] {
        command.env_remove(variable);
    }
    tally.check(STEP, shell::succeeds(&mut command)?);
    Ok(())
}

/// Whether all that it takes is installed.
fn there() -> Result<(), String> {
    if !shell::has("rustup") {
        return Err("no rustup here, by which the nightly compiler and Miri come".to_owned());
    }
    let mut list = Command::new("rustup");
    let list =
        shell::output(list.args(["component", "list", "--toolchain", "nightly", "--installed"]));
    match list {
        Ok(list) => missing(&list),
        Err(_) => Err(format!("no nightly compiler is installed ({REMEDY})")),
    }
}

const REMEDY: &str =
    "rustup toolchain install nightly --profile minimal --component miri --component rust-src";

/// What is not among the installed components.
fn missing(list: &str) -> Result<(), String> {
    for component in ["miri", "rust-src"] {
        if !list.lines().any(|line| line.starts_with(component)) {
            return Err(format!("the nightly compiler has no {component} ({REMEDY})"));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_missing_is_named_with_its_remedy() {
        let list = "cargo-x86_64-unknown-linux-gnu\nmiri-x86_64-unknown-linux-gnu\nrust-src\n";
        assert_eq!(missing(list), Ok(()));
        let why = missing("cargo-x86_64-unknown-linux-gnu\nrust-src\n").unwrap_err();
        assert!(why.contains("no miri (rustup toolchain install nightly"), "{why}");
        assert!(missing("miri\nrustc\n").unwrap_err().contains("no rust-src"));
    }
}
