//! From samples to tables: one per workload, parameters and metric.

pub mod averages;
pub mod distributions;
pub(crate) mod figure;
pub(crate) mod shares;

use crate::gather::positions::verdicts_from;
use crate::gather::{Gathered, Samples};
use crate::growth;
use crate::growth::levels::alone;
use crate::pairs::comparison::Series;
use crate::pairs::comparisons::Comparisons;
use crate::rates::usl;
use crate::shape::levels::levels;
use crate::shape::{Shape, point_steps};
use crate::stats::bootstrap::{REPLICATES, budget_interval};
use crate::stats::random::generator;
use crate::tables::figure::{counting, figure, know_deviation};
use crate::tables::shares::Portion;
use crate::{
    ComparisonOutcome, CutShort, Distribution, Lead, Level, MissingFigure, PointSummary, Rate, Row,
    Scaling, Speedup, SubjectComparison, Table, rates,
};
use fastrand::Rng;
use model::{
    CPUS_ONLINE, CellKey, MetricInfo, Parameters, Run, SubjectInfo, WORKER_AXES, WorkloadInfo,
};

/// Every table of `run`, headline metrics first, else in the order of the plan.
pub(crate) fn tables(run: &Run) -> Vec<Table> {
    tables_where(run, |_, _| true)
}

/// The tables of `run` that are `wanted`, by their workload and whether they are headline tables.
pub(crate) fn tables_where(run: &Run, wanted: impl Fn(&str, bool) -> bool) -> Vec<Table> {
    let mut tables = Vec::new();
    for workload in &run.plan.workloads {
        let gathered = Gathered::new(run, &workload.name);
        for &parameters in &gathered.parameters {
            let gathered = &gathered;
            let mut has_facts = false;
            for metric in &workload.metrics {
                let headline = is_headline(gathered, workload, metric);
                if !wanted(&workload.name, headline) {
                    continue;
                }
                let context = Context { run, workload, gathered, parameters, metric, headline };
                let mut table = context.table();
                // A metric that belongs to other parameters would be a table of dashes.
                if !headline && !table.rows.iter().any(Row::has_figures) {
                    continue;
                }
                if headline && !has_facts {
                    table.facts = gathered.facts(parameters);
                    table.load = gathered.load(parameters);
                    has_facts = true;
                }
                tables.push(table);
            }
        }
    }
    tables.sort_by_key(|table| !table.headline);
    tables
}

/// Whether it is the headline metric of any subject that has cells. A workload without subjects that were measured has
/// the table of its first metric.
fn is_headline(gathered: &Gathered<'_>, workload: &WorkloadInfo, metric: &MetricInfo) -> bool {
    let subjects = workload.subjects.iter();
    let mut headlines = subjects
        .filter(|subject| !subject.control && gathered.knows(&subject.name))
        .filter_map(|subject| workload.headline(&subject.name))
        .peekable();
    match headlines.peek() {
        Some(_) => headlines.any(|headline| headline.name == metric.name),
        None => workload.metrics.first() == Some(metric),
    }
}

struct Context<'a> {
    run: &'a Run,
    workload: &'a WorkloadInfo,
    gathered: &'a Gathered<'a>,
    parameters: &'a Parameters,
    metric: &'a MetricInfo,
    headline: bool,
}

