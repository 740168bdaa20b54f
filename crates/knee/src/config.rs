//! `knee.toml`: which file is meant, and what a suite of it comes to beside the flags, which win.

use crate::commands::run::flags::Run as Asked;
use crate::exit::Trouble;
use engine::{Overrides, RunRequest};
use rustix::fs::OFlags;
use std::collections::BTreeMap;
use std::fs::File;
use std::io::Read;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use suites::{Suite, Wrong};

/// What the file is called where nobody names another.
const NAME: &str = "knee.toml";

/// Suites by name, and the file that they stand in.
type Found = (PathBuf, BTreeMap<String, Suite>);

/// The suites of the file that is meant: the one that was named, or the nearest in this folder and those
/// above it; none where there is no such file.
pub fn suites(named: Option<&Path>) -> Result<Option<Found>, Trouble> {
    let Some(file) = named.map(Path::to_path_buf).or_else(nearest) else { return Ok(None) };
    let text =
        read(&file).map_err(|error| Trouble::usage(format!("{}: {error}", file.display())))?;
    let suites = suites::read(&text, workloads::TABLE).map_err(|why| wrong(&file, &why))?;
    Ok(Some((file, suites)))
}

/// Larger than any list of suites that a person writes.
const BYTES_MAX: u64 = 1 << 20;

/// The text of a file. A device or a pipe is refused: it may never end, or block.
fn read(file: &Path) -> std::io::Result<String> {
    let nonblocking = OFlags::NONBLOCK.bits().cast_signed();
    let file = File::options().read(true).custom_flags(nonblocking).open(file)?;
    if !file.metadata()?.is_file() {
        return Err(std::io::Error::other("not a regular file"));
    }
    let mut text = String::new();
    file.take(BYTES_MAX + 1).read_to_string(&mut text)?;
    if text.len() as u64 > BYTES_MAX {
        return Err(std::io::Error::other("larger than 1 MiB, which no list of suites is"));
    }
    Ok(text)
}

/// As cargo and ripgrep look for theirs.
fn nearest() -> Option<PathBuf> {
    let here = std::env::current_dir().ok()?;
    here.ancestors().map(|folder| folder.join(NAME)).find(|file| file.is_file())
}

fn wrong(file: &Path, why: &Wrong) -> Trouble {
    Trouble::usage(format!("{}: {why}", file.display()))
}

/// What the flags ask, with what their suite asks where no flag does.
pub fn with_suite(asked: &Asked, flags: RunRequest) -> Result<RunRequest, Trouble> {
    let Some(name) = &asked.suite else { return Ok(flags) };
    let Some((file, mut all)) = suites(asked.config.as_deref())? else {
        let what = format!("--suite {name}: there is no {NAME} in this folder or above it");
        return Err(Trouble::usage(format!("{what}; --config FILE names one")));
    };
    let Some(Suite { request: suite, .. }) = all.remove(name) else {
        return Err(no_such(name, &file, &all));
    };
    let workloads = chosen(&flags.workloads, name, &suite.workloads)?;
    let overrides = suite.overrides.iter().filter(|(name, _)| workloads.contains(name));
    let overrides = overrides
        .map(|(name, of)| Ok((name.clone(), unless_typed(name, of.clone(), &flags)?)))
        .collect::<Result<_, Trouble>>()?;
    Ok(RunRequest { workloads, overrides, ..flags.or(&suite) })
}

fn no_such(name: &str, file: &Path, all: &BTreeMap<String, Suite>) -> Trouble {
    let names: Vec<&str> = all.keys().map(String::as_str).collect();
    let hint = match (quantities::nearest(name, &names).as_slice(), names.as_slice()) {
        ([], []) => "it has none".to_owned(),
        ([], names) => format!("it has {}", names.join(", ")),
        (near, _) => format!("did you mean {}?", near.join(" or ")),
    };
    Trouble::usage(format!("{}: no suite is called `{name}`; {hint}", file.display()))
}

/// The workloads of a suite, or those of them that were named.
fn chosen(named: &[String], suite: &str, all: &[String]) -> Result<Vec<String>, Trouble> {
    if let Some(stray) = named.iter().find(|name| !all.contains(name)) {
        let what = format!("{stray} is not in the suite {suite}: it has {}", all.join(", "));
        return Err(Trouble::usage(what));
    }
    let mut chosen: Vec<String> = Vec::new();
    for name in if named.is_empty() { all } else { named } {
        if !chosen.contains(name) {
            chosen.push(name.clone());
        }
    }
    Ok(chosen)
}

