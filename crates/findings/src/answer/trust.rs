//! How far to trust a run: good, fair or poor, with the figure that decides.

use super::material::Material;
use crate::caveats::cpu_taken::{CpuTaken, CpuTaker};
use crate::caveats::{Caveat, figures};
use crate::format::{count, counted, list, percent};
use crate::kinds::Data;
use crate::thresholds::{FAILED_SHARES, ROUNDS_MIN, WIDE_SHARES};
use analysis::stats::quantiles::median_of;
use model::{Outcome, RunState};
use schemars::JsonSchema;
use serde::Serialize;

/// How far to trust a run.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Trust {
    /// In a word.
    pub level: TrustLevel,
    /// What decides.
    pub reason: TrustReason,
    /// The controls that failed as they had to.
    pub controls_caught: Vec<String>,
    /// How many caveats there are.
    pub caveats: usize,
    /// What to do about the reason, best a command; empty where nothing helps.
    pub remedy: String,
}

/// How far to trust a run, in a word.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum TrustLevel {
    /// Its intervals may be wider than what they are read for, or its figures shifted.
    Poor,
    /// Read the caveats first.
    Fair,
    /// As far as its intervals say.
    Good,
}

/// What decides how far a run is trusted.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case", tag = "kind")]
pub enum TrustReason {
    /// There are no medians to judge by.
    NoMedians,
    /// A control was measured as if it were right.
    ControlMissed {
        /// Such cells.
        cells: usize,
    },
    /// The run was cut off.
    Incomplete {
        /// Cells that ended.
        ended: u64,
        /// Cells that were planned.
        planned: u64,
    },
    /// Cells failed.
    FailedCells {
        /// Those that did.
        failed: usize,
        /// All that ended.
        cells: usize,
    },
    /// The hypervisor, other processes or a CPU quota had CPU time in place of the run.
    CpuTaken {
        /// What had it.
        by: CpuTaker,
        /// The share of the CPU time; of a quota, that of its periods in which it was used up.
        share: f64,
    },
    /// Some 95 % CIs are wider than ±25 %.
    WideIntervals {
        /// Medians with such an interval.
        wide: usize,
        /// All medians.
        medians: usize,
    },
    /// There are few rounds.
    FewRounds {
        /// The fewest of any figure.
        rounds: u32,
    },
    /// A server was measured that was not warm yet.
    StillRising,
    /// Nothing speaks against it.
    Precise {
        /// Half of the medians have a 95 % CI within this share of them, to either side.
        half_width: f64,
    },
}

impl Trust {
    pub(super) fn new(material: &Material<'_>) -> Self {
        let (level, reason) = judged(material);
        let controls = material.conclusions.findings.iter().filter(
            |finding| matches!(&finding.data, Data::Control(all) if all.iter().any(|control| control.caught > 0)),
        );
        let caveats = &material.conclusions.caveats;
        let of_reason = caveats.iter().find(|caveat| reason.is_of(caveat));
        Self {
            level,
            controls_caught: controls.flat_map(|control| control.subjects.clone()).collect(),
            caveats: caveats.len(),
            remedy: of_reason.map(Caveat::remedy).unwrap_or_default(),
            reason,
        }
    }

    /// Whether it says all that `caveat` does.
    pub fn says(&self, caveat: &Caveat) -> bool {
        self.reason.is_of(caveat)
    }

    /// `fair: other processes used 28 % of the CPUs`.
    pub fn sentence(&self) -> String {
        let level = match self.level {
            TrustLevel::Good => "good",
            TrustLevel::Fair => "fair",
            TrustLevel::Poor => "poor",
        };
        let reason = match &self.reason {
            TrustReason::NoMedians => "no medians to judge by".to_owned(),
            TrustReason::ControlMissed { cells } => {
                format!("{} of a control did not fail", counted(&count(*cells as u64), "cells"))
            }
            TrustReason::Incomplete { ended, planned } => {
                format!("{} of {} cells ended", count(*ended), count(*planned))
            }
            TrustReason::FailedCells { failed, cells } => {
                format!("{} of {} cells failed", count(*failed as u64), count(*cells as u64))
            }
            TrustReason::CpuTaken { by, share } => by.clause(*share),
            TrustReason::WideIntervals { wide, medians } => {
                let (wide, medians) = (count(*wide as u64), count(*medians as u64));
                format!("{wide} of {medians} medians have a 95 % CI wider than ±25 %")
            }
            TrustReason::FewRounds { rounds } => {
                format!("{} only", counted(&count(u64::from(*rounds)), "rounds"))
            }
            TrustReason::StillRising => "a server was not warm yet".to_owned(),
            TrustReason::Precise { half_width } => {
                format!("half of the medians have a 95 % CI within ±{}", percent(*half_width))
            }
        };
        let control = match self.controls_caught.as_slice() {
            [] => String::new(),
            _ if matches!(self.reason, TrustReason::ControlMissed { .. }) => String::new(),
            [control] => format!("; the control {control} failed as it must"),
            controls => format!("; the controls {} failed as they must", list(controls)),
        };
        format!("{level}: {reason}{control}")
    }
}

