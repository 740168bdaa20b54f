//! What a plan has otherwise than was requested: cells clamped or left out, each with its cause as data, and
//! the one place where the sentence of it is made.

use crate::{CellKey, Value, Warning};
use serde::{Deserialize, Serialize, Serializer};
use std::fmt;

/// A change between what was requested and what is planned.
///
/// In JSON `text` is the sentence that [`Display`] makes.
///
/// [`Display`]: fmt::Display
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(from = "WithText")]
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
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "kind")]
pub enum Change {
    /// The value on the axis is more than is possible here: the largest possible is measured instead.
    Clamped(Limit),
    /// A parameter is more than is possible here: the cells are not measured.
    OverLimit(Limit),
    /// The cells can't be measured here for another cause.
    LeftOut {
        /// The cause.
        cause: SkipCause,
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
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
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
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AxisPosition {
    /// The axis, for people.
    pub label: String,
    /// The value there.
    pub point: u64,
}

/// Why a parameter can't be more than it is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "kind")]
pub enum LimitCause {
    /// The limit on a process's descriptors.
    Descriptors {
        /// The limit.
        max: u64,
    },
    /// The limit on a process's memory maps.
    Maps {
        /// The kernel's setting: `vm.max_map_count`.
        setting: String,
        /// Its value.
        max: u64,
        /// Maps that a thread takes.
        maps_per_thread: u64,
    },
    /// Memory for processes.
    Memory {
        /// What is available, in MiB.
        available_mib: u64,
        /// What each takes, in KiB.
        each_kib: u64,
    },
    /// Memory that one thing takes all at once.
    AvailableMemory {
        /// What is available, in MiB.
        available_mib: u64,
    },
    /// Memory for both ends of connections.
    ConnectionMemory,
    /// A setting of the kernel's, for all processes together.
    Setting {
        /// Its name: `fs.file-max`.
        setting: String,
        /// Its value.
        max: u64,
    },
    /// Ids for processes.
    ProcessIds {
        /// Those that are left.
        left: u64,
    },
    /// Space on the disk.
    DiskSpace {
        /// The directory of temporary files.
        directory: String,
    },
    /// More would show nothing that is not known then.
    NothingNew,
    /// Beyond one for each CPU it would be another operation: a switch from one to the next.
    OneForEachCpu,
}

/// Why cells can't be measured, whatever the value of one parameter.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "kind")]
pub enum SkipCause {
    /// The subject waits for signals, and an eventfd sends none.
    NoSignals {
        /// The subject.
        subject: String,
    },
    /// A process may have too few descriptors for any to be watched.
    TooFewDescriptors {
        /// The limit.
        max: u64,
    },
    /// More descriptors are to be active than are watched.
    ActiveExceedWatched {
        /// Active ones.
        active: u64,
        /// Watched ones.
        watched: u64,
    },
    /// More tokens are to go round than there are pipes.
    TokensExceedPipes {
        /// The tokens.
        tokens: u64,
        /// The pipes.
        pipes: u64,
    },
    /// The memory does not hold the parent of the processes.
    ParentTooLarge {
        /// The parent, in MiB.
        parent_mib: u64,
        /// Memory that is available, in MiB.
        available_mib: u64,
    },
    /// The server holds fewer connections than others do.
    ServerCapacity {
        /// The server, for people.
        server: String,
        /// Connections that it holds.
        connections_max: u64,
        /// Descriptors that a process may have.
        descriptors_max: u64,
    },
    /// So many compilers at once may take more memory than there is.
    TooManyCompilers {
        /// Files that would be compiled at once.
        files: u64,
        /// Files that there is memory for.
        max: u64,
    },
    /// The file system of temporary files can't do what the cell needs.
    FileSystem {
        /// What is left out: `Downloads of a cold file`.
        skipped: String,
        /// The directory of temporary files.
        directory: String,
        /// What the file system does, or does not: `keeps files in memory`.
        shortcoming: String,
        /// How it showed.
        error: String,
    },
    /// A control is wrong only where two threads meet.
    ControlNeedsThreads,
    /// Something that the cell needs is not there: a program, a directory.
    RequirementMissing {
        /// What.
        message: String,
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
                write!(f, "{requested} {label} became {max}: {cause}.")
            }
            Self::OverLimit(Limit { label, requested, max, cause, position, .. }) => {
                write!(f, "{requested} {label}")?;
                if let Some(AxisPosition { label, point }) = position {
                    write!(f, " at {label} {point}")?;
                }
                write!(f, " are left out: {cause}, enough for {max}.")
            }
            Self::LeftOut { cause } => cause.fmt(f),
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
            Self::Maps { setting, max, maps_per_thread } => {
                write!(f, "{setting} is {max}, and a thread takes {maps_per_thread} maps")
            }
            Self::Memory { available_mib, each_kib } => {
                write!(f, "{available_mib} MiB of memory are available, {each_kib} KiB for each")
            }
            Self::AvailableMemory { available_mib } => {
                write!(f, "half of the {available_mib} MiB of available memory is left to others")
            }
            Self::ConnectionMemory => f.write_str("both ends of each take memory here"),
            Self::Setting { setting, max } => write!(f, "{setting} is {max}"),
            Self::ProcessIds { left } => {
                write!(f, "all processes of the machine share {left} more ids (kernel.pid_max)")
            }
            Self::DiskSpace { directory } => {
                write!(f, "half of what is free in {directory} is left to others")
            }
            Self::NothingNew => f.write_str("more threads say nothing that these don't"),
            Self::OneForEachCpu => {
                f.write_str("beyond one for each CPU it is another operation, a switch to the next")
            }
        }
    }
}