impl Context<'_> {
    /// Whether `subject` has a row: it has figures of the metric, or lacks those that it should have.
    fn has_row(&self, subject: &SubjectInfo) -> bool {
        let is_there =
            self.gathered.knows(&subject.name) || self.unavailable(&subject.name).is_some();
        let is_of_first = |headline: &MetricInfo| self.workload.metrics.first() == Some(headline);
        let should_have = match self.workload.headline(&subject.name) {
            Some(headline) if self.headline => headline == self.metric,
            headline => headline.is_some_and(is_of_first),
        };
        let has_figures =
            || self.gathered.series(&subject.name, self.parameters, &self.metric.name).is_some();
        is_there && (should_have || has_figures())
    }

    fn table(&self) -> Table {
        let points = self.gathered.axis(self.parameters, &self.metric.name);
        let portion = Portion::new(self.workload, self.parameters);
        let shares = portion.as_ref().and_then(|portion| portion.shares(&points));
        let axis = &self.workload.axis_parameter;
        let one_each = shares.as_ref().and_then(|shares| Some(points[shares.one_each(axis)?]));
        // A control has no figures, and no row.
        let subjects = self.workload.subjects.iter().filter(|subject| !subject.control);
        // The first calls of a trajectory are cold, and not compared.
        let warm = verdicts_from(self.workload.trajectory, &points);
        let (mut rows, mut series) = (Vec::new(), Vec::new());
        for subject in subjects.filter(|subject| self.has_row(subject)) {
            let row = self.row(subject, &points, one_each);
            let figures = row.cells.iter().flatten().filter(|figure| figure.point >= warm);
            let figures: Vec<PointSummary> = figures.cloned().collect();
            if !figures.is_empty() {
                series.push(Series::new(&subject.name, self.metric.lower_is_better, figures));
            }
            rows.push(row);
        }
        // Half and maximal load are no rivals, and where it is a guess which figure is better, nothing is.
        if self.workload.averages || self.metric.direction_assumed {
            series.clear();
        }
        let comparisons = Comparisons::new(&series, |a, b| self.are_compared(&rows, a, b));
        let do_the_same = rows.windows(2).all(|pair| pair[0].operation == pair[1].operation);
        let is_multiple = shares.as_ref().is_some_and(|shares| shares.multiple);
        let ranked = self.headline && do_the_same && is_multiple;
        Table {
            workload: self.workload.name.clone(),
            parameters: self.parameters.clone(),
            effective: self.workload.effective(self.parameters),
            metric: self.metric.clone(),
            headline: self.headline,
            axis: self.workload.axis_with(self.parameters),
            axis_parameter: self.workload.axis_parameter.clone(),
            trajectory: self.workload.trajectory,
            points_down: self.workload.points_down,
            shares,
            leads: leads(&comparisons, &rows, &points),
            comparisons: with_shares(comparisons.outcomes(), portion.as_ref()),
            rankings: if ranked { comparisons.rankings(&rows, &points) } else { Vec::new() },
            distributions: self.distributions(&points),
            facts: Vec::new(),
            load: Vec::new(),
            rows,
            points,
        }
    }

    /// Whether two subjects are alternatives, or always compared.
    fn are_compared(&self, rows: &[Row], first: &str, second: &str) -> bool {
        let operation = |subject: &str| {
            rows.iter().find(|row| row.subject == subject).map(|row| row.operation.as_str())
        };
        let is_pair = |(a, b): &(String, String)| {
            [(a.as_str(), b.as_str()), (b, a)].contains(&(first, second))
        };
        operation(first) == operation(second) || self.workload.compared_pairs.iter().any(is_pair)
    }

    /// How single operations are distributed, where the record keeps them.
    fn distributions(&self, points: &[u64]) -> Vec<Distribution> {
        let mut all = Vec::new();
        for subject in self.workload.subjects.iter().filter(|subject| !subject.control) {
            for &point in points {
                let here = self.gathered.at(&subject.name, self.parameters, point);
                let cells = here.iter().flat_map(|here| &here.measured);
                let metrics = cells.flat_map(|cell| &cell.metrics);
                let kept = metrics.filter(|metric| metric.name == self.metric.name);
                let kept = kept.map(|metric| metric.histogram.as_str());
                all.extend(distributions::merged(kept, subject, point));
            }
        }
        all
    }

    fn unavailable(&self, subject: &str) -> Option<&str> {
        self.run.plan.unavailable(&self.workload.name, subject)
    }

    /// The row of `subject`, whose trend is that from the point `one_each` on, if there is one.
    fn row(&self, subject: &SubjectInfo, points: &[u64], one_each: Option<u64>) -> Row {
        let series = self.gathered.series(&subject.name, self.parameters, &self.metric.name);
        let summarised = series
            .into_iter()
            .flatten()
            .filter_map(|(&point, samples)| self.summarise(&subject.name, point, samples));
        let all: Vec<PointSummary> = summarised.collect();
        let shape = self.shape(&subject.name, &all);
        // What has levels has no order of growth, and no trend.
        let is_staircase = subject.memory_access.is_some();
        let counting = counting(&all, shape.trajectory);
        // Orders of growth are those of costs: a rate that rises or falls has none.
        let is_cost = self.metric.lower_is_better && !self.workload.averages && !is_staircase;
        let growth = || growth::growth(&growth::levels::levels(&counting, true), 0.0);
        let growth = (is_cost && counting.len() > 1).then(growth);
        let failed = self.gathered.failed(&subject.name, self.parameters);
        let rate = self.rate(&counting, one_each).filter(|_| !is_staircase);
        // The other metrics have no figures there either, which says nothing new.
        let headline_from = one_each.filter(|_| self.headline);
        let rate = match headline_from {
            Some(one_each) => rates::beyond(rate, &all, one_each, &failed),
            None => rate,
        };
        // Of somebody else's table nothing says how many CPUs they had: it goes from one on to its last point.
        let is_from_one = self.headline && self.run.is_foreign() && points.first() == Some(&1);
        let last = points.last().copied().filter(|_| is_from_one);
        let is_of_workers = WORKER_AXES.contains(&self.workload.axis.as_str());
        let workers_to = headline_from.or(last.filter(|_| is_of_workers));
        let speedup = workers_to.and_then(|to| self.speedup(&all, to));
        // Where the rate of one was measured, whatever the axis of the table is called.
        let scaling = workers_to.or(last).and_then(|to| self.scaling(all.clone(), to));
        // A trajectory has more positions than its table shows.
        let at = |point: &u64| all.iter().find(|figure| figure.point == *point).cloned();
        let cells: Vec<Option<PointSummary>> = points.iter().map(at).collect();
        let has_failed = |point: &u64| {
            let here = self.gathered.at(&subject.name, self.parameters, *point);
            here.is_some_and(|here| !here.failed.is_empty())
        };
        // What failed here was there.
        let is_there = cells.iter().any(Option::is_some) || points.iter().any(has_failed);
        let unavailable = self.unavailable(&subject.name).filter(|_| !is_there).map(str::to_owned);
        let short = self.gathered.short(&subject.name, self.parameters);
        let missing = match unavailable {
            Some(_) => Vec::new(),
            None => self.missing(subject, points, &cells, short.as_ref()),
        };
        Row {
            subject: subject.name.clone(),
            label: subject.label.clone(),
            note: subject.note.clone(),
            operation: subject.operation.clone(),
            cells,
            missing,
            unavailable,
            growth,
            rate,
            speedup,
            scaling,
            failed,
            modes: shape.modes,
            steps: shape.steps,
            levels: self.levels(subject),
            drift: shape.drift,
            short,
        }
    }

    /// A degree, such as a share or an index, is neither a cost nor a rate.
    fn is_rate(&self) -> bool {
        let says_so = self.headline || self.metric.unit.ends_with("/s");
        says_so && !self.metric.lower_is_better && !self.workload.averages
    }

    /// How the rate grows with workers up to the point `to`. A workload of the user's own has the whole that its axis
    /// is a multiple of only where that counts workers.
    fn speedup(&self, points: &[PointSummary], to: u64) -> Option<Speedup> {
        let WorkloadInfo { parallel, custom, .. } = self.workload;
        let is_parallel = parallel.is_some() || custom.is_some() || self.run.is_foreign();
        let speedup = || rates::speedup::speedup(points, to, self.cpus_left());
        (is_parallel && self.is_rate()).then(speedup).flatten()
    }

    /// The CPUs that others left to the run; `None` where the host did not count.
    fn cpus_left(&self) -> Option<f64> {
        let used = self.run.cpu_use()?;
        let taken = used.others_share()? + used.steal_share()?;
        Some((1.0 - taken) * self.run.host_before.number(CPUS_ONLINE)?)
    }

    /// The law. Of those that do work of their own it is that up to one for each of the whole: beyond, they only take
    /// turns.
    fn scaling(&self, mut points: Vec<PointSummary>, one_each: u64) -> Option<Scaling> {
        let is_parallel = self.workload.parallel.is_some();
        points.retain(|at| !is_parallel || at.point <= one_each);
        if self.is_rate() { usl::scaling(&points) } else { None }
    }

    /// The trend of a rate; a cost grows instead. Where the rate has figures at the point `one_each` and
    /// beyond it, the points before it are left out, unless the rate is crushed by then.
    fn rate(&self, points: &[PointSummary], one_each: Option<u64>) -> Option<Rate> {
        if !self.is_rate() {
            return None;
        }
        let at = one_each.and_then(|each| points.iter().position(|at| at.point == each));
        if self.headline
            && self.workload.parallel.is_some()
            && at.is_some_and(|at| at + 1 == points.len())
        {
            // Its speedup says all that there is.
            return None;
        }
        let Some(at) = at.filter(|&at| at + 1 < points.len()) else {
            return rates::rate(points);
        };
        let from = if rates::is_crushed(&points[..=at]) { 0 } else { at };
        rates::rate_past(&points[from..])
    }

    /// Modes, steps and drift; none of the harness itself, which is a control.
    fn shape(&self, subject: &str, figures: &[PointSummary]) -> Shape {
        if self.workload.is_control() {
            return Shape::default();
        }
        let mut random = self.random(subject, 0);
        let metric = &self.metric.name;
        let cloud = self.gathered.cloud(subject, self.parameters, metric, &mut random);
        cloud.map_or_else(Shape::default, |(cloud, trajectory)| {
            let shape = Shape::new(&cloud, trajectory, self.metric.lower_is_better, &mut random);
            // Of a user's own command nothing is known: its points are looked through for a step, too.
            let custom = self.workload.custom.as_ref();
            if trajectory || custom.is_none_or(|custom| custom.commands.is_empty()) {
                return shape;
            }
            Shape { steps: point_steps::find(figures, self.metric.lower_is_better), ..shape }
        })
    }

    /// The levels of the curve of a subject that goes over memory.
    fn levels(&self, subject: &SubjectInfo) -> Vec<Level> {
        let metric = &self.metric.name;
        let series = self.gathered.series(&subject.name, self.parameters, metric);
        let series = series.filter(|_| self.headline && subject.memory_access.is_some());
        series
            .map_or_else(Vec::new, |series| levels(series, |from| self.random(&subject.name, from)))
    }

    fn summarise(&self, subject: &str, point: u64, samples: &Samples<'_>) -> Option<PointSummary> {
        let (mut summary, replicates) =
            figure(point, &samples.slices(), &mut self.random(subject, point))?;
        if self.run.plan.budget.is_some() && !replicates.is_empty() {
            summary.median = budget_interval(summary.median.value, &replicates);
        }
        if let Some(deviation) = samples.deviation.filter(|_| summary.samples == 1) {
            know_deviation(&mut summary, deviation, samples.operations);
        }
        let draws = (REPLICATES, &mut self.random(subject, point));
        let of_series = (subject, self.parameters);
        if let Some(whole) = self.gathered.whole_quantile(of_series, self.metric, point, draws) {
            summary.median = whole.estimate();
            summary.rounds = whole.blocks as u32;
        }
        (summary.user_ns, summary.system_ns) = cpu_per_operation(samples);
        summary.log_cells = samples.log_cells();
        if summary.log_cells.is_empty() {
            // Where rounds have no numbers of their own, the median of all stands for them.
            summary.log_cells = alone(summary.median.value.ln());
        }
        Some(summary)
    }

    fn random(&self, subject: &str, point: u64) -> Rng {
        let series = (subject, self.parameters, self.metric.name.as_str());
        random(self.run.plan.seed, &self.workload.name, series, point)
    }

    fn missing(
        &self,
        subject: &SubjectInfo,
        points: &[u64],
        cells: &[Option<PointSummary>],
        short: Option<&CutShort>,
    ) -> Vec<(u64, MissingFigure)> {
        let (name, metric) = (&subject.name, &self.metric.name);
        let reason = |point: u64| {
            if let Some(short) = short.filter(|short| short.reached < point) {
                let (reached, reason) = (short.reached, short.reason.clone());
                return MissingFigure::CutShort { reached, reason };
            }
            let on_the_way = self.workload.trajectory;
            let missing = self.gathered.missing(name, self.parameters, metric, point, on_the_way);
            missing.unwrap_or_else(|| self.why_not_planned(name, point))
        };
        let empty = points.iter().zip(cells).filter(|(_, cell)| cell.is_none());
        empty.map(|(&point, _)| (point, reason(point))).collect()
    }

    /// Why the plan has no cell of `subject` at `point`.
    fn why_not_planned(&self, subject: &str, point: u64) -> MissingFigure {
        let key = CellKey {
            workload: self.workload.name.clone(),
            subject: subject.to_owned(),
            parameters: self.parameters.clone(),
            point,
            round: 0,
        };
        if let Some(because) = self.run.plan.left_out_because(&key) {
            return MissingFigure::LeftOut { because };
        }
        self.run.plan.clamped_to(&key).map_or(MissingFigure::NotPlanned, |limit| {
            let (requested, cause) = (limit.requested.clone(), limit.cause.clone());
            MissingFigure::ClampedOnly { requested, cause }
        })
    }
}

