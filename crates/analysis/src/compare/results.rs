//! What a comparison of two runs hands to a report.

use super::left_out::LeftOut;
use crate::calls::CallsChange;
use crate::{
    CutShort, Estimate, Growth, Modes, ProfileDifference, RateTrend, SubjectComparison, Table,
};
use model::{FailureReason, MetricInfo, Parameters, RunSummary};
use schemars::JsonSchema;
use serde::Serialize;

/// How two runs are to be compared.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Terms {
    /// Figures that differ by less than this share are the same for all practical purposes: 0.05 is 5 %.
    pub margin: f64,
    /// The slowdown, as a share, that a gate refuses: 0.1 is 10 %.
    pub fail_above: Option<f64>,
    /// Whether runs of two machines may be compared.
    pub across: bool,
    /// Whether all metrics are compared, and not the headline metrics only.
    pub all: bool,
}

/// Two runs, compared.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Comparison {
    /// The run that is compared with.
    pub base: RunSummary,
    /// The run that is judged.
    pub new: RunSummary,
    /// The largest share of difference that counts as the same.
    pub margin: f64,
    /// The slowdown that the gate refuses, as a share; none without such a gate.
    pub fail_above: Option<f64>,
    /// Whether their cells took turns, round by round: then what disturbed one disturbed the other.
    pub paired: bool,
    /// Whether two machines measured them, which can't take turns.
    #[serde(skip)]
    pub two_machines: bool,
    /// How many ratios were judged at once. All verdicts together are right with 95 % confidence.
    pub judged: usize,
    /// What difference it would have seen; none where no series was judged.
    pub sensitivity: Option<Sensitivity>,
    /// What was not the same when they were measured, the weightiest first.
    pub differences: Vec<Difference>,
    /// What is in one of them only, was not measured to its end, or can't be compared.
    #[serde(skip)]
    pub left_out: Vec<LeftOut>,
    /// One for each table that both have: the ratios, and the medians behind them.
    pub tables: Vec<ComparedTable>,
    /// The tables of base and of new that were compared: labels and units for sentences.
    #[serde(skip)]
    pub sources: [Vec<Table>; 2],
    /// What changed: verdicts, growth, crossovers, modes; the headline metrics' first.
    #[serde(skip)]
    pub changes: Vec<Change>,
}

/// What difference a comparison can show. Differences are shares: 0.2 is 20 %.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Sensitivity {
    /// In five of six comparisons a difference of this size would have been seen in the usual series.
    pub detectable: f64,
    /// No series differs by more, of those that are neither slower nor faster; absent where all are.
    pub excluded_above: Option<f64>,
    /// The difference that is asked for: what a gate refuses, else the margin.
    pub wanted: f64,
    /// From this difference on a gate for `wanted` fails in five of six comparisons.
    pub fails_from: f64,
    /// How many rounds in turns would show `wanted` in the usual series; absent where it takes more than 999.
    pub rounds: Option<u32>,
}

/// Something about the machine or the instrument that was not the same.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Difference {
    /// What, as a fact's key or a word: `kernel.release`, `knee`.
    pub what: String,
    /// What it was; absent where nothing is known.
    pub base: Option<String>,
    /// What it is; absent where nothing is known.
    pub new: Option<String>,
}

/// One metric of one workload under one set of parameters, of two runs.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct ComparedTable {
    /// The workload.
    pub workload: String,
    /// The parameters that hold for the whole table.
    pub parameters: Parameters,
    /// The figure in it.
    pub metric: MetricInfo,
    /// Whether it is the workload's headline metric.
    pub headline: bool,
    /// The quantity that grows: `watched descriptors`.
    pub axis: String,
    /// The points that both have, ascending.
    pub points: Vec<u64>,
    /// The subjects that both have, in the workload's order.
    pub rows: Vec<ComparedRow>,
}

impl ComparedTable {
    /// Its workload, parameters and metric.
    pub(crate) fn key(&self) -> (&str, &Parameters, &str) {
        (&self.workload, &self.parameters, &self.metric.name)
    }

    /// The ratio of each series as a whole, and at each of its points.
    pub(crate) fn ratios(&self) -> impl Iterator<Item = (&ComparedRow, Option<u64>, &Ratio)> {
        self.rows.iter().flat_map(|row| {
            let points = self.points.iter().zip(&row.cells);
            let at_points = points
                .filter_map(move |(&point, cell)| Some((row, Some(point), &cell.as_ref()?.ratio)));
            [(row, None, &row.overall)].into_iter().chain(at_points)
        })
    }

