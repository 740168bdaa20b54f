//! The profile pass: after the last round each subject is measured at each point once more, while its processes
//! are sampled. Only the samples of timed regions are assigned to functions, and no figure comes from it.

use crate::probe::Region;
use crate::run::Instrument;
use crate::run::cell::order;
use crate::run::keeper::Keeper;
use crate::run::progress::RunProgress;
use crate::run::samples::Pool;
use crate::run::settings::Settings;
use crate::worker::starter::Starter;
use crate::worker::supervise::{Supervised, supervise};
use model::{CellKey, FailureReason, Interner, Metric, MetricInfo, ProfilePlan, ProfiledCell, Run};
use stacks::Profiler;
use std::collections::VecDeque;
use std::time::Duration;

/// More samples a second than any kernel takes by default.
pub const PROFILE_HZ_MAX: u64 = 100_000;
/// Samples that a cell is to have in its headline, which may take a higher rate or several workers where it ends
/// by itself.
pub const PROFILE_SAMPLES_WANTED: u64 = 400;
/// A higher rate than this takes more than a few hundredths of the time that is sampled.
const HZ_MAX: u64 = 9_973;
const WORKERS_MAX: u64 = 10;

/// Whether cells can be profiled here as planned, before anything is measured.
///
/// # Errors
/// With one line: what is missing, and what fixes it.
pub fn check_profile(plan: ProfilePlan) -> Result<(), String> {
    Profiler::check().map_err(|error| error.to_string())?;
    let hz_max = hz_max();
    if plan.frequency_hz > hz_max {
        let hz = plan.frequency_hz;
        return Err(format!(
            "--profile={hz}: the kernel takes at most {hz_max} samples a second \
             (sysctl kernel.perf_event_max_sample_rate={hz} raises that)"
        ));
    }
    Ok(())
}

fn hz_max() -> u64 {
    sys::proc::setting("kernel.perf_event_max_sample_rate").unwrap_or(PROFILE_HZ_MAX)
}

/// The cells of a run that are to be profiled, in the plan's order.
pub(super) struct ProfilePass {
    waiting: VecDeque<CellKey>,
    done: u64,
    took: Duration,
}

impl ProfilePass {
    /// What is left of the pass of `run`; nothing where it is not to be profiled. A cell that failed in all
    /// rounds would again.
    pub fn new(run: &Run) -> ProfilePass {
        let keys = run.plan.measured_profiled_cells(&run.cells).into_iter();
        let waiting = keys.filter(|key| run.profile.cell(key).is_none()).collect();
        let ended = run.profile.cells.iter();
        ProfilePass {
            waiting,
            done: run.profile.cells.len() as u64,
            took: ended.map(|cell| Duration::from_nanos(cell.elapsed_ns)).sum(),
        }
    }

    /// The next cell; none on a side that is lost.
    pub fn next_key(&self, is_lost: bool) -> Option<&CellKey> {
        self.waiting.front().filter(|_| !is_lost)
    }

    pub fn progress(&self) -> RunProgress {
        let waiting = self.waiting.len() as u32;
        let left = (self.done > 0).then(|| self.took.div_f64(self.done as f64) * waiting);
        let (done, total) = (self.done, self.done + u64::from(waiting));
        RunProgress { is_profile: true, done, total, left }
    }

    /// Profiles the next cell, adds it to the run and keeps it; false when it was cut off.
    pub fn measure(
        &mut self,
        run: &mut Run,
        keeper: &mut Keeper<'_>,
        settings: &Settings,
        instrument: &mut dyn Instrument,
    ) -> bool {
        let cell = self.waiting.front().and_then(|key| instrument.profile(run, key, settings));
        let Some(cell) = cell else { return false };
        self.waiting.pop_front();
        self.done += 1;
        self.took += Duration::from_nanos(cell.elapsed_ns);
        run.profile.cells.push(cell);
        keeper.keep(run);
        true
    }
}

