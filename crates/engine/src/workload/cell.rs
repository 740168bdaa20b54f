//! One cell, as its worker sees it.

use super::about::About;
use super::failure::Failure;
use model::{CellKey, Parameters, Value};
use std::borrow::Cow;
use std::path::PathBuf;
use std::time::{Duration, Instant};

/// One cell, as a worker sees it.
#[derive(Clone, Debug, Default)]
pub struct Cell {
    /// The subject: `epoll-level`.
    pub subject: String,
    /// Every parameter, the axis included, one value each, checked; shares as the numbers that they
    /// come to.
    pub parameters: Parameters,
    /// Seeds whatever the workload draws at random; the same for all subjects of a point and round.
    pub seed: u64,
    /// Where a directory for its files may be made: see [`crate::Scratch`].
    pub scratch: PathBuf,
    /// When what the cell starts has to be ready; absent outside of a worker.
    pub ready_by: Option<Instant>,
}

impl Cell {
    /// The value of a parameter that is a whole number.
    pub fn number(&self, name: &str) -> Result<u64, Failure> {
        let value = self.parameter(name)?;
        let not_whole = || Failure::new(format!("{name} is {value}, not a whole number"));
        value.number().ok_or_else(not_whole)
    }

    /// The value of a parameter that is a word or any other text.
    pub fn text(&self, name: &str) -> Result<Cow<'_, str>, Failure> {
        self.parameter(name).map(Value::text)
    }

    /// How long what the cell starts may take until it is ready. What is left of the deadline then is for measuring.
    pub fn start_max(&self) -> Duration {
        let ready_by = self.ready_by.unwrap_or_else(Instant::now);
        ready_by.saturating_duration_since(Instant::now())
    }

    /// The same cell in a worker that is killed after this time from now on.
    pub(crate) fn with_deadline(self, deadline: Duration) -> Cell {
        // Measuring takes less than a quarter: a deadline has ten times the measuring time, and 30 s.
        Cell { ready_by: Some(Instant::now() + deadline / 4 * 3), ..self }
    }

    pub(crate) fn parameter(&self, name: &str) -> Result<&Value, Failure> {
        let value = self.parameters.get(name);
        value.ok_or_else(|| Failure::new(format!("the cell lacks the parameter {name}")))
    }

    /// The row of the cell's subject among `rows`, by the name of each.
    pub fn find_subject<'a, T>(
        &self,
        rows: &'a [T],
        name: impl Fn(&'a T) -> &'static str,
    ) -> Result<&'a T, Failure> {
        let row = rows.iter().find(|row| name(row) == self.subject);
        row.ok_or_else(|| Failure::new(format!("there is no subject {}", self.subject)))
    }

    /// The cell that `key` stands for, with `axis` as its axis.
    pub(crate) fn new(about: &About, axis: &str, key: &CellKey, seed: u64) -> Cell {
        let mut all = key.parameters.clone();
        all.insert(axis.into(), Value::Number(key.point));
        let resolved = all.iter().map(|(name, value)| {
            let parameter = about.parameter(name);
            let number = parameter.and_then(|parameter| parameter.number(value, &all));
            (name.clone(), number.map_or_else(|| value.clone(), Value::Number))
        });
        Cell {
            subject: key.subject.clone(),
            parameters: resolved.collect(),
            seed,
            scratch: PathBuf::new(),
            ready_by: None,
        }
    }
}
