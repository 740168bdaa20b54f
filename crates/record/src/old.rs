//! What records of older versions hold as sentences and names, as today's data.
//!
//! No other module reads a sentence. It runs when an old record, or JSON of schema 1, is read.

use crate::{
    CellKey, FailureReason, MetricInfo, MetricRole, Parameters, Plan, ReplyFault, Run, Short,
    Warning, WorkloadRole,
};
use quantities::Value;
use serde::{Deserialize, Deserializer, Serialize};

impl<'de> Deserialize<'de> for FailureReason {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        #[serde(untagged)]
        enum Either {
            Sentence(String),
            Typed(#[serde(with = "FailureReason")] FailureReason),
        }
        Either::deserialize(deserializer).map(|either| match either {
            Either::Sentence(sentence) => failure_reason(&sentence),
            Either::Typed(reason) => reason,
        })
    }
}

/// A [`Short`] in JSON: an older knee wrote a sentence and a remedy, and no reason.
#[derive(Serialize, Deserialize)]
pub(crate) struct ShortJson {
    reached: u64,
    reason: Option<FailureReason>,
    because: String,
    remedy: String,
}

impl From<Short> for ShortJson {
    fn from(Short { reached, reason }: Short) -> Self {
        let (because, remedy) = (reason.cause(), reason.remedy().to_owned());
        Self { reached, because, remedy, reason: Some(reason) }
    }
}

impl From<ShortJson> for Short {
    fn from(ShortJson { reached, reason, because, remedy }: ShortJson) -> Self {
        Self { reached, reason: reason.unwrap_or_else(|| exhausted(&because, remedy)) }
    }
}

/// The shortage that an older knee wrote as `fork: Resource temporarily unavailable; the limit`.
fn exhausted(sentence: &str, remedy: String) -> FailureReason {
    let (operation, rest) = sentence.split_once(": ").unwrap_or((sentence, ""));
    let (error, limit) = rest.split_once("; ").unwrap_or((rest, ""));
    let [operation, error, limit] = [operation, error, limit].map(str::to_owned);
    FailureReason::ResourceExhausted { operation, error, limit, remedy }
}

/// The role of a metric in a record without roles, by its name.
pub(crate) fn metric_role(name: &str) -> MetricRole {
    match name {
        "cpu" => MetricRole::Cpu,
        "percent cpu" => MetricRole::CpuShare,
        "fairness" => MetricRole::Fairness,
        "longest" => MetricRole::MaxWait,
        _ => MetricRole::Plain,
    }
}

/// The role of a workload in a record without roles, by its name.
pub(crate) fn workload_role(name: &str) -> WorkloadRole {
    if name == "null" { WorkloadRole::Control } else { WorkloadRole::Comparison }
}

/// The workload of `knee load`, and its parameters that once were words.
const LOAD: &str = "load";
const LOAD_WORDS: [&str; 4] = ["interval", "rate", "ranks", "think"];

impl Run {
    /// What an older knee kept, as today's: whoever reads a run from outside says this of it.
    #[must_use]
    pub fn as_today(mut self) -> Self {
        self.plan = self.plan.as_today();
        let profiled = self.profile.cells.iter_mut().map(|cell| &mut cell.key);
        self.cells.iter_mut().map(|cell| &mut cell.key).chain(profiled).for_each(key_as_today);
        self
    }
}

impl Plan {
    /// What an older knee planned, as today's.
    #[must_use]
    pub fn as_today(mut self) -> Self {
        let loads = self.workloads.iter_mut().filter(|workload| workload.name == LOAD);
        for metric in loads.flat_map(|load| &mut load.metrics) {
            metric.role = load_role(metric);
        }
        self.cells.iter_mut().for_each(key_as_today);
        self
    }
}

/// The role of a metric of a load, which an older knee gave to fewer of them.
fn load_role(metric: &MetricInfo) -> Option<MetricRole> {
    match metric.name.as_str() {
        "whole p99" => Some(MetricRole::WholeP99),
        "whole p99.9" => Some(MetricRole::WholeP999),
        "max" => Some(MetricRole::WholeMax),
        "server cpu" | "generator busy" => Some(MetricRole::Whole),
        "errors" => Some(MetricRole::Errors),
        _ => metric.role,
    }
}

fn key_as_today(key: &mut CellKey) {
    if key.workload == LOAD && LOAD_WORDS.iter().any(|name| key.parameters.contains_key(*name)) {
        key.parameters = load_parameters(std::mem::take(&mut key.parameters));
    }
}

