//! Compiles the small programs of ours that workloads embed: the forker (`src/processes/forker.rs`) and the starter of
//! commands (`src/shared/runner.rs`), each linked dynamically, and both in one that is linked statically; and the rows of
//! `baseline` with the program that they execute (`src/baselines/program.rs`).

use flate2::Compression;
use flate2::write::DeflateEncoder;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

const FORKER: &str = "forker/forker.c";
const STARTER: &str = "starter/starter.c";
const STATIC: &str = "static/both.c";
const BASELINE: [&str; 7] = [
    "baseline/main.c",
    "baseline/processor.c",
    "baseline/switching.c",
    "baseline/local.c",
    "baseline/files.c",
    "baseline/bandwidth.c",
    "baseline/latency.c",
];
/// What is measured is a loop that reads a number at a time.
const PLAIN_LOOPS: [&str; 2] = ["-fno-tree-vectorize", "-fno-tree-slp-vectorize"];
const HELLO: &str = "baseline/hello.c";

fn main() {
    println!("cargo::rerun-if-changed={FORKER}");
    println!("cargo::rerun-if-changed={STARTER}");
    println!("cargo::rerun-if-changed={STATIC}");
    println!("cargo::rerun-if-changed=baseline");
    println!("cargo::rerun-if-changed=clock");
    let out = PathBuf::from(std::env::var_os("OUT_DIR").expect("cargo says where"));
    let dynamic = [(FORKER, "forker-dynamic"), (STARTER, "starter-dynamic")];
    let dynamic = dynamic.map(|(source, name)| (vec![source], name));
    let of_baseline = [(BASELINE.to_vec(), "baseline"), (vec![HELLO], "hello")];
    for (sources, name) in dynamic.into_iter().chain(of_baseline) {
        if let Err(why) = compile(&sources, &out.join(name), &PLAIN_LOOPS) {
            println!("cargo::error={} does not compile: {why}", sources[0]);
        }
    }
    let fixed = out.join("static");
    if let Err(why) = compile(&[STATIC], &fixed, &["-static"]) {
        // No program: what needs it says that it is unavailable, or takes the other.
        let written = std::fs::write(packed(&fixed), "");
        written.expect("the directory for what is built can be written to");
        println!("cargo::warning=no static program can be linked (install libc6-dev): {why}");
    }
}

/// Compresses a program: a static one is 0.9 MB, of which 0.4 remain.
fn pack(program: &Path) -> std::io::Result<()> {
    let mut encoder = DeflateEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(&std::fs::read(program)?)?;
    std::fs::write(packed(program), encoder.finish()?)
}

fn packed(program: &Path) -> PathBuf {
    program.with_extension("deflate")
}

/// Makes a program, small and as quick as a program is that people use.
fn compile(sources: &[&str], to: &Path, how: &[&str]) -> Result<(), String> {
    let mut build = cc::Build::new();
    // Else a static knee has no program that is linked dynamically, as those of its users are.
    #[expect(deprecated, reason = "it decides on libraries alone, and also on these programs")]
    build.opt_level(2).debug(false).static_flag(false);
    let compiler = build.try_get_compiler().map_err(|error| error.to_string())?;
    let mut command: Command = compiler.to_command();
    // Without debug information, but with the names that a profile shows.
    command
        .args(["-std=gnu11", "-Wall", "-Wextra", "-Wl,-S", "-o"])
        .arg(to)
        .args(sources)
        .args(how);
    let output = command.output().map_err(|error| error.to_string())?;
    if output.status.success() {
        return pack(to).map_err(|error| error.to_string());
    }
    let stderr = String::from_utf8_lossy(&output.stderr);
    Err(stderr.lines().last().unwrap_or("it failed without a word").to_owned())
}
