//! How does the cost of finding what is ready grow with the watched descriptors?
//!
//! Dan Kegel's Poller_bench. N read ends are watched. One operation: a byte is written to each of A
//! active ones, the mechanism is asked what is ready, and a handler reads each byte. What the
//! mechanism obliges a program to do is part of it: after an edge the handler reads until the call
//! would block, after a oneshot it arms the descriptor again. io_uring and AIO hold requests back until the
//! next wait, which then pays for adding and arming.

mod bench;
mod limits;

use crate::readiness::mechanisms::{self, OWN_DESCRIPTORS, TIMEOUT};
use crate::readiness::objects::{Layout, Object, ObjectIndex, Objects};
use bench::Bench;
use engine::{
    About, Cell, Defaults, Dependence, Failure, Fit, LimitCause, MetricInfo, Original, Parameter,
    Parking, Print, Probe, Ratio, Subject, Sweep, Usual, Values, Workload, WorkloadInfo,
    descriptors_max, pairs, strings,
};
use std::sync::LazyLock;

/// The row of the table.
pub(crate) const WORKLOAD: Poll = Poll;

pub(crate) struct Poll;

/// Opening an object, watching it, parking it and closing it, on a busy machine.
const OBJECT_US_MAX: u64 = 200;

static ABOUT: LazyLock<About> = LazyLock::new(|| About {
    info: WorkloadInfo {
        name: "poll".into(),
        question: "How does the cost of finding what is ready grow with the descriptors watched?"
            .into(),
        operation: "write a byte to each active descriptor, wait, read each byte in its handler"
            .into(),
        not_measured: strings([
            "what a server does besides: accepting, parsing, sending",
            "several threads on one mechanism, or wakers on another CPU: writer and reader are one thread",
            "where io_uring and AIO hold requests back until the next wait, adding is paid in that wait",
            "beyond a process's limit on descriptors, removing those whose descriptors are closed here",
        ]),
        dependences: vec![Dependence {
            parameter: "position".into(),
            depends_on: "activity".into(),
            values: vec!["spaced".into(), "sequential".into()],
        }],
        ratio: Some(Ratio {
            part: "active".into(),
            whole: "watched".into(),
            word: "active".into(),
            multiple: false,
        }),
        compared_pairs: pairs([("poll", "epoll-level")]),
        metrics: vec![
            MetricInfo::time("loop", "write + wait + dispatch"),
            MetricInfo::time("wait", "wait alone"),
            MetricInfo::time("add", "descriptor added"),
            MetricInfo::time("remove", "descriptor removed"),
            MetricInfo::time("open", "object opened"),
            MetricInfo::time("close", "object closed"),
        ],
        ..About::plain().info
    },
    parameters: vec![
        Parameter {
            name: "watched",
            about: "descriptors that are watched",
            values: Values::AtLeast(1),
            default: Defaults::always(&["1k"]),
            sweep: Some(Sweep::new(
                "watched descriptors",
                &["10", "30", "100", "300", "1k", "3k", "10k"],
                &["10", "30", "100", "300", "1k", "3k", "10k", "19k"],
            )),
        },
        Parameter {
            name: "active",
            about: "descriptors that become ready in each loop",
            values: Values::ShareOf("watched"),
            default: Defaults::always(&["1"]),
            sweep: Some(Sweep::new(
                "active descriptors",
                &["1", "10", "100"],
                &["0.1%", "1%", "3%", "10%", "30%", "100%"],
            )),
        },
        Parameter {
            name: "object",
            about: "kind of the watched descriptors",
            values: Values::OneOf(Object::NAMES),
            default: Defaults::always(&["socketpair"]),
            sweep: None,
        },
        Parameter {
            name: "activity",
            about: "which descriptors become ready: evenly spaced ones, adjacent ones, or random ones",
            values: Values::OneOf(&["spaced", "sequential", "random"]),
            default: Defaults::always(&["spaced"]),
            sweep: None,
        },
        Parameter {
            name: "position",
            about: "where a ready descriptor is within its share of the watched ones; without effect for random",
            values: Values::OneOf(&["first", "middle", "last"]),
            default: Defaults::always(&["middle"]),
            sweep: None,
        },
        Parameter { default: Defaults::always(&["0"]), ..TIMEOUT },
    ],
    originals: &[Original {
        name: "poller-bench",
        original: "Dan Kegel's Poller_bench (2000): Poller_bench 5 1 spd 100 1000 10000",
        subjects: &["select", "poll", "epoll-level", "devpoll", "kqueue"],
        points: &["100", "1k", "10k"],
        parameters: &[
            ("active", "1"),
            ("object", "socketpair"),
            ("activity", "spaced"),
            ("position", "middle"),
            ("timeout", "0"),
        ],
        rounds: None,
        print: Print::Microseconds("pipes"),
        also: &[
            ("open", "microseconds to open each of {} socketpairs"),
            ("close", "microseconds to close each of {} socketpairs"),
        ],
        hides: &[
            "a time-out of 0 keeps poll and select from queueing a waiter on each descriptor: a loop \
             that sleeps pays for them (--timeout -1)",
            "one active descriptor in the middle: the cost grows with the active ones too (--axis active)",
            "a mean of 5 seconds a figure, without its spread; select stopped where 2N reached 1,024",
        ],
    }],
    usual: Usual { made_us_max: Some(("watched", OBJECT_US_MAX)), ..Usual::PLAIN },
    ..About::plain()
});

