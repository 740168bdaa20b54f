//! Made-up runs, for tests: what a control makes of material that is wrong.

use engine::RunRequest;
use model::{Cell, CellKey, FailureReason, Metric, Outcome, Run, RunState};

/// A whole run of what was asked for, of which each cell came to what `outcome` says.
pub fn run(request: &RunRequest, outcome: impl Fn(&CellKey) -> Result<f64, FailureReason>) -> Run {
    let plan = engine::plan(request, workloads::TABLE).unwrap();
    let mut run = engine::new_run(plan, vec!["knee".to_owned()], "0.1.0", &engine::calibrate());
    let headline = |name: &str| {
        let info = run.plan.workloads.iter().find(|info| info.name == name).unwrap();
        info.metrics[0].name.clone()
    };
    let mut random = fastrand::Rng::with_seed(7);
    run.cells = run
        .plan
        .cells
        .iter()
        .enumerate()
        .map(|(sequence, key)| {
            let came = outcome(key);
            // Half a percent of noise, as a quiet machine has it.
            let samples = came.as_ref().map_or_else(
                |_| Vec::new(),
                |ns| (0..40).map(|_| ns * (1.0 + 0.005 * (random.f64() - 0.5))).collect(),
            );
            let name = headline(&key.workload);
            // In batches, as a steady figure is timed: no reading of the clock is taken off.
            let metric = Metric { name, samples, operations: 4_000, ..Metric::default() };
            Cell {
                key: key.clone(),
                sequence: sequence as u64,
                outcome: came.clone().map_or_else(
                    |reason| Outcome::Failed { reason, detail: String::new() },
                    |_| Outcome::Measured,
                ),
                elapsed_ns: 1,
                metrics: if came.is_ok() { vec![metric] } else { Vec::new() },
                ..Cell::default()
            }
        })
        .collect();
    run.summary.state = RunState::Complete;
    run.host_after = Some(run.host_before.clone());
    run
}
