//! `knee vm --against` as the predicate of `git bisect run`, over real kernels, emulated.

mod common;

use archive::{Archive, SqliteArchive};
use common::guests::{KERNEL, cache, can_boot};
use common::{Came, Knee, alone, bisection, came};
use fixtures::{cell, host, run, workload};
use model::Fact;

/// Each system call changes the page tables twice: under emulation that costs several times as much as all else.
const SLOW: &str = "pti=on";
/// A kernel that finds no first program.
const BROKEN: &str = "rdinit=/none";

/// The judge of each commit: the command line of its kernel is the file `cmdline`.
/// On a busy host a guest's CPU may stand still, of which nothing can be told: then it is tried once more.
const JUDGE: &str = r#"judge() {
    "$KNEE" vm --accel tcg --kernel debian:6.1 --append "$(cat cmdline)" \
        --against debian:6.1 --against-append pti=off --fail-above 300% \
        -- run syscalls --subjects getppid --by threads --points 1 --time 20ms --label commit=$(git rev-parse --short HEAD)
}
judge
case $? in 125) judge ;; *) exit $? ;; esac"#;

/// Bisects over kernels with these command lines.
fn bisected(knee: &Knee, lines: &[&str]) -> (Option<usize>, Came) {
    bisection::bisected(knee, ("cmdline", lines), JUDGE, |git| {
        git.env("XDG_CACHE_HOME", cache());
    })
}

/// The one that is tried first does not boot, and is skipped.
#[test]
fn git_bisect_run_ends_at_the_commit_that_slows_the_kernel() {
    if !can_boot() {
        return;
    }
    let _alone = alone();
    let knee = Knee::new();
    let (first_bad, came) = bisected(&knee, &["pti=off", "pti=off", BROKEN, "pti=off", SLOW, SLOW]);
    assert_eq!(first_bad, Some(4), "{came:?}");
    let verdict = |word: &str| came.err.matches(&format!("knee: {word}: ")).count();
    let [good, bad, open] = ["good", "bad", "can't tell"].map(verdict);
    assert!((good, bad) == (1, 1) && open >= 2, "{}", came.err);
    knee.assert_no_process_left();
}

/// Its epoll takes five descriptors, so that a cell of ten fails in each boot.
const NARROW: &str = "sysctl.fs.epoll.max_user_watches=5";

/// A failure alone is no verdict: a guest on a busy host may lose its timers.
#[test]
fn cells_that_fail_make_a_kernel_bad_in_a_second_boot() {
    if !can_boot() {
        return;
    }
    let knee = Knee::new();
    let kernels = ["--kernel", KERNEL, "--append", NARROW, "--against", KERNEL];
    let measured = [
        "run",
        "poll",
        "--subjects",
        "epoll-level",
        "--points",
        "10",
        "--rounds",
        "2",
        "--time",
        "5ms",
    ];
    let words = ["vm", "--accel", "tcg"];
    let words = [&words[..], &kernels, &["--against-append", "", "--"], &measured].concat();
    let came = came(knee.command(&words).env("XDG_CACHE_HOME", cache()));
    assert_eq!(came.code, Some(1), "{came:?}");
    assert!(came.err.contains("a second boot has to confirm that"), "{}", came.err);
    assert!(came.err.contains("fail, which the base measured, in two boots"), "{}", came.err);
    let archive = SqliteArchive::open_read_only(knee.record()).unwrap();
    assert_eq!(archive.runs().unwrap().len(), 4, "each boot is a run: {came:?}");
}

/// Keeps a run that says it was measured so.
fn keep(knee: &Knee, accelerator: Option<&str>) {
    let cells = (0..5).map(|round| cell("made", "thing", 1, round).samples("call", vec![1.0, 1.1]));
    let facts = [("cpu.model", "A CPU".into()), ("vm.cpus", 2.into()), ("vm.host.cpus", 2.into())];
    let accelerator = accelerator.map(|name| ("vm.accelerator", Fact::from(name)));
    let facts = facts.into_iter().chain(accelerator);
    let made = workload("made").axis("things", "things").time("call").subjects(["thing"]);
    let (run, cells) = run(made)
        .id("00000000000000aa")
        .started("2026-11-01T12:00:00+00:00")
        .host_before(host("2026-11-01T12:00:00+00:00", facts.collect::<Vec<_>>()))
        .cells(cells)
        .begun();
    knee.keep(&run, &cells, "2026-11-01T12:00:01+00:00");
}

fn judged(knee: &Knee, words: &[&str]) -> Came {
    let words = [&["vm", "--accel", "tcg"], words, &["--", "run", "null"]].concat();
    came(knee.command(&words).env("XDG_CACHE_HOME", cache()))
}

#[test]
fn what_says_nothing_of_a_kernel_is_no_verdict() {
    if !can_boot() {
        return;
    }
    let knee = Knee::new();
    keep(&knee, Some("kvm"));
    let code = |words: &[&str], why: &str| {
        let came = judged(&knee, words);
        assert!(came.err.contains(why), "{words:?}: {came:?}");
        came.code
    };
    // Of this commit: another may build a kernel.
    assert_eq!(code(&["--kernel", "bzImage", "--against", "1"], "can't tell: "), Some(125));
    // Of all commits.
    assert_eq!(code(&["--kernel", "bzImage", "--against", "9"], "run 9"), Some(128));
    assert_eq!(code(&["--kernel", "bzImage", "--against", "gone.db"], "gone.db"), Some(128));
    assert_eq!(
        code(&["--kernel", "bzImage", "--against", "good/bzImage"], "no such file"),
        Some(128)
    );
    assert_eq!(code(&["--against", "1", "--no-such-flag"], "--no-such-flag"), Some(128));
    let two = ["--kernel", "a", "--kernel", "b", "--against", "1"];
    assert_eq!(code(&two, "one kernel"), Some(128));
    let words = ["--kernel", KERNEL, "--against", "1"];
    assert_eq!(code(&words, "the accelerator is tcg, and kvm in the run"), Some(125));
    let knee = Knee::new();
    keep(&knee, None);
    let came = judged(&knee, &["--kernel", KERNEL, "--against", "last"]);
    assert_eq!(came.code, Some(128), "{came:?}");
    assert!(came.err.contains("was not measured in a guest"), "{came:?}");
}