    /// The ratio of `subject` at `point`.
    pub(crate) fn ratio_at(&self, subject: &str, point: u64) -> Option<&Ratio> {
        let mut all = self.ratios();
        let is_it =
            |(row, at, _): &(&ComparedRow, _, _)| row.subject == subject && *at == Some(point);
        all.find(is_it).map(|(_, _, ratio)| ratio)
    }
}

/// One series of two runs.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct ComparedRow {
    /// The subject's name.
    pub subject: String,
    /// Its name in reports.
    pub label: String,
    /// All its points together: the geometric mean of their ratios, with its interval.
    pub overall: Ratio,
    /// One for each point of the table; `None` where either has no figure, or one that is not above zero.
    pub cells: Vec<Option<ComparedPoint>>,
}

/// One point of a series of two runs.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct ComparedPoint {
    /// The median of the base run.
    pub base: Estimate,
    /// The median of the new run.
    pub new: Estimate,
    /// New over base.
    pub ratio: Ratio,
}

/// A ratio with its interval and what is to be made of it.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Ratio {
    /// New over base: of the medians, or, where the runs took turns, of the levels of the rounds that both have. The
    /// interval is as wide as it has to be for all ratios of the comparison to be in theirs with 95 % confidence.
    pub ratio: Estimate,
    /// The verdict.
    pub verdict: Verdict,
}

/// What is to be made of a ratio: the fixed vocabulary of comparisons.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// Better, and not by less than the margin alone.
    Faster,
    /// Worse, and not by less than the margin alone.
    Slower,
    /// The whole interval is within the margin.
    Same,
    /// The CI is too wide to say.
    Undecided,
}

impl Verdict {
    /// Whether it is faster or slower.
    pub fn differs(self) -> bool {
        matches!(self, Self::Faster | Self::Slower)
    }
}

/// Something that changed from one run to the other.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Change {
    /// What sort of change it is.
    pub kind: ChangeKind,
    /// Whether it is for the worse or the better; absent where it is neither.
    pub direction: Option<Direction>,
    /// The workload it is about.
    pub workload: String,
    /// The parameters it holds under.
    pub parameters: Parameters,
    /// The metric it is about.
    pub metric: String,
    /// The subjects it is about.
    pub subjects: Vec<String>,
    /// What changed.
    pub detail: ChangeDetail,
    /// Whether it is about the headline metric.
    pub headline: bool,
    /// Where the CPU time is that the series takes more or less; absent without profiles in both runs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub attribution: Option<RunAttribution>,
    /// Which system calls an operation makes more or fewer of; absent where they were not counted, or are the same.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub calls: Option<CallsAt>,
}

impl Change {
    pub(crate) fn new(
        kind: ChangeKind,
        direction: Option<Direction>,
        (workload, parameters, metric): (&str, &Parameters, &str),
        headline: bool,
        subjects: &[&str],
        detail: ChangeDetail,
    ) -> Self {
        Self {
            kind,
            direction,
            workload: workload.to_owned(),
            parameters: parameters.clone(),
            metric: metric.to_owned(),
            subjects: subjects.iter().map(|&subject| subject.to_owned()).collect(),
            detail,
            headline,
            attribution: None,
            calls: None,
        }
    }

    /// Its workload, parameters and metric.
    pub(crate) fn key(&self) -> (&str, &Parameters, &str) {
        (&self.workload, &self.parameters, &self.metric)
    }
}

/// How the system calls of a subject in new differ from those in base.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct CallsAt {
    /// The point.
    pub point: u64,
    /// How they differ.
    #[serde(flatten)]
    pub change: CallsChange,
}

/// How the profile of a subject in new differs from that in base.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct RunAttribution {
    /// The point.
    pub point: u64,
    /// How they differ: base is the first.
    #[serde(flatten)]
    pub difference: ProfileDifference,
}

/// How much more an operation changed by those that share something than by those that don't.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Contention {
    /// How many do it at once.
    pub point: u64,
    /// How many times longer it takes in new than in base by those that share.
    pub slowdown: Estimate,
    /// The same by those that don't: the control.
    pub control: Estimate,
    /// The verdict on the control.
    pub control_verdict: Verdict,
    /// Those that share: `threads`.
    pub sharing: String,
    /// Those that don't: `processes`.
    pub separate: String,
    /// What they share: `the descriptor table`; empty where the operation names nothing.
    pub shared: String,
    /// How the kernel's locks wait in base and in new; absent where that is not another, or not known.
    pub waiting: Option<Difference>,
}

