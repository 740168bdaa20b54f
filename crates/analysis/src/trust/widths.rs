//! How wide intervals are by now: what a budget is spent by.
//!
//! A place of a run is a workload's subject at a point under its parameters, and its width half of the
//! interval of its headline metric's median, as a share of that median. Of a trajectory, one cell of
//! which measures every place on the way, it is the widest that its table shows once it is warm.

use crate::Estimate;
use crate::tables::headlines;
use crate::trust::budget_interval::budget_interval;
use record::{CellKey, Parameters, Run};
use std::collections::{BTreeMap, HashMap};

/// The width of the interval that is told at every place with several rounds: what it is decided by whether
/// a place is measured once more. A place is the key of its cells in round 0.
pub fn by_place(run: &Run) -> HashMap<CellKey, f64> {
    let mut widths: HashMap<CellKey, f64> = HashMap::new();
    let first_round: Vec<&CellKey> = run.plan.cells.iter().filter(|key| key.round == 0).collect();
    headlines(run, |workload, (subject, parameters), point, resampled| {
        // Without replicates there is a single round, and nothing is known of the others.
        let told = budget_interval(resampled.estimate.value, &resampled.replicates);
        let Some(width) = share(told).filter(|_| !resampled.replicates.is_empty()) else { return };
        let here = first_round.iter().filter(|key| {
            let same = key.workload == workload.name && key.subject == subject;
            same && key.parameters == *parameters && (workload.trajectory || key.point == point)
        });
        for key in here {
            let widest = widths.entry((*key).clone()).or_insert(width);
            *widest = widest.max(width);
        }
    });
    widths
}

/// Half of an interval as a share of its figure; none where the figure is not above zero.
fn share(Estimate { low, value, high }: Estimate) -> Option<f64> {
    (value > 0.0).then(|| (high - low) / 2.0 / value)
}

/// How often the places of a workload, or of all of them, were measured: least and most.
pub fn rounds(run: &Run, workload: Option<&str>) -> (u32, u32) {
    let mut cells: BTreeMap<(&str, &str, &Parameters, u64), u32> = BTreeMap::new();
    let wanted = |key: &&CellKey| workload.is_none_or(|workload| key.workload == workload);
    for key in run.cells.iter().map(|cell| &cell.key).filter(wanted) {
        *cells.entry((&key.workload, &key.subject, &key.parameters, key.point)).or_default() += 1;
    }
    let counts = || cells.values().copied();
    (counts().min().unwrap_or(0), counts().max().unwrap_or(0))
}

/// A length of time, for people: `2 min`, `1 min 30 s`.
pub fn length(ms: u64) -> String {
    let (hours, minutes, seconds) = (ms / 3_600_000, ms / 60_000 % 60, ms / 1_000 % 60);
    let rest = ms % 1_000;
    let parts = match ms {
        0..1_000 => vec![(ms, "ms")],
        1_000..10_000 if rest > 0 => return format!("{:.1} s", ms as f64 / 1_000.0),
        _ => vec![(hours, "h"), (minutes, "min"), (seconds, "s")],
    };
    let some = parts.into_iter().filter(|(number, _)| *number > 0);
    some.map(|(number, unit)| format!("{number} {unit}")).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_are_told_as_people_say_them() {
        let told = [500, 1_500, 34_200, 60_000, 90_000, 7_200_000, 3_723_000].map(length);
        assert_eq!(
            told,
            ["500 ms", "1.5 s", "34 s", "1 min", "1 min 30 s", "2 h", "1 h 2 min 3 s"]
        );
    }

    #[test]
    fn a_width_is_a_share_of_what_is_above_zero() {
        let of = |low, value, high| share(Estimate { value, low, high });
        assert_eq!(of(9.0, 10.0, 12.0), Some(0.15));
        assert_eq!(of(-1.0, 0.0, 1.0), None);
    }
}
