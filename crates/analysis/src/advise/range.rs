//! What a plan alone says of where its run has figures, so that the runs of a record need not all be loaded.

use super::Spot;
use crate::tables::shares::Portion;
use crate::thresholds::LEAD_MIN;
use model::{CellKey, Plan, Run, Value, WorkloadInfo};
use std::collections::BTreeMap;

/// The subjects of which a run with this plan may have a cost at `spot`: the share of the active ones lies
/// within what was planned at some totals, and the total between these. A run has no cost of any other.
pub fn subjects_in_range(plan: &Plan, spot: Spot) -> Vec<&str> {
    let mut shares: BTreeMap<(&str, &str, u64), Vec<f64>> = BTreeMap::new();
    for info in plan.workloads.iter().filter(|info| info.ratio.is_some()) {
        for key in plan.cells.iter().filter(|key| key.workload == info.name) {
            if let Some((total, share)) = total_and_share(info, key) {
                shares.entry((&key.subject, &info.name, total)).or_default().push(share);
            }
        }
    }
    let mut totals: BTreeMap<(&str, &str), Vec<f64>> = BTreeMap::new();
    for ((subject, workload, total), shares) in shares {
        if is_between(&shares, spot.active / spot.total) {
            totals.entry((subject, workload)).or_default().push(total as f64);
        }
    }
    let inside = totals.into_iter().filter(|(_, totals)| is_between(totals, spot.total));
    let mut subjects: Vec<&str> = inside.map(|((subject, _), _)| subject).collect();
    subjects.dedup();
    subjects
}

/// The part of `run` that grounds for advice come from: the headline metrics of workloads with a ratio.
pub fn only_grounds(mut run: Run) -> Run {
    run.plan.workloads.retain(|info| info.ratio.is_some());
    run.cells.retain(|cell| run.plan.workload(&cell.key.workload).is_some());
    for cell in &mut run.cells {
        let info = run.plan.workload(&cell.key.workload);
        let headline = info.and_then(|info| info.headline(&cell.key.subject));
        cell.metrics.retain(|metric| headline.is_some_and(|first| first.name == metric.name));
    }
    run.profile = model::Profile::default();
    run
}

fn total_and_share(info: &WorkloadInfo, key: &CellKey) -> Option<(u64, f64)> {
    let ratio = info.ratio.as_ref()?;
    let share = Portion::new(info, &key.parameters)?.at(key.point as f64);
    let total = if ratio.whole == info.axis_parameter {
        key.point
    } else {
        key.parameters.get(&ratio.whole).and_then(Value::number)?
    };
    Some((total, share))
}

/// Whether a value lies between the least and the largest of `planned`, as far as two positions may differ and count as
/// the same.
fn is_between(planned: &[f64], value: f64) -> bool {
    planned.iter().any(|planned| *planned <= value * LEAD_MIN)
        && planned.iter().any(|planned| value <= planned * LEAD_MIN)
}

#[cfg(test)]
mod tests {
    use super::*;
    use fixtures::workload;

    /// A plan of cells of `made`: subject, total and active ones.
    fn plan(cells: &[(&str, u64, u64)]) -> Plan {
        let info =
            workload("made").axis("active", "active").share("active", "watched", "active").build();
        let key = |&(subject, total, active): &(&str, u64, u64)| CellKey {
            workload: "made".into(),
            subject: subject.into(),
            parameters: [("watched".to_owned(), total.into())].into(),
            point: active,
            round: 0,
        };
        Plan { workloads: vec![info], cells: cells.iter().map(key).collect(), ..Plan::default() }
    }

    #[test]
    fn a_spot_is_in_range_between_totals_at_which_its_share_is() {
        let cells = [
            ("a", 100, 1),
            ("a", 100, 50),
            ("a", 1_000, 10),
            ("a", 1_000, 500),
            // At a thousand, one share alone.
            ("b", 100, 1),
            ("b", 100, 50),
            ("b", 1_000, 10),
        ];
        let plan = plan(&cells);
        let at = |total: f64, active: f64| subjects_in_range(&plan, Spot { total, active });
        assert_eq!(at(100.0, 10.0), ["a", "b"]);
        assert_eq!(at(300.0, 30.0), ["a"]);
        assert_eq!(at(300.0, 3.0), ["a", "b"]);
        assert_eq!(at(1_000.0, 1_000.0), [""; 0]);
        assert_eq!(at(2_000.0, 200.0), [""; 0]);
    }
}
