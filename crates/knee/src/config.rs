//! `knee.toml`: which file is meant, and what a suite of it comes to beside the flags, which win.

use crate::args::Run as Asked;
use crate::exit::Trouble;
use crate::usage;
use engine::Own;
use std::collections::BTreeMap;
use std::fmt::Display;
use std::path::{Path, PathBuf};
use suites::{Chosen, Placed, Suite, Wrong};

/// What the file is called where nobody names another.
const NAME: &str = "knee.toml";

/// Suites by name, and the file that they stand in.
type Found = (PathBuf, BTreeMap<String, Suite>);

/// The suites of the file that is meant: the one that was named, or the nearest in this folder and those
/// above it; none where there is no such file.
pub fn suites(named: Option<&Path>) -> Result<Option<Found>, Trouble> {
    let Some(file) = named.map(Path::to_path_buf).or_else(nearest) else { return Ok(None) };
    let text = std::fs::read_to_string(&file)
        .map_err(|error| Trouble::usage(format!("{}: {error}", file.display())))?;
    let suites = suites::read(&text, workloads::TABLE).map_err(|why| wrong(&file, &why))?;
    Ok(Some((file, suites)))
}

/// As cargo and ripgrep look for theirs.
fn nearest() -> Option<PathBuf> {
    let here = std::env::current_dir().ok()?;
    here.ancestors().map(|folder| folder.join(NAME)).find(|file| file.is_file())
}

fn wrong(file: &Path, why: &Wrong) -> Trouble {
    Trouble::usage(format!("{}: {why}", file.display()))
}

/// What was asked for with what its suite says where no flag does, and what each workload has of its own.
pub fn filled(asked: &Asked) -> Result<(Asked, BTreeMap<String, Own>), Trouble> {
    let Some(name) = &asked.suite else { return Ok((asked.clone(), BTreeMap::new())) };
    let Some((file, mut all)) = suites(asked.config.as_deref())? else {
        let what = format!("--suite {name}: there is no {NAME} in this folder or above it");
        return Err(Trouble::usage(format!("{what}; --config FILE names one")));
    };
    let Some(suite) = all.remove(name) else { return Err(no_such(name, &file, &all)) };
    let own = chosen(asked, name, &suite.workloads)?;
    let mut filled =
        Asked { workloads: own.iter().map(|of| of.name.clone()).collect(), ..asked.clone() };
    options(&mut filled, asked, &suite).map_err(|why| wrong(&file, &why))?;
    let own = own.into_iter().map(|of| Ok((of.name.clone(), unless_typed(of, asked)?)));
    Ok((filled, own.collect::<Result<_, Trouble>>()?))
}

fn no_such(name: &str, file: &Path, all: &BTreeMap<String, Suite>) -> Trouble {
    let names: Vec<&str> = all.keys().map(String::as_str).collect();
    let hint = match (engine::nearest(name, &names).as_slice(), names.as_slice()) {
        ([], []) => "it has none".to_owned(),
        ([], names) => format!("it has {}", names.join(", ")),
        (near, _) => format!("did you mean {}?", near.join(" or ")),
    };
    Trouble::usage(format!("{}: no suite is called `{name}`; {hint}", file.display()))
}

/// The workloads of a suite, or those of them that were named.
fn chosen(asked: &Asked, suite: &str, all: &[Chosen]) -> Result<Vec<Chosen>, Trouble> {
    if asked.workloads.is_empty() {
        return Ok(all.to_vec());
    }
    let mut chosen: Vec<Chosen> = Vec::new();
    for name in &asked.workloads {
        let Some(found) = all.iter().find(|of| of.name == *name) else {
            let names: Vec<&str> = all.iter().map(|of| of.name.as_str()).collect();
            let what = format!("{name} is not in the suite {suite}: it has {}", names.join(", "));
            return Err(Trouble::usage(what));
        };
        if !chosen.contains(found) {
            chosen.push(found.clone());
        }
    }
    Ok(chosen)
}

/// Fills in what the suite says of the whole run.
fn options(filled: &mut Asked, asked: &Asked, suite: &Suite) -> Result<(), Wrong> {
    if !asked.quick && !asked.full {
        (filled.quick, filled.full) = (suite.quick, suite.full);
    }
    filled.rounds = asked.rounds.clone().or(suite.rounds.map(|rounds| rounds.to_string()));
    filled.seed = asked.seed.or(suite.seed);
    let times = [
        (&mut filled.time, &suite.time),
        (&mut filled.deadline, &suite.deadline),
        (&mut filled.budget, &suite.budget),
    ];
    for (flag, typed) in times {
        let read =
            typed.as_ref().map(|typed| value(typed, quantities::time_from_ms)).transpose()?;
        *flag = flag.or(read);
    }
    let precision = suite.precision.as_ref().map(|typed| value(typed, quantities::percentage));
    filled.precision = asked.precision.or(precision.transpose()?);
    let pin: Vec<usize> =
        suite.pin.iter().map(|cpu| value(cpu, usage::cpu)).collect::<Result<_, _>>()?;
    if asked.pin.is_empty() {
        filled.pin = pin;
    }
    Ok(())
}

