//! Where the CPU time of an operation goes, and what of it grows along the axis.
//!
//! A sample is a moment of CPU time. Divided by the operations of the timed regions that it fell into, the samples of
//! a function are its CPU time an operation, whatever the metric. The time of a function *itself* is that of samples
//! that were taken in it, its *inclusive* time that of samples with it anywhere on the stack. All processes and
//! threads that a cell started count; the root of each stack says which process it was.

mod counted;
mod difference;

#[cfg(test)]
mod tests;

use crate::gather::positions::verdicts_from;
use crate::growth::levels::Level;
use crate::thresholds::{POINT_SAMPLES_MIN, SAME_MAX, SCALES_MIN};
use crate::{
    Estimate, Growth, PointSummary, ProfileChange, ProfileContrast, ProfileDifference, ProfileRow,
    ProfileTable, ProfiledFunction, ProfiledWait, Rate, RateTrend, Row, Speedup, Table,
};
use counted::{Count, Counted};
use difference::Pair;
use model::{
    Frame, FrameKind, MetricInfo, Outcome, Parameters, ProfiledCell, Run, WaitKind, WorkloadInfo,
};
use std::collections::BTreeSet;

/// A function is listed from this share of the CPU time on that it takes by itself at any point.
const LISTED_SHARE_MIN: f64 = 0.005;

/// The same with what it calls.
const LISTED_INCLUSIVE_SHARE_MIN: f64 = 0.02;

const LISTED_MAX: usize = 60;

/// The profiles of `run`, whose timed figures are `tables`: headline metrics first.
pub(crate) fn profiles(run: &Run, tables: &[Table]) -> Vec<ProfileTable> {
    let mut profiles = Vec::new();
    for workload in &run.plan.workloads {
        let is_measured = |cell: &&ProfiledCell| {
            cell.key.workload == workload.name && cell.outcome == Outcome::Measured
        };
        let all: Vec<&ProfiledCell> = run.profile.cells.iter().filter(is_measured).collect();
        let all_parameters: BTreeSet<&Parameters> =
            all.iter().map(|cell| &cell.key.parameters).collect();
        for parameters in all_parameters {
            for metric in &workload.metrics {
                let is_headline =
                    |cell: &&ProfiledCell| workload.headline(&cell.key.subject) == Some(metric);
                let is_here = |cell: &&ProfiledCell| cell.key.parameters == *parameters;
                let cells: Vec<&ProfiledCell> = all.iter().copied().filter(is_here).collect();
                let regions = cells.iter().flat_map(|cell| &cell.regions);
                let of_metric = regions.filter(|region| region.metric == metric.name);
                let points: BTreeSet<u64> = of_metric.map(|region| region.position).collect();
                let series = Series {
                    run,
                    workload,
                    parameters,
                    metric,
                    headline: all.iter().any(is_headline),
                    cells,
                    points: points.into_iter().collect(),
                    timed: tables
                        .iter()
                        .find(|table| table.key() == (&workload.name, parameters, &metric.name)),
                };
                profiles.extend(series.table());
            }
        }
    }
    profiles.sort_by_key(|table| !table.headline);
    profiles
}

/// The difference between two profiles of the same subject at the same point in two runs; `timed_factor` is that of
/// their timed rounds, as times of an operation. `None` where a run has no such profile.
pub fn between_runs<'a>(
    [base, new]: [&'a Run; 2],
    table: &Table,
    subject: &str,
    point: u64,
    timed_factor: Estimate,
) -> Option<ProfileDifference> {
    let counted = |run: &'a Run| {
        let is_counted = |cell: &&ProfiledCell| {
            table.has_cell(subject, &cell.key) && cell.outcome == Outcome::Measured
        };
        let cells: Vec<&ProfiledCell> = run.profile.cells.iter().filter(is_counted).collect();
        Counted::new(&run.profile, &cells, &table.metric, point)
    };
    let (first, second) = (counted(base)?, counted(new)?);
    let pair = Pair { first: &first, second: &second, short_workers: None };
    Some(pair.difference(Some(timed_factor)))
}

/// Whether workers surely do not gain what as many of them should.
fn is_short(speedup: &Speedup) -> bool {
    !matches!(speedup.verdict, RateTrend::Scales | RateTrend::Undecided)
}

/// The points between which figures change in the way that asks for a reason: of workers up to one for each CPU, even
/// where it is open whether they gain.
fn explained(speedup: Option<&Speedup>, rate: Option<&Rate>) -> (u64, u64) {
    let may_be_short = |speedup: &&Speedup| speedup.verdict != RateTrend::Scales;
    match speedup.filter(may_be_short) {
        Some(speedup) => (speedup.peak.map_or(speedup.from, |peak| peak.at), speedup.to),
        None => (rate.map_or(0, |rate| rate.from), u64::MAX),
    }
}

