//! Records that something went over: bytes that changed, pages that are lost, swapped or of another moment,
//! columns that hold something else. Shared with the fuzz target.
//!
//! Whatever it was, nothing panics, what is refused is refused in one line, and what is shown is what was
//! kept. The bytes of an input say which record is damaged, and how.

use crate::common::{PROFILED, cell, ending, make_record, profile, run};
use archive::{Archive, Error, RunWriter, SqliteArchive, merge};
use model::{Cell, Profile, Run, RunState};
use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

const PAGE: usize = 4096;
const IDS: [&str; 2] = ["0123456789abcdef", "fedcba9876543210"];
const CELLS: u64 = 6;

/// Columns that an input may fill with something else. Not the seals themselves: who takes those off can
/// put anything under them.
const COLUMNS: [(&str, &str); 13] = [
    ("run", "id"),
    ("run", "origin"),
    ("run", "summary"),
    ("run", "begun"),
    ("run", "ending"),
    ("cell", "run"),
    ("cell", "sequence"),
    ("cell", "body"),
    ("cell", "positions"),
    ("cell", "samples"),
    ("profile", "run"),
    ("profile", "key"),
    ("profile", "body"),
];

/// A record before it is damaged.
struct Base {
    /// The file itself, and its journal.
    file: Vec<u8>,
    journal: Vec<u8>,
    /// What it holds.
    runs: Vec<Run>,
}

/// Records to damage, and a directory to do it in.
pub struct Stage {
    bases: Vec<Base>,
    directory: TempDir,
}

impl Stage {
    pub fn new() -> Stage {
        // In memory, where there is such a directory: fsync is not what is tried here.
        let directory = tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir()).unwrap();
        let path = directory.path().join("base.db");
        let bases = vec![closed(&path), written(&path)];
        Stage { bases, directory }
    }

    /// Damages a record as `input` says, and uses it.
    pub fn exercise(&self, input: &[u8]) {
        let Some((&first, input)) = input.split_first() else { return };
        let path = self.directory.path().join("damaged.db");
        let kept = match self.bases.get(first as usize % 3) {
            None => {
                // Bytes from nowhere.
                fs::write(&path, input).unwrap();
                None
            }
            Some(base) => {
                let mut files = [base.file.clone(), base.journal.clone()];
                Damage { input }.apply(&mut files, &path);
                put(&files, &path);
                Some(&base.runs[..])
            }
        };
        let before = files_of(&path);
        let read = SqliteArchive::open_read_only(&path);
        match &read {
            Err(error @ (Error::NotThisFile { .. } | Error::Refused { .. })) => {
                assert!(files_of(&path) == before, "refused ({error}) and changed");
            }
            Err(error) => assert_one_line(error),
            Ok(archive) => self.look(archive, kept),
        }
        drop(read);
        match SqliteArchive::open(&path) {
            Err(error) => assert_one_line(&error),
            Ok(mut archive) => {
                self.look(&archive, kept);
                go_on(&mut archive);
            }
        }
        clear(&path);
    }

    /// Lists the runs, loads each, and brings what can be loaded into another record.
    fn look(&self, archive: &SqliteArchive, kept: Option<&[Run]>) {
        let _ = archive.baselines().map_err(|error| assert_one_line(&error));
        let runs = match archive.runs() {
            Ok(runs) => runs,
            Err(error) => return assert_one_line(&error),
        };
        let copies = self.directory.path().join("copies.db");
        let mut into = SqliteArchive::open(&copies).unwrap();
        for summary in &runs {
            match archive.load(summary.number) {
                Err(error) => assert_one_line(&error),
                Ok(run) => {
                    check(&run, kept);
                    bring(&mut into, &run);
                }
            }
        }
        drop(into);
        clear(&copies);
    }
}

