//! What is asked of a run: the same type for the command line, for knee.toml and for the settings of an
//! original program.

use crate::run::PROFILE_SAMPLES_WANTED;
use crate::run::budget::rounds_most;
use crate::workload::{About, Workload};
use model::{Budget, Custom, ProfilePlan, Value};
use std::collections::BTreeMap;
use std::time::Duration;

/// The most rounds of a run: more are a slip of the finger.
pub const ROUNDS_MAX: u64 = 10_000;

/// Why what was asked for can't be planned: one line for a person.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RequestError {
    /// The words are off.
    #[error("{0}")]
    Usage(String),
    /// Nothing of it can be measured on this machine.
    #[error("{0}")]
    NotPossibleHere(String),
}

/// What is asked of a run. What is empty or absent has a default, which [`crate::plan`] fills in.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RunRequest {
    /// Names of workloads; empty for the suite and its controls.
    pub workloads: Vec<String>,
    /// Names of subjects; empty for all that are available.
    pub subjects: Vec<String>,
    /// Names of subjects that are left out.
    pub without: Vec<String>,
    /// The parameter that is the axis; each workload's own where it is absent.
    pub axis: Option<String>,
    /// Values on the axis; empty for the workload's own.
    pub points: Vec<Value>,
    /// Values of parameters; the ones not named keep their default.
    pub parameters: BTreeMap<String, Vec<Value>>,
    /// Passes over all cells; those that are usual for each workload where it is absent. With a budget,
    /// the most of them.
    pub rounds: Option<u32>,
    /// The short lists of points and parameters, and little time for each cell.
    pub quick: bool,
    /// All points, more rounds, and more time for each cell.
    pub full: bool,
    /// Time that one metric of one cell is measured for.
    pub time: Option<Duration>,
    /// A worker that runs longer is killed; where it is absent, what is ample for the longest cell.
    pub deadline: Option<Duration>,
    /// Time for all of it: it ends the rounds early.
    pub budget: Option<Duration>,
    /// How narrow an interval ends the rounds, as a share of the median to either side.
    pub precision: Option<f64>,
    /// The CPUs that workers are pinned to.
    pub pinned_cpus: Vec<usize>,
    /// Profiles each cell after the last round; absent where nothing is profiled.
    pub profile: Option<ProfileRate>,
    /// Shuffles the order; drawn where it is absent.
    pub seed: Option<u64>,
    /// What the user adds to the workloads.
    pub custom: Option<Box<Custom>>,
    /// What is asked otherwise of a workload of that name.
    pub overrides: BTreeMap<String, Overrides>,
}

/// How often a profile samples each running thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProfileRate {
    /// As often as takes a hundredth of a CPU here.
    Usual,
    /// This often a second.
    Hz(u64),
}

/// What is asked of one workload of several: each field that is not empty replaces that of the request, but
/// parameters are joined one by one.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Overrides {
    /// Names of subjects.
    pub subjects: Vec<String>,
    /// The parameter that is the axis.
    pub axis: Option<String>,
    /// Values on the axis.
    pub points: Vec<Value>,
    /// Values of parameters.
    pub parameters: BTreeMap<String, Vec<Value>>,
    /// Passes over its cells.
    pub rounds: Option<u32>,
    /// What the user adds to it. Of the request's, each field that is not empty replaces that of this one.
    pub custom: Option<Box<Custom>>,
}

impl RunRequest {
    /// The same, with the options of the whole run that it leaves open taken from `base`.
    #[must_use]
    pub fn or(mut self, base: &RunRequest) -> RunRequest {
        if !self.quick && !self.full {
            (self.quick, self.full) = (base.quick, base.full);
        }
        self.rounds = self.rounds.or(base.rounds);
        self.time = self.time.or(base.time);
        self.deadline = self.deadline.or(base.deadline);
        self.budget = self.budget.or(base.budget);
        self.precision = self.precision.or(base.precision);
        self.profile = self.profile.or(base.profile);
        self.seed = self.seed.or(base.seed);
        if self.pinned_cpus.is_empty() {
            self.pinned_cpus.clone_from(&base.pinned_cpus);
        }
        self
    }

    /// Whether the short lists of points and parameters are meant: they are usual for the suite.
    pub(super) fn is_quick(&self) -> bool {
        self.quick || (self.workloads.is_empty() && !self.full)
    }

