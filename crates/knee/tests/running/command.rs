//! The workload `command`: verdicts of commands whose figures are known, what is wrong with a command is one line,
//! and nothing that a command starts is left.

use crate::common::{Came, Knee};
use model::{Cell, Fact, Outcome};
use serde_json::Value;
use std::fs;

/// A knee whose commands run in its directory.
struct Commander {
    knee: Knee,
}

impl Commander {
    fn new() -> Commander {
        Commander { knee: Knee::new() }
    }

    fn run(&self, words: &[&str]) -> Came {
        let words = [&["run", "command"], words].concat();
        let mut command = self.knee.command(&words);
        crate::common::came(command.current_dir(self.knee.directory.path()))
    }

    /// The findings about the headline, each as its sentence.
    fn sentences(&self, words: &[&str]) -> Vec<String> {
        let came = self.run(&[words, &["--json", "--time", "2ms", "--rounds", "5"]].concat());
        assert_eq!(came.code, Some(0), "{came:?}");
        let json: Value = serde_json::from_str(&came.out).unwrap();
        let findings = json["findings"].as_array().unwrap().iter();
        let headline = findings.filter(|finding| finding["headline"] == true);
        headline.map(|finding| finding["sentence"].as_str().unwrap().to_owned()).collect()
    }

    /// The one cell of a run of one round.
    fn cell(&self, words: &[&str]) -> (Came, Cell) {
        let own = ["--rounds", "1", "--time", "5ms"];
        let came = self.run(&[words, &own].concat());
        let run = self.knee.last_run();
        assert_eq!(run.cells.len(), 1, "{came:?}");
        (came, run.cells[0].clone())
    }

    /// Why that cell failed.
    fn reason(&self, words: &[&str]) -> String {
        let (came, cell) = self.cell(words);
        match &cell.outcome {
            Outcome::Failed { reason, .. } => reason.to_string(),
            Outcome::Measured => panic!("it was measured: {came:?}"),
        }
    }
}

/// The words that make the printed time the headline.
const TIME: [&str; 4] = ["--extract", "t=([0-9.]+) ns", "--headline", "t"];

fn sample(cell: &Cell, metric: &str) -> f64 {
    assert_eq!(cell.outcome, Outcome::Measured, "{cell:?}");
    cell.metrics.iter().find(|recorded| recorded.name == metric).unwrap().samples[0]
}

fn assert_one(sentences: &[String], begin: &str) {
    assert!(sentences.iter().any(|sentence| sentence.starts_with(begin)), "{begin}: {sentences:?}");
}

#[test]
fn growth_and_crossovers_of_printed_figures_are_found() {
    let commands = [
        "--command",
        "flat=echo $((5000+0*{n})) ns",
        "--command",
        "line=echo $((10*{n})) ns",
        "--command",
        "square=echo $(({n}*{n})) ns",
    ];
    let points = ["--points", "10,30,100,300,1k,3k,10k"];
    let sentences = Commander::new().sentences(&[&commands[..], &TIME, &points].concat());
    assert_one(&sentences, "flat is flat");
    assert_one(&sentences, "line is linear");
    assert_one(&sentences, "square is quadratic");
    assert_one(&sentences, "flat overtakes line at 500 n");
}

#[test]
fn a_step_of_printed_figures_is_found() {
    let figure = "$(( ({size} < 4096 ? 100000 : 900000) + $(date +1%N) % 1000 ))";
    let command = format!("buffer=echo {figure} ns");
    let commands = ["--command", command.as_str()];
    let points = ["--points", "256,512,1024,2048,4096,8192,16384,32768"];
    let sentences = Commander::new().sentences(&[&commands[..], &TIME, &points].concat());
    let step = sentences.iter().find(|sentence| sentence.starts_with("buffer steps up"));
    let step = step.unwrap_or_else(|| panic!("{sentences:?}"));
    assert!(step.ends_with("between 2,048 and 4,096 size"), "{step}");
}

