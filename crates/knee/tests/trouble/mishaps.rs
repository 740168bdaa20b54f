//! Mishaps that come from around the program: inherited settings, readers and files that go away.

use crate::common::{Knee, came, wait_until};
use rustix::process::{Pid, Signal, kill_process};
use std::os::unix::ffi::OsStrExt;
use std::process::Stdio;

const SHORT: &str = "run null --points 1,2 --rounds 2 --time 1ms";

#[test]
fn children_that_a_shell_left_to_it_are_none_of_its_business() {
    let knee = Knee::new();
    let script = format!(
        "sleep 300 >/dev/null 2>&1 & echo $! > \"$XDG_DATA_HOME/pid\"; exec \"$KNEE\" {SHORT} >/dev/null"
    );
    let came = came(&mut knee.shell(&script));
    assert_eq!((came.code, came.err.as_str()), (Some(0), ""), "{came:?}");
    let pid = std::fs::read_to_string(knee.directory.path().join("pid")).unwrap();
    let sleeper = Pid::from_raw(pid.trim().parse().unwrap()).unwrap();
    kill_process(sleeper, Signal::TERM).expect("the shell's own child still runs");
}

#[test]
fn an_ignored_sigchld_hides_no_end() {
    let knee = Knee::new();
    let script = "trap '' CHLD; exec \"$KNEE\" run fault --subjects exits,is-killed,well-behaved \
                  --rounds 1 --time 1ms";
    let came = came(&mut knee.shell(script));
    assert_eq!(came.code, Some(0), "{came:?}");
    assert!(came.err.contains("it exited with 7"), "{came:?}");
    assert!(came.err.contains("it was killed by SIGKILL"), "{came:?}");
}

#[test]
fn a_hang_up_that_is_ignored_stays_ignored() {
    let knee = Knee::new();
    let script = "trap '' HUP; exec \"$KNEE\" run null --points 1,2,3 --rounds 40 --time 1ms";
    let mut child = knee.shell(script).stdout(Stdio::null()).spawn().unwrap();
    wait_until("a worker runs", || knee.processes().iter().any(|line| line.contains("__worker")));
    kill_process(Pid::from_child(&child), Signal::HUP).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(0));
}

#[test]
fn a_closed_output_changes_nothing_but_the_noise() {
    let knee = Knee::new();
    let fault = "run fault --subjects fails,panics,well-behaved --rounds 2 --time 1ms";
    for (command, code) in [
        (format!("\"$KNEE\" {fault} 2>/dev/full"), 0),
        (format!("\"$KNEE\" {fault} >/dev/null 2>&-"), 0),
        (format!("\"$KNEE\" {SHORT} >/dev/full"), 1),
        ("\"$KNEE\" rnu 2>/dev/full".to_owned(), 2),
    ] {
        let came = came(&mut knee.shell(&command));
        assert_eq!(came.code, Some(code), "{command}: {came:?}");
    }
    // Its reader has gone before it begins.
    let script = format!(
        "go=\"$XDG_DATA_HOME/go\"; mkfifo \"$go\"; {{ read _ <\"$go\"; \"$KNEE\" {SHORT}; echo \"exit $?\" >&2; }} | \
         {{ exec <&-; echo >\"$go\"; }}"
    );
    assert_eq!(came(&mut knee.shell(&script)).err, "exit 141\n");
    let pages = knee.files().into_iter().filter(|file| file.contains(".html")).count();
    assert_eq!(pages, 4, "each run has its page: {:?}", knee.files());
}

#[test]
fn a_file_that_outgrows_its_limit_is_an_error_and_no_death() {
    let knee = Knee::new();
    let came = came(&mut knee.shell(&format!("ulimit -f 8; exec \"$KNEE\" {SHORT}")));
    assert_eq!(came.code, Some(1), "{came:?}");
    assert!(came.out.contains("empty"), "what was measured is printed: {came:?}");
}

