//! Why a series has no figure at a point.

use crate::findings::words;
use record::FailureReason;
use serde::{Serialize, Serializer};
use std::fmt;

/// Why a series has no figure at a point. In JSON `text` is the sentence.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(remote = "Self", rename_all = "kebab-case", tag = "kind")]
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
        because: String,
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
    /// Nothing was planned there.
    NotPlanned,
    /// The table of another program has no row for it.
    NoRow,
}

impl fmt::Display for MissingFigure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Failed { reason } => write!(f, "failed: {reason}"),
            Self::CutShort { reached, because } => {
                write!(f, "it ended at {}: {because}", words::count(*reached))
            }
            Self::MetricMissing { metric } => write!(f, "{metric} was not measured"),
            Self::RunEnded => f.write_str("the run ended before it was measured"),
            Self::LeftOut { because } => f.write_str(because),
            Self::NotPlanned => f.write_str("not planned"),
            Self::NoRow => f.write_str("the file has no row of it here"),
        }
    }
}

impl Serialize for MissingFigure {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        struct WithText<'a> {
            #[serde(flatten, with = "MissingFigure")]
            reason: &'a MissingFigure,
            text: String,
        }
        WithText { reason: self, text: self.to_string() }.serialize(serializer)
    }
}
