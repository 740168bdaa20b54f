//! A record on a disk that fills up while knee measures: every figure is printed, and none is reported as
//! recorded that is not.
//!
//! The disk is a small one in memory that only a child of this process sees, and that goes with it. Where
//! the kernel allows no such thing, a limit to the size of files stands for it.

use super::{Bench, Control, Proof, State};
use crate::exit::{Exit, Trouble};
use archive::{Archive, SqliteArchive};
use rustix::mount::{MountFlags, MountPropagationFlags, mount, mount_change};
use rustix::process::{Resource, Rlimit, setrlimit};
use serde::{Deserialize, Serialize};
use serde_json::json;
use std::fs::{File, create_dir};
use std::io;
use std::path::Path;
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

pub const CONTROL: Control = Control {
    name: "full-disk",
    proves: "on a full disk every cell that was measured is printed, and none is reported as \
             recorded that is not",
    prove,
};

/// The hidden subcommand under which the child measures onto a disk that is too small.
pub const DISK_COMMAND: &str = "__selftest-disk";

pub type Knee = fn(Vec<String>) -> Result<Exit, Trouble>;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Means {
    SmallDisk,
    FileLimit,
}

impl Means {
    fn label(self) -> &'static str {
        match self {
            Means::SmallDisk => "on a file system of 512 KiB in memory",
            Means::FileLimit => "below a limit of 256 KiB to the size of files",
        }
    }
}

const FILE_BYTES_MAX: u64 = 256 << 10;
/// More cells than fit either.
const ROUNDS: u32 = 40;
const POINTS: u32 = 2;
/// A child that hangs has failed.
const PATIENCE: Duration = Duration::from_secs(60);
const LOOK: Duration = Duration::from_millis(10);

#[derive(Clone, Debug, Serialize, Deserialize)]
struct Came {
    /// Why there is no such disk here; the rest is meaningless then.
    cannot: Option<String>,
    failed: bool,
    line: String,
    recorded: usize,
    planned: usize,
}

fn prove(bench: &mut Bench) -> Result<Proof, Trouble> {
    let mut cannot = Vec::new();
    for means in [Means::SmallDisk, Means::FileLimit] {
        let directory = bench.directory().join(format!("{means:?}"));
        let (came, printed) = tried(bench, means, &directory)
            .map_err(|error| Trouble::failed(format!("the control full-disk: {error}")))?;
        bench.go_on()?;
        match came {
            Ok(Came { cannot: Some(why), .. }) => cannot.push(why),
            Ok(came) => return Ok(judged(means, &came, &printed)),
            Err(why) => return Ok(Proof::new(State::Failed, why, json!({}))),
        }
    }
    Ok(Proof::not_possible(format!("no disk can be made small here: {}", cannot.join("; "))))
}

/// The child's last line, or why there is none; and what it printed before.
type Tried = (Result<Came, String>, String);

fn tried(bench: &Bench, means: Means, directory: &Path) -> io::Result<Tried> {
    create_dir(directory)?;
    let [stdout, stderr] = ["stdout", "stderr"].map(|name| directory.with_extension(name));
    let mut child = sys::process::this_program()
        .arg(DISK_COMMAND)
        .arg(directory)
        .arg(serde_json::to_string(&means)?)
        .arg(std::process::id().to_string())
        .stdin(Stdio::null())
        .stdout(File::create(&stdout)?)
        .stderr(File::create(&stderr)?)
        .spawn()?;
    wait(bench, &mut child)?;
    let text = std::fs::read_to_string(&stdout)?;
    let (text, last) = text.trim_end().rsplit_once('\n').unwrap_or(("", text.trim_end()));
    let came = serde_json::from_str(last).map_err(|_| {
        let errors = std::fs::read_to_string(&stderr).unwrap_or_default();
        format!("knee did not come to its end there: {}", errors.trim())
    });
    Ok((came, text.to_owned()))
}

fn wait(bench: &Bench, child: &mut Child) -> io::Result<()> {
    let start = Instant::now();
    while child.try_wait()?.is_none() {
        if bench.go_on().is_err() || start.elapsed() > PATIENCE {
            child.kill()?;
            child.wait()?;
            return Ok(());
        }
        std::thread::sleep(LOOK);
    }
    Ok(())
}

