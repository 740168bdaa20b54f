//! Brings the samples of a run together: by series, point and round.

use record::{Cell, CellKey, Conditions, Outcome, Run, Usage};
use std::borrow::Cow;
use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet};

/// All measured samples of one workload, ready to be looked up.
pub(crate) struct Gathered<'a> {
    /// By subject, conditions, metric and point.
    points: BTreeMap<(&'a str, &'a Conditions, &'a str), BTreeMap<u64, Samples<'a>>>,
    /// Why cells are void, by subject, conditions and point.
    void: BTreeMap<(&'a str, &'a Conditions, u64), &'a str>,
    measured: BTreeSet<(&'a str, &'a Conditions, u64)>,
    planned: BTreeSet<(&'a str, &'a Conditions, u64)>,
    /// The measured cells.
    cells: Vec<&'a Cell>,
    /// Every set of conditions that was planned or measured.
    conditions: BTreeSet<&'a Conditions>,
}

/// All that cells stated of one fact, by point.
pub(crate) type FactValues<'a> = BTreeMap<u64, Vec<&'a str>>;

/// The samples of one metric at one point.
#[derive(Default)]
pub(crate) struct Samples<'a> {
    /// Those of each round.
    pub(crate) rounds: Vec<Cow<'a, [f64]>>,
    /// Operations and resources of all rounds together; none where they can't be told apart by
    /// point.
    pub(crate) operations: u64,
    /// See `operations`.
    pub(crate) usage: Usage,
}

/// What became of the cells at one place of a series without a figure.
pub(crate) enum Absence<'a> {
    Void(&'a str),
    MetricMissing,
    NotReached,
    NotPlanned,
}

impl<'a> Gathered<'a> {
    /// Everything of `workload` in `run`.
    pub(crate) fn of(run: &'a Run, workload: &str) -> Self {
        let mut gathered = Self {
            points: BTreeMap::new(),
            void: BTreeMap::new(),
            measured: BTreeSet::new(),
            planned: BTreeSet::new(),
            cells: Vec::new(),
            conditions: BTreeSet::new(),
        };
        let place = |key: &'a CellKey| (key.subject.as_str(), &key.conditions, key.point);
        for key in run.plan.cells.iter().filter(|key| key.workload == workload) {
            gathered.conditions.insert(&key.conditions);
            gathered.planned.insert(place(key));
        }
        for cell in run.cells.iter().filter(|cell| cell.key.workload == workload) {
            gathered.conditions.insert(&cell.key.conditions);
            match &cell.outcome {
                Outcome::Void { reason, .. } => {
                    gathered.void.entry(place(&cell.key)).or_insert(reason);
                }
                Outcome::Measured => {
                    gathered.measured.insert(place(&cell.key));
                    gathered.cells.push(cell);
                    gathered.add(cell);
                }
            }
        }
        gathered
    }

    fn add(&mut self, cell: &'a Cell) {
        let CellKey { subject, conditions, point, .. } = &cell.key;
        for metric in &cell.metrics {
            let series = self.points.entry((subject, conditions, &metric.name)).or_default();
            if metric.positions.is_empty() {
                let samples = series.entry(*point).or_default();
                samples.operations += metric.operations;
                add_usage(&mut samples.usage, metric.usage);
                samples.rounds.push(finite(&metric.samples));
                continue;
            }
            let mut by_place: BTreeMap<u64, Vec<f64>> = BTreeMap::new();
            for (&sample, &position) in metric.samples.iter().zip(&metric.positions) {
                if sample.is_finite() {
                    by_place.entry(nearby_round_number(position)).or_default().push(sample);
                }
            }
            for (place, samples) in by_place {
                series.entry(place).or_default().rounds.push(Cow::Owned(samples));
            }
        }
    }

