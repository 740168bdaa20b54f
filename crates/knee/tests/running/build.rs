//! The workload `build`: what it measures is what the kernel says of the same processes, what it builds is
//! checked, and it writes into no tree but its own.

use crate::common::{Came, Knee, came, wait_until};
use model::{Cell, Outcome};
use rustix::process::{Pid, Signal, kill_process};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A knee, and a directory to build in.
struct Builder {
    knee: Knee,
    tree: PathBuf,
}

impl Builder {
    fn new() -> Builder {
        let knee = Knee::new();
        let tree = knee.directory.path().join("tree");
        fs::create_dir(&tree).unwrap();
        fs::write(tree.join("a.c"), "int a;\n").unwrap();
        Builder { knee, tree }
    }

    /// The words of a run of one round in the directory: `command`, without warming up or cleaning.
    fn words<'a>(&'a self, command: &'a str, more: &[&'a str]) -> Vec<&'a str> {
        let own = ["run", "build", "--rounds", "1", "--command", command, "--tree"];
        let mut words = [&own[..], &[self.tree.to_str().unwrap()], more].concat();
        for plain in [["--warm-up", "none"], ["--clean", "true"]] {
            if !more.contains(&plain[0]) {
                words.extend(plain);
            }
        }
        words
    }

    /// The one cell of `command` at half load.
    fn cell(&self, command: &str, more: &[&str]) -> (Came, Cell) {
        let came = self.knee.run(&self.words(command, &[&["--subjects", "half"], more].concat()));
        let run = self.knee.last_run();
        assert_eq!(run.cells.len(), 1, "{came:?}");
        (came, run.cells[0].clone())
    }
}

fn figure(cell: &Cell, metric: &str) -> f64 {
    assert_eq!(cell.outcome, Outcome::Measured, "{cell:?}");
    let metric = cell.metrics.iter().find(|recorded| recorded.name == metric).unwrap();
    assert_eq!((metric.samples.len(), metric.operations), (1, 1));
    metric.samples[0]
}

fn reason(cell: &Cell) -> (String, &str) {
    match &cell.outcome {
        Outcome::Failed { reason, detail } => (reason.to_string(), detail),
        Outcome::Measured => panic!("it was measured: {cell:?}"),
    }
}

/// Starts a child that works and sleeps, and writes down what the kernel counted for it: elapsed, user and
/// system time in nanoseconds, involuntary and voluntary switches.
const RECORDER: &str = r#"
#define _GNU_SOURCE
#include <stdio.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static long long ns(struct timeval t) { return t.tv_sec * 1000000000LL + t.tv_usec * 1000LL; }

static void work(void)
{
    struct rusage used;
    volatile unsigned long sum = 0;
    do {
        for (int i = 0; i < 1000000; i++)
            sum += i;
        getrusage(RUSAGE_SELF, &used);
    } while (ns(used.ru_utime) + ns(used.ru_stime) < 300000000LL);
    for (int i = 0; i < 1000; i++)
        usleep(50);
}

int main(int count, char **words)
{
    struct timespec start, end;
    struct rusage used;
    int status;
    clock_gettime(CLOCK_MONOTONIC, &start);
    pid_t child = fork();
    if (child == 0) {
        work();
        _exit(0);
    }
    if (count < 2 || wait4(child, &status, 0, &used) != child || status != 0)
        return 1;
    clock_gettime(CLOCK_MONOTONIC, &end);
    FILE *out = fopen(words[1], "w");
    long long took = (end.tv_sec - start.tv_sec) * 1000000000LL + end.tv_nsec - start.tv_nsec;
    fprintf(out, "%lld %lld %lld %ld %ld\n", took, ns(used.ru_utime), ns(used.ru_stime), used.ru_nivcsw,
            used.ru_nvcsw);
    return fclose(out) != 0;
}
"#;

pub fn compiled(source: &str, directory: &Path) -> PathBuf {
    let (file, program) = (directory.join("recorder.c"), directory.join("recorder"));
    fs::write(&file, source).unwrap();
    let done = Command::new("cc").args(["-O1", "-o"]).arg(&program).arg(&file).status().unwrap();
    assert!(done.success());
    program
}

