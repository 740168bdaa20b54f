//! A cell that its guest dies in twice: it is kept as failed, and the guest goes on behind it.

use super::{GuestSide, Shown};
use crate::exit::complain;
use archive::RunWriter;
use engine::budget::ROUNDS_FEWEST;
use guest::GuestFault;
use model::{Cell, CellKey, FailureReason, Outcome, ReplyFault, Run};

/// Notes that the guest died of `fault` in the cell that it was at. At the second time the cell is kept as failed; and
/// so are those of later rounds, where nothing was ever measured at its place.
pub(super) fn note(
    side: &mut GuestSide,
    fault: &GuestFault,
    archive: &mut dyn RunWriter,
    progress: &mut Shown,
) {
    let Some(run) = side.run.as_ref().filter(|_| side.unkept.is_none()) else { return };
    let at = side.next_cell(run);
    let Some(key) = run.plan.cells.get(at).cloned() else { return };
    // From there on a budget decides in the guest which cells it measures.
    let is_known = |key: &CellKey| run.plan.budget.is_none() || key.round < ROUNDS_FEWEST;
    if !is_known(&key) || side.died_at != Some(at) {
        side.died_at = Some(at);
        return;
    }
    let is_same = |key_here: &CellKey| CellKey { round: key.round, ..key_here.clone() } == key;
    let was_measured = |cell: &Cell| is_same(&cell.key) && cell.outcome == Outcome::Measured;
    let is_hopeless = !run.cells.iter().any(was_measured);
    let later = run.plan.cells.iter().enumerate().skip(at);
    let fail = |(index, key_here): (usize, &CellKey)| {
        let is_lost = index == at || (is_hopeless && is_same(key_here) && is_known(key_here));
        is_lost.then(|| failed(side, run, (index, key_here), fault, at))
    };
    let cells: Vec<Cell> = later.filter_map(fail).collect();
    complain(&format!(
        "knee: {}: {} {} at {} is kept as failed, since the guest died in it twice",
        side.label, key.workload, key.subject, key.point
    ));
    (side.tries, side.died_at) = (0, None);
    for cell in cells {
        let Some(run) = &mut side.run else { return };
        let kept = archive.commit(run.summary.number, &cell);
        if kept.is_ok() {
            side.given_up.insert(cell.sequence as usize);
            progress.ended(&cell);
            run.cells.push(cell);
        }
        side.note_unkept(&kept);
    }
}

/// The cell of the plan at `index`, which the guest died in, or in that of an earlier round at `died_at`.
fn failed(
    side: &GuestSide,
    run: &Run,
    (index, key): (usize, &CellKey),
    fault: &GuestFault,
    died_at: usize,
) -> Cell {
    let reason = match fault {
        GuestFault::Late(patience, _) | GuestFault::Silent(patience) => {
            let activity = "the guest hung".to_owned();
            FailureReason::DeadlineExceeded { deadline_ms: patience.as_millis() as u64, activity }
        }
        _ => FailureReason::EndUnknown { reply: Some(ReplyFault::Missing) },
    };
    let detail = match run.plan.cells.get(died_at).filter(|_| index != died_at) {
        None => format!("the guest died in it twice: {fault}"),
        Some(earlier) => {
            format!(
                "not measured: the guest died twice in it in round {}: {fault}",
                earlier.round + 1
            )
        }
    };
    Cell {
        key: key.clone(),
        sequence: index as u64,
        outcome: Outcome::Failed { reason, detail },
        elapsed_ns: if index == died_at { side.turn.as_nanos() as u64 } else { 0 },
        ..Cell::default()
    }
}
