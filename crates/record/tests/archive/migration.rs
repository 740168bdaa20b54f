//! Records of older knees: brought up to date wholly or not at all, whoever is killed meanwhile and whoever
//! else looks on.

use crate::aged::{self, CURRENT, NEWEST, SCHEMAS};
use crate::common::{
    assert_child_passed, assert_unchanged, cell, child, contents, ending, integrity, make_record,
    record_of_child, run,
};
use record::{Archive, Error, Run, RunState, RunWriter, SqliteArchive};
use rusqlite::Connection;
use std::env;
use std::fs;
use std::io::{BufRead, BufReader, Read, Write, stdin};
use std::path::Path;
use std::process::{Child, Output, Stdio, abort};
use std::thread::sleep;
use std::time::Duration;
use tempfile::tempdir;

const RUNS: [(&str, u64, RunState); 3] = [
    ("0123456789abcdef", 24, RunState::Complete),
    ("fedcba9876543210", 9, RunState::Interrupted),
    ("7777777777777777", 5, RunState::Open),
];
/// Says after how many statements of a migration a child dies.
const STATEMENTS: &str = "KNEE_TEST_STATEMENTS";

/// Makes sure that a record has everything that the old one had.
fn assert_all_there(archive: &SqliteArchive, schema: usize) {
    let summaries = archive.runs().unwrap();
    assert_eq!(summaries.len(), RUNS.len());
    for (summary, (id, cells, state)) in summaries.iter().zip(RUNS) {
        let wanted: Vec<_> = (0..cells).map(|sequence| aged::cell(schema, sequence)).collect();
        let loaded: Run = archive.load(summary.number).unwrap();
        assert_eq!((loaded.summary.id.as_str(), loaded.summary.state), (id, state));
        assert_eq!(loaded.plan, run(id, cells).plan);
        assert!(loaded.cells == wanted, "schema {schema}: cells of {id}");
        let ends = (state != RunState::Open).then(|| ending(state));
        assert_eq!(loaded.host_after, ends.as_ref().map(|ends| ends.host_after.clone()));
        assert_eq!(loaded.warnings, ends.map_or(Vec::new(), |ends| ends.warnings));
    }
}

fn schema_of(path: &Path) -> usize {
    let connection = Connection::open(path).unwrap();
    connection.pragma_query_value(None, "user_version", |row| row.get(0)).unwrap()
}

/// The tables and views of a record, with their columns.
fn shape(path: &Path) -> Vec<String> {
    let connection = Connection::open(path).unwrap();
    let mut select = connection
        .prepare("SELECT m.name || '.' || c.name FROM sqlite_schema m, pragma_table_info(m.name) c")
        .unwrap();
    let mut all: Vec<String> =
        select.query_map([], |row| row.get(0)).unwrap().map(Result::unwrap).collect();
    all.sort();
    all
}

#[test]
fn every_older_record_climbs_with_all_its_rows_and_goes_on() {
    let directory = tempdir().unwrap();
    let new = directory.path().join("new.db");
    drop(SqliteArchive::open(&new).unwrap());
    for schema in 1..=NEWEST {
        let path = directory.path().join(format!("{schema}.db"));
        aged::make(&path, schema, &RUNS);
        assert_all_there(&SqliteArchive::open_read_only(&path).unwrap(), schema);
        let mut archive = SqliteArchive::open(&path).unwrap();
        // What an older knee began and this one goes on with.
        archive.reopen(2).unwrap();
        archive.commit(2, &cell(9)).unwrap();
        archive.finish(2, &ending(RunState::Complete)).unwrap();
        assert_eq!(archive.load(2).unwrap().cells.len(), 10);
        drop(archive);
        assert_eq!((schema_of(&path), shape(&path)), (CURRENT, shape(&new)), "from {schema}");
        assert_eq!(integrity(&path), "ok");
    }
}

