//! What runs out half-way: what was measured up to there is kept and reported, and the rest is reported
//! to be missing, with the limit that was met and what raises it.

use crate::common::{Came, Knee, came, in_a_network};
use model::{Outcome, Run, Short};
use std::process::Command;

/// The samples of a cell's headline metric, and where it ended.
fn how_far(run: &Run, workload: &str) -> (usize, Short) {
    let cell = run.cells.iter().find(|cell| cell.key.workload == workload).unwrap();
    assert_eq!(cell.outcome, Outcome::Measured, "{workload}");
    (cell.metrics[0].samples.len(), cell.short.clone().unwrap_or_else(|| panic!("{cell:?}")))
}

/// What it printed, without the breaks of its lines.
fn in_one_line(came: &Came) -> String {
    came.out.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// That knee ended well, kept `reached` of what it was to measure, and says why no more.
fn assert_short(knee: &Knee, came: &Came, workload: &str, reached: u64, words: [&str; 2]) {
    assert_eq!(came.code, Some(0), "{came:?}");
    let (samples, short) = how_far(&knee.last_run(), workload);
    assert_eq!((samples as u64, short.reached), (reached, reached), "{short:?}");
    let [because, remedy] = words;
    assert!(short.reason.cause().contains(because), "{short:?}");
    assert!(short.reason.remedy().contains(remedy), "{short:?}");
    let message = in_one_line(came);
    assert!(message.contains(&short.reason.cause()), "{short:?} is not in {}", came.out);
    assert!(message.contains(short.reason.remedy()), "{short:?} is not in {}", came.out);
}

#[test]
fn ports_that_run_out_keep_what_was_measured() {
    let narrow = "echo 40000 40499 > /proc/sys/net/ipv4/ip_local_port_range";
    let why = ["40000 to 40499: 500 ports", "sysctl -w net.ipv4.ip_local_port_range"];
    // A connection's listener has a port as well.
    for (workload, reached) in [("bind", 500), ("accept", 499)] {
        let knee = Knee::new();
        let words = format!("run {workload} --points 1k --subjects ipv4 --rounds 1");
        let Some(came) = in_a_network(&knee, narrow, &words) else { return };
        assert_short(&knee, &came, workload, reached, why);
    }
}

#[test]
fn without_ipv6_its_subjects_are_unavailable_and_the_others_are_measured() {
    let knee = Knee::new();
    let off = "for i in all lo; do echo 1 > /proc/sys/net/ipv6/conf/$i/disable_ipv6; done";
    let words = "run socket bind accept close --points 50 --rounds 1 --all";
    let Some(came) = in_a_network(&knee, off, words) else { return };
    assert_eq!(came.code, Some(0), "{came:?}");
    let message = in_one_line(&came);
    assert!(message.contains("unavailable: ::1 can't be reached here"), "{}", came.out);
    assert!(message.contains("sysctl -w net.ipv6.conf.lo.disable_ipv6=0"), "{}", came.out);
    let run = knee.last_run();
    assert_eq!(run.cells.len(), 4);
    assert!(run.cells.iter().all(|cell| cell.key.subject == "ipv4"));
    assert!(run.cells.iter().all(|cell| cell.metrics[0].samples.len() == 50));
}

#[test]
fn the_limit_on_maps_keeps_what_was_mapped() {
    let knee = Knee::new();
    let limit = std::fs::read_to_string("/proc/sys/vm/max_map_count").unwrap();
    let limit: u64 = limit.trim().parse().unwrap();
    if limit > 200_000 {
        eprintln!("SKIPPED: {limit} maps are allowed here, too many to run out of in a test");
        return;
    }
    let points = (limit + 100).to_string();
    let words = ["run", "mmap", "touch", "--subjects", "memory", "--rounds", "1", "--points"];
    let came = knee.run(&[&words[..], &[&points]].concat());
    assert_eq!(came.code, Some(0), "{came:?}");
    let run = knee.last_run();
    assert_eq!(run.cells.len(), 2);
    for cell in &run.cells {
        let short = cell.short.as_ref().expect("fewer than were asked for");
        assert!(short.reached < limit && short.reached + 200 > limit, "{short:?}");
        assert_eq!(short.reached, cell.metrics[0].samples.len() as u64);
        assert!(
            short.reason.cause().contains(&format!("vm.max_map_count is {limit}")),
            "{short:?}"
        );
        assert!(short.reason.remedy().starts_with("sysctl -w vm.max_map_count="), "{short:?}");
    }
}

#[test]
fn a_limit_on_addresses_keeps_what_was_mapped() {
    let knee = Knee::new();
    let script =
        "ulimit -v 400000; exec \"$KNEE\" run mmap --subjects memory --points 200k --rounds 1";
    let came = came(&mut knee.shell(script));
    assert_eq!(came.code, Some(0), "{came:?}");
    let short = knee.last_run().cells[0].short.clone().expect("fewer than were asked for");
    // Where the limit on maps is lower, that one is met.
    let message =
        ["MiB of addresses", "vm.max_map_count"].iter().any(|w| short.reason.cause().contains(w));
    assert!(short.reached > 100 && message, "{short:?}");
}

/// A file system in memory for temporary files, of its own mount namespace; none where that is not
/// allowed.
fn on_a_small_disk(knee: &Knee, options: &str, words: &str) -> Option<Came> {
    let disk = knee.directory.path().join("disk");
    std::fs::create_dir_all(&disk).unwrap();
    let mount = format!("mount -t tmpfs -o {options} none {}", disk.display());
    let may = Command::new("unshare").args(["--mount", "sh", "-c", &mount]).output();
    if !may.is_ok_and(|output| output.status.success()) {
        eprintln!("SKIPPED: no file system of its own can be mounted here");
        return None;
    }
    let left = format!("find {} -mindepth 1 | wc -l", disk.display());
    let script = format!(
        "{mount} && TMPDIR={} \"$KNEE\" {words}; code=$?; {left} >&2; exit $code",
        disk.display()
    );
    Some(came(&mut knee.shell(&format!("exec unshare --mount sh -c '{script}'"))))
}

#[test]
fn a_disk_too_small_for_the_file_keeps_what_fitted_and_nothing_is_left_on_it() {
    let knee = Knee::new();
    // 20 of the 200 MB.
    let words = "run mmap touch --subjects file --points 25k --rounds 1";
    let Some(came) = on_a_small_disk(&knee, "size=20m", words) else { return };
    assert_eq!(came.code, Some(0), "{came:?}");
    assert_eq!(came.err.lines().last(), Some("0"), "files left: {came:?}");
    for cell in knee.last_run().cells {
        let short = cell.short.expect("fewer than were asked for");
        assert!((1_000..=2_560).contains(&short.reached), "{short:?}");
        assert!(short.reason.cause().contains("no space left in"), "{short:?}");
        assert!(short.reason.remedy().contains("TMPDIR="), "{short:?}");
        assert_eq!(short.reached, cell.metrics[0].samples.len() as u64);
    }
    assert!(in_one_line(&came).contains("no space left in"), "{}", came.out);
}

#[test]
fn a_disk_too_small_for_the_files_keeps_what_fitted_and_nothing_is_left_on_it() {
    let knee = Knee::new();
    let words = "run open manyfiles --subjects flat,map --points 1k --rounds 1";
    let Some(came) = on_a_small_disk(&knee, "size=20m,nr_inodes=300", words) else { return };
    assert_eq!(came.code, Some(0), "{came:?}");
    assert_eq!(came.err.lines().last(), Some("0"), "files left: {came:?}");
    for cell in knee.last_run().cells {
        let short = cell.short.expect("fewer than were asked for");
        assert!((200..300).contains(&short.reached), "{short:?}");
        assert_eq!(short.reached, cell.metrics[0].samples.len() as u64);
    }
}

#[test]
fn a_full_disk_fails_the_cell_with_its_reason() {
    let knee = Knee::new();
    let words = "run manyfiles socket --points 20 --rounds 1";
    let Some(came) = on_a_small_disk(&knee, "size=20m,nr_inodes=1", words) else { return };
    assert_eq!(came.code, Some(0), "sockets were measured: {came:?}");
    assert!(came.err.contains("failed: manyfiles map"), "{came:?}");
    assert!(came.err.contains("no space left in"), "{came:?}");
}

#[test]
fn too_few_descriptors_shorten_the_axis_before_anything_is_measured() {
    let knee = Knee::new();
    let script = "ulimit -n 400; exec \"$KNEE\" run socket open --points 1k --rounds 1";
    let came = came(&mut knee.shell(script));
    assert_eq!(came.code, Some(0), "{came:?}");
    assert!(came.out.contains("a process may have 400 descriptors"), "{}", came.out);
    let run = knee.last_run();
    assert!(run.cells.iter().all(|cell| cell.outcome == Outcome::Measured), "{came:?}");
    assert!(run.cells.iter().all(|cell| cell.short.is_none() && cell.key.point < 400));
}
