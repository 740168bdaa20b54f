//! How do many threads that wait for the same events share them?
//!
//! A server with a thread for each CPU has a choice: all wait on one set, each has a set of its own with everything in it, or
//! each has its share. One set is one lock and one queue of waiters in the kernel; sets with everything in them are all woken
//! by each event; shares leave a thread idle while another is behind.
//!
//! Tokens go round, as in `pipetest`, and threads pass them on: a thread waits, takes the token that came, and sends it
//! to the next descriptor, where it wakes this thread or another. So `--ready` events are under way at any time, and
//! nothing but the waiters themselves works. With `--event connection` a token is a connection of its own: it is accepted,
//! read and closed, and the thread connects again.
//!
//! Each token carries the time at which it was sent, so that its wait is measured, the wake-up of a thread in it. In the end
//! every token has to be there once, and all that threads counted has to be what tokens went through.

mod events;
mod sets;
mod thread;

use crate::readiness::mechanisms::{OWN_DESCRIPTORS, at_most, check};
use crate::shared::crew::{By, Counted, Crew, Ending, Seat};
use crate::shared::{cpus, waits};
use engine::{
    About, Cell, Check, Defaults, Failure, Fit, Kind, MetricInfo, MetricRole, Parameter, Probe,
    Subject, SubjectInfo, Sweep, Usual, Values, Workload, WorkloadInfo, descriptors_max, pairs,
    strings,
};
use events::{EVENTS, Events};
use sets::{Sets, WAYS, Way};
use std::sync::{LazyLock, Mutex, PoisonError};
use std::time::Duration;
use sys::clock::Clock;
use thread::Seen;

/// The row of the table.
pub(crate) const WORKLOAD: Waiters = Waiters;

pub(crate) struct Waiters;

/// More threads than this say nothing that fewer don't.
const THREADS_MAX: u64 = 1_024;
/// As many tokens as one pipe has room for: where it is the only one.
const READY_MAX: u64 = 4_096;

const THREADS: Parameter = Parameter {
    name: "threads",
    about: "threads that wait",
    values: Values::TimesOf("cpus"),
    default: Defaults::always(&["1x"]),
    sweep: Some(Sweep::new(
        "threads",
        &["1", "1x", "2x", "4x"],
        &["1", "1/2x", "1x", "2x", "4x", "8x", "16x"],
    )),
};

const READY: Parameter = Parameter {
    name: "ready",
    about: "events that are under way at any time",
    values: Values::Between(1, READY_MAX),
    default: Defaults::always(&["16"]),
    sweep: Some(Sweep::new("ready", &["1", "16", "256"], &["1", "4", "16", "64", "256", "1k"])),
};

const DESCRIPTORS: Parameter = Parameter {
    name: "descriptors",
    about: "descriptors among which tokens go round; connections have a listener instead",
    values: Values::Between(1, 1_000_000),
    default: Defaults::always(&["1k"]),
    sweep: None,
};

const BATCH: Parameter = Parameter {
    name: "batch",
    about: "the most events that one epoll_wait takes",
    values: Values::Between(1, 65_536),
    default: Defaults::always(&["128"]),
    sweep: Some(Sweep { label: "batch", points: Defaults::always(&["1", "16", "128"]) }),
};

static ABOUT: LazyLock<About> = LazyLock::new(|| About {
    info: WorkloadInfo {
        name: "waiters".into(),
        question: "How do many threads that wait for the same events share them?".into(),
        operation: "an event: a thread waits for it, takes it, and causes the next one".into(),
        not_measured: strings([
            "what a server does with an event: threads wait, read and write",
            "threads that are pinned to a CPU each: the scheduler slots them on --cpus",
            "events from elsewhere: each is caused by a thread that has just taken one",
        ]),
        ratio: Some(cpus::per_cpu(THREADS.name)),
        compared_pairs: pairs([
            ("epoll-each", "epoll-exclusive"),
            ("epoll-level", "epoll-sharded"),
            ("epoll-level", "blocking"),
        ]),
        metrics: vec![
            MetricInfo::more("events", "events", "events/s"),
            MetricInfo::more("each", "events of one thread", "events/s"),
            MetricInfo::time("cpu", "event, on all CPUs").with_role(MetricRole::Cpu),
            MetricInfo::less("wakes", "returns of the wait per event", ""),
            MetricInfo::less("empty", "of these without an event, per 1,000 events", ""),
            MetricInfo::more("fairness", "Jain's index of the threads' events", "")
                .with_role(MetricRole::Fairness),
            MetricInfo::time("latency", "event, from its cause until it is taken, at the median"),
            MetricInfo::time("p99", "the same at the 99th percentile"),
            MetricInfo::time("longest", "the same, the longest").with_role(MetricRole::MaxWait),
        ],
        ..About::plain().info
    },
    kind: Kind::Named,
    parameters: vec![THREADS, READY, DESCRIPTORS, BATCH, EVENTS, cpus::ALL],
    usual: Usual { rounds: 9, ..Usual::PLAIN },
    ..About::plain()
});

impl Workload for Waiters {
    fn about(&self) -> &About {
        &ABOUT
    }

