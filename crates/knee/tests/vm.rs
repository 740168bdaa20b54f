//! Kernels booted by `knee vm`: a real one of Debian's, emulated.

mod common;

use archive::{Archive, SqliteArchive};
use common::guests::{KERNEL, cache, can_boot, vm};
use common::{Came, Knee, came, wait_until};
use model::{Run, RunState};
use rustix::process::{Pid, Signal, kill_process};
use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};

/// The words of a run that measures little.
const LITTLE: [&str; 10] = [
    "run",
    "poll",
    "--subjects",
    "poll,epoll-level",
    "--points",
    "10",
    "--rounds",
    "2",
    "--time",
    "5ms",
];

const EMULATED: [&str; 4] = ["--accel", "tcg", "--kernel", KERNEL];

/// Every run of the record.
fn runs(knee: &Knee) -> Vec<Run> {
    let archive = SqliteArchive::open_read_only(knee.record()).unwrap();
    let all = archive.runs().unwrap();
    all.iter().map(|run| archive.load(run.number).unwrap()).collect()
}

#[test]
fn guests_measure_in_turns_and_are_compared_also_where_one_is_killed_and_booted_again() {
    if !can_boot() {
        return;
    }
    let knee = Knee::new();
    let sides = ["--append", "", "--append", "mitigations=off", "--"];
    let shared = knee.directory.path().join("shared.db");
    let push = ["--push", shared.to_str().unwrap()];
    let process = started(&knee, &[&EMULATED[..], &sides, &LITTLE, &push].concat());
    kill_process(qemu(&knee).unwrap(), Signal::KILL).unwrap();
    let came = ended(&knee, process);
    assert_eq!(came.code, Some(0), "{came:?}");
    assert_eq!(came.err.matches("it is booted again").count(), 1, "{}", came.err);
    let pushed = SqliteArchive::open_read_only(&shared).unwrap().runs().unwrap();
    let ids = |all: &[model::RunSummary]| all.iter().map(|run| run.id.clone()).collect::<Vec<_>>();
    let own = SqliteArchive::open_read_only(knee.record()).unwrap().runs().unwrap();
    assert_eq!(ids(&pushed), ids(&own), "{came:?}");
    let runs = runs(&knee);
    assert_eq!(runs.len(), 2, "{came:?}");
    assert_eq!(runs[1].plan.paired_with, runs[0].summary.id);
    let appends = runs.iter().map(|run| run.host_before.fact("vm.append"));
    assert_eq!(appends.collect::<Vec<_>>(), [Some("none"), Some("mitigations=off")]);
    for run in &runs {
        assert_eq!(run.cells.len(), run.plan.cells.len(), "{came:?}");
        assert_eq!(run.plan.cells, runs[0].plan.cells, "their cells have one order");
        assert!(run.host_before.fact("kernel.release").unwrap().starts_with("6.1."));
        assert_eq!(run.host_before.fact("vm.accelerator"), Some("tcg"));
        assert_eq!(run.summary.command[1], "vm", "what is repeated boots a guest again");
        let after = run.host_after.as_ref().unwrap();
        assert_eq!(run.host_before.number("vm.memory_mib"), Some(1024.0));
        assert_eq!(run.host_before.fact("vm.cpu_model"), Some("max"));
        assert!(run.host_before.fact("vm.host.kernel").is_some());
        for fact in ["vm.cpu.0.time_s", "vm.up.time_s", "vm.plan.time_s"] {
            assert!(after.number(fact).is_some(), "{:?}", after.facts);
        }
    }
    let boots = runs.iter().filter_map(|run| run.host_after.as_ref()?.number("vm.boots"));
    assert!((boots.sum::<f64>() - 3.0).abs() < 0.1, "{came:?}");
    assert!(came.out.contains("mitigations=off"), "{}", came.out);
    assert!(came.out.contains("QEMU emulated these machines: only the ratios"), "{}", came.out);
    let times = came.out.lines().filter(|line| line.starts_with("Guest 6.1."));
    assert_eq!(times.filter(|line| line.contains(": up after ")).count(), 2, "{}", came.out);

    // A machine's figures are not set against these.
    let own = knee.run(&[&LITTLE[..], &["--host-name", "amber"]].concat());
    assert_eq!(own.code, Some(0), "{own:?}");
    let refused = knee.run(&["compare", "1", "3"]);
    assert_eq!(refused.code, Some(2), "{refused:?}");
    let across = knee.run(&["compare", "1", "3", "--across"]);
    assert!(across.out.contains("a ratio between the two means nothing"), "{}", across.out);
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
    let mut arm = vec![0_u8; 64];
    arm[56..60].copy_from_slice(b"ARM\x64");
    if cfg!(target_arch = "x86_64") {
        refused(&file("Image", &arm), "it is for arm64");
    }
    let wrong = |words: &[&str], why: &str| {
        let came = vm(&knee, words);
        assert_eq!(came.code, Some(2), "{came:?}");
        assert!(came.err.contains(why) && came.err.lines().count() == 1, "{words:?}: {}", came.err);
    };
    wrong(&["--", "list"], "after `--` comes what each kernel measures");
    wrong(&["--", "run", "command"], "a guest has none of your programs");
    let text = "[suite.own]\nworkloads = ['poll', { name = 'command', command = 'true {n}' }]";
    let suite = file("knee.toml", text.as_bytes()).display().to_string();
    let words = ["--suite", "own", "--", "run", "--config", &suite];
    wrong(&words, "a guest has none of your programs");
    wrong(&["--", "run", "nonsense"], "no workload is called `nonsense`");
    if cfg!(not(feature = "postgres")) {
        let url = "postgres://me@127.0.0.1:1/perf";
        wrong(&["--", "run", "poll", "--push", url], "built without PostgreSQL");
    }
    if can_boot() {
        wrong(&["--kernel", "debian:1.2", "--", "run", "poll"], "it knows debian:6.1");
        let long = "x".repeat(3_000);
        let words = ["--kernel", KERNEL, "--append", &long, "--", "run", "poll"];
        wrong(&words, "a kernel reads 2047");
        let small = ["--kernel", KERNEL, "--memory", "512K", "--", "run", "poll"];
        wrong(&small, "a guest needs 64 MiB at least");
        wrong(&["--kernel", KERNEL, "--cpu", "z80", "--", "run", "poll"], "CPU model 'z80'");
    }
}