/// What is shown as it was kept, is what was kept: the run, and cells of it that it had at some moment;
/// all of them, if it has ended.
fn check(run: &Run, originals: Option<&[Run]>) {
    let sequences: HashSet<u64> = run.cells.iter().map(|cell| cell.sequence).collect();
    assert_eq!(sequences.len(), run.cells.len(), "a cell is there twice");
    let Some(originals) = originals else { return };
    let id = &run.summary.id;
    let original = originals.iter().find(|original| original.summary.id == *id);
    let original = original.unwrap_or_else(|| panic!("there never was a run {id}"));
    assert_eq!(run.plan, original.plan);
    assert_eq!(run.clock, original.clock);
    assert_eq!(run.host_before, original.host_before);
    let kept = |cell: &Cell| original.cells.iter().any(|kept| kept == cell);
    assert!(run.cells.iter().all(kept), "a cell is not as it was kept");
    check_profile(&run.profile, &original.profile);
    if run.summary.state != RunState::Open {
        assert_eq!(run.profile, original.profile);
        assert_eq!(run.summary.state, original.summary.state);
        assert_eq!(run.cells.len(), original.cells.len(), "cells of a run that ended are missing");
        assert_eq!(run.host_after, original.host_after);
    }
}

/// It is that of some moment: what came later is missing, and nothing else.
fn check_profile(profile: &Profile, original: &Profile) {
    profile.check().unwrap();
    assert!(original.frames.starts_with(&profile.frames));
    assert!(original.stacks.starts_with(&profile.stacks));
    assert!(original.code.starts_with(&profile.code));
    assert!(original.cells.starts_with(&profile.cells));
}

/// A run that could be loaded can be kept, unless it is none.
fn bring(into: &mut SqliteArchive, run: &Run) {
    if let Err(error) = merge(into, run) {
        return assert_one_line(&error);
    }
    let number = into.resolve(&run.summary.id).unwrap_or_default();
    let Ok(copy) = into.load(number) else { return };
    assert_eq!(copy.plan, run.plan);
    assert_eq!(copy.cells, run.cells);
    assert_eq!(copy.profile.cells.len(), run.profile.cells.len());
}

/// Goes on with the runs and takes them away again, as far as the record lets it.
fn go_on(archive: &mut SqliteArchive) {
    let Ok(runs) = archive.runs() else { return };
    for summary in runs {
        let _ = archive.reopen(summary.number).map_err(|error| assert_one_line(&error));
        let more = archive.commit(summary.number, &cell(CELLS));
        let _ = more.map_err(|error| assert_one_line(&error));
        let more = archive.commit_profiled(summary.number, &profile(PROFILED), 3);
        let _ = more.map_err(|error| assert_one_line(&error));
        let _ = archive.delete(summary.number).map_err(|error| assert_one_line(&error));
    }
}

fn assert_one_line(error: &Error) {
    let line = error.to_string();
    assert!(!line.contains('\n'), "{line}");
    assert!(!line.contains("please report it"), "not distinguished: {line}");
}

/// A record that no process has open.
fn closed(path: &Path) -> Base {
    make_record(path, CELLS);
    let mut archive = SqliteArchive::open(path).unwrap();
    let number = archive.begin(&run(IDS[1], CELLS)).unwrap();
    archive.commit(number, &cell(0)).unwrap();
    archive.finish(number, &ending(RunState::Interrupted)).unwrap();
    archive.set_baseline("main", 1).unwrap();
    let runs = all(&archive);
    drop(archive);
    let file = fs::read(path).unwrap();
    clear(path);
    Base { file, journal: Vec::new(), runs }
}

/// A record that is being written: its latest cells are in the journal.
fn written(path: &Path) -> Base {
    make_record(path, CELLS);
    let mut archive = SqliteArchive::open(path).unwrap();
    let number = archive.begin(&run(IDS[1], CELLS)).unwrap();
    for sequence in 0..CELLS - 1 {
        archive.commit(number, &cell(sequence)).unwrap();
    }
    for cell in 0..2 {
        archive.commit_profiled(number, &profile(PROFILED), cell).unwrap();
    }
    let runs = all(&archive);
    let [file, journal] =
        [path.to_owned(), with_suffix(path, "-wal")].map(|p| fs::read(p).unwrap());
    drop(archive);
    clear(path);
    Base { file, journal, runs }
}

fn all(archive: &SqliteArchive) -> Vec<Run> {
    let numbers = archive.runs().unwrap().into_iter().map(|run| run.number);
    numbers.map(|number| archive.load(number).unwrap()).collect()
}

/// What is done to a record, read from the bytes of an input.
struct Damage<'a> {
    input: &'a [u8],
}

