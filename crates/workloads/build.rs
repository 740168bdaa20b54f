//! Compiles the forker both ways, linked dynamically and statically, for `src/processes/forker.rs` to embed.

use std::path::{Path, PathBuf};
use std::process::Command;

const SOURCE: &str = "forker/forker.c";

fn main() {
    println!("cargo::rerun-if-changed={SOURCE}");
    let out = PathBuf::from(std::env::var_os("OUT_DIR").expect("cargo says where"));
    if let Err(why) = compile(&out.join("forker-dynamic"), &[]) {
        println!("cargo::error={SOURCE} does not compile: {why}");
    }
    let fixed = out.join("forker-static");
    if let Err(why) = compile(&fixed, &["-static"]) {
        // An empty program: the subjects that need it say that they are unavailable.
        std::fs::write(&fixed, "").expect("the folder for what is built can be written to");
        println!("cargo::warning=no static program can be linked (install libc6-dev): {why}");
    }
}

/// Makes a program of the forker, small and as quick as a program is that people use.
fn compile(to: &Path, how: &[&str]) -> Result<(), String> {
    let compiler = cc::Build::new().opt_level(2).debug(false).try_get_compiler();
    let mut command: Command = compiler.map_err(|error| error.to_string())?.to_command();
    command.args(["-std=gnu11", "-Wall", "-Wextra", "-s", "-o"]).arg(to).arg(SOURCE).args(how);
    let output = command.output().map_err(|error| error.to_string())?;
    if output.status.success() {
        return Ok(());
    }
    let stderr = String::from_utf8_lossy(&output.stderr);
    Err(stderr.lines().last().unwrap_or("it failed without a word").to_owned())
}
