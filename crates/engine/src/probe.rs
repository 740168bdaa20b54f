//! The probe: the only thing that reads a clock while a workload runs.
//!
//! It serves two shapes. *Steady*: at a point, the operation is repeated in batches, and each batch
//! gives one sample, the mean of its operations ([`Probe::steady`], [`Probe::batch`]); where only a
//! part of the operation counts, each repetition is a sample of its own ([`Probe::part`]).
//! *Trajectory*: the n-th operation is timed on its own while the state builds up, so that one pass
//! gives the whole axis ([`Probe::trajectory`]).
//!
//! Batches are sized so that the clock is under 1 % of each. Where an operation is timed on its own,
//! the measured cost of a reading is taken off.

mod regions;

pub(crate) use regions::Region;

use crate::calibrate::Calibrated;
use crate::worker::frame::announce_process;
use crate::workload::Failure;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use hdrhistogram::serialization::{Serializer, V2DeflateSerializer};
use hdrhistogram::{Counter, Histogram};
use model::{Fact, Metric, MetricInfo, Usage};
use regions::Regions;
use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, Write};
use std::time::Duration;
use sys::clock::Clock;
use sys::process::{Resources, is_cpu_time_split, resources};

/// More samples than this in a cell make the record larger and no interval narrower: batches grow
/// instead.
const SAMPLES_MAX: usize = 200;
/// Fewer samples than this say nothing about spread: a slow operation may overrun its time for them.
const SAMPLES_MIN: usize = 5;

/// Figures of one metric that a profiled cell goes on for: its reply takes no more ranges.
const RANGES_MAX: usize = 200_000;

/// Measures within one cell.
#[derive(Debug)]
pub struct Probe {
    clock: Calibrated,
    measure_ns: f64,
    metrics: Vec<Metric>,
    /// Names of those whose figures were [given](Probe::given).
    given: BTreeSet<String>,
    facts: BTreeMap<String, Fact>,
    /// Time between two readings of the clock around operations.
    timed_ns: f64,
    /// The last of these readings.
    timed_until: u64,
    /// What was timed when; absent where the cell is not profiled.
    regions: Option<Regions>,
}

#[derive(Debug, Default)]
pub(crate) struct Measured {
    pub timed_ns: u64,
    pub metrics: Vec<Metric>,
    pub facts: BTreeMap<String, Fact>,
    pub regions: Vec<Region>,
}

impl Probe {
    pub(crate) fn new(clock: Calibrated, measure_ms: u64) -> Probe {
        let measure_ns = measure_ms as f64 * 1e6;
        let (metrics, given, facts) = Default::default();
        Probe {
            clock,
            measure_ns,
            metrics,
            given,
            facts,
            timed_ns: 0.0,
            timed_until: 0,
            regions: None,
        }
    }

    /// The same for a cell that is profiled, at this point: the far end of its positions where it is a
    /// trajectory.
    pub(crate) fn profiled(self, point: u64, is_trajectory: bool) -> Probe {
        let regions = Some(Regions::new(self.clock.clock, point, is_trajectory));
        Probe { regions, ..self }
    }

    /// All that was measured and stated. What was timed as nanoseconds an operation becomes operations a second where
    /// the metric is `declared` in another unit.
    pub(crate) fn finish(mut self, declared: &[MetricInfo]) -> Measured {
        for metric in &mut self.metrics {
            let info = declared.iter().find(|info| info.name == metric.name);
            if info.is_some_and(|info| info.unit != "ns") && !self.given.contains(&metric.name) {
                metric.samples.iter_mut().for_each(|sample| *sample = 1e9 / *sample);
            }
        }
        let regions = self.regions.map(Regions::finish).unwrap_or_default();
        let (timed_ns, metrics, facts) = (self.timed_ns as u64, self.metrics, self.facts);
        Measured { timed_ns, metrics, facts, regions }
    }

    /// Says that `operations` of `metric`, whose figure is [given](Probe::given), were timed between two
    /// readings of [this clock](Probe::clock). A profile counts the samples of this time.
    pub fn region(&mut self, metric: &str, begin: u64, end: u64, operations: u64) {
        // Several metrics may be of one time.
        let from = begin.max(self.timed_until);
        if end > from {
            self.timed_ns += self.clock.clock.ns(from, end);
            self.timed_until = end;
        }
        if let Some(regions) = &mut self.regions {
            regions.add(metric, None, (begin, end), operations);
        }
    }

