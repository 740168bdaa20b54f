//! Where the CPU time of an operation goes, and what of it grows along the axis.
//!
//! A sample is a moment of CPU time. Divided by the operations of the timed regions that it fell into, the samples of
//! a function are its CPU time an operation, whatever the metric. The time of a function *itself* is that of samples
//! that were taken in it, its *inclusive* time that of samples with it anywhere on the stack. All processes and
//! threads that a cell started count; the root of each stack says which process it was.

mod counted;
mod difference;
mod function_growth;

/// Whether workers surely do not gain what as many of them should.
fn is_short(speedup: &Speedup) -> bool {
    !matches!(speedup.verdict, SpeedupVerdict::Scales | SpeedupVerdict::Undecided)
}

/// Whether workers may well gain what as many of them should: nothing is to be explained.
fn may_scale(speedup: &Speedup) -> bool {
    let Speedup { verdict, factor, linear, .. } = speedup;
    *verdict == SpeedupVerdict::Undecided && factor.high >= SCALES_MIN * linear
}

/// The points between which figures change in the way that asks for a reason: of workers up to one for each CPU, even where
/// it is open whether they gain.
fn explained(speedup: Option<&Speedup>, rate: Option<&Rate>) -> (u64, u64) {
    let may_be_short = |speedup: &&Speedup| speedup.verdict != SpeedupVerdict::Scales;
    match (speedup.filter(may_be_short), rate) {
        (Some(speedup), _) => (speedup.peak.map_or(speedup.from, |peak| peak.at), speedup.to),
        (None, Some(rate)) => (rate.from, u64::MAX),
        (None, None) => (0, u64::MAX),
    }
}

#[cfg(test)]
mod tests;

use crate::gather::positions::verdicts_from;
use crate::thresholds::{POINT_SAMPLES_MIN, SCALES_MIN};
use crate::{
    Estimate, PointSummary, ProfileChange, ProfileContrast, ProfileDifference, ProfileRow,
    ProfileTable, ProfiledFunction, ProfiledWait, Rate, Row, Speedup, SpeedupVerdict, Table,
};
use counted::{Count, Counted};
use difference::Pair;
use function_growth::{Samples, function_growth};
use model::{
    Frame, FrameKind, MetricInfo, Outcome, Parameters, ProfiledCell, Run, WaitKind, WorkloadInfo,
};
use std::collections::BTreeSet;

/// A function is listed from this share of the CPU time on that it takes by itself at any point.
const LISTED_SHARE_MIN: f64 = 0.005;

/// The same with what it calls.
const LISTED_INCLUSIVE_SHARE_MIN: f64 = 0.02;

/// Functions that are listed at most.
const LISTED_MAX: usize = 60;

/// The profiles of `run`, whose timed figures are `tables`: headline metrics first.
pub(crate) fn profiles(run: &Run, tables: &[Table]) -> Vec<ProfileTable> {
    let mut profiles = Vec::new();
    for workload in &run.plan.workloads {
        let cells =
            run.profile.cells.iter().filter(|cell| {
                cell.key.workload == workload.name && cell.outcome == Outcome::Measured
            });
        let cells: Vec<&ProfiledCell> = cells.collect();
        let all_parameters: BTreeSet<&Parameters> =
            cells.iter().map(|cell| &cell.key.parameters).collect();
        for parameters in all_parameters {
            for metric in &workload.metrics {
                let is_headline =
                    |cell: &&ProfiledCell| workload.headline(&cell.key.subject) == Some(metric);
                let headline = cells.iter().any(is_headline);
                let cells = cells.iter().copied().filter(|cell| cell.key.parameters == *parameters);
                let series = Series {
                    run,
                    workload,
                    parameters,
                    metric,
                    headline,
                    cells: cells.collect(),
                    timed: tables.iter().find(|table| {
                        (&table.workload, &table.parameters, &table.metric.name)
                            == (&workload.name, parameters, &metric.name)
                    }),
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
        let cells = cells_of(run, table, subject);
        Counted::new(&run.profile, &cells, &table.metric.name, point)
    };
    let (first, second) = (counted(base)?, counted(new)?);
    let pair = Pair { first: &first, second: &second, short_workers: None };
    Some(pair.difference(Some(timed_factor)))
}

/// The measured cells of `subject` in the profile of `run`, under the parameters of `table`.
fn cells_of<'a>(run: &'a Run, table: &Table, subject: &str) -> Vec<&'a ProfiledCell> {
    let cells = run.profile.cells.iter().filter(|cell| {
        let key = &cell.key;
        (&key.workload, &key.parameters) == (&table.workload, &table.parameters)
            && key.subject == subject
            && cell.outcome == Outcome::Measured
    });
    cells.collect()
}

/// What one table is made from.
struct Series<'a> {
    run: &'a Run,
    workload: &'a WorkloadInfo,
    parameters: &'a Parameters,
    metric: &'a MetricInfo,
    headline: bool,
    cells: Vec<&'a ProfiledCell>,
    timed: Option<&'a Table>,
}

/// The profiles of one subject, one for each point.
struct Profiles<'a> {
    subject: String,
    at: Vec<Option<Counted<'a>>>,
}