/// Statement by statement: what is in the journal by then is nobody's, and the old record is whole.
#[test]
fn killed_between_any_two_statements_of_a_migration_it_is_the_old_record() {
    let directory = tempdir().unwrap();
    for schema in 1..=NEWEST {
        let old = directory.path().join("old.db");
        aged::make(&old, schema, &RUNS);
        let statements = statements(schema).len();
        for done in 0..=statements {
            let path = directory.path().join("knee.db");
            fs::copy(&old, &path).unwrap();
            let mut dying = child("migration::child_dies_while_migrating", &path);
            let died = dying.env(STATEMENTS, format!("{schema} {done}")).output().unwrap();
            assert_eq!(died.status.code(), None, "it dies: {}", text(&died.stderr));
            assert_eq!(schema_of(&path), schema, "after {done} statements");
            assert_all_there(&SqliteArchive::open_read_only(&path).unwrap(), schema);
            assert_eq!(schema_of(&path), schema, "reading leaves it as it is");
            assert_all_there(&SqliteArchive::open(&path).unwrap(), schema);
            assert_eq!(schema_of(&path), CURRENT);
            assert_eq!(integrity(&path), "ok");
            fs::remove_file(&path).unwrap();
        }
        fs::remove_file(&old).unwrap();
    }
}

/// What leads from that schema to this knee's.
fn statements(schema: usize) -> Vec<String> {
    let plain = |sql: &str| -> String {
        let lines = sql.lines().map(|line| line.split("--").next().unwrap_or_default());
        lines.collect::<Vec<_>>().join("\n")
    };
    let all: String = SCHEMAS[schema..].iter().map(|sql| plain(sql)).collect();
    let each = all.split(';').map(str::trim).filter(|statement| !statement.is_empty());
    each.map(str::to_owned).collect()
}

#[test]
#[ignore = "the child's part of another test"]
fn child_dies_while_migrating() {
    let Some(path) = record_of_child() else { return };
    let words = env::var(STATEMENTS).unwrap();
    let (schema, done) = words.split_once(' ').unwrap();
    let connection = Connection::open(path).unwrap();
    // With so little memory for pages, what is changed goes to the journal at once.
    connection.execute_batch("PRAGMA cache_size = 1; BEGIN IMMEDIATE").unwrap();
    let statements = statements(schema.parse().unwrap());
    for statement in &statements[..done.parse().unwrap()] {
        connection.execute_batch(statement).unwrap();
    }
    if done.parse() == Ok(statements.len()) {
        connection.pragma_update(None, "user_version", CURRENT).unwrap();
    }
    abort();
}

#[test]
fn killed_at_any_moment_of_a_migration_it_is_the_old_record_or_the_new_one() {
    let directory = tempdir().unwrap();
    let mut random = fastrand::Rng::with_seed(4);
    let mut ends = [0; 2];
    for turn in 0..45 {
        let schema = turn % NEWEST + 1;
        let path = directory.path().join("knee.db");
        aged::make(&path, schema, &RUNS);
        let mut child = opener(&path);
        let mut output = wait_until_ready(&mut child);
        child.stdin.take().unwrap().write_all(b"go\n").unwrap();
        // Not for anything to happen: only for the moment to be any moment.
        sleep(Duration::from_micros(random.u64(..30_000)));
        child.kill().unwrap();
        output.read_to_end(&mut Vec::new()).unwrap();
        child.wait().unwrap();
        let version = schema_of(&path);
        assert!(
            version == schema || version == CURRENT,
            "schema {version} on the way from {schema}"
        );
        ends[usize::from(version == CURRENT)] += 1;
        assert_all_there(&SqliteArchive::open_read_only(&path).unwrap(), schema);
        assert_eq!(integrity(&path), "ok");
        fs::remove_file(&path).unwrap();
    }
    println!("{} were the old record, {} the new one", ends[0], ends[1]);
}

/// A child that opens the record when it is let go.
fn opener(path: &Path) -> Child {
    let mut command = child("migration::child_opens_the_record", path);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command.spawn().unwrap()
}

fn wait_until_ready(child: &mut Child) -> BufReader<impl Read + use<>> {
    let mut output = BufReader::new(child.stdout.take().unwrap());
    let mut line = String::new();
    while !line.contains("ready") {
        line.clear();
        assert_ne!(output.read_line(&mut line).unwrap(), 0, "a child ended early");
    }
    output
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into()
}

#[test]
#[ignore = "the child's part of another test"]
fn child_opens_the_record() {
    let Some(path) = record_of_child() else { return };
    println!("ready");
    stdin().read_line(&mut String::new()).unwrap();
    let archive = SqliteArchive::open(&path).unwrap();
    assert_eq!(archive.runs().unwrap().len(), RUNS.len());
}