    fn subjects(&self) -> Vec<Subject> {
        WAYS.iter().map(subject).collect()
    }

    fn fit(&self, cell: &Cell) -> Fit {
        let number = |parameter: &Parameter| cell.number(parameter.name).unwrap_or(0);
        let fit = cpus::threads_at_most(cell, &THREADS, THREADS_MAX);
        if fit != Fit::Measure {
            return fit;
        }
        // A pipe has two ends; threads have a set each, and a token that is a connection has two ends too.
        let reserved = 2 * (number(&READY) + number(&THREADS)) + OWN_DESCRIPTORS as u64;
        let max = (descriptors_max() as u64).saturating_sub(reserved) / 2;
        let asked = number(&DESCRIPTORS);
        if asked > max { at_most(DESCRIPTORS.name, asked, max) } else { Fit::Measure }
    }

    fn measure(&self, cell: &Cell, probe: &mut Probe) -> Result<(), Failure> {
        cpus::choose(cell)?;
        let way = cell.find_subject(WAYS, |way| way.name)?;
        let number = |parameter: &Parameter| cell.number(parameter.name).map(|n| n as usize);
        let game = Game {
            kind: events::Kind::from_cell(cell)?,
            threads: number(&THREADS)?,
            tokens: number(&READY)?,
            descriptors: number(&DESCRIPTORS)?,
            batch: number(&BATCH)?,
            clock: probe.clock(),
            time: probe.time(),
        };
        let (counted, seen) = game.play(way)?;
        counted.state("events", probe);
        probe.given("wakes", &[seen.returns as f64 / seen.events as f64], seen.events);
        probe.given("empty", &[1e3 * seen.empty as f64 / seen.events as f64], seen.events);
        waits::state("latency", &seen.latencies, probe);
        Ok(())
    }
}

/// What a cell asks for.
#[derive(Clone, Copy)]
struct Game {
    kind: events::Kind,
    threads: usize,
    tokens: usize,
    descriptors: usize,
    batch: usize,
    clock: Clock,
    time: Duration,
}

impl Game {
    /// Has all threads share the tokens, and looks whether each is there in the end.
    fn play(&self, way: &Way) -> Result<(Counted<u64>, Seen), Failure> {
        let events = Events::open(self, way.sets)?;
        let shared = sets::Shared::open(way, &events, self)?;
        let seen = Mutex::new(Seen::new());
        let life = |seat: &Seat<'_>| {
            let seen_here = thread::life(&events, &shared, seat)?;
            seen.lock().unwrap_or_else(PoisonError::into_inner).add(seen_here);
            Ok(())
        };
        let crew = Crew {
            workers: self.threads,
            life: &life,
            cpus: Vec::new(),
            clock: self.clock,
            ending: Ending::After(self.time),
            right: true,
        };
        let counted = crew.count(By::Threads)?;
        let seen = seen.into_inner().unwrap_or_else(PoisonError::into_inner);
        events.verdict(seen.events).map_err(Failure::new)?;
        Ok((counted, seen))
    }
}

fn subject(way: &Way) -> Subject {
    let available = match way.sets {
        Sets::Sharded(mechanism) => check(mechanism),
        _ => Check::default(),
    };
    Subject { available, ..Subject::new(SubjectInfo::named(way.name), way.summary) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use events::Kind;

    #[test]
    fn every_way_hands_on_every_event_once() {
        for way in WAYS.iter().filter(|way| subject(way).available.ask().is_ok()) {
            for (kind, threads, tokens, descriptors) in [
                (Kind::Token, 1, 1, 1),
                (Kind::Token, 3, 8, 20),
                (Kind::Token, 4, 2, 2),
                (Kind::Connection, 1, 1, 1),
                (Kind::Connection, 3, 4, 1),
            ] {
                let (clock, time) = (Clock::Monotonic, Duration::from_millis(5));
                let game = Game { kind, threads, tokens, descriptors, batch: 16, clock, time };
                let (counted, seen) =
                    game.play(way).unwrap_or_else(|failure| panic!("{}: {failure}", way.name));
                let all = seen.events;
                assert!(all >= counted.operations() && all > 0, "{}: {all}", way.name);
                assert_eq!(seen.latencies.len(), all, "{}", way.name);
            }
        }
    }

    #[test]
    fn more_threads_or_descriptors_than_can_be_are_left_out() {
        let fit = |threads: u64, descriptors: u64| {
            let parameters =
                [("threads", threads), ("descriptors", descriptors), ("ready", 16), ("batch", 1)];
            let parameters = parameters.map(|(name, number)| (name.to_owned(), number.into()));
            WORKLOAD.fit(&Cell { parameters: parameters.into(), ..Cell::default() })
        };
        assert_eq!(fit(THREADS_MAX, 100), Fit::Measure);
        assert!(matches!(fit(THREADS_MAX + 1, 100), Fit::AtMost { parameter: "threads", .. }));
        let limit = descriptors_max() as u64;
        assert!(matches!(fit(4, limit), Fit::AtMost { parameter: "descriptors", .. }));
    }
}
