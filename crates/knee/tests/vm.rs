//! Kernels booted by `knee vm`: a real one of Debian's, emulated.

mod common;

use common::{Came, Knee, came, wait_until};
use record::{Archive, Run, SqliteArchive};
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A boot takes seconds where the machine is idle.
const KERNEL: &str = "debian:6.1";

/// The words of a run that measures little.
const LITTLE: [&str; 10] = [
    "run",
    "poll",
    "--subjects",
    "poll,epoll-level",
    "--points",
    "10,100",
    "--rounds",
    "2",
    "--time",
    "20ms",
];

/// Whether a guest can be booted here. What is missing is said, past the harness that keeps what tests print.
fn can_boot() -> bool {
    let has = |program: &str| Command::new(program).arg("--version").output().is_ok();
    let missing = ["qemu-system-x86_64", "apt-get", "dpkg-deb"].into_iter().find(|name| !has(name));
    let Some(missing) = missing else { return true };
    let _ = writeln!(std::io::stderr(), "skipped: no guest is booted, since {missing} is missing");
    false
}

/// Runs `knee vm`, with fetched kernels kept for all tests.
fn vm(knee: &Knee, words: &[&str]) -> Came {
    let cache = Path::new(env!("CARGO_TARGET_TMPDIR")).join("cache");
    let mut command = knee.command(&["vm", "--accel", "tcg"]);
    came(command.args(words).env("XDG_CACHE_HOME", cache))
}

/// Every run of the record.
fn runs(knee: &Knee) -> Vec<Run> {
    let archive = SqliteArchive::open_read_only(knee.record()).unwrap();
    let all = archive.runs().unwrap();
    all.iter().map(|run| archive.load(run.number).unwrap()).collect()
}

#[test]
fn guests_measure_in_turns_and_are_compared() {
    if !can_boot() {
        return;
    }
    let knee = Knee::new();
    let sides = ["--kernel", KERNEL, "--append", "", "--append", "mitigations=off", "--"];
    let came = vm(&knee, &[&sides[..], &LITTLE].concat());
    assert_eq!(came.code, Some(0), "{came:?}");
    let runs = runs(&knee);
    assert_eq!(runs.len(), 2, "{came:?}");
    assert_eq!(runs[1].plan.paired_with, runs[0].summary.id);
    for run in &runs {
        assert_eq!(run.cells.len(), run.plan.cells.len(), "{came:?}");
        assert_eq!(run.plan.cells, runs[0].plan.cells, "their cells have one order");
        assert!(run.host_before.fact("kernel.release").unwrap().starts_with("6.1."));
        assert_eq!(run.host_before.fact("vm.accelerator"), Some("tcg"));
        let after = run.host_after.as_ref().unwrap();
        assert!(after.fact("vm.cpu.0.time").is_some(), "{:?}", after.facts);
    }
    assert!(came.out.contains("mitigations=off"), "{}", came.out);
}

#[test]
fn what_can_not_be_booted_is_refused_in_one_line() {
    let knee = Knee::new();
    let refused = |kernel: &Path, why: &str| {
        let path = kernel.display().to_string();
        let came = vm(&knee, &[&["--kernel", &path, "--"], &LITTLE[..]].concat());
        assert_eq!(came.code, Some(2), "{came:?}");
        assert!(came.err.contains(why) && came.err.lines().count() == 1, "{}", came.err);
    };
    let file = |name: &str, content: &[u8]| -> PathBuf {
        let path = knee.directory.path().join(name);
        fs::write(&path, content).unwrap();
        path
    };
    refused(&knee.directory.path().join("none"), "No such file");
    refused(&file("text", b"not a kernel\n"), "it is no kernel image");
    refused(&file("vmlinux", b"\x7fELF\x02\x01"), "bzImage of the same tree");
    let mut cut = vec![0_u8; 0x300];
    (cut[0x1f1], cut[0x1f4]) = (2, 9);
    cut[0x202..0x206].copy_from_slice(b"HdrS");
    refused(&file("cut", &cut), "it is cut off: it has 768 of");
    let came = vm(&knee, &["--kernel", "x", "--memory", "100T", "--", "run", "poll"]);
    assert_ne!(came.code, Some(0), "{came:?}");
    let came = vm(&knee, &["--", "list"]);
    assert_eq!(came.code, Some(2), "{came:?}");
}

#[test]
fn a_guest_that_dies_is_quoted_and_booted_again() {
    if !can_boot() {
        return;
    }
    let knee = Knee::new();
    // Nothing of the root is in a guest whose memory does not hold it.
    let words = ["--kernel", KERNEL, "--append", "rdinit=/none", "--memory", "256M", "--"];
    let came = vm(&knee, &[&words[..], &LITTLE].concat());
    assert_eq!(came.code, Some(1), "{came:?}");
    assert_eq!(came.err.matches("it is booted again").count(), 2, "{}", came.err);
    let last = came.err.lines().last().unwrap();
    assert!(last.contains("panic"), "{}", came.err);
}

#[test]
fn nothing_of_a_guest_outlives_a_knee_that_is_killed() {
    if !can_boot() {
        return;
    }
    let knee = Knee::new();
    let cache = Path::new(env!("CARGO_TARGET_TMPDIR")).join("cache");
    let words = ["vm", "--accel", "tcg", "--kernel", KERNEL, "--"];
    let mut command = knee.command(&[&words[..], &LITTLE].concat());
    let mut process = command.env("XDG_CACHE_HOME", cache).spawn().unwrap();
    wait_until("QEMU runs", || knee.processes().iter().any(|line| line.contains("qemu-system")));
    process.kill().unwrap();
    process.wait().unwrap();
    knee.assert_no_process_left();
}

/// A suite says in which guests it is measured. Their kernels say how their locks wait, and a build finds its compiler.
#[test]
fn a_suite_is_measured_in_the_guests_that_it_describes() {
    if !can_boot() {
        return;
    }
    let knee = Knee::new();
    let text = format!(
        "[suite.small]\nrounds = 1\ntime = '20ms'\nworkloads = [{{ name = 'syscalls', subjects = ['dup-close'], points = \
         [1, 2], by = 'threads' }}, {{ name = 'build', subjects = ['half'], files = 1, warm-up = 'none' }}]\n\
         vm = {{ kernel = '{KERNEL}', cpus = 2, on = 1, cpu = ['max,-smap', 'max,-smap,-hypervisor'] }}\n"
    );
    fs::write(knee.directory.path().join("knee.toml"), text).unwrap();
    let cache = Path::new(env!("CARGO_TARGET_TMPDIR")).join("cache");
    let mut command = knee.command(&["vm", "--accel", "tcg", "--suite", "small"]);
    command.current_dir(knee.directory.path()).env("XDG_CACHE_HOME", cache);
    let came = came(&mut command);
    assert_eq!(came.code, Some(0), "{came:?}");
    let runs = runs(&knee);
    let locks = runs.iter().map(|run| run.host_before.fact(record::SPINLOCKS));
    assert_eq!(locks.collect::<Vec<_>>(), [Some("test-and-set"), Some("queued")], "{came:?}");
    for run in &runs {
        assert_eq!(run.host_before.fact("vm.cpus"), Some("2"));
        assert_eq!(run.host_before.fact("vm.host.cpus"), Some("1"));
        assert_eq!(run.host_after.as_ref().unwrap().guest_cpu_seconds().len(), 2);
        let build = run.cells.iter().find(|cell| cell.key.workload == "build").unwrap();
        assert_eq!(build.outcome, record::Outcome::Measured, "{build:?}");
    }
    assert!(came.out.contains("Time that the guests' CPUs ran"), "{}", came.out);
}
