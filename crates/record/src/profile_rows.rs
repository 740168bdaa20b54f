//! Profiles as rows, and rows as profiles.

use crate::error::At;
use crate::keeping::{clean, profiled_cell};
use crate::rows::{count, from_json, json};
use crate::seal::{self, Seal};
use crate::{
    CellKey, Error, Frame, FunctionCode, InstructionSamples, Outcome, Profile, ProfiledCell,
    ProfiledRegion, StackNode,
};
use rusqlite::{CachedStatement, Connection, Params, Row, named_params};
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::collections::HashMap;
use std::path::Path;

const MEASURED: &str = "measured";
const FAILED: &str = "failed";

/// Writes one profiled cell, with the frames, stacks and code of its profile that the run has not yet.
pub(crate) fn insert(
    connection: &Connection,
    run: i64,
    profile: &Profile,
    cell: usize,
    path: &Path,
) -> Result<(), Error> {
    let cell = profiled_cell(profile, cell, path)?;
    let [workload, subject] = [&cell.key.workload, &cell.key.subject].map(|name| clean(name));
    let CellKey { point, .. } = &cell.key;
    let parameters = json(&cell.key.parameters, path)?;
    let point = count(*point, || "the point of a profiled cell".into(), path)?;
    let there = connection
        .prepare_cached(
            "SELECT 1 FROM profile_cell WHERE run = ?1 AND workload = ?2 AND subject = ?3 \
             AND parameters = ?4 AND point = ?5",
        )
        .and_then(|mut select| select.exists((run, &workload, &subject, &parameters, point)))
        .at(path)?;
    if there {
        let what = format!("a second profile of {workload}, {subject} at {point}");
        return Err(Error::Invalid { path: path.into(), what });
    }
    let number = insert_cell(connection, run, cell, &parameters, path)?;
    for (index, region) in cell.regions.iter().enumerate() {
        insert_region(connection, number, index, region, path)?;
    }
    insert_shared(connection, (run, number), profile, path)?;
    seal::seal_profiled(connection, number).at(path)
}

fn insert_cell(
    connection: &Connection,
    run: i64,
    cell: &ProfiledCell,
    parameters: &str,
    path: &Path,
) -> Result<i64, Error> {
    let (outcome, failure, detail) = match &cell.outcome {
        Outcome::Measured => (MEASURED, None, None),
        Outcome::Failed { reason, detail } => (FAILED, Some(json(reason, path)?), Some(detail)),
    };
    let count = |value, name: &str| count(value, || format!("{name} of a profiled cell"), path);
    let mut insert = connection
        .prepare_cached(
            "INSERT INTO profile_cell (run, workload, subject, parameters, point, outcome, failure, \
             detail, elapsed_ns, event, sample_ns, samples_outside, limits) VALUES (:run, :workload, \
             :subject, :parameters, :point, :outcome, :failure, :detail, :elapsed_ns, :event, \
             :sample_ns, :samples_outside, :limits)",
        )
        .at(path)?;
    insert
        .execute(named_params! {
            ":run": run,
            ":workload": clean(&cell.key.workload),
            ":subject": clean(&cell.key.subject),
            ":parameters": parameters,
            ":point": count(cell.key.point, "the point")?,
            ":outcome": outcome,
            ":failure": failure,
            ":detail": detail.map(|detail| clean(detail)),
            ":elapsed_ns": count(cell.elapsed_ns, "the elapsed time")?,
            ":event": word(&cell.event, path)?,
            ":sample_ns": cell.sample_ns,
            ":samples_outside": count(cell.samples_outside, "samples outside")?,
            ":limits": json(&cell.limits, path)?,
        })
        .at(path)?;
    Ok(connection.last_insert_rowid())
}

