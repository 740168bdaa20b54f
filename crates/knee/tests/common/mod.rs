//! What the tests of the program share: a knee with a directory of its own, and a look at what it
//! leaves behind.
#![allow(dead_code, reason = "each test file uses its part")]

pub mod bisection;
pub mod cells;
pub mod guests;
pub mod http;
#[cfg(feature = "postgres")]
pub mod postgres;
pub mod slurm;

use archive::{Archive, RunWriter, SqliteArchive};
use model::{Cell, Ending, Profile, Run, RunState};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// Long enough for the slowest machine: a test that waits this long has failed.
pub const PATIENCE: Duration = Duration::from_secs(120);

/// The time between two looks: four times as long as one takes, within these bounds. It leaves the CPU to what is waited
/// for.
const BETWEEN_LOOKS: [Duration; 2] = [Duration::from_millis(1), Duration::from_millis(20)];

/// Held by tests of a run with one and the same id: knee works on a run in one process at a time, whichever
/// record it is in.
pub fn alone() -> MutexGuard<'static, ()> {
    static ALONE: Mutex<()> = Mutex::new(());
    ALONE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The program, with a data directory of its own and a mark by which its processes are known.
pub struct Knee {
    pub directory: TempDir,
    mark: String,
}

/// What a command came to.
#[derive(Debug)]
pub struct Came {
    pub code: Option<i32>,
    pub out: String,
    pub err: String,
}

impl Came {
    /// What it printed, where it did all that it was asked for and complained of nothing.
    pub fn done(self, what: &str) -> String {
        assert_eq!((self.code, self.err.as_str()), (Some(0), ""), "{what}: {}", self.out);
        self.out
    }
}

impl Knee {
    pub fn new() -> Knee {
        let directory = tempfile::tempdir().unwrap();
        let mark = format!("KNEE_TEST_MARK={}", directory.path().display());
        Knee { directory, mark }
    }

    /// Puts a complete run, which ended at that moment, into its record.
    pub fn keep(&self, run: &Run, cells: &[Cell], ended: &str) {
        std::fs::create_dir_all(self.record().parent().unwrap()).unwrap();
        let mut archive = SqliteArchive::open(self.record()).unwrap();
        let begun = Run { profile: Profile::default(), ..run.clone() };
        let number = archive.begin(&begun).unwrap();
        for cell in cells {
            archive.commit(number, cell).unwrap();
        }
        for cell in 0..run.profile.cells.len() {
            archive.commit_profiled(number, &run.profile, cell).unwrap();
        }
        let ending = Ending {
            state: RunState::Complete,
            ended: ended.to_owned(),
            host_after: run.host_before.clone(),
            warnings: Vec::new(),
        };
        archive.finish(number, &ending).unwrap();
    }

    /// The record that this knee uses when none is named.
    pub fn record(&self) -> PathBuf {
        self.directory.path().join("knee/knee.db")
    }

    /// The last run of that record.
    pub fn last_run(&self) -> Run {
        let archive = SqliteArchive::open_read_only(self.record()).unwrap();
        archive.load(archive.resolve("last").unwrap()).unwrap()
    }

    /// Through a shell, in which `$KNEE` is the program.
    pub fn shell(&self, script: &str) -> Command {
        let mut command = Command::new("sh");
        command.args(["-c", script]).env("KNEE", env!("CARGO_BIN_EXE_knee"));
        self.prepare(&mut command);
        command
    }

    pub fn command(&self, words: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_knee"));
        command.args(words);
        self.prepare(&mut command);
        command
    }

    fn prepare(&self, command: &mut Command) {
        command
            .env("XDG_DATA_HOME", self.directory.path())
            .env("KNEE_TEST_MARK", self.directory.path())
            .env_remove("COLUMNS")
            .env_remove("KNEE_RECORD")
            .stdin(Stdio::null());
    }

    pub fn run(&self, words: &[&str]) -> Came {
        came(&mut self.command(words))
    }