/// An apt that knows no kernel, and has no network.
#[test]
fn a_list_of_packages_that_can_not_be_fetched_is_called_so() {
    let knee = Knee::new();
    let programs = knee.directory.path().join("programs");
    fs::create_dir(&programs).unwrap();
    let fails = "case \"$*\" in *update*) echo 'E: no network' >&2; exit 100;; esac";
    for (name, script) in [("apt-cache", ""), ("apt-get", fails)] {
        let file = programs.join(name);
        fs::write(&file, format!("#!/bin/sh\n{script}\n")).unwrap();
        fs::set_permissions(&file, Permissions::from_mode(0o755)).unwrap();
    }
    let words = ["vm", "--accel", "tcg", "--kernel", "debian:5.10", "--", "run", "poll"];
    let mut command = knee.command(&words);
    let path = format!("{}:{}", programs.display(), std::env::var("PATH").unwrap());
    let cache = knee.directory.path().join("cache");
    let came = came(command.env("PATH", path).env("XDG_CACHE_HOME", cache));
    assert_eq!(came.code, Some(2), "{came:?}");
    let last = came.err.lines().last().unwrap_or_default();
    assert!(last.contains("bullseye could not be fetched: apt-get: E: no network"), "{came:?}");
    assert!(!last.contains("apt-get update"), "{came:?}");
}

/// A directory for temporary files: a comma separates QEMU's options, and the address of a socket has at most 107 bytes.
fn scratch(knee: &Knee) -> PathBuf {
    knee.directory.path().join(format!("a,{}", "b".repeat(120)))
}

/// Starts `knee vm`, and waits until QEMU runs.
fn started(knee: &Knee, words: &[&str]) -> Child {
    let cache = cache();
    fs::create_dir_all(scratch(knee)).unwrap();
    let mut command = knee.command(&[&["vm"], words].concat());
    command.env("XDG_CACHE_HOME", cache).env("TMPDIR", scratch(knee));
    let process = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    wait_until("QEMU runs", || qemu(knee).is_some());
    process
}

/// The process of a guest.
fn qemu(knee: &Knee) -> Option<Pid> {
    let processes = knee.processes();
    // It was asked for its version before.
    let mut guests = processes.iter().filter(|line| line.contains(" -kernel "));
    let id = guests.find_map(|line| Some(line.split_once(": qemu-system")?.0.to_owned()));
    Pid::from_raw(id?.parse().ok()?)
}

/// What it came to, and that nothing of it is left.
fn ended(knee: &Knee, process: Child) -> Came {
    let output = process.wait_with_output().unwrap();
    knee.assert_no_process_left();
    let left: Vec<_> = fs::read_dir(scratch(knee)).unwrap().collect();
    assert!(left.is_empty(), "{left:?}");
    let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
    Came { code: output.status.code(), out: text(output.stdout), err: text(output.stderr) }
}

