//! Brings the samples of a run together: by series, point and round.

pub mod cloud;
pub mod positions;

use crate::gather::cloud::Cloud;
use crate::gather::positions::{around, cold, is_shown, positions};
use crate::growth::levels::Cells;
use crate::stats::quantiles::median;
use crate::stats::whole_quantile::{Intervals, WholeQuantile};
use crate::tables::distributions;
use crate::{CutShort, FactByPoint, FailedAt, MissingFigure};
use fastrand::Rng;
use model::{
    Cell, CellKey, Fact, FailureReason, LoadOutcome, Metric, MetricInfo, Outcome, Parameters, Run,
    Usage,
};
use std::borrow::Cow;
use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::RangeInclusive;

/// All measured samples of one workload, ready to be looked up.
#[derive(Default)]
pub(crate) struct Gathered<'a> {
    /// By subject, parameters, metric and point.
    points: BTreeMap<Series<'a>, BTreeMap<u64, Samples<'a>>>,
    /// What was planned or ended, by subject, parameters and point.
    at: BTreeMap<SeriesPoint<'a>, PointCells<'a>>,
    /// All measured cells in the order in which they ended.
    cells: Vec<&'a Cell>,
    /// Every set of parameters that was planned or measured, in an order that a reader expects: 9,000 before 10,000.
    pub(crate) parameters: BTreeSet<&'a Parameters>,
}

/// The cells of a series at a point, in the order in which they ended.
#[derive(Default)]
pub(crate) struct PointCells<'a> {
    is_planned: bool,
    pub(crate) measured: Vec<&'a Cell>,
    /// Why the others failed.
    pub(crate) failed: Vec<&'a FailureReason>,
}

type SeriesPoint<'a> = (&'a str, &'a Parameters, u64);

type Series<'a> = (&'a str, &'a Parameters, &'a str);

/// The samples of one metric at one point.
#[derive(Default)]
pub(crate) struct Samples<'a> {
    /// Those of each round, with its number, counted from 0.
    pub(crate) rounds: Vec<(u32, Cow<'a, [f64]>)>,
    /// The standard deviation that a mean is known to have, where it is the only sample.
    pub(crate) deviation: Option<f64>,
    /// Operations and resources of all rounds; none where they can't be attributed to points.
    pub(crate) operations: u64,
    pub(crate) usage: Usage,
}

impl Samples<'_> {
    /// Those of each round that has any.
    pub(crate) fn slices(&self) -> Vec<&[f64]> {
        let rounds = self.rounds.iter().map(|(_, round)| round.as_ref());
        rounds.filter(|round| !round.is_empty()).collect()
    }

    /// The logarithm of the median of each round that has samples; nothing where a round comes twice.
    pub(crate) fn log_cells(&self) -> Cells {
        let rounds = self.rounds.iter();
        let logs: Vec<(u32, f64)> = rounds
            .filter_map(|(number, round)| Some((*number, median(round.iter().copied())?.ln())))
            .collect();
        let count = logs.len();
        Some(Cells::from_iter(logs)).filter(|all| all.len() == count).unwrap_or_default()
    }
}

impl<'a> Gathered<'a> {
    pub(crate) fn new(run: &'a Run, workload: &str) -> Self {
        let mut gathered = Self::default();
        let series_point = |key: &'a CellKey| (key.subject.as_str(), &key.parameters, key.point);
        for key in run.plan.cells.iter().filter(|key| key.workload == workload) {
            gathered.parameters.insert(&key.parameters);
            gathered.at.entry(series_point(key)).or_default().is_planned = true;
        }
        for cell in run.cells.iter().filter(|cell| cell.key.workload == workload) {
            gathered.parameters.insert(&cell.key.parameters);
            let here = gathered.at.entry(series_point(&cell.key)).or_default();
            match &cell.outcome {
                Outcome::Failed { reason, .. } => here.failed.push(reason),
                Outcome::Measured => {
                    here.measured.push(cell);
                    gathered.cells.push(cell);
                    gathered.add(cell);
                }
            }
        }
        gathered
    }

