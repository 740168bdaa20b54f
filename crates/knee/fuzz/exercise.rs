//! What strangers hand to knee: tables, runs as JSON, `knee.toml`. Shared by the fuzz targets and a test of
//! their seeds.
//!
//! Whatever the bytes, nothing panics, what is refused is refused in one line, and what is taken can be kept.

use archive::{Archive, SqliteArchive, merge};
use foreign_tables::{Input, TableRequest, read};
use model::Run;
use std::collections::HashSet;
use std::io::Cursor;
use tempfile::TempDir;

/// Longer inputs find nothing that these don't.
const BYTES_MAX: usize = 4096;

/// A table. Its first byte says what is asked of it.
pub fn table(input: &[u8]) {
    let Some((&first, bytes)) = input.split_first() else { return };
    let bytes = Cursor::new(bytes[..bytes.len().min(BYTES_MAX)].to_vec());
    match read(&request(first), Input::new("standard input", Box::new(bytes)), Vec::new()) {
        Ok(foreign) => {
            assert_planned(&foreign.run);
            keep(&foreign.run);
        }
        Err(trouble) => assert_one_line(&trouble.to_string()),
    }
}

fn request(first: u8) -> TableRequest {
    let text = |name: &str| Some(name.to_owned());
    let request = TableRequest {
        x: text("x"),
        y: text("y"),
        by: vec!["by".into()],
        ..TableRequest::default()
    };
    match first % 6 {
        1 => TableRequest { per: vec!["per".into()], ..request },
        2 => TableRequest { whole: text("of"), per: vec!["of".into()], ..request },
        3 => TableRequest { sd: text("sd"), n: Some(3), ..request },
        4 => TableRequest { round: text("round"), ..request },
        5 => TableRequest { wheres: vec!["per=a".into()], ..request },
        _ => request,
    }
}

/// A run as JSON. What is read is a run that the record takes, whole.
pub fn run(input: &[u8]) {
    match report::json::read(input) {
        Ok(run) => keep(&run),
        Err(unreadable) => assert_one_line(&unreadable.to_string()),
    }
}

/// A `knee.toml`. What is wrong is somewhere in it.
pub fn suites(input: &[u8]) {
    let text = String::from_utf8_lossy(&input[..input.len().min(BYTES_MAX)]);
    match suites::read(&text, workloads::all()) {
        Ok(suites) => {
            let chosen = suites.values().flat_map(|suite| &suite.request.workloads);
            let is_workload = |name: &str| workloads::find(name).is_some();
            chosen.for_each(|name| assert!(is_workload(name), "{name}"));
        }
        Err(wrong) => {
            assert_one_line(&wrong.to_string());
            let lines: Vec<&str> = text.split('\n').collect();
            let line = wrong.position.line.checked_sub(1).and_then(|line| lines.get(line));
            let line = line.unwrap_or_else(|| panic!("no such line: {wrong}"));
            let column = wrong.position.column;
            assert!((1..=line.chars().count() + 1).contains(&column), "no such column: {wrong}");
        }
    }
}

fn assert_one_line(output: &str) {
    assert!(!output.is_empty() && !output.contains(char::is_control), "{output:?}");
}

/// Each cell once, and as planned.
fn assert_planned(run: &Run) {
    let sequences: HashSet<u64> = run.cells.iter().map(|cell| cell.sequence).collect();
    assert_eq!(sequences.len(), run.cells.len(), "a cell is there twice");
    for cell in &run.cells {
        assert_eq!(run.plan.cells.get(cell.sequence as usize), Some(&cell.key));
    }
}

thread_local! {
    /// In memory, where there is such a directory.
    static DIRECTORY: TempDir =
        tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir()).expect("a directory");
}

/// Keeps it and looks whether it is the same.
fn keep(run: &Run) {
    DIRECTORY.with(|directory| {
        let path = directory.path().join("knee.db");
        let mut archive = SqliteArchive::open(&path).expect("a record of our own");
        merge(&mut archive, run).unwrap_or_else(|error| panic!("taken and not kept: {error}"));
        let mut copy = archive.load(1).expect("what was just kept");
        copy.summary.number = run.summary.number;
        // Of a URL, what stands before its `@` is not kept.
        if !format!("{:?}{:?}", run.plan, run.cells).contains("://") {
            assert_eq!(copy.plan, run.plan);
            assert_eq!(copy.cells, run.cells);
        }
        drop(archive);
        std::fs::remove_file(path).expect("a record of our own");
    });
}