#[test]
fn a_page_replaces_nothing_but_a_page() {
    let knee = Knee::new();
    let at = |name: &str| knee.directory.path().join(name).display().to_string();
    let record = at("own.db");
    let words = [&SHORT.split(' ').collect::<Vec<_>>()[..], &["--record", &record]].concat();
    assert_eq!(knee.run(&words).code, Some(0));
    std::fs::write(at("notes.txt"), "mine").unwrap();
    let refused = [
        (at("own.db"), "that is the record"),
        (at("notes.txt"), "it exists and is no page of knee"),
        (at("missing/page.html"), "its directory does not exist"),
        (at("."), "that is a directory"),
    ];
    for (page, wanted) in &refused {
        let report = ["report", "last", "--record", &record, "-o", page];
        let run = [&words[..], &["-o", page]].concat();
        for words in [&report[..], &run[..]] {
            let came = knee.run(words);
            assert_eq!(came.code, Some(2), "{came:?}");
            assert!(came.err.contains(wanted), "{came:?}");
        }
    }
    assert_eq!(std::fs::read_to_string(at("notes.txt")).unwrap(), "mine");
    assert_eq!(knee.run(&["show", &record]).code, Some(0));
    let page = at("page.html");
    for _ in 0..2 {
        let came = knee.run(&["report", "last", "--record", &record, "-o", &page]);
        assert_eq!(came.code, Some(0), "a page may be replaced: {came:?}");
    }
}

#[test]
fn a_record_that_is_removed_during_the_run_is_missed() {
    let knee = Knee::new();
    let words = ["run", "null", "--points", "1,2,3", "--rounds", "40", "--time", "1ms"];
    let mut command = knee.command(&words);
    let child = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    wait_until("a worker runs", || knee.processes().iter().any(|line| line.contains("__worker")));
    std::fs::remove_file(knee.record()).unwrap();
    let output = child.wait_with_output().unwrap();
    let message = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{message}");
    assert!(
        message.contains("not recorded") || message.contains("nothing is recorded"),
        "{message}"
    );
}

#[test]
fn names_that_are_no_text_are_taken_as_they_are() {
    let knee = Knee::new();
    let name = knee.directory.path().join(std::ffi::OsStr::from_bytes(b"odd-\xff.db"));
    let mut command = knee.command(&SHORT.split(' ').collect::<Vec<_>>());
    let came = came(command.arg("--record").arg(&name));
    assert_eq!(came.code, Some(0), "{came:?}");
    assert!(name.exists());
}

#[test]
fn where_nothing_was_measured_it_is_not_done() {
    let knee = Knee::new();
    let came = knee.run(&["run", "fault", "--subjects", "fails", "--rounds", "3"]);
    assert_eq!((came.code, came.out.as_str()), (Some(1), ""), "{came:?}");
    let lines: Vec<&str> = came.err.lines().collect();
    let [first, all] = lines.as_slice() else { panic!("a line each: {came:?}") };
    assert!(first.starts_with("failed: fault fails"), "{came:?}");
    assert!(all.starts_with("knee: nothing was measured: every cell failed; "), "{came:?}");
    assert!(all.contains("cells of fails"), "why: {came:?}");
    let page = knee.directory.path().join("page.html");
    let fails = ["run", "fault", "--subjects", "fails", "--rounds", "1", "--output"];
    let came = knee.run(&[&fails[..], &[page.to_str().unwrap()]].concat());
    assert_eq!((came.code, page.exists()), (Some(1), true), "{came:?}");
    let removes = "sh -c 'rm \"$XDG_DATA_HOME\"/knee/*; exit {n}'";
    let once = ["run", "command", "--points", "1", "--rounds", "1", "--command", removes];
    let came = knee.run(&once);
    assert!(came.err.contains("was removed during the run"), "{came:?}");
    let came = knee.run(&["run", "null", "--pin", "4000"]);
    assert_eq!(came.code, Some(5), "{came:?}");
    assert!(came.err.contains("CPU 4000 is not among those"), "{came:?}");
    let came =
        knee.run(&["run", "null", "--rounds", "10000", "--points", "1,2,3,4,5,6,7,8,9,10,11"]);
    assert_eq!(came.code, Some(2), "{came:?}");
    assert!(came.err.contains("110000 cells"), "{came:?}");
}

#[test]
fn a_record_that_is_a_url_is_not_measured_into_and_its_password_shown_nowhere() {
    let knee = Knee::new();
    // No server listens there; and a knee without PostgreSQL does not ask.
    let read = if cfg!(feature = "postgres") { 1 } else { 2 };
    let commands = [
        ("run null --points 1", 2),
        ("record list", read),
        ("show", read),
        ("export --format csv", read),
    ];
    for (command, code) in commands {
        let script = format!(
            "cd \"$XDG_DATA_HOME\" && \"$KNEE\" {command} --record postgres://me:secret@127.0.0.1:1/db"
        );
        let came = came(&mut knee.shell(&script));
        assert_eq!(came.code, Some(code), "{command}: {came:?}");
        assert!(came.err.contains("postgres://"), "{command}: {came:?}");
        assert!(!format!("{came:?}").contains("secret"), "{command}: {came:?}");
        assert_eq!(knee.files(), [] as [String; 0], "{command}: nothing is made");
    }
}

