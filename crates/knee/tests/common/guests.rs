//! What tests need that boot a kernel in QEMU, and how they say that it is not there.

use super::{Came, Knee, came};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

/// A boot takes seconds where the machine is idle.
pub const KERNEL: &str = "debian:6.1";

/// Longer than what a kernel reads: knee says so once it has the image, and boots nothing.
const TOO_LONG: usize = 3_000;

/// Where fetched kernels are kept for all tests.
pub fn cache() -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join("cache")
}

/// Runs `knee vm`.
pub fn vm(knee: &Knee, words: &[&str]) -> Came {
    let mut command = knee.command(&["vm", "--accel", "tcg"]);
    came(command.args(words).env("XDG_CACHE_HOME", cache()))
}

/// Whether a guest can be booted here. What is missing is reported.
pub fn can_boot() -> bool {
    static MISSING: OnceLock<Option<String>> = OnceLock::new();
    let Some(missing) = MISSING.get_or_init(missing) else { return true };
    eprintln!("SKIPPED: no guest is booted, since {missing}");
    false
}

fn missing() -> Option<String> {
    let has = |program: &str| Command::new(program).arg("--version").output().is_ok();
    let needed = ["qemu-system-x86_64", "apt-get", "apt-cache", "dpkg-deb", "git"];
    if let Some(program) = needed.into_iter().find(|name| !has(name)) {
        return Some(format!("{program} is missing"));
    }
    let long = "x".repeat(TOO_LONG);
    let came = vm(&Knee::new(), &["--kernel", KERNEL, "--append", &long, "--", "run", "poll"]);
    // Whatever else is wrong is for the tests.
    let texts = ["apt-get: ", "apt knows no package", "could not be fetched"];
    let of_apt = |line: &&str| texts.iter().any(|text| line.contains(text));
    came.err.lines().find(of_apt).map(|line| format!("its kernel can't be fetched: {line}"))
}
