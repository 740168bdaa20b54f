//! One side of `knee ab`: the words that its workers are started through.

use super::{query, refused};
use crate::exit::Trouble;
use engine::{Settings, Starter};
use model::{CellKey, Parameters, Plan};
use serde_json::Value;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

#[derive(Default)]
pub struct Workers {
    /// The words as they were typed; none for workers of this knee.
    pub typed: Option<String>,
    /// The words, a knee at their end, and what is added to their environment.
    pub starter: Starter,
}

impl Workers {
    /// Workers that are started through `typed`: words as a shell has them, at the end of which a knee is
    /// started: the last word where that names one (`taskset -c 1 /old/knee`), else this knee
    /// (`env MALLOC_ARENA_MAX=1`).
    pub fn through(typed: &str) -> Result<Self, Trouble> {
        let starter = Starter { words: worker_words(typed)?, ..Starter::default() };
        Ok(Self { typed: Some(typed.to_owned()), starter })
    }

    pub fn label(&self) -> String {
        let typed = self.typed.as_deref().map(str::trim).map(printable::word_without_user_info);
        typed.map_or_else(|| "of this knee".to_owned(), Into::into)
    }

    pub fn search_path(&self) -> Option<&str> {
        let Starter { words, variables } = &self.starter;
        let variable = variables.iter().find(|(name, _)| name == "PATH");
        let word = || words.iter().rev().find_map(|word| word.strip_prefix("PATH="));
        variable.map(|(_, value)| value.as_str()).or_else(word)
    }

    /// How nice they are beyond this knee, where `nice` starts them.
    pub fn niceness(&self) -> Option<i32> {
        let (first, rest) = self.starter.words.split_first()?;
        let is_nice = Path::new(first).file_name().is_some_and(|name| name == "nice");
        is_nice.then(|| niceness(rest))
    }

    /// The version of their knee, of which one is started. One that measures otherwise than `plan` says is refused.
    pub fn version(&self, plan: &Plan, settings: &Settings) -> Result<String, Trouble> {
        let Some(typed) = self.typed.as_ref().filter(|_| !self.starter.words.is_empty()) else {
            return Ok(env!("CARGO_PKG_VERSION").to_owned());
        };
        engine::try_out(&self.starter, &nothing(), "times", settings)
            .map_err(|why| refused(typed, &no_worker(&why, typed)))?;
        let answers = |why: String| refused(typed, &why);
        let version = query::version(&self.starter.words).map_err(answers)?;
        let list = query::workloads(&self.starter.words).map_err(answers)?;
        same_workloads(plan, typed, &list)?;
        Ok(version)
    }
}

fn worker_words(typed: &str) -> Result<Vec<String>, Trouble> {
    let words = shlex::split(typed).ok_or_else(|| refused(typed, "a quote is not closed"))?;
    let Some(last) = words.last() else {
        return Err(refused(typed, "name what workers are to be started through: 'env X=1'"));
    };
    if names_a_knee(last) {
        return Ok(words);
    }
    let this = this_knee().to_string_lossy().into_owned();
    Ok(words.into_iter().chain([this]).collect())
}

/// What the first words of `nice` ask for: `-n 5`, `-n5`, `-5`, `--adjustment=5`; 10 without any.
fn niceness(words: &[String]) -> i32 {
    const USUAL: i32 = 10;
    let [first, rest @ ..] = words else { return USUAL };
    let number = match first.as_str() {
        "-n" | "--adjustment" => rest.first().map(String::as_str),
        flag => flag
            .strip_prefix("--adjustment=")
            .or_else(|| flag.strip_prefix("-n"))
            .or_else(|| flag.strip_prefix('-')),
    };
    number.and_then(|number| number.parse().ok()).unwrap_or(USUAL)
}

/// Whether a word is the name of a knee: `knee`, `/old/knee`, `./knee-0.1`; no flag, no assignment.
fn names_a_knee(word: &str) -> bool {
    let (directory, name) = word.rsplit_once('/').unwrap_or(("", word));
    let plain = |text: &str| !text.starts_with('-') && !text.contains('=');
    name.starts_with("knee") && plain(name) && (plain(directory) || word.starts_with(['/', '.']))
}

