//! Profiles as rows, and rows as profiles.

use crate::columns::{Json, count, get, get_count, get_json, text};
use crate::fault::{At, damaged};
use postgres::Client;
use postgres::types::ToSql;
use record::{Error, Frame, FunctionCode, Outcome, Profile, ProfiledCell, StackNode};
use std::path::Path;

const INSERT: &str = "INSERT INTO knee.profile_cell (run, ordinal, workload, subject, parameters, point, \
     outcome, reason, elapsed_ns, event, sample_ns, samples_outside, cell, frames, stacks, code, \
     frames_before, stacks_before) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, \
     $15, $16, $17, $18)";

/// How much of a profile a run has.
#[derive(Clone, Copy, Debug, Default)]
struct Kept {
    cells: i64,
    frames: usize,
    stacks: usize,
    code: usize,
}

/// Writes one profiled cell, with the frames, stacks and code of its profile that the run has not yet.
pub(crate) fn insert(
    client: &mut Client,
    run: i64,
    profile: &Profile,
    cell: usize,
    path: &Path,
) -> Result<(), Error> {
    let invalid = |what: String| Error::Invalid { path: path.into(), what };
    profile.check().map_err(invalid)?;
    let Some(cell) = profile.cells.get(cell) else {
        return Err(invalid(format!("cell {cell} of a profile of {}", profile.cells.len())));
    };
    let kept = kept(client, run, path)?;
    check_goes_on(client, run, profile, kept, path)?;
    let rest = |from: usize, all: usize| from.min(all)..all;
    let frames =
        Json::new(&profile.frames[rest(kept.frames, profile.frames.len())].to_vec(), path)?;
    let stacks =
        Json::new(&profile.stacks[rest(kept.stacks, profile.stacks.len())].to_vec(), path)?;
    let code = Json::new(&profile.code[rest(kept.code, profile.code.len())].to_vec(), path)?;
    write(client, (run, kept), cell, [&frames, &stacks, &code], path)
}

fn write(
    client: &mut Client,
    (run, kept): (i64, Kept),
    cell: &ProfiledCell,
    [frames, stacks, code]: [&Json; 3],
    path: &Path,
) -> Result<(), Error> {
    let count = |value, name: &str| count(value, &format!("{name} of a profiled cell"), path);
    let (outcome, reason) = match &cell.outcome {
        Outcome::Measured => ("measured", None),
        Outcome::Failed { reason, .. } => ("failed", Some(text(&reason.to_string()))),
    };
    let event = serde_json::to_value(cell.event).unwrap_or_default();
    let event = event.as_str().unwrap_or_default();
    let before = |number: usize| i64::try_from(number).unwrap_or(i64::MAX);
    let row: [&(dyn ToSql + Sync); 18] = [
        &run,
        &kept.cells,
        &text(&cell.key.workload),
        &text(&cell.key.subject),
        &Json::new(&cell.key.parameters, path)?,
        &count(cell.key.point, "the point")?,
        &outcome,
        &reason,
        &count(cell.elapsed_ns, "the elapsed time")?,
        &event,
        &cell.sample_ns,
        &count(cell.samples_outside, "samples outside")?,
        &Json::new(cell, path)?,
        frames,
        stacks,
        code,
        &before(kept.frames),
        &before(kept.stacks),
    ];
    let written = client.execute(INSERT, &row);
    match written {
        Err(error) if crate::fault::is_there_already(&error) => {
            let record::CellKey { workload, subject, point, .. } = &cell.key;
            let what = format!("a second profile of {workload}, {subject} at {point}");
            Err(Error::Invalid { path: path.into(), what })
        }
        written => written.map(drop).at(path),
    }
}

/// What the run has of its profile.
fn kept(client: &mut Client, run: i64, path: &Path) -> Result<Kept, Error> {
    let sql = "SELECT coalesce(max(ordinal) + 1, 0) AS cells, \
         coalesce(sum(json_array_length(frames)), 0)::bigint AS frames, \
         coalesce(sum(json_array_length(stacks)), 0)::bigint AS stacks, \
         coalesce(sum(json_array_length(code)), 0)::bigint AS code \
         FROM knee.profile_cell WHERE run = $1";
    let row = client.query_one(sql, &[&run]).at(path)?;
    let number = |column| get_count(&row, column, path).map(|count| count as usize);
    Ok(Kept {
        cells: get(&row, "cells", path)?,
        frames: number("frames")?,
        stacks: number("stacks")?,
        code: number("code")?,
    })
}

/// Refuses a profile that does not go on from what the run has: its numbers would mean something else.
fn check_goes_on(
    client: &mut Client,
    run: i64,
    profile: &Profile,
    kept: Kept,
    path: &Path,
) -> Result<(), Error> {
    if kept.cells == 0 {
        return Ok(());
    }
    let there = select(client, run, path)?;
    let goes_on = profile.frames.starts_with(&there.frames)
        && profile.stacks.starts_with(&there.stacks)
        && profile.code.starts_with(&there.code);
    if goes_on {
        return Ok(());
    }
    let what = format!("a profile that does not go on from that of run {run}");
    Err(Error::Invalid { path: path.into(), what })
}

/// Reads the profile of a run.
pub(crate) fn select(client: &mut Client, run: i64, path: &Path) -> Result<Profile, Error> {
    let sql = "SELECT cell::text, frames::text, stacks::text, code::text FROM knee.profile_cell \
         WHERE run = $1 ORDER BY ordinal";
    let mut profile = Profile::default();
    for row in client.query(sql, &[&run]).at(path)? {
        profile.cells.push(get_json(&row, "cell", path)?);
        profile.frames.extend(get_json::<Vec<Frame>>(&row, "frames", path)?);
        profile.stacks.extend(get_json::<Vec<StackNode>>(&row, "stacks", path)?);
        profile.code.extend(get_json::<Vec<FunctionCode>>(&row, "code", path)?);
    }
    profile.check().map_err(|what| damaged(path, what))?;
    Ok(profile)
}
