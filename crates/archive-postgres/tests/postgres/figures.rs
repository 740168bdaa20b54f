//! The figures of docs/archive.md: what a push takes, and what a run takes up. `cargo test --release -p archive-postgres
//! --test postgres figures -- --ignored --nocapture` prints them.

use crate::contract::complete;
use crate::server;
use archive_postgres::PostgresArchive;
use record::{Archive, Run, SqliteArchive};
use std::time::Instant;

/// As many cells as the quick suite has, and as many as a full suite.
const CELLS: [u64; 2] = [400, 5000];
const RUNS: u32 = 5;

#[test]
#[ignore = "it measures, and asserts nothing"]
fn figures_of_a_push() {
    let Some(server) = server::shared() else { return };
    for cells in CELLS {
        let database = server.database();
        let mut archive = PostgresArchive::open(&server.url("knee", &database)).unwrap();
        let mut whole = complete("0000000000000000", cells, 0);
        varied(&mut whole);
        let samples: usize = whole
            .cells
            .iter()
            .flat_map(|cell| &cell.metrics)
            .map(|metric| metric.samples.len())
            .sum();
        let start = Instant::now();
        for n in 0..RUNS {
            whole.summary.id = format!("{n:016x}");
            archive.keep(&whole, "merge").unwrap();
        }
        let push = start.elapsed() / RUNS;
        let start = Instant::now();
        let last = archive.resolve("last").unwrap();
        archive.load(last).unwrap();
        let load = start.elapsed();
        let start = Instant::now();
        archive.delete(last).unwrap();
        let delete = start.elapsed();
        let mut admin = server.admin(&database).unwrap();
        let sql = "SELECT sum(pg_total_relation_size(oid))::bigint FROM pg_class \
             WHERE relnamespace = 'knee'::regnamespace AND relkind = 'r'";
        let bytes: i64 = admin.query_one(sql, &[]).unwrap().get(0);
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("knee.db");
        SqliteArchive::open(&file).unwrap().keep(&whole, "merge").unwrap();
        let in_file = std::fs::metadata(&file).unwrap().len();
        let kib = bytes / i64::from(RUNS) / 1024;
        println!(
            "{cells} cells, {samples} samples: push {push:?}, load {load:?}, delete {delete:?}, {kib} KiB a run \
             ({} KiB in a file)",
            in_file / 1024
        );
    }
}

/// Samples that don't compress better than measured ones.
fn varied(run: &mut Run) {
    for metric in run.cells.iter_mut().flat_map(|cell| &mut cell.metrics) {
        metric.samples.iter_mut().for_each(|sample| *sample *= 1.0 + 0.1 * fastrand::f64());
    }
}
