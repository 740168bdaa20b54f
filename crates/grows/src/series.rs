//! The samples of a series, as lines of JSON that `knee analyse` reads, and as a run that the analysis takes.

use model::{
    Cell, CellKey, Metric, MetricInfo, MetricRole, Outcome, Parameters, Plan, Run, RunState,
    RunSummary, SubjectInfo, WorkloadInfo,
};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// One sample: `{"series": "lookup", "point": 1000, "round": 0, "value": 81.5, "unit": "ns"}`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Sample {
    pub series: String,
    pub point: u64,
    pub round: u32,
    pub value: f64,
    pub unit: String,
}

/// A series of samples in one unit.
#[derive(Clone, Debug, PartialEq)]
pub struct Series {
    pub name: String,
    pub unit: String,
    /// What the points are: `n`, `threads`.
    pub axis: &'static str,
    pub lower_is_better: bool,
    /// Point, round and value.
    pub samples: Vec<(u64, u32, f64)>,
}

/// The axis of sizes, and that of threads, along which more calls a second are better.
pub const SIZES: &str = "n";
pub const THREADS: &str = "threads";
/// What calls a second are called.
pub const CALLS: &str = "calls/s";
/// What a figure is called.
const METRIC: &str = "cost";

impl Series {
    /// One series for each name in `samples`. A unit says whether they are rates of threads.
    pub fn all(samples: Vec<Sample>) -> Vec<Series> {
        let mut all: Vec<Series> = Vec::new();
        for Sample { series, point, round, value, unit } in samples {
            let sample = (point, round, value);
            match all.iter_mut().find(|existing| existing.name == series && existing.unit == unit) {
                Some(existing) => existing.samples.push(sample),
                None => all.push(Series { samples: vec![sample], ..Series::new(&series, &unit) }),
            }
        }
        all
    }

    /// A series without samples.
    pub fn new(name: &str, unit: &str) -> Series {
        let is_rate = unit == CALLS;
        Series {
            name: name.to_owned(),
            unit: unit.to_owned(),
            axis: if is_rate { THREADS } else { SIZES },
            lower_is_better: !is_rate,
            samples: Vec::new(),
        }
    }

    /// The samples as they are written.
    pub fn lines(&self) -> impl Iterator<Item = Sample> {
        self.samples.iter().map(|&(point, round, value)| Sample {
            series: self.name.clone(),
            point,
            round,
            value,
            unit: self.unit.clone(),
        })
    }

    /// The run that they are, without a machine: as one that was read from a table.
    pub fn run(&self) -> Run {
        let workload = self.workload();
        let cells: Vec<Cell> = self.samples.iter().map(|&sample| self.cell(sample)).collect();
        let rounds = cells.iter().map(|cell| cell.key.round + 1).max().unwrap_or(0);
        let count = cells.len() as u64;
        Run {
            summary: RunSummary {
                state: RunState::Complete,
                cells_ended: count,
                cells_planned: count,
                ..RunSummary::default()
            },
            plan: Plan {
                rounds,
                workloads: vec![workload],
                cells: cells.iter().map(|cell| cell.key.clone()).collect(),
                ..Plan::default()
            },
            cells,
            ..Run::default()
        }
    }

    fn workload(&self) -> WorkloadInfo {
        let points: BTreeSet<u64> = self.samples.iter().map(|(point, _, _)| *point).collect();
        WorkloadInfo {
            name: self.name.clone(),
            axis: self.axis.to_owned(),
            axis_parameter: self.axis.to_owned(),
            points_down: points.len() > 1,
            metrics: vec![MetricInfo {
                name: METRIC.to_owned(),
                about: "call".to_owned(),
                unit: self.unit.clone(),
                lower_is_better: self.lower_is_better,
                direction_assumed: false,
                role: MetricRole::Plain,
            }],
            subjects: vec![SubjectInfo::named(&self.name)],
            ..WorkloadInfo::default()
        }
    }

    fn cell(&self, (point, round, value): (u64, u32, f64)) -> Cell {
        Cell {
            key: CellKey {
                workload: self.name.clone(),
                subject: self.name.clone(),
                parameters: Parameters::default(),
                point,
                round,
            },
            outcome: Outcome::Measured,
            metrics: vec![Metric {
                name: METRIC.to_owned(),
                samples: vec![value],
                operations: 1,
                ..Metric::default()
            }],
            ..Cell::default()
        }
    }
}