/// The same execution, recorded by another program: what knee counts is that and the little that the shell and the
/// recorder took themselves, and is no more than what was counted for the whole worker.
#[test]
fn the_figures_are_those_that_the_kernel_counts() {
    let builder = Builder::new();
    let program = compiled(RECORDER, builder.knee.directory.path());
    let file = builder.knee.directory.path().join("recorded");
    let command = format!("exec {} {}", program.display(), file.display());
    let (_, cell) = builder.cell(&command, &[]);
    let recorder = fs::read_to_string(file).unwrap();
    let recorder: Vec<f64> =
        recorder.split_whitespace().map(|word| word.parse().unwrap()).collect();
    let [took, user, system, taken, waited] = recorder[..] else { panic!("{recorder:?}") };

    let [elapsed, own_user, own_system, percent, switches, sleeps] =
        ["elapsed", "user", "system", "percent cpu", "context switches", "sleeps"]
            .map(|metric| figure(&cell, metric));
    assert!(took <= elapsed && elapsed <= cell.elapsed_ns as f64, "{took} {elapsed}");
    assert!(user <= own_user && system <= own_system, "{recorder:?} {own_user} {own_system}");
    let (cpu, own_cpu) = (user + system, own_user + own_system);
    assert!(cpu >= 300e6 && own_cpu <= 1.1 * cpu, "{cpu} {own_cpu}");
    assert!(own_cpu <= (cell.usage.user_ns + cell.usage.system_ns) as f64);
    assert!((percent - 100.0 * own_cpu / elapsed).abs() < 1e-9);
    assert!(waited >= 500.0 && waited <= sleeps && sleeps <= waited + 100.0, "{waited} {sleeps}");
    assert!(taken <= switches && switches <= 1.2 * taken + 100.0, "{taken} {switches}");
}

#[test]
fn a_generated_tree_is_built_under_each_load_and_printed_as_by_kernbench() {
    let knee = Knee::new();
    let came = knee.run(&["run", "build", "--files", "3", "--rounds", "2"]);
    assert_eq!(came.code, Some(0), "{came:?}");
    let run = knee.last_run();
    let cpus = run.cells[0].key.point;
    let commands = [
        ("half", format!("make -j{}", (cpus / 2).max(3))),
        ("optimal", format!("make -j{}", 4 * cpus)),
        ("maximal", "make -j".to_owned()),
    ];
    assert_eq!(run.cells.len(), 6);
    for (subject, command) in commands {
        let cells = run.cells.iter().filter(|cell| cell.key.subject == subject);
        for cell in cells {
            assert!(figure(cell, "elapsed") > 0.0 && figure(cell, "user") > 0.0);
            assert_eq!(cell.facts["command"].to_string(), command);
            assert_eq!(
                cell.facts["jobs"].to_string(),
                command.replace("make -j", "-j ").trim_end()
            );
            assert_ne!(cell.facts["compiler"], "".into());
        }
    }
    let rows =
        ["Elapsed Time", "User Time", "System Time", "Percent CPU", "Context Switches", "Sleeps"];
    let mut at = 0;
    for row in rows {
        at += came.out[at..].find(row).unwrap_or_else(|| panic!("{row}: {}", came.out));
    }
    assert!(came.out.contains("half -j 3") && came.out.contains("maximal -j"), "{}", came.out);
    assert!(!came.out.contains("undecided"), "nothing grows here: {}", came.out);
}

#[test]
fn like_kernbench_prints_its_blocks() {
    let knee = Knee::new();
    let came = knee.run(&[
        "run",
        "--like",
        "kernbench",
        "--files",
        "2",
        "--rounds",
        "2",
        "--without",
        "maximal",
    ]);
    assert_eq!(came.code, Some(0), "{came:?}");
    let lines: Vec<&str> = came.out.lines().collect();
    let at = lines.iter().position(|line| *line == "Average Half load -j 3 Run (std deviation):");
    let block = &lines[at.unwrap_or_else(|| panic!("{}", came.out)) + 1..][..7];
    let figures = block[..6].iter().map(|line| line.rsplitn(3, ' ').collect::<Vec<&str>>());
    let names: Vec<&str> = figures
        .map(|words| {
            let deviation = words[0].strip_prefix('(').and_then(|rest| rest.strip_suffix(')'));
            assert!(deviation.unwrap().parse::<f64>().is_ok_and(|figure| figure >= 0.0));
            assert!(words[1].parse::<f64>().is_ok_and(|figure| figure >= 0.0));
            words[2]
        })
        .collect();
    let wanted =
        ["Elapsed Time", "User Time", "System Time", "Percent CPU", "Context Switches", "Sleeps"];
    assert_eq!((names.as_slice(), block[6]), (&wanted[..], ""));
    assert!(came.out.contains("Average Optimal load -j "), "{}", came.out);
    assert!(!came.out.contains("Maximal"), "{}", came.out);
    assert!(came.out.contains("Hidden: what optimal is: 4 jobs for each CPU"), "{}", came.out);
}

