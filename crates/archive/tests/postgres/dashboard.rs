//! The dashboard of `deploy/grafana`, asked of a real server by the roles that `deploy/postgres` makes.

use crate::contract::complete;
use crate::server::Server;
use archive::Archive;
use archive::PostgresArchive;
use model::Run;
use postgres::Client;
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

fn deploy(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../deploy").join(path)
}

/// A run of one of three machines of a fleet, the last of which has figures 1.5 times as high as the others. In each, a round is
/// disturbed, and the same was measured with a second setting. The metric `loop` is a time, and `add` a rate.
fn of_machine(rank: u32) -> Run {
    let mut run = complete(&format!("{rank:016x}"), 18, 0);
    run.plan.workloads[0].metrics[1].lower_is_better = false;
    let mut second_setting = run.cells.clone();
    for cell in &mut second_setting {
        cell.sequence += 18;
        cell.key.parameters.insert("active".into(), "9".into());
        let metrics = cell.metrics.iter_mut();
        metrics.for_each(|metric| metric.samples.iter_mut().for_each(|sample| *sample *= 10.0));
    }
    let disturbed = run.cells.iter_mut().filter(|cell| cell.key.round == 1);
    for metric in disturbed.flat_map(|cell| &mut cell.metrics) {
        metric.samples.iter_mut().for_each(|sample| *sample *= 50.0);
    }
    run.cells.extend(second_setting);
    let facts =
        [("host.name", format!("node{rank}").into()), ("fleet.rank", u64::from(rank).into())];
    run.host_before.facts.extend(facts.map(|(key, value)| (key.to_owned(), value)));
    let host = run.host_before.clone();
    run.summary.set_host(&host);
    for metric in run.cells.iter_mut().flat_map(|cell| &mut cell.metrics).filter(|_| rank == 2) {
        metric.samples.iter_mut().for_each(|sample| *sample *= 1.5);
    }
    run
}

/// A query as Grafana sends it: the time that is shown is all time, and `values` are chosen.
fn filled(query: &str, values: &BTreeMap<String, String>) -> String {
    let time = "started BETWEEN '1970-01-01T00:00:00Z' AND '2100-01-01T00:00:00Z'";
    let mut query = query.replace("$__timeFilter(started)", time);
    for (name, value) in values {
        query = query.replace(&format!("${{{name}:sqlstring}}"), &format!("'{value}'"));
        query = query.replace(&format!("${name}"), value);
    }
    assert!(!query.contains('$'), "nothing fills in {query}");
    query
}

/// The names of a query's columns, and its rows as JSON.
fn answer(reader: &mut Client, query: &str) -> (Vec<String>, Vec<Value>) {
    let described = reader.prepare(query).unwrap_or_else(|error| panic!("{query}: {error:?}"));
    let columns = described.columns().iter().map(|column| column.name().to_owned()).collect();
    let rows = reader.query(&format!("SELECT to_json(r)::text FROM ({query}) AS r"), &[]);
    let rows = rows.unwrap_or_else(|error| panic!("{query}: {error:?}"));
    let json = |row: &postgres::Row| serde_json::from_str(row.get(0)).unwrap();
    (columns, rows.iter().map(json).collect())
}

#[test]
fn every_panel_finds_what_was_pushed_and_the_slow_machine_stands_out() {
    if Command::new("psql").arg("--version").output().is_err() {
        eprintln!("SKIPPED: there is no psql here");
        return;
    }
    // Of its own: roles are those of a whole server.
    let Some(server) = Server::new(None, &[]) else { return };
    let database = server.database();
    let mut roles = Command::new("sh");
    roles.arg(deploy("postgres/10-roles.sh"));
    roles.env("KNEE_ROLES", deploy("postgres/roles.sql")).env("PGHOST", server.directory());
    for (name, value) in [
        ("PGPORT", "5432"),
        ("POSTGRES_USER", "knee"),
        ("POSTGRES_DB", &database),
        ("KNEE_OWNER_PASSWORD", "own'er"),
        ("KNEE_WRITER_PASSWORD", "writer"),
        ("KNEE_READER_PASSWORD", "reader"),
    ] {
        roles.env(name, value);
    }
    let made = roles.output().unwrap();
    assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
    let sql = "SELECT count(*) FROM pg_authid WHERE rolname LIKE 'knee\\__%' AND rolpassword LIKE 'SCRAM-%'";
    let with_password: i64 = server.admin(&database).unwrap().query_one(sql, &[]).unwrap().get(0);
    assert_eq!(with_password, 3);

    let url = |role: &str| server.url(role, &database);
    drop(PostgresArchive::open(&url("knee_owner")).unwrap());
    let mut archive = PostgresArchive::open(&url("knee_writer")).unwrap();
    for rank in 0..3 {
        archive.keep(&of_machine(rank), "").unwrap();
    }
    let text = std::fs::read_to_string(deploy("grafana/dashboards/knee.json")).unwrap();
    let dashboard: Value = serde_json::from_str(&text).unwrap();
    let mut reader = server.admin(&database).unwrap();
    reader.batch_execute("SET ROLE knee_reader").unwrap();
    let mut values = BTreeMap::new();
    for variable in dashboard["templating"]["list"].as_array().unwrap() {
        let name = variable["name"].as_str().unwrap();
        let query = filled(variable["query"].as_str().unwrap(), &values);
        let (columns, rows) = answer(&mut reader, &query);
        assert_eq!(columns.len(), 1, "{name}");
        let first = rows.first().unwrap_or_else(|| panic!("{name} has no value: {query}"));
        let value = &first[&columns[0]];
        let value = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        values.insert(name.to_owned(), value);
    }
    let chosen =
        ["workload", "metric", "subject", "parameters", "point"].map(|name| &*values[name]);
    assert_eq!(chosen, ["poll", "add", "epoll-level", "{\"active\": \"1\"}", "100"]);
    for panel in dashboard["panels"].as_array().unwrap() {
        let title = panel["title"].as_str().unwrap();
        let target = &panel["targets"][0];
        let (columns, rows) =
            answer(&mut reader, &filled(target["rawSql"].as_str().unwrap(), &values));
        assert!(!rows.is_empty(), "{title} shows nothing");
        if target["format"] == "time_series" {
            assert_eq!(columns[0], "time", "{title}");
        }
        if columns.contains(&"median".to_owned()) {
            // Of the rounds' medians 1000.3, 50016 and 1066.65, and of no other setting.
            assert_figures(&rows, "metric", "median", [1066.65, 1066.65, 1599.975]);
        }
        if columns.contains(&"ratio".to_owned()) {
            assert_figures(&rows, "host", "ratio", [1.0, 1.0, 1.0 / 1.5]);
            let loops = values.clone().into_iter().chain([("metric".into(), "loop".into())]);
            let query = filled(target["rawSql"].as_str().unwrap(), &loops.collect());
            assert_figures(&answer(&mut reader, &query).1, "host", "ratio", [1.0, 1.0, 1.5]);
        }
    }
}

/// Asserts the figures of the three machines.
fn assert_figures(rows: &[Value], host: &str, column: &str, expected: [f64; 3]) {
    assert_eq!(rows.len(), 3, "{rows:?}");
    for (rank, expected) in expected.into_iter().enumerate() {
        let row = rows.iter().find(|row| row[host] == format!("node{rank}")).unwrap();
        let figure = row[column].as_f64().unwrap();
        assert!((figure / expected - 1.0).abs() < 1e-6, "node{rank}: {figure} is not {expected}");
    }
}
