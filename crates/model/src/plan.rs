//! What a run sets out to measure: its cells in order, and what of the request they are not.

use crate::{CellKey, Change, Limit, Parameters, PlanChange, ProfilePlan, Warning, WorkloadInfo};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What a run sets out to measure.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Plan {
    /// Shuffles the order of cells, and seeds whatever a workload draws at random.
    pub seed: u64,
    /// Passes over all cells.
    pub rounds: u32,
    /// Time that one metric of one cell may spend measuring, in milliseconds.
    pub measure_ms: u64,
    /// A worker that has not ended by then is killed and its cell failed, in milliseconds: the longest
    /// deadline of any workload. See [`Plan::cell_deadline_ms`].
    pub deadline_ms: u64,
    /// The CPUs that workers are pinned to; empty when they run where the kernel puts them.
    pub pinned_cpus: Vec<usize>,
    /// The workloads of the plan, as they described themselves.
    pub workloads: Vec<WorkloadInfo>,
    /// Subjects that can't be measured here, with the reason.
    pub unavailable: Vec<Unavailable>,
    /// Cells that planning changed or left out.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub changes: Vec<PlanChange>,
    /// What ends the rounds before all of them are done; absent where nothing does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub budget: Option<Budget>,
    /// How its cells are profiled after the last round; absent where they are not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub profile: Option<ProfilePlan>,
    /// The id of the run whose cells took turns with those of this one; empty where it had the machine
    /// to itself.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub paired_with: String,
    /// The file of the table that the figures were read from, as it was typed; absent where knee measured them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub table: Option<String>,
    /// Every cell, in order of execution. With a budget, those of all rounds that there may be: a cell
    /// that did not end was not needed.
    pub cells: Vec<CellKey>,
}

impl Plan {
    /// The workload of this name.
    pub fn workload(&self, name: &str) -> Option<&WorkloadInfo> {
        self.workloads.iter().find(|info| info.name == name)
    }

    /// Why a subject can't be measured here; none where it can.
    pub fn unavailable(&self, workload: &str, subject: &str) -> Option<&str> {
        let is_it =
            |lacking: &&Unavailable| lacking.workload == workload && lacking.subject == subject;
        self.unavailable.iter().find(is_it).map(|lacking| lacking.reason.as_str())
    }

    /// A subject's name in reports.
    pub fn label<'a>(&'a self, workload: &str, subject: &'a str) -> &'a str {
        let info = self.workload(workload).and_then(|workload| workload.subject(subject));
        info.map_or(subject, |info| &info.label)
    }

    /// The deadline of a workload's cells, in milliseconds.
    pub fn cell_deadline_ms(&self, workload: &str) -> u64 {
        let info = self.workload(workload);
        info.and_then(|info| info.deadline_ms).unwrap_or(self.deadline_ms)
    }

    /// Those of a workload's `parameters` that have an effect with the values of the others.
    pub fn effective(&self, workload: &str, parameters: &Parameters) -> Parameters {
        let info = self.workload(workload);
        info.map_or_else(|| parameters.clone(), |info| info.effective(parameters))
    }

    /// The shortest and the longest deadline of any workload, in milliseconds.
    pub fn deadlines_ms(&self) -> (u64, u64) {
        let of_each = self.workloads.iter().map(|info| self.cell_deadline_ms(&info.name));
        (of_each.min().unwrap_or(self.deadline_ms), self.deadline_ms)
    }

    /// The subjects that are wrong on purpose, each with its workload.
    pub fn controls(&self) -> impl Iterator<Item = (&str, &str)> {
        self.workloads.iter().flat_map(|workload| {
            let controls = workload.subjects.iter().filter(|subject| subject.control);
            controls.map(|subject| (workload.name.as_str(), subject.name.as_str()))
        })
    }

    /// What was warned of while planning.
    pub fn warnings(&self) -> impl Iterator<Item = Warning> {
        self.changes.iter().map(PlanChange::warning)
    }

    /// Why the cell with this key, whatever its round, was requested but not planned; none where the plan
    /// does not say.
    pub fn left_out_because(&self, key: &CellKey) -> Option<String> {
        let is_same = |planned: &CellKey| CellKey { round: key.round, ..planned.clone() } == *key;
        let change = self.changes.iter().find(|change| change.cells.iter().any(is_same));
        change.map(ToString::to_string)
    }

    /// The limit by which other subjects are measured at the point of `key`, and not further along the axis; none where
    /// none is clamped to it.
    pub fn clamped_to(&self, key: &CellKey) -> Option<&Limit> {
        self.changes.iter().find_map(|change| {
            let Change::Clamped(limit) = &change.change else { return None };
            let is_alike = |cell: &CellKey| {
                (&cell.workload, &cell.parameters) == (&key.workload, &key.parameters)
                    && cell.subject != key.subject
            };
            (limit.max == key.point && change.cells.iter().any(is_alike)).then_some(limit)
        })
    }
}

/// When a run has measured enough: rounds go where intervals are still wide.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Budget {
    /// The time that measuring may take, in milliseconds; 0 where it may take any.
    pub time_ms: u64,
    /// How wide an interval may be, as a share of its median to either side: 0.02 is 2 %. 0 where no
    /// width is enough.
    pub precision: f64,
}

/// A subject that can't be measured here.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Unavailable {
    /// Its workload.
    pub workload: String,
    /// Its name.
    pub subject: String,
    /// Why: `Solaris and illumos only`.
    pub reason: String,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{LimitCause, Parameters};

    fn polled(subject: &str, point: u64, round: u32) -> CellKey {
        let (workload, subject) = ("poll".into(), subject.into());
        CellKey { workload, subject, parameters: Parameters::new(), point, round }
    }

    #[test]
    fn the_cause_of_a_gap_is_found_by_its_cell() {
        let left_out = PlanChange {
            cells: vec![polled("poll", 20_000, 0)],
            change: Change::LeftOut {
                what: "All".into(),
                cause: LimitCause::Descriptors { max: 9 },
            },
            remedy: String::new(),
        };
        let plan = Plan { changes: vec![left_out.clone()], ..Plan::default() };
        assert_eq!(plan.left_out_because(&polled("poll", 20_000, 3)), Some(left_out.to_string()));
        assert_eq!(plan.left_out_because(&polled("poll", 10, 0)), None);
        assert_eq!(plan.left_out_because(&polled("select", 20_000, 0)), None);
    }

    #[test]
    fn a_plan_without_changes_reads_and_writes_none() {
        let json = serde_json::to_value(Plan::default()).unwrap();
        assert_eq!(json.get("changes"), None);
        assert_eq!(serde_json::from_value::<Plan>(json).unwrap(), Plan::default());
    }
}
