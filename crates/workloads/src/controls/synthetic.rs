//! Does the analysis find what is known to be there?
//!
//! One operation is a loop of as many turns as the subject is named after: always as many, or as many as
//! n, n log n, n² and so on say. What a series has to come out as is known before it is measured, so that
//! `knee selftest` can hold the whole way against it: worker, record, analysis, findings.
//!
//! With the variable [`SLOWER`] in its environment a worker does so much more work for one subject:
//! `linear=1.03` is 3 % more turns. That is work which is done and timed like any other.

use crate::shared::turns::turn;
use engine::{
    About, Cell, Defaults, Failure, Kind, MetricInfo, Parameter, Probe, Subject, SubjectInfo,
    Sweep, Values, Workload, WorkloadInfo, strings,
};
use std::hint::black_box;
use std::sync::LazyLock;

/// The row of the table.
pub(crate) const WORKLOAD: Known = Known;

pub(crate) struct Known;

/// The variable that has a worker do more: `SUBJECT=FACTOR`.
pub const SLOWER: &str = "KNEE_KNOWN_SLOWER";

const SIZE: Parameter = Parameter {
    name: "size",
    about: "n of the known curves",
    values: Values::Between(16, 4_096),
    default: Defaults::always(&["16"]),
    sweep: Some(Sweep {
        label: "n of a known curve",
        points: Defaults::always(&["16", "32", "64", "128", "256", "512", "1024"]),
    }),
};

static ABOUT: LazyLock<About> = LazyLock::new(|| About {
    info: WorkloadInfo {
        name: "known".into(),
        // In the first, an operation could begin before the last had ended.
        version: 2,
        question: "Does the analysis find what is known to be there?".into(),
        operation: "a loop of as many turns as the subject's curve says".into(),
        not_measured: strings(["anything that a machine can be slow at"]),
        metrics: vec![MetricInfo::time("turns", "loop of known length")],
        ..About::plain().info
    },
    kind: Kind::Fault,
    parameters: vec![SIZE],
    ..About::plain()
});

/// Turns at the smallest n, where all curves begin: enough for a difference of a thousandth to count, and for
/// the cost of the loop around them not to.
const TURNS_MIN: f64 = 200.0;
/// The smallest n.
const N_MIN: f64 = 16.0;

/// A curve: its name, what it is, and how it grows.
type Curve = (&'static str, &'static str, fn(f64) -> f64);

static CURVES: [Curve; 6] = [
    ("constant", "always as many turns", |_| 1.0),
    ("log", "as many turns as log n says", f64::log2),
    ("root", "as many turns as √n says", f64::sqrt),
    ("linear", "as many turns as n says", |n| n),
    ("n-log-n", "as many turns as n log n says", |n| n * n.log2()),
    ("quadratic", "as many turns as n² says", |n| n * n),
];

impl Workload for Known {
    fn about(&self) -> &About {
        &ABOUT
    }

    fn subjects(&self) -> Vec<Subject> {
        let subject = |&(name, summary, _): &(&str, &str, _)| {
            Subject::new(SubjectInfo::separate(name), summary)
        };
        CURVES.iter().map(subject).collect()
    }

    fn measure(&self, cell: &Cell, probe: &mut Probe) -> Result<(), Failure> {
        let factor = match std::env::var(SLOWER) {
            Ok(asked) => factor(&asked, &cell.subject)?,
            Err(_) => 1.0,
        };
        let curve = cell.find_subject(&CURVES, |(name, ..)| name)?;
        let turns = turns(curve, cell.number(SIZE.name)?, factor);
        if (factor - 1.0).abs() > f64::EPSILON {
            probe.fact("injected factor of turns", factor);
        }
        // A zero that the compiler does not know.
        let zero = black_box(0);
        // Each operation needs the result of the one before: else a CPU begins it before that has ended.
        let operation = |last: &mut u64| {
            *last = turn(turns + (*last & zero));
            Ok(())
        };
        probe.steady("turns", &mut 0, operation, |_, _| Ok(()))
    }
}

/// How many turns one operation has at `n`.
fn turns((.., curve): &Curve, n: u64, factor: f64) -> u64 {
    (TURNS_MIN * curve(n as f64) / curve(N_MIN) * factor).round() as u64
}

/// How much more a subject is to do, by the text of the variable.
fn factor(asked: &str, subject: &str) -> Result<f64, Failure> {
    let read = |(name, factor): (&str, &str)| {
        let factor: f64 = factor.parse().ok()?;
        let is_curve = CURVES.iter().any(|(curve, ..)| *curve == name);
        let is_sound = (0.1..=100.0).contains(&factor);
        (is_curve && is_sound).then_some(if name == subject { factor } else { 1.0 })
    };
    let wrong = || Failure::new(format!("{SLOWER} is {asked:?}, not such as linear=1.03"));
    asked.split_once('=').and_then(read).ok_or_else(wrong)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn curve(name: &str) -> &'static Curve {
        CURVES.iter().find(|(curve, ..)| *curve == name).unwrap()
    }

    #[test]
    fn each_curve_grows_as_its_name_says() {
        let at = |subject: &str| [16, 1024].map(|n| turns(curve(subject), n, 1.0));
        assert_eq!(at("constant"), [200, 200]);
        assert_eq!(at("log"), [200, 500]);
        assert_eq!(at("root"), [200, 1_600]);
        assert_eq!(at("linear"), [200, 12_800]);
        assert_eq!(at("n-log-n"), [200, 32_000]);
        assert_eq!(at("quadratic"), [200, 819_200]);
    }

    #[test]
    fn a_slowdown_is_work_of_the_subject_that_was_named() {
        assert_eq!(turns(curve("linear"), 16, factor("linear=1.03", "linear").unwrap()), 206);
        assert_eq!(turns(curve("log"), 16, factor("linear=1.03", "log").unwrap()), 200);
        for wrong in ["", "linear", "linear=", "linear=three", "cubic=2", "linear=0", "linear=1e9"]
        {
            assert!(factor(wrong, "linear").is_err(), "{wrong}");
        }
    }
}