/// One cell, in as many workers as its samples take; none when it was cut off.
pub(super) fn profiled(
    run: &mut Run,
    key: &CellKey,
    settings: &Settings,
    starter: &Starter,
) -> Option<ProfiledCell> {
    let plan = run.plan.profile?;
    let rate = rate(run, key, plan);
    let mut interner = Interner::new(&run.profile);
    let mut pool = Pool::new(key.clone());
    let mut figures = Vec::new();
    for worker in 0..rate.workers {
        let number = run.profile.cells.len();
        let scratch = format!("knee-{}-profile-{number}-{worker}", settings.mark);
        let order = crate::worker::frame::CellOrder {
            is_profiled: true,
            measure_ms: plan.measure_ms,
            deadline_ms: deadline_ms(run, key, plan),
            ..order(&run.plan, key, settings, std::env::temp_dir().join(scratch))
        };
        let Supervised { reply, detail, elapsed, profiler, .. } =
            supervise(&order, settings, starter, Some(rate.hz))?;
        pool.cell.elapsed_ns += elapsed.as_nanos() as u64;
        let (regions, metrics) = match reply {
            Ok(reply) => (reply.regions, reply.metrics),
            Err(reason) => return Some(pool.failed(reason, detail)),
        };
        figures.extend(headline_samples(run, key, &metrics));
        if let Some(reason) = without_regions(run, key, &regions) {
            return Some(pool.failed(reason, String::new()));
        }
        let wanted = |begin_ns, end_ns| regions.iter().any(|region| region.meets(begin_ns, end_ns));
        if let Some(profiler) = profiler {
            let sampled = profiler.finish(&wanted);
            pool.add(&regions, &sampled, &mut run.profile, &mut interner);
            pool.cell.samples_outside += sampled.unwanted;
        }
    }
    let cell = pool.finish();
    Some(ProfiledCell { slow_down: slow_down(run, key, figures), ..cell })
}

/// Time of an operation of which these are the figures, over that in the timed rounds.
fn slow_down(run: &Run, key: &CellKey, figures: Vec<f64>) -> Option<f64> {
    let cells = run.cells.iter().filter(|cell| cell.key.in_first_round() == *key);
    let timed = cells.flat_map(|cell| headline_samples(run, key, &cell.metrics)).collect();
    let (sampled, timed) = (median(figures)?, median(timed)?);
    let ratio = if headline(run, key)?.lower_is_better { sampled / timed } else { timed / sampled };
    (ratio.is_finite() && ratio > 0.0).then_some(ratio)
}

fn headline_samples(run: &Run, key: &CellKey, metrics: &[Metric]) -> Vec<f64> {
    let headline = headline(run, key);
    let is_headline = |metric: &&Metric| headline.is_some_and(|info| info.name == metric.name);
    metrics.iter().filter(is_headline).flat_map(|metric| metric.samples.iter().copied()).collect()
}

fn median(mut values: Vec<f64>) -> Option<f64> {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied()
}

/// Why what a worker replied can't be profiled: nothing says when its headline was timed.
fn without_regions(run: &Run, key: &CellKey, regions: &[Region]) -> Option<FailureReason> {
    let headline = &headline(run, key)?.name;
    let is_timed = regions.iter().any(|region| region.metric == *headline);
    let message = format!(
        "the worker does not say when it timed {headline}: it may be an older knee, which can't be profiled"
    );
    (!is_timed).then_some(FailureReason::CheckFailed { message })
}

fn headline<'a>(run: &'a Run, key: &CellKey) -> Option<&'a MetricInfo> {
    run.plan.workload(&key.workload)?.headline(&key.subject)
}

