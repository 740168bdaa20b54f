//! `knee.toml`: which file is used, and the request of a suite combined with the flags, which win.

use crate::commands::measure::run::flags::Run as RunFlags;
use crate::exit::Trouble;
use engine::{Overrides, RunRequest, Workload};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use suites::Suite;

pub const NAME: &str = "knee.toml";

type Suites = (PathBuf, BTreeMap<String, Suite>);

/// The suites of the file `named`, or of the nearest knee.toml in this directory and those above it.
pub fn suites(named: Option<&Path>) -> Result<Option<Suites>, Trouble> {
    let Some((file, text)) = file(named)? else { return Ok(None) };
    let suites = suites_of(&file, &text)?;
    Ok(Some((file, suites)))
}

pub fn built_in() -> Result<BTreeMap<String, Suite>, Trouble> {
    suites_of(Path::new("knee's own suites"), suites::BUILT_IN)
}

fn suites_of(file: &Path, text: &str) -> Result<BTreeMap<String, Suite>, Trouble> {
    suites::read(text, workloads::all())
        .map_err(|why| Trouble::usage(format!("{}: {why}", file.display())))
}

fn file(named: Option<&Path>) -> Result<Option<(PathBuf, String)>, Trouble> {
    let Some(file) = named.map(Path::to_path_buf).or_else(nearest) else { return Ok(None) };
    let text = sys::file::read_text(&file, MIB_MAX)
        .map_err(|error| Trouble::usage(format!("{}: {error}", file.display())))?;
    Ok(Some((file, text)))
}

pub struct NamedSuite {
    pub suite: Suite,
    /// The text that it stands in; absent for knee's own.
    pub text: Option<String>,
}

pub fn named(flags: &RunFlags) -> Result<Option<NamedSuite>, Trouble> {
    let Some(name) = &flags.suite else { return Ok(None) };
    let file = file(flags.config.as_deref())?;
    let mut all = match &file {
        Some((file, text)) => suites_of(file, text)?,
        None => BTreeMap::new(),
    };
    if let Some(suite) = all.remove(name) {
        return Ok(Some(NamedSuite { suite, text: file.map(|(_, text)| text) }));
    }
    if flags.config.is_none()
        && let Some(suite) = built_in()?.remove(name)
    {
        return Ok(Some(NamedSuite { suite, text: None }));
    }
    let Some((file, _)) = file else {
        let what = format!("--suite {name}: there is no {NAME} in this directory or above it");
        return Err(Trouble::usage(format!("{what}; --config FILE names one")));
    };
    Err(no_such(name, &file, &all))
}

/// Larger than any list of suites that a person writes.
const MIB_MAX: u64 = 1;

/// As cargo and ripgrep look for theirs.
fn nearest() -> Option<PathBuf> {
    let here = std::env::current_dir().ok()?;
    here.ancestors().map(|directory| directory.join(NAME)).find(|file| file.is_file())
}

/// The request of the flags, with that of their suite where no flag says otherwise.
pub fn with_suite(flags: &RunFlags, request: RunRequest) -> Result<RunRequest, Trouble> {
    let (Some(name), Some(named)) = (&flags.suite, named(flags)?) else { return Ok(request) };
    let suite = named.suite.request;
    let workloads = chosen(&request.workloads, name, &suite.workloads)?;
    let overrides = suite.overrides.iter().filter(|(name, _)| workloads.contains(name));
    let overrides = overrides
        .map(|(name, overrides)| {
            Ok((name.clone(), unless_typed(name, overrides.clone(), &request)?))
        })
        .collect::<Result<_, Trouble>>()?;
    Ok(RunRequest { workloads, overrides, ..request.or(&suite) })
}

fn no_such(name: &str, file: &Path, all: &BTreeMap<String, Suite>) -> Trouble {
    let names: Vec<&str> = all.keys().map(String::as_str).collect();
    let hint = quantities::did_you_mean(name, &names).unwrap_or_else(|| match names.as_slice() {
        [] => "it has none".to_owned(),
        names => format!("it has {}", names.join(", ")),
    });
    Trouble::usage(format!("{}: no suite is called `{name}`; {hint}", file.display()))
}

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