    /// Every set of conditions, in an order that a reader expects: 9,000 before 10,000.
    pub(crate) fn in_order(&self) -> Vec<&'a Conditions> {
        let mut all: Vec<&Conditions> = self.conditions.iter().copied().collect();
        all.sort_by(|a, b| {
            let each = a.iter().zip(b.iter());
            let mut orders = each.map(|(a, b)| a.0.cmp(b.0).then_with(|| by_value(a.1, b.1)));
            orders.find(|order| order.is_ne()).unwrap_or(a.len().cmp(&b.len()))
        });
        all
    }

    /// What the workload stated of the cells under these conditions, by fact and point.
    pub(crate) fn facts(&self, conditions: &Conditions) -> BTreeMap<&'a str, FactValues<'a>> {
        let mut facts: BTreeMap<&str, FactValues<'a>> = BTreeMap::new();
        for cell in self.cells.iter().filter(|cell| cell.key.conditions == *conditions) {
            for (name, value) in &cell.facts {
                let values = facts.entry(name).or_default();
                values.entry(cell.key.point).or_default().push(value);
            }
        }
        facts
    }

    /// The points of one metric of one series.
    pub(crate) fn series<'b>(
        &'b self,
        subject: &'b str,
        conditions: &'b Conditions,
        metric: &'b str,
    ) -> Option<&'b BTreeMap<u64, Samples<'a>>> {
        self.points.get(&(subject, conditions, metric))
    }

    /// Whether anything of `subject` was planned or ended under any conditions.
    pub(crate) fn knows(&self, subject: &str) -> bool {
        let all = self.planned.iter().chain(&self.measured).map(|place| place.0);
        all.chain(self.void.keys().map(|place| place.0)).any(|name| name == subject)
    }

    /// Points with a figure of `metric`, or planned where no metric has figures of its own places.
    pub(crate) fn axis(&self, conditions: &Conditions, metric: &str) -> BTreeSet<u64> {
        let of_metric =
            |(key, _): &(&(&str, &Conditions, &str), _)| key.1 == conditions && key.2 == metric;
        let mut axis: BTreeSet<u64> = self
            .points
            .iter()
            .filter(of_metric)
            .flat_map(|(_, series)| series.keys().copied())
            .collect();
        let planned: BTreeSet<u64> = self
            .planned
            .iter()
            .filter(|place| place.1 == conditions)
            .map(|place| place.2)
            .collect();
        // A trajectory's one planned point is its far end; its places are where its samples are.
        if axis.is_empty() || axis.iter().all(|point| planned.contains(point)) {
            axis.extend(planned);
        }
        axis
    }

    /// Why there is no figure at a point.
    pub(crate) fn absence(
        &self,
        subject: &str,
        conditions: &Conditions,
        point: u64,
    ) -> Absence<'a> {
        let place = (subject, conditions, point);
        if self.measured.contains(&place) {
            Absence::MetricMissing
        } else if let Some(reason) = self.void.get(&place) {
            Absence::Void(reason)
        } else if self.planned.contains(&place) {
            Absence::NotReached
        } else {
            Absence::NotPlanned
        }
    }
}

/// Numbers by their size, and all of them before any word.
fn by_value(a: &str, b: &str) -> Ordering {
    let number = |value: &str| value.trim_end_matches('%').parse::<f64>().ok();
    let numbers = match (number(a), number(b)) {
        (Some(a), Some(b)) => a.total_cmp(&b),
        (a, b) => a.is_none().cmp(&b.is_none()),
    };
    numbers.then_with(|| a.cmp(b))
}

fn add_usage(sum: &mut Usage, more: Usage) {
    sum.user_ns += more.user_ns;
    sum.system_ns += more.system_ns;
}

fn finite(samples: &[f64]) -> Cow<'_, [f64]> {
    if samples.iter().all(|sample| sample.is_finite()) {
        return Cow::Borrowed(samples);
    }
    samples.iter().copied().filter(|sample| sample.is_finite()).collect()
}

/// The nearest of 1, 2, 5, 10, 20, 50, … on a logarithmic scale: the samples of a trajectory each
/// have a place of their own, and a median needs several.
fn nearby_round_number(position: u64) -> u64 {
    let mut decade = 1_u64;
    while position / decade >= 10 {
        decade *= 10;
    }
    let head = position as f64 / decade as f64;
    // Geometric means of the neighbours: √2, √10, √50.
    let round = match head {
        h if h < 2.0_f64.sqrt() => 1,
        h if h < 10.0_f64.sqrt() => 2,
        h if h < 50.0_f64.sqrt() => 5,
        _ => 10,
    };
    decade.saturating_mul(round)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_of_a_trajectory_go_to_the_nearest_round_number() {
        let expected =
            [(1, 1), (2, 2), (3, 2), (4, 5), (7, 5), (8, 10), (14, 10), (15, 20), (999, 1000)];
        for (position, place) in expected {
            assert_eq!(nearby_round_number(position), place, "{position}");
        }
    }

    #[test]
    fn values_have_an_order_that_a_reader_expects() {
        let mut values = vec!["1x", "10", "9", "5.4.1", "1k", "0.1%", "9", "tail", "1000"];
        values.sort_by(|a, b| by_value(a, b));
        assert_eq!(values, ["0.1%", "9", "9", "10", "1000", "1k", "1x", "5.4.1", "tail"]);
        // It is a total order: whatever the values, sorting ends and neighbours are in order.
        let mut random = fastrand::Rng::with_seed(7);
        let mut word = || -> String {
            (0..3).filter_map(|_| random.choice(*b"19x.k%").map(char::from)).collect()
        };
        let mut many: Vec<String> = (0..2_000).map(|_| word()).collect();
        many.sort_by(|a, b| by_value(a, b));
        assert!(many.is_sorted_by(|a, b| by_value(a, b).is_le()));
    }

    #[test]
    fn what_is_not_a_number_is_left_out() {
        assert_eq!(finite(&[1.0, f64::NAN, 2.0, f64::INFINITY]).as_ref(), [1.0, 2.0]);
    }
}
