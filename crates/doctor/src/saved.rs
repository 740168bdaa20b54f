//! What settings were before `--fix` changed them: a file next to the record, written before the
//! first change, so that they can be put back whatever happens in between.

use super::machine::Machine;
use crate::Error;
use serde::{Deserialize, Serialize};
use std::fs::{File, TryLockError};
use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};

/// Raised when a key changes its meaning or goes.
const SCHEMA: u32 = 1;
const NAME: &str = "knee-doctor.json";

/// Settings that knee changed, in the order of the first change of each.
#[derive(Debug, Serialize, Deserialize)]
pub struct SavedSettings {
    schema: u32,
    /// The boot in which they were changed; the next one sets them anew.
    pub boot: String,
    /// One for each file.
    pub changes: Vec<Change>,
}

/// One setting that knee changed, or was about to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Change {
    /// The check's name.
    pub check: String,
    /// The kernel's file.
    pub file: String,
    /// What it held before knee changed it first.
    pub was: String,
    /// What knee wrote into it, in turn.
    pub set: Vec<String>,
    /// The network namespace, for a setting that each namespace has.
    pub net: Option<String>,
}

/// Where the state is saved: in the directory of the record.
pub fn state_file(record: &Path) -> PathBuf {
    record.with_file_name(NAME)
}

/// No list of changed settings is larger.
const MIB_MAX: u64 = 1;

impl SavedSettings {
    /// Nothing changed yet.
    pub fn new(machine: &Machine) -> SavedSettings {
        SavedSettings { schema: SCHEMA, boot: boot(machine), changes: Vec::new() }
    }

    /// What was kept in `file`; none where nothing was.
    pub fn load(file: &Path) -> Result<Option<SavedSettings>, Error> {
        let text = match sys::file::read(file, MIB_MAX) {
            Ok(text) => text,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(Error::Failed(format!("{}: {error}", file.display()))),
        };
        let wrong = |what: String| Err(Error::NotSavedSettings(what));
        let file = file.display();
        match serde_json::from_slice::<SavedSettings>(&text) {
            Ok(saved) if saved.schema == SCHEMA => Ok(Some(saved)),
            Ok(_) => wrong(format!("another version of knee wrote {file}: use that version")),
            Err(error) => wrong(format!(
                "{file} is not a file of `knee doctor --fix` ({error}): move it away"
            )),
        }
    }

    /// Keeps it in `file`, so that it is there after a crash or a power cut, whole or not at all.
    pub fn save(&self, file: &Path) -> io::Result<()> {
        let temporary = file.with_extension(format!("json.{}", std::process::id()));
        let write = || {
            let mut new = File::create(&temporary)?;
            new.write_all(&serde_json::to_vec_pretty(self)?)?;
            new.sync_all()?;
            std::fs::rename(&temporary, file)?;
            directory(file)?.sync_all()
        };
        let written = write();
        if written.is_err() {
            // It is of no use, and the disk may be too full even to remove it.
            let _ = std::fs::remove_file(&temporary);
        }
        written
    }

    /// Keeps what is left of it, or no file if nothing is.
    pub fn save_rest(&self, file: &Path) -> Result<(), Error> {
        let done = if self.changes.is_empty() {
            std::fs::remove_file(file).and_then(|()| directory(file)?.sync_all())
        } else {
            self.save(file)
        };
        match done {
            Err(error) if error.kind() != ErrorKind::NotFound => {
                Err(Error::Failed(format!("updating {}: {error}", file.display())))
            }
            _ => Ok(()),
        }
    }

    /// Whether the machine was started anew since.
    pub fn is_of_another_boot(&self, machine: &Machine) -> bool {
        let now = boot(machine);
        !now.is_empty() && !self.boot.is_empty() && now != self.boot
    }

    /// Keeps what `file` held, unless something is kept for it: what was first is what was.
    pub fn add(&mut self, change: Change) {
        match self.changes.iter_mut().find(|old| old.file == change.file && old.net == change.net) {
            Some(old) => old.set.extend(change.set),
            None => self.changes.push(change),
        }
    }

    /// Notes what the kernel made of a value that was written: that is ours to put back, too.
    pub fn note(&mut self, file: &str, made: &str) {
        for change in self.changes.iter_mut().filter(|change| change.file == file) {
            if change.was != made && !change.set.iter().any(|set| set == made) {
                change.set.push(made.to_owned());
            }
        }
    }
}

/// Held while settings are changed or put back: of two processes at once, each would lose the other's
/// values. The kernel releases it however the process ends.
pub struct Claim {
    _directory: File,
}

impl Claim {
    /// Claims the directory of `file`, which is made where it is not there.
    pub fn new(file: &Path) -> Result<Claim, Error> {
        let failed = |error: io::Error| {
            Error::Failed(format!("the directory of {}: {error}", file.display()))
        };
        let busy = "another `knee doctor` is changing settings; wait for it to end";
        std::fs::create_dir_all(directory_of(file)).map_err(failed)?;
        let directory = directory(file).map_err(failed)?;
        match directory.try_lock() {
            Ok(()) => Ok(Claim { _directory: directory }),
            Err(TryLockError::WouldBlock) => Err(Error::Failed(busy.to_owned())),
            Err(TryLockError::Error(error)) => Err(failed(error)),
        }
    }
}

fn directory_of(file: &Path) -> &Path {
    file.parent().filter(|directory| !directory.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

fn directory(file: &Path) -> io::Result<File> {
    File::open(directory_of(file))
}

fn boot(machine: &Machine) -> String {
    machine.read("/proc/sys/kernel/random/boot_id").unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fake::Fake;

    fn change(was: &str, set: &str) -> Change {
        let (check, file) = ("somaxconn".into(), "/proc/sys/net/core/somaxconn".into());
        Change { check, file, was: was.into(), set: vec![set.into()], net: None }
    }

    #[test]
    fn what_was_first_is_kept() {
        let fake = Fake::new();
        let mut saved = SavedSettings::new(&fake.machine());
        saved.add(change("128", "4096"));
        saved.add(change("300", "8192"));
        let file = state_file(&fake.record());
        let _claim = Claim::new(&file).unwrap();
        saved.save(&file).unwrap();
        let saved = SavedSettings::load(&file).unwrap().unwrap();
        let [only] = saved.changes.as_slice() else { panic!("{saved:?}") };
        assert_eq!((only.was.as_str(), only.set.join(" ").as_str()), ("128", "4096 8192"));
        let names: Vec<_> = file.parent().unwrap().read_dir().unwrap().flatten().collect();
        assert_eq!(names.len(), 1, "nothing else is left there: {names:?}");
    }

    #[test]
    fn only_one_at_a_time_changes_settings() {
        let fake = Fake::new();
        let file = state_file(&fake.record());
        let claim = Claim::new(&file).unwrap();
        assert!(Claim::new(&file).is_err());
        drop(claim);
        assert!(Claim::new(&file).is_ok());
    }

    #[test]
    fn a_file_that_is_none_of_ours_is_refused() {
        let fake = Fake::new().with("x.json", "[]").with("y.json", "{}");
        fake.set("z.json", r#"{"schema": 2, "boot": "", "changes": []}"#);
        for name in ["x.json", "y.json", "z.json"] {
            assert!(SavedSettings::load(&fake.directory.path().join(name)).is_err(), "{name}");
        }
        assert!(SavedSettings::load(&fake.directory.path().join("none.json")).unwrap().is_none());
    }
}