fn insert_region(
    connection: &Connection,
    cell: i64,
    index: usize,
    region: &ProfiledRegion,
    path: &Path,
) -> Result<(), Error> {
    let count = |value, name: &str| {
        count(value, || format!("{name} of {} in a profiled cell", region.metric), path)
    };
    let instructions = region.instructions.iter();
    let instructions: Vec<(u32, u64, u64)> =
        instructions.map(|sample| (sample.frame, sample.offset, sample.count)).collect();
    let mut insert = connection
        .prepare_cached(
            "INSERT INTO profile_region (cell, place, metric, position, operations, elapsed_ns, \
             samples, instructions) VALUES (:cell, :place, :metric, :position, :operations, \
             :elapsed_ns, :samples, :instructions)",
        )
        .at(path)?;
    insert
        .execute(named_params! {
            ":cell": cell,
            ":place": index,
            ":metric": clean(&region.metric),
            ":position": count(region.position, "the position")?,
            ":operations": count(region.operations, "operations")?,
            ":elapsed_ns": count(region.elapsed_ns, "the elapsed time")?,
            ":samples": json(&region.samples, path)?,
            ":instructions": json(&instructions, path)?,
        })
        .at(path)?;
    Ok(())
}

/// Writes the frames, stacks and code that the run has not yet. They come with the cell of this number.
fn insert_shared(
    connection: &Connection,
    (run, cell): (i64, i64),
    profile: &Profile,
    path: &Path,
) -> Result<(), Error> {
    let present = |table: &str| -> Result<usize, Error> {
        let sql = format!("SELECT coalesce(max(place) + 1, 0) FROM {table} WHERE run = ?1");
        let mut select = connection.prepare_cached(&sql).at(path)?;
        select.query_row([run], |row| row.get(0)).at(path)
    };
    let [frames, stacks, codes] =
        [present("profile_frame")?, present("profile_stack")?, present("profile_code")?];
    check_last(connection, run, profile, path)?;
    let mut insert = connection
        .prepare_cached(
            "INSERT INTO profile_frame (run, place, function, module, kind, cell) \
             VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
        )
        .at(path)?;
    for (index, frame) in profile.frames.iter().enumerate().skip(frames) {
        let [function, module] = [&frame.function, &frame.module].map(|name| clean(name));
        let kind = word(&frame.kind, path)?;
        insert.execute((run, index, function, module, kind, cell)).at(path)?;
    }
    let mut insert = connection
        .prepare_cached(
            "INSERT INTO profile_stack (run, place, caller, frame, cell) VALUES (?1, ?2, ?3, ?4, ?5)",
        )
        .at(path)?;
    for (index, node) in profile.stacks.iter().enumerate().skip(stacks) {
        insert.execute((run, index, node.caller, node.frame, cell)).at(path)?;
    }
    let mut insert = connection
        .prepare_cached(
            "INSERT INTO profile_code (run, place, frame, code, cell) VALUES (?1, ?2, ?3, ?4, ?5)",
        )
        .at(path)?;
    for (index, code) in profile.code.iter().enumerate().skip(codes) {
        insert.execute((run, index, code.frame, code_json(code, path)?, cell)).at(path)?;
    }
    Ok(())
}

/// Refuses a profile that does not go on from what the run has: its numbers would mean something else.
fn check_last(
    connection: &Connection,
    run: i64,
    profile: &Profile,
    path: &Path,
) -> Result<(), Error> {
    let last = |table: &str| -> Result<CachedStatement<'_>, Error> {
        let sql = format!("SELECT * FROM {table} WHERE run = ?1 ORDER BY place DESC LIMIT 1");
        connection.prepare_cached(&sql).at(path)
    };
    let frame = first(&mut last("profile_frame")?, [run], path, read_frame)?;
    let stack = first(&mut last("profile_stack")?, [run], path, read_stack)?;
    let frame_goes_on =
        frame.is_none_or(|(index, frame)| profile.frames.get(index) == Some(&frame));
    let stack_goes_on =
        stack.is_none_or(|(index, stack)| profile.stacks.get(index) == Some(&stack));
    if frame_goes_on && stack_goes_on {
        return Ok(());
    }
    let what = format!("a profile that does not go on from that of run {run}");
    Err(Error::Invalid { path: path.into(), what })
}

