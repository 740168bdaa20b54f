//! Workers that die or hang: each costs its own cell, and nothing of it is left.

use super::bench::request;
use super::{Bench, Control, Proof, State, twice};
use crate::exit::Trouble;
use engine::RunRequest;
use model::{FailureReason, Outcome, Run};
use serde_json::json;
use std::collections::BTreeSet;
use std::time::Duration;

pub const CONTROL: Control = Control {
    name: "dying-workers",
    proves: "a worker that is killed, crashes or hangs fails its own cell, the run goes on, and nothing \
             is left behind",
    prove: |bench| twice(2, |rounds| prove(bench, rounds)),
};

/// What misbehaves, and why its cells have to fail; none where they have to be measured.
fn faults() -> [(&'static str, Option<FailureReason>); 5] {
    let killed = |signal: &str| Some(FailureReason::KilledBySignal { signal: signal.to_owned() });
    let activity = String::new();
    let late = FailureReason::DeadlineExceeded { deadline_ms: DEADLINE_MS, activity };
    [
        ("well-behaved", None),
        ("is-killed", killed("SIGKILL")),
        ("segfaults", killed("SIGSEGV")),
        ("hangs", Some(late)),
        ("leaves-orphans", Some(FailureReason::ProcessesLeft { count: 1 })),
    ]
}
const DEADLINE_MS: u64 = 1_000;

fn prove(bench: &mut Bench, rounds: u32) -> Result<Proof, Trouble> {
    let subjects = faults().map(|(name, _)| name);
    let request = RunRequest {
        deadline: Some(Duration::from_millis(DEADLINE_MS)),
        ..request(&["fault"], &subjects, &["1"], rounds, 1)
    };
    let before = Around::now();
    let run = bench.measured(&request)?;
    Ok(judged(&run, &before, &Around::now()))
}

/// What belongs to this process.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Around {
    /// Children, by their ids: orphans of workers become children of this process.
    children: BTreeSet<u32>,
    descriptors: usize,
}

impl Around {
    fn now() -> Around {
        let children = sys::proc::children("self").into_iter().collect();
        Around { children, descriptors: sys::proc::open_descriptors() }
    }
}

fn judged(run: &Run, before: &Around, after: &Around) -> Proof {
    let mut amiss = Vec::new();
    let (mut failed, mut measured) = (0_usize, 0_usize);
    for (subject, wanted) in &faults() {
        let cells = run.cells.iter().filter(|cell| cell.key.subject == *subject);
        for cell in cells {
            match (&cell.outcome, wanted) {
                (Outcome::Measured, None) => measured += 1,
                (Outcome::Failed { reason, .. }, Some(wanted))
                    if reason.event() == wanted.event() =>
                {
                    failed += 1;
                }
                (Outcome::Measured, _) => amiss.push(format!("{subject} was measured")),
                (Outcome::Failed { reason, .. }, _) => {
                    amiss.push(format!("{subject} failed for another reason: {reason}"));
                }
            }
        }
    }
    let rounds = run.plan.rounds as usize;
    let expected = [faults().len() - 1, 1].map(|subjects| subjects * rounds);
    if [failed, measured] != expected && amiss.is_empty() {
        amiss.push(format!("{} failed and {} measured were to be", expected[0], expected[1]));
    }
    if run.cells.len() != run.plan.cells.len() || run.cells.is_empty() {
        amiss.push(format!("{} of {} cells ended", run.cells.len(), run.plan.cells.len()));
    }
    let left = after.children.difference(&before.children).count();
    let open = after.descriptors.saturating_sub(before.descriptors);
    if left > 0 || open > 0 {
        amiss.push(format!("{left} processes and {open} descriptors were left behind"));
    }
    let state = if amiss.is_empty() { State::Proved } else { State::Failed };
    let seen = format!(
        "{failed} cells failed for the right reason (SIGKILL, SIGSEGV, a hang, an orphan), {measured} \
         measured next to them; {left} processes and {open} descriptors left"
    );
    let seen = amiss.iter().fold(seen, |seen, what| format!("{seen}; {what}"));
    let figures = json!({
        "failed": failed, "measured": measured, "processes_left": left, "descriptors_left": open,
    });
    Proof::new(state, seen, figures)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::commands::machine::selftest::tests::fake;

    fn around(children: &[u32], descriptors: usize) -> Around {
        Around { children: children.iter().copied().collect(), descriptors }
    }

    fn run_of_faults(odd: &'static str) -> Run {
        let subjects = super::faults().map(|(name, _)| name);
        fake(&request(&["fault"], &subjects, &["1"], 2, 1), |key| {
            let fault = super::faults().into_iter().find(|(name, _)| *name == key.subject);
            match fault.and_then(|(_, reason)| reason) {
                Some(_) if key.subject == odd => Ok(1.0),
                Some(reason) => Err(reason),
                None if key.subject == odd => {
                    Err(FailureReason::KilledBySignal { signal: "SIGKILL".into() })
                }
                None => Ok(1.0),
            }
        })
    }

    #[test]
    fn a_worker_that_passes_for_sound_and_one_that_leaves_something_are_found() {
        let before = around(&[7], 10);
        assert_eq!(judged(&run_of_faults(""), &before, &before).state, State::Proved);
        for odd in ["is-killed", "hangs", "well-behaved"] {
            assert_eq!(judged(&run_of_faults(odd), &before, &before).state, State::Failed, "{odd}");
        }
        assert_eq!(judged(&run_of_faults(""), &before, &around(&[7, 8], 10)).state, State::Failed);
        assert_eq!(judged(&run_of_faults(""), &before, &around(&[7], 11)).state, State::Failed);
        let mut cut = run_of_faults("");
        cut.cells.pop();
        assert_eq!(judged(&cut, &before, &before).state, State::Failed);
        let mut never_tried = run_of_faults("");
        never_tried.cells.retain(|cell| cell.key.subject != "hangs");
        never_tried.plan.cells.retain(|key| key.subject != "hangs");
        assert_eq!(judged(&never_tried, &before, &before).state, State::Failed);
    }
}
