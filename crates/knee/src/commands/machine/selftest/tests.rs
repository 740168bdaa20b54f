//! Tests of what all controls share; and runs that are made up: what a control makes of material that is wrong.

use super::*;
use engine::RunRequest;
use model::{Cell, CellKey, FailureReason, Metric, Outcome, RunState};

/// A whole run of what was asked for, of which each cell came to what `outcome` says.
pub fn fake(request: &RunRequest, outcome: impl Fn(&CellKey) -> Result<f64, FailureReason>) -> Run {
    let plan = engine::plan(request, workloads::TABLE).unwrap();
    let mut run = engine::new_run(plan, vec!["knee".to_owned()], "0.1.0", &engine::calibrate());
    let headline = |name: &str| {
        let info = run.plan.workloads.iter().find(|info| info.name == name).unwrap();
        info.metrics[0].name.clone()
    };
    let mut random = fastrand::Rng::with_seed(7);
    run.cells = run
        .plan
        .cells
        .iter()
        .enumerate()
        .map(|(sequence, key)| {
            let came = outcome(key);
            // Half a percent of noise, as a quiet machine has it.
            let samples = came.as_ref().map_or_else(
                |_| Vec::new(),
                |ns| (0..40).map(|_| ns * (1.0 + 0.005 * (random.f64() - 0.5))).collect(),
            );
            let name = headline(&key.workload);
            // In batches, as a steady figure is timed: no reading of the clock is taken off.
            let metric = Metric { name, samples, operations: 4_000, ..Metric::default() };
            Cell {
                key: key.clone(),
                sequence: sequence as u64,
                outcome: came.clone().map_or_else(
                    |reason| Outcome::Failed { reason, detail: String::new() },
                    |_| Outcome::Measured,
                ),
                elapsed_ns: 1,
                metrics: if came.is_ok() { vec![metric] } else { Vec::new() },
                ..Cell::default()
            }
        })
        .collect();
    run.summary.state = RunState::Complete;
    run.host_after = Some(run.host_before.clone());
    run
}

fn proof(state: State) -> Proof {
    Proof::new(state, "seen", json!({}))
}

#[test]
fn what_is_not_shown_is_tried_again_with_twice_the_rounds_and_no_more() {
    for (first, second) in [(State::Undecided, State::Proved), (State::Failed, State::Failed)] {
        let mut tries = Vec::new();
        let came = twice(5, |rounds| {
            tries.push(rounds);
            Ok(proof(if rounds == 5 { first } else { second }))
        });
        assert_eq!((came.unwrap().state, tries), (second, vec![5, 10]));
    }
    for state in [State::Proved, State::NotPossible] {
        let once = twice(5, |rounds| {
            assert_eq!(rounds, 5);
            Ok(proof(state))
        });
        assert_eq!(once.unwrap().seen, "seen");
    }
}

#[test]
fn only_what_was_shown_or_has_no_means_passes() {
    let came = |state| Proved { control: &CONTROLS[0], proof: proof(state), took: Duration::ZERO };
    for (state, wanted) in [
        (State::Proved, Exit::Done),
        (State::NotPossible, Exit::Done),
        (State::Undecided, Exit::Inconclusive),
        (State::Failed, Exit::Failed),
    ] {
        let tested = tested(vec![came(State::Proved), came(state)], &[]);
        assert_eq!(tested.exit(), wanted, "{state:?}");
        assert_eq!(json(&tested)["passed"], wanted == Exit::Done);
    }
    let nothing_possible = tested(vec![came(State::NotPossible)], &[]);
    assert_eq!(nothing_possible.exit(), Exit::NotPossibleHere, "nothing was shown");
    let cut = tested(vec![came(State::Proved)], &["growth", "full-disk"]);
    let output = json(&cut);
    assert_eq!((&output["passed"], &output["interrupted"]), (&json!(false), &json!(true)));
    assert_eq!(output["not_run"], json!(["growth", "full-disk"]));
    let style = report::layout::Style { width: 100, ..crate::output::style(false) };
    let last = text::table(&cut, &style).lines().last().unwrap_or_default().to_owned();
    assert_eq!(last, "1 proved, in 0 s. Not run: growth and full-disk.");
}

fn tested(all: Vec<Proved>, not_run: &[&'static str]) -> Tested {
    let interrupted = !not_run.is_empty();
    Tested { all, not_run: not_run.to_vec(), interrupted, took: Duration::ZERO }
}

#[test]
fn what_is_rounded_to_zero_has_no_minus() {
    assert_eq!(signed(-0.04, 1), "+0.0");
    assert_eq!(signed(-0.06, 1), "-0.1");
    assert_eq!(signed(12.34, 1), "+12.3");
    assert_eq!(format!("{:.2}", unsigned_zero(-0.001, 2)), "0.00");
}
