//! Why a cell failed: a reason with its data, and the one place where its sentence is made.
//!
//! The sentence stands here and not with the findings, because every crate that meets a failed cell needs
//! it: the progress of a run, SQL views, exports, reports. Code asks for the variant, never for the text.

use schemars::{JsonSchema, Schema, json_schema};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::fmt;
use thiserror::Error;

/// Why the figures of a cell don't count.
///
/// In JSON it is an object of `kind`, the data of that kind, and `text`, the sentence.
#[derive(
    Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(remote = "Self", rename_all = "kebab-case", tag = "kind")]
#[schemars(transform = add_text)]
pub enum FailureReason {
    /// The worker did not end before its deadline, and was killed.
    DeadlineExceeded {
        /// The deadline, in milliseconds.
        deadline_ms: u64,
        /// What its threads were doing then: `97 % of 400 samples in wait`; empty where it is not known.
        activity: String,
    },
    /// No thread acquired the lock for this time.
    LockStalled {
        /// How long the workload waited, in milliseconds.
        waited_ms: u64,
    },
    /// The workload's own check failed: an event was lost, two threads were inside a lock.
    CheckFailed {
        /// What it found.
        message: String,
    },
    /// A call failed.
    CallFailed {
        /// What was being done: `opening a socketpair`.
        operation: String,
        /// The operating system's answer.
        error: String,
    },
    /// The machine had no more of a resource before anything was measured.
    ResourceExhausted {
        /// What was being done: `opening a socketpair`.
        operation: String,
        /// The operating system's answer; may be empty.
        error: String,
        /// The limit that it met: `a process may have 1024 descriptors`; may be empty.
        limit: String,
        /// What raises the limit; may be empty.
        remedy: String,
    },
    /// The workload panicked.
    Panicked {
        /// Its message.
        message: String,
    },
    /// A command of the user's ended otherwise than it should.
    CommandFailed {
        /// What it is: `--setup`; empty for what is measured.
        role: String,
        /// The command as it ran.
        command: String,
        /// How it ended: `exited with 22`.
        end: String,
        /// The last line of its standard error; may be empty.
        last_line: String,
    },
    /// The workload left descriptors open.
    DescriptorsLeaked {
        /// How many.
        count: u64,
    },
    /// The workload ended without a figure of its headline metric.
    MetricMissing {
        /// The metric.
        metric: String,
    },
    /// The workload measured a metric that it does not declare.
    MetricUndeclared {
        /// The metric.
        metric: String,
    },
    /// A sample is NaN or infinite.
    SampleNotFinite {
        /// The metric.
        metric: String,
    },
    /// This version of knee has no such workload.
    WorkloadUnknown {
        /// The workload.
        workload: String,
    },
    /// The worker could not be pinned to its CPUs.
    PinningFailed {
        /// The CPUs.
        cpus: Vec<usize>,
        /// The operating system's answer.
        error: String,
    },
    /// A signal killed the worker.
    KilledBySignal {
        /// `SIGSEGV`; `signal 35` where it has no name.
        signal: String,
    },
    /// The worker exited with another code than 0.
    ExitedWith {
        /// The code.
        code: i32,
        /// What was wrong with its reply; absent where that was whole.
        reply: Option<ReplyFault>,
    },
    /// The worker ended, and how is not known.
    EndUnknown {
        /// What was wrong with its reply; absent where that was whole.
        reply: Option<ReplyFault>,
    },
    /// The worker ended as it should, but its reply can't be used.
    BadReply {
        /// What is wrong with it.
        fault: ReplyFault,
    },
    /// The worker wrote more than any reply can hold.
    OutputTooLong,
    /// The worker left processes behind; they were killed.
    ProcessesLeft {
        /// How many.
        count: u64,
    },
    /// The files of the cell can't be removed.
    FilesLeft {
        /// Their directory.
        directory: String,
        /// The operating system's answer.
        error: String,
    },
    /// No worker could be started.
    NotStarted {
        /// The operating system's answer.
        error: String,
    },
    /// Reading what the worker wrote failed.
    ListeningFailed {
        /// The operating system's answer.
        error: String,
    },
    /// A table of another program has words where a figure should be.
    Reported {
        /// The words.
        message: String,
    },
    /// A table of another program has no figure there.
    NoFigure,
}

/// What is wrong with a worker's reply.
#[derive(
    Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Error, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "kebab-case", tag = "kind")]
