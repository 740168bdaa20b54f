//! Reads `knee.toml`: suites, which are named lists of workloads with options.
//!
//! Pure: text and the table of workloads in, suites or the first thing that is wrong out, with its line and
//! its column. Everything that the table knows is checked here (workloads, subjects, parameters, points);
//! lengths of time and percentages are handed on with their [`Place`], since they are read as on the
//! command line.
//!
//! ```
//! let text = "[suite.pr]\nworkloads = ['socket', { name = 'poll', points = [10, '1k'] }]";
//! let suites = suites::read(text, workloads::TABLE).unwrap();
//! assert_eq!(suites["pr"].workloads[1].own.points, ["10", "1k"]);
//!
//! let wrong = suites::read("[suite.pr]\nworklods = ['poll']", workloads::TABLE).unwrap_err();
//! assert_eq!(wrong.to_string(), "line 2, column 1: a suite has no `worklods`; did you mean workloads?");
//! ```
#![forbid(unsafe_code)]

mod checks;
mod walk;

use engine::{Own, Workload};
use std::collections::BTreeMap;
use walk::Node;

/// One suite: what `knee run --suite NAME` measures as one run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Suite {
    /// What it is for; may be empty.
    pub about: String,
    /// What it measures, each once, in order.
    pub workloads: Vec<Chosen>,
    /// As `--quick`.
    pub quick: bool,
    /// As `--full`.
    pub full: bool,
    /// As `--rounds`.
    pub rounds: Option<u32>,
    /// As `--time`.
    pub time: Option<Placed>,
    /// As `--deadline`.
    pub deadline: Option<Placed>,
    /// As `--budget`.
    pub budget: Option<Placed>,
    /// As `--precision`.
    pub precision: Option<Placed>,
    /// As `--pin`.
    pub pin: Vec<Placed>,
    /// As `--seed`.
    pub seed: Option<u64>,
}

/// A workload of a suite, with what is meant for it alone.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Chosen {
    /// Its name.
    pub name: String,
    /// Its options, checked.
    pub own: Own,
}

/// A value as it was typed, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Placed {
    /// The value.
    pub typed: String,
    /// Where it stands.
    pub place: Place,
}

/// A place in a text, both counted from 1; columns are characters.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Place {
    /// The line.
    pub line: usize,
    /// The column.
    pub column: usize,
}

/// The first thing that is wrong with a text, in one line.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {}, column {}: {what}", place.line, place.column)]
pub struct Wrong {
    /// Where.
    pub place: Place,
    /// What, and how to mend it.
    pub what: String,
}

impl Wrong {
    /// What it quotes of the text may have anything in it, orders to a terminal included.
    fn without_controls(self) -> Wrong {
        Wrong { what: self.what.replace(char::is_control, " "), ..self }
    }
}

/// The suites of a text, by name, for the workloads of `table`.
///
/// # Errors
/// With the first thing that is no TOML, or that no suite may say.
pub fn read(text: &str, table: &[&'static dyn Workload]) -> Result<BTreeMap<String, Suite>, Wrong> {
    suites_of(text, table).map_err(Wrong::without_controls)
}

fn suites_of(
    text: &str,
    table: &[&'static dyn Workload],
) -> Result<BTreeMap<String, Suite>, Wrong> {
    let root = walk::parsed(text)?;
    let mut suites = BTreeMap::new();
    for (key, node) in root.entries("knee.toml", &["suite"])? {
        for (name, suite) in node.any_entries(&format!("`{}`", key.typed))? {
            suites.insert(name.typed.clone(), suite_of(&suite, table)?);
        }
    }
    Ok(suites)
}

/// What a suite may say besides its workloads.
const KEYS: [&str; 11] = [
    "about",
    "workloads",
    "quick",
    "full",
    "rounds",
    "time",
    "deadline",
    "budget",
    "precision",
    "pin",
    "seed",
];

fn suite_of(node: &Node<'_>, table: &[&'static dyn Workload]) -> Result<Suite, Wrong> {
    let mut suite = Suite::default();
    for (key, value) in node.entries("a suite", &KEYS)? {
        match key.typed.as_str() {
            "about" => suite.about = value.text()?.typed.replace(char::is_control, " "),
            "workloads" => suite.workloads = checks::workloads(&value, table)?,
            "quick" => suite.quick = value.yes_or_no()?,
            "full" => suite.full = value.yes_or_no()?,
            "rounds" => suite.rounds = Some(checks::rounds(&value)?),
            "time" => suite.time = Some(value.text()?),
            "deadline" => suite.deadline = Some(value.text()?),
            "budget" => suite.budget = Some(value.text()?),
            "precision" => suite.precision = Some(value.text()?),
            "pin" => suite.pin = value.several()?,
            _ => suite.seed = Some(checks::seed(&value)?),
        }
    }
    if suite.workloads.is_empty() {
        return Err(node.wrong("a suite says which workloads: workloads = [\"poll\"]"));
    }
    if suite.quick && suite.full {
        return Err(node.wrong("a suite is quick or full, not both"));
    }
    Ok(suite)
}