fn judged(means: Means, came: &Came, printed: &str) -> Proof {
    let mut amiss = Vec::new();
    let lost = came.planned.saturating_sub(came.recorded);
    let expected = format!("{lost} cells were measured but not recorded");
    if came.recorded == 0 || lost == 0 {
        amiss.push("the disk was not too small for all, or too small for any".to_owned());
    }
    if !came.failed || !came.line.contains(&expected) {
        amiss.push(format!("knee printed: {:?}", came.line));
    }
    if !printed.contains(&format!("median of {ROUNDS} rounds")) {
        amiss.push("the table does not have all rounds".to_owned());
    }
    let state = if amiss.is_empty() { State::Proved } else { State::Failed };
    let Came { recorded, planned, .. } = came;
    let seen = format!(
        "{}: {planned} cells measured and printed, {recorded} in the record; knee reported that {lost} are not",
        means.label()
    );
    let seen = amiss.iter().fold(seen, |seen, what| format!("{seen}; but {what}"));
    let figures = json!({
        "means": format!("{means:?}"), "planned": planned, "recorded": recorded, "message": came.line,
    });
    Proof::new(state, seen, figures)
}

/// The child: makes its disk small, measures onto it, and says what came of it in a last line.
pub fn child_main(directory: &Path, means: &str, parent: &str, knee: Knee) -> io::Result<()> {
    sys::fork::die_with_parent(parent.parse().unwrap_or_default())?;
    let means: Means = serde_json::from_str(means)?;
    let came = match small(directory, means) {
        Ok(()) => measured(&directory.join("full.db"), knee),
        Err(error) => {
            let cannot = Some(format!("{}: {error}", means.label()));
            Came { cannot, failed: false, line: String::new(), recorded: 0, planned: 0 }
        }
    };
    println!("\n{}", serde_json::to_string(&came)?);
    Ok(())
}

fn small(directory: &Path, means: Means) -> io::Result<()> {
    if means == Means::FileLimit {
        let limit = Rlimit { current: Some(FILE_BYTES_MAX), maximum: Some(FILE_BYTES_MAX) };
        return Ok(setrlimit(Resource::Fsize, limit)?);
    }
    sys::mounts::make_own()?;
    mount_change("/", MountPropagationFlags::PRIVATE | MountPropagationFlags::REC)?;
    Ok(mount("none", directory, "tmpfs", MountFlags::NOSUID | MountFlags::NODEV, c"size=512k")?)
}

fn measured(file: &Path, knee: Knee) -> Came {
    let rounds = ROUNDS.to_string();
    let record = file.to_string_lossy();
    let words = ["knee", "run", "null", "--points", "1,2", "--time", "2ms", "--rounds", &rounds];
    let words: Vec<String> =
        words.iter().chain(&["--record", &record]).map(|&word| word.into()).collect();
    let ended = knee(words);
    let recorded = SqliteArchive::open_read_only(file)
        .and_then(|archive| archive.load(archive.resolve("last")?))
        .map_or(0, |run| run.cells.len());
    let (failed, line) = match ended {
        Ok(_) => (false, String::new()),
        Err(trouble) => (trouble.exit == Exit::Failed, trouble.to_string()),
    };
    Came { cannot: None, failed, line, recorded, planned: (ROUNDS * POINTS) as usize }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn came() -> (Came, String) {
        let line = "50 cells were measured but not recorded: the disk is full".to_owned();
        let came = Came { cannot: None, failed: true, line, recorded: 30, planned: 80 };
        (came, "null · median of 40 rounds".to_owned())
    }

    #[test]
    fn a_knee_that_loses_or_that_claims_too_much_is_found() {
        let state = |came: &Came, printed: &str| judged(Means::SmallDisk, came, printed).state;
        let (good, printed) = came();
        assert_eq!(state(&good, &printed), State::Proved);
        assert_eq!(state(&good, "null · median of 15 rounds"), State::Failed, "not printed");
        for broken in [
            Came { failed: false, ..good.clone() },
            Came { recorded: 29, ..good.clone() },
            Came { line: "50 cells were recorded".to_owned(), ..good.clone() },
            Came {
                recorded: 80,
                line: "0 cells were measured but not recorded".to_owned(),
                ..good
            },
        ] {
            assert_eq!(state(&broken, &printed), State::Failed, "{broken:?}");
        }
    }
}
