//! Why a series has no figure at a point.

use model::{FailureReason, LimitCause, Value};
use schemars::JsonSchema;
use serde::Serialize;

/// Why a series has no figure at a point.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case", tag = "kind")]
pub enum MissingFigure {
    /// The cells failed there; the reason of the first.
    Failed {
        /// The reason.
        reason: FailureReason,
    },
    /// The trajectory ended before it came there.
    CutShort {
        /// The last point that it reached.
        reached: u64,
        /// Why it ended.
        reason: FailureReason,
    },
    /// The cells were measured, but not this metric.
    MetricMissing {
        /// The metric.
        metric: String,
    },
    /// The run ended before the cells were measured.
    RunEnded,
    /// The plan left the cells out.
    LeftOut {
        /// Why.
        because: String,
    },
    /// Only what can't be measured at a further point is measured there, as far as it goes.
    ClampedOnly {
        /// The point that was requested.
        requested: Value,
        /// Why that is not possible for what is measured there.
        cause: LimitCause,
    },
    /// Nothing was planned there.
    NotPlanned,
    /// The table of another program has no row for it.
    NoRow,
}