impl<'a> Series<'a> {
    fn table(&self) -> Option<ProfileTable> {
        let regions = self.cells.iter().flat_map(|cell| &cell.regions);
        let of_metric = regions.filter(|region| region.metric == self.metric.name);
        let points: BTreeSet<u64> = of_metric.map(|region| region.position).collect();
        let points: Vec<u64> = points.into_iter().collect();
        let (mut rows, mut all) = (Vec::new(), Vec::new());
        for subject in self.workload.subjects.iter().filter(|subject| !subject.control) {
            let profiles = self.profiles(&subject.name, &points);
            if profiles.at.iter().any(Option::is_some) {
                rows.push(self.row(&profiles, &subject.label, &points));
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
            contrasts: self.contrasts(&all, &points),
            points,
            rows,
        })
    }

    fn profiles(&self, subject: &str, points: &[u64]) -> Profiles<'a> {
        let cells: Vec<&ProfiledCell> =
            self.cells.iter().copied().filter(|cell| cell.key.subject == subject).collect();
        let at = |&point: &u64| Counted::new(&self.run.profile, &cells, &self.metric.name, point);
        Profiles { subject: subject.to_owned(), at: points.iter().map(at).collect() }
    }

    fn row(&self, profiles: &Profiles<'a>, label: &str, points: &[u64]) -> ProfileRow {
        let ends = self.ends(profiles, points);
        let speedup = self.timed_row(&profiles.subject).and_then(|row| row.speedup.as_ref());
        let short_workers = speedup.filter(|speedup| is_short(speedup)).map(|speedup| speedup.to);
        let pair = ends.and_then(|[from, to]| {
            let (first, second) = (profiles.at[from].as_ref()?, profiles.at[to].as_ref()?);
            Some(Pair { first, second, short_workers })
        });
        let change = ends.zip(pair.as_ref()).map(|([from, to], pair)| ProfileChange {
            from: points[from],
            to: points[to],
            difference: pair.difference(self.timed_factor(&profiles.subject, points, [from, to])),
        });
        let at = profiles.at.iter().zip(points);
        let cells = at.map(|(counted, &point)| Some(counted.as_ref()?.summary(point)));
        ProfileRow {
            subject: profiles.subject.clone(),
            label: label.to_owned(),
            cells: cells.collect(),
            growth: self.growth(profiles, points, |counted| counted.samples),
            functions: self.functions(profiles, points, pair.as_ref()),
            waits: self.waits(profiles, points, pair.as_ref()),
            change,
        }
    }

    /// The first and the last of `points` that a change is judged between: of workers that do not scale, up to one for each
    /// CPU, since beyond they wait for CPUs whatever they do, and none where they may; of a rate that peaks, from the peak on; of a trajectory those that its table has figures of, where there are two.
    fn ends(&self, profiles: &Profiles<'a>, points: &[u64]) -> Option<[usize; 2]> {
        let warm = verdicts_from(self.workload.trajectory, points);
        let row = self.timed_row(&profiles.subject);
        let (speedup, rate) =
            row.map_or((None, None), |row| (row.speedup.as_ref(), row.rate.as_ref()));
        if speedup.is_some_and(may_scale) {
            return None;
        }
        let (from, to) = explained(speedup, rate);
        let from = from.max(warm);
        let with_samples = |min: u64| {
            let is_seen =
                move |at: &usize| profiles.at[*at].as_ref().is_some_and(|p| p.samples >= min);
            (0..points.len()).filter(|&at| (from..=to).contains(&points[at])).filter(is_seen)
        };
        // The first stretches of a trajectory are short, and not all of them end where its table has a figure.
        let is_timed = |at: &usize| self.timed_at(&profiles.subject, points, *at).is_some();
        let timed: Vec<usize> = if self.workload.trajectory {
            with_samples(POINT_SAMPLES_MIN).filter(is_timed).collect()
        } else {
            Vec::new()
        };
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
    fn timed_at(&self, subject: &str, points: &[u64], at: usize) -> Option<&'a PointSummary> {
        let row = self.timed_row(subject)?;
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
    fn timed_factor(&self, subject: &str, points: &[u64], ends: [usize; 2]) -> Option<Estimate> {
        let [first, second] = ends.map(|at| self.timed_at(subject, points, at));
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

    fn growth(
        &self,
        profiles: &Profiles<'a>,
        points: &[u64],
        count: impl Fn(&Counted<'a>) -> u64,
    ) -> Option<crate::Growth> {
        let warm = verdicts_from(self.workload.trajectory, points);
        let at = points.iter().zip(&profiles.at).filter(|(point, _)| **point >= warm);
        let samples = at.filter_map(|(&point, counted)| {
            let counted = counted.as_ref()?;
            Some(Samples {
                point,
                count: count(counted),
                each_ns: counted.sample_of_operation_ns(),
            })
        });
        function_growth(&samples.collect::<Vec<_>>())
    }

    /// The functions that are worth listing.
    fn functions(
        &self,
        profiles: &Profiles<'a>,
        points: &[u64],
        pair: Option<&Pair<'a, '_>>,
    ) -> Vec<ProfiledFunction> {
        let counted = || profiles.at.iter().flatten();
        let share = |frame: &Frame, samples: fn(Count) -> u64| {
            let shares = counted().map(|counted| {
                samples(counted.count(frame)) as f64 / counted.samples.max(1) as f64
            });
            shares.fold(0.0, f64::max)
        };
        let all: BTreeSet<&Frame> =
            counted().flat_map(|counted| counted.functions.keys().copied()).collect();
        let mut listed: Vec<(f64, &Frame)> = all
            .into_iter()
            .filter(|frame| frame.kind != FrameKind::Process)
            .map(|frame| {
                let itself = share(frame, |count| count.itself);
                (itself, share(frame, |count| count.inclusive), frame)
            })
            .filter(|(itself, inclusive, _)| {
                *itself >= LISTED_SHARE_MIN || *inclusive >= LISTED_INCLUSIVE_SHARE_MIN
            })
            .map(|(itself, inclusive, frame)| (itself.max(inclusive / 4.0), frame))
            .collect();
        listed.sort_by(|a, b| b.0.total_cmp(&a.0).then_with(|| a.1.cmp(b.1)));
        listed.truncate(LISTED_MAX);
        let mut functions: Vec<ProfiledFunction> = listed
            .into_iter()
            .map(|(_, frame)| self.function(profiles, points, frame, pair))
            .collect();
        let added =
            |function: &ProfiledFunction| function.added.map_or(0.0, |added| added.ns.value.abs());
        // What did not change stays in the order of its time.
        functions.sort_by(|a, b| added(b).total_cmp(&added(a)));
        functions
    }

    fn function(
        &self,
        profiles: &Profiles<'a>,
        points: &[u64],
        frame: &Frame,
        pair: Option<&Pair<'a, '_>>,
    ) -> ProfiledFunction {
        let times = |samples: fn(Count) -> u64| {
            let at = profiles.at.iter();
            let time = |counted: &Counted<'a>| counted.function_time(samples(counted.count(frame)));
            at.map(|counted| counted.as_ref().map(time)).collect()
        };
        let growth = |samples: fn(Count) -> u64| {
            self.growth(profiles, points, |counted| samples(counted.count(frame)))
        };
        ProfiledFunction {
            frame: frame.clone(),
            itself: times(|count| count.itself),
            inclusive: times(|count| count.inclusive),
            growth: growth(|count| count.itself),
            inclusive_growth: growth(|count| count.inclusive),
            added: pair.map(|pair| pair.added(frame)),
            inclusive_added: pair.map(|pair| pair.inclusive_added(frame)),
        }
    }

    /// The kinds of waits that there are.
    fn waits(
        &self,
        profiles: &Profiles<'a>,
        points: &[u64],
        pair: Option<&Pair<'a, '_>>,
    ) -> Vec<ProfiledWait> {
        let is_there = |kind: &WaitKind| {
            let mut counted = profiles.at.iter().flatten();
            counted.any(|counted| counted.waits.keys().any(|wait| wait.kind == *kind))
        };
        let wait = |kind: WaitKind| ProfiledWait {
            kind,
            times: profiles.at.iter().map(|at| Some(at.as_ref()?.wait_time(kind))).collect(),
            growth: self
                .growth(profiles, points, |counted| counted.waiting(|wait| wait.kind == kind)),
            added: pair.map(|pair| pair.added_waiting(kind)),
        };
        WaitKind::ALL.into_iter().filter(is_there).map(wait).collect()
    }

    /// Each subject against the best one at the last point that both have, and the pairs of the workload.
    fn contrasts(&self, all: &[Profiles<'a>], points: &[u64]) -> Vec<ProfileContrast> {
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
            let contrast = self.contrast(&all[first], &all[second], points);
            let is_new = |contrast: &ProfileContrast| {
                !contrasts.iter().any(|listed| {
                    (&listed.first, &listed.second) == (&contrast.first, &contrast.second)
                })
            };
            contrasts.extend(contrast.filter(is_new));
        }
        contrasts
    }

    fn contrast(
        &self,
        left: &Profiles<'a>,
        right: &Profiles<'a>,
        points: &[u64],
    ) -> Option<ProfileContrast> {
        if left.subject == right.subject {
            return None;
        }
        let at =
            (0..points.len()).rev().find(|&at| left.at[at].is_some() && right.at[at].is_some())?;
        let median = |profiles: &Profiles<'a>| {
            Some(self.timed_row(&profiles.subject)?.at(points[at])?.median)
        };
        let ratio = self.time_ratio(median(left)?, median(right)?)?;
        let (first, second, ratio) =
            if ratio.value >= 1.0 { (left, right, ratio) } else { (right, left, ratio.inverse()) };
        let (cheaper, dearer) = (first.at[at].as_ref()?, second.at[at].as_ref()?);
        let pair = Pair { first: cheaper, second: dearer, short_workers: None };
        Some(ProfileContrast {
            first: first.subject.clone(),
            second: second.subject.clone(),
            point: points[at],
            difference: pair.difference(Some(ratio)),
        })
    }
}
