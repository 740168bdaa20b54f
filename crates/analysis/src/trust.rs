//! How wide intervals are so far: a budget is spent where they are widest.
//!
//! The width of a series at a point is half the interval of its headline metric's median, as a share of
//! that median. One cell of a trajectory measures every position on the way: its width is the widest
//! that its table shows once it is warm.

use crate::Estimate;
use crate::gather::positions::verdicts_from;
use crate::gather::{Gathered, Samples};
use crate::stats::bootstrap::{REPLICATES, budget_interval, median_over_rounds};
use crate::tables::random;
use fastrand::Rng;
use model::{CellKey, Parameters, Run};
use std::collections::{BTreeMap, HashMap};

/// The width of every series at each point with several rounds, by the key of its cell in round 0. Controls have none.
pub fn by_cell(run: &Run) -> HashMap<CellKey, f64> {
    let mut widths: HashMap<CellKey, f64> = HashMap::new();
    for workload in &run.plan.workloads {
        let gathered = Gathered::new(run, &workload.name);
        let first_round =
            run.plan.cells.iter().filter(|key| key.round == 0 && key.workload == workload.name);
        for key in first_round {
            let CellKey { subject, parameters, .. } = key;
            let info = workload.subject(subject).filter(|info| !info.control);
            let Some(metric) = info.and(workload.headline(subject)) else { continue };
            let points = gathered.axis(parameters, &metric.name);
            let warm = verdicts_from(workload.trajectory, &points);
            let series = gathered.series(subject, parameters, &metric.name);
            let counting = series.into_iter().flatten().filter(|(point, _)| {
                let is_of_cell = workload.trajectory || **point == key.point;
                is_of_cell && **point >= warm && points.contains(point)
            });
            let of_points = counting.filter_map(|(&point, samples)| {
                let series = (subject.as_str(), parameters, metric.name.as_str());
                width(samples, &mut random(run.plan.seed, &workload.name, series, point))
            });
            if let Some(widest) = of_points.reduce(f64::max) {
                widths.insert(key.clone(), widest);
            }
        }
    }
    widths
}

/// The width of a median; none of a single round, which does not show how rounds differ.
fn width(samples: &Samples<'_>, random: &mut Rng) -> Option<f64> {
    let resampled = median_over_rounds(&samples.slices(), REPLICATES, random)?;
    let interval = budget_interval(resampled.estimate.value, &resampled.replicates);
    share(interval).filter(|_| !resampled.replicates.is_empty())
}

/// Half of an interval as a share of its figure; none where the figure is not above zero.
fn share(Estimate { low, value, high }: Estimate) -> Option<f64> {
    (value > 0.0).then(|| (high - low) / 2.0 / value)
}

/// How many rounds the cells of a workload, or of all workloads, have: minimum and maximum.
pub fn rounds(run: &Run, workload: Option<&str>) -> (u32, u32) {
    let mut cells: BTreeMap<(&str, &str, &Parameters, u64), u32> = BTreeMap::new();
    let wanted = |key: &&CellKey| workload.is_none_or(|workload| key.workload == workload);
    for key in run.cells.iter().map(|cell| &cell.key).filter(wanted) {
        *cells.entry((&key.workload, &key.subject, &key.parameters, key.point)).or_default() += 1;
    }
    let counts = || cells.values().copied();
    (counts().min().unwrap_or(0), counts().max().unwrap_or(0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_width_is_a_share_of_what_is_above_zero() {
        let width = |low, value, high| share(Estimate { value, low, high });
        assert_eq!(width(9.0, 10.0, 12.0), Some(0.15));
        assert_eq!(width(-1.0, 0.0, 1.0), None);
    }
}