#[test]
fn rates_rise_and_fall_along_threads() {
    // The Universal Scalability Law with contention 0.05 and coherency 0.01: its maximum is near 10.
    let command = "law=awk 'BEGIN { n = {threads}; print 1000 * n / (1 + .05 * (n-1) + .01 * n * (n-1)), \"ops/s\" }'";
    let words = [
        "--command",
        command,
        "--cpus",
        "1",
        "--points",
        "1,2,4,8,12,16,24,32",
        "--extract",
        "ops=([0-9.]+) ops/s",
        "--headline",
        "ops",
    ];
    let sentences = Commander::new().sentences(&words);
    assert_one(&sentences, "law peaks");
    assert!(
        sentences.iter().any(|sentence| sentence.contains("Universal Scalability Law")),
        "{sentences:?}"
    );
}

#[test]
fn what_the_kernel_counts_is_that_of_the_command() {
    let commander = Commander::new();
    let (_, cell) = commander.cell(&["--command", "sh -c 'exit 0' {n}", "--points", "1"]);
    assert!(sample(&cell, "elapsed") > 50_000.0, "a process takes longer than that: {cell:?}");
    // A shell is smaller than the program that measures it.
    let rss = sample(&cell, "max RSS");
    assert!((100e3..4e6).contains(&rss), "{rss}");
    assert!(sample(&cell, "page faults") > 10.0);
    assert!(!cell.facts.contains_key("shell"), "it needs none: {:?}", cell.facts);
    let bytes = ["--command", "dd if=/dev/zero of=/dev/null bs=100 count={n} status=none"];
    let (_, cell) = commander.cell(&[&bytes[..], &["--points", "500"]].concat());
    assert!((50_000.0..90_000.0).contains(&sample(&cell, "bytes read")), "{cell:?}");
    assert!((50_000.0..51_000.0).contains(&sample(&cell, "bytes written")), "{cell:?}");
    assert!((500.0..600.0).contains(&sample(&cell, "reads")) && sample(&cell, "writes") >= 500.0);
    // Whatever a run takes on a loaded machine, the headline is counted.
    let (_, cell) =
        commander.cell(&[&bytes[..], &["--points", "500", "--headline", "system calls"]].concat());
    if let Outcome::Failed { reason, .. } = &cell.outcome {
        eprintln!("SKIPPED in part: {reason}");
    } else {
        let calls = |name: &str| sample(&cell, &format!("calls of {name}"));
        assert!((500.0..600.0).contains(&calls("read")), "{cell:?}");
        assert!((500.0..510.0).contains(&calls("write")), "{cell:?}");
        assert!(sample(&cell, "system calls") > calls("read") + calls("write"));
    }
    let (_, cell) = commander.cell(&["--command", "true {n} | true", "--points", "1"]);
    assert_eq!(cell.facts["shell"], "sh".into());
    assert!(cell.facts.contains_key("start-up of the shell, taken off_us"));
}

#[test]
fn a_quota_throttles_the_command_alone_and_its_control_group_goes() {
    let commander = Commander::new();
    let busy =
        "cat /proc/self/cgroup > {n}.group; i=0; while [ $i -lt 50000 ]; do i=$((i+1)); done";
    let hook = ["--prepare", "cat /proc/self/cgroup > prepare.group"];
    let words = ["--command", busy, "--quota", "0.02", "--points", "1", "--warmup", "0"];
    let (_, cell) = commander.cell(&[&words[..], &hook].concat());
    if let Outcome::Failed { reason, .. } = &cell.outcome {
        eprintln!("SKIPPED: {reason}");
        return;
    }
    assert!(sample(&cell, "throttled") > 0.0 && sample(&cell, "throttled time") > 0.0);
    let groups = |name: &str| {
        let text = fs::read_to_string(commander.knee.directory.path().join(name)).unwrap();
        let own = text.lines().filter_map(|line| line.split_once("/knee-"));
        own.map(|(_, name)| format!("knee-{name}")).collect::<Vec<_>>()
    };
    assert_eq!(groups("prepare.group"), [""; 0], "hooks have no quota");
    let [group] = &groups("1.group")[..] else { panic!("one group: {:?}", groups("1.group")) };
    assert!(!crate::common::has_control_group(group), "{group} is left");
    let (_, cell) = commander.cell(&["--command", "true {n}", "--quota", "none", "--points", "1"]);
    assert!(cell.metrics.iter().all(|metric| !metric.name.starts_with("throttled")), "{cell:?}");
}