#[test]
fn loads_can_be_left_out() {
    let builder = Builder::new();
    for (words, left) in [
        (&["--without", "maximal"][..], &["half", "optimal"][..]),
        (&["--without", "optimal"], &["half", "maximal"]),
        (&["--without", "half,optimal"], &["maximal"]),
        (&["--subjects", "half,maximal", "--without", "maximal"], &["half"]),
    ] {
        let came = builder.knee.run(&builder.words("true", words));
        assert_eq!(came.code, Some(0), "{came:?}");
        let run = builder.knee.last_run();
        let mut subjects: Vec<&str> =
            run.cells.iter().map(|cell| cell.key.subject.as_str()).collect();
        subjects.sort_by_key(|name| ["half", "optimal", "maximal"].iter().position(|n| n == name));
        assert_eq!(subjects, left, "{words:?}");
    }
    for (words, output) in [
        (&["--subjects", "maximal", "--without", "maximal"][..], "nothing is left to compare"),
        (&["--without", "poll"], "poll is no subject of build"),
        (&["--without", "maximl"], "did you mean maximal?"),
    ] {
        let came = builder.knee.run(&builder.words("true", words));
        assert_eq!((came.code, came.err.lines().count()), (Some(2), 1), "{came:?}");
        assert!(came.err.contains(output), "{came:?}");
    }
    let came = builder.knee.run(&["run", "null", "--without", "maximal"]);
    assert!(came.code == Some(2) && came.err.contains("maximal is no subject of null"), "{came:?}");
}

#[test]
fn a_command_that_fails_fails_the_cell_with_its_last_output() {
    let builder = Builder::new();
    let command = "echo one, two; echo 'a.c:1: it is broken' >&2; exit 3";
    let (came, cell) = builder.cell(command, &[]);
    assert_eq!(came.code, Some(1), "{came:?}");
    let (output, detail) = reason(&cell);
    assert_eq!(output, format!("`{command}` exited with 3: a.c:1: it is broken"));
    assert_eq!(detail, "one, two\na.c:1: it is broken");
    let (_, cell) = builder.cell("kill -9 $$", &[]);
    assert!(reason(&cell).0.ends_with("was killed by signal 9"), "{cell:?}");
    let (_, cell) = builder.cell("true", &["--clean", "exit 7"]);
    assert_eq!(reason(&cell).0, "`exit 7` exited with 7");
}

/// A command that says that all is well, and has not built what it was to build.
#[test]
fn what_a_generated_tree_was_built_to_is_run() {
    let knee = Knee::new();
    let built = |command: &str| {
        let words = ["run", "build", "--files", "2", "--rounds", "1", "--subjects", "half"];
        let own = ["--command", command, "--warm-up", "none"];
        let came = knee.run(&[&words[..], &own].concat());
        assert_eq!(came.code, Some(1), "{came:?}");
        reason(&knee.last_run().cells[0]).0
    };
    let none = built("true");
    assert!(none.contains("what it was to build can't be run: No such file"), "{none}");
    let wrong = built("printf '#!/bin/sh\\necho 1234\\n' > program; chmod +x program");
    assert!(wrong.starts_with("what was built says `1234`, and `"), "{wrong}");
}

/// Every file of the tree with its content, and when it was changed.
fn state(tree: &Path) -> Vec<(PathBuf, Vec<u8>, std::time::SystemTime)> {
    let mut files: Vec<_> = fs::read_dir(tree)
        .unwrap()
        .flatten()
        .map(|entry| {
            let changed = entry.metadata().unwrap().modified().unwrap();
            (entry.path(), fs::read(entry.path()).unwrap(), changed)
        })
        .collect();
    files.sort();
    files
}

