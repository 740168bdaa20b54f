//! What does the harness itself cost?
//!
//! One operation is nothing: an addition that the compiler may not remove. What is measured is the
//! loop around it, the clock that is taken off, and the path of the figures through the instrument.
//! A figure of another workload that is not well above these says nothing. [`bare_ns`] is the reference:
//! the same operation without the harness.

use engine::{
    About, Cell, Defaults, Failure, MetricInfo, Parameter, Probe, Subject, Sweep, Values, Workload,
    WorkloadInfo, WorkloadRole, strings,
};
use std::hint::black_box;
use std::sync::LazyLock;
use std::time::Instant;

/// The row of the table.
pub(crate) const WORKLOAD: Null = Null;

pub(crate) struct Null;

static ABOUT: LazyLock<About> = LazyLock::new(|| About {
    info: WorkloadInfo {
        name: "null".into(),
        question: "What does the harness itself cost?".into(),
        operation: "nothing: an addition that the compiler may not remove".into(),
        not_measured: strings([
            "system calls, caches, or anything else that a machine can be slow at",
        ]),
        role: WorkloadRole::Control,
        metrics: vec![
            MetricInfo::time("batch", "empty operation in a batch"),
            MetricInfo::time("part", "nothing between start and stop of the watch"),
            MetricInfo::time("trajectory", "empty operation timed on its own"),
        ],
        ..About::plain().info
    },
    parameters: vec![TIMES],
    ..About::plain()
});

/// The axis of a workload that does nothing: a number that changes nothing either.
pub(crate) const TIMES: Parameter = Parameter {
    name: "times",
    about: "how often nothing is done; changes nothing",
    values: Values::AtLeast(1),
    default: Defaults::always(&["1"]),
    sweep: Some(Sweep {
        label: "times nothing",
        points: Defaults::always(&["10", "100", "1k", "10k"]),
    }),
};

/// Turns of the bare loop, so few that most trials are not interrupted.
const TURNS: u64 = 200_000;
const TRIALS: usize = 40;

/// The operation: the compiler may neither remove it nor join two of them.
#[inline]
fn nothing(done: &mut u64) {
    *done = black_box(*done + 1);
}

/// The shortest time of this workload's operation in a bare loop, in nanoseconds, by the standard library's clock.
///
/// It is compiled here, as the operation is: a loop in a crate without optimisation would cost more than the harness.
pub fn bare_ns() -> f64 {
    let trial = |_| {
        let mut done = 0_u64;
        let start = Instant::now();
        for _ in 0..TURNS {
            nothing(&mut done);
        }
        start.elapsed().as_nanos() as f64 / TURNS as f64
    };
    (0..TRIALS).map(trial).fold(f64::INFINITY, f64::min)
}

impl Workload for Null {
    fn about(&self) -> &About {
        &ABOUT
    }

    fn subjects(&self) -> Vec<Subject> {
        vec![Subject::plain("empty", "does nothing")]
    }

    fn measure(&self, _cell: &Cell, probe: &mut Probe) -> Result<(), Failure> {
        let (mut done, mut checked) = (0_u64, 0_u64);
        let add = |done: &mut u64| {
            nothing(done);
            Ok(())
        };
        probe.steady("batch", &mut done, add, |done, operations| {
            checked += operations;
            if *done != checked {
                return Err(Failure::new("the harness lost count of its operations"));
            }
            Ok(())
        })?;
        probe.part("part", &mut (), |(), watch| {
            watch.start();
            watch.stop();
            Ok(())
        })?;
        probe.trajectory("trajectory", 100, |_| add(&mut done))
    }
}