    /// Says that these processes, which the cell did not start, do what it measures: their CPU time is the run's own, and a
    /// profile samples them too.
    pub fn measures_processes(&self, pids: &[i32]) {
        for &pid in pids {
            // No process listens where this one has no parent any more: then it ends.
            let _ = io::stdout().write_all(&announce_process(pid));
        }
        let _ = io::stdout().flush();
    }

    /// States something about this cell that a reader has to know: `parked peers` is 9000.
    pub fn fact(&mut self, name: &str, value: impl Into<Fact>) {
        self.facts.insert(name.into(), value.into());
    }

    /// Steady: repeats `operation` in batches until the time for one metric is spent. `check` runs
    /// after each batch, outside the timed region, with the operations of that batch; its failure
    /// fails the cell.
    pub fn steady<S>(
        &mut self,
        metric: &str,
        state: &mut S,
        mut operation: impl FnMut(&mut S) -> Result<(), Failure>,
        check: impl FnMut(&mut S, u64) -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        self.steady_turns(metric, state, |state| operation(state).map(|()| 1), check)
    }

    /// Steady, where one turn does several operations: `turn` says how many. A sample is the mean
    /// over the operations of a batch of turns, and `check` gets the number of its operations.
    pub fn steady_turns<S>(
        &mut self,
        metric: &str,
        state: &mut S,
        mut turn: impl FnMut(&mut S) -> Result<u64, Failure>,
        mut check: impl FnMut(&mut S, u64) -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        let turns = self.batch_size(state, &mut turn, &mut check)?;
        let start = self.clock.clock.now();
        let mut samples = 0;
        while self.wants_more(samples, start) {
            let operations = self.batch_of(metric, || repeat(turns, state, &mut turn))?;
            check(state, operations)?;
            samples += 1;
        }
        Ok(())
    }

    /// Steady: times `body`, which does `operations` operations, as one batch: one sample. Call it
    /// again for more samples of the same metric.
    pub fn batch(
        &mut self,
        metric: &str,
        operations: u64,
        body: impl FnOnce() -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        self.batch_of(metric, || body().map(|()| operations)).map(drop)
    }

    /// As [`Probe::batch`], where `body` says how many operations it did; returns them.
    fn batch_of(
        &mut self,
        metric: &str,
        body: impl FnOnce() -> Result<u64, Failure>,
    ) -> Result<u64, Failure> {
        let clock = self.clock.clock;
        let before = resources();
        let start = clock.now();
        let operations = body()?;
        let end = clock.now();
        let after = resources();
        let sample = clock.ns(start, end) / operations.max(1) as f64;
        self.region(metric, start, end, operations);
        let metric = self.metric(metric);
        metric.samples.push(sample);
        metric.operations += operations;
        add_usage(&mut metric.usage, &before, &after);
        Ok(operations)
    }

    /// The CPU time of `metric` per operation so far, as one sample of each of two other metrics, where it is long enough
    /// for both.
    pub fn cpu(&mut self, metric: &str, user: &str, system: &str) {
        let Metric { operations, usage, .. } = self.metric(metric).clone();
        if !self.has_cpu_split(usage.user_ns + usage.system_ns, 1) {
            return;
        }
        let parts = [(user, usage.user_ns), (system, usage.system_ns)];
        for (name, ns) in parts.into_iter().filter(|_| operations > 0) {
            let metric = self.metric(name);
            metric.samples.push(ns as f64 / operations as f64);
            metric.operations += operations;
        }
    }

    /// Whether so much CPU time of so many processes has a split between user mode and the kernel; states it where not.
    pub fn has_cpu_split(&mut self, cpu_ns: u64, processes: u64) -> bool {
        let is_split = is_cpu_time_split(cpu_ns, processes);
        if !is_split {
            self.fact("user and system CPU", "not measured: too few ticks of the kernel");
        }
        is_split
    }

    /// Steady: repeats `operation` until the time is spent, and counts only the part of each that
    /// it brackets with the [`Stopwatch`]: one sample a repetition.
    pub fn part<S>(
        &mut self,
        metric: &str,
        state: &mut S,
        mut operation: impl FnMut(&mut S, &mut Stopwatch) -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        self.part_turns(metric, state, |state, watch| operation(state, watch).map(|()| 1))
    }