#[test]
fn words_have_values_and_hooks_run_in_order() {
    let commander = Commander::new();
    let words = [
        "--command",
        "echo run {n} {size} >> log",
        "--set",
        "size=4k,8k",
        "--setup",
        "echo setup {n} >> log",
        "--prepare",
        "echo prepare >> log",
        "--conclude",
        "echo conclude >> log",
        "--cleanup",
        "echo cleanup >> log",
        "--warmup",
        "1",
        "--points",
        "7",
        "--rounds",
        "1",
        "--time",
        "1ms",
        "--quiet",
    ];
    let came = commander.run(&words);
    assert_eq!(came.code, Some(0), "{came:?}");
    let run = commander.knee.last_run();
    let sizes: Vec<String> =
        run.cells.iter().map(|cell| cell.key.parameters["size"].to_string()).collect();
    assert_eq!(sizes.len(), 2, "{sizes:?}");
    let log = fs::read_to_string(commander.knee.directory.path().join("log")).unwrap();
    let cell: Vec<&str> = log.lines().take_while(|line| *line != "cleanup").collect();
    let run = format!("run 7 {}", sizes[0]);
    assert_eq!(cell[..4], ["setup 7", "prepare", &run, "conclude"], "{log}");
    assert!(cell.len() >= 7 && (cell.len() - 1).is_multiple_of(3), "a warm-up and a run: {log}");
    assert_eq!(log.matches("cleanup").count(), 2);
}

#[test]
fn input_is_read_and_output_goes_where_it_should() {
    let commander = Commander::new();
    let at = |name: &str| commander.knee.directory.path().join(name);
    fs::write(at("7.in"), "seven").unwrap();
    let words = ["--command", "cat", "--input", "{n}.in", "--points", "7"];
    let (_, cell) = commander.cell(&[&words[..], &["--stdout", "keep"]].concat());
    assert_eq!(cell.facts["output"], "seven".into());
    commander.cell(&[&words[..], &["--stdout", "{n}.out"]].concat());
    assert_eq!(fs::read_to_string(at("7.out")).unwrap(), "seven");
    let (came, _) =
        commander.cell(&[&words[..], &["--stdout", "inherit", "--warmup", "0"]].concat());
    assert!(came.err.contains("seven") && !came.out.contains("seven"), "{came:?}");
}

#[test]
fn a_command_that_fails_fails_its_cell() {
    let commander = Commander::new();
    let fails = ["--command", "sh -c 'echo first >&2; echo last >&2; exit 3' {n}", "--points", "1"];
    let reason = commander.reason(&fails);
    assert!(reason.ends_with("exited with 3: last"), "{reason}");
    let (_, cell) = commander.cell(&[&fails[..], &["--ignore-failure"]].concat());
    assert_eq!(
        cell.facts[model::command_facts::IGNORED_ENDS],
        Fact::Texts(vec!["exited with 3".to_owned()])
    );
    let came = commander.run(&[&fails[..], &["--ignore-failure", "--rounds", "1"]].concat());
    assert!(came.out.contains("at 1 exited with 3, which was to be ignored"), "{came:?}");
    let setup = ["--command", "true {n}", "--setup", "false", "--points", "1"];
    assert_eq!(commander.reason(&setup), "--setup `false` exited with 1");
    let silent = ["--command", "echo {n}", "--extract", "ops=([0-9]+) ops/s", "--points", "1"];
    assert!(commander.reason(&silent).contains("printed no such figure"));
}

#[test]
fn a_socket_for_standard_error_is_refused_before_anything_is_measured() {
    let commander = Commander::new();
    let (ours, theirs) = std::os::unix::net::UnixStream::pair().unwrap();
    let words = ["run", "command", "--command", "echo {n}", "-p", "1", "--stdout", "inherit"];
    let mut command = commander.knee.command(&words);
    let status = command.stderr(std::os::fd::OwnedFd::from(theirs)).status().unwrap();
    drop(command);
    assert_eq!(status.code(), Some(2));
    let printed = std::io::read_to_string(ours).unwrap();
    assert!(printed.contains("standard error is a socket"), "{printed}");
}

