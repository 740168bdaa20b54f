//! How often the crate `grows` is wrong about functions of known growth, while CPUs are busy and `cargo check` runs in a loop;
//! next to the crate `bigoish`.

use crate::shell;
use crate::tally::Tally;
use anyhow::Result;
use clap::Args;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

/// What the compiler compiles again and again.
pub const CHECKED: &str = "knee-analysis";

/// What was asked for.
#[derive(Args)]
pub struct Options {
    /// Linear functions
    #[arg(long, default_value_t = 1_000)]
    linear: u32,
    /// Quadratic functions
    #[arg(long, default_value_t = 200)]
    quadratic: u32,
    /// Processes that use a CPU each
    #[arg(long, default_value_t = 6)]
    busy: u32,
}

/// Builds the program of `benches/judge` as tests are built, and runs it.
pub fn run(options: &Options, tally: &mut Tally) -> Result<()> {
    let (root, target) = (shell::root(), shell::target_dir()?.join("bench-judge"));
    let mut build = shell::cargo(&root.join("benches/judge"), "build");
    if !shell::succeeds(build.env("CARGO_TARGET_DIR", &target))? {
        tally.fail("bench grows: its program does not build".to_owned());
        return Ok(());
    }
    let counts = [options.linear, options.quadratic, options.busy].map(|count| count.to_string());
    let mut judge = Command::new(target.join("debug/judge"));
    let has_ended = AtomicBool::new(false);
    let kept = thread::scope(|scope| {
        scope.spawn(|| check_again(&root, &target.join("check"), &has_ended));
        let kept = shell::succeeds(judge.args(counts));
        has_ended.store(true, Ordering::Relaxed);
        kept
    })?;
    tally
        .check("bench grows: at most one linear in a thousand fails, 99 of 100 quadratic do", kept);
    Ok(())
}

/// Keeps a compiler busy. That it can't is no fault of what is measured: it is less load.
fn check_again(root: &Path, target: &Path, has_ended: &AtomicBool) {
    while !has_ended.load(Ordering::Relaxed) {
        for subcommand in ["check", "clean"] {
            let mut command = shell::cargo(root, subcommand);
            command.args(["--quiet", "--package", CHECKED]).env("CARGO_TARGET_DIR", target);
            let _ = command.stdin(Stdio::null()).stderr(Stdio::null()).status();
        }
    }
}
