//! The programs that a generated tree is built with: whether they are there, and which they are.

use crate::shared::runner::is_installed;
use std::process::Command;

/// What a generated tree needs that is not here, with what installs it; `make CC=…` needs no cc.
pub(super) fn missing(command: &str) -> Option<String> {
    missing_of(command, is_installed)
}

fn missing_of(command: &str, is_installed: impl Fn(&str) -> bool) -> Option<String> {
    let first = command.split_whitespace().next().unwrap_or_default();
    let needed = [(first == "make", "make", "make"), (!command.contains("CC="), "cc", "gcc")];
    let missing: Vec<(&str, &str)> = needed
        .into_iter()
        .filter(|(needed, program, _)| *needed && !is_installed(program))
        .map(|(_, program, package)| (program, package))
        .collect();
    let programs: Vec<&str> = missing.iter().map(|(program, _)| *program).collect();
    let packages: Vec<&str> = missing.iter().map(|(_, package)| *package).collect();
    let (are, packages) = (if programs.len() == 1 { "is" } else { "are" }, packages.join(" "));
    (!programs.is_empty()).then(|| {
        format!(
            "{} {are} not installed (as root: apt-get install {packages}, or dnf install {packages})",
            programs.join(" and ")
        )
    })
}

/// The first line of what a program says of its version.
pub(super) fn version(program: &str) -> String {
    let output = Command::new(program).arg("--version").output();
    let text = output.map(|output| String::from_utf8_lossy(&output.stdout).into_owned());
    let line = text.unwrap_or_default().lines().next().unwrap_or_default().to_owned();
    if line.is_empty() { "unknown".into() } else { line }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_missing_is_named_with_what_installs_it() {
        let only = |there: &'static str| move |program: &str| program == there;
        assert_eq!(missing_of("make -j3", |_| true), None);
        let both = missing_of("make -j3", |_| false).unwrap();
        assert!(both.starts_with("make and cc are not installed"), "{both}");
        assert!(both.contains("apt-get install make gcc,"), "{both}");
        let single = missing_of("make -j3", only("make")).unwrap();
        assert!(
            single.starts_with("cc is not installed (as root: apt-get install gcc,"),
            "{single}"
        );
        assert_eq!(missing_of("make CC=clang -j3", only("make")), None);
        assert_eq!(missing_of("ninja", only("cc")), None);
    }

    #[test]
    fn a_version_is_one_line() {
        assert_eq!(version("no-such-program"), "unknown");
        assert!(version("sh").lines().count() <= 1);
    }
}
