//! A push that is cut off at any moment: nothing lost, nothing twice, nothing half.

use crate::common::{assert_child_passed, child, record_of_child};
use crate::contract::complete;
use crate::server::{self, Server, url};
use archive_postgres::PostgresArchive;
use record::{Archive, DatabaseUrl, Error, Merged, Run, merge};
use std::process::Stdio;
use std::time::{Duration, Instant};

/// Kills of the client; `KNEE_KILLS` sets another number.
const KILLS: u32 = 25;
/// Restarts of the server take most of the time.
const KILLS_OF_SERVER: u32 = 4;
const RUNS: u64 = 4;

fn kills(usual: u32) -> u32 {
    std::env::var("KNEE_KILLS").ok().and_then(|text| text.parse().ok()).unwrap_or(usual)
}

/// The runs that are pushed, of different sizes.
fn runs() -> Vec<Run> {
    let run = |n: u64| complete(&format!("{n:016x}"), 10 * n + 3, n);
    (1..=RUNS).map(run).collect()
}

/// Asserts that each run that is there is whole, and there once; returns how many there are.
fn assert_whole(url: &DatabaseUrl) -> usize {
    let archive = PostgresArchive::open(url).unwrap();
    let all = runs();
    let there = archive.runs().unwrap();
    for summary in &there {
        let run = all.iter().find(|run| run.summary.id == summary.id).unwrap();
        let loaded = archive.load(summary.number).unwrap();
        assert_eq!((&loaded.cells, &loaded.profile), (&run.cells, &run.profile));
    }
    there.len()
}

#[test]
fn a_client_that_is_killed_leaves_nothing_half() {
    let Some(server) = server::shared() else { return };
    let whole = time_of_push(&server.url("knee", &server.database()));
    let mut partly = 0;
    for _ in 0..kills(KILLS) {
        let url = server.url("knee", &server.database());
        let mut pushing = child("kill::child_pushes", url.with_secrets().as_ref())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        std::thread::sleep(whole.mul_f64(1.3 * fastrand::f64()));
        pushing.kill().unwrap();
        pushing.wait().unwrap();
        let there = assert_whole(&url);
        partly += usize::from(there > 0 && there < RUNS as usize);
        push(&url).unwrap();
        assert_eq!(assert_whole(&url), RUNS as usize);
    }
    println!("{partly} of {} kills were between the first run and the last", kills(KILLS));
}

fn push(url: &DatabaseUrl) -> Result<(), Error> {
    let mut archive = PostgresArchive::open(url)?;
    runs().iter().try_for_each(|run| merge(&mut archive, run).map(drop))
}

/// The time that a child takes to push all.
fn time_of_push(url: &DatabaseUrl) -> Duration {
    let start = Instant::now();
    let output = child("kill::child_pushes", url.with_secrets().as_ref()).output().unwrap();
    assert_child_passed(&output);
    start.elapsed()
}

#[test]
#[ignore = "the child's part of another test"]
fn child_pushes() {
    if let Some(location) = record_of_child() {
        push(&url(location.to_str().unwrap())).unwrap();
    }
}

#[test]
fn a_server_that_is_killed_loses_nothing_that_was_pushed() {
    let Some(server) = Server::new(None, &[]) else { return };
    for _ in 0..kills(KILLS_OF_SERVER) {
        let url = server.url("knee", &server.database());
        let mut archive = PostgresArchive::open(&url).unwrap();
        let (sent, killed) = std::thread::scope(|scope| {
            let pushing = scope.spawn(|| {
                let mut kept = Vec::new();
                for run in runs() {
                    match merge(&mut archive, &run) {
                        Ok(Merged::Copied(_)) => kept.push(run.summary.id),
                        Ok(merged) => panic!("{merged:?}"),
                        Err(error) => return (kept, Some(error.to_string())),
                    }
                }
                (kept, None)
            });
            std::thread::sleep(Duration::from_millis(60).mul_f64(fastrand::f64()));
            server.kill();
            pushing.join().unwrap()
        });
        assert!(killed.as_ref().is_none_or(|line| line.contains("was lost")), "{killed:?}");
        server.start();
        assert_whole(&url);
        let archive = PostgresArchive::open(&url).unwrap();
        for id in sent {
            assert!(archive.find(&id).unwrap().is_some(), "{id} was pushed");
        }
        push(&url).unwrap();
        assert_eq!(assert_whole(&url), RUNS as usize);
    }
}

#[test]
fn many_machines_push_at_a_time() {
    let Some(server) = server::shared() else { return };
    let url = server.url("knee", &server.database());
    std::thread::scope(|scope| {
        for _ in 0..6 {
            // All of them push the same runs.
            scope.spawn(|| push(&url).unwrap());
        }
    });
    assert_eq!(assert_whole(&url), RUNS as usize);
}