    /// As [`Probe::part`], where what is counted of one turn is several operations: `turn` says how many. A sample
    /// is their mean.
    pub fn part_turns<S>(
        &mut self,
        metric: &str,
        state: &mut S,
        mut turn: impl FnMut(&mut S, &mut Stopwatch) -> Result<u64, Failure>,
    ) -> Result<(), Failure> {
        let mut watch = Stopwatch::new(self.clock);
        turn(state, &mut watch)?;
        watch.ranges = self.regions.as_ref().map(|_| Vec::new());
        let start = self.clock.clock.now();
        let (mut samples, mut operations, before) = (Vec::new(), 0, resources());
        while self.wants_more(samples.len(), start) {
            watch.counted_ns = 0.0;
            let done = turn(state, &mut watch)?;
            operations += done;
            self.timed_ns += watch.counted_ns.max(0.0);
            samples.push(watch.counted_ns.max(0.0) / done.max(1) as f64);
        }
        let after = resources();
        if let Some(regions) = &mut self.regions {
            for range in watch.ranges.unwrap_or_default() {
                regions.add(metric, None, range, 0);
            }
            regions.add_operations(metric, operations);
        }
        let metric = self.metric(metric);
        metric.operations += operations;
        metric.samples.append(&mut samples);
        // The part that does not count is in these figures too: they bound the cost from above.
        add_usage(&mut metric.usage, &before, &after);
        Ok(())
    }

    /// Trajectory: times each of `count` operations on its own; the n-th, counted from 1, gives the
    /// sample at position n.
    ///
    /// A failure ends it; what was measured before is kept.
    pub fn trajectory(
        &mut self,
        metric: &str,
        count: u64,
        operation: impl FnMut(u64) -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        self.along(metric, count, |done| done + 1, operation)
    }

    /// Trajectory backwards: the state was built up to `count` and is taken down. The sample of the
    /// operation that finds n still there is at position n.
    pub fn countdown(
        &mut self,
        metric: &str,
        count: u64,
        operation: impl FnMut(u64) -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        self.along(metric, count, |done| count - done, operation)
    }

    fn along(
        &mut self,
        metric: &str,
        count: u64,
        position_after: impl Fn(u64) -> u64,
        mut operation: impl FnMut(u64) -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        let clock = self.clock;
        // Full capacity now: a vector that grows would do so between two samples.
        let mut samples = Vec::with_capacity(count as usize);
        let mut positions = Vec::with_capacity(count as usize);
        let mut ranges = self.regions.as_ref().map(|_| Vec::with_capacity(count as usize));
        let before = resources();
        let mut outcome = Ok(());
        for position in (0..count).map(position_after) {
            let start = clock.clock.now();
            outcome = operation(position);
            let end = clock.clock.now();
            if outcome.is_err() {
                break;
            }
            samples.push(clock.single_ns(start, end));
            self.timed_ns += samples[samples.len() - 1];
            positions.push(position);
            if let Some(ranges) = &mut ranges {
                ranges.push((start, end));
            }
        }
        let after = resources();
        if let (Some(regions), Some(ranges)) = (&mut self.regions, ranges) {
            for (&position, range) in positions.iter().zip(ranges) {
                regions.add(metric, Some(position), range, 1);
            }
        }
        self.keep(metric, samples, positions);
        add_usage(&mut self.metric(metric).usage, &before, &after);
        outcome
    }

    /// Trajectory of an operation in several parts, each a metric of its own: `operation` times the
    /// parts with [`Laps::time`], by their index in `parts`; what it does besides is not timed.
    /// The metric `sum` gets the sum of the parts.
    pub fn trajectory_in_parts(
        &mut self,
        count: u64,
        parts: &[&str],
        sum: Option<&str>,
        operation: impl FnMut(u64, &mut Laps) -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        self.trajectory_at(&(1..=count).collect::<Vec<u64>>(), parts, sum, operation)
    }

