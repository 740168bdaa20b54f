//! Simulated cells as a run, so that it is analysed and reported like a measured one; and the marks that it
//! was not measured.

use super::lock_model::{Model, Simulated};
use model::{
    Cell, Clock, Fact, FailureReason, Host, Metric, Outcome, Plan, Run, RunState, RunSummary,
    Unavailable, Warning, WorkloadInfo,
};
use simulate::{Figures, LEFT_OUT, Spread};
use std::collections::BTreeMap;

pub const HEAD: &str = "Simulated, not measured: what a model makes of these locks.\n\n";

const NOT_MODELLED: &[&str] = &[
    "anything on a machine: these figures are computed by a model",
    "caches of several levels or sockets: all CPUs are equally far from each other",
    "several threads of one core, interrupts, other programs, clock frequencies",
    "what the work touches, and its caches after a switch or a move to another CPU",
];

pub fn run(model: &Model, simulated: Vec<Simulated>, command: Vec<String>) -> Run {
    let now = engine::now();
    let workload = workload(model);
    let cells: Vec<Cell> = simulated
        .into_iter()
        .enumerate()
        .map(|(sequence, simulated)| cell(&workload, model, sequence as u64, simulated))
        .collect();
    let unavailable = if model.all { left_out(&workload.name) } else { Vec::new() };
    let plan = Plan {
        seed: model.seed,
        rounds: model.rounds,
        measure_ms: model.work.time_ns / 1_000_000,
        workloads: vec![workload],
        unavailable,
        cells: cells.iter().map(|cell| cell.key.clone()).collect(),
        ..Plan::default()
    };
    let host = Host { taken: now.clone(), facts: facts(model), cpu_use: None };
    Run {
        summary: summary(command, &now, cells.len() as u64),
        plan,
        clock: Clock { source: "simulated".into(), resolution_ns: 1.0, overhead_ns: 0.0 },
        host_before: host.clone(),
        // Nothing of a model changes while it is asked.
        host_after: Some(host),
        warnings: warnings(model),
        cells,
        ..Run::default()
    }
}

fn summary(command: Vec<String>, now: &str, cells: u64) -> RunSummary {
    RunSummary {
        id: engine::new_run_id(),
        started: now.to_owned(),
        ended: Some(now.to_owned()),
        state: RunState::Complete,
        command,
        version: env!("CARGO_PKG_VERSION").into(),
        cells_ended: cells,
        cells_planned: cells,
        ..RunSummary::default()
    }
}

/// The workload in its own words, but for the locks, and for what the model lacks.
fn workload(model: &Model) -> WorkloadInfo {
    let mut info = model.workload.info(model.axis);
    info.not_measured = NOT_MODELLED.iter().map(|&line| line.to_owned()).collect();
    let is_listed = |name: &str| {
        model.algorithms.iter().any(|row| row.name == name)
            || (model.all && LEFT_OUT.iter().any(|(left_out, _)| *left_out == name))
    };
    info.subjects.retain(|subject| is_listed(&subject.name));
    for subject in &mut info.subjects {
        subject.control = false;
    }
    info.compared_pairs.retain(|(first, second)| is_listed(first) && is_listed(second));
    info
}

fn left_out(workload: &str) -> Vec<Unavailable> {
    let each = LEFT_OUT.iter().map(|(name, reason)| Unavailable {
        workload: workload.to_owned(),
        subject: (*name).to_owned(),
        reason: format!("not simulated: {reason}"),
    });
    each.collect()
}

/// The modelled machine. Reports recognise a simulated run by the fact `simulated`.
fn facts(model: &Model) -> BTreeMap<String, Fact> {
    let machine = &model.machine;
    let texts = [("simulated", "yes"), ("cpu.model", "none: a model")];
    let times_ns = [
        ("model.slice_ns", machine.slice_ns),
        ("model.switch_ns", machine.switch_ns),
        ("model.wake_ns", machine.wake_ns),
        ("model.call_ns", machine.call_ns),
        ("model.atomic_ns", machine.atomic_ns),
        ("model.transfer_ns", machine.transfer_ns),
        ("model.look_ns", machine.look_ns),
    ];
    let texts = texts.map(|(key, text)| (key.to_owned(), text.into()));
    let numbers = times_ns.into_iter().chain([("cpu.count", u64::from(machine.cpus))]);
    let numbers = numbers.map(|(key, number)| (key.to_owned(), number.into()));
    texts.into_iter().chain(numbers).collect()
}

fn warnings(model: &Model) -> Vec<Warning> {
    let cpus = match model.machine.cpus {
        1 => "one CPU".to_owned(),
        cpus => format!("{cpus} equal CPUs"),
    };
    let warning = |what: String, remedy: &str| Warning { what, remedy: remedy.to_owned() };
    vec![
        warning(
            format!("Nothing here was measured: a model of {cpus} computed it"),
            "knee run lock measures",
        ),
        warning(
            "The model knows no sockets, no interrupts and no other programs: rely on which locks \
             hold and which collapse, and not on digits"
                .to_owned(),
            "docs/simulate.md",
        ),
    ]
}

fn cell(info: &WorkloadInfo, model: &Model, sequence: u64, simulated: Simulated) -> Cell {
    let Simulated { key, figures } = simulated;
    let has_failed = figures.acquisitions == 0;
    let outcome = if has_failed {
        let reason = FailureReason::LockStalled { waited_ms: figures.time_ns / 1_000_000 };
        Outcome::Failed { reason, detail: String::new() }
    } else {
        Outcome::Measured
    };
    let named = |name: &str| info.metrics.iter().any(|metric| metric.name == name);
    let all = if has_failed { Vec::new() } else { metrics(model, &figures) };
    Cell {
        key,
        sequence,
        outcome,
        metrics: all.into_iter().filter(|metric| named(&metric.name)).collect(),
        ..Cell::default()
    }
}

/// The figures by the names of the workload's metrics, in its units.
fn metrics(model: &Model, figures: &Figures) -> Vec<Metric> {
    let each = |total: u64| figures.each(total).unwrap_or_default();
    let (waiting, hand_over) = (&figures.waiting, &figures.hand_over);
    let mut all = vec![
        metric("acquisitions", figures.per_s(), figures.acquisitions),
        metric("cpu", each(figures.user_ns + figures.system_ns), figures.acquisitions),
        metric("user", each(figures.user_ns), figures.acquisitions),
        metric("system", each(figures.system_ns), figures.acquisitions),
        metric("switches", 1e3 * each(figures.voluntary), figures.acquisitions),
        metric("preemptions", 1e3 * each(figures.involuntary), figures.acquisitions),
        distribution("waiting", waiting),
        metric("p99", waiting.p99_ns, waiting.count),
        metric("longest", waiting.max_ns, waiting.count),
        metric("held", model.work.held_ns as f64, 1),
        metric("outside", model.work.outside_ns as f64, 1),
    ];
    all.extend(figures.fairness.map(|share| metric("fairness", share, figures.acquisitions)));
    // Where no thread had to wait, nothing was handed over.
    if hand_over.count > 0 {
        all.push(distribution("hand-over", hand_over));
    }
    all
}

fn metric(name: &str, figure: f64, operations: u64) -> Metric {
    Metric { name: name.to_owned(), samples: vec![figure], operations, ..Metric::default() }
}

/// The median, with all of them as a histogram.
fn distribution(name: &str, spread: &Spread) -> Metric {
    let histogram = engine::packed(&spread.histogram);
    Metric { histogram, ..metric(name, spread.median_ns, spread.count) }
}