pub enum ReplyFault {
    /// There is none.
    #[error("it ended without a reply")]
    Missing,
    /// What the worker wrote is no reply.
    #[error("its output is no reply: {start}")]
    NotAReply {
        /// Its first bytes, quoted.
        start: String,
    },
    /// Its end is missing.
    #[error("its reply breaks off after {bytes} of {bytes_expected} bytes")]
    Truncated {
        /// Bytes that are there.
        bytes: u64,
        /// Bytes that there should be.
        bytes_expected: u64,
    },
    /// Other bytes follow it.
    #[error("garbage follows its reply: {start}")]
    TrailingBytes {
        /// The first of them, quoted.
        start: String,
    },
    /// Its checksum is wrong.
    #[error("its reply is garbled: wrong checksum")]
    WrongChecksum,
    /// It does not parse.
    #[error("its reply can't be read: {error}")]
    Unreadable {
        /// Why not.
        error: String,
    },
}

impl FailureReason {
    /// Whether the worker was at work when its time was up.
    pub fn is_unfinished(&self) -> bool {
        matches!(self, Self::DeadlineExceeded { .. } | Self::LockStalled { .. })
    }

    /// What raises the limit that it met; empty where it met none.
    pub fn remedy(&self) -> &str {
        match self {
            Self::ResourceExhausted { remedy, .. } => remedy,
            _ => "",
        }
    }

    /// The sentence without the remedy.
    pub fn cause(&self) -> String {
        let Self::ResourceExhausted { operation, error, limit, .. } = self else {
            return self.to_string();
        };
        let mut text = operation.clone();
        for (separator, part) in [(": ", error), ("; ", limit)] {
            if !part.is_empty() {
                text += separator;
                text += part;
            }
        }
        text
    }

    /// What happened: the first half of the sentence, which is the same for cells that failed alike.
    pub fn event(&self) -> String {
        match self {
            Self::DeadlineExceeded { deadline_ms, .. } => {
                format!("did not finish within {}", deadline_text(*deadline_ms))
            }
            Self::LockStalled { .. } => "did not finish".into(),
            Self::CommandFailed { role, end, .. } if role.is_empty() => end.clone(),
            Self::CommandFailed { role, end, .. } => format!("{role} {end}"),
            _ => self.to_string(),
        }
    }

    /// The circumstances, where the sentence has a second half for them: what threads were doing.
    pub fn circumstances(&self) -> Option<String> {
        match self {
            Self::DeadlineExceeded { activity, .. } => {
                (!activity.is_empty()).then(|| activity.clone())
            }
            Self::LockStalled { waited_ms } => {
                Some(format!("nobody released the lock in {}", deadline_text(*waited_ms)))
            }
            _ => None,
        }
    }
}

impl fmt::Display for FailureReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::DeadlineExceeded { .. } | Self::LockStalled { .. } => {
                match self.circumstances() {
                    Some(circumstances) => write!(f, "{}: {circumstances}", self.event()),
                    None => f.write_str(&self.event()),
                }
            }
            Self::CheckFailed { message } | Self::Reported { message } => f.write_str(message),
            Self::CallFailed { operation, error } => write!(f, "{operation}: {error}"),
            Self::ResourceExhausted { remedy, .. } if remedy.is_empty() => {
                f.write_str(&self.cause())
            }
            Self::ResourceExhausted { remedy, .. } => write!(f, "{} → {remedy}", self.cause()),
            Self::CommandFailed { role, command, end, last_line } => {
                let space = if role.is_empty() { "" } else { " " };
                write!(f, "{role}{space}`{}` {end}", shortened(command))?;
                let separator = if last_line.is_empty() { "" } else { ": " };
                write!(f, "{separator}{last_line}")
            }
            Self::Panicked { message } => write!(f, "it panicked: {message}"),
            Self::DescriptorsLeaked { count } => write!(f, "it leaked {count} descriptors"),
            Self::MetricMissing { metric } => write!(f, "it measured no {metric}"),
            Self::MetricUndeclared { metric } => {
                write!(f, "it measured {metric}, which it does not declare")
            }
            Self::SampleNotFinite { metric } => write!(f, "a sample of {metric} is not a number"),
            Self::WorkloadUnknown { workload } => {
                write!(f, "this version of knee has no workload {workload}")
            }
            Self::PinningFailed { cpus, error } => write!(f, "pinning to CPUs {cpus:?}: {error}"),
            Self::KilledBySignal { signal } => write!(f, "it was killed by {signal}"),
            Self::ExitedWith { code, reply } => {
                write!(f, "it exited with {code}; {}", reply_state(reply.as_ref()))
            }
            Self::EndUnknown { reply } => {
                write!(f, "how it ended is unknown; {}", reply_state(reply.as_ref()))
            }
            Self::BadReply { fault } => fault.fmt(f),
            Self::OutputTooLong => f.write_str("it wrote more than any reply can hold"),
            Self::ProcessesLeft { count: 1 } => f.write_str("it left 1 process behind, now ended"),
            Self::ProcessesLeft { count } => {
                write!(f, "it left {count} processes behind, now ended")
            }
            Self::FilesLeft { directory, error } => {
                write!(f, "its files in {directory} can't be removed: {error}")
            }
            Self::NotStarted { error } => write!(f, "no worker could be started: {error}"),
            Self::ListeningFailed { error } => {
                write!(f, "listening to the worker failed: {error}")
            }
            Self::NoFigure => f.write_str("the table has no figure there"),
        }
    }
}