/// Those of a load, which once were `100ms` and `3 of 4`.
fn load_parameters(kept: Parameters) -> Parameters {
    let parameter = |(name, value): (String, Value)| {
        let todays = value.word().and_then(|word| load_parameter(&name, word));
        todays.unwrap_or_else(|| vec![(name, value)])
    };
    kept.into_iter().flat_map(parameter).collect()
}

fn load_parameter(name: &str, word: &str) -> Option<Vec<(String, Value)>> {
    let todays = match name {
        "interval" | "think" => vec![(format!("{name}_ms"), word.strip_suffix("ms")?.to_owned())],
        "rate" => {
            let (from, to) = word.split_once("..")?;
            vec![("rate_from".to_owned(), from.to_owned()), ("rate_to".to_owned(), to.to_owned())]
        }
        "ranks" => {
            let (present, ranks) = word.split_once(" of ")?;
            let missing = ranks.parse::<u64>().ok()?.checked_sub(present.parse().ok()?)?;
            let missing = ("ranks_missing".to_owned(), missing.to_string());
            vec![("ranks".to_owned(), ranks.to_owned()), missing]
        }
        _ => return None,
    };
    Some(todays.into_iter().map(|(name, text)| (name, Value::from(text))).collect())
}

/// The reason that an older knee wrote as `sentence`.
pub(crate) fn failure_reason(sentence: &str) -> FailureReason {
    unfinished(sentence)
        .or_else(|| ended_badly(sentence))
        .or_else(|| reply_fault(sentence).map(|fault| FailureReason::BadReply { fault }))
        .or_else(|| left_behind(sentence))
        .or_else(|| misused(sentence))
        .unwrap_or_else(|| FailureReason::Other { message: sentence.into() })
}

/// What an older knee warned of while planning, where it names `subject`: why a cell of it is not planned.
pub(crate) fn left_out_because<'a>(warnings: &'a [Warning], subject: &str) -> Option<&'a str> {
    let in_name = |c: char| c.is_alphanumeric() || "-_/".contains(c);
    let names_it = |text: &str| text.split(|c| !in_name(c)).any(|word| word == subject);
    warnings.iter().map(|warning| warning.what.as_str()).find(|what| names_it(what))
}

fn unfinished(sentence: &str) -> Option<FailureReason> {
    let waited = sentence.strip_prefix("did not finish: nobody released the lock in ");
    if let Some(waited_ms) = waited.and_then(milliseconds) {
        return Some(FailureReason::LockStalled { waited_ms });
    }
    let rest = sentence.strip_prefix("did not finish within ")?;
    let (deadline, activity) = rest.split_once(": ").unwrap_or((rest, ""));
    let deadline_ms = milliseconds(deadline)?;
    Some(FailureReason::DeadlineExceeded { deadline_ms, activity: activity.into() })
}

/// `10 s`, `0.5 s`, `30 min`.
fn milliseconds(time: &str) -> Option<u64> {
    let (number, unit_ms) = match time.strip_suffix(" min") {
        Some(minutes) => (minutes, 60e3),
        None => (time.strip_suffix(" s")?, 1e3),
    };
    let ms = number.parse::<f64>().ok()? * unit_ms;
    (0.0..1e15).contains(&ms).then(|| ms.round() as u64)
}

fn ended_badly(sentence: &str) -> Option<FailureReason> {
    if let Some(signal) = sentence.strip_prefix("it was killed by ") {
        return Some(FailureReason::KilledBySignal { signal: signal.into() });
    }
    let reply = |text: &str| match text {
        "after a whole reply" => Some(None),
        fault => reply_fault(fault).map(Some),
    };
    if let Some(rest) = sentence.strip_prefix("how it ended is unknown; ") {
        return Some(FailureReason::EndUnknown { reply: reply(rest)? });
    }
    let (code, rest) = sentence.strip_prefix("it exited with ")?.split_once("; ")?;
    Some(FailureReason::ExitedWith { code: code.parse().ok()?, reply: reply(rest)? })
}

