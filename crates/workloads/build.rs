//! Compiles the small programs of ours that workloads embed: the forker (`src/processes/forker.rs`) both ways,
//! linked dynamically and statically, and the starter of commands (`src/commands/command/runs.rs`).

use std::path::{Path, PathBuf};
use std::process::Command;

const FORKER: &str = "forker/forker.c";
const STARTER: &str = "starter/starter.c";

fn main() {
    println!("cargo::rerun-if-changed={FORKER}");
    println!("cargo::rerun-if-changed={STARTER}");
    let out = PathBuf::from(std::env::var_os("OUT_DIR").expect("cargo says where"));
    let dynamic = [(FORKER, "forker-dynamic"), (STARTER, "starter-dynamic")];
    for (source, name) in dynamic {
        if let Err(why) = compile(source, &out.join(name), &[]) {
            println!("cargo::error={source} does not compile: {why}");
        }
    }
    for (source, name) in [(FORKER, "forker-static"), (STARTER, "starter-static")] {
        let fixed = out.join(name);
        if let Err(why) = compile(source, &fixed, &["-static"]) {
            // An empty program: what needs it says that it is unavailable, or takes the other.
            std::fs::write(&fixed, "").expect("the folder for what is built can be written to");
            println!("cargo::warning=no static program can be linked (install libc6-dev): {why}");
        }
    }
}

/// Makes a program, small and as quick as a program is that people use.
fn compile(source: &str, to: &Path, how: &[&str]) -> Result<(), String> {
    let compiler = cc::Build::new().opt_level(2).debug(false).try_get_compiler();
    let mut command: Command = compiler.map_err(|error| error.to_string())?.to_command();
    // Without debug information, but with the names that a profile shows.
    command.args(["-std=gnu11", "-Wall", "-Wextra", "-Wl,-S", "-o"]).arg(to).arg(source).args(how);
    let output = command.output().map_err(|error| error.to_string())?;
    if output.status.success() {
        return Ok(());
    }
    let stderr = String::from_utf8_lossy(&output.stderr);
    Err(stderr.lines().last().unwrap_or("it failed without a word").to_owned())
}
