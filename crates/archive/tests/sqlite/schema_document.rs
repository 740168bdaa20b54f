//! SCHEMA.md says what is true: its queries run, and it names every column of every view.

use crate::common::{cell, make_record};
use rusqlite::Connection;
use std::collections::{BTreeMap, BTreeSet};
use std::process::Command;
use tempfile::tempdir;

const DOCUMENT: &str = include_str!("../../SCHEMA.md");
const CELLS: u64 = 30;

/// The SQL in the document.
fn examples() -> Vec<&'static str> {
    let blocks = DOCUMENT.split("```sql\n").skip(1);
    blocks.map(|block| block.split_once("```").unwrap().0).collect()
}

#[test]
fn every_example_finds_something() {
    let directory = tempdir().unwrap();
    let path = directory.path().join("knee.db");
    make_record(&path, CELLS);
    let connection = Connection::open(&path).unwrap();
    assert!(examples().len() >= 10);
    for sql in examples() {
        let mut query = connection.prepare(sql).unwrap_or_else(|error| panic!("{error}: {sql}"));
        assert!(query.readonly());
        let mut rows = query.query([]).unwrap();
        let first = rows.next().unwrap().unwrap_or_else(|| panic!("nothing found: {sql}"));
        let nulls = (0..first.as_ref().column_count())
            .filter(|column| first.get_ref(*column).unwrap() == rusqlite::types::ValueRef::Null);
        assert_eq!(nulls.count(), 0, "{sql}");
    }
}

#[test]
fn the_example_of_medians_is_right() {
    let directory = tempdir().unwrap();
    let path = directory.path().join("knee.db");
    make_record(&path, CELLS);

    let mut series: BTreeMap<(String, String, u64), Vec<f64>> = BTreeMap::new();
    for cell in (0..CELLS).map(cell) {
        for metric in cell.metrics {
            let key = (metric.name, cell.key.subject.clone(), cell.key.point);
            series.entry(key).or_default().extend(metric.samples);
        }
    }
    let expected: Vec<_> = series
        .into_iter()
        .map(|((metric, subject, point), mut values)| {
            values.sort_by(f64::total_cmp);
            let n = values.len();
            let median = f64::midpoint(values[(n - 1) / 2], values[n / 2]);
            (metric, subject, point, n as u64, median / 1000.0)
        })
        .collect();

    let sql = examples().into_iter().find(|sql| sql.contains("median_us")).unwrap();
    let connection = Connection::open(&path).unwrap();
    let mut query = connection.prepare(sql).unwrap();
    let actual: Vec<(String, String, u64, u64, f64)> = query
        .query_map([], |row| {
            Ok((row.get(1)?, row.get(2)?, row.get(4)?, row.get(5)?, row.get("median_us")?))
        })
        .unwrap()
        .map(Result::unwrap)
        .collect();
    assert_eq!(actual.len(), expected.len());
    for (actual, expected) in actual.iter().zip(&expected) {
        assert_eq!(
            (&actual.0, &actual.1, actual.2, actual.3),
            (&expected.0, &expected.1, expected.2, expected.3)
        );
        assert!((actual.4 - expected.4).abs() < 1e-9, "{actual:?} {expected:?}");
    }
}