struct Series<'a> {
    run: &'a Run,
    workload: &'a WorkloadInfo,
    parameters: &'a Parameters,
    metric: &'a MetricInfo,
    headline: bool,
    cells: Vec<&'a ProfiledCell>,
    points: Vec<u64>,
    timed: Option<&'a Table>,
}

/// The profiles of one subject, one for each point.
struct Profiles<'a> {
    subject: String,
    at: Vec<Option<Counted<'a>>>,
}

impl<'a> Series<'a> {
    fn table(&self) -> Option<ProfileTable> {
        let (mut rows, mut all) = (Vec::new(), Vec::new());
        for subject in self.workload.subjects.iter().filter(|subject| !subject.control) {
            let profiles = self.profiles(&subject.name);
            if profiles.at.iter().any(Option::is_some) {
                rows.push(self.row(&profiles, &subject.label));
                all.push(profiles);
            }
        }
        (!rows.is_empty()).then(|| ProfileTable {
            workload: self.workload.name.clone(),
            parameters: self.parameters.clone(),
            metric: self.metric.clone(),
            headline: self.headline,
            axis: self.workload.axis_with(self.parameters),
            trajectory: self.workload.trajectory,
            contrasts: self.contrasts(&all),
            points: self.points.clone(),
            rows,
        })
    }

