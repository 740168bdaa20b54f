//! The views and every statement of docs/archive.md, as the roles that it makes.

use crate::common::{cell, ending, run};
use crate::contract::complete;
use crate::server;
use archive::PostgresArchive;
use archive::{Archive, Error, RunWriter, ServerFault};
use model::{Run, RunState};
use postgres::error::SqlState;

const DOCUMENT: &str = include_str!("../../../../docs/archive.md");
/// Makes the roles that it names.
pub const ROLES: &str = include_str!("../../../../deploy/postgres/roles.sql");
/// The views of every archive.
const VIEWS: &str = include_str!("../../SCHEMA.md");

/// The SQL of the document's blocks of that kind.
fn blocks(kind: &str) -> Vec<String> {
    let fence = format!("```{kind}\n");
    let parts = DOCUMENT.split(&fence).skip(1);
    parts.map(|part| part.split("```").next().unwrap().to_owned()).collect()
}

/// The document's block of SQL that has this in it.
pub fn block_with(text: &str) -> String {
    blocks("sql").into_iter().find(|block| block.contains(text)).unwrap()
}

#[test]
fn the_documents_describe_every_column_of_every_view() {
    let Some(server) = server::shared() else { return };
    let database = server.database();
    drop(PostgresArchive::open(&server.url("knee", &database)).unwrap());
    let sql = "SELECT table_name::text, column_name::text FROM information_schema.columns \
         WHERE table_schema = 'knee' AND table_name LIKE 'v\\_%' ORDER BY 1, ordinal_position";
    let rows = server.admin(&database).unwrap().query(sql, &[]).unwrap();
    assert!(rows.len() > 50, "{}", rows.len());
    for view in VIEWS.split("### `v_").skip(1).filter_map(|section| section.split('`').next()) {
        let is_there = rows.iter().any(|row| row.get::<_, String>(0) == format!("v_{view}"));
        assert!(is_there, "the archive lacks v_{view}");
    }
    for row in rows {
        let (view, column): (String, String) = (row.get(0), row.get(1));
        let section = VIEWS.split(&format!("### `{view}`")).nth(1);
        let section = section.unwrap_or_else(|| panic!("SCHEMA.md lacks {view}"));
        let section = section.split("\n### ").next().unwrap();
        let added = DOCUMENT.split(&format!("`{view}` ")).nth(1).unwrap_or_default();
        let added = added.split(['.', ';']).next().unwrap();
        let name = format!("`{column}`");
        assert!(section.contains(&name) || added.contains(&name), "{view}.{column}");
    }
}

#[test]
fn the_roles_of_the_document_may_do_what_it_says_and_no_more() {
    let Some(server) = server::shared() else { return };
    let database = server.database();
    let mut admin = server.admin(&database).unwrap();
    admin.batch_execute(ROLES).unwrap();
    let mut owner = PostgresArchive::open(&server.url("knee_owner", &database)).unwrap();
    admin.batch_execute(include_str!("../../../../deploy/postgres/writer.sql")).unwrap();
    for (role, id) in [("knee_writer", "0123456789abcdef"), ("knee_robot", "1111111111111111")] {
        let mut writer = PostgresArchive::open(&server.url(role, &database)).unwrap();
        let number = writer.keep(&complete(&id.replace('1', "2"), 9, 2), "merge").unwrap();
        writer.set_baseline("main", number).unwrap();
        writer.set_baseline("main", number).unwrap();
        let begun = writer.begin(&Run { cells: vec![], ..run(id, 1) }).unwrap();
        writer.commit(begun, &cell(0)).unwrap();
        writer.finish(begun, &ending(RunState::Interrupted)).unwrap();
        writer.reopen(begun).unwrap();
        assert!(is_denied(&writer.delete(number)));
        let mut past_knee = server.client(role, &database).unwrap();
        for sql in [
            "UPDATE knee.version SET schema = 99",
            "INSERT INTO knee.version VALUES (99)",
            "UPDATE knee.cell SET samples = '{1}'",
            "UPDATE knee.cell SET body = '{}'",
            "UPDATE knee.run SET begun = '{}'",
            "DELETE FROM knee.cell",
            "TRUNCATE knee.profile",
            "DROP TABLE knee.baseline",
        ] {
            let error = past_knee.batch_execute(sql).unwrap_err();
            assert_eq!(error.code(), Some(&SqlState::INSUFFICIENT_PRIVILEGE), "{role}: {sql}");
        }
        let url = server.url("knee_reader", &database);
        let mut reader = PostgresArchive::open_read_only(&url).unwrap();
        assert_eq!(reader.load(number).unwrap().cells.len(), 9);
        assert!(is_denied(&reader.delete(number)));
        let mut reader = PostgresArchive::open(&url).unwrap();
        assert!(is_denied(&reader.keep(&complete("fedcba9876543210", 1, 0), "").map(drop)));
        owner.delete(number).unwrap();
    }
}

fn is_denied(result: &Result<(), Error>) -> bool {
    matches!(result, Err(Error::Server { fault: ServerFault::Denied { .. }, .. }))
}

#[test]
fn every_query_of_the_document_runs_and_finds_something() {
    let Some(server) = server::shared() else { return };
    let database = server.database();
    let mut archive = PostgresArchive::open(&server.url("knee", &database)).unwrap();
    archive.keep(&complete("0123456789abcdef", 12, 3), "merge").unwrap();
    let mut admin = server.admin(&database).unwrap();
    let queries: Vec<String> = blocks("sql")
        .into_iter()
        .filter(|block| block.trim_start().starts_with("SELECT"))
        .collect();
    assert!(queries.len() >= 2, "{}", queries.len());
    for query in queries {
        // Grafana writes a condition for the time that is shown.
        let query = query.replace("$__timeFilter(started)", "started IS NOT NULL");
        let rows =
            admin.query(query.trim_end().trim_end_matches(';'), &[]).unwrap_or_else(|error| {
                panic!("{query}: {error:?}");
            });
        assert!(!rows.is_empty(), "{query}");
    }
}

#[test]
fn views_show_what_was_measured() {
    let Some(server) = server::shared() else { return };
    let database = server.database();
    let mut archive = PostgresArchive::open(&server.url("knee", &database)).unwrap();
    let whole = complete("0123456789abcdef", 12, 3);
    archive.keep(&whole, "merge").unwrap();
    let mut admin = server.admin(&database).unwrap();
    let mut count = |sql: &str| -> i64 { admin.query_one(sql, &[]).unwrap().get(0) };
    let metrics = whole.cells.iter().flat_map(|cell| &cell.metrics);
    let samples: usize = metrics.map(|metric| metric.samples.len()).sum();
    assert_eq!(count("SELECT count(*) FROM knee.v_sample"), i64::try_from(samples).unwrap());
    assert_eq!(count("SELECT count(*) FROM knee.v_cell WHERE outcome = 'failed'"), 2);
    assert_eq!(count("SELECT cells_failed FROM knee.v_run"), 2);
    let positions =
        "SELECT count(*) FROM knee.v_sample WHERE metric = 'add' AND position <> 10 * n";
    assert_eq!(count(positions), 0, "a trajectory has the positions of its samples");
    assert_eq!(
        count("SELECT sum(samples)::bigint FROM knee.v_profile WHERE function = 'callee_1'"),
        18
    );
}