    /// What a command printed that did all that it was asked for.
    pub fn done(&self, words: &[&str]) -> String {
        self.run(words).done(&words.join(" "))
    }

    /// A file of its directory.
    pub fn at(&self, name: &str) -> String {
        self.directory.path().join(name).display().to_string()
    }

    /// Starts it and leaves it running, silent.
    pub fn start(&self, words: &[&str]) -> Child {
        self.command(words).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap()
    }

    /// The processes that this knee started and that still live, each by its id and command line.
    pub fn processes(&self) -> Vec<String> {
        let mark = self.mark.as_bytes();
        let mut processes = Vec::new();
        for entry in std::fs::read_dir("/proc").unwrap().flatten() {
            let environment = std::fs::read(entry.path().join("environ")).unwrap_or_default();
            if environment.split(|&byte| byte == 0).any(|variable| variable == mark) {
                let words = std::fs::read(entry.path().join("cmdline")).unwrap_or_default();
                let words = String::from_utf8_lossy(&words).replace('\0', " ");
                processes.push(format!("{}: {words}", entry.file_name().to_string_lossy()));
            }
        }
        processes
    }

    /// Asserts that none of its processes outlives the moment by more than the kernel needs.
    pub fn assert_no_process_left(&self) {
        let mut left = Vec::new();
        let is_over = holds_soon(|| {
            left = self.processes();
            left.is_empty()
        });
        assert!(is_over, "left behind: {left:?}");
    }

    /// The files in its directory, by their paths within it.
    pub fn files(&self) -> Vec<String> {
        let mut paths = Vec::new();
        let mut directories = vec![self.directory.path().to_path_buf()];
        while let Some(directory) = directories.pop() {
            for entry in std::fs::read_dir(directory).unwrap().flatten() {
                let path = entry.path();
                if entry.file_type().unwrap().is_dir() {
                    directories.push(path);
                } else {
                    let within = path.strip_prefix(self.directory.path()).unwrap();
                    paths.push(within.display().to_string());
                }
            }
        }
        paths.sort();
        paths
    }
}

pub fn came(command: &mut Command) -> Came {
    let output = command.output().unwrap();
    Came {
        code: output.status.code(),
        out: String::from_utf8_lossy(&output.stdout).into(),
        err: String::from_utf8_lossy(&output.stderr).into(),
    }
}

/// A network of its own, set up by `script` before knee runs in it; none where that is not allowed.
pub fn in_a_network(knee: &Knee, script: &str, words: &str) -> Option<Came> {
    let may = Command::new("unshare").args(["--net", "ip", "link", "set", "lo", "up"]).output();
    if !may.is_ok_and(|output| output.status.success()) {
        eprintln!("SKIPPED: no network namespace with a loopback can be made here");
        return None;
    }
    let script = format!("ip link set lo up && {script} && exec \"$KNEE\" {words}");
    let script = format!("exec unshare --net sh -c '{script}'");
    Some(came(&mut knee.shell(&script)))
}

/// Whether a control group of this name is directly below that of this process, or below one above it.
pub fn has_control_group(name: &str) -> bool {
    let (_, groups) = sys::cgroup::groups(Path::new("/"), "cpu").unwrap();
    groups.iter().any(|group| group.join(name).exists())
}

/// Waits until `done` holds.
pub fn wait_until(what: &str, done: impl FnMut() -> bool) {
    assert!(holds_soon(done), "waited in vain until {what}");
}

/// Waits until `done` holds, and says whether it came to that.
fn holds_soon(mut done: impl FnMut() -> bool) -> bool {
    let start = Instant::now();
    let [min, max] = BETWEEN_LOOKS;
    loop {
        let look = Instant::now();
        if done() {
            return true;
        }
        if start.elapsed() > PATIENCE {
            return false;
        }
        std::thread::sleep((4 * look.elapsed()).clamp(min, max));
    }
}
