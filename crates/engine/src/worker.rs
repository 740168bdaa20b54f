//! The worker's side: one cell, measured in a process of its own.

pub(crate) mod frame;
pub(crate) mod marked;
pub(crate) mod starter;
pub(crate) mod supervise;

use crate::descriptors::take_caller_limit;
use crate::probe::{Measured, Probe};
use crate::workload::{Cell, Failure, Workload};
use frame::{CellOrder, Reply};
use model::{FailureReason, MetricInfo, Short};
use std::io::{self, Read, Write};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Duration;
use sys::fork::die_with_parent;

/// The hidden subcommand under which the program is to call [`worker_main`].
pub const WORKER_COMMAND: &str = "__worker";

/// Measures the cell that standard input holds, with one of the workloads of `table`, and writes
/// the framed reply to standard output.
pub fn worker_main(table: &[&'static dyn Workload]) -> io::Result<()> {
    let mut order = String::new();
    io::stdin().read_to_string(&mut order)?;
    let order: CellOrder = serde_json::from_str(&order).map_err(io::Error::other)?;
    die_with_parent(order.parent_pid)?;
    take_caller_limit(order.caller_descriptors_max);
    let reply = measured(&order, table);
    io::stdout().write_all(&reply.encode()?)
}

fn measured(order: &CellOrder, table: &[&'static dyn Workload]) -> Reply {
    let failed = |reason| Reply { failure: Some(reason), ..Reply::default() };
    let key = &order.key;
    let Some(&row) = table.iter().find(|row| row.name() == key.workload) else {
        return failed(FailureReason::WorkloadUnknown { workload: key.workload.clone() });
    };
    let custom = order.custom.as_ref().map(|custom| row.with_custom(custom, Some(&order.axis)));
    let custom = match custom.transpose() {
        Err(message) => return failed(FailureReason::CheckFailed { message }),
        Ok(custom) => custom,
    };
    let workload = custom.as_deref().unwrap_or(row);
    let Some(axis) = workload.about().parameter(&order.axis) else {
        let message = format!("{} has no axis `{}`", key.workload, order.axis);
        return failed(FailureReason::CheckFailed { message });
    };
    let info = workload.info(axis);
    if let Err(error) = sys::cpus::pin(&order.pinned_cpus) {
        let (cpus, error) = (order.pinned_cpus.clone(), error.to_string());
        return failed(FailureReason::PinningFailed { cpus, error });
    }
    let cell = Cell::new(workload.about(), axis.name, key, order.seed);
    let mut cell = cell.with_deadline(Duration::from_millis(order.deadline_ms));
    cell.scratch.clone_from(&order.scratch);
    let mut probe = Probe::new(order.clock(), order.measure_ms);
    if order.is_profiled {
        probe = probe.profiled(key.point, info.trajectory);
    }
    let before = sys::proc::open_descriptors();
    let outcome = catch_unwind(AssertUnwindSafe(|| workload.measure(&cell, &mut probe)));
    let after = sys::proc::open_descriptors();
    let Measured { timed_ns, mut metrics, facts, regions } = probe.finish(&info.metrics);
    if !info.trajectory {
        // Another parameter grows: positions on the workload's own axis have no meaning on this one.
        for metric in &mut metrics {
            metric.positions.clear();
        }
    }
    let headline = info.headline(&key.subject).map_or("", |metric| &metric.name);
    let mut short = None;
    let failure = match outcome {
        Err(panic) => Some(FailureReason::Panicked { message: panic_message(&*panic) }),
        Ok(Err(failure)) => {
            short = cut_short(headline, &metrics, &failure);
            short.is_none().then(|| failure.into())
        }
        Ok(Ok(())) if after > before => {
            Some(FailureReason::DescriptorsLeaked { count: (after - before) as u64 })
        }
        Ok(Ok(())) => check_metrics(&info.metrics, headline, &metrics),
    };
    if order.is_profiled {
        // Figures of a process that is sampled are none: samples take time.
        return Reply { regions, short, failure, ..Reply::default() };
    }
    Reply { timed_ns, metrics, facts, regions, short, failure }
}

/// How far a trajectory came that ran out of something; none where nothing of it counts.
fn cut_short(headline: &str, metrics: &[model::Metric], failure: &Failure) -> Option<Short> {
    if !failure.is_shortage() {
        return None;
    }
    let metric = metrics.iter().find(|metric| metric.name == headline)?;
    let reached = metric.positions.iter().copied().max()?;
    Some(Short { reached, reason: failure.clone().into() })
}

/// What is wrong with the metrics of a workload: no headline, one that it does not declare, NaN.
fn check_metrics(
    declared: &[MetricInfo],
    headline: &str,
    metrics: &[model::Metric],
) -> Option<FailureReason> {
    if !metrics.iter().any(|metric| metric.name == headline && !metric.samples.is_empty()) {
        return Some(FailureReason::MetricMissing { metric: headline.into() });
    }
    let is_declared = |name: &str| declared.iter().any(|metric| metric.name == name);
    if let Some(metric) = metrics.iter().find(|metric| !is_declared(&metric.name)) {
        return Some(FailureReason::MetricUndeclared { metric: metric.name.clone() });
    }
    let is_finite = |metric: &&model::Metric| metric.samples.iter().all(|ns| ns.is_finite());
    let metric = metrics.iter().find(|metric| !is_finite(metric))?;
    Some(FailureReason::SampleNotFinite { metric: metric.name.clone() })
}

fn panic_message(panic: &(dyn std::any::Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().map(ToString::to_string);
    text.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_default()
}
