//! What do the basic operations of this machine and its kernel cost?
//!
//! The rows of lmbench's summary (USENIX, 1996) but for RPC: system calls, signals,
//! processes, context switches, local communication, files, virtual memory and memory. Each is a subject of its
//! own. `docs/baseline.md` says for each row what lmbench's program does, and what is done differently.
//!
//! The rows are functions of a small C program, since what they measure depends on the process that does it: a
//! fork copies its parent, and a compiler that adds four numbers at once reads memory faster.

use crate::baselines::program::{Program, Times};
use crate::baselines::rows::{BANDWIDTH, BasicOperation, LATENCY, ROWS};
use crate::shared::{cpus, directory, shortage};
use engine::{
    About, Cell, Defaults, Fact, Failure, Fit, Kind, LimitCause, MetricInfo, Original, Parameter,
    Print, Probe, Subject, Sweep, Values, Workload, WorkloadInfo, strings,
};
use std::sync::LazyLock;

/// The row of the table.
pub(crate) const WORKLOAD: Baseline = Baseline;

pub(crate) struct Baseline;

const COPIES: Parameter = Parameter {
    name: "copies",
    about: "copies of each operation that go on at the same time; one of them is measured",
    values: Values::Between(1, 1_000),
    default: Defaults::always(&["1"]),
    sweep: Some(Sweep { label: "copies", points: Defaults::always(&["1"]) }),
};

/// One, since a hand-over to another CPU that sleeps takes forty times as long, and which of both it is depends on where
/// the scheduler put a process.
const CPUS: Parameter =
    Parameter { about: "CPUs of each copy; copies are spread over all of them", ..cpus::ONE };

static ABOUT: LazyLock<About> = LazyLock::new(|| About {
    info: WorkloadInfo {
        name: "baseline".into(),
        question: "What do the basic operations of this machine and its kernel cost?".into(),
        operation: "the operation that the subject is named after, as in lmbench".into(),
        not_measured: strings([
            "RPC, and lmbench's tables of integer and floating-point arithmetic",
            "disks and networks: files are in the cache, and connections go over loopback",
            "how long another CPU takes to wake up: all processes of a copy share one (--cpus all for that)",
        ]),
        metrics: vec![
            MetricInfo::time(LATENCY, "one operation"),
            MetricInfo::more(BANDWIDTH, "bytes that are moved", "B/s"),
        ],
        ..About::plain().info
    },
    kind: Kind::Named,
    parameters: vec![COPIES, CPUS],
    originals: &[Original {
        name: "lmbench",
        original: "lmbench by Larry McVoy and Carl Staelin, 1996 to 2007: `make results see`",
        subjects: &[],
        points: &["1"],
        parameters: &[("cpus", "all")],
        rounds: None,
        print: Print::Summary,
        also: &[],
        hides: &[
            "the spread: each figure is a median without its interval, cut to a few digits",
            "futex and eventfd, which have no column",
        ],
    }],
    ..About::plain()
});

/// Batches of one cell, where a row asks for no longer ones.
const BATCHES: f64 = 200.0;
/// Fewer say nothing about spread: a slow operation may overrun its time for them.
const BATCHES_MIN: usize = 5;
/// One batch of what is taken off comes with so many that are measured, and one with each of the first: all over the cell, as what disturbs the one
/// disturbs the other.
const BATCHES_BETWEEN: usize = 8;

impl Workload for Baseline {
    fn about(&self) -> &About {
        &ABOUT
    }

    fn subjects(&self) -> Vec<Subject> {
        ROWS.iter().map(BasicOperation::subject).collect()
    }

    fn fit(&self, cell: &Cell) -> Fit {
        let (Ok(copies), Ok(row)) = (cell.number(COPIES.name), row(cell)) else {
            return Fit::Measure;
        };
        // Another half for all others: for want of memory, the kernel ends processes of anybody.
        let (available_kib, each_kib) = (shortage::available_kib(), row.mib << 10);
        let max = (available_kib / 2 / each_kib).max(1);
        if copies <= max {
            return Fit::Measure;
        }
        let cause = LimitCause::Memory { available_mib: available_kib >> 10, each_kib };
        let remedy = "end what else uses memory".to_owned();
        Fit::AtMost { parameter: COPIES.name, max, cause, remedy }
    }