/// A path of this program that other programs can start, also when its file was replaced meanwhile.
fn this_knee() -> PathBuf {
    let running = PathBuf::from(format!("/proc/{}/exe", std::process::id()));
    let inode = |path: &Path| path.metadata().map(|file| (file.dev(), file.ino())).ok();
    let file = std::env::current_exe().ok();
    file.filter(|file| inode(file).is_some() && inode(file) == inode(&running)).unwrap_or(running)
}

fn nothing() -> CellKey {
    CellKey {
        workload: "null".to_owned(),
        subject: "empty".to_owned(),
        parameters: Parameters::new(),
        point: 1,
        round: 0,
    }
}

/// The other knee measures the same by the names of the plan's workloads, as its list has them.
fn same_workloads(plan: &Plan, typed: &str, rows: &[Value]) -> Result<(), Trouble> {
    for ours in &plan.workloads {
        let row = rows.iter().find(|row| row["name"] == ours.name.as_str());
        let Some(row) = row else {
            return Err(refused(typed, &format!("the knee there has no workload {}", ours.name)));
        };
        // A list without versions is older than this knee and has the first version of all.
        let theirs = row["version"].as_u64().unwrap_or(1);
        if theirs != u64::from(ours.version) {
            let (name, version) = (&ours.name, ours.version);
            let what = format!(
                "the knee there measures {name} otherwise (version {theirs}, not {version})"
            );
            return Err(refused(typed, &what));
        }
    }
    Ok(())
}

fn no_worker(why: &str, typed: &str) -> String {
    if why.contains(sys::fork::ORPHANED) {
        let what =
            "what it starts is no child of this knee: it has to become a knee, as `env` does";
        return what.to_owned();
    }
    let why = why.strip_prefix("no worker could be started: ").unwrap_or(why);
    let mut what = format!("no worker could be started through it: {why}");
    let last = shlex::split(typed).and_then(|words| words.last().cloned()).unwrap_or_default();
    if last.contains('/') && !names_a_knee(&last) {
        what.push_str(
            "; a side starts a knee, whose name begins with knee; two programs: knee ab 'env P=./old' \
             'env P=./new' -- command --command '$P {n}'",
        );
    }
    what
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_of_knee_is_recognised_and_look_alikes_are_not() {
        for knee in ["knee", "/old/knee", "./knee-0.1", "target/release/knee", "/a=b/knee"] {
            assert!(names_a_knee(knee), "{knee}");
        }
        for word in
            ["env", "X=/opt/knee", "knee=1", "--root=/x/knee", "1", "LD_PRELOAD=knee.so", ""]
        {
            assert!(!names_a_knee(word), "{word}");
        }
    }

    #[test]
    fn niceness_is_read_as_nice_reads_it() {
        let nice = |typed: &str| Workers::through(typed).unwrap().niceness();
        for typed in ["nice -n 5", "nice -n5", "nice -5", "/usr/bin/nice --adjustment=5 knee"] {
            assert_eq!(nice(typed), Some(5), "{typed}");
        }
        assert_eq!((nice("nice"), nice("nice knee")), (Some(10), Some(10)));
        assert_eq!((nice("env X=1"), Workers::default().niceness()), (None, None));
    }

    #[test]
    fn the_path_of_a_side_is_that_of_its_words() {
        let path = |typed: &str| Workers::through(typed).unwrap().search_path().map(str::to_owned);
        assert_eq!(path("env X=1 PATH=/new:/bin knee").as_deref(), Some("/new:/bin"));
        assert_eq!((path("env X=1"), Workers::default().search_path()), (None, None));
    }

    #[test]
    fn words_are_split_as_a_shell_does_and_end_in_a_knee() {
        let words = worker_words("env 'A=b c' /old/knee").unwrap();
        assert_eq!(words, ["env", "A=b c", "/old/knee"]);
        let words = worker_words(" taskset -c 1 ").unwrap();
        assert_eq!(words[..3], ["taskset", "-c", "1"]);
        assert_eq!(Path::new(&words[3]), std::env::current_exe().unwrap());
        for wrong in ["", "  ", "env 'X=1"] {
            assert!(
                worker_words(wrong).unwrap_err().to_string().starts_with("knee ab '"),
                "{wrong}"
            );
        }
    }
}