/// A generator of its own for each point of a series, so that a figure doesn't depend on its neighbours.
pub(crate) fn random(
    seed: u64,
    workload: &str,
    (subject, parameters, metric): (&str, &Parameters, &str),
    point: u64,
) -> Rng {
    let point = point.to_string();
    let mut words = vec![workload, subject, metric, &point];
    let texts: Vec<_> = parameters.iter().map(|(name, value)| (name, value.text())).collect();
    words.extend(texts.iter().flat_map(|(name, value)| [name.as_str(), value]));
    generator(seed, &words)
}

/// The best subject at each point; none where a figure is not above zero, and so has no ratio.
fn leads(comparisons: &Comparisons<'_>, rows: &[Row], points: &[u64]) -> Vec<Vec<Lead>> {
    let mut operations: Vec<&str> = rows.iter().map(|row| row.operation.as_str()).collect();
    operations.sort_unstable();
    operations.dedup();
    let lead = |index: usize, point, operation: &str| {
        let alternatives = || rows.iter().filter(move |row| row.operation == operation);
        let mut figures = alternatives().filter_map(|row| row.cells[index].as_ref());
        if figures.any(|figure| figure.median.value <= 0.0) {
            return None;
        }
        comparisons.lead(point, |subject| alternatives().any(|row| row.subject == subject))
    };
    let at = |(index, &point): (usize, &u64)| {
        operations.iter().filter_map(|operation| lead(index, point, operation)).collect()
    };
    points.iter().enumerate().map(at).collect()
}

/// `comparisons` with the positions of their crossovers as ratios.
fn with_shares(
    mut comparisons: Vec<SubjectComparison>,
    portion: Option<&Portion<'_>>,
) -> Vec<SubjectComparison> {
    for comparison in &mut comparisons {
        if let ComparisonOutcome::Crosses { crossovers } = &mut comparison.outcome {
            for crossover in crossovers {
                crossover.share = portion.map(|portion| portion.at_position(crossover.at));
            }
        }
    }
    comparisons
}

/// User and system CPU per operation over all rounds, in nanoseconds.
fn cpu_per_operation(samples: &Samples<'_>) -> (Option<f64>, Option<f64>) {
    let usage = samples.usage;
    if samples.operations == 0 || usage.user_ns + usage.system_ns == 0 {
        return (None, None);
    }
    let each = |ns: u64| Some(ns as f64 / samples.operations as f64);
    (each(usage.user_ns), each(usage.system_ns))
}
