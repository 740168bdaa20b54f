//! What the workloads over readiness mechanisms share: their subjects, time-outs and limits.

use engine::{
    Cell, Check, Defaults, Failure, Fit, LimitCause, Parameter, Subject, SubjectInfo, Values,
    descriptors_max,
};
use readiness::{Mechanism, Readiness, Trigger};
use std::time::Duration;

/// Descriptors that a worker needs besides those that it watches: the standard streams, the
/// mechanism's, a listener, the lines to where peers are parked.
pub(crate) const OWN_DESCRIPTORS: usize = 24;

/// What a wait is given. The kernel stops queueing waiters after the first ready descriptor, or at
/// once with a time-out of 0: it changes what poll and select cost.
pub(crate) const TIMEOUT: Parameter = Parameter {
    name: "timeout",
    about: "timeout of the wait: 0 returns at once, -1 sleeps until a descriptor is ready",
    values: Values::OneOf(&["0", "-1"]),
    default: Defaults::always(&["-1"]),
    sweep: None,
};

/// The time-out of a cell, as a wait takes it.
pub(crate) fn timeout(cell: &Cell) -> Result<Option<Duration>, Failure> {
    Ok((cell.text(TIMEOUT.name)? == "0").then_some(Duration::ZERO))
}

/// Every mechanism as a subject.
pub(crate) fn subjects() -> Vec<Subject> {
    readiness::all().map(subject).collect()
}

/// The mechanism that a subject is.
pub(crate) fn row(subject: &str) -> Result<&'static Mechanism, Failure> {
    readiness::find(subject).ok_or_else(|| Failure::new(format!("there is no mechanism {subject}")))
}

/// That `parameter` is more than the `max` that the limit on descriptors allows.
pub(crate) fn at_most(parameter: &'static str, asked: u64, max: u64) -> Fit {
    Fit::AtMost {
        parameter,
        max,
        cause: LimitCause::Descriptors { max: descriptors_max() as u64 },
        remedy: format!("as root: ulimit -n {}", asked.saturating_mul(2).saturating_add(1_000)),
    }
}

/// Whether the mechanism itself delivered what came.
pub(crate) fn took_part(mechanism: &dyn Readiness) -> Result<(), Failure> {
    if mechanism.recoveries() == 0 {
        return Ok(());
    }
    Err(Failure::new(
        "its queue was full (RLIMIT_SIGPENDING): a look at all descriptors stood in for it",
    ))
}

/// Whether the mechanism of that name works here.
pub(crate) fn check(mechanism: &'static str) -> Check {
    Check::new(move || match readiness::find(mechanism) {
        Some(row) => (row.available)().map_err(|why| why.0),
        None => Err(format!("there is no mechanism {mechanism}")),
    })
}

fn subject(row: &'static Mechanism) -> Subject {
    let duty = match row.trigger {
        Trigger::Level => "",
        Trigger::Edge => "edge-triggered: its handler reads until the call would block",
        Trigger::Oneshot => "oneshot: its handler arms the descriptor again",
    };
    let (label, note) = (row.label.into(), duty.into());
    let info = SubjectInfo { label, note, ..SubjectInfo::named(row.name) };
    Subject { available: check(row.name), ..Subject::new(info, row.summary) }
}
