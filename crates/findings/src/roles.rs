//! What findings read in workloads and metrics, by the roles that these declare.

use model::{MetricInfo, MetricRole, WorkloadInfo};

/// Whether the workload does nothing: its figures are the harness's own cost.
pub fn is_control(workload: &WorkloadInfo) -> bool {
    workload.is_control()
}

/// Whether the metric is the CPU time of an operation.
pub fn is_cpu(metric: &MetricInfo) -> bool {
    metric.role == MetricRole::Cpu
}

/// Whether the metric says how evenly a rate is shared: Jain's index.
pub fn is_fairness(metric: &MetricInfo) -> bool {
    metric.role == MetricRole::Fairness
}

/// Whether the metric is the maximum wait.
pub fn is_max_wait(metric: &MetricInfo) -> bool {
    metric.role == MetricRole::MaxWait
}
