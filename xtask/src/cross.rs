//! Type-checks for what this machine can't run: other systems, and the oldest Rust promised.

use crate::shell;
use crate::tally::Tally;
use anyhow::{Context, Result};
use std::process::Command;
use std::time::Duration;

/// Systems whose mechanisms (kqueue, event ports, /dev/poll) only compile elsewhere.
const TARGETS: [&str; 3] =
    ["x86_64-unknown-freebsd", "x86_64-unknown-netbsd", "x86_64-unknown-illumos"];

/// Checks `readiness` for each foreign target that is there or can be installed.
pub fn targets(tally: &mut Tally) -> Result<()> {
    for target in TARGETS {
        let step = format!("cross {target}");
        if let Err(why) = install_target(target) {
            tally.skip(&step, &why);
            continue;
        }
        let mut command = shell::cargo(&shell::root(), "check");
        command.args(["--package", "knee-readiness", "--target", target]);
        tally.check(&step, shell::succeeds(&mut command)?);
        refusal(target, tally)?;
    }
    Ok(())
}

/// Checks that the program's build ends with one sentence where it can't work.
fn refusal(target: &str, tally: &mut Tally) -> Result<()> {
    let mut command = shell::cargo(&shell::root(), "check");
    // All that the program is made of needs it so.
    command.args(["--package", "knee-sys", "--features", "program", "--target", target]);
    let done = shell::bounded(&mut command, Duration::from_secs(600))?;
    let errors: Vec<&str> = done.stderr.lines().filter(|line| line.starts_with("error")).collect();
    let is_sentence = matches!(errors.as_slice(), [sentence, end]
        if sentence.starts_with("error: knee measures Linux only.") && end.starts_with("error: could not compile `knee-sys`"));
    if !is_sentence {
        println!("{}", errors.join("\n"));
    }
    tally.check(&format!("cross {target}: the program is refused in one sentence"), is_sentence);
    Ok(())
}

/// Makes sure of a target's standard library, or says why it can't be had.
pub fn install_target(target: &str) -> Result<(), String> {
    if !shell::has("rustup") {
        return Err("no rustup here to install the target with".to_owned());
    }
    let installed = shell::output(Command::new("rustup").args(["target", "list", "--installed"]));
    let installed = installed.map_err(|error| format!("{error:#}"))?;
    if installed.lines().any(|line| line.trim() == target) {
        return Ok(());
    }
    println!("Installing the target {target} with rustup.");
    match shell::succeeds(Command::new("rustup").args(["target", "add", target])) {
        Ok(true) => Ok(()),
        Ok(false) => Err(format!("rustup target add {target} failed (see above)")),
        Err(error) => Err(format!("{error:#}")),
    }
}

/// Checks the workspace with the Rust version that its manifests promise.
pub fn oldest_rust(tally: &mut Tally) -> Result<()> {
    let metadata = shell::metadata(&shell::root())?;
    let version = metadata["packages"][0]["rust_version"].as_str();
    let version = version.context("the manifests promise no rust-version")?;
    let step = format!("msrv {version}");
    let list = if shell::has("rustup") {
        shell::output(Command::new("rustup").args(["toolchain", "list"]))?
    } else {
        String::new()
    };
    let Some(toolchain) = installed_toolchain(&list, version) else {
        let remedy =
            format!("that toolchain is not installed (rustup toolchain install {version})");
        tally.skip(&step, &remedy);
        return Ok(());
    };
    let mut command = Command::new("rustup");
    command.current_dir(shell::root()).args(["run", &toolchain, "cargo", "check", "--workspace"]);
    // Inherited from the cargo that runs us, they would lead back to its toolchain.
    for variable in ["CARGO", "RUSTC", "RUSTUP_TOOLCHAIN", "LD_LIBRARY_PATH"] {
        command.env_remove(variable);
    }
    tally.check(&step, shell::succeeds(&mut command)?);
    Ok(())
}

/// The name of an installed toolchain of that version: `1.89` is `1.89.0-x86_64-…` or `1.89-…`.
fn installed_toolchain(list: &str, version: &str) -> Option<String> {
    let name = list.lines().filter_map(|line| line.split_whitespace().next()).find(|name| {
        let number = name.split('-').next().unwrap_or_default();
        number == version || number.strip_prefix(version).is_some_and(|rest| rest == ".0")
    });
    name.map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_toolchain_is_found_by_its_exact_version() {
        let list = "stable-x86_64-unknown-linux-gnu (active, default)\n\
                    1.8.0-x86_64-unknown-linux-gnu\n1.89.0-x86_64-unknown-linux-gnu\n";
        let toolchain = installed_toolchain(list, "1.89");
        assert_eq!(toolchain.as_deref(), Some("1.89.0-x86_64-unknown-linux-gnu"));
        assert_eq!(installed_toolchain(list, "1.9"), None);
        assert_eq!(installed_toolchain("", "1.89"), None);
    }
}
