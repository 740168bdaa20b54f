//! What a plan has otherwise than was requested: cells clamped or left out, each with its cause as data, and
//! the one place where the sentence of it is made.

use crate::{CellKey, Value, Warning};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::fmt;

/// A change between what was requested and what is planned.
///
/// In JSON `text` is the sentence.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(from = "WithText", into = "WithText")]
pub struct PlanChange {
    /// The cells of a round that it concerns, as they were requested; empty where the points of a whole
    /// workload became one.
    pub cells: Vec<CellKey>,
    /// What became of them.
    pub change: Change,
    /// What the user can do so that they are measured; may be empty.
    pub remedy: String,
}

/// What became of cells that were requested.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", tag = "kind")]
pub enum Change {
    /// The value on the axis is more than is possible here: the largest possible is measured instead.
    Clamped(Limit),
    /// A parameter is more than is possible here: the cells are not measured.
    OverLimit(Limit),
    /// The cells can't be measured here for another cause.
    LeftOut {
        /// What is not measured, as the subject of a sentence: `The control`.
        what: String,
        /// Why.
        cause: LimitCause,
    },
    /// A trajectory goes to its last point; all others are on the way there.
    FarEndOnly {
        /// The workload.
        workload: String,
        /// The axis, for people: `live children`.
        label: String,
        /// The last point.
        last: Value,
    },
}

/// A value that is more than is possible here.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Limit {
    /// The parameter: `watched`.
    pub parameter: String,
    /// What it counts, for people: `watched descriptors`.
    pub label: String,
    /// The value that was requested.
    pub requested: Value,
    /// The largest that is possible.
    pub max: u64,
    /// Why no more is possible.
    pub cause: LimitCause,
    /// The place on the axis, where the parameter is another and the cells are left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub position: Option<AxisPosition>,
}

/// A place on the axis.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct AxisPosition {
    /// The axis, for people.
    pub label: String,
    /// The value there.
    pub point: u64,
}

/// Why a parameter can't be more than it is, or a cell can't be measured at all.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", tag = "kind")]
pub enum LimitCause {
    /// The limit on a process's descriptors.
    Descriptors {
        /// The limit.
        max: u64,
    },
    /// A setting of the kernel's.
    Setting {
        /// Its name: `fs.file-max`.
        setting: String,
        /// Its value.
        max: u64,
        /// How much of it one thing takes.
        each: u64,
    },
    /// Memory.
    Memory {
        /// What is available, in MiB.
        available_mib: u64,
        /// What one thing takes, in KiB.
        each_kib: u64,
    },
    /// The value of another parameter.
    Parameter {
        /// What that parameter counts, for people: `watched descriptors`.
        label: String,
        /// Its value.
        value: u64,
    },
    /// Another cause, which the workload words.
    Other {
        /// The end of a sentence: `eventfds send no signals`.
        clause: String,
    },
}

impl PlanChange {
    /// As a warning.
    pub fn warning(&self) -> Warning {
        Warning { what: self.to_string(), remedy: self.remedy.clone() }
    }
}

impl fmt::Display for PlanChange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.change.fmt(f)
    }
}

impl fmt::Display for Change {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Clamped(Limit { label, requested, max, cause, .. }) => {
                write!(f, "{requested} {label} are clamped to {max}: {cause}.")
            }
            Self::OverLimit(Limit { label, requested, max, cause, position, .. }) => {
                write!(f, "{requested} {label}")?;
                if let Some(AxisPosition { label, point }) = position {
                    write!(f, " at {label} {point}")?;
                }
                write!(f, " are left out: {cause}, enough for {max}.")
            }
            Self::LeftOut { what, cause } => write!(f, "{what} is left out: {cause}."),
            Self::FarEndOnly { workload, label, last } => write!(
                f,
                "{workload} went to {last} {label} once a round: its other points are on the way there."
            ),
        }
    }
}

/// As the end of a sentence.
impl fmt::Display for LimitCause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Descriptors { max } => write!(f, "a process may have {max} descriptors"),
            Self::Setting { setting, max, each: 1 } => write!(f, "{setting} is {max}"),
            Self::Setting { setting, max, each } => {
                write!(f, "{setting} is {max}, and each takes {each}")
            }
            Self::Memory { available_mib, each_kib } => {
                write!(f, "{available_mib} MiB of memory are available, {each_kib} KiB for each")
            }
            Self::Parameter { label, value } => write!(f, "there are only {value} {label}"),
            Self::Other { clause } => f.write_str(clause),
        }
    }
}

/// A change as JSON has it.
#[derive(Serialize, Deserialize, JsonSchema)]
struct WithText {
    cells: Vec<CellKey>,
    change: Change,
    remedy: String,
    /// Written for readers without knee, and not read.
    #[serde(default)]
    text: String,
}

impl From<WithText> for PlanChange {
    fn from(WithText { cells, change, remedy, .. }: WithText) -> PlanChange {
        PlanChange { cells, change, remedy }
    }
}

impl From<PlanChange> for WithText {
    fn from(planned: PlanChange) -> WithText {
        let text = planned.to_string();
        let PlanChange { cells, change, remedy } = planned;
        WithText { cells, change, remedy, text }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Parameters;

    fn key(subject: &str, point: u64, round: u32) -> CellKey {
        let (workload, subject) = ("poll".into(), subject.into());
        CellKey { workload, subject, parameters: Parameters::new(), point, round }
    }

    #[test]
    fn a_setting_says_what_each_takes_where_that_is_more_than_one() {
        let setting = |each| LimitCause::Setting { setting: "a.b".into(), max: 9, each };
        assert_eq!(setting(1).to_string(), "a.b is 9");
        assert_eq!(setting(4).to_string(), "a.b is 9, and each takes 4");
    }

    fn limit(position: Option<AxisPosition>) -> Limit {
        Limit {
            parameter: "watched".into(),
            label: "watched descriptors".into(),
            requested: Value::Number(20_000),
            max: 1_000,
            cause: LimitCause::Descriptors { max: 1_024 },
            position,
        }
    }

    fn changes() -> [PlanChange; 4] {
        let change = |change| PlanChange {
            cells: vec![key("poll", 20_000, 0)],
            change,
            remedy: "as root: ulimit -n 41000".into(),
        };
        let position = AxisPosition { label: "active descriptors".into(), point: 10 };
        [
            change(Change::Clamped(limit(None))),
            change(Change::OverLimit(limit(Some(position)))),
            change(Change::LeftOut {
                what: "11 tokens in 10 pipes".into(),
                cause: LimitCause::Parameter { label: "pipes".into(), value: 10 },
            }),
            change(Change::FarEndOnly {
                workload: "fork".into(),
                label: "processes".into(),
                last: Value::Number(9),
            }),
        ]
    }

    #[test]
    fn a_change_has_a_sentence_and_reads_back_from_json() {
        let sentences = changes().map(|change| change.to_string());
        assert_eq!(
            sentences,
            [
                "20000 watched descriptors are clamped to 1000: a process may have 1024 descriptors.",
                "20000 watched descriptors at active descriptors 10 are left out: a process may have 1024 \
                 descriptors, enough for 1000.",
                "11 tokens in 10 pipes is left out: there are only 10 pipes.",
                "fork went to 9 processes once a round: its other points are on the way there.",
            ]
        );
        for change in changes() {
            let json = serde_json::to_value(&change).unwrap();
            assert_eq!(json["text"], change.to_string());
            assert_eq!(serde_json::from_value::<PlanChange>(json).unwrap(), change);
        }
    }
}
