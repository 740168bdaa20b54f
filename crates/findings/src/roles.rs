//! What workloads and metrics are there for, beyond being measured.

use record::{MetricInfo, WorkloadInfo};

/// Whether the workload does nothing: its figures are the harness's own cost.
pub fn is_control(workload: &WorkloadInfo) -> bool {
    workload.name == "null"
}

/// Whether the metric is the CPU time of an operation.
pub fn is_cpu(metric: &MetricInfo) -> bool {
    metric.name == "cpu"
}

/// Whether the metric says how evenly a rate is shared: Jain's index.
pub fn is_fairness(metric: &MetricInfo) -> bool {
    metric.name == "fairness"
}

/// Whether the metric is the longest wait of all.
pub fn is_longest_wait(metric: &MetricInfo) -> bool {
    metric.name == "longest"
}
