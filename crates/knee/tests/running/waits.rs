//! What threads wait for, in programs of known behaviour: kinds of waits, and the functions where they are.

use crate::common::{Came, Knee};
use crate::profile::is_possible;
use analysis::analyse;
use fixtures::needed_program;
use model::{ProfileLimit, Run, WaitKind};
use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;

/// Threads of `work`, as many as the first argument says.
const MAIN: &str = r"
static void *work(void *p);
int main(int argc, char **argv) {
    int threads = atoi(argv[1]); pthread_t t[64];
    for (long i = 0; i < threads; i++) pthread_create(&t[i], 0, work, (void *)i);
    for (int i = 0; i < threads; i++) pthread_join(t[i], 0);
    return argc < 0;
}";
const HEAD: &str = r"
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>
static volatile unsigned long sink[64];
static void spin(int n) { for (int i = 0; i < n; i++) sink[0] += i; }
";
/// A thread sleeps with the lock, so that the others wait for it on any machine.
const LOCK: &str = r"
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
__attribute__((noinline)) static void push(void) {
    pthread_mutex_lock(&lock);
    spin(20000); usleep(1000);
    pthread_mutex_unlock(&lock);
    spin(1);
}
static void *work(void *p) { for (int i = 0; i < 60; i++) push(); return p; }
";
const SHARING: &str = r"
static void *work(void *p) { for (long i = 0; i < 20000000; i++) sink[(long)p]++; return 0; }
";
/// Each thread writes to a pipe that it reads from after a while.
const PIPE: &str = r"
static void *feed(void *p) { for (int i = 0; i < 40; i++) { usleep(2000); if (write(*(int *)p, p, 1) != 1) abort(); } return p; }
__attribute__((noinline)) static void consume(int end) { char c; for (int i = 0; i < 40; i++) { if (read(end, &c, 1) != 1) abort(); spin(1000); } }
static void *work(void *p) {
    int ends[2]; pthread_t feeder; if (pipe(ends)) abort();
    pthread_create(&feeder, 0, feed, &ends[1]); consume(ends[0]); pthread_join(feeder, 0); return p;
}
";
const FILE: &str = r#"
__attribute__((noinline)) static void save(int fd) {
    char block[4096] = {1};
    for (int i = 0; i < 20; i++) { if (pwrite(fd, block, sizeof block, 0) < 0) abort(); fsync(fd); }
}
static void *work(void *p) {
    char name[4096]; snprintf(name, sizeof name, "DIRECTORY/%ld", (long)p);
    int fd = open(name, O_CREAT | O_RDWR, 0600); unlink(name); save(fd); return p;
}
"#;
const NAP: &str = r"
__attribute__((noinline)) static void nap(void) { nanosleep(&(struct timespec){0, 2000000}, 0); spin(1); }
static void *work(void *p) { for (int i = 0; i < 40; i++) nap(); return p; }
";

/// A run of the program at one and four threads; none where that can't be done here, which is reported.
fn profiled(source: &str) -> Option<(Knee, Came, Run)> {
    if !is_possible() {
        return None;
    }
    let cc = needed_program("cc")?;
    let knee = Knee::new();
    let directory = knee.directory.path();
    let source = source.replace("DIRECTORY", &directory.display().to_string());
    std::fs::write(directory.join("mt.c"), [HEAD, &source, MAIN].concat()).unwrap();
    let compile = ["-O1", "-g", "-o", "mt", "mt.c", "-pthread"];
    assert!(Command::new(cc).args(compile).current_dir(directory).status().unwrap().success());
    let command = format!("{}/mt {{threads}}", directory.display());
    let words = ["run", "command", "--command", &command, "--points", "1,4"];
    let short = ["--rounds", "2", "--time", "1ms", "--quick", "--profile"];
    let came = knee.run(&[&words[..], &short].concat());
    assert_eq!(came.code, Some(0), "{came:?}");
    let run = knee.last_run();
    let limits = run.profile.cells.iter().flat_map(|cell| &cell.limits);
    let mut hidden = limits.filter(|limit| matches!(limit, ProfileLimit::WaitsHidden { .. }));
    if let Some(hidden) = hidden.next() {
        eprintln!("SKIPPED: tracepoints are refused here: {hidden:?}");
        return None;
    }
    Some((knee, came, run))
}

