//! A lock that locks nothing, on purpose: the check that guards every figure of locks has to catch it.

use super::bench::request;
use super::{Control, Proof, State, twice};
use model::{Cell, FailureReason, Outcome, Run};
use serde_json::json;

pub const CONTROL: Control = Control {
    name: "broken-lock",
    proves: "a lock that locks nothing is caught in every cell, and one that locks is not",
    prove: |bench| {
        twice(4, |rounds| {
            let subjects = [BROKEN, SOUND];
            Ok(judged(&bench.measured(&request(&["lock"], &subjects, &["4"], rounds, 20))?))
        })
    },
};

const BROKEN: &str = "broken";
const SOUND: &str = "pthread-mutex";

fn judged(run: &Run) -> Proof {
    let cells_of = |subject: &'static str| {
        run.cells.iter().filter(move |cell: &&Cell| cell.key.subject == subject)
    };
    let reasons: Vec<&FailureReason> = cells_of(BROKEN).filter_map(reason).collect();
    let late = reasons.iter().filter(|reason| reason.is_unfinished()).count();
    let (cells, caught) = (cells_of(BROKEN).count(), reasons.len() - late);
    let (sound, accused) = (cells_of(SOUND).count(), cells_of(SOUND).filter_map(reason).count());
    let state = match () {
        () if cells == 0 || sound == 0 || accused > 0 || caught + late < cells => State::Failed,
        () if caught < cells => State::Undecided,
        () => State::Proved,
    };
    let example = reasons.first().map(|reason| format!(": {reason}")).unwrap_or_default();
    let seen = format!(
        "{BROKEN} caught in {caught} of {cells} cells{example}; {SOUND} accused in {accused} of {sound}"
    );
    let figures = json!({
        "broken_cells": cells, "caught": caught, "sound_cells": sound, "accused": accused,
    });
    Proof::new(state, seen, figures)
}

fn reason(cell: &Cell) -> Option<&FailureReason> {
    match &cell.outcome {
        Outcome::Failed { reason, .. } => Some(reason),
        Outcome::Measured => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::commands::machine::selftest::tests::fake;

    fn caught() -> FailureReason {
        FailureReason::CheckFailed { message: "2 threads were inside at once".into() }
    }

    fn state(outcome: impl Fn(&str, u32) -> Result<f64, FailureReason>) -> State {
        let request = request(&["lock"], &[BROKEN, SOUND], &["4"], 3, 1);
        judged(&fake(&request, |key| outcome(&key.subject, key.round))).state
    }

    #[test]
    fn a_control_that_is_not_caught_or_that_accuses_the_sound_is_found() {
        let wrong = |subject: &str| if subject == BROKEN { Err(caught()) } else { Ok(100.0) };
        assert_eq!(state(|subject, _| wrong(subject)), State::Proved);
        assert_eq!(state(|_, _| Ok(100.0)), State::Failed, "a lock that is not broken");
        assert_eq!(state(|_, _| Err(caught())), State::Failed, "a sound lock accused");
        let once = |subject: &str, round| if round == 1 { Ok(100.0) } else { wrong(subject) };
        assert_eq!(state(once), State::Failed, "caught in some cells only");
        let late = |subject: &str| match subject {
            BROKEN => Err(FailureReason::LockStalled { waited_ms: 3_000 }),
            _ => Ok(100.0),
        };
        assert_eq!(state(|subject, _| late(subject)), State::Undecided);
    }
}