    fn profiles(&self, subject: &str) -> Profiles<'a> {
        let cells: Vec<&ProfiledCell> =
            self.cells.iter().copied().filter(|cell| cell.key.subject == subject).collect();
        let at = |&point: &u64| Counted::new(&self.run.profile, &cells, self.metric, point);
        Profiles { subject: subject.to_owned(), at: self.points.iter().map(at).collect() }
    }

    fn row(&self, profiles: &Profiles<'a>, label: &str) -> ProfileRow {
        let ends = self.ends(profiles);
        let speedup = self.timed_row(&profiles.subject).and_then(|row| row.speedup.as_ref());
        let short_workers = speedup.filter(|speedup| is_short(speedup)).map(|speedup| speedup.to);
        let pair = ends.and_then(|[from, to]| {
            let (first, second) = (profiles.at[from].as_ref()?, profiles.at[to].as_ref()?);
            Some(Pair { first, second, short_workers })
        });
        let change = ends.zip(pair.as_ref()).map(|([from, to], pair)| ProfileChange {
            from: self.points[from],
            to: self.points[to],
            difference: pair.difference(self.timed_factor(&profiles.subject, [from, to])),
        });
        let at = profiles.at.iter().zip(&self.points);
        let cells = at.map(|(counted, &point)| Some(counted.as_ref()?.summary(point)));
        ProfileRow {
            subject: profiles.subject.clone(),
            label: label.to_owned(),
            cells: cells.collect(),
            growth: self.growth(profiles, |counted| counted.samples),
            functions: self.functions(profiles, pair.as_ref()),
            waits: self.waits(profiles, pair.as_ref()),
            change,
        }
    }

    /// The first and the last of `points` that a change is judged between: of workers that do not scale, up to one for
    /// each CPU, since beyond they wait for CPUs whatever they do, and none where they may; of a rate that peaks, from
    /// the peak on; of a trajectory those that its table has figures of, where there are two.
    fn ends(&self, profiles: &Profiles<'a>) -> Option<[usize; 2]> {
        let row = self.timed_row(&profiles.subject);
        let speedup = row.and_then(|row| row.speedup.as_ref());
        // Where workers may well gain what as many of them should, nothing is to be explained.
        if speedup.is_some_and(|Speedup { verdict, factor, linear, .. }| {
            *verdict == RateTrend::Undecided && factor.high >= SCALES_MIN * linear
        }) {
            return None;
        }
        let (from, to) = explained(speedup, row.and_then(|row| row.rate.as_ref()));
        let range = from.max(verdicts_from(self.workload.trajectory, &self.points))..=to;
        let with_samples = |min: u64| {
            let is_seen = move |profile: &Counted<'_>| profile.samples >= min;
            let seen = move |at: &usize| profiles.at[*at].as_ref().is_some_and(is_seen);
            (0..self.points.len()).filter(|&at| range.contains(&self.points[at])).filter(seen)
        };
        // The first stretches of a trajectory are short, and not all of them end where its table has a figure.
        let is_timed = |at: &usize| self.timed_at(&profiles.subject, *at).is_some();
        let timed = with_samples(POINT_SAMPLES_MIN).filter(is_timed);
        let timed: Vec<usize> = timed.filter(|_| self.workload.trajectory).collect();
        let ends = if timed.len() > 1 { timed } else { with_samples(0).collect() };
        match ends.as_slice() {
            [first, .., last] => Some([*first, *last]),
            _ => None,
        }
    }

    fn timed_row(&self, subject: &str) -> Option<&'a Row> {
        self.timed?.row(subject)
    }

    /// The figure of the timed rounds at `points[at]`; of a trajectory, whose table has other positions than its
    /// profile, the last one in the stretch that ends there.
    fn timed_at(&self, subject: &str, at: usize) -> Option<&'a PointSummary> {
        let (row, points) = (self.timed_row(subject)?, &self.points);
        let exact = row.at(points[at]);
        if exact.is_some() || !self.workload.trajectory {
            return exact;
        }
        // The first stretch has all that is before the second.
        let before = at.checked_sub(1).map_or(0, |before| points[before]).max(points[at] / 2);
        let figures = row.cells.iter().flatten();
        let inside = figures.filter(|figure| before < figure.point && figure.point <= points[at]);
        inside.max_by_key(|figure| figure.point)
    }

    /// The time of an operation at the second of `ends` over that at the first, by the timed rounds.
    fn timed_factor(&self, subject: &str, ends: [usize; 2]) -> Option<Estimate> {
        let [first, second] = ends.map(|at| self.timed_at(subject, at));
        self.time_ratio(first?.median, second?.median)
    }

    /// Two figures of the metric as a ratio of times: second over first.
    fn time_ratio(&self, first: Estimate, second: Estimate) -> Option<Estimate> {
        if first.low <= 0.0 || second.low <= 0.0 {
            return None;
        }
        match self.metric.unit.as_str() {
            "ns" => Some(second.over(first)),
            rate if rate.ends_with("/s") => Some(first.over(second)),
            _ => None,
        }
    }

    /// How the time of an operation that these samples stand for grows, by the rules of every other cost; `None` with
    /// fewer than two points, or without any sample. Half a sample is added to each count: none may have been one, and
    /// zero has no logarithm.
    fn growth(
        &self,
        profiles: &Profiles<'a>,
        count: impl Fn(&Counted<'a>) -> u64,
    ) -> Option<Growth> {
        let warm = verdicts_from(self.workload.trajectory, &self.points);
        let at = self.points.iter().zip(&profiles.at).filter(|(point, _)| **point >= warm);
        let counted = at.filter_map(|(&point, counted)| Some((point, counted.as_ref()?)));
        let counts: Vec<(u64, u64, f64)> = counted
            .map(|(point, counted)| (point, count(counted), counted.sample_of_operation_ns()))
            .collect();
        if counts.len() < 2 || counts.iter().all(|(_, count, _)| *count == 0) {
            return None;
        }
        let level = |(point, count, each_ns): (u64, u64, f64)| {
            let expected = count as f64 + 0.5;
            // Errors beyond these are part of every curve's likelihood.
            Level::new(point, (expected * each_ns).ln(), Some(1.0 / expected.sqrt()))
        };
        let levels: Vec<Level> = counts.into_iter().map(level).collect();
        Some(crate::growth::growth(&levels, SAME_MAX.ln()))
    }

    fn functions(
        &self,
        profiles: &Profiles<'a>,
        pair: Option<&Pair<'a, '_>>,
    ) -> Vec<ProfiledFunction> {
        let counted = || profiles.at.iter().flatten();
        let share = |frame: &Frame, samples: fn(Count) -> u64| {
            let shares = counted().map(|counted| {
                samples(counted.count(frame)) as f64 / counted.samples.max(1) as f64
            });
            shares.fold(0.0, f64::max)
        };
        let rank = |frame: &'a Frame| {
            let itself = share(frame, |count| count.itself);
            let inclusive = share(frame, |count| count.inclusive);
            let is_listed = frame.kind != FrameKind::Process
                && (itself >= LISTED_SHARE_MIN || inclusive >= LISTED_INCLUSIVE_SHARE_MIN);
            is_listed.then(|| (itself.max(inclusive / 4.0), frame))
        };
        let all: BTreeSet<&Frame> =
            counted().flat_map(|counted| counted.functions.keys().copied()).collect();
        let mut listed: Vec<(f64, &Frame)> = all.into_iter().filter_map(rank).collect();
        listed.sort_by(|a, b| b.0.total_cmp(&a.0).then_with(|| a.1.cmp(b.1)));
        listed.truncate(LISTED_MAX);
        let listed = listed.into_iter().map(|(_, frame)| self.function(profiles, frame, pair));
        let mut functions: Vec<ProfiledFunction> = listed.collect();
        let added =
            |function: &ProfiledFunction| function.added.map_or(0.0, |added| added.ns.value.abs());
        // What did not change stays in the order of its time.
        functions.sort_by(|a, b| added(b).total_cmp(&added(a)));
        functions
    }

    fn function(
        &self,
        profiles: &Profiles<'a>,
        frame: &Frame,
        pair: Option<&Pair<'a, '_>>,
    ) -> ProfiledFunction {
        let [itself, inclusive]: [fn(Count) -> u64; 2] =
            [|count| count.itself, |count| count.inclusive];
        let times = |samples: fn(Count) -> u64| {
            let time = |counted: &Counted<'a>| counted.time(samples(counted.count(frame)));
            profiles.at.iter().map(|counted| counted.as_ref().map(time)).collect()
        };
        let growth = |samples: fn(Count) -> u64| {
            self.growth(profiles, |counted| samples(counted.count(frame)))
        };
        ProfiledFunction {
            frame: frame.clone(),
            itself: times(itself),
            inclusive: times(inclusive),
            growth: growth(itself),
            inclusive_growth: growth(inclusive),
            added: pair.map(|pair| pair.added(frame, itself)),
            inclusive_added: pair.map(|pair| pair.added(frame, inclusive)),
        }
    }

    fn waits(&self, profiles: &Profiles<'a>, pair: Option<&Pair<'a, '_>>) -> Vec<ProfiledWait> {
        let is_there = |kind: &WaitKind| {
            let mut counted = profiles.at.iter().flatten();
            counted.any(|counted| counted.waits.keys().any(|wait| wait.kind == *kind))
        };
        let wait = |kind: WaitKind| ProfiledWait {
            kind,
            times: profiles.at.iter().map(|at| Some(at.as_ref()?.wait_time(kind))).collect(),
            growth: self.growth(profiles, |counted| counted.waiting(|wait| wait.kind == kind)),
            added: pair.map(|pair| pair.added_waiting(kind)),
        };
        WaitKind::ALL.into_iter().filter(is_there).map(wait).collect()
    }

    /// Each subject against the best one at the last point that both have, and the pairs of the workload.
    fn contrasts(&self, all: &[Profiles<'a>]) -> Vec<ProfileContrast> {
        let mut pairs: Vec<(usize, usize)> = Vec::new();
        let index = |name: &str| all.iter().position(|profiles| profiles.subject == name);
        for (first, second) in &self.workload.compared_pairs {
            pairs.extend(index(first).zip(index(second)));
        }
        let with_best = |(at, profiles): (usize, &Profiles<'a>)| {
            let table = self.timed?;
            let mut columns = (0..table.points.len()).rev();
            let lead = columns.find_map(|column| table.lead(column, &profiles.subject))?;
            Some((index(&lead.best)?, at))
        };
        pairs.extend(all.iter().enumerate().filter_map(with_best));
        let mut contrasts: Vec<ProfileContrast> = Vec::new();
        for (first, second) in pairs {
            let Some(contrast) = self.contrast(&all[first], &all[second]) else { continue };
            let pair = |listed: &ProfileContrast| (listed.first.clone(), listed.second.clone());
            if !contrasts.iter().any(|listed| pair(listed) == pair(&contrast)) {
                contrasts.push(contrast);
            }
        }
        contrasts
    }

    fn contrast(&self, left: &Profiles<'a>, right: &Profiles<'a>) -> Option<ProfileContrast> {
        if left.subject == right.subject {
            return None;
        }
        let has_both = |at: &usize| left.at[*at].is_some() && right.at[*at].is_some();
        let at = (0..self.points.len()).rev().find(has_both)?;
        let point = self.points[at];
        let median =
            |profiles: &Profiles<'a>| Some(self.timed_row(&profiles.subject)?.at(point)?.median);
        let ratio = self.time_ratio(median(left)?, median(right)?)?;
        let (first, second, ratio) =
            if ratio.value >= 1.0 { (left, right, ratio) } else { (right, left, ratio.inverse()) };
        let (cheaper, dearer) = (first.at[at].as_ref()?, second.at[at].as_ref()?);
        let pair = Pair { first: cheaper, second: dearer, short_workers: None };
        Some(ProfileContrast {
            first: first.subject.clone(),
            second: second.subject.clone(),
            point,
            difference: pair.difference(Some(ratio)),
        })
    }
}