/// The first row, read so; none where there is none.
fn first<T>(
    select: &mut CachedStatement<'_>,
    values: impl Params,
    path: &Path,
    read: impl FnOnce(&Row<'_>, &Path) -> Result<T, Error>,
) -> Result<Option<T>, Error> {
    let mut rows = select.query(values).at(path)?;
    rows.next().at(path)?.map(|row| read(row, path)).transpose()
}

/// Reads the profile of a run. Its cells have seals, which are over all that came with them.
pub(crate) fn select(connection: &Connection, run: i64, path: &Path) -> Result<Profile, Error> {
    let mut profile = Profile::default();
    let mut seals = Seals::default();
    each(connection, run, path, SELECT_CELLS, |row| {
        let number: i64 = row.get("number").at(path)?;
        seals.index_of.insert(number, profile.cells.len());
        seals.all.push((Seal::profiled(row).at(path)?, row.get("seal").at(path)?));
        profile.cells.push(read_cell(row, path)?);
        Ok(())
    })?;
    if profile.cells.is_empty() {
        return Ok(profile);
    }
    each(connection, run, path, SELECT_REGIONS, |row| {
        let index = seals.add(row, &seal::REGION, path)?;
        profile.cells[index].regions.push(read_region(row, path)?);
        Ok(())
    })?;
    each(connection, run, path, SELECT_FRAMES, |row| {
        seals.add(row, &seal::FRAME, path)?;
        let (index, frame) = read_frame(row, path)?;
        profile.frames.push(frame);
        in_order(index, profile.frames.len(), "frame", path)
    })?;
    each(connection, run, path, SELECT_STACKS, |row| {
        seals.add(row, &seal::STACK, path)?;
        let (index, stack) = read_stack(row, path)?;
        profile.stacks.push(stack);
        in_order(index, profile.stacks.len(), "stack", path)
    })?;
    each(connection, run, path, SELECT_CODE, |row| {
        seals.add(row, &seal::CODE, path)?;
        profile.code.push(read_code(row, path)?);
        in_order(row.get("place").at(path)?, profile.code.len(), "code", path)
    })?;
    for ((seal, sealed), cell) in seals.all.into_iter().zip(&profile.cells) {
        seal.check_profiled(sealed, &cell.key, path)?;
    }
    profile.check().map_err(|what| seal::damaged(path, what))?;
    Ok(profile)
}

// Rows of a cell in the order of their seal: SQLite keeps the tables by these keys.
const SELECT_CELLS: &str = "SELECT * FROM profile_cell WHERE run = ?1 ORDER BY number";
const SELECT_REGIONS: &str = "SELECT profile_region.* FROM profile_cell \
     JOIN profile_region ON profile_region.cell = profile_cell.number \
     WHERE profile_cell.run = ?1 ORDER BY profile_region.cell, profile_region.place";
const SELECT_FRAMES: &str = "SELECT * FROM profile_frame WHERE run = ?1 ORDER BY place";
const SELECT_STACKS: &str = "SELECT * FROM profile_stack WHERE run = ?1 ORDER BY place";
const SELECT_CODE: &str = "SELECT * FROM profile_code WHERE run = ?1 ORDER BY place";

fn each(
    connection: &Connection,
    run: i64,
    path: &Path,
    sql: &str,
    mut read: impl FnMut(&Row<'_>) -> Result<(), Error>,
) -> Result<(), Error> {
    let mut select = connection.prepare_cached(sql).at(path)?;
    let mut rows = select.query([run]).at(path)?;
    while let Some(row) = rows.next().at(path)? {
        read(row)?;
    }
    Ok(())
}

/// What each cell comes to, and what it was sealed with.
#[derive(Default)]
struct Seals {
    all: Vec<(Seal, Option<i64>)>,
    /// By the cells' numbers in the record.
    index_of: HashMap<i64, usize>,
}

impl Seals {
    /// Adds a row to the seal of its cell, and returns the cell's index.
    fn add(&mut self, row: &Row<'_>, columns: &[&str], path: &Path) -> Result<usize, Error> {
        let number: i64 = row.get("cell").at(path)?;
        let Some(&index) = self.index_of.get(&number) else {
            return Err(seal::damaged(path, format!("there is no profiled cell {number}")));
        };
        self.all[index].0.add(row, columns.iter().copied()).at(path)?;
        Ok(index)
    }
}

/// Refuses a gap: numbers behind it would mean something else.
fn in_order(index: usize, count: usize, what: &str, path: &Path) -> Result<(), Error> {
    if index + 1 == count {
        return Ok(());
    }
    Err(seal::damaged(path, format!("{what} {} of a profile is missing", count - 1)))
}

fn read_cell(row: &Row<'_>, path: &Path) -> Result<ProfiledCell, Error> {
    let outcome = match row.get_ref("outcome").at(path)?.as_str() {
        Ok(MEASURED) => Outcome::Measured,
        _ => Outcome::Failed {
            reason: from_json(row, "failure", path)?,
            detail: row.get("detail").at(path)?,
        },
    };
    Ok(ProfiledCell {
        key: CellKey {
            workload: row.get("workload").at(path)?,
            subject: row.get("subject").at(path)?,
            parameters: from_json(row, "parameters", path)?,
            point: row.get("point").at(path)?,
            round: 0,
        },
        outcome,
        elapsed_ns: row.get("elapsed_ns").at(path)?,
        event: from_word(row, "event", path)?,
        sample_ns: row.get("sample_ns").at(path)?,
        regions: Vec::new(),
        samples_outside: row.get("samples_outside").at(path)?,
        limits: from_json(row, "limits", path)?,
    })
}

fn read_region(row: &Row<'_>, path: &Path) -> Result<ProfiledRegion, Error> {
    let instructions: Vec<(u32, u64, u64)> = from_json(row, "instructions", path)?;
    let instructions = instructions.into_iter();
    Ok(ProfiledRegion {
        metric: row.get("metric").at(path)?,
        position: row.get("position").at(path)?,
        operations: row.get("operations").at(path)?,
        elapsed_ns: row.get("elapsed_ns").at(path)?,
        samples: from_json(row, "samples", path)?,
        instructions: instructions
            .map(|(frame, offset, count)| InstructionSamples { frame, offset, count })
            .collect(),
    })
}

fn read_frame(row: &Row<'_>, path: &Path) -> Result<(usize, Frame), Error> {
    let frame = Frame {
        function: row.get("function").at(path)?,
        module: row.get("module").at(path)?,
        kind: from_word(row, "kind", path)?,
    };
    Ok((row.get("place").at(path)?, frame))
}

fn read_stack(row: &Row<'_>, path: &Path) -> Result<(usize, StackNode), Error> {
    let node = StackNode { caller: row.get("caller").at(path)?, frame: row.get("frame").at(path)? };
    Ok((row.get("place").at(path)?, node))
}

fn code_json(code: &FunctionCode, path: &Path) -> Result<String, Error> {
    let mut value = serde_json::to_value(code).unwrap_or_default();
    json(&value["code"].take(), path)
}

fn read_code(row: &Row<'_>, path: &Path) -> Result<FunctionCode, Error> {
    let frame: u32 = row.get("frame").at(path)?;
    let code: serde_json::Value = from_json(row, "code", path)?;
    let whole = serde_json::json!({ "frame": frame, "code": code });
    serde_json::from_value(whole).map_err(|error| Error::Damaged {
        path: path.into(),
        detail: format!("column code: {error}"),
    })
}

/// The word of an enum without data.
fn word<T: Serialize>(value: &T, path: &Path) -> Result<String, Error> {
    Ok(json(value, path)?.trim_matches('"').to_owned())
}

fn from_word<T: DeserializeOwned>(row: &Row<'_>, column: &str, path: &Path) -> Result<T, Error> {
    let word: String = row.get(column).at(path)?;
    serde_json::from_value(serde_json::Value::String(word)).map_err(|error| Error::Damaged {
        path: path.into(),
        detail: format!("column {column}: {error}"),
    })
}
