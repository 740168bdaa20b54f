//! Checks of the machine: what keeps workloads from running here, or figures from being repeatable, and the
//! command that fixes it.
//!
//! A family of checks is one file with a table, and one line in [`GROUPS`]; help, documents and `--fix` derive
//! from the tables. A check reads files below the directory of its [`Machine`]. A file that it can't read makes
//! the check unknown; it never guesses.
#![forbid(unsafe_code)]

mod cpu;
mod disk;
mod error;
#[cfg(test)]
mod fake;
mod fix;
mod json;
mod limits;
mod machine;
mod memory;
mod noise;
mod permissions;
mod saved;
mod setting;
mod sysctls;

pub use error::Error;
pub use fix::{Changed, FixResult, Outcome, UndoReport, UndoResult, fix, undo};
pub use json::json;
pub use machine::Machine;
pub use saved::state_file;
pub use setting::{Setting, settings_command};

use std::fmt::Display;

/// Every family of checks, in the order of the output.
pub static GROUPS: &[&Group] = &[
    &limits::GROUP,
    &sysctls::GROUP,
    &permissions::GROUP,
    &cpu::GROUP,
    &memory::GROUP,
    &disk::GROUP,
    &noise::GROUP,
];

/// What the workloads hold at once by default: a check that asks for less would call fine what cuts
/// their axes short.
mod needs {
    /// Sockets, and with them descriptors and ports.
    pub const SOCKETS: u64 = 10_000;
    /// Maps of one process.
    pub const MAPS: u64 = 25_000;
    /// Files in the directory of a cell.
    pub const FILES: u64 = 10_000;
    /// Children that live at the same time; so many threads as well.
    pub const PROCESSES: u64 = 5_000;
    /// Bytes of the files of one cell.
    pub const FILE_BYTES: u64 = 300_000_000;
    /// What knee and a worker have open, mapped or running besides, with what is under way to a
    /// process that holds other ends.
    pub const OWN: u64 = 400;
}

/// In place of a list of workloads: all of them.
const ALL: &[&str] = &["all"];

/// A family of checks.
#[derive(Debug)]
pub struct Group {
    /// What it is called in the output.
    pub name: &'static str,
    /// Whether what is wrong with it distorts times.
    pub distorts_times: bool,
    /// Its rows.
    pub checks: &'static [Check],
}

/// One row: what is checked, and why it matters.
#[derive(Debug)]
pub struct Check {
    /// Its name, which `--fix` takes.
    pub name: &'static str,
    /// What it looks at, in a few words.
    pub looks_at: &'static str,
    /// Why that matters.
    pub why: &'static str,
    /// For which workloads; none where it is for another command, which `why` names.
    pub workloads: &'static [&'static str],
    /// What harm the fix may do. `--fix` then changes it only where the user names the check.
    pub fix_risk: Option<&'static str>,
    /// Makes the check.
    look: fn(&Machine) -> Result<Diagnosis, Unknown>,
}

impl Check {
    /// The workloads that it is for, as text.
    pub fn workloads_text(&self) -> String {
        if self.workloads == ALL { "all workloads".to_owned() } else { self.workloads.join(", ") }
    }
}

/// How good or bad the machine is in one respect.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum State {
    /// A workload can't do here what it does by default, or its figures are worth nothing.
    Bad,
    /// It may distort figures: read them with care.
    Warn,
    /// It can't be read, and why.
    Unknown,
    /// Nothing to say.
    Ok,
}

impl State {
    /// Every state, the worst first.
    pub const ALL: [State; 4] = [State::Bad, State::Warn, State::Unknown, State::Ok];

    /// Its name, in every output.
    pub fn name(self) -> &'static str {
        match self {
            State::Bad => "bad",
            State::Warn => "warn",
            State::Unknown => "unknown",
            State::Ok => "ok",
        }
    }
}

/// What a check found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnosis {
    /// How it is.
    pub state: State,
    /// The value now.
    pub value: String,
    /// What is wrong with it; empty where nothing is.
    pub message: String,
    /// What fixes it.
    pub remedy: Remedy,
}

/// What fixes it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Remedy {
    /// Nothing, or nothing that knee could name.
    None,
    /// What a person has to do.
    Advice(String),
    /// What a person has to type.
    Command(String),
    /// Files of the kernel and what to write into them: what `--fix` does.
    Settings(Vec<Setting>),
}

/// Why something can't be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unknown(pub String);

impl Diagnosis {
    fn ok(value: impl Into<String>) -> Diagnosis {
        Diagnosis::new(State::Ok, value, "", Remedy::None)
    }

    fn warn(value: impl Into<String>, message: impl Into<String>, remedy: Remedy) -> Diagnosis {
        Diagnosis::new(State::Warn, value, message, remedy)
    }

    fn bad(value: impl Into<String>, message: impl Into<String>, remedy: Remedy) -> Diagnosis {
        Diagnosis::new(State::Bad, value, message, remedy)
    }

    fn new(
        state: State,
        value: impl Into<String>,
        message: impl Into<String>,
        remedy: Remedy,
    ) -> Diagnosis {
        Diagnosis { state, value: value.into(), message: message.into(), remedy }
    }
}

impl From<Result<Diagnosis, Unknown>> for Diagnosis {
    fn from(looked: Result<Diagnosis, Unknown>) -> Diagnosis {
        looked.unwrap_or_else(|Unknown(why)| {
            Diagnosis::new(State::Unknown, "unknown", why, Remedy::None)
        })
    }
}