fn unless_typed(
    name: &str,
    mut overrides: Overrides,
    typed: &RunRequest,
) -> Result<Overrides, Trouble> {
    let axis = grown(name, &mut overrides, typed);
    if !typed.points.is_empty() || typed.parameters.contains_key(&axis) {
        overrides.points.clear();
        overrides.parameters.remove(&axis);
    }
    overrides.parameters.retain(|parameter, _| !typed.parameters.contains_key(parameter));
    if typed.rounds.is_some() {
        overrides.rounds = None;
    }
    if !typed.subjects.is_empty() {
        overrides.subjects.clear();
        return Ok(overrides);
    }
    let subjects = workloads::find(name).map_or_else(Vec::new, Workload::subjects);
    let subjects: Vec<&str> = subjects.iter().map(|subject| subject.info.name.as_str()).collect();
    let without = quantities::expanded(&typed.without, &subjects);
    let had = !overrides.subjects.is_empty();
    overrides.subjects.retain(|subject| !without.contains(subject));
    if had && overrides.subjects.is_empty() {
        return Err(Trouble::usage(format!(
            "nothing of {name} is left to compare; leave fewer out"
        )));
    }
    Ok(overrides)
}

/// The axis of a workload: the typed one, if the workload has it. The points of another axis are dropped.
fn grown(name: &str, overrides: &mut Overrides, typed: &RunRequest) -> String {
    let about = workloads::find(name).map(Workload::about);
    let usual = about.map(|about| about.axis().to_owned()).unwrap_or_default();
    let before = overrides.axis.clone().unwrap_or(usual);
    let can = |axis: &&String| {
        about.is_some_and(|about| about.axes().any(|parameter| parameter.name == axis.as_str()))
    };
    let Some(axis) = typed.axis.as_ref().filter(can) else { return before };
    if *axis != before {
        overrides.points.clear();
    }
    overrides.axis = None;
    axis.clone()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn overrides_of_poll() -> Overrides {
        let text = "[suite.a]\nworkloads = [{ name = 'poll', points = [10], active = 2, rounds = 3, \
                    subjects = ['poll', 'select'] }]";
        suites::read(text, workloads::all()).unwrap()["a"].request.overrides["poll"].clone()
    }

    fn remaining(typed: &RunRequest) -> Overrides {
        unless_typed("poll", overrides_of_poll(), typed).unwrap()
    }

    #[test]
    fn flags_win_over_the_file() {
        let kept = remaining(&RunRequest::default());
        assert_eq!(kept, overrides_of_poll());
        let points = RunRequest { points: vec![20.into()], ..RunRequest::default() };
        assert!(remaining(&points).points.is_empty());
        let watched = BTreeMap::from([("watched".to_owned(), vec![20.into()])]);
        let by_name = RunRequest { parameters: watched, ..RunRequest::default() };
        assert!(remaining(&by_name).points.is_empty(), "the axis by its own flag");
        let active = BTreeMap::from([("active".to_owned(), vec![1.into()])]);
        let parameter = remaining(&RunRequest { parameters: active, ..RunRequest::default() });
        assert!(parameter.parameters.is_empty() && parameter.points == ["10"]);
        let axis = remaining(&RunRequest { axis: Some("active".into()), ..RunRequest::default() });
        assert!(axis.points.is_empty() && axis.axis.is_none());
        assert_eq!(
            remaining(&RunRequest { rounds: Some(1), ..RunRequest::default() }).rounds,
            None
        );
        let subjects = RunRequest { subjects: vec!["epoll-level".into()], ..RunRequest::default() };
        assert!(remaining(&subjects).subjects.is_empty());
        let without = RunRequest { without: vec!["poll".into()], ..RunRequest::default() };
        assert_eq!(remaining(&without).subjects, ["select"]);
        let nothing =
            RunRequest { without: vec!["poll".into(), "select".into()], ..RunRequest::default() };
        assert!(unless_typed("poll", overrides_of_poll(), &nothing).is_err());
    }

    #[test]
    fn an_axis_that_a_workload_lacks_leaves_its_points() {
        let kept = remaining(&RunRequest { axis: Some("size".into()), ..RunRequest::default() });
        assert_eq!(kept, overrides_of_poll());
    }

    #[test]
    fn without_the_maximal_control_is_without_that_of_the_suite() {
        let text = "[suite.a]\nworkloads = [{ name = 'build', subjects = ['half', 'maximal'] }]";
        let build =
            suites::read(text, workloads::all()).unwrap()["a"].request.overrides["build"].clone();
        let without = RunFlags { without: vec!["maximal".into()], ..RunFlags::default() }.request();
        assert_eq!(unless_typed("build", build, &without).unwrap().subjects, ["half"]);
    }
}
