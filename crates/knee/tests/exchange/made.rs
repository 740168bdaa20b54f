//! A run that is made and not measured, so that every figure of it is known; and a knee whose record holds
//! it.
#![allow(dead_code, reason = "each test file uses its part")]

use super::common::Knee;
use record::{
    Cell, CellKey, Metric, MetricInfo, Outcome, Parameters, Plan, Run, RunState, RunSummary,
    SubjectInfo, Usage, WorkloadInfo,
};
use std::collections::BTreeMap;

pub const POINTS: [u64; 6] = [10, 100, 1_000, 3_000, 10_000, 100_000];

/// A run of a workload `made` in which one subject grows as `per` times its point and another not.
pub fn made(samples: usize) -> (Run, Vec<Cell>) {
    let metric = MetricInfo {
        name: "call".into(),
        about: "call, made".into(),
        unit: "ns".into(),
        lower_is_better: true,
        role: None,
    };
    let subject = |name: &str| SubjectInfo {
        name: name.into(),
        label: name.to_uppercase(),
        note: String::new(),
        ..SubjectInfo::default()
    };
    let mut cells = Vec::new();
    for round in 0..5 {
        for kind in ["hot", "cold"] {
            for (subject, per) in [("flat", 0.0), ("steep", 0.25)] {
                for point in POINTS {
                    let mut cell = cell(cells.len() as u64, (kind, subject, per), point, round);
                    let of = &mut cell.metrics[0].samples;
                    *of = of.iter().copied().cycle().take(samples).collect();
                    cells.push(cell);
                }
            }
        }
    }
    let workload = WorkloadInfo {
        name: "made".into(),
        axis: "things".into(),
        axis_parameter: "things".into(),
        metrics: vec![metric],
        subjects: vec![subject("flat"), subject("steep")],
        ..WorkloadInfo::default()
    };
    let plan = Plan {
        rounds: 5,
        workloads: vec![workload],
        cells: cells.iter().map(|cell| cell.key.clone()).collect(),
        ..Plan::default()
    };
    let summary = RunSummary {
        number: 0,
        id: "00000000a3f1b2c4".into(),
        started: "2026-11-21T14:02:11+00:00".into(),
        ended: None,
        state: RunState::Open,
        command: vec!["knee".into(), "run".into(), "made".into()],
        version: "0.1.0".into(),
        cells_ended: 0,
        cells_planned: cells.len() as u64,
        labels: BTreeMap::new(),
        origin: String::new(),
    };
    let run = Run {
        summary,
        plan,
        clock: record::Clock { source: "tsc".into(), resolution_ns: 0.4, overhead_ns: 9.0 },
        host_before: record::Host {
            taken: "2026-11-21T14:02:11+00:00".into(),
            facts: BTreeMap::from([("cpu.model".into(), "A CPU".into())]),
        },
        host_after: None,
        warnings: Vec::new(),
        cells: Vec::new(),
    };
    (run, cells)
}

fn cell(sequence: u64, (kind, subject, per): (&str, &str, f64), point: u64, round: u32) -> Cell {
    let noise = [0.98, 1.01, 1.0, 0.97, 1.02][round as usize];
    let samples = [0.99, 1.0, 1.02].map(|also| (900.0 + per * point as f64) * noise * also);
    Cell {
        key: CellKey {
            workload: "made".into(),
            subject: subject.into(),
            parameters: Parameters::from([("kind".into(), kind.into())]),
            point,
            round,
        },
        sequence,
        outcome: Outcome::Measured,
        elapsed_ns: 1,
        short: None,
        usage: Usage::default(),
        metrics: vec![Metric {
            name: "call".into(),
            samples: samples.to_vec(),
            operations: 3,
            ..Metric::default()
        }],
        facts: BTreeMap::new(),
    }
}

/// A knee whose record holds that run.
pub fn knee() -> Knee {
    knee_with(3)
}

/// A knee whose record holds that run with so many samples a cell.
pub fn knee_with(samples: usize) -> Knee {
    let knee = Knee::new();
    let (run, cells) = made(samples);
    knee.keep(&run, &cells, "2026-11-21T14:02:12+00:00");
    knee
}
