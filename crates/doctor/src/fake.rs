//! A machine of files in a temporary directory, for tests: both states of each check can be had there.

use super::{Examined, Machine, State, examine};
use std::path::PathBuf;
use tempfile::TempDir;

/// A machine that has only what a test gives it.
pub struct Fake {
    pub directory: TempDir,
}

impl Fake {
    pub fn new() -> Fake {
        Fake { directory: tempfile::tempdir().unwrap() }
    }

    /// With a file of this text.
    pub fn with(self, file: &str, text: &str) -> Fake {
        self.set(file, text);
        self
    }

    pub fn set(&self, file: &str, text: &str) {
        let path = self.path(file);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }

    pub fn get(&self, file: &str) -> String {
        std::fs::read_to_string(self.path(file)).unwrap().trim().to_owned()
    }

    fn path(&self, file: &str) -> PathBuf {
        self.directory.path().join(file.trim_start_matches('/'))
    }

    /// Where this machine's record would be.
    pub fn record(&self) -> PathBuf {
        self.directory.path().join("data/knee/knee.db")
    }

    pub fn machine(&self) -> Machine {
        let mut machine =
            Machine::below(self.directory.path(), self.directory.path(), &self.record());
        machine.is_root = true;
        machine
    }

    /// What the check of that name finds: its state, its value with its message, its command.
    pub fn finds(&self, name: &str) -> (State, String, String) {
        finds(&self.machine(), name)
    }
}

/// What the check of that name finds on a machine.
pub fn finds(machine: &Machine, name: &str) -> (State, String, String) {
    let all = examine(machine);
    let Examined { diagnosis, .. } = all.into_iter().find(|row| row.check.name == name).unwrap();
    let command = diagnosis.remedy.text(machine);
    let output = [diagnosis.value, diagnosis.message].join(": ");
    (diagnosis.state, output, command)
}
