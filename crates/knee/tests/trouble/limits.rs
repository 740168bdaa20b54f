//! Low limits, missing permissions, full and read-only disks: what can be measured is, and the rest
//! is reported.

use crate::common::{Came, Knee, came};
use model::Outcome;
use std::path::Path;
use std::process::Command;

#[test]
fn with_64_descriptors_it_measures_what_fits_and_says_so() {
    let knee = Knee::new();
    // A busy machine has more caveats than the answer has room for.
    let script = "ulimit -n 64; exec \"$KNEE\" run poll --points 10,1k --rounds 1 --time 1ms --all";
    let came = came(&mut knee.shell(script));
    assert_eq!(came.code, Some(0), "{came:?}");
    assert!(!came.err.contains("failed:"), "{}", came.err);
    assert!(came.out.contains("a process may have 64 descriptors"), "{}", came.out);
    assert!(came.out.contains("ulimit -n"), "with the remedy: {}", came.out);
    assert!(came.out.contains("epoll-level"), "{}", came.out);
    knee.assert_no_process_left();
}

#[test]
fn a_soft_limit_is_raised_as_far_as_it_goes() {
    let knee = Knee::new();
    let script = "ulimit -Sn 64; exec \"$KNEE\" run poll --subjects poll --points 200 --rounds 1 \
                  --time 1ms";
    let came = came(&mut knee.shell(script));
    assert_eq!(came.code, Some(0), "{came:?}");
    assert!(!came.out.contains("descriptors are clamped"), "{}", came.out);
}

#[test]
fn without_a_queue_for_signals_the_run_goes_on() {
    let knee = Knee::new();
    let script = "exec prlimit --sigpending=0 \"$KNEE\" run poll --subjects sigio,signalfd,poll \
                  --points 10,100 --rounds 1 --time 1ms";
    let came = came(&mut knee.shell(script));
    assert_eq!(came.code, Some(0), "{came:?}");
    for name in ["sigio", "signalfd"] {
        let begins = format!("failed: poll {name} at ");
        let failed = came.err.lines().find(|line| line.starts_with(&begins));
        let has_reason = failed.is_some_and(|line| line.contains("round 1: its queue was full"));
        assert!(has_reason, "what stands in is not sold as it: {}", came.err);
    }
    let row = came.out.lines().find(|line| line.trim_start().starts_with("poll "));
    assert!(row.is_some_and(|row| row.chars().any(|c| c.is_ascii_digit())), "{}", came.out);
}

#[test]
fn where_nothing_can_be_measured_it_says_why_with_exit_code_5() {
    let knee = Knee::new();
    let came = knee.run(&["run", "poll", "--subjects", "devpoll"]);
    assert_eq!(came.code, Some(5), "{came:?}");
    assert_eq!(came.err.lines().count(), 1, "{came:?}");
    assert!(came.err.contains("Solaris and illumos only"), "{came:?}");
    let came = knee.run(&["run", "poll", "--points", "10", "--active", "11"]);
    assert_eq!(came.code, Some(5), "{came:?}");
    assert!(came.err.contains("11 active of 10 watched"), "{came:?}");
}

#[test]
fn without_loopback_what_needs_it_is_unavailable_and_nothing_fails() {
    let knee = Knee::new();
    let alone = Command::new("unshare").args(["--net", "true"]).status();
    if !alone.is_ok_and(|status| status.success()) {
        eprintln!("SKIPPED: no network namespace can be made here");
        return;
    }
    let words = "run accept syscalls dead baseline --points 1 --rounds 1 --time 1ms --subjects \
                 ipv4,ipv6,getppid,tcp-ping,accept-one,poll,nginx,tcp,pipe";
    let came = came(&mut knee.shell(&format!("exec unshare --net \"$KNEE\" {words} --all")));
    assert!(!came.err.contains("failed:"), "{came:?}");
    let run = knee.last_run();
    assert!(run.cells.iter().all(|cell| cell.outcome == Outcome::Measured));
    let unavailable: Vec<&str> =
        run.plan.unavailable.iter().map(|missing| &*missing.subject).collect();
    for subject in ["ipv4", "ipv6", "tcp-ping", "accept-one", "poll", "tcp"] {
        assert!(unavailable.contains(&subject), "{subject}: {unavailable:?}");
    }
    let reason = &run.plan.unavailable[0].reason;
    assert!(reason.contains("can't be reached here") && reason.contains("as root: "), "{reason}");
}