/// The worst level that anything gives, with the first reason for it.
fn judged(material: &Material<'_>) -> (TrustLevel, TrustReason) {
    let medians = || {
        material.tables().flat_map(|table| figures(table, &table.rows)).map(|figure| figure.median)
    };
    let half_widths = medians().map(|median| (median.high - median.low) / 2.0 / median.value.abs());
    let mut half_widths: Vec<f64> = half_widths.filter(|width| width.is_finite()).collect();
    let mut reasons = against(material, medians().count());
    let precise = median_of(&mut half_widths).map(|half_width| TrustReason::Precise { half_width });
    if precise.is_none() {
        reasons.push((TrustLevel::Fair, TrustReason::NoMedians));
    }
    let worst = reasons.into_iter().min_by_key(|(level, _)| *level);
    worst.unwrap_or((TrustLevel::Good, precise.unwrap_or(TrustReason::NoMedians)))
}

/// All that speaks against trusting a run, in the order in which it matters.
fn against(material: &Material<'_>, medians: usize) -> Vec<(TrustLevel, TrustReason)> {
    let Material { run, conclusions } = material;
    let mut reasons = Vec::new();
    let mut add =
        |level: Option<TrustLevel>, reason| reasons.extend(level.map(|level| (level, reason)));
    let summary = &run.summary;
    // Without the rest of its profile, figures are worth as much.
    if summary.state != RunState::Complete && !run.is_cut_off_in_profile() {
        let (ended, planned) = (summary.cells_ended, summary.cells_planned);
        let level = if 2 * ended < planned { TrustLevel::Poor } else { TrustLevel::Fair };
        add(Some(level), TrustReason::Incomplete { ended, planned });
    }
    for finding in &conclusions.findings {
        let Data::Control(all) = &finding.data else { continue };
        for control in all.iter().filter(|control| control.missed > 0) {
            let reason = TrustReason::ControlMissed { cells: control.missed };
            add(Some(TrustLevel::Poor), reason);
        }
    }
    for caveat in &conclusions.caveats {
        let Caveat::CpuTaken(CpuTaken { by, share: Some(share) }) = caveat else { continue };
        add(level(*share, by.bounds()), TrustReason::CpuTaken { by: *by, share: *share });
    }
    let cells = run.cells.iter().filter(|cell| !run.is_control(&cell.key));
    let failed = cells.clone().filter(|cell| cell.outcome != Outcome::Measured).count();
    let cells = cells.count();
    let failed_share = failed as f64 / cells.max(1) as f64;
    add(level(failed_share, FAILED_SHARES), TrustReason::FailedCells { failed, cells });
    for caveat in &conclusions.caveats {
        match caveat {
            Caveat::WideIntervals(caveat) => {
                let wide = caveat.wide;
                let share = wide as f64 / medians.max(1) as f64;
                add(level(share, WIDE_SHARES), TrustReason::WideIntervals { wide, medians });
            }
            Caveat::FewRounds(caveat) => {
                let rounds = caveat.rounds;
                let level =
                    if rounds <= ROUNDS_MIN / 2 { TrustLevel::Poor } else { TrustLevel::Fair };
                add(Some(level), TrustReason::FewRounds { rounds });
            }
            Caveat::StillRising(_) => add(Some(TrustLevel::Fair), TrustReason::StillRising),
            _ => {}
        }
    }
    reasons
}

/// The level that a share gives: poor above the first bound, fair above the second.
fn level(share: f64, [poor, fair]: [f64; 2]) -> Option<TrustLevel> {
    match share {
        share if share > poor => Some(TrustLevel::Poor),
        share if share > fair => Some(TrustLevel::Fair),
        _ => None,
    }
}

impl TrustReason {
    /// Whether `caveat` says the same.
    fn is_of(&self, caveat: &Caveat) -> bool {
        match (self, caveat) {
            (Self::Incomplete { .. }, Caveat::RunIncomplete(_))
            | (Self::ControlMissed { .. }, Caveat::ControlMissed(_))
            | (Self::WideIntervals { .. }, Caveat::WideIntervals(_))
            | (Self::StillRising, Caveat::StillRising(_))
            | (Self::FewRounds { .. }, Caveat::FewRounds(_)) => true,
            (Self::CpuTaken { by, .. }, Caveat::CpuTaken(taken)) => *by == taken.by,
            _ => false,
        }
    }
}