#[test]
fn cleanup_follows_a_set_up_that_failed() {
    let commander = Commander::new();
    let fails = ["--setup", "touch made; false", "--cleanup", "rm made", "--points", "1"];
    let reason = commander.reason(&[&["--command", "true {n}"], &fails[..]].concat());
    assert!(reason.ends_with("exited with 1"), "{reason}");
    assert!(!commander.knee.directory.path().join("made").exists());
}

#[test]
fn a_hook_may_make_the_program_that_is_measured() {
    let commander = Commander::new();
    let made = "printf '#!/bin/sh\\n' > prog; chmod +x prog";
    for hook in ["--setup", "--prepare"] {
        let words = ["--command", "./prog {n}", hook, made, "--cleanup", "rm ./prog", "-p", "1"];
        let (came, cell) = commander.cell(&words);
        assert_eq!(cell.outcome, Outcome::Measured, "{hook}: {came:?}");
    }
    let missing = ["--command", "./prog {n}", "--cleanup", "true", "-p", "1"];
    let came = commander.run(&missing);
    assert!(came.err.contains("there is no program ./prog"), "{came:?}");
}

#[test]
fn a_command_that_does_not_end_is_ended_with_all_that_it_started() {
    let commander = Commander::new();
    let limit = ["--points", "1", "--time-limit", "300ms"];
    for command in [
        "sh -c 'trap \"\" TERM HUP INT; sleep 1000' {n}",
        "setsid -w setsid -w sleep 1000 {n}",
        "yes {n}",
        "tail -f /dev/null {n}",
    ] {
        let reason = commander.reason(&[&["--command", command], &limit[..]].concat());
        assert!(reason.contains("took longer than 300ms and was killed"), "{reason}");
        commander.knee.assert_no_process_left();
    }
}

/// A process that becomes more and more of them, each of which does the same. By itself it stops at 9,000: a
/// knee that does not end it leaves the machine alive.
const BOMB: &str = r"
#include <stdatomic.h>
#include <sys/mman.h>
#include <unistd.h>
int main(void) {
    atomic_int *count = mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    while (atomic_fetch_add(count, 1) < 9000)
        fork();
    for (;;)
        pause();
}
";

#[test]
fn a_command_that_multiplies_is_ended_with_all_its_processes() {
    let commander = Commander::new();
    let program = super::build::compiled(BOMB, commander.knee.directory.path());
    let command = format!("'{}' {{n}}", program.display());
    let words = ["--command", &command, "--points", "1", "--time-limit", "60s"];
    let reason = commander.reason(&words);
    assert!(reason.contains("had more than 4096 processes at once and was killed"), "{reason}");
    commander.knee.assert_no_process_left();
}

#[test]
fn what_a_command_leaves_behind_is_ended_and_counted() {
    let commander = Commander::new();
    let daemon =
        "(setsid sleep 1000 > /dev/null 2>&1 &); env -i setsid sleep 1000 & sleep 0.05; true {n}";
    let (_, cell) = commander.cell(&["--command", daemon, "--points", "1"]);
    assert_eq!(cell.facts["processes that a run left, now ended"], 2.into());
    commander.knee.assert_no_process_left();
}

#[test]
fn endless_output_and_a_terminal_are_no_trouble() {
    let commander = Commander::new();
    let floods = "head -c 50000000 /dev/zero; head -c 50000000 /dev/zero >&2; echo; echo end {n}";
    let (_, cell) = commander.cell(&["--command", floods, "--stdout", "keep", "--points", "1"]);
    assert_eq!(cell.facts["output"].to_string().trim_start_matches('\0'), "\nend 1");
    let terminal = ["--command", "cat /dev/tty {n}", "--points", "1"];
    let reason = commander.reason(&terminal);
    assert!(
        reason.contains("No such device or address") || reason.contains("/dev/tty"),
        "{reason}"
    );
}

