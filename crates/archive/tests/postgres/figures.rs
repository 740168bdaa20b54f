//! The figures of docs/archive.md: what a push takes, what a run takes up, and what pruning takes. `cargo test -p
//! archive --features postgres --test postgres figures -- --ignored --nocapture` prints them.

use crate::contract::complete;
use crate::partitions::statements;
use crate::server::{self, Server};
use archive::PostgresArchive;
use archive::{Archive, SqliteArchive};
use model::Run;
use std::time::{Duration, Instant};

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

/// Runs in the archive whose pruning is measured: those of a partition, and as many that stay.
const PRUNED: u32 = 60;

#[test]
#[ignore = "it measures, and asserts nothing"]
fn figures_of_pruning() {
    let Some(server) = server::shared() else { return };
    let mut whole = complete("0000000000000000", CELLS[0], 0);
    varied(&mut whole);
    for is_partitioned in [true, false] {
        let database = server.database();
        let mut archive = PostgresArchive::open(&server.url("knee", &database)).unwrap();
        let mut admin = server.admin(&database).unwrap();
        let [convert, next, prune] = statements(PRUNED);
        if is_partitioned {
            let start = Instant::now();
            admin.batch_execute(&convert).unwrap();
            admin.batch_execute(&next).unwrap();
            println!("made partitions in {:?}", start.elapsed());
            admin.batch_execute("ALTER TABLE knee.run ALTER number RESTART WITH 60").unwrap();
        }
        let start = Instant::now();
        let mut numbers = Vec::new();
        for n in 0..2 * PRUNED {
            whole.summary.id = format!("{n:016x}");
            numbers.push(archive.keep(&whole, "merge").unwrap());
        }
        let push = start.elapsed() / (2 * PRUNED);
        let mut mebibytes = || -> i64 {
            let sql = "SELECT pg_database_size(current_database()) >> 20";
            admin.query_one(sql, &[]).unwrap().get(0)
        };
        let before = mebibytes();
        let start = Instant::now();
        if is_partitioned {
            let mut admin = server.admin(&database).unwrap();
            for statement in prune.split(';').map(str::trim).filter(|text| !text.is_empty()) {
                let start = Instant::now();
                admin.batch_execute(statement).unwrap();
                println!("{:?}: {}", start.elapsed(), &statement[..statement.len().min(40)]);
            }
        } else {
            numbers[..PRUNED as usize].iter().for_each(|run| archive.delete(*run).unwrap());
        }
        let pruned = start.elapsed();
        let after = mebibytes();
        let start = Instant::now();
        server.admin(&database).unwrap().batch_execute("VACUUM").unwrap();
        let vacuum = start.elapsed();
        println!(
            "partitioned: {is_partitioned}: push {push:?} a run; {PRUNED} of {} runs pruned in {pruned:?}, vacuum \
             {vacuum:?}; {before} MiB before, {after} MiB after, {} MiB after VACUUM",
            2 * PRUNED,
            mebibytes()
        );
        assert_eq!(archive.runs().unwrap().len(), PRUNED as usize);
        let start = Instant::now();
        archive.load(numbers[numbers.len() - 1]).unwrap();
        println!("load {:?}", start.elapsed());
    }
}

/// As many machines as a server takes at once, with its usual settings and some connections left.
const MACHINES: u32 = 90;
/// As many cells as the quick suite of `baseline` has.
const CELLS_OF_A_MACHINE: u64 = 230;

#[test]
#[ignore = "it measures, and asserts nothing"]
fn figures_of_a_fleet_that_ends_at_one_moment() {
    // A push that has ended is on the disk.
    let Some(server) = Server::new(None, &["fsync=on", "shared_buffers=128MB"]) else { return };
    let database = server.database();
    let url = server.url("knee", &database);
    drop(PostgresArchive::open(&url).unwrap());
    let mut whole = complete("0000000000000000", CELLS_OF_A_MACHINE, 0);
    varied(&mut whole);
    for machines in [1, MACHINES / 3, MACHINES] {
        let wal = "SELECT pg_current_wal_lsn()::text";
        let mut admin = server.admin(&database).unwrap();
        let before: String = admin.query_one(wal, &[]).unwrap().get(0);
        let start = Instant::now();
        let mut took: Vec<Duration> = std::thread::scope(|scope| {
            let push = |n: u32| {
                let (url, mut run) = (&url, whole.clone());
                run.summary.id = format!("{machines:08x}{n:08x}");
                scope.spawn(move || {
                    PostgresArchive::open(url).unwrap().keep(&run, "merge").unwrap();
                    start.elapsed()
                })
            };
            let pushes: Vec<_> = (0..machines).map(push).collect();
            pushes.into_iter().map(|push| push.join().unwrap()).collect()
        });
        took.sort();
        let wal = format!("SELECT pg_wal_lsn_diff(pg_current_wal_lsn(), '{before}')::bigint");
        let bytes: i64 = admin.query_one(&wal, &[]).unwrap().get(0);
        let rate = f64::from(machines) / took[took.len() - 1].as_secs_f64();
        println!(
            "{machines} machines, {CELLS_OF_A_MACHINE} cells each: first {:?}, last {:?}, {rate:.1} runs/s, {} KiB of WAL a run",
            took[0],
            took[took.len() - 1],
            bytes / i64::from(machines) / 1024
        );
    }
    let sql = "SELECT sum(pg_total_relation_size(oid))::bigint FROM pg_class \
         WHERE relnamespace = 'knee'::regnamespace AND relkind = 'r'";
    let bytes: i64 = server.admin(&database).unwrap().query_one(sql, &[]).unwrap().get(0);
    let runs = i64::from(1 + MACHINES / 3 + MACHINES);
    println!("{} KiB a run in the archive", bytes / runs / 1024);
}

/// Samples that don't compress better than measured ones.
fn varied(run: &mut Run) {
    for metric in run.cells.iter_mut().flat_map(|cell| &mut cell.metrics) {
        metric.samples.iter_mut().for_each(|sample| *sample *= 1.0 + 0.1 * fastrand::f64());
    }
}
