//! How a person names a run: `last`, `last@HOST`, a number, the beginning of an id, `FILE.db`, `FILE.db:RUN`, or the same
//! with a database's URL.

use crate::{Error, Location, url};
use jiff::Timestamp;
use model::RunSummary;
use model::short_name;
use std::path::Path;

/// Fewest digits that are taken for the beginning of an id where they could be a number as well:
/// `knee show 7` must not turn to another run because run 7 was deleted.
const PREFIX_OF_DIGITS_MIN: usize = 4;
/// Digits of an id.
const ID_DIGITS: usize = 16;

/// A run as a person names it, and the record it is in where that is named too.
///
/// ```
/// use archive::{Location, RunRef};
///
/// let run = RunRef::parse("old.db:7")?;
/// assert_eq!(run.record, Some(Location::from("old.db")));
/// assert_eq!(run.run, "7");
/// assert_eq!(RunRef::parse("old.db")?.run, "last");
/// assert_eq!(RunRef::parse("a3f1")?.record, None);
/// assert_eq!(RunRef::parse("postgres://host/perf:7")?.run, "7");
/// assert!(RunRef::parse("the best one").is_err());
/// # Ok::<(), archive::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunRef {
    /// The record it is in; `None` for the one in use.
    pub record: Option<Location>,
    /// What [`crate::Archive::resolve`] takes: `last`, `last@HOST`, a number, or the beginning of an id.
    pub run: String,
}

impl RunRef {
    /// Reads `last`, `last@HOST`, a number, the beginning of an id, `FILE` or `FILE:RUN`. A file's name ends in
    /// `.db` or contains a `/`; without `:RUN` its last run is meant. A database's URL with its name stands for a
    /// file; `:7` behind a host is a port.
    ///
    /// # Errors
    /// [`Error::Refused`] when it is none of these.
    pub fn parse(text: &str) -> Result<Self, Error> {
        if names_a_run(text) {
            return Ok(Self { record: None, run: text.to_ascii_lowercase() });
        }
        if let Some((file, run)) = text.rsplit_once(':')
            && names_a_file(file)
            && !is_host_alone(file)
            && names_a_run(run)
        {
            return Ok(Self { record: Some(file.into()), run: run.to_ascii_lowercase() });
        }
        if names_a_file(text) {
            return Ok(Self { record: Some(text.into()), run: "last".into() });
        }
        let text = printable::word_without_user_info(text);
        Err(Error::Refused(format!(
            "'{text}' does not name a run; use last, last@HOST, a number, the beginning of an id, FILE.db or FILE.db:RUN"
        )))
    }
}

fn names_a_run(text: &str) -> bool {
    let digits = || text.bytes().all(|byte| byte.is_ascii_digit());
    let id = || text.len() <= ID_DIGITS && text.bytes().all(|byte| byte.is_ascii_hexdigit());
    let last = || text.eq_ignore_ascii_case("last") || host_of(text).is_some();
    last() || !text.is_empty() && (digits() || id())
}

/// The host in `last@HOST`. Names of hosts are read in either case.
fn host_of(text: &str) -> Option<&str> {
    let (last, host) = text.split_once('@')?;
    let is_host = !host.is_empty() && !host.contains(['/', ':', '@']);
    (last.eq_ignore_ascii_case("last") && is_host).then_some(host)
}

/// Whether `run` is of the host that is meant by `host`: its name, or what is before the first dot of it.
fn is_of_host(run: &RunSummary, host: &str) -> bool {
    let name = run.host.to_lowercase();
    [&name, &short_name(&name)].contains(&&host.to_lowercase())
}

fn names_a_file(text: &str) -> bool {
    let stem = text.len().checked_sub(3).filter(|at| text.is_char_boundary(*at));
    let ends_in_db = stem.is_some_and(|at| at > 0 && text[at..].eq_ignore_ascii_case(".db"));
    ends_in_db || text.contains('/')
}

/// Whether this is a URL without a path: what follows its colon is a port.
fn is_host_alone(text: &str) -> bool {
    url::scheme(text).is_some_and(|scheme| !text[scheme.len() + 3..].contains('/'))
}

