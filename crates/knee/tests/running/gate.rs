//! `knee gate`: two builds of a program by one command line; and the script that gates a pull request with it.

use crate::common::{Came, Knee, came};
use archive::{Archive, SqliteArchive};
use model::Fact;
use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

/// Makes a script.
fn write(knee: &Knee, path: &str, text: &str) {
    let file = knee.directory.path().join(path);
    fs::create_dir_all(file.parent().unwrap()).unwrap();
    fs::write(&file, text).unwrap();
    fs::set_permissions(&file, Permissions::from_mode(0o755)).unwrap();
}

fn gate(knee: &Knee, words: &[&str]) -> Came {
    let short = ["--points", "1,2", "--rounds", "2", "--time", "1ms", "--warmup", "0"];
    let mut command = knee.command(&[&["gate"], words, &short[..]].concat());
    came(command.current_dir(knee.directory.path()))
}

/// What the command printed at the first point on each side. Two rounds of next to nothing decide no gate.
fn outputs(knee: &Knee, old: &str, new: &str, command: &str) -> [String; 2] {
    let came = gate(knee, &[old, new, "--", command, "--stdout", "keep"]);
    assert!(matches!(came.code, Some(0 | 3 | 4)), "{came:?}");
    knee.assert_no_process_left();
    let archive = SqliteArchive::open_read_only(knee.record()).unwrap();
    let last = archive.resolve("last").unwrap();
    [last - 1, last].map(|number| {
        let run = archive.load(number).unwrap();
        let cell = run.cells.iter().find(|cell| cell.key.point == 1).unwrap();
        let Fact::Text(output) = &cell.facts["output"] else { panic!("{:?}", cell.facts) };
        output.trim().to_owned()
    })
}

#[test]
fn each_side_runs_its_own_program_whatever_the_files_are_called() {
    let knee = Knee::new();
    for (path, says) in [("old.sh", "old"), ("a/prog", "a"), ("b/prog", "b")] {
        write(&knee, path, &format!("#!/bin/sh\necho {says} $1\n"));
    }
    assert_eq!(outputs(&knee, "a", "b", "./prog {n}"), ["a 1", "b 1"]);
    assert_eq!(outputs(&knee, "old.sh", "b/prog", "prog {n}"), ["old 1", "b 1"]);
    assert_eq!(outputs(&knee, "old.sh", "b/prog", "sh $BUILD {n}"), ["old 1", "b 1"]);
}

#[test]
fn what_no_side_can_run_is_refused_before_anything_is_measured() {
    let knee = Knee::new();
    write(&knee, "a/prog", "#!/bin/sh\n");
    fs::write(knee.at("text"), "").unwrap();
    for (new, command, why) in [
        ("b", "prog {n}", "b: No such file or directory"),
        ("a", "sort {n}", "a/sort: No such file or directory"),
        ("text", "prog {n}", "text: not a program; of a script, write 'python3 $BUILD {n}'"),
        ("a", "A=1", "`A=1` names no program"),
    ] {
        let came = gate(&knee, &["a", new, "--", command]);
        assert_eq!(came.code, Some(2), "{came:?}");
        assert!(came.err.contains(why), "{why}: {came:?}");
    }
    assert!(!knee.record().exists());
}

#[test]
fn a_gate_is_named_where_none_is_asked_for_and_its_cases_are_written() {
    let knee = Knee::new();
    write(&knee, "a/prog", "#!/bin/sh\n");
    write(&knee, "b/prog", "#!/bin/sh\n[ $1 = 1 ]\n");
    let came = gate(&knee, &["a", "b", "--junit", "cases.xml", "--", "prog {n}"]);
    assert_eq!(came.code, Some(3), "{came:?}");
    assert!(came.err.contains("more fails than in base (--fail-above 10%, exit 3)"), "{came:?}");
    let cases = fs::read_to_string(knee.at("cases.xml")).unwrap();
    assert!(cases.contains("<failure type=\"refused\""), "{cases}");
    let came = knee.run(&["compare", "1", "2", "--junit", "cases.xml"]);
    assert!(came.err.contains("--junit: name a gate"), "{came:?}");
    fs::write(knee.at("cases.xml"), "a text").unwrap();
    let came = gate(&knee, &["a", "b", "--junit", "cases.xml", "--", "prog {n}"]);
    assert!(came.err.contains("no test cases of knee"), "{came:?}");
}

#[test]
fn the_calls_that_a_slower_program_makes_more_of_are_named() {
    let knee = Knee::new();
    for (side, bytes) in [("a", 512), ("b", 128)] {
        let dd = "exec dd if=/dev/zero of=/dev/null";
        let count = format!("count=$(($1 * 51200 / {bytes}))");
        write(
            &knee,
            &format!("{side}/prog"),
            &format!("#!/bin/sh\n{dd} bs={bytes} {count} 2> /dev/null\n"),
        );
    }
    let words = ["gate", "a", "b", "--", "prog {n}", "--headline", "system calls"];
    let short = ["--points", "1,2", "--rounds", "5", "--time", "50ms"];
    let came =
        came(knee.command(&[&words[..], &short].concat()).current_dir(knee.directory.path()));
    if knee.last_run().cells.iter().any(|cell| cell.facts.contains_key("system calls")) {
        return println!("SKIPPED: no tracepoints");
    }
    assert_eq!(came.code, Some(3), "{came:?}");
    let sentence = came.out.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(sentence.contains("calls/run at 2 n: read +600 and write +600"), "{came:?}");
}