/// As a whole sentence.
impl fmt::Display for SkipCause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoSignals { subject } => {
                write!(f, "{subject} is left out: eventfds send no signals.")
            }
            Self::TooFewDescriptors { max } => {
                write!(f, "A process may have {max} descriptors: too few to watch any.")
            }
            Self::ActiveExceedWatched { active, watched } => {
                write!(f, "{active} active of {watched} watched is left out.")
            }
            Self::TokensExceedPipes { tokens, pipes } => {
                write!(f, "{tokens} tokens in {pipes} pipes is left out.")
            }
            Self::ParentTooLarge { parent_mib, available_mib } => write!(
                f,
                "A parent of {parent_mib} MiB is left out: {available_mib} MiB are available."
            ),
            Self::ServerCapacity { server, connections_max, descriptors_max } => write!(
                f,
                "{server} is left out beyond {connections_max} connections: it holds no more where a process \
                 may have {descriptors_max} descriptors."
            ),
            Self::TooManyCompilers { files, max } => write!(
                f,
                "The maximal load is left out: {files} files at once may take more memory than there is, \
                 enough for {max}."
            ),
            Self::FileSystem { skipped, directory, shortcoming, error } => write!(
                f,
                "{skipped} are left out: the file system of {directory} {shortcoming} ({error})."
            ),
            Self::ControlNeedsThreads => {
                f.write_str("The control is left out: it takes two threads to be caught.")
            }
            Self::RequirementMissing { message } => f.write_str(message),
        }
    }
}

/// A change as JSON has it.
#[derive(Serialize, Deserialize)]
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

impl Serialize for PlanChange {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let PlanChange { cells, change, remedy } = self.clone();
        WithText { cells, change, remedy, text: self.to_string() }.serialize(serializer)
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
            change(Change::LeftOut { cause: SkipCause::NoSignals { subject: "sigio".into() } }),
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
                "20000 watched descriptors became 1000: a process may have 1024 descriptors.",
                "20000 watched descriptors at active descriptors 10 are left out: a process may have 1024 \
                 descriptors, enough for 1000.",
                "sigio is left out: eventfds send no signals.",
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
