//! Starts a server and a program against it, and prints what the program printed and its CPU time:
//! so two load generators are measured by one ruler.
//!
//! `against SERVER[+tls] KNEE FOLDER SCRATCH SERVER_CPU PROGRAM ARGUMENTS…`, where `{host}` and `{port}` in
//! an argument stand for the server's, and `{ca}` for the file of its certificate.

use serde_json::json;
use std::error::Error;
use std::io::Read as _;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use workloads::drivers::{self, Encryption, Setup};

fn main() -> Result<(), Box<dyn Error>> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let [server, knee, directory, scratch, cpu, program, arguments @ ..] = words.as_slice() else {
        return Err("against SERVER[+tls] KNEE FOLDER SCRATCH SERVER_CPU PROGRAM ARGUMENTS…".into());
    };
    let (name, tls) = server.split_once('+').map_or((server.as_str(), None), |(a, b)| (a, Some(b)));
    let encryption = tls.map(|_| Encryption::full(scratch.as_ref())).transpose()?;
    let ca = encryption.as_ref().map_or_else(String::new, |made| made.chain.display().to_string());
    let server = drivers::find(name).ok_or_else(|| format!("there is no server {server}"))?;
    let running = server.start(&Setup {
        knee: knee.into(),
        cpus: vec![cpu.parse()?],
        encryption,
        ..Setup::new(&PathBuf::from(directory), &PathBuf::from(scratch))
    })?;
    let address = running.address();
    let put_in = |word: &String| {
        word.replace("{host}", &address.ip().to_string())
            .replace("{port}", &address.port().to_string())
            .replace("{ca}", &ca)
    };
    let before_ns = running.cpu_ns()?;
    let mut child = Command::new(program)
        .args(arguments.iter().map(put_in))
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .spawn()
        .map_err(|error| format!("can't run {program}: {error}"))?;
    let mut printed = String::new();
    let pipe = child.stdout.take().ok_or("a program without output")?;
    { pipe }.read_to_string(&mut printed)?;
    // Its output has ended; until it is waited for, the kernel tells what it took.
    let cpu_ns = sys::cputime::cpu_ns(child.id().cast_signed())?;
    let server_cpu_ns = running.cpu_ns()?.saturating_sub(before_ns);
    let status = child.wait()?;
    running.stop()?;
    if !status.success() {
        return Err(format!("{program} failed ({status}): {printed}").into());
    }
    println!("{}", json!({ "cpu_ns": cpu_ns, "server_cpu_ns": server_cpu_ns, "output": printed }));
    Ok(())
}