/// A value as its flag reads it.
fn value<T, E: Display>(typed: &Placed, read: fn(&str) -> Result<T, E>) -> Result<T, Wrong> {
    read(&typed.typed).map_err(|why| Wrong { place: typed.place, what: why.to_string() })
}

/// The subjects that flags leave out.
pub fn left_out(asked: &Asked) -> Vec<String> {
    let maximal = asked.no_max.then(|| "maximal".to_owned());
    asked.without.iter().cloned().chain(maximal).collect()
}

/// What a workload has of its own, without what a flag says otherwise.
fn unless_typed(of: Chosen, asked: &Asked) -> Result<Own, Trouble> {
    let Chosen { name, mut own } = of;
    let axis = grown(&name, &mut own, asked);
    if !asked.points.is_empty() {
        own.points.clear();
        own.parameters.remove(&axis);
    }
    if asked.parameters.contains_key(&axis) {
        own.points.clear();
    }
    own.parameters.retain(|parameter, _| !asked.parameters.contains_key(parameter));
    if asked.rounds.is_some() {
        own.rounds = None;
    }
    let had = !own.subjects.is_empty();
    let without = left_out(asked);
    if asked.subjects.is_empty() {
        own.subjects.retain(|subject| !without.contains(subject));
    } else {
        own.subjects.clear();
    }
    if had && own.subjects.is_empty() && asked.subjects.is_empty() {
        return Err(Trouble::usage(format!(
            "nothing of {name} is left to compare; leave fewer out"
        )));
    }
    Ok(own)
}

/// The axis of a workload: the one that was typed, where it has that; then points of another are none of it.
fn grown(name: &str, own: &mut Own, asked: &Asked) -> String {
    let about = workloads::TABLE.iter().map(|row| row.about()).find(|about| about.name == name);
    let usual = about.map(|about| about.axis.to_owned()).unwrap_or_default();
    let before = own.axis.clone().unwrap_or(usual);
    let can = |axis: &&String| {
        about.is_some_and(|about| about.axes().any(|parameter| parameter.name == axis.as_str()))
    };
    let Some(typed) = asked.axis.as_ref().filter(can) else { return before };
    if *typed != before {
        own.points.clear();
    }
    own.axis = None;
    typed.clone()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chosen_poll() -> Chosen {
        let text = "[suite.a]\nworkloads = [{ name = 'poll', points = [10], active = 2, rounds = 3, \
                    subjects = ['poll', 'select'] }]";
        suites::read(text, workloads::TABLE).unwrap()["a"].workloads[0].clone()
    }

    fn own(asked: &Asked) -> Own {
        unless_typed(chosen_poll(), asked).unwrap()
    }

    #[test]
    fn flags_win_over_the_file() {
        let kept = own(&Asked::default());
        assert_eq!(kept, chosen_poll().own);
        let points = Asked { points: vec![20.into()], ..Asked::default() };
        assert!(own(&points).points.is_empty());
        let watched = BTreeMap::from([("watched".to_owned(), vec![20.into()])]);
        let by_name = Asked { parameters: watched, ..Asked::default() };
        assert!(own(&by_name).points.is_empty(), "the axis by its own flag");
        let active = BTreeMap::from([("active".to_owned(), vec![1.into()])]);
        let parameter = own(&Asked { parameters: active, ..Asked::default() });
        assert!(parameter.parameters.is_empty() && parameter.points == ["10"]);
        let axis = own(&Asked { axis: Some("active".into()), ..Asked::default() });
        assert!(axis.points.is_empty() && axis.axis.is_none());
        assert_eq!(own(&Asked { rounds: Some("1".into()), ..Asked::default() }).rounds, None);
        let subjects = Asked { subjects: vec!["epoll-level".into()], ..Asked::default() };
        assert!(own(&subjects).subjects.is_empty());
        let without = Asked { without: vec!["poll".into()], ..Asked::default() };
        assert_eq!(own(&without).subjects, ["select"]);
        let nothing = Asked { without: vec!["poll".into(), "select".into()], ..Asked::default() };
        assert!(unless_typed(chosen_poll(), &nothing).is_err());
    }

    #[test]
    fn an_axis_that_a_workload_lacks_leaves_its_points() {
        let kept = own(&Asked { axis: Some("size".into()), ..Asked::default() });
        assert_eq!(kept, chosen_poll().own);
    }

    #[test]
    fn without_the_maximal_control_is_without_that_of_the_suite() {
        let text = "[suite.a]\nworkloads = [{ name = 'build', subjects = ['half', 'maximal'] }]";
        let chosen = suites::read(text, workloads::TABLE).unwrap()["a"].workloads[0].clone();
        let without = Asked { no_max: true, ..Asked::default() };
        assert_eq!(unless_typed(chosen, &without).unwrap().subjects, ["half"]);
    }
}