#[test]
fn what_is_wrong_with_a_command_is_one_line_before_anything_is_measured() {
    let commander = Commander::new();
    let cases: &[(&[&str], &str)] = &[
        (&[], "--command names what to measure"),
        (&["--command", "true"], "no command has {n}"),
        (&["--command", "true {n}"], "--points names the values of {n}"),
        (&["--command", "true {n} {sise}", "--set", "size=1", "-p", "1"], "did you mean {size}?"),
        (&["--command", "no_such_program {n}", "-p", "1"], "there is no program no_such_program"),
        (&["--command", "a=true {n}", "--command", "a=true {n}", "-p", "1"], "two are called a"),
        (&["--command", "true {n}", "--extract", "x", "-p", "1"], "names no figure"),
        (&["--command", "true {n}", "--headline", "x", "-p", "1"], "--headline is one of elapsed"),
        (&["--command", "true {n}", "--set", "size", "-p", "1"], "no word with its values"),
        (&["--command", "true {n} {a}", "--set", "a=", "-p", "1"], "gives {a} no value"),
        (
            &["--command", "true {n}", "--set", "n=1", "-p", "1"],
            "--points and --set n name the same",
        ),
        (
            &["--command", "x=true {n}", "--command", "y=true {n}", "--subjects", "y", "-p", "1"],
            "--subjects leaves out x",
        ),
        (&["--command", "d=no_such; : {n}", "-p", "1"], "there is no program no_such"),
        (&["--command", "echo {n} > x", "--shell", "none", "-p", "1"], "`>` needs a shell"),
        (
            &["--command", "sleep 0 &> /dev/null; : {n}", "-p", "1"],
            "`&>` runs the command in the background",
        ),
        (&["--command", "true {n}", "--url", "http://h/", "-p", "1"], "--url"),
        (&["--command", "true {n}", "--axis", "x", "-p", "1"], "nothing gives {n} a value"),
    ];
    for (words, line) in cases {
        let came = commander.run(words);
        assert_eq!(came.code, Some(2), "{words:?}: {came:?}");
        assert!(came.err.contains(line) && came.err.lines().count() == 1, "{words:?}: {came:?}");
    }
    let came = commander.knee.run(&["run", "poll", "--set", "size=1", "-p", "10"]);
    assert!(came.err.contains("poll: it takes no commands or servers of your own"), "{came:?}");
    assert_eq!(came.code, Some(2));
    assert!(!commander.knee.record().exists(), "nothing was measured");
}

#[test]
fn a_run_of_commands_is_resumed_and_compared_like_any_other() {
    let commander = Commander::new();
    let words = ["--command", "true {n}", "-p", "1,2", "--rounds", "2", "--time", "1ms", "-q"];
    assert_eq!(commander.run(&words).code, Some(0));
    let custom = commander.knee.last_run().plan.workloads[0].custom.clone().unwrap();
    assert_eq!(custom.commands[0].text, "true {n}");
    assert_eq!(custom.directory, commander.knee.directory.path().canonicalize().unwrap());
    assert_eq!(commander.run(&words).code, Some(0));
    let came = commander.knee.run(&["compare", "1", "2"]);
    assert!(came.out.contains("true"), "{came:?}");
    let words = [&["ab", "env X=1", "--", "run", "command"], &words[..8]].concat();
    let words: Vec<&str> = words.into_iter().filter(|word| *word != "run").collect();
    let came = commander.knee.run(&words);
    assert_eq!(came.code, Some(0), "{came:?}");
}

#[test]
fn a_password_is_in_no_record() {
    let commander = Commander::new();
    let command = "echo http://me:secret@host/{n} {to}";
    let words = ["--command", command, "--set", "to=http://me:hidden@host/", "-p", "1"];
    let (came, cell) = commander.cell(&[&words[..], &["--stdout", "keep"]].concat());
    assert_eq!(cell.outcome, Outcome::Measured, "{came:?}");
    let json = serde_json::to_string(&commander.knee.last_run().plan).unwrap() + &came.out;
    assert!(!json.contains("secret") && !json.contains("hidden"), "{json}");
    let output = cell.facts["output"].to_string();
    assert_eq!(output, "http://***@host/1 http://***@host/", "the command itself had them");
}

