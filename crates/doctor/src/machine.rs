//! The machine that is looked at: files below a directory, which is `/` in the program.

use super::Unknown;
use stacks::{ProfileError, Profiler};
use std::collections::BTreeMap;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};
use sys::proc::{CpuTicks, Stat};

/// Over this long the machine is watched for who else uses it: longer than a run does it, since
/// nothing else hurries here, and short enough not to annoy.
const LOOK: Duration = Duration::from_millis(400);

/// What there is to look at.
#[derive(Debug)]
pub struct Machine {
    root: PathBuf,
    /// Where workloads put their files.
    pub temporary: PathBuf,
    /// The directory of the record.
    pub record: PathBuf,
    /// Whether the user may do everything: commands need no sudo then.
    pub is_root: bool,
    /// Why no stacks can be sampled.
    pub profile_refusal: Option<ProfileError>,
    /// Why a row of io_uring is not available.
    pub uring_refusal: Option<String>,
    /// Why the kernel's tracepoints can't be read, and what fixes that.
    pub tracepoints_refusal: Option<(String, String)>,
    /// Who used the CPUs meanwhile.
    pub watched: Watched,
}

/// Ticks at the beginning and at the end of a look.
#[derive(Clone, Debug, Default)]
pub struct Watched {
    pub before: Ticks,
    pub after: Ticks,
    pub took: Duration,
}

/// Ticks at one moment.
#[derive(Clone, Debug, Default)]
pub struct Ticks {
    /// Of all CPUs; absent where they can't be read.
    pub cpus: Option<CpuTicks>,
    /// Of each process.
    pub processes: BTreeMap<u32, Stat>,
}

impl Ticks {
    pub fn now(proc: &Path) -> Ticks {
        Ticks { cpus: CpuTicks::read(proc), processes: Stat::all(proc) }
    }
}

impl Machine {
    /// This machine, with a record at `record`. Takes as long as it watches.
    pub fn here(record: &Path) -> Machine {
        let proc = Path::new("/proc");
        let (before, start) = (Ticks::now(proc), Instant::now());
        thread::sleep(LOOK);
        let watched = Watched { before, after: Ticks::now(proc), took: start.elapsed() };
        Machine { watched, ..Machine::unwatched(record) }
    }

    /// This machine, without watching it.
    pub fn unwatched(record: &Path) -> Machine {
        let profile_refusal = Profiler::check().err();
        let here = Machine::below(Path::new("/"), &std::env::temp_dir(), record);
        let mut uring = readiness::TABLE.iter().filter(|row| row.name.starts_with("io_uring"));
        let uring_refusal =
            uring.find_map(|row| (row.available)().err()).map(|why| why.to_string());
        let tracepoints_refusal = observe::check_tracepoints().err();
        Machine { profile_refusal, uring_refusal, tracepoints_refusal, ..here }
    }

    /// The machine whose `/proc` and `/sys` are below `root`; it was not watched yet, and refuses neither
    /// samples of stacks nor io_uring nor tracepoints.
    pub fn below(root: &Path, temporary: &Path, record: &Path) -> Machine {
        let directory = record.parent().filter(|directory| !directory.as_os_str().is_empty());
        Machine {
            root: root.into(),
            temporary: temporary.into(),
            record: directory.unwrap_or(Path::new(".")).into(),
            is_root: rustix::process::geteuid().is_root(),
            profile_refusal: None,
            uring_refusal: None,
            tracepoints_refusal: None,
            watched: Watched::default(),
        }
    }

    /// Where the file that is `file` on that machine is on this one.
    pub fn path(&self, file: &str) -> PathBuf {
        self.root.join(file.trim_start_matches('/'))
    }

    /// The text of a file, without blanks at its ends.
    pub fn read(&self, file: &str) -> Result<String, Unknown> {
        match std::fs::read_to_string(self.path(file)) {
            Ok(text) => Ok(text.trim().to_owned()),
            Err(error) if error.kind() == ErrorKind::NotFound => {
                Err(Unknown(format!("there is no {file} here")))
            }
            Err(error) => Err(Unknown(format!("{file} can't be read: {error}"))),
        }
    }

    /// The whole number that a file holds.
    pub fn number(&self, file: &str) -> Result<u64, Unknown> {
        let text = self.read(file)?;
        text.parse().map_err(|_| Unknown(format!("{file} holds no whole number, but `{text}`")))
    }

    /// The names in a directory, in order.
    pub fn names(&self, directory: &str) -> Vec<String> {
        let entries = self.path(directory).read_dir().into_iter().flatten().flatten();
        let mut names: Vec<String> =
            entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
        names.sort();
        names
    }

    /// Whether a file is there.
    pub fn has(&self, file: &str) -> bool {
        self.path(file).exists()
    }

    /// Where a link leads, as text.
    pub fn link(&self, file: &str) -> Option<String> {
        let target = std::fs::read_link(self.path(file)).ok()?;
        Some(target.to_string_lossy().into_owned())
    }

    /// How many CPUs there are.
    pub fn cpus(&self) -> Result<u64, Unknown> {
        let stat = self.read("/proc/stat")?;
        let is_one = |line: &&str| {
            line.strip_prefix("cpu")
                .is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()))
        };
        match stat.lines().filter(is_one).count() as u64 {
            0 => Err(Unknown("/proc/stat names no CPU".into())),
            cpus => Ok(cpus),
        }
    }

    /// How many processes and threads there are.
    pub fn tasks(&self) -> Result<u64, Unknown> {
        let tasks = sys::proc::tasks(&self.read("/proc/loadavg")?);
        tasks.ok_or_else(|| Unknown("/proc/loadavg does not say how many processes run".into()))
    }

    /// `sudo ` where the user needs it.
    pub fn sudo(&self) -> &'static str {
        sys::limits::sudo(self.is_root)
    }
}