    pub(super) fn early_end(&self) -> Option<Budget> {
        (self.budget.is_some() || self.precision.is_some()).then(|| Budget {
            time_ms: self.budget.map_or(0, |time| time.as_millis() as u64),
            precision: self.precision.unwrap_or(0.0),
        })
    }

    /// How often each cell of a workload is measured, where a round of all of them has `cells` cells.
    pub(super) fn rounds_of(&self, about: &About, cells: usize) -> u32 {
        let overridden =
            self.overrides.get(about.info.name.as_str()).and_then(|overrides| overrides.rounds);
        let by_budget = || self.early_end().map(|budget| rounds_most(cells, budget));
        let usual = about.usual.rounds;
        let by_extent = || match (self.is_quick(), self.full) {
            (true, _) => Some(usual.min(ROUNDS_QUICK)),
            (false, true) => Some(ROUNDS_FULL),
            (false, false) => None,
        };
        overridden.or(self.rounds).or_else(by_budget).or_else(by_extent).unwrap_or(usual)
    }

    /// Time that one metric of one cell is measured for: of several workloads, the longest that is usual.
    pub(super) fn measure_ms(&self, workloads: &[&'static dyn Workload]) -> u64 {
        let usual = workloads.iter().map(|row| row.about().usual.measure_ms).max();
        match self.time {
            Some(time) => time.as_millis() as u64,
            None if self.is_quick() => MEASURE_QUICK_MS,
            None if self.full => MEASURE_FULL_MS,
            None => usual.unwrap_or(0),
        }
    }

    /// How its cells are profiled, where a metric of a cell of a round is measured for so long.
    pub(super) fn profile(&self, measure_ms: u64) -> Option<ProfilePlan> {
        let usual_ms = if self.is_quick() { PROFILE_QUICK_MS } else { PROFILE_MS };
        let (frequency_hz, least_ms) = match self.profile? {
            ProfileRate::Hz(hz) => (hz, 0),
            ProfileRate::Usual => {
                let hz = stacks::usual_rate_hz();
                (hz, 1_000 * PROFILE_SAMPLES_WANTED / hz)
            }
        };
        Some(ProfilePlan { frequency_hz, measure_ms: measure_ms.max(usual_ms).max(least_ms) })
    }

    pub(super) fn of_workload(&self, name: &str) -> Asked<'_> {
        Asked { request: self, overrides: self.overrides.get(name) }
    }
}

/// What is asked of one workload: each thing by its overrides, or else by the request.
#[derive(Clone, Copy)]
pub(super) struct Asked<'a> {
    pub request: &'a RunRequest,
    overrides: Option<&'a Overrides>,
}

impl<'a> Asked<'a> {
    /// Names of subjects; empty where it has none of its own.
    pub fn subjects(self) -> &'a [String] {
        self.overrides.map_or(&[], |own| &own.subjects)
    }

    pub fn axis(self) -> Option<&'a str> {
        let own = self.overrides.and_then(|own| own.axis.as_deref());
        own.or(self.request.axis.as_deref())
    }

    pub fn points(self) -> &'a [Value] {
        let own = self.overrides.map(|own| &own.points).filter(|points| !points.is_empty());
        own.unwrap_or(&self.request.points)
    }

    pub fn values(self, parameter: &str) -> Option<&'a [Value]> {
        let own = self.overrides.and_then(|own| own.parameters.get(parameter));
        own.or(self.request.parameters.get(parameter)).map(Vec::as_slice)
    }

    pub fn custom(self) -> Option<Box<Custom>> {
        let own = self.overrides.and_then(|own| own.custom.clone());
        match (self.request.custom.clone(), own) {
            (Some(typed), Some(own)) => Some(Box::new(typed.or(*own))),
            (typed, own) => typed.or(own),
        }
    }
}

/// Rounds with `--quick`, and in the suite, at the most: with fewer, no two of them hold the median in 95 %.
const ROUNDS_QUICK: u32 = 6;
/// Rounds with `--full`.
const ROUNDS_FULL: u32 = 10;
/// Time for one metric of one cell with `--quick`, and in the suite, in milliseconds.
const MEASURE_QUICK_MS: u64 = 30;
/// The same with `--full`.
const MEASURE_FULL_MS: u64 = 250;
/// Time for one metric of one profiled cell, in milliseconds: some hundred samples.
const PROFILE_MS: u64 = 1_000;
/// The same with `--quick`, and in the suite.
const PROFILE_QUICK_MS: u64 = 500;