    /// As [`Probe::trajectory_in_parts`], at these positions only, one operation each: a position may come
    /// more than once.
    pub fn trajectory_at(
        &mut self,
        positions: &[u64],
        parts: &[&str],
        sum: Option<&str>,
        mut operation: impl FnMut(u64, &mut Laps) -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        let mut columns: Vec<Vec<f64>> =
            parts.iter().map(|_| Vec::with_capacity(positions.len())).collect();
        let mut laps = Laps { clock: self.clock, ns: vec![0.0; parts.len()], ranges: None };
        laps.ranges = self.regions.as_ref().map(|_| Vec::new());
        let (mut done, mut outcome) = (0, Ok(()));
        let before = resources();
        while done < positions.len() && outcome.is_ok() {
            laps.ns.fill(0.0);
            outcome = operation(positions[done], &mut laps);
            if outcome.is_ok() {
                self.add_laps(positions[done], &mut laps, parts, sum);
                self.timed_ns += laps.ns.iter().sum::<f64>();
                done += 1;
                columns.iter_mut().zip(&laps.ns).for_each(|(column, &ns)| column.push(ns));
            }
        }
        let after = resources();
        let positions = &positions[..done];
        if let Some(sum) = sum {
            let total = |n: usize| columns.iter().map(|column| column[n]).sum();
            let sums = (0..done).map(total).collect();
            self.keep(sum, sums, positions.into());
            add_usage(&mut self.metric(sum).usage, &before, &after);
        }
        for (part, column) in parts.iter().zip(columns) {
            self.keep(part, column, positions.into());
        }
        outcome
    }

    fn add_laps(&mut self, position: u64, laps: &mut Laps, parts: &[&str], sum: Option<&str>) {
        let (Some(regions), Some(ranges)) = (&mut self.regions, &mut laps.ranges) else { return };
        let mut operations = 1;
        for (index, range) in ranges.drain(..) {
            regions.add(parts[index], Some(position), range, 1);
            if let Some(sum) = sum {
                regions.add(sum, Some(position), range, operations);
                operations = 0;
            }
        }
    }

    /// Trajectory of an operation that another process timed, by [this clock](Probe::clock): for
    /// programs that must not contain this one, such as a small parent that forks.
    pub fn stamped(&mut self, metric: &str, stamps: &[Stamp]) {
        let ns = |stamp: &Stamp| self.clock.single_ns(stamp.before, stamp.after);
        self.timed_ns += stamps.iter().map(ns).sum::<f64>();
        let positions = stamps.iter().map(|stamp| stamp.position).collect();
        if let Some(regions) = &mut self.regions {
            for &Stamp { position, before, after } in stamps {
                regions.add(metric, Some(position), (before, after), 1);
            }
        }
        self.keep(metric, stamps.iter().map(ns).collect(), positions);
    }

    /// Figures that were counted elsewhere, such as by a load generator over intervals of its own, in the metric's
    /// unit. `operations` is how many there were in all of them together.
    pub fn given(&mut self, metric: &str, figures: &[f64], operations: u64) {
        self.given.insert(metric.into());
        let metric = self.metric(metric);
        metric.samples.extend_from_slice(figures);
        metric.operations += operations;
    }

    /// Keeps every single operation's time in nanoseconds with the figures of a metric that are quantiles
    /// of them.
    pub fn histogram<C: Counter>(&mut self, metric: &str, histogram: &Histogram<C>) {
        self.metric(metric).histogram = packed(histogram);
    }

    /// The time that one metric of this cell is to be measured for.
    pub fn time(&self) -> Duration {
        Duration::from_nanos(self.measure_ns as u64)
    }

    /// The clock that times this cell.
    pub fn clock(&self) -> Clock {
        self.clock.clock
    }

    /// What a reading of that clock costs, in nanoseconds: to be taken off where an operation is timed on
    /// its own.
    pub fn overhead_ns(&self) -> f64 {
        self.clock.overhead_ns
    }

    fn keep(&mut self, metric: &str, mut samples: Vec<f64>, mut positions: Vec<u64>) {
        debug_assert_eq!(samples.len(), positions.len(), "each sample has its position");
        debug_assert!(samples.iter().all(|ns| *ns >= 0.0), "no operation takes less than nothing");
        let metric = self.metric(metric);
        metric.operations += samples.len() as u64;
        metric.samples.append(&mut samples);
        metric.positions.append(&mut positions);
    }