    fn add(&mut self, cell: &'a Cell) {
        let CellKey { subject, parameters, point, round, .. } = &cell.key;
        for metric in &cell.metrics {
            let key = (subject.as_str(), parameters, metric.name.as_str());
            let series = self.points.entry(key).or_default();
            if metric.positions.is_empty() {
                let samples = series.entry(*point).or_default();
                samples.operations += metric.operations;
                samples.deviation = metric.deviation;
                samples.usage.user_ns += metric.usage.user_ns;
                samples.usage.system_ns += metric.usage.system_ns;
                samples.rounds.push((*round, finite(&metric.samples)));
                continue;
            }
            let last = metric.positions.iter().copied().max().unwrap_or(0);
            // Where it was cut short is no position that others have.
            let far = if cell.short.is_some() { *point } else { last };
            for (position, samples) in by_position(metric, far) {
                series.entry(position).or_default().rounds.push((*round, Cow::Owned(samples)));
            }
        }
    }

    /// All samples of one metric of one series, with whether they have positions of their own; `None`
    /// where there are none, or they have no logarithms.
    pub(crate) fn cloud(
        &self,
        subject: &str,
        parameters: &Parameters,
        metric: &str,
        random: &mut Rng,
    ) -> Option<(Cloud, bool)> {
        let mut rounds: BTreeMap<u32, Vec<(u64, f64)>> = BTreeMap::new();
        let mut trajectory = false;
        for cell in self.cells_of(subject, parameters) {
            for Metric { samples, positions, .. } in metrics(cell, metric) {
                let at = |index: usize| positions.get(index).copied().unwrap_or(cell.key.point);
                let calls = samples.iter().enumerate().skip(cold(positions));
                let round = rounds.entry(cell.key.round + 1).or_default();
                round.extend(calls.map(|(i, &sample)| (at(i), sample)));
                trajectory |= !positions.is_empty();
            }
        }
        Some((Cloud::new(rounds.into_iter().collect(), random)?, trajectory))
    }

    /// Where cells of `subject` failed, ascending: those that did not finish first.
    pub(crate) fn failed(&self, subject: &str, parameters: &Parameters) -> Vec<FailedAt> {
        let of_subject = self.at.iter().filter(|(key, _)| key.0 == subject && key.1 == parameters);
        let at_point = |(key, cells): (&SeriesPoint<'_>, &PointCells<'_>)| {
            let so = |is_late: bool| {
                let mut so = cells.failed.iter().filter(|why| why.is_unfinished() == is_late);
                let reason = (*so.next()?).clone();
                let total = (cells.failed.len() + cells.measured.len()) as u32;
                Some(FailedAt { point: key.2, cells: 1 + so.count() as u32, total, reason })
            };
            [so(true), so(false)].into_iter().flatten().collect::<Vec<FailedAt>>()
        };
        of_subject.flat_map(at_point).collect()
    }

