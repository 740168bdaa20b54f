//! Profiles as rows, and rows as profiles.

use crate::client::{Client, CopyIn};
use crate::columns::{Column, Json, copy_into, count, get, get_count, get_json, text};
use crate::fault::{At, damaged, is_there_already};
use record::keeping::{check_profile, profiled_cell};
use record::{CellKey, Error, Frame, FunctionCode, Outcome, Profile, ProfiledCell, StackNode};
use std::path::Path;
use tokio_postgres::types::{ToSql, Type};

/// The columns of `knee.profile_cell`, in the order in which [`write_cell`] writes them.
static PROFILE_CELL: [Column; 18] = [
    ("run", Type::INT8),
    ("ordinal", Type::INT8),
    ("workload", Type::TEXT),
    ("subject", Type::TEXT),
    ("parameters", Type::JSONB),
    ("point", Type::INT8),
    ("outcome", Type::TEXT),
    ("reason", Type::TEXT),
    ("elapsed_ns", Type::INT8),
    ("event", Type::TEXT),
    ("sample_ns", Type::FLOAT8),
    ("samples_outside", Type::INT8),
    ("cell", Type::JSON),
    ("frames", Type::JSON),
    ("stacks", Type::JSON),
    ("code", Type::JSON),
    ("frames_before", Type::INT8),
    ("stacks_before", Type::INT8),
];

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
    let cell = profiled_cell(profile, cell, path)?;
    let kept = kept(client, run, path)?;
    check_goes_on(client, run, profile, kept, path)?;
    write(client, (run, kept), profile, std::slice::from_ref(cell), path)
}

/// Writes the whole profile of a run that has none. Its first cell brings all frames, stacks and code.
pub(crate) fn insert_all(
    client: &mut Client,
    run: i64,
    profile: &Profile,
    path: &Path,
) -> Result<(), Error> {
    if profile.cells.is_empty() {
        return Ok(());
    }
    check_profile(profile, path)?;
    write(client, (run, Kept::default()), profile, &profile.cells, path)
}

fn write(
    client: &mut Client,
    (run, mut kept): (i64, Kept),
    profile: &Profile,
    cells: &[ProfiledCell],
    path: &Path,
) -> Result<(), Error> {
    let mut writer = copy_into(client, "knee.profile_cell", &PROFILE_CELL, path)?;
    for cell in cells {
        write_cell(&mut writer, (run, kept), profile, cell, path)?;
        kept = Kept {
            cells: kept.cells + 1,
            frames: profile.frames.len(),
            stacks: profile.stacks.len(),
            code: profile.code.len(),
        };
    }
    match writer.finish() {
        Err(error) if is_there_already(&error) => {
            let what = match cells {
                [cell] => {
                    let CellKey { workload, subject, point, .. } = &cell.key;
                    format!("a second profile of {workload}, {subject} at {point}")
                }
                _ => "two profiles of one cell".to_owned(),
            };
            Err(Error::Invalid { path: path.into(), what })
        }
        written => written.map(drop).at(path),
    }
}

fn write_cell(
    writer: &mut CopyIn<'_>,
    (run, kept): (i64, Kept),
    profile: &Profile,
    cell: &ProfiledCell,
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
    let row: [&(dyn ToSql + Sync); PROFILE_CELL.len()] = [
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
        &Json::new(&after(&profile.frames, kept.frames), path)?,
        &Json::new(&after(&profile.stacks, kept.stacks), path)?,
        &Json::new(&after(&profile.code, kept.code), path)?,
        &before(kept.frames),
        &before(kept.stacks),
    ];
    writer.write(&row).at(path)
}

/// What is behind the first `kept`.
fn after<T>(all: &[T], kept: usize) -> &[T] {
    all.get(kept..).unwrap_or_default()
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