#[test]
fn a_named_tree_is_written_to_by_its_commands_alone() {
    let builder = Builder::new();
    let before = state(&builder.tree);
    let changed = fs::metadata(&builder.tree).unwrap().modified().unwrap();
    for warm_up in ["build", "read", "none"] {
        let (came, cell) = builder.cell("cat a.c", &["--warm-up", warm_up]);
        assert_eq!((came.code, &cell.outcome), (Some(0), &Outcome::Measured), "{came:?}");
        assert_eq!(
            PathBuf::from(cell.facts["tree"].to_string()),
            builder.tree.canonicalize().unwrap()
        );
    }
    assert_eq!(state(&builder.tree), before);
    assert_eq!(fs::metadata(&builder.tree).unwrap().modified().unwrap(), changed);
}

/// In turn: cleaning, a build that is not timed, cleaning, the build.
#[test]
fn warming_up_is_a_build_and_each_build_begins_clean() {
    let builder = Builder::new();
    let done = |warm_up: &str| {
        let _ = fs::remove_file(builder.tree.join("done"));
        let more = ["--clean", "echo clean >> done", "--warm-up", warm_up];
        let (came, _) = builder.cell("echo build >> done", &more);
        assert_eq!(came.code, Some(0), "{came:?}");
        fs::read_to_string(builder.tree.join("done")).unwrap().replace('\n', " ")
    };
    assert_eq!(done("build"), "clean build clean build ");
    assert_eq!(done("read"), "clean build ");
    assert_eq!(done("none"), "clean build ");
}

#[test]
fn the_command_has_the_cpus_of_the_point_and_no_word_of_another_make() {
    let builder = Builder::new();
    let command =
        "test \"$(nproc)\" = 1 && test -z \"$MAKEFLAGS$MAKELEVEL$MFLAGS\" && test \"$OWN\" = 1";
    let words = builder.words(command, &["--points", "1", "--subjects", "half"]);
    let mut knee = builder.knee.command(&words);
    let came = came(knee.env("MAKEFLAGS", "-n").env("MAKELEVEL", "1").env("OWN", "1"));
    assert_eq!(came.code, Some(0), "{came:?}");
}

#[test]
fn missing_tools_are_reported_before_anything_is_started() {
    let builder = Builder::new();
    let came = builder.knee.run(&["run", "build", "--tree", "/no/such/directory"]);
    assert_eq!((came.code, came.err.lines().count()), (Some(5), 1), "{came:?}");
    assert!(came.err.contains("--tree: /no/such/directory is no directory"), "{came:?}");

    let bare = builder.knee.directory.path().join("bin");
    fs::create_dir(&bare).unwrap();
    std::os::unix::fs::symlink("/bin/sh", bare.join("sh")).unwrap();
    let without =
        |words: &[&str]| crate::common::came(builder.knee.command(words).env("PATH", &bare));
    let came = without(&["run", "build"]);
    assert_eq!((came.code, came.err.lines().count()), (Some(5), 1), "{came:?}");
    let wanted = "make and cc are not installed (as root: apt-get install make gcc,";
    assert!(came.err.contains(wanted), "{came:?}");
    // What has a tree and a command of its own needs neither.
    let came = without(&builder.words("true", &["--without", "maximal"]));
    assert_eq!(came.code, Some(0), "{came:?}");
}

#[test]
fn a_build_that_does_not_end_is_aborted_and_nothing_is_left_of_it() {
    let builder = Builder::new();
    let (came, cell) = builder.cell("sleep 1000 & sleep 1000", &["--deadline", "2s"]);
    assert_eq!(came.code, Some(1), "{came:?}");
    assert!(reason(&cell).0.starts_with("did not finish within 2 s"), "{cell:?}");
    assert!(came.out.contains("aborted after 2 s"), "{}", came.out);
    builder.knee.assert_no_process_left();
}

#[test]
fn processes_left_by_a_command_are_ended_and_reported() {
    let builder = Builder::new();
    let (came, cell) = builder.cell("sleep 1000 & true", &[]);
    assert_eq!(came.code, Some(0), "{came:?}");
    assert_eq!(cell.facts["processes that the command left, now ended"], 1.into());
    builder.knee.assert_no_process_left();
}

#[test]
fn nothing_of_a_build_outlives_a_knee_that_is_killed() {
    let builder = Builder::new();
    let words = builder.words("setsid sleep 1000 & sleep 1000", &["--subjects", "half"]);
    let mut child = builder.knee.start(&words);
    let sleeps =
        || builder.knee.processes().iter().filter(|line| line.contains(": sleep ")).count();
    wait_until("the build has begun", || sleeps() == 2);
    kill_process(Pid::from_child(&child), Signal::KILL).unwrap();
    child.wait().unwrap();
    builder.knee.assert_no_process_left();
}