#[test]
fn what_a_kernel_lacks_is_quoted_from_its_console() {
    if !can_boot() {
        return;
    }
    let knee = Knee::new();
    let missing = [
        // Another boot would end the same way.
        ("rdinit=/none", "CONFIG_BLK_DEV_INITRD=y"),
        ("8250.nr_uarts=1", "no second serial port: it needs CONFIG_SERIAL_8250_NR_UARTS"),
    ];
    for (append, why) in missing {
        let words = ["--kernel", KERNEL, "--append", append, "--"];
        let came = vm(&knee, &[&words[..], &LITTLE].concat());
        assert_eq!(came.code, Some(2), "{came:?}");
        assert!(came.err.contains(why) && came.err.lines().count() == 1, "{}", came.err);
        if append.starts_with("rdinit") {
            let path =
                came.err.split("(its console: ").nth(1).unwrap().trim_end().trim_end_matches(')');
            let console = fs::read_to_string(path).unwrap();
            assert!(console.contains("Kernel panic"), "{console}");
        }
    }
}

/// Without `--accel`, a KVM that hangs kernels is not taken.
#[test]
fn an_interrupted_guest_leaves_what_it_measured() {
    if !can_boot() {
        return;
    }
    let knee = Knee::new();
    let measured = ["run", "null", "--points", "1", "--rounds", "40", "--time", "1ms"];
    let guest = ["--kernel", KERNEL, "--accel", "auto", "--"];
    let process = started(&knee, &[&guest[..], &measured].concat());
    let has_cells = || {
        let Ok(archive) = SqliteArchive::open_read_only(knee.record()) else { return false };
        archive.runs().is_ok_and(|runs| runs.first().is_some_and(|run| run.cells_ended > 0))
    };
    wait_until("a cell ends", has_cells);
    kill_process(Pid::from_child(&process), Signal::INT).unwrap();
    let came = ended(&knee, process);
    assert_eq!(came.code, Some(130), "{came:?}");
    assert!(came.err.contains("the same command measures all again"), "{}", came.err);
    assert!(!came.err.contains("ended before its guest"), "{came:?}");
    let run = &runs(&knee)[0];
    assert_eq!(run.summary.state, RunState::Interrupted);
    let is_emulated = came.err.contains("KVM") && came.err.contains("the guests are emulated");
    let accelerator = if is_emulated { "tcg" } else { "kvm" };
    assert_eq!(run.host_before.fact("vm.accelerator"), Some(accelerator), "{came:?}");
    let resumed = knee.run(&["run", "--resume=1"]);
    assert_eq!(resumed.code, Some(1), "{resumed:?}");
    assert!(resumed.err.contains("in a guest of `knee vm`, which is gone"), "{}", resumed.err);
    let shown = knee.run(&["show", "1"]);
    assert!(
        !shown.out.contains("--resume") && shown.out.contains("measure again"),
        "{}",
        shown.out
    );
}

#[test]
fn nothing_of_a_guest_outlives_a_knee_that_is_killed() {
    if !can_boot() {
        return;
    }
    let knee = Knee::new();
    let mut process = started(&knee, &[&EMULATED[..], &["--"], &LITTLE].concat());
    process.kill().unwrap();
    process.wait().unwrap();
    knee.assert_no_process_left();
    let left: Vec<_> = fs::read_dir(scratch(&knee)).unwrap().collect();
    assert!(left.is_empty(), "{left:?}");
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
    let cache = cache();
    let mut command = knee.command(&["vm", "--accel", "tcg", "--suite", "small"]);
    command.current_dir(knee.directory.path()).env("XDG_CACHE_HOME", cache);
    let came = came(&mut command);
    assert_eq!(came.code, Some(0), "{came:?}");
    let runs = runs(&knee);
    let locks = runs.iter().map(|run| run.host_before.fact(model::SPINLOCKS));
    assert_eq!(locks.collect::<Vec<_>>(), [Some("test-and-set"), Some("queued")], "{came:?}");
    for run in &runs {
        assert_eq!(run.host_before.number("vm.cpus"), Some(2.0));
        assert_eq!(run.host_before.number("vm.host.cpus"), Some(1.0));
        assert_eq!(run.host_after.as_ref().unwrap().guest_cpu_seconds().len(), 2);
        let build = run.cells.iter().find(|cell| cell.key.workload == "build").unwrap();
        assert_eq!(build.outcome, model::Outcome::Measured, "{build:?}");
    }
    assert!(came.out.contains("Time that the guests' CPUs ran"), "{}", came.out);
}