/// A command on one line that is read at a glance: its start, where it is long.
fn shortened(command: &str) -> String {
    const CHARACTERS_MAX: usize = 60;
    let line = printable::one_line(command);
    match line.char_indices().nth(CHARACTERS_MAX) {
        Some((end, _)) => format!("{} …", line[..end].trim_end()),
        None => line,
    }
}

/// What a worker that ended badly had replied.
fn reply_state(reply: Option<&ReplyFault>) -> String {
    reply.map_or_else(|| "after a whole reply".to_owned(), ToString::to_string)
}

/// `10 s`, `1.5 s`; from two minutes on, whole minutes as `30 min`.
pub fn deadline_text(ms: u64) -> String {
    if ms >= 120_000 && ms.is_multiple_of(60_000) {
        return format!("{} min", ms / 60_000);
    }
    format!("{} s", ms as f64 / 1e3)
}

impl<'de> Deserialize<'de> for FailureReason {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        // The text is not read: the derived function with this name makes the value of the data.
        FailureReason::deserialize(deserializer)
    }
}

/// What [`Serialize`] adds to each kind.
fn add_text(schema: &mut Schema) {
    let text = json_schema!({ "description": "The sentence.", "type": "string" });
    for kind in schema.get_mut("oneOf").and_then(|kinds| kinds.as_array_mut()).into_iter().flatten()
    {
        kind["properties"]["text"] = text.clone().into();
        kind["required"].as_array_mut().into_iter().for_each(|all| all.push("text".into()));
    }
}

impl Serialize for FailureReason {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        #[derive(Serialize, JsonSchema)]
        struct WithText<'a> {
            #[serde(flatten, with = "FailureReason")]
            reason: &'a FailureReason,
            text: String,
        }
        WithText { reason: self, text: self.to_string() }.serialize(serializer)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn deadline(deadline_ms: u64, activity: &str) -> FailureReason {
        FailureReason::DeadlineExceeded { deadline_ms, activity: activity.into() }
    }

    #[test]
    fn a_deadline_stands_in_seconds_or_whole_minutes() {
        let sentence = |ms| deadline(ms, "").to_string();
        assert_eq!(sentence(10_000), "did not finish within 10 s");
        assert_eq!(sentence(500), "did not finish within 0.5 s");
        assert_eq!(sentence(90_000), "did not finish within 90 s");
        assert_eq!(sentence(1_800_000), "did not finish within 30 min");
        assert_eq!(
            deadline(1_000, "it waits in futex").to_string(),
            "did not finish within 1 s: it waits in futex"
        );
    }

    #[test]
    fn a_long_command_is_one_shortened_line() {
        let command = format!("for i in 1 2 3; do\n  echo $i {}\ndone; exit 3", "x".repeat(80));
        let (end, last_line) = ("exited with 3".to_owned(), "no such file".to_owned());
        let reason = FailureReason::CommandFailed { role: String::new(), command, end, last_line };
        let text = reason.to_string();
        assert!(text.starts_with("`for i in 1 2 3; do echo $i xxx"), "{text}");
        assert!(text.ends_with("xx …` exited with 3: no such file"), "{text}");
        assert_eq!((text.lines().count(), reason.event().as_str()), (1, "exited with 3"));
    }

    #[test]
    fn json_has_the_data_and_the_sentence_and_reads_back() {
        let reasons = [
            deadline(10_000, "97 % of 400 samples in wait"),
            FailureReason::LockStalled { waited_ms: 3_000 },
            FailureReason::ExitedWith { code: 7, reply: Some(ReplyFault::Missing) },
            FailureReason::OutputTooLong,
        ];
        for reason in reasons {
            let json = serde_json::to_value(&reason).unwrap();
            assert_eq!(json["text"], reason.to_string());
            assert_eq!(serde_json::from_value::<FailureReason>(json).unwrap(), reason);
        }
        let json = serde_json::to_value(deadline(10_000, "")).unwrap();
        assert_eq!(
            (&json["kind"], &json["deadline_ms"]),
            (&"deadline-exceeded".into(), &10_000.into())
        );
    }
}