    /// The cells of `subject` at `point`; `None` where nothing was planned or ended.
    pub(crate) fn at<'b>(
        &'b self,
        subject: &'b str,
        parameters: &'b Parameters,
        point: u64,
    ) -> Option<&'b PointCells<'a>> {
        self.at.get(&(subject, parameters, point))
    }

    /// The quantile of all operations that `metric` is by its role, with replicates; none for any other metric, and
    /// where too few rounds have histograms.
    pub(crate) fn whole_quantile(
        &self,
        (subject, parameters): (&str, &Parameters),
        metric: &MetricInfo,
        point: u64,
        (replicates, random): (usize, &mut Rng),
    ) -> Option<WholeQuantile> {
        let share = metric.role.whole_share()?;
        self.series(subject, parameters, &metric.name)?.get(&point)?;
        let first = |cell: &Cell| {
            let mut kept = cell.metrics.iter().filter(|metric| !metric.histogram.is_empty());
            kept.next().and_then(|metric| distributions::read(&metric.histogram))
        };
        let cells = self.at(subject, parameters, point).into_iter().flat_map(|here| &here.measured);
        let histograms: Vec<_> = cells.copied().filter_map(first).collect();
        Intervals::new(&histograms, share)?.resampled(replicates, random)
    }

    /// Every point that was planned or measured under these parameters.
    pub(crate) fn points(&self, parameters: &Parameters) -> BTreeSet<u64> {
        self.at.keys().filter(|key| key.1 == parameters).map(|key| key.2).collect()
    }

    /// The measured cells of `subject`, in the order in which they ended.
    fn cells_of(&self, subject: &str, parameters: &Parameters) -> impl Iterator<Item = &'a Cell> {
        let cells = self.cells.iter().copied();
        cells.filter(move |cell| cell.key.subject == subject && cell.key.parameters == *parameters)
    }

    /// How far the trajectories of `subject` came, where that is not to the end in every round.
    pub(crate) fn short(&self, subject: &str, parameters: &Parameters) -> Option<CutShort> {
        let cells = self.cells_of(subject, parameters);
        let short = cells.filter_map(|cell| Some((cell.short.as_ref()?, cell.key.point)));
        let (first, planned) = short.min_by_key(|(short, _)| short.reached)?;
        Some(CutShort { reached: first.reached, planned, reason: first.reason.clone() })
    }

    /// What the workload stated of the cells under these parameters: for all subjects together where one states it, or
    /// cells agree at each point, else for each subject.
    pub(crate) fn facts(&self, parameters: &Parameters) -> Vec<FactByPoint> {
        let mut all: BTreeMap<&str, Vec<(&CellKey, &Fact)>> = BTreeMap::new();
        for cell in self.cells.iter().filter(|cell| cell.key.parameters == *parameters) {
            for (name, value) in &cell.facts {
                all.entry(name).or_default().push((&cell.key, value));
            }
        }
        let facts = |(name, stated): (&str, Vec<(&CellKey, &Fact)>)| {
            let fact_of = |subject: Option<&str>| {
                let mut by_point: BTreeMap<u64, Vec<&Fact>> = BTreeMap::new();
                for (key, value) in &stated {
                    if subject.is_none_or(|subject| key.subject == subject) {
                        by_point.entry(key.point).or_default().push(value);
                    }
                }
                let values = by_point.into_iter().map(|(point, all)| (point, together(all)));
                let subject = subject.map(str::to_owned);
                FactByPoint { name: name.to_owned(), subject, values: values.collect() }
            };
            let whole = fact_of(None);
            let subjects: BTreeSet<&str> =
                stated.iter().map(|(key, _)| key.subject.as_str()).collect();
            if subjects.len() == 1 || whole.values.iter().all(|(_, values)| values.len() == 1) {
                return vec![whole];
            }
            subjects.into_iter().map(|subject| fact_of(Some(subject))).collect()
        };
        all.into_iter().flat_map(facts).collect()
    }

    /// What became of each load under these parameters, by point.
    pub(crate) fn load(&self, parameters: &Parameters) -> Vec<(u64, LoadOutcome)> {
        let cells = self.cells.iter().filter(|cell| cell.key.parameters == *parameters);
        let mut loads: Vec<(u64, LoadOutcome)> =
            cells.filter_map(|cell| Some((cell.key.point, cell.load.clone()?))).collect();
        loads.sort_by_key(|(point, _)| *point);
        loads
    }

    /// The points of one metric of one series.
    pub(crate) fn series<'b>(
        &'b self,
        subject: &'b str,
        parameters: &'b Parameters,
        metric: &'b str,
    ) -> Option<&'b BTreeMap<u64, Samples<'a>>> {
        self.points.get(&(subject, parameters, metric))
    }

    /// Whether anything of `subject` was planned or ended under any parameters.
    pub(crate) fn knows(&self, subject: &str) -> bool {
        self.at.keys().any(|key| key.0 == subject)
    }

    /// Points with a figure of `metric`, ascending, or planned where no metric has figures of its own positions.
    pub(crate) fn axis(&self, parameters: &Parameters, metric: &str) -> Vec<u64> {
        let series = self.points.iter().filter(|(key, _)| key.1 == parameters && key.2 == metric);
        let mut axis: BTreeSet<u64> =
            series.flat_map(|(_, series)| series.keys().copied()).collect();
        let here = self.at.iter().filter(|(key, cells)| key.1 == parameters && cells.is_planned);
        let planned: BTreeSet<u64> = here.map(|(key, _)| key.2).collect();
        // A trajectory's one planned point is its far end; its positions are those of its samples.
        let cells = self.cells.iter().filter(|cell| cell.key.parameters == *parameters);
        let mut metrics = cells.flat_map(|cell| metrics(cell, metric));
        let has_positions = metrics.any(|metric| !metric.positions.is_empty());
        if axis.is_empty() {
            axis.extend(planned);
        } else if !has_positions && axis.iter().all(|point| planned.contains(point)) {
            axis.extend(planned.iter().filter(|point| !self.all_measured(parameters, **point)));
        } else if has_positions {
            let far = axis.last().copied().unwrap_or(0);
            axis.retain(|&position| is_shown(position, far));
        }
        axis.into_iter().collect()
    }

    /// Whether each cell that was planned at `point` was measured: what has no figure there then has
    /// none there, such as bytes for each of no connections.
    fn all_measured(&self, parameters: &Parameters, point: u64) -> bool {
        let mut here = self.at.iter().filter(|(key, _)| key.1 == parameters && key.2 == point);
        here.all(|(_, cells)| !cells.is_planned || !cells.measured.is_empty())
    }

    /// Why `metric` has no figure at a point, or `on_the_way` to it; `None` where nothing was planned.
    pub(crate) fn missing(
        &self,
        subject: &str,
        parameters: &Parameters,
        metric: &str,
        point: u64,
        on_the_way: bool,
    ) -> Option<MissingFigure> {
        let mut of_series =
            self.at.iter().filter(|(key, _)| key.0 == subject && key.1 == parameters);
        let far = of_series.find(|(key, cells)| key.2 >= point && cells.is_planned);
        let here = || self.at(subject, parameters, point);
        let cells = far.filter(|_| on_the_way).map(|(_, cells)| cells).or_else(here)?;
        if !cells.measured.is_empty() {
            return Some(MissingFigure::MetricMissing { metric: metric.to_owned() });
        }
        if let Some(reason) = cells.failed.first() {
            return Some(MissingFigure::Failed { reason: (*reason).clone() });
        }
        cells.is_planned.then_some(MissingFigure::RunEnded)
    }
}

