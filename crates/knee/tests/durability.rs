//! What was measured outlives every accident: kills at any moment with several knees on one record, others
//! that delete and merge meanwhile, disks without room.

mod common;

use archive::{Archive, SqliteArchive};
use common::cells::{assert_sound, integrity, name, runs_of, seed_of};
use common::http::Httpd;
use common::{Came, Knee, came, wait_until};
use model::{Cell, Run, RunState};
use std::collections::HashSet;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, ChildStderr, Stdio};
use std::time::Duration;

/// Kills of runs, unless `$KNEE_KILLS` says otherwise, and a sixth as many of runs in turns: each costs about a quarter of
/// a second of a CPU.
const KILLS: usize = 60;
/// Knees that measure into one record at a time, each a run of its own.
const KNEES: usize = 4;

/// Three workloads and a control that fails each time: knee says so when the cell is in the record, and
/// by that the test knows that it has to be there. Few rounds, since whatever is killed is measured to its end.
const WORDS: [&str; 12] = [
    "run",
    "poll",
    "null",
    "fault",
    "--subjects",
    "epoll-level,poll,empty,well-behaved,fails",
    "--rounds",
    "15",
    "--time",
    "1ms",
    "--points",
    "1",
];

#[test]
fn killed_at_any_moment_several_knees_on_one_record_lose_no_finished_cell() {
    let kills = kills();
    let knee = Knee::new();
    let counts: Vec<Counts> = std::thread::scope(|scope| {
        let killers: Vec<_> = (0..KNEES)
            .map(|which| {
                let mut killer = Killer::new(&knee, which);
                scope.spawn(move || killer.kill_and_look(kills / KNEES))
            })
            .collect();
        killers.into_iter().map(|killer| killer.join().unwrap()).collect()
    });
    println!("{counts:?}");
    assert!(counts.iter().map(|count| count.kills).sum::<usize>() >= kills / KNEES * KNEES);
    // Whatever the last kill left behind goes on to its end.
    let archive = SqliteArchive::open_read_only(knee.record()).unwrap();
    for run in archive.runs().unwrap() {
        if run.state == RunState::Open {
            let came: Came = knee.run(&["run", &format!("--resume={}", run.number)]);
            assert_eq!(came.code, Some(0), "{came:?}");
        }
        let run = archive.load(run.number).unwrap();
        assert_eq!(run.summary.state, RunState::Complete);
        assert_eq!(run.cells.len(), run.plan.cells.len());
        assert_sound(&run);
    }
    drop(archive);
    knee.assert_no_process_left();
    let strange = |file: &String| !file.starts_with("knee/knee.db") && !file.contains(".html");
    assert_eq!(knee.files().into_iter().filter(strange).collect::<Vec<_>>(), [] as [String; 0]);
    assert_eq!(integrity(&knee.record()), "ok");
}

fn kills() -> usize {
    std::env::var("KNEE_KILLS").map_or(KILLS, |kills| kills.parse().unwrap())
}

/// Runs in turns can't go on: what was in the record stays, and nothing of it is half there.
#[test]
fn runs_in_turns_that_are_killed_at_any_moment_lose_no_finished_cell() {
    kill_many(9, |kill| {
        let words = [&["ab", "env X=1", "--"], &WORDS[1..], &["--seed", kill]].concat();
        (words.into_iter().map(str::to_owned).collect(), 2)
    });
}

/// Each number of dead connections is a point, whose intervals are committed together.
#[test]
fn loads_that_are_killed_at_any_moment_lose_no_finished_interval() {
    let directory = tempfile::tempdir().unwrap();
    let server = Httpd::start(directory.path(), &[]);
    let url = format!("http://{}/", server.address);
    kill_many(10, |kill| {
        let words = format!(
            "load {url} --record --rate 500 --poisson --seed {kill} --duration 30ms --interval 10ms \
             --dead 0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19"
        );
        (words.split_whitespace().map(str::to_owned).collect(), 1)
    });
}