    /// The turns of one batch: enough that the clock is under 1 % of it, and that the batches
    /// fill the time with no more samples than are wanted. What is timed here is warm-up.
    fn batch_size<S>(
        &self,
        state: &mut S,
        turn: &mut impl FnMut(&mut S) -> Result<u64, Failure>,
        check: &mut impl FnMut(&mut S, u64) -> Result<(), Failure>,
    ) -> Result<u64, Failure> {
        let clock = self.clock.clock;
        let wanted_ns = self.clock.batch_ns_min().max(self.measure_ns / SAMPLES_MAX as f64);
        let mut turns = 1_u64;
        loop {
            let mut took_ns = f64::INFINITY;
            // The faster of two: one that was interrupted would make every batch too short.
            for _ in 0..2 {
                let start = clock.now();
                let operations = repeat(turns, state, turn)?;
                took_ns = took_ns.min(clock.ns(start, clock.now()).max(1.0));
                check(state, operations)?;
            }
            let scale = wanted_ns / took_ns;
            if scale <= 2.0 {
                return Ok(((turns as f64 * scale).ceil() as u64).max(1));
            }
            // A first batch that was slow by accident must not set the size: approach in steps.
            turns = (turns as f64 * scale.min(10.0)).ceil() as u64;
        }
    }

    fn wants_more(&self, samples: usize, start: u64) -> bool {
        let spent_ns = self.clock.clock.ns(start, self.clock.clock.now());
        // A profile has samples of the time, however many figures that gives.
        let samples_max = if self.regions.is_some() { RANGES_MAX } else { SAMPLES_MAX };
        samples < SAMPLES_MIN || (samples < samples_max && spent_ns < self.measure_ns)
    }

    fn metric(&mut self, name: &str) -> &mut Metric {
        let index = self.metrics.iter().position(|metric| metric.name == name);
        let index = index.unwrap_or_else(|| {
            self.metrics.push(Metric { name: name.into(), ..Metric::default() });
            self.metrics.len() - 1
        });
        &mut self.metrics[index]
    }
}

#[inline]
fn repeat<S>(
    turns: u64,
    state: &mut S,
    turn: &mut impl FnMut(&mut S) -> Result<u64, Failure>,
) -> Result<u64, Failure> {
    let mut operations = 0;
    for _ in 0..turns {
        operations += turn(state)?;
    }
    Ok(operations)
}

/// One operation that another process timed: readings of the clock around it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stamp {
    /// Its position on the axis.
    pub position: u64,
    /// The clock before it.
    pub before: u64,
    /// The clock after it.
    pub after: u64,
}

/// Times the parts of one operation.
#[derive(Debug)]
pub struct Laps {
    clock: Calibrated,
    ns: Vec<f64>,
    /// When each part was timed, by its index; absent where the cell is not profiled.
    ranges: Option<Vec<(usize, (u64, u64))>>,
}

impl Laps {
    /// Does `part` and adds its time to the metric with this index.
    #[inline]
    pub fn time<T>(&mut self, index: usize, part: impl FnOnce() -> T) -> T {
        let start = self.clock.clock.now();
        let result = part();
        let end = self.clock.clock.now();
        self.ns[index] += self.clock.single_ns(start, end);
        if let Some(ranges) = &mut self.ranges {
            ranges.push((index, (start, end)));
        }
        result
    }
}

/// Counts only what stands between its `start` and `stop`.
#[derive(Debug)]
pub struct Stopwatch {
    clock: Calibrated,
    started: u64,
    counted_ns: f64,
    /// What was counted when; absent where the cell is not profiled.
    ranges: Option<Vec<(u64, u64)>>,
}

impl Stopwatch {
    fn new(clock: Calibrated) -> Stopwatch {
        Stopwatch { clock, started: 0, counted_ns: 0.0, ranges: None }
    }

    /// What follows counts.
    #[inline]
    pub fn start(&mut self) {
        self.started = self.clock.clock.now();
    }

    /// What follows doesn't count any more.
    #[inline]
    pub fn stop(&mut self) {
        let end = self.clock.clock.now();
        self.counted_ns += self.clock.clock.ns(self.started, end) - self.clock.overhead_ns;
        if let Some(ranges) = &mut self.ranges {
            ranges.push((self.started, end));
        }
    }
}