impl Workload for Poll {
    fn about(&self) -> &About {
        &ABOUT
    }

    fn subjects(&self) -> Vec<Subject> {
        mechanisms::subjects()
    }

    fn fit(&self, cell: &Cell) -> Fit {
        let (Ok(watched), Ok(active)) = (cell.number("watched"), cell.number("active")) else {
            return Fit::Measure; // measuring says what is wrong
        };
        let Ok(object) = cell.text("object").and_then(|name| Object::from_name(&name)) else {
            return Fit::Measure;
        };
        if object == Object::Eventfd && matches!(cell.subject.as_str(), "sigio" | "signalfd") {
            return Fit::Leave {
                what: cell.subject.clone(),
                cause: LimitCause::Other { clause: "eventfds send no signals".into() },
                remedy: "watch sockets or pipes: --object socketpair".into(),
            };
        }
        if object == Object::Tcp
            && let Err(message) = sys::loopback::check(false)
        {
            return Fit::Leave {
                what: "TCP".into(),
                cause: LimitCause::Other { clause: message },
                remedy: "watch other objects: --object socketpair".into(),
            };
        }
        let max = watched_max(object, active);
        if max == 0 {
            return Fit::Leave {
                what: "Every number of watched descriptors".into(),
                cause: LimitCause::Descriptors { max: descriptors_max() as u64 },
                remedy: "ulimit -n 1024".into(),
            };
        }
        if watched > max && mechanisms::row(&cell.subject).is_ok_and(|row| row.detaches) {
            let fit = limits::beyond(object, watched, max);
            let possible = if let Fit::AtMost { max, .. } = &fit { *max } else { watched };
            // The active ones are here, with both their ends.
            if Layout::kept_beyond_limit(object, possible as usize, active as usize) > 0 {
                return fit;
            }
        }
        if active > watched.min(max) {
            let (label, value) = ("watched descriptors".into(), watched.min(max));
            return Fit::Leave {
                what: format!("{active} active of {value} watched"),
                cause: LimitCause::Parameter { label, value },
                remedy: "ask for points that are at least as many as --active".into(),
            };
        }
        if watched > max {
            return mechanisms::at_most("watched", watched, max);
        }
        Fit::Measure
    }

    fn measure(&self, cell: &Cell, probe: &mut Probe) -> Result<(), Failure> {
        let row = mechanisms::row(&cell.subject)?;
        let watched = cell.number("watched")? as usize;
        let active = active_indices_of(cell)?;
        let object = Object::from_name(&cell.text("object")?)?;
        let timeout = mechanisms::timeout(cell)?;
        let layout = layout(object, watched, &active);

        let mut mechanism =
            (row.open)(watched).map_err(|error| Failure::call("opening it", error))?;
        let mut objects = Objects::open(&layout, &mut Some(&mut *probe), &mut |ends, timing| {
            bench::add_detached(&mut *mechanism, ends, timing)
        })?;
        let slots = layout.slots(&active)?;
        let mut bench = Bench::new(mechanism, row.trigger, &objects, &slots, timeout)?;
        bench.add_all(probe)?;
        bench.measure_loop(probe)?;
        bench.measure_wait(probe)?;
        bench.remove_all(probe)?;
        drop(bench);
        objects.close(&mut Some(probe))
    }
}

/// Which ends are open here, so that the limit on descriptors is kept.
fn layout(object: Object, watched: usize, active: &[ObjectIndex]) -> Layout {
    if watched as u64 > watched_max(object, active.len() as u64) {
        return Layout::beyond_limit(object, watched, active);
    }
    let park = watched * object.descriptors() + OWN_DESCRIPTORS > descriptors_max();
    Layout::watched_here(object, watched, active, park)
}

