//! A link that is cut, and a disk of the server that is full: real ones, in namespaces of their own.

use crate::common::{arguments, assert_child_passed};
use crate::contract::complete;
use crate::server::{Server, url};
use archive::PostgresArchive;
use archive::{Archive, Error, ServerFault, merge};
use std::env;
use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

/// Set for the child that is in the namespace, with the directory of its own file system.
const DISK: &str = "KNEE_TEST_DISK";
/// A cut link is noticed within 10 s; a machine that is busy may take longer to say so.
const NOTICED_MAX: Duration = Duration::from_secs(20);

/// Runs the ignored test `name` with a network and a file system of 96 MiB that only it sees.
fn alone(name: &str) {
    let allowed = Command::new("unshare")
        .args(["--net", "--mount", "sh", "-c", "ip link set lo up && mount -t tmpfs none /mnt"])
        .output()
        .is_ok_and(|output| output.status.success());
    if !allowed {
        eprintln!("SKIPPED: unshare --net --mount is refused here");
        return;
    }
    let directory = tempfile::tempdir().unwrap();
    fs::set_permissions(directory.path(), Permissions::from_mode(0o755)).unwrap();
    let script =
        format!("ip link set lo up && mount -t tmpfs -o size=96m none \"${DISK}\" && exec \"$@\"");
    let output = Command::new("unshare")
        .args(["--net", "--mount", "sh", "-c", &script, "sh"])
        .arg(env::current_exe().unwrap())
        .args(arguments(name))
        .env(DISK, directory.path())
        .output()
        .unwrap();
    assert_child_passed(&output);
}

#[test]
fn a_cut_link_is_noticed_within_ten_seconds() {
    alone("network::child_behind_a_cut_link");
}

#[test]
#[ignore = "the child's part of another test"]
fn child_behind_a_cut_link() {
    if env::var_os(DISK).is_none() {
        return;
    }
    let Some(server) = Server::new(None, &["listen_addresses=127.0.0.1", "port=54321"]) else {
        return;
    };
    let database = server.database();
    let archive =
        PostgresArchive::open(&url(&format!("postgres://knee@127.0.0.1:54321/{database}")))
            .unwrap();
    // On the socket, which no network is needed for: whoever reads waits until this lock is gone.
    let mut admin = server.admin(&database).unwrap();
    admin.batch_execute("BEGIN; LOCK TABLE knee.run IN ACCESS EXCLUSIVE MODE").unwrap();
    let cut = std::thread::spawn(|| {
        std::thread::sleep(Duration::from_millis(300));
        assert!(Command::new("ip").args(["link", "set", "lo", "down"]).status().unwrap().success());
        Instant::now()
    });
    let error = archive.runs().unwrap_err();
    let noticed = cut.join().unwrap().elapsed();
    assert!(matches!(error, Error::Server { fault: ServerFault::Lost { .. }, .. }), "{error}");
    println!("noticed after {noticed:?}: {error}");
    assert!(noticed < NOTICED_MAX, "{noticed:?}");
}

#[test]
fn a_server_whose_disk_is_full_keeps_nothing_half() {
    alone("network::child_fills_the_disk");
}

#[test]
#[ignore = "the child's part of another test"]
fn child_fills_the_disk() {
    let Some(disk) = env::var_os(DISK).map(PathBuf::from) else { return };
    let settings = ["port=54322", "max_wal_size=32MB", "min_wal_size=32MB"];
    let Some(server) = Server::new(Some(&disk), &settings) else { return };
    let moments = env::var("KNEE_LIMITS").map_or(MOMENTS, |moments| moments.parse().unwrap());
    let pushed = |moment| push_until_the_disk_is_full(&server, &disk, moment * CAPACITY_STEP_BYTES);
    let after_some = (0..moments).filter(|&moment| pushed(moment) > 0).count();
    println!("{after_some} of {moments} times some runs were pushed before it was full");
    assert!(moments <= MOMENTS || (1..moments).contains(&after_some), "{after_some}");
}

/// Moments at which the server's disk is full, unless `$KNEE_LIMITS` says otherwise.
const MOMENTS: usize = 3;
/// So much more the server can write each time.
const CAPACITY_STEP_BYTES: usize = 96 << 10;

/// Returns how many runs were pushed before.
fn push_until_the_disk_is_full(server: &Server, disk: &Path, capacity_bytes: usize) -> usize {
    let database = server.database();
    let url = server.url("knee", &database);
    let mut archive = PostgresArchive::open(&url).unwrap();
    let ballast = disk.join("ballast");
    let free = rustix::fs::statvfs(disk).unwrap();
    let free = (free.f_bavail * free.f_frsize) as usize;
    // The server may have taken some of that meanwhile: then it has less.
    let _ = fs::write(&ballast, vec![7; free.saturating_sub(capacity_bytes)]);
    let run = |n: usize| complete(&format!("{n:016x}"), 400, 0);
    let mut pushed = 0;
    let error = loop {
        match merge(&mut archive, &run(pushed)) {
            Ok(_) => pushed += 1,
            Err(error) => break error,
        }
        assert!(pushed < 100, "the disk is never full");
    };
    // A server without room for its log ends itself.
    let is_clear = matches!(
        error,
        Error::Server { fault: ServerFault::DiskFull | ServerFault::Lost { .. }, .. }
    );
    assert!(is_clear, "{error}");
    assert!(!error.to_string().contains('\n'), "{error}");
    drop(archive);
    fs::remove_file(ballast).unwrap();
    server.start_again();
    let mut archive = PostgresArchive::open(&url).unwrap();
    assert_eq!(archive.runs().unwrap().len(), pushed, "after {error}");
    // The one that was refused is pushed again.
    for n in 0..=pushed {
        merge(&mut archive, &run(n)).unwrap();
    }
    let there = archive.runs().unwrap();
    assert_eq!(there.len(), pushed + 1);
    for summary in there {
        assert_eq!(archive.load(summary.number).unwrap().cells, run(0).cells);
    }
    drop(archive);
    server.admin("postgres").unwrap().batch_execute(&format!("DROP DATABASE {database}")).unwrap();
    pushed
}