fn add_usage(usage: &mut Usage, before: &Resources, after: &Resources) {
    let used = after.since(before);
    usage.user_ns += used.user_ns;
    usage.system_ns += used.system_ns;
    usage.switches_voluntary += used.switches_voluntary;
    usage.switches_involuntary += used.switches_involuntary;
    usage.faults_minor += used.faults_minor;
    usage.faults_major += used.faults_major;
}

/// A histogram as the record keeps it: V2, deflated, in base 64.
pub fn packed<C: Counter>(histogram: &Histogram<C>) -> String {
    let mut bytes = Vec::new();
    // Writing to memory does not fail.
    let _ = V2DeflateSerializer::new().serialize(histogram, &mut bytes);
    STANDARD.encode(bytes)
}

pub(crate) fn usage(resources: &Resources) -> Usage {
    let mut usage = Usage::default();
    add_usage(&mut usage, &Resources::default(), resources);
    usage
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::calibrate;

    fn probe() -> Probe {
        Probe::new(calibrate(), 2)
    }

    #[test]
    fn steady_checks_every_batch_and_counts_only_the_samples() {
        let mut probe = probe();
        let (mut done, mut checked) = (0_u64, 0_u64);
        let operation = |done: &mut u64| {
            *done += 1;
            Ok(())
        };
        probe
            .steady("loop", &mut done, operation, |_, operations| {
                checked += operations;
                Ok(())
            })
            .unwrap();
        let metrics = probe.finish(&[]).metrics;
        assert_eq!(done, checked, "each operation was checked once");
        assert!(metrics[0].operations < done, "warm-up is not counted");
        assert!((SAMPLES_MIN..=SAMPLES_MAX).contains(&metrics[0].samples.len()));
    }

    #[test]
    fn the_clock_is_under_one_percent_of_a_batch() {
        let mut probe = probe();
        let spin = |n: &mut u64| {
            *n = std::hint::black_box(*n + 1);
            Ok(())
        };
        probe.steady("loop", &mut 0_u64, spin, |_, _| Ok(())).unwrap();
        let per_batch = probe.metrics[0].operations / probe.metrics[0].samples.len() as u64;
        let mut samples = probe.metrics[0].samples.clone();
        samples.sort_by(f64::total_cmp);
        let batch_ns = samples[samples.len() / 2] * per_batch as f64;
        // The size was chosen from a warm-up that may have been disturbed; half is certain enough.
        assert!(batch_ns > 0.5 * probe.clock.batch_ns_min(), "{batch_ns} ns for {per_batch}");
    }

    #[test]
    fn a_failed_check_fails_the_cell() {
        let lost = |(): &mut (), _| Err(Failure::new("lost an event"));
        let failure = probe().steady("loop", &mut (), |()| Ok(()), lost).unwrap_err();
        assert_eq!(failure.to_string(), "lost an event");
    }

    #[test]
    fn a_trajectory_has_one_sample_for_each_operation_in_order() {
        let mut probe = probe();
        let mut seen = Vec::new();
        probe
            .trajectory("socket", 100, |n| {
                seen.push(n);
                Ok(())
            })
            .unwrap();
        let metric = &probe.metrics[0];
        assert_eq!(metric.positions, (1..=100).collect::<Vec<u64>>());
        assert_eq!(seen, metric.positions);
        assert_eq!(metric.samples.len(), 100);
    }

    #[test]
    fn a_countdown_stands_at_what_is_left() {
        let mut probe = probe();
        probe.countdown("close", 3, |_| Ok(())).unwrap();
        assert_eq!(probe.metrics[0].positions, [3, 2, 1]);
    }

    #[test]
    fn what_was_measured_before_a_failure_is_kept() {
        let mut probe = probe();
        let shortage = || Failure::ran_out("fork", "no more", ("7 of 7".into(), "buy some".into()));
        let ran_out = |n| if n > 7 { Err(shortage()) } else { Ok(()) };
        let failure = probe.trajectory("fork", 20, ran_out).unwrap_err();
        assert_eq!(failure, shortage());
        assert_eq!(failure.to_string(), "fork: no more; 7 of 7");
        let in_parts = |n, laps: &mut Laps| {
            laps.time(0, || ran_out(n))?;
            laps.time(1, || ran_out(n + 1))
        };
        assert!(probe.trajectory_in_parts(20, &["open", "map"], Some("file"), in_parts).is_err());
        let lengths =
            probe.metrics.iter().map(|metric| (metric.name.as_str(), metric.samples.len()));
        assert_eq!(
            lengths.collect::<Vec<_>>(),
            [("fork", 7), ("file", 6), ("open", 6), ("map", 6)],
            "a whole operation or none of it"
        );
    }

    #[test]
    fn the_sum_of_parts_is_their_sum_and_what_stands_between_is_not_timed() {
        let mut probe = probe();
        let clock = probe.clock();
        let in_parts = |_, laps: &mut Laps| {
            laps.time(1, || ());
            let start = clock.now();
            while clock.ns(start, clock.now()) < 1e6 {}
            laps.time(0, || ());
            Ok(())
        };
        probe.trajectory_in_parts(50, &["a", "b"], Some("both"), in_parts).unwrap();
        let metric =
            |name: &str| &probe.metrics.iter().find(|metric| metric.name == name).unwrap().samples;
        for n in 0..50 {
            assert!((metric("both")[n] - metric("a")[n] - metric("b")[n]).abs() < 0.01);
        }
        let mut sums = metric("both").clone();
        sums.sort_by(f64::total_cmp);
        assert!(sums[25] < 0.5e6, "the millisecond between them was counted: {sums:?}");
    }

    #[test]
    fn a_trajectory_may_stop_at_places_several_times() {
        let mut probe = probe();
        let at = |position, laps: &mut Laps| {
            laps.time(0, || if position > 20 { Err(Failure::new("no more")) } else { Ok(()) })
        };
        assert!(probe.trajectory_at(&[10, 10, 20, 20, 25], &["request"], None, at).is_err());
        assert_eq!(probe.metrics[0].positions, [10, 10, 20, 20]);
        assert_eq!((probe.metrics[0].samples.len(), probe.metrics[0].operations), (4, 4));
    }

    #[test]
    fn stamps_of_another_process_are_samples_at_their_places() {
        let mut probe = probe();
        let stamp = |position, before| Stamp { position, before, after: before + 1_000_000 };
        probe.stamped("reap", &[stamp(2, 5), stamp(1, 9)]);
        let metric = &probe.metrics[0];
        assert_eq!((metric.positions.as_slice(), metric.operations), (&[2, 1][..], 2));
        let took_ns = probe.clock().ns(0, 1_000_000) - probe.clock.overhead_ns;
        assert!(metric.samples.iter().all(|ns| (ns - took_ns).abs() < 0.01), "{metric:?}");
    }

    #[test]
    fn given_figures_are_kept_as_they_are() {
        let mut probe = probe();
        probe.given("memory", &[512.0], 1_000);
        probe.given("memory", &[640.0, 0.0], 2_000);
        let metric = &probe.metrics[0];
        assert_eq!(
            (metric.samples.as_slice(), metric.operations),
            (&[512.0, 640.0, 0.0][..], 3_000)
        );
        assert_eq!(probe.time(), Duration::from_millis(2));
    }

    #[test]
    fn a_part_counts_only_between_start_and_stop() {
        let mut probe = probe();
        let mut outside_ns = 0.0;
        let clock = probe.clock.clock;
        probe
            .part("wait", &mut (), |(), watch| {
                watch.start();
                watch.stop();
                let start = clock.now();
                while clock.ns(start, clock.now()) < 50_000.0 {}
                outside_ns += clock.ns(start, clock.now());
                Ok(())
            })
            .unwrap();
        let mut samples = probe.metrics[0].samples.clone();
        samples.sort_by(f64::total_cmp);
        // Every repetition spent 50 µs outside; a median of that size would mean it was counted.
        assert!(samples[samples.len() / 2] < 25_000.0, "{samples:?} of {outside_ns} ns outside");
    }

    #[test]
    fn a_part_of_several_operations_is_their_mean() {
        let mut probe = probe();
        let clock = probe.clock.clock;
        let turn = |(): &mut (), watch: &mut Stopwatch| {
            watch.start();
            let start = clock.now();
            while clock.ns(start, clock.now()) < 100_000.0 {}
            watch.stop();
            Ok(100)
        };
        probe.part_turns("fault", &mut (), turn).unwrap();
        let Metric { samples, operations, .. } = probe.metrics[0].clone();
        assert_eq!(operations, 100 * samples.len() as u64);
        // 100 µs for a hundred: at least nearly 1 µs each.
        assert!(samples.iter().all(|ns| *ns >= 990.0), "{samples:?}");
        assert!(samples.iter().any(|ns| *ns < 50_000.0), "{samples:?}");
    }

    /// Metric, position, operations and ranges of all that a profiled cell timed.
    fn regions(probe: Probe) -> Vec<(String, u64, u64, usize)> {
        let regions = probe.finish(&[]).regions.into_iter();
        regions
            .map(|region| (region.metric, region.position, region.operations, region.ranges.len()))
            .collect()
    }

    #[test]
    fn time_that_several_metrics_are_of_counts_once() {
        let mut probe = probe();
        for (metric, begin, end) in [("elapsed", 10, 30), ("user", 10, 30), ("elapsed", 20, 50)] {
            probe.region(metric, begin, end, 1);
        }
        let (clock, timed_ns) = (probe.clock(), probe.finish(&[]).timed_ns);
        assert_eq!(timed_ns, (clock.ns(10, 30) + clock.ns(30, 50)) as u64);
    }

    #[test]
    fn a_trajectory_was_timed_for_the_sum_of_its_samples() {
        let mut probe = probe();
        probe.trajectory("socket", 100, |_| Ok(())).unwrap();
        let sum: f64 = probe.metrics[0].samples.iter().sum();
        assert_eq!(probe.finish(&[]).timed_ns, sum as u64);
    }

    #[test]
    fn a_profiled_cell_says_when_it_timed_what() {
        let mut probe = probe().profiled(7, false);
        probe.steady("loop", &mut (), |()| Ok(()), |(), _| Ok(())).unwrap();
        probe
            .part("wait", &mut (), |(), watch| {
                watch.start();
                watch.stop();
                std::thread::yield_now();
                Ok(())
            })
            .unwrap();
        let (now, operations) = (probe.clock().now(), probe.metrics[0].operations);
        probe.region("given", now, now + 1, 12);
        let waits = probe.metrics[1].operations;
        let rows = regions(probe);
        let at: Vec<(&str, u64, u64)> = rows
            .iter()
            .map(|(metric, position, operations, _)| (metric.as_str(), *position, *operations))
            .collect();
        assert_eq!(at, [("loop", 7, operations), ("wait", 7, waits), ("given", 7, 12)]);
        assert!(rows.iter().all(|(.., ranges)| *ranges > 0), "{rows:?}");
    }

    #[test]
    fn a_profiled_trajectory_is_in_stretches_and_its_sum_is_of_all_parts() {
        let mut probe = probe().profiled(20, true);
        probe.trajectory("open", 20, |_| Ok(())).unwrap();
        let in_parts = |_, laps: &mut Laps| {
            laps.time(0, || ());
            laps.time(1, || Ok(()))
        };
        probe.trajectory_in_parts(20, &["a", "b"], Some("both"), in_parts).unwrap();
        let stamp = |position| Stamp { position, before: 0, after: 1 };
        probe.stamped("fork", &[stamp(3), stamp(20)]);
        let rows = regions(probe);
        for metric in ["open", "a", "b", "both"] {
            let of_metric = rows.iter().filter(|(name, ..)| name == metric);
            let stretches: Vec<(u64, u64)> =
                of_metric.map(|&(_, position, operations, _)| (position, operations)).collect();
            assert_eq!(stretches, [(1, 1), (2, 1), (5, 3), (10, 5), (20, 10)], "{metric}");
        }
        let forks: Vec<u64> = rows.iter().filter(|row| row.0 == "fork").map(|row| row.1).collect();
        assert_eq!(forks, [5, 20]);
    }

    #[test]
    fn without_a_profile_nothing_is_noted() {
        let mut probe = probe();
        probe.steady("loop", &mut (), |()| Ok(()), |(), _| Ok(())).unwrap();
        probe.trajectory("open", 5, |_| Ok(())).unwrap();
        probe.region("given", 1, 2, 1);
        assert_eq!(probe.finish(&[]).regions, []);
    }
}