/// Kinds of waits with the functions where they are, and where they end.
fn waits(run: &Run) -> BTreeSet<(WaitKind, String, String)> {
    let profile = &run.profile;
    let stacks = profile.cells.iter().flat_map(|cell| &cell.regions).flat_map(|r| &r.samples);
    let waits = stacks.filter_map(|&(stack, _)| {
        let nodes = profile.path(stack).into_iter();
        let frames =
            nodes.map(|node| &profile.frames[profile.stacks[node as usize].frame as usize]);
        let frames: Vec<&model::Frame> = frames.collect();
        let wait = model::Wait::read(&frames)?;
        let file = |line: &str| line.split(':').next().unwrap_or_default().to_owned();
        let name = |site: Option<model::Site<'_>>| {
            let name = site.map(|site| format!("{} {}", site.frame.function, file(site.line)));
            name.unwrap_or_default()
        };
        (frames[0].function == "mt").then(|| (wait.kind, name(wait.site), name(wait.waker)))
    });
    waits.collect()
}

/// The kinds of waits that added thread time is found to be of.
fn claimed(run: &Run) -> Vec<WaitKind> {
    let analysis = analyse(run);
    let changes = analysis.profiles.iter().flat_map(|table| &table.rows);
    let changes = changes.filter_map(|row| row.change.as_ref());
    changes.flat_map(|change| &change.difference.waits).map(|wait| wait.kind).collect()
}

#[test]
fn a_lock_is_named_with_who_waits_and_who_releases_it() {
    let Some((_knee, came, run)) = profiled(LOCK) else { return };
    let all = waits(&run);
    let push = || "push mt.c".to_owned();
    assert!(all.contains(&(WaitKind::Lock, push(), push())), "{all:?}");
    assert_eq!(claimed(&run).first(), Some(&WaitKind::Lock), "{all:?}");
    let sentence = came.out.split_whitespace().collect::<Vec<_>>().join(" ");
    // A share stands between the two where some of it is elsewhere.
    let (_, lock) = sentence.split_once("waits for a lock").expect(&came.out);
    assert!(lock.contains(" in push (mt.c:"), "{came:?}");
    assert!(sentence.contains("released by push (mt.c:"), "{came:?}");
}

#[test]
fn false_sharing_is_no_lock() {
    let Some((_knee, _, run)) = profiled(SHARING) else { return };
    let claimed = claimed(&run);
    assert!(claimed.iter().all(|kind| *kind == WaitKind::Cpu), "{claimed:?}");
    let all = waits(&run);
    assert!(!all.iter().any(|(kind, site, _)| *kind == WaitKind::Lock && site.contains("work")));
}

#[test]
fn a_pipe_a_file_and_a_sleep_are_named_with_their_functions() {
    for (source, kind, function, waker) in [
        (PIPE, WaitKind::Pipe, "consume mt.c", "feed mt.c"),
        (FILE, WaitKind::File, "save mt.c", ""),
        (NAP, WaitKind::Sleep, "nap mt.c", ""),
    ] {
        let Some((knee, _, run)) = profiled(source) else { return };
        let all = waits(&run);
        let is_on_a_disk = kind != WaitKind::File || !is_in_memory(knee.directory.path());
        let wanted = (kind, function.to_owned(), waker.to_owned());
        assert!(!is_on_a_disk || all.contains(&wanted), "{wanted:?} of {all:?}");
        let locks = all.iter().filter(|(kind, ..)| *kind == WaitKind::Lock);
        assert!(!claimed(&run).contains(&WaitKind::Lock), "{:?}", locks.collect::<Vec<_>>());
    }
}

/// Whether files there are in memory alone, so that nothing waits for storage.
fn is_in_memory(directory: &Path) -> bool {
    const TMPFS_MAGIC: u64 = 0x0102_1994;
    const OVERLAYFS_MAGIC: u64 = 0x794c_7630;
    let kind = rustix::fs::statfs(directory).map_or(0, |info| info.f_type.cast_unsigned());
    [TMPFS_MAGIC, OVERLAYFS_MAGIC].contains(&kind)
}

#[test]
fn a_live_process_has_the_kinds_of_its_waits() {
    let Some((knee, ..)) = profiled(LOCK) else { return };
    let loop_forever = "while :; do ./mt 4; done";
    let mut shell = Command::new("sh")
        .args(["-c", loop_forever])
        .current_dir(knee.directory.path())
        .spawn()
        .unwrap();
    let pid = shell.id().to_string();
    let came = knee.run(&["advise", "--pid", &pid, "--profile", "--seconds", "1", "--json"]);
    shell.kill().unwrap();
    shell.wait().unwrap();
    assert_eq!(came.code, Some(0), "{came:?}");
    let seen: serde_json::Value = serde_json::from_str(&came.out).unwrap();
    let is_push = |wait: &serde_json::Value| {
        let wait = &wait["wait"];
        wait["kind"] == "lock"
            && wait["site"]["function"] == "push"
            && wait["waker"]["function"] == "push"
    };
    assert!(seen["waits"].as_array().unwrap().iter().any(is_push), "{came:?}");
}
