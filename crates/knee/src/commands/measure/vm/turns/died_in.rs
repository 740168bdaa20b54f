//! A cell that its guest dies in twice: it is kept as failed, and the guest goes on behind it.

use guest::GuestFault;
use model::{Cell, CellKey, FailureReason, Outcome, ReplyFault, Run};

/// How a cell ended that the guest died in twice.
pub(super) fn outcome(fault: &GuestFault) -> Outcome {
    failed(fault, format!("the guest died in it twice: {fault}"))
}

/// A place of the plan (a subject at a point) of which nothing was measured before the guest died in it twice: nor is it in
/// later rounds.
pub(super) struct DeadEnd {
    group: CellKey,
    round: u32,
    fault: GuestFault,
}

impl DeadEnd {
    /// That of the cell `key`, unless an earlier round measured it.
    pub fn new(run: &Run, key: &CellKey, fault: &GuestFault) -> Option<DeadEnd> {
        let group = key.in_first_round();
        let was_measured =
            |cell: &Cell| cell.outcome == Outcome::Measured && cell.key.in_first_round() == group;
        let is_dead_end = !run.cells.iter().any(was_measured);
        is_dead_end.then(|| DeadEnd { round: key.round, group, fault: fault.clone() })
    }

    pub fn is_at(&self, key: &CellKey) -> bool {
        key.in_first_round() == self.group
    }

    pub fn outcome(&self) -> Outcome {
        let DeadEnd { round, fault, .. } = self;
        let round = round + 1;
        failed(fault, format!("not measured: the guest died twice in it in round {round}: {fault}"))
    }
}

fn failed(fault: &GuestFault, detail: String) -> Outcome {
    let reason = match fault {
        GuestFault::Late(patience, _) | GuestFault::Silent(patience) => {
            let activity = "the guest hung".to_owned();
            FailureReason::DeadlineExceeded { deadline_ms: patience.as_millis() as u64, activity }
        }
        _ => FailureReason::EndUnknown { reply: Some(ReplyFault::Missing) },
    };
    Outcome::Failed { reason, detail }
}
