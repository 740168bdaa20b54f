//! Names for runs to compare with: saved, found again, and the nearest where one is mistyped.

use super::flags::Output;
use crate::commands::{opened, resolved};
use crate::exit::Trouble;
use archive::Location;

/// Whether this may be a name: something that a line can show.
pub fn check(name: &str) -> Result<(), Trouble> {
    let shown = !name.trim().is_empty() && name.trim() == name;
    if shown && !name.chars().any(char::is_control) {
        return Ok(());
    }
    Err(Trouble::usage(format!("{name:?} is no name for a baseline (such as main)")))
}

pub fn save(output: &Output, name: &str, run: &str) -> Result<String, Trouble> {
    let (archive, number) = resolved(run, &output.record_file)?;
    set(archive.location(), name, number)
}

pub fn save_number(holder: &Location, name: &str, run: i64) -> Result<String, Trouble> {
    if run == 0 {
        return Err(Trouble::failed(format!(
            "baseline {name} is not saved: the run is not recorded"
        )));
    }
    set(holder, name, run)
}

fn set(location: &Location, name: &str, number: i64) -> Result<String, Trouble> {
    let mut archive = archive::open(location)?;
    let before = archive.baselines()?.into_iter().find(|(existing, _)| existing == name);
    archive.set_baseline(name, number)?;
    let was = match before {
        Some((_, before)) if before != number => format!(" (it was run {before})"),
        _ => String::new(),
    };
    Ok(format!("Baseline {name}: run {number}{was}    Record: {location}\n"))
}

pub fn run(output: &Output, name: &str) -> Result<String, Trouble> {
    let archive = opened(&output.record_file)?;
    let (location, baselines) = (archive.location(), archive.baselines()?);
    match baselines.iter().find(|(existing, _)| existing == name) {
        Some((_, number)) => Ok(number.to_string()),
        None => Err(Trouble::usage(format!("{location}: {}", absent(name, &baselines)))),
    }
}

fn absent(name: &str, baselines: &[(String, i64)]) -> String {
    if baselines.is_empty() {
        return format!(
            "no baseline is called `{name}`, nor is there any; `knee compare --save-baseline {name}` \
             names the last run"
        );
    }
    let names: Vec<&str> = baselines.iter().map(|(name, _)| name.as_str()).collect();
    let nearest = quantities::nearest(name, &names).join(" or ");
    let all: Vec<String> =
        baselines.iter().map(|(name, number)| format!("{name} (run {number})")).collect();
    let all = all.join(", ");
    if nearest.is_empty() {
        return format!("no baseline is called `{name}`; there is {all}");
    }
    format!("no baseline is called `{name}`; did you mean {nearest}? There is {all}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unknown_name_brings_the_nearest_and_all() {
        let baselines = [("main".to_owned(), 3), ("release-1".to_owned(), 7)];
        assert_eq!(
            absent("mian", &baselines),
            "no baseline is called `mian`; did you mean main? There is main (run 3), release-1 (run 7)"
        );
        assert_eq!(
            absent("xyzzy", &baselines),
            "no baseline is called `xyzzy`; there is main (run 3), release-1 (run 7)"
        );
        assert!(absent("main", &[]).contains("--save-baseline main"));
    }

    #[test]
    fn a_name_is_something_that_a_line_shows() {
        for name in ["main", "release 1.2", "α"] {
            assert!(check(name).is_ok(), "{name}");
        }
        for name in ["", " ", " main", "a\nb", "\u{1b}[0m"] {
            assert!(check(name).is_err(), "{name:?}");
        }
    }
}