/// The most descriptors that can be watched here: all that are allowed, less those that the worker
/// needs for itself, for the peers of the active ones, and for a chunk on its way to be parked.
fn watched_max(object: Object, active: u64) -> u64 {
    let peers = match object {
        Object::Eventfd => 0,
        _ => active.saturating_add(Parking::chunk() as u64),
    };
    (descriptors_max().saturating_sub(OWN_DESCRIPTORS) as u64).saturating_sub(peers)
}

/// Which of the watched become ready in each loop.
fn active_indices_of(cell: &Cell) -> Result<Vec<ObjectIndex>, Failure> {
    let (watched, active) = (cell.number("watched")? as usize, cell.number("active")? as usize);
    if active == 0 || active > watched {
        return Err(Failure::new(format!("{active} active of {watched} watched is no plan")));
    }
    let offset = |slack: usize| match &*cell.text("position")? {
        "first" => Ok(0),
        "last" => Ok(slack),
        _ => Ok::<usize, Failure>(slack.div_ceil(2)),
    };
    Ok(match &*cell.text("activity")? {
        "sequential" => {
            let start = offset(watched - active)?;
            (start..start + active).collect()
        }
        "random" => {
            let mut all: Vec<ObjectIndex> = (0..watched).collect();
            fastrand::Rng::with_seed(cell.seed).shuffle(&mut all);
            all.truncate(active);
            all
        }
        _ => {
            let spacing = watched / active;
            let start = offset(spacing - 1)?;
            (0..active).map(|k| start + k * spacing).collect()
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    fn active_indices(
        watched: u64,
        active: u64,
        activity: &str,
        position: &str,
    ) -> Vec<ObjectIndex> {
        let parameters = [("activity", activity), ("position", position)]
            .map(|(name, value)| (name.to_owned(), value.into()))
            .into_iter()
            .chain([("active".to_owned(), active.into()), ("watched".to_owned(), watched.into())])
            .collect();
        active_indices_of(&Cell { subject: "poll".into(), parameters, seed: 5, ..Cell::default() })
            .unwrap()
    }

    #[test]
    fn spaced_is_as_the_original() {
        assert_eq!(active_indices(100, 1, "spaced", "middle"), [50]);
        assert_eq!(active_indices(100, 4, "spaced", "middle"), [12, 37, 62, 87]);
        assert_eq!(active_indices(100, 1, "spaced", "first"), [0]);
        assert_eq!(active_indices(100, 1, "spaced", "last"), [99]);
        assert_eq!(active_indices(10, 10, "spaced", "last"), (0..10).collect::<Vec<_>>());
    }

    #[test]
    fn sequential_is_one_block() {
        assert_eq!(active_indices(100, 3, "sequential", "first"), [0, 1, 2]);
        assert_eq!(active_indices(100, 3, "sequential", "last"), [97, 98, 99]);
        assert_eq!(active_indices(100, 2, "sequential", "middle"), [49, 50]);
    }

    #[test]
    fn random_is_by_the_seed_and_without_doubles() {
        let drawn = active_indices(1_000, 100, "random", "middle");
        assert_eq!(drawn, active_indices(1_000, 100, "random", "first"));
        let set: HashSet<ObjectIndex> = drawn.iter().copied().collect();
        assert_eq!(set.len(), 100);
        assert!(set.iter().all(|&index| index < 1_000));
    }

    #[test]
    fn every_pattern_stays_within_the_watched() {
        for watched in 1..=40 {
            for active in 1..=watched {
                for activity in ["spaced", "sequential", "random"] {
                    for position in ["first", "middle", "last"] {
                        let active_indices = active_indices(watched, active, activity, position);
                        let distinct: HashSet<ObjectIndex> =
                            active_indices.iter().copied().collect();
                        assert_eq!(distinct.len() as u64, active);
                        assert!(distinct.iter().all(|&index| (index as u64) < watched));
                    }
                }
            }
        }
    }

    #[test]
    fn what_can_not_be_measured_is_left_out_or_clamped() {
        let cell = |subject: &str, watched: u64, active: &str, object: &str| Cell {
            subject: subject.into(),
            parameters: [("active", active), ("object", object), ("watched", &watched.to_string())]
                .map(|(name, value)| (name.into(), value.into()))
                .into(),
            ..Cell::default()
        };
        assert_eq!(Poll.fit(&cell("poll", 10, "10", "pipe")), Fit::Measure);
        assert!(matches!(Poll.fit(&cell("poll", 10, "11", "pipe")), Fit::Leave { .. }));
        assert!(matches!(Poll.fit(&cell("sigio", 10, "1", "eventfd")), Fit::Leave { .. }));
        let limit = watched_max(Object::Pipe, 1);
        let clamp = Poll.fit(&cell("poll", limit + 1, "1", "pipe"));
        assert!(matches!(clamp, Fit::AtMost { max, .. } if max == limit), "{clamp:?}");
    }
}