/// Kills commands, each of which has a seed of its own and as many runs at most, after a random number of cells and then
/// some time.
fn kill_many(seed: u64, words: impl Fn(&str) -> (Vec<String>, usize)) {
    let knee = Knee::new();
    let mut random = fastrand::Rng::with_seed(seed);
    let kills = kills().div_ceil(6);
    let (mut killed, mut kept) = (0, 0);
    for kill in 0..kills {
        let (words, runs_max) = words(&kill.to_string());
        let mut command = knee.command(&words.iter().map(String::as_str).collect::<Vec<_>>());
        let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        let all = || runs_of_seed(&knee, kill);
        let wanted = random.usize(0..40);
        wait_until("some cells ended", || {
            all().iter().map(|run| run.cells.len()).sum::<usize>() >= wanted
        });
        std::thread::sleep(Duration::from_micros(random.u64(0..40_000)));
        let before = all();
        child.kill().unwrap();
        killed += usize::from(child.wait().unwrap().code().is_none());
        let after = all();
        after.iter().for_each(assert_sound);
        for (before, after) in before.iter().zip(&after) {
            assert!(after.cells.starts_with(&before.cells), "what was there is there no more");
        }
        assert!(before.len() <= after.len() && after.len() <= runs_max);
        kept += after.iter().map(|run| run.cells.len()).sum::<usize>();
    }
    println!("{killed} kills, {kept} cells");
    knee.assert_no_process_left();
    assert_eq!(killed, kills, "each was killed before its end");
    assert_eq!(integrity(&knee.record()), "ok");
}

/// The runs of this seed, if they have begun.
fn runs_of_seed(knee: &Knee, seed: usize) -> Vec<Run> {
    runs_of(&knee.record(), |run| seed_of(run) == Some(seed as u64))
}

/// What one killer did.
#[derive(Debug, Default)]
struct Counts {
    kills: usize,
    before_the_first_cell: usize,
    reported: usize,
    cells: usize,
    runs: usize,
}

/// Measures a run, kills it, looks, goes on; when it is complete, it begins another.
struct Killer<'a> {
    knee: &'a Knee,
    random: fastrand::Rng,
    /// By which the run is known in the record.
    seed: usize,
    /// What of the run was there when it was last looked at.
    kept: Vec<Cell>,
    /// Failed cells that were reported.
    reported: HashSet<String>,
    counts: Counts,
}

