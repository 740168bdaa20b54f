//! A folder for the files of one cell, which is gone when the cell is over, whatever ends it.
//!
//! Three see to that. The worker removes it when it is done. The instrument removes it when a worker
//! ended in any other way. And a janitor, a process of its own that nobody has a reason to kill,
//! removes it when both are gone at once: it waits for the end of a pipe that the worker holds.

use crate::worker::supervise::SELF;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use std::io::{self, Read, Write};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// The hidden subcommand under which the program is to call [`janitor_main`].
pub const JANITOR_COMMAND: &str = "__janitor";

/// A worker that is being killed may make files for some moments more; no longer than this.
const PATIENCE: Duration = Duration::from_secs(20);

/// A folder that is removed, with all that is in it, when this value or its process ends.
#[derive(Debug)]
pub struct Scratch {
    path: PathBuf,
    janitor: Child,
    line: Option<ChildStdin>,
}

impl Scratch {
    /// Makes the folder `path`, which must not be there yet; its janitor is there before it is.
    pub fn new(path: &Path) -> io::Result<Scratch> {
        let mut janitor = Command::new(SELF)
            .arg0("knee")
            .arg(JANITOR_COMMAND)
            .arg(path)
            // Neither the worker's group nor a run's mark: both are ended with the worker.
            .process_group(0)
            .env_remove(crate::worker::supervise::MARK)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()?;
        let line = janitor.stdin.take();
        let mut ready = janitor.stdout.take();
        let scratch = Scratch { path: path.into(), janitor, line };
        let mut word = [0];
        ready.as_mut().map_or(Ok(()), |pipe| pipe.read_exact(&mut word))?;
        std::fs::create_dir(path)?;
        Ok(scratch)
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // The janitor removes what this could not.
        let _ = remove(&self.path);
        self.line = None;
        let _ = self.janitor.wait();
    }
}

/// Removes `path` when standard input ends. Signals that end a whole session don't keep it from that.
pub fn janitor_main(path: &Path) -> io::Result<()> {
    for signal in [SIGHUP, SIGINT, SIGTERM] {
        signal_hook::flag::register(signal, Arc::default())?;
    }
    // The folder may be made from now on.
    let mut ready = io::stdout();
    ready.write_all(b"r")?;
    ready.flush()?;
    io::copy(&mut io::stdin(), &mut io::sink())?;
    let start = Instant::now();
    loop {
        match remove(path) {
            // Somebody still makes files there: the kernel is about to end it.
            Err(error) if start.elapsed() > PATIENCE => return Err(error),
            Err(_) => std::thread::yield_now(),
            Ok(()) => return Ok(()),
        }
    }
}

/// Removes a folder with all that is in it, if it is there.
pub(crate) fn remove(path: &Path) -> io::Result<()> {
    match std::fs::remove_dir_all(path) {
        // What can't be looked at, this user's processes can't have made.
        Err(_) if path.symlink_metadata().is_err() => Ok(()),
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_is_removed_with_all_that_is_in_it() {
        let path = std::env::temp_dir().join(format!("knee-test-{:016x}", fastrand::u64(..)));
        std::fs::create_dir_all(path.join("a/b")).unwrap();
        std::fs::write(path.join("a/b/c"), "c").unwrap();
        remove(&path).unwrap();
        assert!(!path.exists());
        remove(&path).unwrap();
    }
}