#[test]
fn a_flag_leaves_a_suite_its_directory() {
    let commander = Commander::new();
    let home = commander.knee.directory.path();
    fs::create_dir(home.join("sub")).unwrap();
    let suite = "[[suite.mine.workloads]]\nname = 'command'\ndirectory = 'sub'\npoints = [1]\n";
    let of_its_own = format!("{suite}command = 'where=sh -c pwd {{n}}'\n");
    for (file, flags) in [
        (&*of_its_own, &["--stdout", "keep"][..]),
        (suite, &["--stdout", "keep", "--command", "where=sh -c pwd {n}"]),
    ] {
        fs::write(home.join("knee.toml"), file).unwrap();
        let words = [&["--suite", "mine"], flags].concat();
        let (_, cell) = commander.cell(&words);
        assert_eq!(cell.outcome, Outcome::Measured, "{cell:?}");
        let printed = cell.facts["output"].to_string();
        assert!(printed.ends_with("/sub"), "{printed}");
    }
}

#[test]
fn a_suite_has_commands_of_its_own_and_flags_override_them() {
    let commander = Commander::new();
    let text = "[[suite.mine.workloads]]\nname = 'command'\ncommand = 'echo {n} {size} {{size}}'\n\
                set = { size = '4k' }\nstdout = 'keep'\npoints = [7]\nrounds = 1";
    fs::write(commander.knee.directory.path().join("knee.toml"), text).unwrap();
    let run = |words: &[&str]| {
        let words = [&["run", "--suite", "mine", "--time", "1ms", "-q"], words].concat();
        let mut command = commander.knee.command(&words);
        let came = crate::common::came(command.current_dir(commander.knee.directory.path()));
        assert_eq!(came.code, Some(0), "{came:?}");
        commander.knee.last_run().cells[0].facts["output"].to_string()
    };
    assert_eq!(run(&[]), "7 4k {size}");
    assert_eq!(run(&["--set", "size=8k", "--points", "9"]), "9 8k {size}");
}

#[test]
fn parameters_named_as_those_of_a_load_are_those_of_the_command() {
    let commander = Commander::new();
    let words = [
        "--command",
        "sh -c 'test {loop} = open && test {interval} = 5ms && test {n} = 1'",
        "-p",
        "1",
    ];
    let set = ["--set", "loop=open", "--set", "interval=5ms"];
    let (came, cell) = commander.cell(&[&words[..], &set].concat());
    assert_eq!(cell.outcome, Outcome::Measured, "{came:?}");
    assert_eq!(cell.key.parameters["interval"].text(), "5ms");
}

/// Prints what a process inherits, a line for each: limits, signals, CPUs, priorities, descriptors and more.
const INHERITED: &str = r#"
#define _GNU_SOURCE
#include <dirent.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>
extern char **environ;
static void grep(FILE *out, const char *file, const char **keys) {
    char line[512];
    FILE *in = fopen(file, "r");
    while (in && fgets(line, sizeof line, in))
        for (const char **key = keys; *key; key++)
            if (!strncmp(line, *key, strlen(*key))) fprintf(out, "%s %s", file, line);
    if (in) fclose(in);
}
int main(int count, char **words) {
    FILE *out = fopen(words[1], "w");
    if (count < 2 || !out) return 1;
    for (int which = 0; which < RLIM_NLIMITS; which++) {
        struct rlimit limit;
        getrlimit(which, &limit);
        fprintf(out, "limit %d %llu %llu\n", which, (unsigned long long)limit.rlim_cur, (unsigned long long)limit.rlim_max);
    }
    const char *status[] = {"SigBlk", "SigIgn", "SigCgt", "ShdPnd", "Cpus_allowed_list", "Mems_allowed_list", "Umask", "NoNewPrivs",
        "Seccomp:", "CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb", "THP_enabled", "Groups", 0};
    grep(out, "/proc/self/status", status);
    const char *all[] = {"", 0};
    const char *files[] = {"/proc/self/oom_score_adj", "/proc/self/cgroup", "/proc/self/personality",
        "/proc/self/coredump_filter", "/proc/self/timerslack_ns", "/proc/self/loginuid"};
    for (unsigned file = 0; file < sizeof files / sizeof *files; file++) grep(out, files[file], all);
    int death = 0;
    prctl(PR_GET_PDEATHSIG, &death);
    fprintf(out, "nice %d policy %d death %d dumpable %d slack %d thp %d keepcaps %d securebits %d\n",
        getpriority(PRIO_PROCESS, 0), sched_getscheduler(0), death, prctl(PR_GET_DUMPABLE), prctl(PR_GET_TIMERSLACK),
        prctl(PR_GET_THP_DISABLE, 0, 0, 0, 0), prctl(PR_GET_KEEPCAPS), prctl(PR_GET_SECUREBITS));
    char directory[4096];
    fprintf(out, "directory %s\n", getcwd(directory, sizeof directory));
    for (int fd = 0; fd < 1024; fd++) {
        struct stat file;
        if (fd != fileno(out) && fstat(fd, &file) == 0) fprintf(out, "descriptor %d\n", fd);
    }
    for (char **variable = environ; *variable; variable++) fprintf(out, "variable %s\n", *variable);
    return fclose(out);
}
"#;

