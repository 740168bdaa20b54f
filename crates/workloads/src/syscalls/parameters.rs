//! What can be varied: how many do it at once, and what they are.

use crate::shared::crew::By;
use engine::{Cell, Defaults, Failure, Parallel, Parameter, Sweep, Values};

/// More workers than this say nothing that fewer don't.
pub(crate) const WORKERS_MAX: u64 = 1_024;

pub(crate) const THREADS: Parameter = Parameter {
    name: "threads",
    about: "threads, or processes, that make the calls at once",
    values: Values::TimesOf("cpus"),
    default: Defaults::always(&["1x"]),
    sweep: Some(Sweep::new(
        "threads",
        &["1", "1x", "2x"],
        &["1", "1/4x", "1/2x", "1x", "2x", "4x"],
    )),
};

const THREADS_WORD: &str = "threads";
const PROCESSES_WORD: &str = "processes";

pub(crate) const BY: Parameter = Parameter {
    name: "by",
    about: "what makes the calls: threads of one process, or processes of one thread each",
    values: Values::OneOf(&[THREADS_WORD, PROCESSES_WORD]),
    default: Defaults::always(&[THREADS_WORD, PROCESSES_WORD]),
    sweep: None,
};

/// Threads share what is their process's.
pub(crate) fn parallel() -> Parallel {
    let [parameter, sharing, separate] = [BY.name, THREADS_WORD, PROCESSES_WORD].map(String::from);
    Parallel { parameter, sharing, separate }
}

impl By {
    pub(crate) fn from_cell(cell: &Cell) -> Result<By, Failure> {
        Ok(if cell.text(BY.name)? == PROCESSES_WORD { By::Processes } else { By::Threads })
    }
}