/// What a cell measured under this name.
fn metrics<'a>(cell: &'a Cell, name: &str) -> impl Iterator<Item = &'a Metric> {
    cell.metrics.iter().filter(move |metric| metric.name == name)
}

fn finite(samples: &[f64]) -> Cow<'_, [f64]> {
    if samples.iter().all(|sample| sample.is_finite()) {
        return Cow::Borrowed(samples);
    }
    samples.iter().copied().filter(|sample| sample.is_finite()).collect()
}

/// The samples of a trajectory that comes to `far`, by the table's positions around which they lie.
fn by_position(metric: &Metric, far: u64) -> BTreeMap<u64, Vec<f64>> {
    let ranges: Vec<(u64, RangeInclusive<u64>)> =
        positions(far).into_iter().map(|target| (target, around(target, far))).collect();
    let mut by_position: BTreeMap<u64, Vec<f64>> = BTreeMap::new();
    let calls = metric.samples.iter().zip(&metric.positions);
    for (&sample, position) in calls.skip(cold(&metric.positions)) {
        // Where two ranges overlap the sample belongs to the upper one: that is the far end's.
        let above = ranges.partition_point(|(_, range)| range.start() <= position);
        if let Some((target, range)) = above.checked_sub(1).map(|at| &ranges[at])
            && sample.is_finite()
            && range.contains(position)
        {
            by_position.entry(*target).or_default().push(sample);
        }
    }
    by_position
}