/// Migrated once, whoever comes first, with others reading all the while.
#[test]
fn many_may_migrate_a_record_at_once() {
    let directory = tempdir().unwrap();
    for schema in 1..=NEWEST {
        let path = directory.path().join(format!("{schema}.db"));
        aged::make(&path, schema, &RUNS);
        // Somebody who reads with another client, since before.
        let reader = Connection::open(&path).unwrap();
        let rows = |connection: &Connection| -> i64 {
            connection.query_row("SELECT count(*) FROM cell", [], |row| row.get(0)).unwrap()
        };
        reader.execute_batch("BEGIN").unwrap();
        let before = rows(&reader);
        let mut children: [Child; 3] = std::array::from_fn(|_| opener(&path));
        let outputs = children.each_mut().map(wait_until_ready);
        for child in &mut children {
            child.stdin.take().unwrap().write_all(b"go\n").unwrap();
        }
        assert_all_there(&SqliteArchive::open_read_only(&path).unwrap(), schema);
        for (child, mut output) in children.into_iter().zip(outputs) {
            let mut ended: Output = child.wait_with_output().unwrap();
            output.read_to_end(&mut ended.stdout).unwrap();
            assert_child_passed(&ended);
        }
        assert_eq!(rows(&reader), before, "one moment");
        reader.execute_batch("COMMIT").unwrap();
        assert_eq!(rows(&reader), before);
        drop(reader);
        assert_all_there(&SqliteArchive::open(&path).unwrap(), schema);
        assert_eq!(integrity(&path), "ok");
    }
}

/// What this knee can't have written is refused and left alone: there is no way down.
#[test]
fn what_only_claims_to_be_of_an_older_schema_is_refused() {
    let directory = tempdir().unwrap();
    let path = directory.path().join("knee.db");
    aged::make(&path, 4, &RUNS);
    Connection::open(&path).unwrap().pragma_update(None, "user_version", 2).unwrap();
    let before = fs::read(&path).unwrap();
    let error = SqliteArchive::open(&path).unwrap_err();
    assert!(matches!(error, Error::Damaged { .. }), "{error}");
    assert!(fs::read(&path).unwrap() == before);
}

/// What is only read from is left as it is, its journal's cells included.
#[test]
fn an_older_record_is_read_without_bringing_it_up_to_date() {
    let directory = tempdir().unwrap();
    for schema in 1..=NEWEST {
        let path = directory.path().join(format!("{schema}.db"));
        aged::make(&path, schema, &RUNS);
        let before = contents(directory.path());
        assert_all_there(&SqliteArchive::open_read_only(&path).unwrap(), schema);
        assert_unchanged(directory.path(), &before);
        // Of another process, which has not ended: only its journal knows.
        let writer = Connection::open(&path).unwrap();
        writer.execute("UPDATE run SET version = 'new' WHERE number = 1", []).unwrap();
        let archive = SqliteArchive::open_read_only(&path).unwrap();
        assert_eq!(archive.runs().unwrap()[0].version, "new");
        drop((archive, writer));
        assert_eq!(schema_of(&path), schema);
    }
    let current = directory.path().join("current.db");
    make_record(&current, 3);
    assert_eq!(SqliteArchive::open_read_only(&current).unwrap().load(1).unwrap().cells.len(), 3);
    assert!(SqliteArchive::open_read_only(directory.path().join("none.db")).is_err());
}

/// What is read meanwhile, and written by a newer knee in the end.
#[test]
fn a_knee_goes_on_writing_until_a_newer_one_writes_and_says_why_then() {
    let directory = tempdir().unwrap();
    let path = directory.path().join("knee.db");
    let mut archive = SqliteArchive::open(&path).unwrap();
    let number = archive.begin(&run("0123456789abcdef", 3)).unwrap();
    archive.commit(number, &cell(0)).unwrap();
    Connection::open(&path).unwrap().pragma_update(None, "user_version", CURRENT + 1).unwrap();
    let merged = archive.wholly(&mut |archive| archive.commit(number, &cell(1)));
    for refused in [archive.commit(number, &cell(1)), merged] {
        let newer = |error: &Error| matches!(error, Error::NewerSchema { .. });
        assert!(refused.as_ref().is_err_and(newer), "{refused:?}");
    }
}