    fn measure(&self, cell: &Cell, probe: &mut Probe) -> Result<(), Failure> {
        let (row, copies) = (row(cell)?, cell.number(COPIES.name)?);
        let (all, wanted) = (cpus::allowed()?, cell.number(CPUS.name)? as usize);
        let directory = directory::make(cell, probe)?;
        let start = |copy: u64| {
            cpus::stay_on(&of_copy(&all, wanted, copy)?)?;
            let own = directory.path().join(copy.to_string());
            std::fs::create_dir(&own).map_err(shortage::during("mkdir"))?;
            Program::start(row.name, &own, probe.clock().name())
        };
        let mut load_copies = (1..copies).map(&start).collect::<Result<Vec<Program>, Failure>>()?;
        let mut measured = start(0)?;
        for (name, number) in &measured.facts {
            probe.fact(name, *number);
        }
        let batch = batch_size(row, &mut measured, probe)?;
        for copy in &mut load_copies {
            copy.repeat(batch)?;
        }
        let outcome = measure(row, batch, &mut measured, probe);
        // A copy that failed meanwhile was no load.
        for copy in &mut load_copies {
            copy.stop()?;
        }
        outcome
    }
}

fn row(cell: &Cell) -> Result<&'static BasicOperation, Failure> {
    cell.find_subject(ROWS, |row| row.name)
}

/// The `wanted` CPUs of a copy: the last ones for the first, and those before them for the next, round and round.
fn of_copy(all: &[usize], wanted: usize, copy: u64) -> Result<Vec<usize>, Failure> {
    let mut all = all.to_vec();
    let skipped = (copy as usize).wrapping_mul(wanted) % all.len().max(1);
    all.rotate_right(skipped);
    cpus::last_of(&all, wanted)
}

/// Operations of a batch: they fill their part of the time. What is timed here is warm-up.
fn batch_size(row: &BasicOperation, program: &mut Program, probe: &Probe) -> Result<u64, Failure> {
    let time_ns = probe.time().as_nanos() as f64;
    let wanted_ns = (time_ns / BATCHES).max(row.batch_ns_min.min(time_ns));
    let batch_max = (row.operations_max / 40).max(1);
    let mut operations = 1_u64;
    loop {
        // The faster of two: one that was interrupted would make every batch too short.
        let mut took_ns = f64::INFINITY;
        for _ in 0..2 {
            took_ns = took_ns.min(ns(probe, program.run(operations)?).max(1.0));
        }
        let scale = wanted_ns / took_ns;
        if scale <= 2.0 || operations == batch_max {
            return Ok(((operations as f64 * scale).ceil() as u64).clamp(1, batch_max));
        }
        operations = ((operations as f64 * scale.min(10.0)).ceil() as u64).min(batch_max);
    }
}

/// Measures until the time is spent.
fn measure(
    row: &BasicOperation,
    batch: u64,
    program: &mut Program,
    probe: &mut Probe,
) -> Result<(), Failure> {
    let units = batch * program.units;
    let (clock, start) = (probe.clock(), probe.clock().now());
    let (mut whole_ns, mut taken_off_ns, mut spent_ns) = (Vec::new(), Vec::new(), 0.0);
    let wanted_ns = probe.time().as_nanos() as f64;
    while whole_ns.len() < BATCHES_MIN || spent_ns < wanted_ns {
        if (whole_ns.len() as u64 + 1) * batch > row.operations_max && whole_ns.len() >= BATCHES_MIN
        {
            break;
        }
        if let Some(units) = program.overhead_units
            && is_due(whole_ns.len())
        {
            taken_off_ns.push(ns(probe, program.overhead(batch)?) / (batch * units) as f64);
        }
        let times = program.run(batch)?;
        whole_ns.push(ns(probe, times) / units as f64);
        probe.region(row.metric, times.before, times.after, units);
        spent_ns = clock.ns(start, clock.now());
    }
    let without = row.without;
    if !taken_off_ns.is_empty() {
        probe.fact(&format!("without {without}_ns"), Fact::rounded(median(&taken_off_ns), 3));
    }
    let Some(mut samples) = difference(&whole_ns, &taken_off_ns) else {
        return Err(Failure::new(format!("{without} took longer than all of it")));
    };
    if row.metric == BANDWIDTH {
        samples = samples.iter().map(|ns| 1e9 / ns).collect();
    }
    let operations = units * samples.len() as u64;
    probe.given(row.metric, &samples, operations);
    Ok(())
}