impl Damage<'_> {
    fn byte(&mut self) -> Option<u8> {
        let (&first, rest) = self.input.split_first()?;
        self.input = rest;
        Some(first)
    }

    /// A position below `limit`, in bytes or pages.
    fn position(&mut self, limit: usize) -> Option<usize> {
        let (low, middle, high) = (self.byte()?, self.byte()?, self.byte()?);
        let position = u32::from_le_bytes([low, middle, high, 0]) as usize;
        Some(position.checked_rem(limit).unwrap_or(0))
    }

    fn apply(&mut self, files: &mut [Vec<u8>; 2], path: &Path) {
        // More than this is another record, not a damaged one.
        for _ in 0..16 {
            if self.change(files, path).is_none() {
                return;
            }
        }
    }

    fn change(&mut self, files: &mut [Vec<u8>; 2], path: &Path) -> Option<()> {
        let what = self.byte()?;
        if what % 12 == 0 {
            return self.column(files, path);
        }
        let file = &mut files[usize::from(what >= 128)];
        let (length, pages) = (file.len(), file.len() / PAGE);
        let at = self.position(length)?;
        match what % 12 {
            1 => *file.get_mut(at)? = self.byte()?,
            2 => *file.get_mut(at)? ^= 1 << (self.byte()? % 8),
            3 => file.truncate(at),
            4 => file.truncate(at / PAGE * PAGE),
            5 | 6 => {
                let (first, second) = (at / PAGE, self.position(pages)?);
                let copy = file.get(second * PAGE..(second + 1) * PAGE)?.to_vec();
                let kept = file.get(first * PAGE..(first + 1) * PAGE)?.to_vec();
                file[first * PAGE..(first + 1) * PAGE].copy_from_slice(&copy);
                if what % 12 == 5 {
                    file[second * PAGE..(second + 1) * PAGE].copy_from_slice(&kept);
                }
            }
            7 => {
                let (page, with) = (at / PAGE * PAGE, self.byte()?);
                file.get_mut(page..page + PAGE)?.fill(with);
            }
            8 => {
                let bytes = self.position(4 * PAGE)?;
                file.extend(std::iter::repeat_n(0, bytes));
            }
            9 => {
                let (bytes, with) = ([self.byte()?, self.byte()?], at / 2 * 2);
                file.get_mut(with..with + 2)?.copy_from_slice(&bytes);
            }
            // The first page, where the schema and the counts of pages are, is worth more than others.
            10 => *file.get_mut(at % 4096)? = self.byte()?,
            _ => drop(file.drain(at..(at + 1).min(length))),
        }
        Some(())
    }

    /// Something else in a column.
    fn column(&mut self, files: &mut [Vec<u8>; 2], path: &Path) -> Option<()> {
        let (table, column) = COLUMNS[self.byte()? as usize % COLUMNS.len()];
        let (row, kind, length) = (self.byte()? % 8, self.byte()? % 4, self.byte()? as usize % 24);
        let (bytes, rest) = self.input.split_at(length.min(self.input.len()));
        self.input = rest;
        let value = match kind {
            0 => rusqlite::types::Value::Null,
            1 => rusqlite::types::Value::Blob(bytes.to_vec()),
            2 => {
                let mut number = [0; 8];
                number.iter_mut().zip(bytes).for_each(|(to, from)| *to = *from);
                rusqlite::types::Value::Integer(i64::from_le_bytes(number))
            }
            _ => rusqlite::types::Value::Text(String::from_utf8_lossy(bytes).into()),
        };
        put(files, path);
        let change = || -> rusqlite::Result<usize> {
            let connection = rusqlite::Connection::open(path)?;
            connection.pragma_update(None, "ignore_check_constraints", true)?;
            let sql = format!("UPDATE {table} SET {column} = ?1 WHERE rowid = ?2");
            connection.execute(&sql, (value, row))
        };
        // What was damaged before may not let it.
        let _ = change();
        *files = files_of(path);
        clear(path);
        Some(())
    }
}

fn put(files: &[Vec<u8>; 2], path: &Path) {
    fs::write(path, &files[0]).unwrap();
    if !files[1].is_empty() {
        fs::write(with_suffix(path, "-wal"), &files[1]).unwrap();
    }
}

fn files_of(path: &Path) -> [Vec<u8>; 2] {
    [path.to_owned(), with_suffix(path, "-wal")].map(|path| fs::read(path).unwrap_or_default())
}

fn clear(path: &Path) {
    for suffix in ["", "-wal", "-shm", "-journal"] {
        let _ = fs::remove_file(with_suffix(path, suffix));
    }
}

fn with_suffix(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    name.into()
}