impl<'a> Killer<'a> {
    fn new(knee: &'a Knee, which: usize) -> Killer<'a> {
        Killer {
            knee,
            random: fastrand::Rng::with_seed(which as u64),
            seed: 1 + which,
            kept: Vec::new(),
            reported: HashSet::new(),
            counts: Counts::default(),
        }
    }

    fn kill_and_look(&mut self, kills: usize) -> Counts {
        while self.counts.kills < kills {
            let (mut child, mut lines) = self.begin_or_go_on();
            // A moment that is random in what the instrument is just doing: so many cells that it has
            // reported, and then a little more, up to some cells' length.
            for _ in 0..self.random.usize(0..3) {
                if !self.hear(&mut lines) {
                    break;
                }
            }
            std::thread::sleep(Duration::from_micros(self.random.u64(0..40_000)));
            let _ = child.kill();
            while self.hear(&mut lines) {}
            let code = child.wait().unwrap().code();
            assert!(code.is_none() || code == Some(0), "it ended with {code:?}");
            self.counts.kills += usize::from(code.is_none());
            self.look();
        }
        std::mem::take(&mut self.counts)
    }

    fn begin_or_go_on(&mut self) -> (Child, BufReader<ChildStderr>) {
        let seed = self.seed.to_string();
        let resume = self.run().map(|run| format!("--resume={}", run.summary.number));
        let mut command = match &resume {
            Some(resume) => self.knee.command(&["run", resume]),
            None => self.knee.command(&[&WORDS[..], &["--seed", &seed]].concat()),
        };
        command.stdout(Stdio::null()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let lines = BufReader::new(child.stderr.take().unwrap());
        (child, lines)
    }

    /// Hears one line, if there is one more. A line that was cut off is ignored.
    fn hear(&mut self, lines: &mut BufReader<ChildStderr>) -> bool {
        let mut line = String::new();
        if lines.read_line(&mut line).unwrap() == 0 {
            return false;
        }
        let Some(failed) = line.strip_prefix("failed: ").filter(|_| line.ends_with('\n')) else {
            return true;
        };
        let (cell, _) = failed.split_once(':').unwrap();
        self.counts.reported += 1;
        assert!(self.reported.insert(cell.to_owned()), "measured again: {cell}");
        true
    }

    /// The run of this killer, if it has begun.
    fn run(&self) -> Option<Run> {
        runs_of_seed(self.knee, self.seed).into_iter().next()
    }

    fn look(&mut self) {
        let Some(run) = self.run() else {
            assert!(self.kept.is_empty() && self.reported.is_empty(), "the run is gone");
            self.counts.before_the_first_cell += 1;
            return;
        };
        assert_sound(&run);
        assert!(run.cells.starts_with(&self.kept), "what was there is there no more");
        for cell in &self.reported {
            let is_there = run.cells.iter().any(|kept| name(kept) == *cell);
            assert!(is_there, "{cell} was reported and is not there");
        }
        self.counts.before_the_first_cell += usize::from(run.cells.is_empty());
        self.counts.cells += run.cells.len() - self.kept.len();
        if run.summary.state == RunState::Complete {
            assert_eq!(run.cells.len(), run.plan.cells.len());
            self.counts.runs += 1;
            self.seed += KNEES;
            self.kept.clear();
            self.reported.clear();
        } else {
            self.kept = run.cells;
        }
    }
}

const SHORT: [&str; 8] = ["run", "null", "--points", "1,2", "--rounds", "3", "--time", "1ms"];

#[test]
fn one_knee_measures_while_others_delete_and_merge() {
    let knee = Knee::new();
    let second_record = knee.directory.path().join("other.db").display().to_string();
    assert_eq!(knee.run(&SHORT).code, Some(0));
    assert_eq!(knee.run(&[&SHORT[..], &["--record", &second_record]].concat()).code, Some(0));
    let words = ["run", "null", "--points", "1,2,3", "--rounds", "50", "--time", "1ms"];
    let mut child = knee.start(&words);
    let measured = || knee.last_run();
    wait_until("the run has begun", || measured().plan.rounds == 50);
    assert_eq!(knee.run(&["record", "merge", &second_record]).code, Some(0));
    assert_eq!(knee.run(&["record", "delete", "1"]).code, Some(0));
    // Nor is the run itself taken away under the one that measures it, unless it was over by then.
    let came = knee.run(&["record", "delete", "2"]);
    let over = came.code == Some(0);
    assert!(over || came.err.contains("is being measured by another process"), "{came:?}");
    assert_eq!(child.wait().unwrap().code(), Some(0));
    let archive = SqliteArchive::open_read_only(knee.record()).unwrap();
    let runs = archive.runs().unwrap();
    assert_eq!(
        runs.iter().map(|run| run.number).collect::<Vec<_>>(),
        if over { vec![3] } else { vec![2, 3] }
    );
    for run in runs {
        let run = archive.load(run.number).unwrap();
        assert_eq!(run.summary.state, RunState::Complete);
        assert_eq!(run.cells.len(), run.plan.cells.len());
    }
}

/// A shell script on a disk of its own, `$DISK`, of so many KiB; `fill` takes all of its room, `free` gives
/// it back, `knee` says afterwards with which code it ended. None where no disk can be mounted.
fn on_a_disk(knee: &Knee, kib: u32, script: &str) -> Option<Came> {
    let helpers = "fill() { dd if=/dev/zero of=$DISK/ballast bs=4k 2>/dev/null; dd if=/dev/zero \
                   bs=1 count=4096 >>$DISK/ballast 2>/dev/null; :; }\n\
                   free() { rm -f $DISK/ballast; }\n\
                   knee() { \"$KNEE\" \"$@\"; echo \"ended with $?\"; }\n\
                   record() { sqlite3 -readonly $DISK/knee.db \"$@\"; }\n";
    let mount = format!("mount -t tmpfs -o size={kib}k none \"$DISK\"");
    let disk = knee.directory.path().join("disk");
    std::fs::create_dir_all(&disk).unwrap();
    for privileges in ["--mount", "--user --map-root-user --mount"] {
        let unshare = |inner: &str| {
            let mut command = knee.shell(&format!("exec unshare {privileges} sh -c \"$INNER\""));
            command.env("DISK", &disk).env("INNER", inner).env("TMPDIR", knee.directory.path());
            command
        };
        if came(&mut unshare(&mount)).code == Some(0) {
            return Some(came(&mut unshare(&format!("{mount} && {helpers}{script}"))));
        }
    }
    eprintln!("SKIPPED: no file system can be mounted here (unshare --mount is refused)");
    None
}

/// How the commands of a script ended, in order.
fn codes(came: &Came) -> Vec<&str> {
    came.out.lines().filter_map(|line| line.strip_prefix("ended with ")).collect()
}

const MEASURE: &str = "knee run null --points 1,2 --rounds 3 --time 1ms --record $DISK/knee.db";

#[test]
fn on_a_full_disk_it_is_measured_and_printed() {
    let knee = Knee::new();
    let script = format!(
        "fill; {MEASURE}; free; {MEASURE}; fill; {MEASURE}; knee show last --record $DISK/knee.db; \
         free; {MEASURE}; knee record list --record $DISK/knee.db"
    );
    let Some(came) = on_a_disk(&knee, 4096, &script) else { return };
    assert_eq!(codes(&came), ["1", "0", "1", "0", "0", "0"], "{came:?}");
    let warnings =
        came.err.matches("this run will be printed but not recorded: no room left").count();
    assert_eq!(warnings, 2, "{came:?}");
    assert_eq!(came.out.matches("null · N times nothing").count(), 5, "each is printed: {came:?}");
    assert_eq!(came.out.matches("6/6").count(), 2, "{came:?}");
}

/// Cells with so many samples that the disk is full before all are there; then there is room, and it goes on.
#[test]
fn where_the_disk_fills_what_is_there_stays_and_the_rest_is_printed() {
    let knee = Knee::new();
    let long = "knee run null --points 1,2,3,4 --rounds 50 --time 1ms --record $DISK/knee.db";
    let script = format!(
        "{long}; record 'SELECT count(*) FROM cell'; fill; \
         knee show last --record $DISK/knee.db; \
         knee report last --record $DISK/knee.db -o $DISK/page.html; ls $DISK; \
         free; mount -o remount,size=16m $DISK; knee run --resume --record $DISK/knee.db; \
         record 'SELECT state, cells_ended FROM v_run; PRAGMA integrity_check'"
    );
    let Some(came) = on_a_disk(&knee, 700, &script) else { return };
    assert_eq!(codes(&came), ["1", "0", "1", "0"], "{came:?}");
    let kept = came.out.lines().find_map(|line| line.parse::<usize>().ok()).unwrap();
    assert!((1..200).contains(&kept), "{kept} cells: {came:?}");
    let lost = format!("{} cells were measured but not recorded: no room left", 200 - kept);
    assert!(came.err.contains(&lost), "{lost}: {came:?}");
    assert!(!came.out.contains("page.html\n"), "no half a page: {came:?}");
    assert!(came.out.contains("complete|200\nok"), "{came:?}");
}

#[test]
fn on_a_full_disk_a_merge_leaves_nothing_half_there_and_can_be_done_again() {
    let knee = Knee::new();
    let second_record = knee.directory.path().join("other.db").display().to_string();
    let words = ["run", "null", "--points", "1,2,3,4", "--rounds", "40", "--time", "1ms"];
    assert_eq!(knee.run(&[&words[..], &["--record", &second_record]].concat()).code, Some(0));
    let merge = format!("knee record merge {second_record} --record $DISK/knee.db");
    let script = format!(
        "{merge}; knee record list --record $DISK/knee.db; mount -o remount,size=16m $DISK; \
         {merge}; {merge}; record 'SELECT state, cells_ended FROM v_run; PRAGMA integrity_check'"
    );
    let Some(came) = on_a_disk(&knee, 500, &script) else { return };
    assert_eq!(codes(&came), ["1", "0", "0", "0"], "{came:?}");
    assert!(came.err.contains("no room left on the disk"), "{came:?}");
    assert!(came.out.contains("holds no runs yet"), "{came:?}");
    assert!(came.out.contains("Copied run 1") && came.out.contains("1 run was there"), "{came:?}");
    assert!(came.out.contains("complete|160\nok"), "{came:?}");
}

/// The largest limit of [`where_files_may_not_grow_what_is_there_stays_and_it_goes_on_later`]: no run fits into it.
const BLOCKS: u64 = 400;

/// The same without a mount: a file that may not grow beyond some sizes, `$KNEE_LIMITS` of them.
#[test]
fn where_files_may_not_grow_what_is_there_stays_and_it_goes_on_later() {
    let knee = Knee::new();
    let long = "run null --points 1,2,3,4 --rounds 30 --time 1ms";
    let limits = limits();
    for limit in 0..limits {
        let blocks = BLOCKS * limit / (limits - 1).max(1);
        let came = came(&mut knee.shell(&format!("ulimit -f {blocks}; exec \"$KNEE\" {long}")));
        assert_eq!(came.code, Some(1), "{blocks} blocks: {came:?}");
        assert!(came.out.contains("empty"), "it is printed: {came:?}");
    }
    let archive = SqliteArchive::open_read_only(knee.record()).unwrap();
    let runs = archive.runs().unwrap();
    assert!(runs.iter().any(|run| run.cells_ended > 0), "{runs:?}");
    for run in runs {
        let kept = archive.load(run.number).unwrap().cells;
        let came = knee.run(&["run", &format!("--resume={}", run.number)]);
        assert_eq!(came.code, Some(0), "{came:?}");
        let whole = archive.load(run.number).unwrap();
        assert_eq!((whole.summary.state, whole.cells.len()), (RunState::Complete, 120));
        assert!(whole.cells.starts_with(&kept));
    }
}

/// So many runs are pushed together.
const PUSHED: usize = 4;

/// An archive that machines share and that may not grow beyond some sizes, `$KNEE_LIMITS` of them: what is there is whole,
/// and a push without the limit brings the rest.
#[test]
fn where_a_shared_record_may_not_grow_a_push_leaves_nothing_half_there() {
    let knee = Knee::new();
    for _ in 0..PUSHED {
        let long = ["run", "null", "--points", "1,2,3,4", "--rounds", "20", "--time", "1ms"];
        knee.done(&long);
    }
    let own = whole_runs(&knee.record());
    let shared = |name: &str| knee.directory.path().join(name);
    let push = |limit: &str, path: &Path| {
        let script = format!("ulimit -f {limit}; exec \"$KNEE\" record push {}", path.display());
        came(&mut knee.shell(&script))
    };
    assert_eq!(push("unlimited", &shared("free.db")).code, Some(0));
    // The journal is as long as the file.
    let blocks_max = std::fs::metadata(shared("free.db")).unwrap().len() / 512;
    let limits = limits();
    let mut partly = 0;
    for limit in 0..limits {
        let path = shared(&format!("shared-{limit}.db"));
        let came = push(&(blocks_max * limit / limits).to_string(), &path);
        assert_eq!(came.code, Some(1), "{came:?}");
        let there = whole_runs(&path);
        assert!(there.iter().all(|run| own.contains(run)), "half a run: {came:?}");
        partly += u64::from(!there.is_empty());
        assert_eq!(push("unlimited", &path).code, Some(0));
        assert_eq!(whole_runs(&path).len(), own.len());
        assert_eq!(integrity(&path), "ok");
    }
    println!("some of the runs were there after {partly} of {limits} pushes");
    assert!(limits < 3 || partly > 0);
}

fn limits() -> u64 {
    std::env::var("KNEE_LIMITS").map_or(3, |limits| limits.parse().unwrap())
}

/// The identities of the runs that a record has, and their cells.
fn whole_runs(record: &Path) -> Vec<(String, Vec<Cell>)> {
    runs_of(record, |_| true).into_iter().map(|run| (run.summary.id, run.cells)).collect()
}
