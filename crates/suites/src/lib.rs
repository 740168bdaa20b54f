//! Reads `knee.toml`: suites, which are named lists of workloads with options. Flags and suites have commands, servers and
//! figures of the user's own in one syntax, which is read here for both.
//!
//! Pure: text and the table of workloads in, suites or the first thing that is wrong out, with its line and
//! its column. Everything is checked here: quantities, and what the table knows (workloads, subjects, parameters,
//! points).
//!
//! ```
//! let text = "[suite.pr]\nworkloads = ['socket', { name = 'poll', points = [10, '1k'] }]";
//! let suites = suites::read(text, workloads::TABLE).unwrap();
//! assert_eq!(suites["pr"].request.overrides["poll"].points, ["10", "1000"]);
//!
//! let wrong = suites::read("[suite.pr]\nworklods = ['poll']", workloads::TABLE).unwrap_err();
//! assert_eq!(wrong.to_string(), "line 2, column 1: a suite has no `worklods`; did you mean workloads?");
//! ```
#![forbid(unsafe_code)]

mod checks;
mod custom;
mod figure;
mod guests;
mod model;
mod typed;
mod walk;

pub use figure::read_figure;
pub use guests::Guests;
pub use model::{Placed, Position, Wrong};
pub use typed::{name_templates, read_output, read_shell, read_template, read_word};

use engine::{ProfileRate, RunRequest, Workload};
use quantities::{count_within, percentage, time_from_ms};
use std::collections::BTreeMap;
use walk::Node;

/// One suite: what `knee run --suite NAME` measures as one run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Suite {
    /// What it is for; may be empty.
    pub about: String,
    /// What it asks of a run. Each workload stands there once, in order, and has an entry of its own among
    /// the overrides.
    pub request: RunRequest,
    /// The virtual machines that it is measured in by `knee vm`.
    pub guests: Guests,
}

/// Suites of knee's own: `over-commit`.
pub const BUILT_IN: &str = include_str!("built_in.toml");

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
const KEYS: [&str; 13] = [
    "about",
    "workloads",
    "quick",
    "full",
    "rounds",
    "time",
    "deadline",
    "budget",
    "precision",
    "profile",
    "pin",
    "seed",
    "vm",
];

fn suite_of(node: &Node<'_>, table: &[&'static dyn Workload]) -> Result<Suite, Wrong> {
    let mut suite = Suite::default();
    let request = &mut suite.request;
    for (key, value) in node.entries("a suite", &KEYS)? {
        match key.typed.as_str() {
            "about" => suite.about = value.text()?.typed.replace(char::is_control, " "),
            "workloads" => {
                for (name, overrides) in checks::workloads(&value, table)? {
                    request.workloads.push(name.clone());
                    request.overrides.insert(name, overrides);
                }
            }
            "quick" => request.quick = value.yes_or_no()?,
            "full" => request.full = value.yes_or_no()?,
            "rounds" => request.rounds = Some(checks::rounds(&value)?),
            "time" => request.time = Some(quantity(&value.text()?, time_from_ms)?),
            "deadline" => request.deadline = Some(quantity(&value.text()?, time_from_ms)?),
            "budget" => request.budget = Some(quantity(&value.text()?, time_from_ms)?),
            "precision" => request.precision = Some(quantity(&value.text()?, percentage)?),
            "profile" => request.profile = value.yes_or_no()?.then_some(ProfileRate::Usual),
            "pin" => {
                let cpus = value.several()?;
                let cpu = |text: &Placed| quantity(text, count_within(0..=CPU_MAX));
                request.pinned_cpus = cpus.iter().map(cpu).collect::<Result<_, _>>()?;
            }
            "seed" => request.seed = Some(checks::seed(&value)?),
            "vm" => suite.guests = guests::read(&value)?,
            unread => return Err(value.wrong(format!("no suite reads the key `{unread}`"))),
        }
    }
    if request.workloads.is_empty() {
        return Err(node.wrong("a suite says which workloads: workloads = [\"poll\"]"));
    }
    if request.quick && request.full {
        return Err(node.wrong("a suite is quick or full, not both"));
    }
    Ok(suite)
}

/// No machine has a CPU of a higher number.
const CPU_MAX: u64 = u16::MAX as u64;

/// A quantity as the command line reads it.
pub(crate) fn quantity<T>(
    text: &Placed,
    read: impl Fn(&str) -> Result<T, quantities::Error>,
) -> Result<T, Wrong> {
    read(&text.typed).map_err(|why| text.wrong(why.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The keys as a document lists them: "`a`, `b` and `c`".
    fn listed(keys: &[&str], before_last: &str) -> String {
        let keys: Vec<String> = keys.iter().map(|key| format!("`{key}`")).collect();
        let (last, first) = keys.split_last().unwrap();
        format!("{}{before_last}{last}", first.join(", "))
    }

    #[test]
    fn the_suites_of_knees_own_can_be_read() {
        let suites = read(BUILT_IN, workloads::TABLE).unwrap();
        let over_commit = &suites["over-commit"];
        let guests = &over_commit.guests;
        assert!(guests.cpus > guests.on, "{guests:?}");
        assert_eq!(guests.cpu_models.len(), 2);
        assert!(over_commit.request.workloads.contains(&"syscalls".to_owned()));
        let wrong = read("[suite.a]\nworkloads = ['poll']\nvm = { cpu_s = 2 }", workloads::TABLE);
        let wrong = wrong.unwrap_err().to_string();
        assert!(wrong.contains("the table vm of a suite has no `cpu_s`"), "{wrong}");
    }

    #[test]
    fn the_document_lists_every_key() {
        let document = include_str!("../../../docs/suites.md");
        let document = document.split_whitespace().collect::<Vec<&str>>().join(" ");
        let lists = [
            format!("The keys of a suite are {}; ", listed(&KEYS, " and ")),
            format!(
                "`name` and any of {} and its own parameters",
                listed(&checks::KEYS[1..], ", ")
            ),
        ];
        let (directory, flags) = custom::KEYS.split_last().unwrap();
        let own = format!("{}; `{directory}` is where they run", listed(flags, " and "));
        let guests = format!("The table `vm` has {}: ", listed(&guests::KEYS, " and "));
        for list in lists.into_iter().chain([own, guests]) {
            assert!(document.contains(&list), "docs/suites.md lacks: {list}");
        }
    }
}
