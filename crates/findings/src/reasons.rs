//! Reasons as parts of sentences: what follows `because`, without a full stop.

use crate::format;
use analysis::{
    ComparisonReason, FailedAt, GrowthReason, MissingFigure, Remedy, ScalingReason, TrendReason,
};
use model::CodeFault;

/// Why a table of another program has no figure of a subject at a point, or none at all.
pub const NO_ROW: &str = "the file has no row of it here";

/// Why something is open, and what decides it, behind a sentence: `, because 95 % CIs are wide; it takes more rounds`.
pub(crate) fn because(reason: &str, remedy_of_it: Option<Remedy>) -> String {
    let remedy = remedy_of_it.map(|name| format!("; it takes {}", remedy(name)));
    format!(", because {reason}{}", remedy.unwrap_or_default())
}

/// `three points leave more than one order possible`.
pub fn growth(reason: &GrowthReason) -> String {
    match reason {
        GrowthReason::NotPositive => "a figure is not above zero".into(),
        GrowthReason::TooFewPoints { points: 0 } => "there are no figures".into(),
        GrowthReason::TooFewPoints { points: 1 } => "one point is too few".into(),
        GrowthReason::TooFewPoints { points } => {
            format!("{} points leave more than one order possible", format::number_word(*points))
        }
        GrowthReason::RangeTooShort { factor } => {
            format!("the points span only a factor of {}", format::significant(*factor))
        }
        GrowthReason::FactorTooWide { falls } => {
            let goes = if *falls { "falls" } else { "grows" };
            format!("its CI is too wide to say whether it {goes} or is flat")
        }
        GrowthReason::GrowsAndFalls { point } => {
            format!("it grows up to {} and falls again", format::count(*point))
        }
        GrowthReason::RivalClasses => "slower and faster orders than linear explain it".into(),
    }
}

/// `more rounds`.
pub const fn remedy(remedy: Remedy) -> &'static str {
    match remedy {
        Remedy::MoreRounds => "more rounds",
        Remedy::MorePoints => "more points",
        Remedy::WiderRange => "points further apart",
        Remedy::QuietMachine => "a machine on which nothing else runs",
    }
}

/// `it falls ÷2.50 to 100 and rises again`.
pub fn trend(reason: &TrendReason) -> String {
    match *reason {
        TrendReason::IntervalTooWide => "its CI is too wide to say whether it holds".into(),
        TrendReason::NotPositive { point } => {
            format!("its figure at {} is not above zero", format::count(point))
        }
        TrendReason::FallsAndRises { fall, point } => {
            format!("it falls {} to {} and rises again", format::fall(fall), format::count(point))
        }
        TrendReason::CpusTaken { left } => {
            format!("other processes left it {} CPUs", format::significant(left))
        }
    }
}

/// `, because it falls ÷2.50 to 100 and rises again`; nothing without a reason.
pub(crate) fn because_of_trend(reason: Option<&TrendReason>) -> String {
    reason.map(|reason| because(&trend(reason), reason.remedy())).unwrap_or_default()
}

/// `it takes four points`.
pub fn scaling(reason: &ScalingReason) -> String {
    match *reason {
        ScalingReason::TooFewPoints { required } => {
            format!("it takes {} points", format::number_word(required))
        }
        ScalingReason::NotPositive => "a figure is not above zero".into(),
        ScalingReason::TooUncertain { error } => {
            format!("its medians are sure to {} only: any law would fit", format::factor(error))
        }
        ScalingReason::ContentionAboveOne => {
            "each further one costs more than it brings: its contention would be above 1".into()
        }
        ScalingReason::PoorFit { max } => {
            format!("its figures are up to {} off the law", format::factor(max))
        }
    }
}

/// `only one point has figures above zero of both`.
pub fn comparison(reason: &ComparisonReason) -> String {
    match *reason {
        ComparisonReason::TooFewCommonPoints { points } => {
            let count = if points == 0 { "no" } else { "only one" };
            format!("{count} point has figures above zero of both")
        }
        ComparisonReason::WithinScatter { max_lead, ratio } => {
            let lead = format::factor(max_lead);
            let ratio = ratio.map(|ratio| format!(" ({})", format::ratio_with_interval(ratio)));
            let ratio = ratio.unwrap_or_default();
            format!("leads of up to {lead} are within the scatter of their figures{ratio}")
        }
    }
}

/// Why a function's code is not in a profile, where nothing says so.
pub const CODE_NOT_KEPT: &str = "the profile keeps only that of the functions with most samples";

/// Why the code of a function can't be shown, and what shows it.
pub fn missing_code(fault: &CodeFault) -> String {
    match fault {
        CodeFault::KernelMemoryUnreadable { error } => format!(
            "the kernel's code is in /proc/kcore, which could not be read ({error}); root can on a \
             machine, or in a virtual machine, whose kernel has CONFIG_PROC_KCORE"
        ),
        CodeFault::FileUnreadable { path, error } => {
            format!("{path} could not be read ({error}); measure again where it can")
        }
        CodeFault::NoSuchFile => "no file has its code, which was made at run time".into(),
        CodeFault::TimedOut => {
            "looking up its code took too long; measure again with a CPU idle".into()
        }
    }
}

/// Why machine code stays bytes.
pub fn no_disassembler(architecture: &str) -> String {
    format!("knee disassembles code of x86 only, and this is of {architecture}")
}

/// `5 of 5 cells failed at 10,000 n: timeout`.
pub(crate) fn failed_at(at: &FailedAt, axis: &str) -> String {
    let total = format::counted(&format::count(at.total.into()), "cells");
    let point = format::counted(&format::count(at.point), axis);
    let cells = format::count(at.cells.into());
    format!("{cells} of {total} failed at {point}: {}", at.reason.event())
}

/// Why a series has no figure at a point: `it leaked 2 descriptors`.
pub fn missing_figure(reason: &MissingFigure) -> String {
    match reason {
        MissingFigure::Failed { reason } => reason.to_string(),
        MissingFigure::CutShort { reached, reason } => {
            format!("it ended at {}: {}", format::count(*reached), reason.cause())
        }
        MissingFigure::MetricMissing { metric } => format!("{metric} was not measured"),
        MissingFigure::RunEnded => "the run ended before it was measured".into(),
        MissingFigure::LeftOut { because } => because.clone(),
        MissingFigure::ClampedOnly { requested, cause } => {
            let requested = requested.number().map_or_else(|| requested.to_string(), format::count);
            format!("measured only for what can't have {requested}: {cause}")
        }
        MissingFigure::NotPlanned => "not planned".into(),
        MissingFigure::NoRow => NO_ROW.into(),
    }
}
