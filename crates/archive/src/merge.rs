//! One record's runs into another, without loss and without doubles.
//!
//! A run is known by its id, and a cell of it by its place in the plan. What is there already stays as it
//! is; what is missing is added; what contradicts what is there is refused, and nothing of that run is
//! changed. A run is there, or completed, wholly or not at all, so a merge that is cut off can simply be done
//! again. One that was not there is marked as come from elsewhere.

use crate::{Archive, Error};
use jiff::Timestamp;
use model::{CellKey, Ending, Interner, Profile, Run, RunState};
use std::collections::{BTreeMap, BTreeSet};

/// What became of a run that was merged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Merged {
    /// It was not there, and now is, under this number.
    Copied(i64),
    /// It was there with fewer cells, and so many were added.
    Completed(u64),
    /// All of it was there.
    Alike,
}

/// Where a run came from that was not begun in its record: a text, or another record.
const ORIGINS: [&str; 2] = ["import", "merge"];

/// Brings `run` into `archive`. Where it was not there, its origin is `merge`, unless it says `import`.
/// Many may do so at a time: where another process was faster, this completes what that one kept.
///
/// # Errors
/// [`Error::RunDiffers`] where the archive has another run of this id, or has it as complete without what
/// `run` has; else why it can't be written.
pub fn merge(archive: &mut dyn Archive, run: &Run) -> Result<Merged, Error> {
    let kept = archive.as_kept(run)?;
    let run = kept.as_ref();
    match merge_once(archive, run) {
        // Another process kept or completed it between the look and the write.
        Err(Error::RunTwice { .. } | Error::CellTwice { .. } | Error::RunComplete { .. }) => {
            merge_once(archive, run)
        }
        result => result,
    }
}

fn merge_once(archive: &mut dyn Archive, run: &Run) -> Result<Merged, Error> {
    match archive.find(&run.summary.id)? {
        Some(there) => complete(archive, there.number, run),
        None => copy(archive, run).map(Merged::Copied),
    }
}

fn copy(archive: &mut dyn Archive, run: &Run) -> Result<i64, Error> {
    let [import, merge] = ORIGINS;
    run.profile.check().map_err(|what| Error::RunDiffers { id: run.summary.id.clone(), what })?;
    let origin = if run.summary.origin == import { import } else { merge };
    archive.keep(run, origin)
}

/// Adds to the run of this number what `run` has and it has not.
fn complete(archive: &mut dyn Archive, number: i64, run: &Run) -> Result<Merged, Error> {
    let there = archive.load(number)?;
    alike(&there, run)?;
    let sequences: BTreeSet<u64> = there.cells.iter().map(|cell| cell.sequence).collect();
    let missing = run.cells.iter().filter(|cell| !sequences.contains(&cell.sequence));
    let missing: Vec<_> = missing.collect();
    let (profile, profiled) = joined(&there, run)?;
    let ends = there.summary.state == RunState::Open && run.summary.state != RunState::Open;
    let added = missing.len() + profile.cells.len() - profiled;
    if added == 0 && !ends {
        return Ok(Merged::Alike);
    }
    if there.summary.state == RunState::Complete {
        // Copies of a run that ended by its budget, each by itself: what one left out the other measured.
        let what = "which cells were measured before it was complete".to_owned();
        return Err(Error::RunDiffers { id: run.summary.id.clone(), what });
    }
    let last = last(&there, run, sequences.len() + missing.len(), &profile);
    archive.wholly(&mut |archive| {
        archive.reopen(number)?;
        missing.iter().try_for_each(|cell| archive.commit(number, cell))?;
        (profiled..profile.cells.len())
            .try_for_each(|cell| archive.commit_profiled(number, &profile, cell))?;
        last.as_ref().map_or(Ok(()), |last| archive.finish(number, last))
    })?;
    Ok(Merged::Completed(added as u64))
}

/// The profile of the run that is there, followed by the cells that only `run` has, and how many it had itself.
fn joined(there: &Run, run: &Run) -> Result<(Profile, usize), Error> {
    let differs = |what: String| Error::RunDiffers { id: run.summary.id.clone(), what };
    run.profile.check().map_err(differs)?;
    let mut profile = there.profile.clone();
    let profiled = profile.cells.len();
    let cells = Interner::new(&profile).adopt(&mut profile, &run.profile);
    for cell in cells {
        match there.profile.cell(&cell.key) {
            None => profile.cells.push(cell),
            Some(existing) if *existing == cell => {}
            Some(_) => {
                let CellKey { subject, point, .. } = &cell.key;
                return Err(differs(format!("the profile of {subject} at {point}")));
            }
        }
    }
    Ok((profile, profiled))
}

/// How two copies of a run end that have so many cells and this profile together; what neither ended stays open.
fn last(there: &Run, run: &Run, cells: usize, profile: &Profile) -> Option<Ending> {
    // The one that ended later has seen more.
    let later = [Ending::from_run(there), Ending::from_run(run)].into_iter().flatten();
    let mut last = later.max_by_key(|ending| ending.ended.parse::<Timestamp>().ok())?;
    // What ended by its budget left out what was not needed.
    let ended = [there, run].iter().any(|run| run.summary.state == RunState::Complete);
    let planned = there.summary.cells_planned;
    let measured = cells as u64 == planned || (ended && there.plan.budget.is_some());
    let to_profile = there.plan.measured_profiled_cells(there.cells.iter().chain(&run.cells));
    let profiled = ended || to_profile.iter().all(|key| profile.cell(key).is_some());
    let whole = measured && profiled;
    last.state = if whole { RunState::Complete } else { RunState::Interrupted };
    for warning in there.warnings.iter().chain(&run.warnings) {
        if !last.warnings.contains(warning) {
            last.warnings.push(warning.clone());
        }
    }
    Some(last)
}

/// Whether two runs of one id are the same run as far as both know it.
fn alike(there: &Run, run: &Run) -> Result<(), Error> {
    let differs = |what: String| Error::RunDiffers { id: run.summary.id.clone(), what };
    let parts = [
        ("their plans", there.plan != run.plan),
        ("their machines", there.host_before != run.host_before),
        ("their clocks", there.clock != run.clock),
        ("when they began", there.summary.started != run.summary.started),
    ];
    if let Some((what, _)) = parts.iter().find(|(_, differ)| *differ) {
        return Err(differs((*what).to_owned()));
    }
    let existing: BTreeMap<u64, _> = there.cells.iter().map(|cell| (cell.sequence, cell)).collect();
    let differing =
        run.cells.iter().find(|cell| existing.get(&cell.sequence).is_some_and(|k| k != cell));
    differing.map_or(Ok(()), |cell| Err(differs(format!("cell {}", cell.sequence))))
}
