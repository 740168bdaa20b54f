//! A directory for the files of one cell, which is gone when the cell is over, whatever ends it.
//!
//! The worker removes it when it is done. The instrument removes it when a worker ended in any other way. And
//! the janitor, a process of its own, removes it when both are gone at once: it waits for the end of a pipe
//! that the worker holds.

use super::guard::{GUARD_COMMAND, Guarded, outlive_session};
use crate::process::MARK;
use std::io::{self, Write};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::{Duration, Instant};
use sys::process::this_program;

/// Precedes the directory in the arguments of a janitor.
pub(super) const JANITOR: &str = "janitor";

/// How long a worker that is being killed may still make files.
const REMOVAL_MAX: Duration = Duration::from_secs(20);

/// A directory that is removed, with all that is in it, when this value or its process ends.
#[derive(Debug)]
pub struct Scratch {
    path: PathBuf,
    /// Ends when this is dropped.
    _janitor: Guarded,
}

impl Scratch {
    /// Makes the directory `path`, which must not exist yet. Its janitor starts first.
    pub fn new(path: &Path) -> io::Result<Scratch> {
        let mut command = this_program();
        command.args([GUARD_COMMAND, JANITOR]).arg(path);
        // Not in the worker's group and without the run's mark: what has either is killed with the worker.
        let mut janitor =
            Guarded::begin(command.process_group(0).env_remove(MARK).stderr(Stdio::null()))?;
        if janitor.line()?.is_empty() {
            return Err(io::Error::other("the janitor of its files has ended"));
        }
        std::fs::create_dir(path)?;
        Ok(Scratch { path: path.into(), _janitor: janitor })
    }

    /// Its path.
    pub fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // The janitor removes what is left.
        let _ = remove(&self.path);
    }
}

/// The janitor: removes the directory of `words` when standard input ends.
pub(super) fn main(words: &[String]) -> io::Result<()> {
    let [path] = words else { return Err(io::Error::other("nothing to remove")) };
    outlive_session()?;
    // From now on the directory may be made.
    writeln!(io::stdout(), "ready")?;
    io::copy(&mut io::stdin(), &mut io::sink())?;
    let start = Instant::now();
    loop {
        match remove(Path::new(path)) {
            // A process that is being killed still makes files there.
            Err(error) if start.elapsed() > REMOVAL_MAX => return Err(error),
            Err(_) => std::thread::yield_now(),
            Ok(()) => return Ok(()),
        }
    }
}

/// Removes a directory with all that is in it, if it exists.
pub(crate) fn remove(path: &Path) -> io::Result<()> {
    match std::fs::remove_dir_all(path).or_else(|_| remove_groups(path)) {
        // A path that can't be looked at was not made by this user's processes.
        Err(_) if path.symlink_metadata().is_err() => Ok(()),
        result => result,
    }
}

/// Removes a control group with those below it: it is a directory whose files can't be removed, and go with it.
fn remove_groups(path: &Path) -> io::Result<()> {
    for entry in path.read_dir()?.flatten().filter(|entry| entry.path().is_dir()) {
        remove_groups(&entry.path())?;
    }
    std::fs::remove_dir(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_directory_is_removed_with_all_that_is_in_it() {
        let path = std::env::temp_dir().join(format!("knee-test-{:016x}", fastrand::u64(..)));
        std::fs::create_dir_all(path.join("a/b")).unwrap();
        std::fs::write(path.join("a/b/c"), "c").unwrap();
        remove(&path).unwrap();
        assert!(!path.exists());
        remove(&path).unwrap();
    }
}
