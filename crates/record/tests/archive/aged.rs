//! Records as older knees wrote them: their schemas, filled by plain SQL in the words of their time.

use crate::common;
use record::{Cell, Metric, Outcome, RunState, Usage};
use rusqlite::{Connection, named_params};
use std::path::Path;

/// The newest schema that older knees wrote.
pub const NEWEST: usize = 6;
/// The schema of this knee.
pub const CURRENT: usize = 7;

/// What led to each schema, in order.
pub const SCHEMAS: [&str; CURRENT] = [
    include_str!("../../src/schema_1.sql"),
    include_str!("../../src/schema_2.sql"),
    include_str!("../../src/schema_3.sql"),
    include_str!("../../src/schema_4.sql"),
    include_str!("../../src/schema_5.sql"),
    include_str!("../../src/schema_6.sql"),
    include_str!("../../src/schema_7.sql"),
];

/// A run's plan as the first knee wrote it.
const PLAN: &str = r#"{"seed":18446744073709551615,"rounds":5,"measure_ms":0,"deadline_ms":0,
    "pinned_cpus":[],"workloads":[{"name":"poll","version":1,
    "question":"What does it cost to learn which descriptor is ready?",
    "operation":"one byte written, waited for and read","not_measured":[],
    "axis":"watched descriptors","metrics":[
    {"name":"loop","about":"write + wait + dispatch","unit":"ns","lower_is_better":true},
    {"name":"add","about":"write + wait + dispatch","unit":"ns","lower_is_better":true}],
    "subjects":[]}],"unavailable":[],"warnings":[],"cells":[]}"#;

/// A cell as a record of that schema keeps it: what it has no column for is not there.
pub fn cell(schema: usize, sequence: u64) -> Cell {
    let mut cell = common::cell(sequence);
    for metric in cell.metrics.iter_mut().filter(|_| schema < 3) {
        metric.histogram.clear();
    }
    cell
}

/// A closed record of that schema at `path` with these runs: id, cells, state.
pub fn make(path: &Path, schema: usize, runs: &[(&str, u64, RunState)]) {
    let connection = Connection::open(path).unwrap();
    connection.pragma_update(None, "auto_vacuum", "INCREMENTAL").unwrap();
    connection.execute_batch("BEGIN").unwrap();
    for sql in &SCHEMAS[..schema] {
        connection.execute_batch(sql).unwrap();
    }
    connection.pragma_update(None, "application_id", 0x6b6e_6565).unwrap();
    connection.pragma_update(None, "user_version", schema).unwrap();
    connection.execute_batch("COMMIT").unwrap();
    connection.query_row("PRAGMA journal_mode = WAL", [], |_| Ok(())).unwrap();
    connection.execute_batch("BEGIN").unwrap();
    for (id, cells, state) in runs {
        insert_run(&connection, id, *cells, *state);
        let run = connection.last_insert_rowid();
        for sequence in 0..*cells {
            insert_cell(&connection, schema, run, &cell(schema, sequence));
        }
    }
    connection.execute_batch("COMMIT").unwrap();
}

fn insert_run(connection: &Connection, id: &str, cells: u64, state: RunState) {
    let run = common::run(id, cells);
    let ending = common::ending(state);
    let over = state != RunState::Open;
    let sql = "INSERT INTO run (id, started, ended, state, version, cells_planned, command, plan, \
               clock, host_before, host_after, warnings) VALUES (:id, :started, :ended, :state, \
               :version, :cells, :command, :plan, :clock, :before, :after, :warnings)";
    let warnings = if over { ending.warnings.clone() } else { Vec::new() };
    connection
        .execute(
            sql,
            named_params! {
                ":id": id,
                ":started": run.summary.started,
                ":ended": over.then_some(ending.ended),
                ":state": state.name(),
                ":version": run.summary.version,
                ":cells": cells,
                ":command": json(&run.summary.command),
                ":plan": PLAN,
                ":clock": json(&run.clock),
                ":before": json(&run.host_before),
                ":after": over.then(|| json(&ending.host_after)),
                ":warnings": json(&warnings),
            },
        )
        .unwrap();
}

fn json(value: &impl serde::Serialize) -> String {
    serde_json::to_string(value).unwrap()
}

fn insert_cell(connection: &Connection, schema: usize, run: i64, cell: &Cell) {
    let (outcome, reason, detail) = match &cell.outcome {
        Outcome::Measured => ("measured", None, None),
        Outcome::Failed { reason, detail } => ("void", Some(reason.to_string()), Some(detail)),
    };
    let parameters = if schema < 6 { "conditions" } else { "parameters" };
    let sql = format!(
        "INSERT INTO cell (run, sequence, workload, subject, {parameters}, point, round, outcome, \
         reason, detail, elapsed_ns, facts, {USAGE}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, \
         {})",
        usage(&cell.usage)
    );
    let key = &cell.key;
    connection
        .execute(
            &sql,
            rusqlite::params![
                run,
                cell.sequence,
                key.workload,
                key.subject,
                json(&key.parameters),
                key.point,
                key.round,
                outcome,
                reason,
                detail,
                cell.elapsed_ns,
                json(&cell.facts),
            ],
        )
        .unwrap();
    let number = connection.last_insert_rowid();
    for (index, metric) in cell.metrics.iter().enumerate() {
        insert_metric(connection, schema, (number, index), metric);
    }
}

fn insert_metric(connection: &Connection, schema: usize, cell: (i64, usize), metric: &Metric) {
    let sql = format!(
        "INSERT INTO metric (cell, place, name, samples, positions, operations, {USAGE}) \
         VALUES (?, ?, ?, ?, ?, ?, {})",
        usage(&metric.usage)
    );
    let values = rusqlite::params![
        cell.0,
        cell.1,
        metric.name,
        json(&metric.samples),
        positions(schema, &metric.positions),
        metric.operations,
    ];
    connection.execute(&sql, values).unwrap();
    if schema >= 3 {
        let sql = "UPDATE metric SET histogram = ?3 WHERE cell = ?1 AND place = ?2";
        connection.execute(sql, (cell.0, cell.1, &metric.histogram)).unwrap();
    }
}

const USAGE: &str = "user_ns, system_ns, switches_voluntary, switches_involuntary, faults_minor, \
                     faults_major";

/// The values of those columns.
fn usage(usage: &Usage) -> String {
    let (voluntary, involuntary) = (usage.switches_voluntary, usage.switches_involuntary);
    let Usage { user_ns, system_ns, faults_minor, faults_major, .. } = usage;
    format!("{user_ns}, {system_ns}, {voluntary}, {involuntary}, {faults_minor}, {faults_major}")
}

/// One number for each sample, until schema 2 kept the rule.
fn positions(schema: usize, positions: &[u64]) -> String {
    match positions {
        [from, second, ..] if schema >= 2 => {
            format!("{{\"from\":{from},\"step\":{}}}", second - from)
        }
        each => json(&each),
    }
}