#[test]
fn a_password_in_a_url_is_not_recorded() {
    let knee = Knee::new();
    let script = format!("\"$KNEE\" {SHORT} --label origin=http://me:secret@host/x --json");
    let came = came(&mut knee.shell(&script));
    assert_eq!(came.code, Some(0), "{came:?}");
    assert!(!format!("{came:?}").contains("secret"), "{came:?}");
    let run = knee.last_run();
    assert_eq!(run.summary.labels["origin"], "http://***@host/x");
    assert!(run.summary.command.iter().any(|word| word == "origin=http://***@host/x"));
}

/// The command gets it all the same.
#[test]
fn a_password_in_a_parameter_is_recorded_and_printed_nowhere() {
    let knee = Knee::new();
    let seen = knee.directory.path().join("seen");
    let tree = tempfile::tempdir().unwrap();
    std::fs::write(tree.path().join("a.c"), "").unwrap();
    let build = format!(
        "run build --rounds 1 --subjects half --warm-up none --clean true --json --tree {}",
        tree.path().display()
    );
    for (end, code) in [("", 0), ("; false", 1)] {
        let command = format!("echo http://me:secret@host/x | tee {} >&2{end}", seen.display());
        let script = format!("\"$KNEE\" {build} --command '{command}'");
        let came = came(&mut knee.shell(&script));
        assert_eq!(came.code, Some(code), "{}", came.err);
        assert_eq!(std::fs::read_to_string(&seen).unwrap(), "http://me:secret@host/x\n");
        std::fs::remove_file(&seen).unwrap();
        assert!(!format!("{came:?}").contains("secret"), "{}", came.err);
        for file in knee.files() {
            let bytes = std::fs::read(knee.directory.path().join(&file)).unwrap();
            assert!(!bytes.windows(6).any(|window| window == b"secret"), "{file}");
        }
        let run = knee.last_run();
        assert!(run.plan.cells[0].parameters["command"].to_string().contains("//***@host/x"));
    }
    let long = "printf \"http://me:secret%04000d@host/x\" 0; printf \" %0100d\" 0; false";
    let cut = came(&mut knee.shell(&format!("\"$KNEE\" {build} --command '{long}'")));
    assert_eq!(cut.code, Some(1), "{cut:?}");
    assert!(!cut.out.contains("0@host"), "a URL whose beginning is cut off: {}", cut.out);
    let same = "--command 'true http://a@h/' --command 'true http://b@h/'";
    let same = came(&mut knee.shell(&format!("\"$KNEE\" {build} {same}")));
    assert_eq!(same.code, Some(2), "two values with one text in the record: {same:?}");
    let two = "--command 'true http://a:secret@h/' --clean 'true http://b:secret@h/'";
    let build = build.replace("--clean true ", "");
    let two = came(&mut knee.shell(&format!("\"$KNEE\" {build} {two}")));
    assert_eq!(two.code, Some(0), "two parameters with one text in the record: {two:?}");
    let copied =
        came(&mut knee.shell(&format!("\"$KNEE\" {build} --command 'true http://***@h/'")));
    assert_eq!(copied.code, Some(2), "{copied:?}");
    assert!(copied.err.contains("*** is where a record has no user name"), "{copied:?}");
}

#[test]
fn a_record_that_can_not_be_made_is_refused_for_its_true_reason_before_anything_is_measured() {
    let knee = Knee::new();
    for (record, missing) in [("/proc/x.db", "/proc/x.db"), ("/proc/a/b.db", "/proc/a")] {
        let came = came(&mut knee.shell(&format!("\"$KNEE\" {SHORT} --record {record}")));
        assert_eq!((came.code, came.out.as_str()), (Some(2), ""), "{came:?}");
        assert!(came.err.contains(&format!("{missing} can't be made (")), "{came:?}");
    }
}

#[test]
fn a_host_name_of_the_users_own_is_kept_for_the_whole_run() {
    let knee = Knee::new();
    let came = came(&mut knee.shell(&format!("\"$KNEE\" {SHORT} --host-name rack-7")));
    assert_eq!(came.code, Some(0), "{came:?}");
    let run = knee.last_run();
    let hosts = [Some(&run.host_before), run.host_after.as_ref()];
    assert_eq!(hosts.map(|host| host.unwrap().fact(model::HOST_NAME)), [Some("rack-7"); 2]);
}