/// Commits what `prog` prints as its cost at each point, on a branch of its own from the first commit.
fn commit(knee: &Knee, branch: &str, cost: &str) {
    write(knee, "prog.in", &format!("#!/bin/sh\necho \"cost=$(({cost})) ns\"\n"));
    let git = "git -c user.name=a -c user.email=a@b.c";
    let script = format!("git checkout -q -b {branch} && git add . && {git} commit -q -m {branch}");
    let done = came(knee.shell(&script).current_dir(knee.directory.path()));
    assert_eq!(done.code, Some(0), "{done:?}");
}

#[test]
fn the_script_of_a_pull_request_fails_for_what_is_slower_and_says_where() {
    let knee = Knee::new();
    assert_eq!(came(knee.shell("git init -q").current_dir(knee.directory.path())).code, Some(0));
    write(&knee, "bench.sh", "# The benchmark.\nprog {n} # is declared here\n");
    // A part of the last digits is drawn, as figures have noise.
    commit(&knee, "base", "$1 * 1000 + $$ % 7");
    for (branch, cost) in [
        ("equal", "$1 * 1000 + $$ % 5"),
        ("slower", "$1 * 1100 + $$ % 7"),
        ("worse", "$1 * $1 * 10 + $$ % 7"),
        ("broken", "$1 * 1000); exit 1; echo $((1"),
    ] {
        assert_eq!(
            came(knee.shell("git checkout -q base").current_dir(knee.directory.path())).code,
            Some(0)
        );
        commit(&knee, branch, cost);
    }
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../deploy/gate/pull-request.sh");
    let gated = |branch: &str, build: &str, is_github: bool| {
        let out = knee.at(&format!("out-{branch}"));
        let line = format!(
            "git checkout -q {branch} && sh {} base '{build}' prog 'prog {{n}}' --points 10,100,1k,10k --rounds 6 \
             --time 1ms --warmup 0 --extract 'cost=([0-9.]+) ns'  --headline cost",
            script.display()
        );
        let mut command = knee.shell(&line);
        command.current_dir(knee.directory.path()).env("KNEE_OUT", &out);
        command.env("KNEE_GATE", "--fail-above 5% --fail-on class").env_remove("GITHUB_ACTIONS");
        command.env_remove("GITHUB_STEP_SUMMARY");
        if is_github {
            let summary = format!("{out}.md");
            command.env("GITHUB_ACTIONS", "true").env("GITHUB_STEP_SUMMARY", summary);
        }
        came(&mut command)
    };
    let build = "cp prog.in prog";
    let equal = gated("equal", build, false);
    assert_eq!(equal.code, Some(0), "{equal:?}");
    assert!(equal.out.starts_with("**knee: = the same**"), "{equal:?}");
    assert!(equal.err.ends_with("bench.sh:2: notice: not slower: prog {n}\n"), "{equal:?}");

    let slower = gated("slower", build, true);
    assert_eq!(slower.code, Some(3), "{slower:?}");
    let wanted = "::error file=bench.sh,line=2,title=knee gate::slower by more than 5 %25: command: prog ×1.1";
    assert!(slower.out.starts_with(wanted), "{slower:?}");
    let summary = fs::read_to_string(knee.at("out-slower.md")).unwrap();
    assert!(summary.starts_with("**knee: ▲ slower**"), "{summary}");
    let cases = fs::read_to_string(knee.at("out-slower/junit.xml")).unwrap();
    assert!(cases.contains("tests=\"5\" failures=\"5\" errors=\"0\""), "{cases}");
    let page = fs::read_to_string(knee.at("out-slower/gate.html")).unwrap();
    assert!(page.contains("</html>"));

    // It begins at a tenth of the base's cost, so that its class tells first.
    let worse = gated("worse", build, false);
    assert_eq!(worse.code, Some(3), "{worse:?}");
    let cases = fs::read_to_string(knee.at("out-worse/junit.xml")).unwrap();
    assert!(cases.contains("quadratic"), "{cases}");

    assert_eq!(gated("broken", build, false).code, Some(3), "a command that fails is worse");
    let unbuilt = gated("equal", "exit 7", false);
    assert_eq!(unbuilt.code, Some(1));
    assert!(unbuilt.err.contains("`exit 7` failed for base (base)"), "{unbuilt:?}");
    let trees = came(knee.shell("git worktree list").current_dir(knee.directory.path()));
    assert_eq!(trees.out.lines().count(), 1, "{trees:?}");
}
