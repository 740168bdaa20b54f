//! Instructions and cycles of a command, where the machine counts them.

use engine::{Failure, MetricInfo};
use rustix::io::Errno;
use std::io;
use std::sync::OnceLock;
use sys::perf::{Count, CountedEvent, Counter, Modes};

/// Why nothing is counted.
const NONE: &str = "this machine has no hardware counters (a virtual machine may hide them)";

const EVENTS: [(CountedEvent, &str, &str); 2] = [
    (CountedEvent::Instructions, "instructions", "instructions of a run, its start included"),
    (CountedEvent::Cycles, "cycles", "CPU cycles of a run"),
];

/// The metrics that can be counted here; none on a machine without counters.
pub(super) fn metrics() -> Vec<MetricInfo> {
    let has = has_counters().is_ok();
    let metric = |(_, name, about): &(_, &str, &str)| MetricInfo::less(name, about, name);
    EVENTS.iter().filter(|_| has).map(metric).collect()
}

/// Whether both can be counted, and in which modes; or why not.
fn has_counters() -> &'static Result<Modes, String> {
    static HAS: OnceLock<Result<Modes, String>> = OnceLock::new();
    HAS.get_or_init(|| {
        let [all, user] = [Modes::All, Modes::User].map(|modes| {
            EVENTS.iter().try_for_each(|(event, ..)| Counter::start(*event, modes).map(drop))
        });
        match (all, user) {
            (Ok(()), _) => Ok(Modes::All),
            (Err(_), Ok(())) => Ok(Modes::User),
            (Err(_), Err(error)) => Err(reason(&error)),
        }
    })
}

fn reason(error: &io::Error) -> String {
    match Errno::from_io_error(error) {
        Some(Errno::NOENT | Errno::OPNOTSUPP | Errno::NODEV) => NONE.to_owned(),
        Some(Errno::ACCESS | Errno::PERM) => {
            format!("{error} (kernel.perf_event_paranoid, or a sandbox)")
        }
        _ => format!("perf_event_open: {error}"),
    }
}

/// What counts while commands run: they are started by this thread, and what it starts is counted with it.
pub(super) struct Counters {
    counters: Vec<Counter>,
    /// What a reader has to know about them; empty where all is counted.
    pub note: String,
}

impl Counters {
    /// Begins, where this machine has counters.
    pub fn start() -> Result<Counters, Failure> {
        let modes = match has_counters() {
            Ok(modes) => *modes,
            Err(why) => return Ok(Counters { counters: Vec::new(), note: why.clone() }),
        };
        let started: io::Result<Vec<Counter>> =
            EVENTS.iter().map(|(event, ..)| Counter::start(*event, modes)).collect();
        let counters = started.map_err(|error| Failure::call("counting instructions", error))?;
        let note = match modes {
            Modes::All => "",
            Modes::User => "in user mode only (kernel.perf_event_paranoid)",
        };
        Ok(Counters { counters, note: note.to_owned() })
    }

    /// The counts so far, in the order of [`metrics`].
    pub fn read(&self) -> io::Result<Vec<Count>> {
        self.counters.iter().map(Counter::read).collect()
    }

    /// What was counted between two readings, in the order of [`metrics`].
    pub fn between(before: &[Count], after: &[Count]) -> Result<Vec<u64>, Failure> {
        let counts = before.iter().zip(after).map(|(before, after)| after.since(*before));
        counts.collect::<Option<_>>().ok_or_else(|| {
            Failure::new(
                "another program uses the CPU's counters: instructions and cycles were not counted",
            )
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_are_counts_or_a_reason() {
        let counters = Counters::start().unwrap();
        let nothing = vec![Count::default(); metrics().len()];
        let counts = Counters::between(&nothing, &counters.read().unwrap()).unwrap();
        assert_eq!(counts.len(), metrics().len());
        assert!(!counts.is_empty() || !counters.note.is_empty());
        assert!(counts.iter().all(|&count| count > 0), "this thread has run: {counts:?}");
    }

    #[test]
    fn what_is_missing_is_named() {
        assert_eq!(reason(&io::Error::from(Errno::NOENT)), NONE);
        assert!(reason(&io::Error::from(Errno::ACCESS)).contains("perf_event_paranoid"));
        assert!(reason(&io::Error::from(Errno::NOSYS)).starts_with("perf_event_open: "));
    }
}
