//! A push that is cut off at any moment: nothing lost, nothing twice, nothing half.

use crate::common::{assert_child_passed, child, record_of_child};
use crate::contract::complete;
use crate::server::{self, Server, url};
use archive::PostgresArchive;
use archive::{Archive, DatabaseUrl, Error, Merged, merge};
use model::Run;
use std::io::{self, Read as _};
use std::net::{Shutdown, TcpListener};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::process::Stdio;
use std::time::{Duration, Instant};

// 200 moments in all, most of them by the cheapest way. `KNEE_KILLS` sets another number for each.
/// Cuts of the connection, evenly over the bytes of a push. The server sees what a kill of the client shows it.
const CUTS: u32 = 146;
/// Kills of the client's process.
const KILLS: u32 = 25;
/// Kills of the server's process for the connection, after which the server recovers as from a crash.
const KILLS_OF_BACKEND: u32 = 25;
/// Kills of the whole server. Its restarts take most of the time.
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
fn a_connection_that_is_cut_at_any_byte_leaves_nothing_half() {
    let Some(server) = server::shared() else { return };
    let database = server.database();
    let direct = server.url("knee", &database);
    let mut archive = PostgresArchive::open(&direct).unwrap();
    let small = [complete("0000000000000001", 5, 1), complete("0000000000000002", 6, 2)];
    let mut admin = server.admin(&database).unwrap();
    // Returns how many bytes went to the server.
    let cut_after = |bytes: u64| {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let socket = server.socket();
        let cutter = std::thread::spawn(move || forward(&listener, &socket, bytes));
        let through = url(&format!("postgres://knee@127.0.0.1:{port}/{database}"));
        let pushed = PostgresArchive::open(&through).and_then(|mut archive| {
            small.iter().try_for_each(|run| merge(&mut archive, run).map(drop))
        });
        (pushed, cutter.join().unwrap())
    };
    let (pushed, bytes) = cut_after(u64::MAX);
    pushed.unwrap();
    let mut there = [0; 3];
    for moment in 0..kills(CUTS) {
        admin.batch_execute("DELETE FROM knee.run").unwrap();
        let (pushed, _) = cut_after(bytes * u64::from(moment) / u64::from(kills(CUTS)));
        assert!(pushed.is_err(), "cut at moment {moment}");
        // What is there is whole, or else these would find it different or in parts.
        let merged = small.each_ref().map(|run| merge(&mut archive, run).unwrap());
        let is_there = merged.iter().filter(|merged| **merged == Merged::Alike).count();
        let copied = merged.iter().filter(|merged| matches!(merged, Merged::Copied(_))).count();
        assert_eq!(is_there + copied, small.len(), "{merged:?}");
        there[is_there] += 1;
        let runs: i64 = admin.query_one("SELECT count(*) FROM knee.run", &[]).unwrap().get(0);
        assert_eq!(runs, 2, "nothing is there twice");
    }
    println!("none, one and both of the runs were there after {there:?} of the cuts");
    if kills(CUTS) >= CUTS {
        assert!(there[0] > 0 && there[1] > 0, "{there:?}");
    }
}

/// Takes one connection through to the server, and cuts it when so many bytes went there. Returns how many did.
fn forward(listener: &TcpListener, server: &Path, bytes: u64) -> u64 {
    let (client, _) = listener.accept().unwrap();
    let server = UnixStream::connect(server).unwrap();
    std::thread::scope(|scope| {
        let back = scope.spawn(|| io::copy(&mut &server, &mut &client));
        let forwarded = io::copy(&mut (&client).take(bytes), &mut &server).unwrap_or(0);
        let _ = server.shutdown(Shutdown::Both);
        let _ = client.shutdown(Shutdown::Both);
        let _ = back.join();
        forwarded
    })
}

#[test]
fn a_server_that_is_killed_loses_nothing_that_was_pushed() {
    let Some(server) = Server::new(None, &[]) else { return };
    for _ in 0..kills(KILLS_OF_SERVER) {
        push_while(&server, |_| {
            server.kill();
            server.start();
        });
    }
}

#[test]
fn a_server_that_crashes_in_the_middle_of_a_push_loses_nothing_that_was_pushed() {
    let Some(server) = Server::new(None, &[]) else { return };
    for _ in 0..kills(KILLS_OF_BACKEND) {
        push_while(&server, |database| server.crash(database));
    }
}

/// Pushes runs, and meanwhile does that to the server, and to a new database of it.
fn push_while(server: &Server, kill: impl Fn(&str)) {
    let database = server.database();
    let url = server.url("knee", &database);
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
        kill(&database);
        pushing.join().unwrap()
    });
    assert!(killed.as_ref().is_none_or(|line| line.contains("was lost")), "{killed:?}");
    assert_whole(&url);
    let archive = PostgresArchive::open(&url).unwrap();
    for id in sent {
        assert!(archive.find(&id).unwrap().is_some(), "{id} was pushed");
    }
    push(&url).unwrap();
    assert_eq!(assert_whole(&url), RUNS as usize);
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