fn reply_fault(sentence: &str) -> Option<ReplyFault> {
    let rest = |start: &str| sentence.strip_prefix(start);
    if sentence == "it ended without a reply" {
        Some(ReplyFault::Missing)
    } else if sentence == "its reply is garbled: wrong checksum" {
        Some(ReplyFault::WrongChecksum)
    } else if let Some(start) = rest("its output is no reply: ") {
        Some(ReplyFault::NotAReply { start: start.into() })
    } else if let Some(start) = rest("garbage follows its reply: ") {
        Some(ReplyFault::TrailingBytes { start: start.into() })
    } else if let Some(error) = rest("its reply can't be read: ") {
        Some(ReplyFault::Unreadable { error: error.into() })
    } else {
        let sizes = rest("its reply breaks off after ")?.strip_suffix(" bytes")?;
        let (bytes, bytes_expected) = sizes.split_once(" of ")?;
        Some(ReplyFault::Truncated {
            bytes: bytes.parse().ok()?,
            bytes_expected: bytes_expected.parse().ok()?,
        })
    }
}

fn left_behind(sentence: &str) -> Option<FailureReason> {
    if let Some(rest) = sentence.strip_prefix("its files in ") {
        let (directory, error) = rest.split_once(" can't be removed: ")?;
        return Some(FailureReason::FilesLeft { directory: directory.into(), error: error.into() });
    }
    if let Some(rest) = sentence.strip_prefix("it leaked ") {
        let count = rest.strip_suffix(" descriptors")?.parse().ok()?;
        return Some(FailureReason::DescriptorsLeaked { count });
    }
    let (count, _) = sentence
        .strip_prefix("it left ")?
        .strip_suffix(" behind, now ended")?
        .split_once(" process")?;
    Some(FailureReason::ProcessesLeft { count: count.parse().ok()? })
}