/// Picks the run that `name` means out of `runs`, which are in order of number.
///
/// # Errors
/// [`Error::NoSuchRun`], [`Error::EmptyRecord`]; [`Error::Refused`] where it could be several.
pub fn pick(runs: &[RunSummary], name: &str, path: &Path) -> Result<i64, Error> {
    if runs.is_empty() {
        return Err(Error::EmptyRecord(path.into()));
    }
    // A run that was merged or imported has a higher number than those that were measured before it.
    let newest = |runs: &mut dyn Iterator<Item = &RunSummary>| {
        let newest = runs.max_by_key(|run| (run.started.parse::<Timestamp>().ok(), run.number));
        newest.map(|run| run.number)
    };
    let none = || Error::NoSuchRun { path: path.into(), run: name.to_ascii_lowercase() };
    let name = name.to_ascii_lowercase();
    if name == "last" {
        return newest(&mut runs.iter()).ok_or_else(none);
    }
    if let Some(host) = host_of(&name) {
        return newest(&mut runs.iter().filter(|run| is_of_host(run, host))).ok_or_else(none);
    }
    if !names_a_run(&name) {
        return Err(none());
    }
    if name.bytes().all(|byte| byte.is_ascii_digit()) {
        let number = name.parse().ok();
        if let Some(run) = runs.iter().find(|run| Some(run.number) == number) {
            return Ok(run.number);
        }
        if name.len() < PREFIX_OF_DIGITS_MIN {
            return Err(none());
        }
    }
    let matches: Vec<_> = runs.iter().filter(|run| run.id.starts_with(&name)).collect();
    match matches[..] {
        [] => Err(none()),
        [run] => Ok(run.number),
        _ => {
            let run =
                |run: &&RunSummary| format!("run {} ({}, {})", run.number, run.id, run.started);
            let (path, runs) = (path.display(), matches.iter().map(run).collect::<Vec<_>>());
            let runs = runs.join(" or ");
            Err(Error::Refused(format!("{path}: {name} could be {runs}; name it with more digits")))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(number: i64, id: &str) -> RunSummary {
        RunSummary {
            number,
            id: id.into(),
            started: "2026-11-21T13:51:34+00:00".into(),
            ..RunSummary::default()
        }
    }

    fn picked(runs: &[RunSummary], name: &str) -> Result<i64, String> {
        pick(runs, name, Path::new("knee.db")).map_err(|error| error.to_string())
    }

    #[test]
    fn a_file_is_not_taken_for_a_run() {
        let parsed = |text| RunRef::parse(text).map(|run| (run.record, run.run)).ok();
        let in_file = |file: &str, run: &str| Some((Some(Location::from(file)), run.to_owned()));
        let here = |run: &str| Some((None, run.to_owned()));
        assert_eq!(parsed("last"), here("last"));
        assert_eq!(parsed("LAST"), here("last"));
        assert_eq!(parsed("12"), here("12"));
        assert_eq!(parsed("A3F1"), here("a3f1"));
        assert_eq!(parsed("0123456789abcdef"), here("0123456789abcdef"));
        assert_eq!(parsed("base.db"), in_file("base.db", "last"));
        assert_eq!(parsed("base.DB:a3f1"), in_file("base.DB", "a3f1"));
        assert_eq!(parsed("some/where.sqlite:last"), in_file("some/where.sqlite", "last"));
        assert_eq!(parsed("./a:b/c.db"), in_file("./a:b/c.db", "last"));
        assert_eq!(parsed("./a:7"), in_file("./a", "7"));
        assert_eq!(parsed("äb.db:7"), in_file("äb.db", "7"));
        assert_eq!(parsed("postgres://h/perf:7"), in_file("postgres://h/perf", "7"));
        assert_eq!(parsed("postgres://h/perf"), in_file("postgres://h/perf", "last"));
        assert_eq!(parsed("postgres://h:5433"), in_file("postgres://h:5433", "last"));
        assert_eq!(
            parsed("postgres://u:7@h:5433/perf"),
            in_file("postgres://u:7@h:5433/perf", "last")
        );
        assert_eq!(parsed("last@Node-5"), here("last@node-5"));
        assert_eq!(parsed("a.db:last@n.example.org"), in_file("a.db", "last@n.example.org"));
        for bad in [
            "",
            ":",
            "last@",
            "7@node5",
            "last@a@b",
            ":7",
            "base.db:",
            "base.db:best",
            ".db",
            "best",
            "-1",
            "0123456789abcdef0",
            "ä€",
        ] {
            assert_eq!(parsed(bad), None, "{bad}");
        }
    }

    #[test]
    fn a_run_is_picked_by_last_number_or_beginning_of_id() {
        let runs =
            [run(1, "a3f1000000000000"), run(2, "a3f2000000000000"), run(9, "1234567890abcdef")];
        assert_eq!(picked(&runs, "last"), Ok(9));
        let merged = RunSummary { started: "2026-11-01T00:00:00Z".into(), ..run(10, "b0") };
        assert_eq!(picked(&[&runs[..], &[merged]].concat(), "last"), Ok(9), "it began before");
        assert_eq!(picked(&runs, "2"), Ok(2));
        assert_eq!(picked(&runs, "A3F1"), Ok(1));
        assert_eq!(picked(&runs, "a3f2000000000000"), Ok(2));
        assert_eq!(picked(&runs, "1234"), Ok(9), "too long for a likely number");
        for absent in ["3", "12", "0", "-1", "b", "", "best"] {
            let error = picked(&runs, absent).unwrap_err();
            assert_eq!(error, format!("knee.db: no run {absent}"));
        }
    }

    #[test]
    fn the_last_run_of_a_host_is_picked_by_its_name() {
        let on = |number, host: &str| RunSummary { host: host.into(), ..run(number, "a3f1") };
        let runs = [on(1, "amber"), on(2, "Blue.example.org"), on(3, "amber"), on(4, "")];
        assert_eq!(picked(&runs, "last@amber"), Ok(3));
        assert_eq!(picked(&runs, "LAST@Amber"), Ok(3));
        assert_eq!(picked(&runs, "last@blue"), Ok(2));
        assert_eq!(picked(&runs, "last@blue.example.org"), Ok(2));
        assert_eq!(picked(&runs, "last"), Ok(4));
        assert!(picked(&runs, "last@green").unwrap_err().contains("no run last@green"));
    }

    #[test]
    fn an_ambiguous_beginning_lists_what_it_could_be() {
        let runs = [run(1, "a3f1000000000000"), run(2, "a3f2000000000000")];
        assert_eq!(
            picked(&runs, "a3f").unwrap_err(),
            "knee.db: a3f could be run 1 (a3f1000000000000, 2026-11-21T13:51:34+00:00) or run 2 \
             (a3f2000000000000, 2026-11-21T13:51:34+00:00); name it with more digits"
        );
    }

    #[test]
    fn an_empty_record_says_so() {
        assert_eq!(picked(&[], "last").unwrap_err(), "knee.db holds no runs yet");
    }
}
