//! How far to trust a run: good, fair or poor, with the figure that decides.

use super::tables;
use crate::caveats::control_missed::Control;
use crate::caveats::{Caveat, figures};
use crate::conclusions::Conclusions;
use crate::format::{count, list, percent, uncapitalized};
use crate::thresholds::{FAILED_SHARES, ROUNDS_MIN, WIDE_SHARES};
use analysis::stats::quantiles::median_of;
use model::{Outcome, Run};
use schemars::JsonSchema;
use serde::Serialize;

/// How far to trust a run.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Trust {
    /// In a word.
    pub level: TrustLevel,
    /// What decides.
    pub reason: TrustReason,
    /// The controls that failed in each of their cells, as they had to.
    pub controls_caught: Vec<String>,
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
#[serde(rename_all = "kebab-case", tag = "kind", content = "data")]
pub enum TrustReason {
    /// There are no medians to judge by.
    NoMedians,
    /// One of the run's caveats.
    Caveat(Caveat),
    /// Cells failed.
    FailedCells {
        /// Those that did.
        failed: usize,
        /// All that ended.
        cells: usize,
    },
    /// Nothing speaks against it.
    Precise {
        /// Half of the medians have a 95 % CI within this share of them, to either side.
        half_width: f64,
    },
}

impl Trust {
    pub(super) fn new(run: &Run, conclusions: &Conclusions) -> Self {
        let (level, reason) = judged(run, conclusions);
        let caught = Control::all(run).filter(|(_, control)| control.is_caught());
        let remedy = match &reason {
            TrustReason::Caveat(caveat) => caveat.warning().remedy,
            _ => String::new(),
        };
        Self {
            level,
            controls_caught: caught.map(|([_, subject], _)| subject.to_owned()).collect(),
            remedy,
            reason,
        }
    }

    /// Whether it says all that `caveat` does.
    pub fn says(&self, caveat: &Caveat) -> bool {
        matches!(&self.reason, TrustReason::Caveat(own) if own == caveat)
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
            TrustReason::Caveat(caveat) => uncapitalized(&caveat.warning().what),
            TrustReason::FailedCells { failed, cells } => {
                format!("{} of {} cells failed", count(*failed as u64), count(*cells as u64))
            }
            TrustReason::Precise { half_width } => {
                format!("half of the medians have a 95 % CI within ±{}", percent(*half_width))
            }
        };
        let control = match self.controls_caught.as_slice() {
            [] => String::new(),
            [control] => format!("; the control {control} failed as it must"),
            controls => format!("; the controls {} failed as they must", list(controls)),
        };
        format!("{level}: {reason}{control}")
    }
}

/// The worst level that anything gives, with the first reason for it.
fn judged(run: &Run, conclusions: &Conclusions) -> (TrustLevel, TrustReason) {
    let of_caveat = |caveat| Some((level_of(caveat, run)?, TrustReason::Caveat(caveat.clone())));
    let reasons = conclusions.caveats.iter().filter_map(of_caveat);
    // What went wrong comes before what is imprecise.
    let is_precision = |reason: &TrustReason| {
        use Caveat::{FewRounds, StillRising, WideIntervals};
        matches!(reason, TrustReason::Caveat(FewRounds(_) | StillRising(_) | WideIntervals(_)))
    };
    let worst = reasons
        .chain(failed_cells(run))
        .min_by_key(|(level, reason)| (*level, is_precision(reason)));
    worst.unwrap_or_else(|| match half_width(run, conclusions) {
        Some(half_width) => (TrustLevel::Good, TrustReason::Precise { half_width }),
        None => (TrustLevel::Fair, TrustReason::NoMedians),
    })
}

/// Half of the medians have a 95 % CI within this share of them, to either side.
fn half_width(run: &Run, conclusions: &Conclusions) -> Option<f64> {
    let figures = tables(run, conclusions).flat_map(|table| figures(table, &table.rows));
    let half_widths = figures.map(|figure| {
        let median = figure.median;
        (median.high - median.low) / 2.0 / median.value.abs()
    });
    median_of(&mut half_widths.filter(|width| width.is_finite()).collect::<Vec<f64>>())
}

/// The level that a caveat gives; none where it says nothing against the figures as a whole.
fn level_of(caveat: &Caveat, run: &Run) -> Option<TrustLevel> {
    match caveat {
        Caveat::ControlMissed(control) => (control.cells.missed > 0).then_some(TrustLevel::Poor),
        // Without the rest of its profile, figures are worth as much.
        Caveat::RunIncomplete(incomplete) if incomplete.profiled.is_some() => None,
        Caveat::RunIncomplete(_) => {
            let has_half = 2 * run.summary.cells_ended >= run.summary.cells_planned;
            Some(if has_half { TrustLevel::Fair } else { TrustLevel::Poor })
        }
        Caveat::CpuTaken(taken) => level(taken.share?, taken.by.bounds()),
        Caveat::WideIntervals(intervals) => {
            level(intervals.wide as f64 / intervals.medians as f64, WIDE_SHARES)
        }
        Caveat::FewRounds(few) if few.rounds <= ROUNDS_MIN / 2 => Some(TrustLevel::Poor),
        Caveat::FewRounds(_) | Caveat::StillRising(_) => Some(TrustLevel::Fair),
        _ => None,
    }
}

/// The level that failed cells give, those of controls apart.
fn failed_cells(run: &Run) -> Option<(TrustLevel, TrustReason)> {
    let cells = || run.cells.iter().filter(|cell| !run.is_control(&cell.key));
    let failed = cells().filter(|cell| cell.outcome != Outcome::Measured).count();
    let cells = cells().count();
    let level = level(failed as f64 / cells.max(1) as f64, FAILED_SHARES)?;
    Some((level, TrustReason::FailedCells { failed, cells }))
}

/// The level that a share gives: poor above the first bound, fair above the second.
fn level(share: f64, [poor, fair]: [f64; 2]) -> Option<TrustLevel> {
    match share {
        share if share > poor => Some(TrustLevel::Poor),
        share if share > fair => Some(TrustLevel::Fair),
        _ => None,
    }
}
