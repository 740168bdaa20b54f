//! Runs other programs: shown before they run, never with standard input, bounded where asked.

use anyhow::{Context, Result, bail};
use serde_json::Value;
use std::ffi::OsString;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};
use std::thread;
use std::time::{Duration, Instant};

/// The workspace's root directory.
pub fn root() -> PathBuf {
    let here = std::env::var_os("CARGO_MANIFEST_DIR")
        .unwrap_or_else(|| OsString::from(env!("CARGO_MANIFEST_DIR")));
    let here = PathBuf::from(here);
    here.parent().map_or_else(|| here.clone(), Path::to_path_buf)
}

/// `cargo`, the one that runs us, in `directory`; with `--locked` under CI, so that a lock file that
/// was not updated is found there.
pub fn cargo(directory: &Path, subcommand: &str) -> Command {
    let mut command = cargo_that_locks(directory, subcommand);
    if std::env::var_os("CI").is_some() {
        command.arg("--locked");
    }
    command
}

/// The same, which may complete the lock file.
pub fn cargo_that_locks(directory: &Path, subcommand: &str) -> Command {
    let program = std::env::var_os("CARGO").unwrap_or_else(|| OsString::from("cargo"));
    let mut command = Command::new(program);
    command.current_dir(directory).arg(subcommand);
    command
}

/// What `cargo metadata --no-deps` says of the workspace in `directory`.
pub fn metadata(directory: &Path) -> Result<Value> {
    let mut command = cargo(directory, "metadata");
    command.args(["--no-deps", "--format-version", "1"]);
    let text = output(&mut command)?;
    serde_json::from_str(&text).context("cargo metadata printed something that is not JSON")
}

/// Where the workspace's build lands.
pub fn target_dir() -> Result<PathBuf> {
    let metadata = metadata(&root())?;
    let directory = metadata["target_directory"].as_str();
    Ok(PathBuf::from(directory.context("cargo metadata names no target directory")?))
}

/// The paths that git tracks or would track in `directory`, relative to it, those that exist.
pub fn files(directory: &Path) -> Result<Vec<PathBuf>> {
    let mut command = Command::new("git");
    command.current_dir(directory).args(["ls-files", "-z", "--cached", "--others"]);
    command.arg("--exclude-standard");
    let text = output(&mut command)?;
    let mut files: Vec<PathBuf> = text
        .split('\0')
        .filter(|name| !name.is_empty())
        .map(PathBuf::from)
        .filter(|name| directory.join(name).is_file())
        .collect();
    files.sort();
    files.dedup();
    Ok(files)
}

/// The command as a person would type it.
pub fn display(command: &Command) -> String {
    let mut words = vec![command.get_program().to_string_lossy().into_owned()];
    if let Some(name) = Path::new(&words[0]).file_name() {
        words[0] = name.to_string_lossy().into_owned();
    }
    words.extend(command.get_args().map(|word| {
        let word = word.to_string_lossy();
        if word.contains(char::is_whitespace) { format!("'{word}'") } else { word.into_owned() }
    }));
    words.join(" ")
}

/// Shows a command, runs it with our output, and says whether it succeeded.
pub fn succeeds(command: &mut Command) -> Result<bool> {
    println!("$ {}", display(command));
    let status = command.stdin(Stdio::null()).status();
    Ok(status.with_context(|| format!("can't run {}", display(command)))?.success())
}

/// Runs a command silently and returns its standard output; its failure is an error.
pub fn output(command: &mut Command) -> Result<String> {
    let done = bounded(command, Duration::from_secs(600))?;
    if !done.status.success() {
        bail!("{} failed ({}): {}", display(command), done.status, done.stderr.trim());
    }
    Ok(done.stdout)
}

/// Whether a program of that name can be started.
pub fn has(program: &str) -> bool {
    let paths = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&paths).any(|directory| directory.join(program).is_file())
}

/// How a bounded command ended.
pub struct Done {
    /// Its exit status.
    pub status: ExitStatus,
    /// What it printed.
    pub stdout: String,
    /// What it complained about.
    pub stderr: String,
}

/// Runs a command silently; kills it, and fails, when it has not ended by `limit`.
pub fn bounded(command: &mut Command, limit: Duration) -> Result<Done> {
    let mut child = command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .with_context(|| format!("can't run {}", display(command)))?;
    let stdout = child.stdout.take().map(collect);
    let stderr = child.stderr.take().map(collect);
    let begun = Instant::now();
    let status = loop {
        if let Some(status) = child.try_wait()? {
            break status;
        }
        if begun.elapsed() > limit {
            child.kill()?;
            child.wait()?;
            bail!("{} did not end within {} s", display(command), limit.as_secs());
        }
        thread::sleep(Duration::from_millis(5));
    };
    let text = |reader: Option<thread::JoinHandle<String>>| {
        reader.and_then(|reader| reader.join().ok()).unwrap_or_default()
    };
    Ok(Done { status, stdout: text(stdout), stderr: text(stderr) })
}

/// Reads a pipe to its end on a thread, so that the writer never blocks on a full one.
fn collect(mut pipe: impl Read + Send + 'static) -> thread::JoinHandle<String> {
    thread::spawn(move || {
        let mut bytes = Vec::new();
        // What came before an error is still worth showing.
        let _ = pipe.read_to_end(&mut bytes);
        String::from_utf8_lossy(&bytes).into_owned()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_that_does_not_end_is_killed() {
        let error = bounded(Command::new("sleep").arg("600"), Duration::from_millis(20));
        assert!(error.is_err_and(|error| error.to_string().contains("sleep 600 did not end")));
    }

    #[test]
    fn output_larger_than_a_pipe_is_read_whole() {
        let text = output(Command::new("head").args(["-c", "300000", "/dev/zero"])).unwrap();
        assert_eq!(text.len(), 300_000);
    }

    #[test]
    fn a_failure_carries_the_output_of_the_program() {
        let error = output(Command::new("ls").arg("/no/such/directory")).unwrap_err().to_string();
        assert!(error.contains("ls /no/such/directory failed"), "{error}");
    }
}