/// What cells state of one fact, each value once: of numbers the least and the greatest, of shares the mean.
pub(crate) fn together<'a>(values: impl IntoIterator<Item = &'a Fact>) -> Vec<Fact> {
    let values: Vec<&Fact> = values.into_iter().collect();
    let mut distinct: Vec<Fact> = Vec::new();
    for &value in &values {
        if !distinct.contains(value) {
            distinct.push(value.clone());
        }
    }
    if distinct.len() < 2 {
        return distinct;
    }
    let shares =
        |value: &&Fact| if let Fact::Shares(list) = value { Some(list.clone()) } else { None };
    if let Some(lists) = values.iter().map(shares).collect::<Option<Vec<Vec<f64>>>>()
        && lists.iter().all(|list| list.len() == lists[0].len())
    {
        let mean = |at: usize| lists.iter().map(|list| list[at]).sum::<f64>() / lists.len() as f64;
        return vec![Fact::Shares((0..lists[0].len()).map(mean).collect())];
    }
    let by_number =
        |a: &Fact, b: &Fact| a.number().partial_cmp(&b.number()).unwrap_or(Ordering::Equal);
    if distinct.iter().all(|value| value.number().is_some()) {
        distinct.sort_by(by_number);
        distinct.drain(1..distinct.len() - 1);
    }
    distinct
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn samples_of_a_trajectory_go_to_the_position_around_which_they_lie() {
        let positions: Vec<u64> = (1..=1_000).rev().collect();
        let samples = positions.iter().map(|&position| position as f64).collect();
        let metric = Metric { samples, positions, ..Metric::default() };
        let by_position = by_position(&metric, 1_000);
        let counts: Vec<(u64, usize)> =
            by_position.iter().map(|(at, all)| (*at, all.len())).collect();
        let expected = [(1, 1), (2, 1), (5, 1), (10, 3), (20, 5), (50, 11), (100, 21)];
        assert_eq!(counts[..7], expected);
        // The first forty calls, which are cold, are none of the far end's.
        assert_eq!(counts[7..], [(200, 41), (500, 101), (1000, 61)]);
        assert!(by_position[&200].iter().all(|&sample| (180.0..=220.0).contains(&sample)));
    }

    #[test]
    fn what_is_not_a_number_is_left_out() {
        assert_eq!(finite(&[1.0, f64::NAN, 2.0, f64::INFINITY]).as_ref(), [1.0, 2.0]);
    }

    #[test]
    fn numbers_that_differ_are_a_range_shares_have_a_mean_and_texts_stay_apart() {
        let shares = |list: &[f64]| Fact::Shares(list.to_vec());
        let many = Fact::Count(9_000);
        assert_eq!(together([&many, &many]), std::slice::from_ref(&many));
        let numbers = [Fact::Count(7), many.clone(), 1.5.into(), Fact::Count(7)];
        assert_eq!(together(&numbers), [1.5.into(), many]);
        let texts = ["b", "a", "b"].map(Fact::from);
        assert_eq!(together(&texts), texts[..2]);
        let mean = together(&[shares(&[0.0, 1.0]), shares(&[0.5, 0.5])]);
        assert_eq!(mean, [shares(&[0.25, 0.75])]);
        let uneven = [shares(&[0.0, 1.0]), shares(&[1.0])];
        assert_eq!(together(&uneven), uneven);
        assert!(together([]).is_empty());
    }

    #[test]
    fn a_fact_in_which_subjects_or_their_rounds_differ_is_stated_for_each() {
        let cell = |subject: &str, point, round, waits: u64| {
            fixtures::cell("w", subject, point, round)
                .fact("waits", waits)
                .fact("kind", "pipe")
                .metric(fixtures::metric("call", vec![1.0]))
                .build()
        };
        let cells =
            [cell("a", 1, 0, 3), cell("a", 1, 1, 5), cell("a", 2, 0, 4), cell("b", 1, 0, 3)];
        let mut run = fixtures::run(fixtures::workload("w")).cells(cells).complete();
        let gathered = Gathered::new(&run, "w");
        let facts = gathered.facts(&Parameters::new());
        let texts = |fact: &FactByPoint| {
            (fact.name.clone(), fact.subject.clone(), fact.values.clone(), fact.overall())
        };
        let count = |numbers: &[u64]| numbers.iter().map(|&n| Fact::Count(n)).collect::<Vec<_>>();
        let pipe = || vec![Fact::from("pipe")];
        let subject = |name: &str| Some(name.to_owned());
        let expected = [
            ("kind".to_owned(), None, vec![(1, pipe()), (2, pipe())], pipe()),
            (
                "waits".to_owned(),
                subject("a"),
                vec![(1, count(&[3, 5])), (2, count(&[4]))],
                count(&[3, 5]),
            ),
            ("waits".to_owned(), subject("b"), vec![(1, count(&[3]))], count(&[3])),
        ];
        assert_eq!(facts.iter().map(texts).collect::<Vec<_>>(), expected);
        run.cells.retain(|cell| cell.key.subject == "a");
        let facts = Gathered::new(&run, "w").facts(&Parameters::new());
        assert_eq!(facts[1].subject, None, "there is no other");
    }
}
