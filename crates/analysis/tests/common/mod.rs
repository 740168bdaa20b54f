//! What the tests that analyse whole runs share.

use record::{Cell, Clock, Host, Plan, Run, RunState, RunSummary};

/// A complete run of these cells, on a machine of which nothing is known.
pub fn complete_run(plan: Plan, cells: Vec<Cell>) -> Run {
    let summary = RunSummary {
        number: 1,
        id: "0123456789abcdef".into(),
        started: "2026-11-21T10:00:00Z".into(),
        ended: Some("2026-11-21T10:01:00Z".into()),
        state: RunState::Complete,
        command: vec!["knee".into(), "run".into()],
        version: "0.1.0".into(),
        cells_ended: cells.len() as u64,
        cells_planned: cells.len() as u64,
        labels: std::collections::BTreeMap::new(),
        origin: String::new(),
    };
    Run {
        summary,
        plan,
        clock: Clock::default(),
        host_before: Host::default(),
        host_after: None,
        warnings: Vec::new(),
        cells,
    }
}