/// What a workload has of its overrides, without what a flag says otherwise.
fn unless_typed(
    name: &str,
    mut overrides: Overrides,
    asked: &RunRequest,
) -> Result<Overrides, Trouble> {
    let axis = grown(name, &mut overrides, asked);
    if !asked.points.is_empty() {
        overrides.points.clear();
        overrides.parameters.remove(&axis);
    }
    if asked.parameters.contains_key(&axis) {
        overrides.points.clear();
    }
    overrides.parameters.retain(|parameter, _| !asked.parameters.contains_key(parameter));
    if asked.rounds.is_some() {
        overrides.rounds = None;
    }
    let had = !overrides.subjects.is_empty();
    if asked.subjects.is_empty() {
        overrides.subjects.retain(|subject| !asked.without.contains(subject));
    } else {
        overrides.subjects.clear();
    }
    if had && overrides.subjects.is_empty() && asked.subjects.is_empty() {
        return Err(Trouble::usage(format!(
            "nothing of {name} is left to compare; leave fewer out"
        )));
    }
    Ok(overrides)
}

/// The axis of a workload: the one that was typed, where it has that; then points of another are none of it.
fn grown(name: &str, overrides: &mut Overrides, asked: &RunRequest) -> String {
    let about = workloads::TABLE.iter().map(|row| row.about()).find(|about| about.name == name);
    let usual = about.map(|about| about.axis.to_owned()).unwrap_or_default();
    let before = overrides.axis.clone().unwrap_or(usual);
    let can = |axis: &&String| {
        about.is_some_and(|about| about.axes().any(|parameter| parameter.name == axis.as_str()))
    };
    let Some(typed) = asked.axis.as_ref().filter(can) else { return before };
    if *typed != before {
        overrides.points.clear();
    }
    overrides.axis = None;
    typed.clone()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of_poll() -> Overrides {
        let text = "[suite.a]\nworkloads = [{ name = 'poll', points = [10], active = 2, rounds = 3, \
                    subjects = ['poll', 'select'] }]";
        suites::read(text, workloads::TABLE).unwrap()["a"].request.overrides["poll"].clone()
    }

    fn own(asked: &RunRequest) -> Overrides {
        unless_typed("poll", of_poll(), asked).unwrap()
    }

    #[test]
    fn flags_win_over_the_file() {
        let kept = own(&RunRequest::default());
        assert_eq!(kept, of_poll());
        let points = RunRequest { points: vec![20.into()], ..RunRequest::default() };
        assert!(own(&points).points.is_empty());
        let watched = BTreeMap::from([("watched".to_owned(), vec![20.into()])]);
        let by_name = RunRequest { parameters: watched, ..RunRequest::default() };
        assert!(own(&by_name).points.is_empty(), "the axis by its own flag");
        let active = BTreeMap::from([("active".to_owned(), vec![1.into()])]);
        let parameter = own(&RunRequest { parameters: active, ..RunRequest::default() });
        assert!(parameter.parameters.is_empty() && parameter.points == ["10"]);
        let axis = own(&RunRequest { axis: Some("active".into()), ..RunRequest::default() });
        assert!(axis.points.is_empty() && axis.axis.is_none());
        assert_eq!(own(&RunRequest { rounds: Some(1), ..RunRequest::default() }).rounds, None);
        let subjects = RunRequest { subjects: vec!["epoll-level".into()], ..RunRequest::default() };
        assert!(own(&subjects).subjects.is_empty());
        let without = RunRequest { without: vec!["poll".into()], ..RunRequest::default() };
        assert_eq!(own(&without).subjects, ["select"]);
        let nothing =
            RunRequest { without: vec!["poll".into(), "select".into()], ..RunRequest::default() };
        assert!(unless_typed("poll", of_poll(), &nothing).is_err());
    }

    #[test]
    fn an_axis_that_a_workload_lacks_leaves_its_points() {
        let kept = own(&RunRequest { axis: Some("size".into()), ..RunRequest::default() });
        assert_eq!(kept, of_poll());
    }

    #[test]
    fn without_the_maximal_control_is_without_that_of_the_suite() {
        let text = "[suite.a]\nworkloads = [{ name = 'build', subjects = ['half', 'maximal'] }]";
        let build =
            suites::read(text, workloads::TABLE).unwrap()["a"].request.overrides["build"].clone();
        let without = Asked { no_max: true, ..Asked::default() }.request();
        assert_eq!(unless_typed("build", build, &without).unwrap().subjects, ["half"]);
    }
}