fn misused(sentence: &str) -> Option<FailureReason> {
    let rest = |start: &str| sentence.strip_prefix(start).map(str::to_owned);
    if sentence == "it wrote more than any reply can hold" {
        Some(FailureReason::OutputTooLong)
    } else if sentence == "the table has no figure there" {
        Some(FailureReason::NoFigure)
    } else if let Some(message) = rest("it panicked: ") {
        Some(FailureReason::Panicked { message })
    } else if let Some(error) = rest("no worker could be started: ") {
        Some(FailureReason::NotStarted { error })
    } else {
        rest("listening to the worker failed: ")
            .map(|error| FailureReason::ListeningFailed { error })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sentences_of_an_older_knee_are_read_as_their_data() {
        for (sentence, reason) in [
            (
                "did not finish within 30 min: make (waits), cc1 ×4 (running)",
                FailureReason::DeadlineExceeded {
                    deadline_ms: 1_800_000,
                    activity: "make (waits), cc1 ×4 (running)".into(),
                },
            ),
            (
                "did not finish within 0.5 s",
                FailureReason::DeadlineExceeded { deadline_ms: 500, activity: String::new() },
            ),
            (
                "it exited with 7; it ended without a reply",
                FailureReason::ExitedWith { code: 7, reply: Some(ReplyFault::Missing) },
            ),
            (
                "it exited with 1; after a whole reply",
                FailureReason::ExitedWith { code: 1, reply: None },
            ),
            (
                "its reply breaks off after 12 of 40 bytes",
                FailureReason::BadReply {
                    fault: ReplyFault::Truncated { bytes: 12, bytes_expected: 40 },
                },
            ),
            ("it left 1 process behind, now ended", FailureReason::ProcessesLeft { count: 1 }),
            ("it left 3 processes behind, now ended", FailureReason::ProcessesLeft { count: 3 }),
            (
                "it was killed by SIGKILL",
                FailureReason::KilledBySignal { signal: "SIGKILL".into() },
            ),
            ("the table has no figure there", FailureReason::NoFigure),
            (
                "2 of 10 events were lost",
                FailureReason::Other { message: "2 of 10 events were lost".into() },
            ),
        ] {
            assert_eq!(failure_reason(sentence), reason);
            assert_eq!(reason.to_string(), sentence);
        }
        let stalled = failure_reason("did not finish: nobody released the lock in 3.0 s");
        assert_eq!(stalled, FailureReason::LockStalled { waited_ms: 3_000 });
    }

    #[test]
    fn a_short_trajectory_of_an_older_knee_has_its_shortage_as_data() {
        let json = r#"{"reached":9,"because":"fork: EAGAIN; pids.max is 9","remedy":"raise it"}"#;
        let short: Short = serde_json::from_str(json).unwrap();
        let FailureReason::ResourceExhausted { operation, error, limit, remedy } = &short.reason
        else {
            panic!("{short:?}")
        };
        assert_eq!(
            [operation, error, limit, remedy],
            ["fork", "EAGAIN", "pids.max is 9", "raise it"]
        );
        let written = serde_json::to_value(&short).unwrap();
        assert_eq!(written["because"], "fork: EAGAIN; pids.max is 9");
        assert_eq!(serde_json::from_value::<Short>(written).unwrap(), short);
    }

    fn parameters(pairs: &[(&str, &str)]) -> Parameters {
        pairs.iter().map(|(name, value)| ((*name).to_owned(), Value::from(*value))).collect()
    }

    #[test]
    fn metrics_of_a_load_of_an_older_knee_have_their_role() {
        let info = |name: &str, metrics: &[&str]| {
            let metric = |name: &&str| serde_json::json!({"name": name, "about": "", "unit": "ns", "lower_is_better": true});
            serde_json::from_value(serde_json::json!({
                "name": name, "version": 1, "about": "", "axis": "connections", "subjects": [], "not_measured": [], "operation": "", "question": "",
                "metrics": metrics.iter().map(metric).collect::<Vec<_>>(),
            }))
            .unwrap()
        };
        let workloads =
            vec![info("load", &["latency", "max", "server cpu", "errors"]), info("poll", &["max"])];
        let plan = Plan { workloads, ..Plan::default() }.as_today();
        let roles = plan.workloads.iter().flat_map(|info| &info.metrics).map(MetricInfo::role);
        let roles: Vec<MetricRole> = roles.collect();
        let of_load = [MetricRole::WholeMax, MetricRole::Whole, MetricRole::Errors];
        assert_eq!(roles[1..4], of_load);
        assert_eq!([roles[0], roles[4]], [MetricRole::Plain; 2]);
    }

    #[test]
    fn a_role_that_only_a_later_knee_knows_is_none() {
        assert_eq!(serde_json::from_str::<MetricRole>("\"later\"").unwrap(), MetricRole::Plain);
        assert_eq!(serde_json::from_str::<MetricRole>("\"whole\"").unwrap(), MetricRole::Whole);
    }

    #[test]
    fn parameters_of_a_load_of_an_older_knee_are_todays() {
        let old = [
            ("interval", "100ms"),
            ("loop", "sessions"),
            ("ranks", "3 of 4"),
            ("rate", "10..20.5"),
            ("think", "1.5ms"),
        ];
        let todays = parameters(&[
            ("interval_ms", "100"),
            ("loop", "sessions"),
            ("ranks", "4"),
            ("ranks_missing", "1"),
            ("rate_from", "10"),
            ("rate_to", "20.5"),
            ("think_ms", "1.5"),
        ]);
        assert_eq!(load_parameters(parameters(&old)), todays);
        assert_eq!(load_parameters(todays.clone()), todays);
        let key = |workload: &str| {
            let key = serde_json::json!({
                "workload": workload, "subject": "shop", "parameters": parameters(&old), "point": 10, "round": 0,
            });
            serde_json::from_value::<CellKey>(key).unwrap()
        };
        let cells = vec![key("load"), key("command")];
        let plan = Plan { cells, ..Plan::default() }.as_today();
        assert_eq!(plan.cells[0].parameters, todays);
        assert_eq!(
            plan.cells[1].parameters,
            parameters(&old),
            "a command may have such parameters too"
        );

        let unchanged = parameters(&[
            ("interval", "a while"),
            ("loop", "open"),
            ("rate", "500"),
            ("ranks", "all of us"),
        ]);
        assert_eq!(load_parameters(unchanged.clone()), unchanged);
    }

    #[test]
    fn a_warning_of_an_older_plan_is_found_by_the_subject_that_it_names() {
        let warning = |what: &str| Warning { what: what.into(), remedy: String::new() };
        let warnings = [warning("epoll-poll is slow"), warning("poll stops at 1,024 here")];
        assert_eq!(left_out_because(&warnings, "poll"), Some("poll stops at 1,024 here"));
        assert_eq!(left_out_because(&warnings, "epoll"), None);
    }

    #[test]
    fn sentences_that_only_begin_alike_are_kept_whole() {
        for sentence in [
            "did not finish",
            "did not finish within",
            "did not finish within a day",
            "did not finish within -1 s",
            "it exited with code 3",
            "it left",
            "it leaked oil",
            "",
        ] {
            let message = sentence.to_owned();
            assert_eq!(failure_reason(sentence), FailureReason::Other { message });
        }
    }
}