#[test]
fn a_command_inherits_what_its_caller_has() {
    let commander = Commander::new();
    let home = commander.knee.directory.path();
    let program = super::build::compiled(INHERITED, home);
    let lines = |file: &str, is_server: bool| {
        let text =
            fs::read_to_string(home.join(file)).unwrap_or_else(|error| panic!("{file}: {error}"));
        // What the document excepts.
        let is_excepted = |line: &&str| {
            let name = line.strip_prefix("variable ").unwrap_or_default();
            ["KNEE_RUN=", "KNEE=", "PWD=", "OLDPWD=", "_=", "SHLVL="]
                .iter()
                .any(|own| name.starts_with(own))
        };
        let as_called = |line: &str| match is_server {
            // A server dies with its guard, and has CPUs of its own.
            true if line.contains("Cpus_allowed_list") => String::new(),
            true => line.replace(" death 9 ", " death 0 "),
            false => line.to_owned(),
        };
        let mut lines: Vec<String> =
            text.lines().filter(|line| !is_excepted(line)).map(as_called).collect();
        lines.sort();
        lines
    };
    let program = program.display();
    let words = [
        format!("'{program}' outside < /dev/null"),
        format!(
            "\"$KNEE\" run command --command \"'{program}' inside-{{n}}\" -p 1 --rounds 1 --time 1ms -q"
        ),
        format!(
            "\"$KNEE\" run connect --server \"own=sh -c \\\"'{program}' server; exec '$KNEE' httpd . --port {{port}}\\\"\" \
             --points 1 --rounds 1 --time 1ms -q"
        ),
    ];
    let script = format!("ulimit -Sn 256; umask 027; {}", words.join("; "));
    let mut shell = commander.knee.shell(&script);
    let came = crate::common::came(shell.current_dir(home));
    let outside = lines("outside", false);
    assert!(outside.iter().any(|line| line.starts_with("limit 7 256 ")), "{outside:?}");
    assert_eq!(lines("inside-1", false), outside, "{came:?}");
    assert_eq!(lines("server", true), lines("outside", true), "{came:?}");
}

#[test]
fn failures_and_what_is_left_are_in_the_answer() {
    let commander = Commander::new();
    let fails = "a=test {n} -lt 1000 || exit 22";
    let words = ["--command", fails, "-p", "10,100,1000,3000", "--rounds", "1", "--time", "1ms"];
    let came = commander.run(&words);
    assert_eq!(came.code, Some(1), "{came:?}");
    assert!(came.out.contains("a fails from 1,000 on: exited with 22"), "{came:?}");
    assert!(came.err.contains("2 of 4 cells failed; a fails from 1,000 on"), "{came:?}");
    let leaves = "b=sleep 1000 > /dev/null & : {n}";
    let came = commander.run(&["--command", leaves, "-p", "1", "--rounds", "1", "--time", "1ms"]);
    assert!(came.out.contains("b left 1 process running at its end, with "), "{came:?}");
    commander.knee.assert_no_process_left();
}