/// What changed.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case", tag = "change")]
pub enum ChangeDetail {
    /// A series as a whole is faster or slower.
    Series {
        /// New over base.
        ratio: Ratio,
        /// The point that changed most, where it changed clearly more than the series.
        most_at: Option<u64>,
    },
    /// A series changed where those that do it share something, and its control less.
    Contention(Contention),
    /// A series is faster or slower at some points.
    Points {
        /// The points.
        points: Vec<u64>,
        /// The largest change among them.
        ratio: Ratio,
    },
    /// The medians of a series changed and its best tenth did not.
    Medians {
        /// New over base, of the medians.
        ratio: Ratio,
    },
    /// The growth class changed.
    Growth {
        /// The growth in base.
        base: Growth,
        /// The growth in new.
        new: Growth,
    },
    /// The trend of a rate changed.
    Trend {
        /// The trend in base.
        base: RateTrend,
        /// The trend in new.
        new: RateTrend,
    },
    /// The lead of two series changes elsewhere, no longer, or now does.
    Crossover {
        /// How they compare in base.
        base: SubjectComparison,
        /// How they compare in new.
        new: SubjectComparison,
    },
    /// A series has several modes in new and one in base.
    ModesAppeared {
        /// The modes in new.
        modes: Modes,
    },
    /// A series has one mode in new and several in base.
    ModesVanished {
        /// The modes in base.
        modes: Modes,
    },
    /// A subject was measured in base and is unavailable.
    Unavailable {
        /// Why.
        reason: String,
    },
    /// A subject is measured and was unavailable in base.
    Available {
        /// Why it was not.
        reason: String,
    },
    /// All cells failed at points that base measured.
    Failed {
        /// The points.
        points: Vec<u64>,
        /// The first reason.
        reason: FailureReason,
    },
    /// Points are measured at which all cells failed in base.
    Measured {
        /// The points.
        points: Vec<u64>,
        /// The first reason.
        reason: FailureReason,
    },
    /// A trajectory ends before its axis does, and did not in base.
    CutShort {
        /// How far it comes.
        short: CutShort,
    },
    /// A trajectory comes to the end of its axis, and did not in base.
    Completed {
        /// How far it came in base.
        short: CutShort,
    },
    /// A load serves a lesser or a larger share of its requests or connections, or a point fails in other rounds.
    Served {
        /// Requests, connections or rounds.
        what: Unserved,
        /// The point.
        point: u64,
        /// Those that were not served in base.
        base: Share,
        /// Those that are not served in new.
        new: Share,
    },
}

/// A number of those that there were.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Share {
    /// Some of them.
    pub count: u64,
    /// All of them.
    pub all: u64,
}

impl Share {
    /// From 0 to 1; absent where there were none.
    pub fn share(self) -> Option<f64> {
        (self.all > 0).then(|| self.count as f64 / self.all as f64)
    }
}

/// What a load was not served with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Unserved {
    /// Requests that failed, or had no reply.
    Requests,
    /// Connections over which requests were sent and no reply came.
    Connections,
    /// Rounds in which the cell failed, of a point that others measured.
    Rounds,
}

/// Sorts of changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ChangeKind {
    /// A series changed only where those that do it share something: the lock that they meet at is another.
    Contention,
    /// A series is faster or slower, as a whole or at some points.
    Figure,
    /// The medians of a series are others and its best tenth is not: a part of its operations changed, or a
    /// neighbour disturbed one of the runs. Nothing is decided by it.
    Part,
    /// A series is of another order of growth, or its rate has another trend.
    Growth,
    /// One overtakes another elsewhere, or no longer, or now does.
    Crossover,
    /// A series has several modes that had one, or the other way round.
    Modes,
    /// Cells of a series that were measured have failed, or a load's requests, or the other way round.
    Outcome,
}

/// Which way a change goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Direction {
    /// For the better.
    Better,
    /// For the worse.
    Worse,
}

impl Direction {
    pub(crate) fn worse_if(is_worse: bool) -> Self {
        if is_worse { Self::Worse } else { Self::Better }
    }
}
