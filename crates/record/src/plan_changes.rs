//! What a plan says of its changes: as warnings, and as the cause of a gap.

use crate::{CellKey, Change, Limit, Plan, PlanChange, Warning};

impl Plan {
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

impl PlanChange {
    /// As a warning.
    pub fn warning(&self) -> Warning {
        Warning { what: self.to_string(), remedy: self.remedy.clone() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Parameters, SkipCause};

    fn key(subject: &str, point: u64, round: u32) -> CellKey {
        let (workload, subject) = ("poll".into(), subject.into());
        CellKey { workload, subject, parameters: Parameters::new(), point, round }
    }

    #[test]
    fn the_cause_of_a_gap_is_found_by_its_cell() {
        let left_out = PlanChange {
            cells: vec![key("poll", 20_000, 0)],
            change: Change::LeftOut { cause: SkipCause::TooFewDescriptors { max: 9 } },
            remedy: String::new(),
        };
        let plan = Plan { changes: vec![left_out.clone()], ..Plan::default() };
        assert_eq!(plan.left_out_because(&key("poll", 20_000, 3)), Some(left_out.to_string()));
        assert_eq!(plan.left_out_because(&key("poll", 10, 0)), None);
        assert_eq!(plan.left_out_because(&key("select", 20_000, 0)), None);
    }

    #[test]
    fn a_plan_without_changes_reads_and_writes_none() {
        let json = serde_json::to_value(Plan::default()).unwrap();
        assert_eq!(json.get("changes"), None);
        assert_eq!(serde_json::from_value::<Plan>(json).unwrap(), Plan::default());
    }
}