impl Remedy {
    fn advice(advice: impl Into<String>) -> Remedy {
        Remedy::Advice(advice.into())
    }

    fn command(command: impl Into<String>) -> Remedy {
        Remedy::Command(command.into())
    }

    fn setting(file: impl Into<String>, value: impl Display) -> Remedy {
        Remedy::Settings(vec![Setting { file: file.into(), value: format!("{value}") }])
    }

    /// What to type or to do; empty where there is nothing.
    pub fn text(&self, machine: &Machine) -> String {
        match self {
            Remedy::None => String::new(),
            Remedy::Advice(text) | Remedy::Command(text) => text.clone(),
            Remedy::Settings(settings) => settings_command(settings, machine.is_root),
        }
    }
}

/// A check with what it found.
#[derive(Clone, Debug)]
pub struct Examined {
    /// The family's name.
    pub group: &'static str,
    /// The row.
    pub check: &'static Check,
    /// What it found.
    pub diagnosis: Diagnosis,
}

/// What a machine is fit for: the checks that are bad or a warning.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fitness {
    /// Those that distort times. Ratios within a run, whose cells take turns, stay.
    pub distorting: Vec<&'static str>,
    /// The others: they cut axes short, or leave something out.
    pub limiting: Vec<&'static str>,
    /// Those that distort times if they are wrong, of which nothing is known.
    pub unknown: Vec<&'static str>,
}

impl Fitness {
    /// By all checks.
    pub fn new(examined: &[Examined]) -> Fitness {
        let distorts = |row: &Examined| {
            GROUPS.iter().any(|group| group.name == row.group && group.distorts_times)
        };
        let named = |is_wanted: &dyn Fn(&Examined) -> bool| {
            examined.iter().filter(|row| is_wanted(row)).map(|row| row.check.name).collect()
        };
        let is_wrong = |row: &Examined| matches!(row.diagnosis.state, State::Bad | State::Warn);
        Fitness {
            distorting: named(&|row| is_wrong(row) && distorts(row)),
            limiting: named(&|row| is_wrong(row) && !distorts(row)),
            unknown: named(&|row| row.diagnosis.state == State::Unknown && distorts(row)),
        }
    }
}

/// Makes every check, in the order of the tables.
pub fn examine(machine: &Machine) -> Vec<Examined> {
    let all = GROUPS.iter().flat_map(|group| group.checks.iter().map(move |row| (group, row)));
    all.map(|(group, check)| Examined {
        group: group.name,
        check,
        diagnosis: (check.look)(machine).into(),
    })
    .collect()
}

/// Every row of every table.
pub fn checks() -> impl Iterator<Item = &'static Check> {
    GROUPS.iter().flat_map(|group| group.checks)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_says_what_it_is_and_why_it_matters() {
        let mut names = Vec::new();
        for check in checks() {
            assert!(!names.contains(&check.name), "{} stands twice", check.name);
            names.push(check.name);
            assert!(
                check.name.chars().all(|c| c.is_ascii_alphanumeric() || "-_".contains(c)),
                "{check:?}"
            );
            assert!(!check.looks_at.is_empty() && !check.why.is_empty(), "{check:?}");
            for text in [check.looks_at, check.why].into_iter().chain(check.fix_risk) {
                assert!(!text.ends_with('.') && !text.contains('|'), "{text}");
            }
        }
    }

    #[test]
    fn a_check_is_for_workloads_that_there_are() {
        let real = |name: &str| workloads::find(name).is_some();
        for check in checks().filter(|check| check.workloads != ALL) {
            let advises = check.why.contains("`knee advise");
            assert_eq!(check.workloads.is_empty(), advises, "{}", check.name);
            for name in check.workloads {
                assert!(real(name), "{} is for {name}, which is no workload", check.name);
            }
        }
    }

    #[test]
    fn the_needs_are_those_of_the_workloads() {
        let points_max = |workload: &str| -> Option<u64> {
            let about = workloads::find(workload)?.about();
            let sweep = about.parameter(about.axis())?.sweep.as_ref()?;
            sweep.points.full.iter().map(|point| engine_number(point)).max()
        };
        for (workload, need) in [
            ("socket", needs::SOCKETS),
            ("bind", needs::SOCKETS),
            ("accept", needs::SOCKETS),
            ("mmap", needs::MAPS),
            ("manyfiles", needs::FILES),
            ("fork", needs::PROCESSES),
        ] {
            assert_eq!(points_max(workload), Some(need), "{workload}");
        }
    }

    /// `10k` and `10000` are the same number.
    fn engine_number(point: &str) -> u64 {
        let (digits, times) = point.strip_suffix('k').map_or((point, 1), |digits| (digits, 1_000));
        digits.replace(['_', ','], "").parse::<u64>().unwrap() * times
    }

    #[test]
    fn what_cannot_be_read_is_unknown_with_the_reason_and_never_a_guess() {
        let empty = fake::Fake::new();
        for Examined { check, diagnosis, .. } in examine(&empty.machine()) {
            // Disk space, io_uring and tracepoints are asked for by system calls, not read below the directory.
            if !["temporary-files", "record", "io_uring", "tracepoints"].contains(&check.name) {
                assert_eq!(diagnosis.state, State::Unknown, "{}: {diagnosis:?}", check.name);
                assert!(diagnosis.message.len() > 10, "{}: {diagnosis:?}", check.name);
                assert_eq!(diagnosis.remedy, Remedy::None, "{}", check.name);
            }
        }
    }
}