/// A file system in memory; none where it may not be mounted.
struct Tmpfs(std::path::PathBuf);

impl Tmpfs {
    fn mount(at: &Path, options: &str) -> Option<Tmpfs> {
        std::fs::create_dir_all(at).unwrap();
        let mut mount = Command::new("mount");
        mount.args(["-t", "tmpfs", "-o", options, "tmpfs"]).arg(at);
        let mounted = mount.output().is_ok_and(|output| output.status.success());
        if !mounted {
            eprintln!("SKIPPED: no tmpfs can be mounted here, so no disk can be filled");
        }
        mounted.then(|| Tmpfs(at.to_path_buf()))
    }
}

impl Drop for Tmpfs {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg("-l").arg(&self.0).output();
    }
}

fn run_on(knee: &Knee, record: &Path) -> Came {
    let words = ["run", "null", "--points", "1,2", "--rounds", "2", "--time", "1ms", "--record"];
    knee.run(&[&words[..], &[record.to_str().unwrap()]].concat())
}

#[test]
fn a_full_disk_loses_nothing_that_was_measured() {
    let knee = Knee::new();
    let disk = knee.directory.path().join("disk");
    let Some(_mounted) = Tmpfs::mount(&disk, "size=256k") else { return };
    let fill = std::fs::File::create(disk.join("fill")).unwrap();
    let full = (0..1_000).find(|_| std::io::Write::write_all(&mut &fill, &[0; 4096]).is_err());
    assert!(full.is_some());
    let came = run_on(&knee, &disk.join("knee.db"));
    assert_eq!(came.code, Some(1), "{came:?}");
    assert!(came.out.contains("empty"), "what was measured is printed: {came:?}");
    assert!(came.err.contains("no room left"), "{came:?}");
}

#[test]
fn a_disk_that_fills_up_meanwhile_loses_nothing_that_was_measured() {
    let knee = Knee::new();
    let disk = knee.directory.path().join("disk");
    let Some(_mounted) = Tmpfs::mount(&disk, "size=200k") else { return };
    let record = disk.join("knee.db");
    let words = ["run", "null", "--points", "1,2,3,4", "--rounds", "30", "--time", "1ms"];
    let came = knee.run(&[&words[..], &["--record", record.to_str().unwrap()]].concat());
    assert_eq!(came.code, Some(1), "{came:?}");
    assert!(came.out.contains("empty"), "what was measured is printed: {came:?}");
    assert!(came.err.contains("not recorded") && came.err.contains("no room"), "{came:?}");
    let shown = knee.run(&["show", record.to_str().unwrap()]);
    assert_eq!(shown.code, Some(0), "what fitted is still there: {shown:?}");
}

#[test]
fn a_read_only_record_loses_nothing_that_was_measured() {
    let knee = Knee::new();
    let disk = knee.directory.path().join("disk");
    let Some(_mounted) = Tmpfs::mount(&disk, "size=4m") else { return };
    let record = disk.join("knee.db");
    assert_eq!(run_on(&knee, &record).code, Some(0));
    let mut remount = Command::new("mount");
    remount.args(["-o", "remount,ro"]).arg(&disk);
    assert!(remount.output().unwrap().status.success());
    let came = run_on(&knee, &record);
    assert_eq!(came.code, Some(1), "{came:?}");
    assert!(came.out.contains("empty"), "what was measured is printed: {came:?}");
    assert!(came.err.contains("read-only"), "{came:?}");
    let shown = knee.run(&["show", record.to_str().unwrap()]);
    assert_eq!(shown.code, Some(0), "and it can still be read: {shown:?}");
}