/// Whether it is time for a batch of what is taken off, after so many that were measured.
fn is_due(measured: usize) -> bool {
    measured < BATCHES_MIN || measured.is_multiple_of(BATCHES_BETWEEN)
}

/// The figures without the median of what is taken off; none where the median figure is less. A single one that is less
/// is nothing: it says no more than one that is too large.
fn difference(whole_ns: &[f64], taken_off_ns: &[f64]) -> Option<Vec<f64>> {
    if taken_off_ns.is_empty() {
        return Some(whole_ns.to_vec());
    }
    let taken_off_ns = median(taken_off_ns);
    let is_more = median(whole_ns) > taken_off_ns;
    is_more.then(|| whole_ns.iter().map(|whole| (whole - taken_off_ns).max(0.0)).collect())
}

/// Of at least one.
fn median(figures: &[f64]) -> f64 {
    let mut sorted = figures.to_vec();
    sorted.sort_by(f64::total_cmp);
    let (half, is_odd) = (sorted.len() / 2, sorted.len() % 2 == 1);
    if is_odd { sorted[half] } else { f64::midpoint(sorted[half - 1], sorted[half]) }
}

fn ns(probe: &Probe, Times { before, after }: Times) -> f64 {
    probe.clock().ns(before, after)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_disturbed_batch_loses_neither_the_cell_nor_its_median() {
        let whole_ns = [10.0, 11.0, 3.0, 12.0, 900.0];
        assert_eq!(difference(&whole_ns, &[]), Some(whole_ns.to_vec()));
        let wanted = vec![5.0, 6.0, 0.0, 7.0, 895.0];
        assert_eq!(difference(&whole_ns, &[5.0, 400.0, 5.0]), Some(wanted));
        assert_eq!(difference(&whole_ns, &[10.0, 11.0]), Some(vec![0.0, 0.5, 0.0, 1.5, 889.5]));
        assert_eq!(difference(&whole_ns, &[11.0]), None);
        assert_eq!(difference(&whole_ns, &[12.0, 12.0, 1.0]), None);
    }

    #[test]
    fn what_is_taken_off_is_measured_all_over_the_cell() {
        let at: Vec<usize> = (0..40).filter(|measured| is_due(*measured)).collect();
        assert_eq!(at, [0, 1, 2, 3, 4, 8, 16, 24, 32]);
    }

    #[test]
    fn copies_are_spread_over_all_cpus() {
        let of_copy = |wanted, copy| of_copy(&[2, 3, 5, 7], wanted, copy).unwrap();
        let of_each: Vec<Vec<usize>> = (0..5).map(|copy| of_copy(1, copy)).collect();
        assert_eq!(of_each, [[7], [5], [3], [2], [7]]);
        assert_eq!(
            (of_copy(2, 0), of_copy(2, 1), of_copy(2, 2)),
            (vec![5, 7], vec![2, 3], vec![5, 7])
        );
        assert_eq!(of_copy(4, 3), [2, 3, 5, 7]);
    }

    #[test]
    fn names_are_different_and_each_group_is_in_one_piece() {
        let mut names: Vec<&str> = ROWS.iter().map(|row| row.name).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), ROWS.len());
        for group in ROWS.chunk_by(|a, b| a.group == b.group) {
            let elsewhere = ROWS.iter().filter(|row| row.group == group[0].group).count();
            assert_eq!(elsewhere, group.len(), "{} is in one piece", group[0].group);
        }
    }
}