/// A worker that has not ended by then is killed: that of the rounds, and more by what it measures longer.
fn deadline_ms(run: &Run, key: &CellKey, plan: ProfilePlan) -> u64 {
    let longer_ms = 10 * plan.measure_ms.saturating_sub(run.plan.measure_ms);
    run.plan.cell_deadline_ms(&key.workload) + longer_ms
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Rate {
    hz: u64,
    workers: u64,
}

/// At the plan's rate, unless the cell measures something whole that ended sooner in the timed rounds than that
/// takes for [`PROFILE_SAMPLES_WANTED`].
fn rate(run: &Run, key: &CellKey, plan: ProfilePlan) -> Rate {
    let info = run.plan.workload(&key.workload);
    let is_whole = info.is_some_and(|info| info.trajectory || info.averages);
    let timed_ns = is_whole.then(|| timed_ns(run, key)).flatten();
    let rate = timed_ns
        .map_or(Rate { hz: plan.frequency_hz, workers: 1 }, |ns| rate_for(ns, plan.frequency_hz));
    // The kernel may have lowered its maximum since the plan was made.
    Rate { hz: rate.hz.min(hz_max()), ..rate }
}

/// For what takes so long.
fn rate_for(timed_ns: f64, hz: u64) -> Rate {
    let timed_s = timed_ns.max(1.0) / 1e9;
    let wanted = PROFILE_SAMPLES_WANTED as f64;
    let hz = hz.max((wanted / timed_s).min(HZ_MAX as f64) as u64);
    let workers = (wanted / 2.0 / (timed_s * hz as f64)).ceil() as u64;
    Rate { hz, workers: workers.clamp(1, WORKERS_MAX) }
}

/// What the headline of a cell took in all of a timed round: the median.
fn timed_ns(run: &Run, key: &CellKey) -> Option<f64> {
    let headline = headline(run, key)?;
    let cells = run.cells.iter().filter(|cell| cell.key.in_first_round() == *key);
    let metrics =
        cells.flat_map(|cell| &cell.metrics).filter(|metric| metric.name == headline.name);
    let is_time = headline.unit == "ns";
    // The worker made a rate of nanoseconds, of which each is for one operation.
    let ns = |sample: &f64| if is_time { *sample } else { 1e9 / sample.max(1e-9) };
    let sum_ns = |metric: &Metric| metric.samples.iter().map(ns).sum::<f64>();
    median(metrics.map(sum_ns).filter(|sum| *sum > 0.0).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slow_down_is_one_of_times_and_of_rates() {
        let key = CellKey { workload: "w".into(), subject: "s".into(), ..CellKey::default() };
        let run = |info: MetricInfo, samples: &[f64]| {
            let metric = Metric { name: "m".into(), samples: samples.into(), ..Metric::default() };
            let mut run = Run::default();
            run.plan.workloads.push(model::WorkloadInfo {
                name: "w".into(),
                metrics: vec![info],
                ..model::WorkloadInfo::default()
            });
            let cell_key = CellKey { round: 3, ..key.clone() };
            let metrics = vec![metric];
            run.cells.push(model::Cell { key: cell_key, metrics, ..model::Cell::default() });
            run
        };
        let time = run(MetricInfo::time("m", ""), &[90.0, 100.0, 500.0]);
        assert_eq!(slow_down(&time, &key, vec![110.0, 130.0, 120.0]), Some(1.2));
        let rate = run(MetricInfo::more("m", "", "/s"), &[120.0]);
        assert_eq!(slow_down(&rate, &key, vec![100.0]), Some(1.2));
        assert_eq!(slow_down(&rate, &key, vec![0.0]), None);
        assert_eq!(slow_down(&rate, &key, Vec::new()), None);
    }

    #[test]
    fn what_ends_sooner_is_sampled_more_often_and_in_several_workers() {
        let rate = |seconds: f64| {
            let Rate { hz, workers } = rate_for(seconds * 1e9, 997);
            (hz, workers)
        };
        assert_eq!(rate(10.0), (997, 1));
        assert_eq!(rate(0.2), (2_000, 1));
        assert_eq!(rate(0.02), (9_973, 2));
        assert_eq!(rate(1e-3), (9_973, 10));
        assert_eq!(rate(0.0), (9_973, 10));
    }
}
