//! The operations. A new one is one file in this directory and one line in the table here.

use super::seat::Seat;
use crate::shared::shortage;
use engine::Failure;
use std::ffi::CString;
use std::fs::{self, File};
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// What is repeated by several threads or processes at once.
pub(crate) struct Operation {
    /// Its name: `dup-close`.
    pub(crate) name: &'static str,
    /// The heading that it is listed under.
    pub(crate) group: &'static str,
    /// What one operation is, and on what, in one line.
    pub(crate) summary: &'static str,
    /// The lock or structure of the kernel that those who do it at once meet at; empty where there is none.
    #[cfg_attr(
        not(test),
        expect(dead_code, reason = "read by the finding that compares threads with processes")
    )]
    pub(crate) contends: &'static str,
    /// What threads of a process share, and processes don't, that the operation changes; empty where there is nothing.
    #[cfg_attr(
        not(test),
        expect(dead_code, reason = "read by the finding that compares threads with processes")
    )]
    pub(crate) shared_by_threads: &'static str,
    /// Sets up what all workers share, and returns what each of them does.
    pub(crate) prepare: fn(&Ground) -> Result<Life, Failure>,
}

/// What a worker does from its beginning to its end: it sets up what it has to itself, and repeats the operation.
pub(crate) type Life = Box<dyn Fn(&Seat<'_>) -> Result<(), Failure> + Sync>;

/// Declares each module, and puts its `OPERATION` into the table.
macro_rules! table {
    ($($file:ident,)*) => {
        $(mod $file;)*

        /// Every operation that knee knows.
        pub(crate) static TABLE: &[&Operation] = &[$(&$file::OPERATION,)*];
    };
}

table! {
    getppid,
    dup_close,
    open_close_one,
    open_close_separate,
    read_one,
    pread_one,
}

/// The directory of a cell.
pub(crate) struct Ground {
    pub(crate) directory: PathBuf,
}

/// What an operation reads or writes at once: a page of a file.
const PAGE: usize = 4_096;
/// A file of so many pages: it stays in the page cache.
const PAGES: usize = 256;

impl Ground {
    /// A new file of zeros with this name.
    fn file(&self, name: &str) -> Result<PathBuf, Failure> {
        file_in(&self.directory, name)
    }

    /// The same, opened to read and write.
    fn opened(&self, name: &str) -> Result<File, Failure> {
        let path = self.file(name)?;
        File::options().read(true).write(true).open(path).map_err(setting_up)
    }
}

fn file_in(directory: &Path, name: &str) -> Result<PathBuf, Failure> {
    let path = directory.join(name);
    fs::write(&path, vec![0; PAGE * PAGES]).map_err(setting_up)?;
    Ok(path)
}

/// A path as the kernel takes it.
fn c_path(path: &Path) -> Result<CString, Failure> {
    CString::new(path.as_os_str().as_bytes()).map_err(|error| Failure::call("a path", error))
}

/// The failure of what an operation needs.
#[expect(clippy::needless_pass_by_value, reason = "for map_err")]
fn setting_up(error: io::Error) -> Failure {
    shortage::failure("setting up the operation", &error)
}

#[cfg(test)]
mod tests {
    use super::super::crew::{By, Crew};
    use super::*;
    use std::sync::atomic::{AtomicU64, Ordering};
    use std::time::Duration;
    use sys::clock::Clock;

    /// A directory that goes with the value.
    struct Directory(PathBuf);

    impl Directory {
        fn new() -> Directory {
            static NEXT: AtomicU64 = AtomicU64::new(0);
            let number = NEXT.fetch_add(1, Ordering::Relaxed);
            let name = format!("knee-operations-{}-{number}", std::process::id());
            let path = std::env::temp_dir().join(name);
            fs::create_dir(&path).unwrap();
            Directory(path)
        }
    }

    impl Drop for Directory {
        fn drop(&mut self) {
            let _ = fs::remove_dir_all(&self.0);
        }
    }

    /// How many operations so many threads did.
    fn counted(operation: &Operation, workers: usize, right: bool) -> Result<u64, Failure> {
        let directory = Directory::new();
        let life = (operation.prepare)(&Ground { directory: directory.0.clone() })?;
        let (clock, time) = (Clock::Monotonic, Duration::from_millis(2));
        let crew = Crew { workers, life: &life, clock, time, right };
        crew.count(By::Threads).map(|counted| counted.operations())
    }

    #[test]
    fn every_operation_makes_progress_with_one_thread_and_with_several() {
        for operation in TABLE {
            for workers in [1, 2, 5] {
                let done = counted(operation, workers, true);
                assert!(done.as_ref().is_ok_and(|done| *done > 0), "{}: {done:?}", operation.name);
            }
        }
    }

    #[test]
    fn the_check_of_every_operation_can_fail() {
        for operation in TABLE {
            let failure = counted(operation, 1, false).expect_err(operation.name).to_string();
            assert!(
                failure.starts_with("operation 1 of worker 1: "),
                "{}: {failure}",
                operation.name
            );
        }
    }

    #[test]
    fn every_operation_is_described() {
        for operation in TABLE {
            let name = operation.name;
            assert!(!operation.summary.is_empty() && !operation.group.is_empty(), "{name}");
            let is_alone = operation.contends.is_empty();
            assert!(!is_alone || operation.shared_by_threads.is_empty(), "{name}");
            let file = name.replace('-', "_");
            let text = concat!(env!("CARGO_MANIFEST_DIR"), "/src/syscalls/operations/");
            assert!(
                Path::new(text).join(format!("{file}.rs")).exists(),
                "{name} has a file of its name"
            );
        }
    }
}