#[test]
fn every_sample_is_in_the_view_at_its_position() {
    let directory = tempdir().unwrap();
    let path = directory.path().join("knee.db");
    make_record(&path, CELLS);
    let connection = Connection::open(&path).unwrap();
    let mut query = connection
        .prepare(
            "SELECT metric, round, subject, point, n, position, value, unit FROM v_sample \
             ORDER BY run, round, point, subject DESC, metric DESC, n",
        )
        .unwrap();
    let actual: BTreeSet<String> = query
        .query_map([], |row| {
            let words: [String; 3] = [row.get("metric")?, row.get("subject")?, row.get("unit")?];
            let figures: [i64; 4] =
                [row.get("round")?, row.get("point")?, row.get("n")?, row.get("position")?];
            Ok(format!("{words:?} {figures:?} {:e}", row.get::<_, f64>("value")?))
        })
        .unwrap()
        .map(Result::unwrap)
        .collect();
    let mut expected = BTreeSet::new();
    for cell in (0..CELLS).map(cell) {
        for metric in &cell.metrics {
            for (n, value) in metric.samples.iter().enumerate() {
                let position = metric.positions.get(n).copied().unwrap_or(cell.key.point);
                let words = [metric.name.as_str(), cell.key.subject.as_str(), "ns"];
                let figures = [u64::from(cell.key.round), cell.key.point, n as u64, position];
                expected.insert(format!("{words:?} {figures:?} {value:e}"));
            }
        }
    }
    assert!(actual == expected, "{} rows, {} expected", actual.len(), expected.len());
}

#[test]
fn every_column_of_every_view_is_described() {
    let directory = tempdir().unwrap();
    let path = directory.path().join("knee.db");
    make_record(&path, 1);
    let connection = Connection::open(&path).unwrap();
    let mut views = connection
        .prepare(
            "SELECT name FROM sqlite_schema WHERE type = 'view' AND name GLOB 'v_*' ORDER BY name",
        )
        .unwrap();
    let views: Vec<String> =
        views.query_map([], |row| row.get(0)).unwrap().map(Result::unwrap).collect();
    assert_eq!(
        views,
        [
            "v_baseline",
            "v_cell",
            "v_metric",
            "v_profile",
            "v_profile_cell",
            "v_profile_instruction",
            "v_profile_stack",
            "v_run",
            "v_sample"
        ]
    );
    for view in views {
        let mut columns = connection.prepare("SELECT name FROM pragma_table_info(?1)").unwrap();
        let actual: BTreeSet<String> =
            columns.query_map([&view], |row| row.get(0)).unwrap().map(Result::unwrap).collect();
        assert_eq!(described_columns(&view), actual, "{view}");
    }
}

/// The names in backquotes in the first column of the view's table.
fn described_columns(view: &str) -> BTreeSet<String> {
    let section = DOCUMENT.split_once(&format!("### `{view}`")).unwrap().1;
    let section = section.split("\n#").next().unwrap();
    let rows = section.lines().filter(|line| line.starts_with("| `"));
    rows.flat_map(|row| row.split('|').nth(1).unwrap().split('`').skip(1).step_by(2))
        .map(str::to_owned)
        .collect()
}

#[test]
fn the_marks_are_as_described() {
    let directory = tempdir().unwrap();
    let path = directory.path().join("knee.db");
    make_record(&path, 1);
    let connection = Connection::open(&path).unwrap();
    let mark: i64 =
        connection.pragma_query_value(None, "application_id", |row| row.get(0)).unwrap();
    let version: i64 =
        connection.pragma_query_value(None, "user_version", |row| row.get(0)).unwrap();
    assert!(DOCUMENT.contains(&format!("| {mark} (0x{mark:x}, \"Knee\" in ASCII) |")));
    assert!(DOCUMENT.contains(&format!("the schema version, now {version} |")));
}

/// Another client, most likely with an older SQLite than ours.
#[test]
fn the_command_line_client_reads_it() {
    let directory = tempdir().unwrap();
    let path = directory.path().join("knee.db");
    make_record(&path, CELLS);
    let query = |sql: &str| Command::new("sqlite3").arg("-readonly").arg(&path).arg(sql).output();
    let Ok(version) = query("SELECT sqlite_version()") else {
        eprintln!("SKIPPED: there is no sqlite3 command here");
        return;
    };
    for sql in examples() {
        let output = query(sql).unwrap();
        let erred = String::from_utf8_lossy(&output.stderr);
        assert!(
            output.status.success() && !output.stdout.is_empty(),
            "SQLite {}: {sql} {erred}",
            String::from_utf8_lossy(&version.stdout)
        );
    }
}
